//! Plans with parameters: planned once, run with the values of each execution.

use types::Value;

use crate::{Expr, ExprKind, Pipeline, Plan};

impl Plan {
    /// The plan with values in the place of its parameters. Each value is of the parameter's type; one that is missing
    /// counts as NULL.
    pub fn with_parameters(&self, values: &[Value]) -> Self {
        let mut plan = self.clone();
        let expressions = plan.pipelines.iter_mut().flat_map(Pipeline::expressions_mut);
        expressions.for_each(|it| put(it, values));
        for it in &mut plan.recursions {
            it.first = it.first.with_parameters(values);
            it.step = it.step.with_parameters(values);
        }
        plan
    }
}

fn put(expr: &mut Expr, values: &[Value]) {
    if let ExprKind::Parameter(number) = expr.kind {
        expr.kind = ExprKind::Literal(values.get(number).cloned().unwrap_or(Value::Null));
    }
    expr.children_mut().into_iter().for_each(|it| put(it, values));
}
