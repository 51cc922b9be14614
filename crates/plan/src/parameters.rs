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

    /// Puts other values into `filled`, which this plan has become by values before: what is there is not made again.
    pub fn fill_again(&self, filled: &mut Self, values: &[Value]) {
        for (pipeline, filled) in self.pipelines.iter().zip(&mut filled.pipelines) {
            let pairs = pipeline.expressions().into_iter().zip(filled.expressions_mut());
            pairs.for_each(|(it, filled)| put_again(it, filled, values));
        }
        for (it, filled) in self.recursions.iter().zip(&mut filled.recursions) {
            it.first.fill_again(&mut filled.first, values);
            it.step.fill_again(&mut filled.step, values);
        }
    }

    /// Whether parameters from a number on are in it, and whether in the conditions of a scan, which are made for their values.
    pub fn has_parameters_from(&self, first: usize) -> (bool, bool) {
        let has = |it: &Expr| has_parameter_from(it, first);
        let filters = self.scans().into_iter().flat_map(|it| &it.filters);
        let in_scans = filters.into_iter().any(has);
        let mut all = self.clone();
        let mut all = all.pipelines.iter_mut().flat_map(Pipeline::expressions_mut);
        (in_scans || all.any(|it| has(it)), in_scans)
    }
}

fn has_parameter_from(expr: &Expr, first: usize) -> bool {
    let is_one = matches!(expr.kind, ExprKind::Parameter(number) if number >= first);
    is_one || expr.children().into_iter().any(|it| has_parameter_from(it, first))
}

fn put_again(expr: &Expr, filled: &mut Expr, values: &[Value]) {
    if let ExprKind::Parameter(number) = expr.kind {
        filled.kind = ExprKind::Literal(values.get(number).cloned().unwrap_or(Value::Null));
        return;
    }
    let pairs = expr.children().into_iter().zip(filled.children_mut());
    pairs.for_each(|(it, filled)| put_again(it, filled, values));
}

fn put(expr: &mut Expr, values: &[Value]) {
    if let ExprKind::Parameter(number) = expr.kind {
        expr.kind = ExprKind::Literal(values.get(number).cloned().unwrap_or(Value::Null));
    }
    expr.children_mut().into_iter().for_each(|it| put(it, values));
}
