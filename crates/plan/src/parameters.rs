//! Plans with parameters: planned once, run with the values of each execution.

use types::Value;

use crate::{Expr, ExprKind, Operator, Plan, Sink, Source};

impl Plan {
    /// The plan with values in the place of its parameters. Each value is of the parameter's type; one that is missing
    /// counts as NULL.
    pub fn with_parameters(&self, values: &[Value]) -> Self {
        let mut plan = self.clone();
        plan.for_each_expression(&mut |it| put(it, values));
        plan
    }

    fn for_each_expression(&mut self, body: &mut dyn FnMut(&mut Expr)) {
        for pipeline in &mut self.pipelines {
            match &mut pipeline.source {
                Source::Scan(scan) => scan.filters.iter_mut().for_each(&mut *body),
                Source::Values { rows, .. } => rows.iter_mut().flatten().for_each(&mut *body),
                Source::Read(_) | Source::BuildRows { .. } => {}
            }
            for operator in &mut pipeline.operators {
                match operator {
                    Operator::Filter(expr) => body(expr),
                    Operator::Project(exprs) => exprs.iter_mut().for_each(&mut *body),
                    Operator::Join(join) => {
                        join.keys.iter_mut().chain(&mut join.residual).for_each(&mut *body);
                    }
                    Operator::Fetch(_) | Operator::Repeat(_) => {}
                }
            }
            match &mut pipeline.sink {
                Sink::HashBuild(build) => {
                    build.keys.iter_mut().chain(&mut build.payload).for_each(&mut *body);
                }
                Sink::Aggregate { keys, aggregates, .. } => {
                    keys.iter_mut().for_each(&mut *body);
                    let inner = aggregates.iter_mut();
                    inner
                        .flat_map(|it| it.argument.iter_mut().chain(&mut it.filter))
                        .for_each(&mut *body);
                }
                Sink::Sort { keys, .. } => keys.iter_mut().for_each(|it| body(&mut it.expr)),
                Sink::Materialize { .. } | Sink::Result => {}
            }
        }
    }
}

fn put(expr: &mut Expr, values: &[Value]) {
    if let ExprKind::Parameter(number) = expr.kind {
        expr.kind = ExprKind::Literal(values.get(number).cloned().unwrap_or(Value::Null));
    }
    expr.children_mut().into_iter().for_each(|it| put(it, values));
}
