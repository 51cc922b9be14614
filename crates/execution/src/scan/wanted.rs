//! The rows that a scan wants, as its conditions say before a row is read.
//!
//! - Invariant: bounds leave out only rows that a condition of the scan refuses.

use std::cmp::Ordering;
use std::ops::Bound;

use plan::{BinaryOperator, Expr, ExprKind, Scan};
use storage::ColumnBounds;
use types::{DataType, Value};

/// What the conditions of a scan say of its columns.
pub(super) fn bounds_of(scan: &Scan) -> Vec<ColumnBounds> {
    let mut asked: Vec<&Expr> = scan.filters.iter().collect();
    let mut bounds = Vec::new();
    while let Some(expr) = asked.pop() {
        if let ExprKind::Binary { operator: BinaryOperator::And, left, right } = &expr.kind {
            asked.extend([&**left, &**right]);
            continue;
        }
        let Some((column, low, high)) = range_of(expr) else { continue };
        let ExprKind::Column(place) = column.kind else { continue };
        bounds.push(ColumnBounds { column: scan.columns[place], low, high });
    }
    bounds
}

/// What a comparison with a constant says of its other side.
fn range_of(expr: &Expr) -> Option<(&Expr, Bound<Value>, Bound<Value>)> {
    use Bound::{Excluded, Included, Unbounded};
    match &expr.kind {
        ExprKind::Binary { operator, left, right } => {
            let (operator, column, value) = match (constant(left), constant(right)) {
                (None, Some(value)) => (*operator, left, value),
                (Some(value), None) => (operator.mirrored(), right, value),
                _ => return None,
            };
            let (low, high) = match operator {
                BinaryOperator::Equal => (Included(value.clone()), Included(value.clone())),
                BinaryOperator::Less => (Unbounded, Excluded(value.clone())),
                BinaryOperator::LessEqual => (Unbounded, Included(value.clone())),
                BinaryOperator::Greater => (Excluded(value.clone()), Unbounded),
                BinaryOperator::GreaterEqual => (Included(value.clone()), Unbounded),
                _ => return None,
            };
            Some((column, low, high))
        }
        ExprKind::InList { operand, list, negated: false } => {
            // What compares with none, as NULL does, leaves the list without bounds.
            let best = |wanted: Ordering| {
                list.iter().try_fold(list.first()?, |best, it| {
                    Some(if it.compare(best)? == wanted { it } else { best })
                })
            };
            let (low, high) = (best(Ordering::Less)?, best(Ordering::Greater)?);
            Some((operand, Included(low.clone()), Included(high.clone())))
        }
        _ => None,
    }
}

/// A constant that compares by its value alone: CHAR disregards blanks at the end.
fn constant(expr: &Expr) -> Option<&Value> {
    match &expr.kind {
        ExprKind::Literal(value) if !value.is_null() => {
            (!matches!(expr.data_type, DataType::Char(_))).then_some(value)
        }
        _ => None,
    }
}
