//! Expressions that unnesting makes and takes apart.

use plan::properties::is_volatile;
use plan::relation::{AttrSet, Rel, split_conjunction};
use plan::{BinaryOperator, Expr, ExprKind};
use types::{DataType, Value};

/// All conjuncts of predicates, without TRUE.
pub(super) fn conjuncts(predicates: Vec<Expr>) -> Vec<Expr> {
    let mut all = Vec::with_capacity(predicates.len());
    predicates.into_iter().for_each(|it| split_conjunction(it, &mut all));
    all.retain(|it| it.kind != ExprKind::Literal(Value::Boolean(true)));
    all
}

/// Whether some expression of a relation is volatile.
pub(super) fn has_volatile(rel: &Rel) -> bool {
    !rel.all_expressions(&mut |it| !is_volatile(it))
}

pub(super) fn constant(value: bool) -> Expr {
    Expr::literal(Value::Boolean(value), DataType::Boolean)
}

pub(super) fn case(
    branches: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
    data_type: DataType,
) -> Expr {
    Expr { kind: ExprKind::Case { branches, otherwise: otherwise.map(Box::new) }, data_type }
}

/// The two sides of an equality of which one belongs to each side of a join.
pub(super) fn sides<'a>(
    expr: &'a Expr,
    left: &AttrSet,
    right: &AttrSet,
) -> Option<(&'a Expr, &'a Expr)> {
    let ExprKind::Binary { operator, left: a, right: b } = &expr.kind else { return None };
    if !matches!(operator, BinaryOperator::Equal | BinaryOperator::IsNotDistinctFrom) {
        return None;
    }
    let of = |it: &Expr, side: &AttrSet| {
        let attrs = AttrSet::of(it);
        !attrs.is_empty() && attrs.is_subset(side)
    };
    if of(a, left) && of(b, right) {
        return Some((a, b));
    }
    (of(b, left) && of(a, right)).then_some((b, a))
}
