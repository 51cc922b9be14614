//! Conditions on window functions: of rows that are numbered only the first are wanted where a condition says so.

use plan::relation::{Attr, Rel, bare};
use plan::{BinaryOperator, Expr, ExprKind, SortKey, WindowCall, WindowFunction};
use types::Value;

/// The rows of a window over all rows that conditions on their numbers can keep: the first of its order.
pub(super) fn first_rows(
    input: Rel,
    keys: &[SortKey],
    functions: &[(Attr, WindowCall)],
    conditions: &[Expr],
) -> Rel {
    let numbers = |it: &(Attr, WindowCall)| {
        it.1.function == WindowFunction::RowNumber && it.1.order == keys.len()
    };
    if !functions.iter().all(numbers) {
        return input;
    }
    let is_number = |attr: Attr| functions.iter().any(|it| it.0 == attr);
    let most = conditions.iter().filter_map(|it| last_number(it, &is_number)).min();
    let Some(limit) = most else { return input };
    let (input, offset, limit) = (Box::new(input), 0, Some(limit));
    match keys {
        [] => Rel::Limit { input, offset, limit },
        keys => Rel::Sort { input, partition: Vec::new(), keys: keys.to_vec(), offset, limit },
    }
}

/// The greatest number that a condition allows.
fn last_number(condition: &Expr, is_number: &dyn Fn(Attr) -> bool) -> Option<u64> {
    let ExprKind::Binary { operator, left, right } = &condition.kind else { return None };
    let (true, ExprKind::Literal(Value::Integer(number))) =
        (bare(left).is_some_and(is_number), &right.kind)
    else {
        return None;
    };
    let most = match operator {
        BinaryOperator::LessEqual | BinaryOperator::Equal => *number,
        BinaryOperator::Less => number.checked_sub(1)?,
        _ => return None,
    };
    Some(u64::try_from(most).unwrap_or(0))
}
