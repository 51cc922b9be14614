//! Subqueries: EXISTS and IN become semi and anti joins, a correlated value a left join with groups, one group for each
//! combination of the columns that the correlation compares.

use datafusion_sql::sqlparser::ast;
use plan::{AggregateFunction, BinaryOperator, Expr, ExprKind, PipelineId};

use super::scope::Scope;
use super::tables::join;
use super::{Answer, Binder, Calls};
use plan::build::compare;
use plan::relation::{Attr, AttrSet, Rel, RelJoin, ScalarQuery, bare};

impl<'a> Binder<'a> {
    /// Rows with (or without) a row of the subquery.
    pub(super) fn exists(
        &mut self,
        rel: Rel,
        query: &'a ast::Query,
        negated: bool,
        scope: &Scope<'_>,
    ) -> Option<Rel> {
        let mut on = Vec::new();
        let answer = self.query(query, Some(scope), Some(&mut on))?;
        if on.is_empty() || answer.is_grouped {
            return None;
        }
        // Nobody sees what the subquery computes.
        let right = match answer.rel {
            Rel::Map { input, exprs } if !uses_any(&on, &exprs) => *input,
            other => other,
        };
        let kind = if negated { RelJoin::Anti } else { RelJoin::Semi };
        Some(Rel::Join(Box::new(join(kind, rel, right, on))))
    }

    /// Rows whose value is (or is not) among those of the subquery.
    pub(super) fn membership(
        &mut self,
        rel: Rel,
        operand: &'a ast::Expr,
        query: &'a ast::Query,
        negated: bool,
        scope: &Scope<'_>,
    ) -> Option<Rel> {
        let operand = self.expr(operand, scope)?;
        let mut on = Vec::new();
        let answer = self.query(query, Some(scope), Some(&mut on))?;
        let Answer { rel: right, columns, is_grouped } = answer;
        let [column] = &columns[..] else { return None };
        let value = self.column_expr(column.attr);
        let same = operand.data_type == value.data_type
            || (operand.data_type.is_text() && value.data_type.is_text());
        let constant = AttrSet::of(&operand).is_empty();
        if !same || constant || (!on.is_empty() && (negated || is_grouped)) {
            return None;
        }
        let nullable = column.nullable || self.nullable(&operand, scope);
        on.insert(0, compare(BinaryOperator::Equal, operand, value));
        let kind = if negated { RelJoin::Anti } else { RelJoin::Semi };
        let mut joined = join(kind, rel, right, on);
        joined.null_aware = negated && nullable;
        Some(Rel::Join(Box::new(joined)))
    }

    /// A subquery that stands for its only value.
    pub(super) fn scalar(&mut self, query: &'a ast::Query, scope: &Scope<'_>) -> Option<Expr> {
        let mut on = Vec::new();
        let Answer { rel, columns, is_grouped } = self.query(query, Some(scope), Some(&mut on))?;
        let [column] = &columns[..] else { return None };
        let data_type = self.attributes[column.attr].data_type;
        if on.is_empty() {
            self.scalars.push(ScalarQuery { rel, attr: column.attr });
            let place = PipelineId(self.scalars.len() as u32 - 1);
            return Some(Expr { kind: ExprKind::Scalar(place), data_type });
        }
        if !is_grouped {
            return None;
        }
        self.level.pending.push((rel, on));
        Some(Expr::column(column.attr, data_type))
    }

    /// The group keys of a correlated value: the columns of its own that the correlation compares. It must be NULL
    /// where there is no group, as the left join makes it.
    pub(super) fn correlated_keys(
        &self,
        on: &[Expr],
        calls: &Calls,
        values: &[&Expr],
        scope: &Scope<'_>,
    ) -> Option<Vec<(Attr, Expr)>> {
        let counts = calls.iter().any(|it| it.1.function == AggregateFunction::Count);
        if counts || !values.iter().all(|it| is_null_without_group(it)) {
            return None;
        }
        let mut keys: Vec<(Attr, Expr)> = Vec::new();
        for predicate in on {
            let ExprKind::Binary { operator: BinaryOperator::Equal, left, right } = &predicate.kind
            else {
                return None;
            };
            let own = |it: &Expr| bare(it).filter(|it| scope.contains(*it));
            let outside = |it: &Expr| AttrSet::of(it).iter().all(|it| !scope.contains(it));
            let (attr, key) = match (own(left), own(right)) {
                (Some(attr), None) if outside(right) => (attr, left),
                (None, Some(attr)) if outside(left) => (attr, right),
                _ => return None,
            };
            if keys.iter().all(|it| it.0 != attr) {
                keys.push((attr, (**key).clone()));
            }
        }
        Some(keys)
    }

    /// Whether an expression may be NULL, as far as its columns tell.
    pub(super) fn nullable(&self, expr: &Expr, scope: &Scope<'_>) -> bool {
        match &expr.kind {
            ExprKind::Column(attr) => scope.nullable(*attr, &self.attributes),
            ExprKind::Literal(value) => value.is_null(),
            ExprKind::Case { otherwise: None, .. }
            | ExprKind::Scalar(_)
            | ExprKind::Parameter(_)
            | ExprKind::Substring { .. }
            | ExprKind::Call { .. }
            | ExprKind::Function { .. } => true,
            _ => expr.children().into_iter().any(|it| self.nullable(it, scope)),
        }
    }
}

fn uses_any(predicates: &[Expr], made: &[(Attr, Expr)]) -> bool {
    let made: AttrSet = made.iter().map(|it| it.0).collect();
    predicates.iter().any(|it| AttrSet::of(it).intersects(&made))
}

/// Whether a value made of aggregates is NULL when they are.
fn is_null_without_group(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(_) => true,
        ExprKind::Cast(inner) => is_null_without_group(inner),
        ExprKind::Binary { operator, left, right } => {
            use BinaryOperator::{Add, Divide, Modulo, Multiply, Subtract};
            matches!(operator, Add | Subtract | Multiply | Divide | Modulo)
                && (is_null_without_group(left) || is_null_without_group(right))
        }
        _ => false,
    }
}
