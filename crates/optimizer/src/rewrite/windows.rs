//! Conditions on window functions: of rows that are numbered only the first are wanted where a condition says so.

use plan::properties::{is_fallible, is_volatile};
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

/// How many first rows of each partition conditions on their ranks can keep, with those equal to the last, where the functions
/// of a row depend on what comes before it and on nothing else. What comes behind those may be given, with any rank that is
/// higher, or be left out: so nothing may be asked of it before its rank that could fail, or be counted.
pub(crate) fn first_of_each(
    (partition, keys): (&[Attr], &[SortKey]),
    functions: &[&(Attr, WindowCall)],
    conditions: &[Expr],
) -> Option<u64> {
    use WindowFunction::{DenseRank, Rank, RowNumber};
    let ranks = |it: &&(Attr, WindowCall)| {
        it.1.order == keys.len() && matches!(it.1.function, RowNumber | Rank | DenseRank)
    };
    let changes = keys.iter().any(|it| is_volatile(&it.expr));
    // Of rows that are numbered all together only the first are sorted ([`first_rows`]).
    let of_each = !partition.is_empty()
        || functions.iter().any(|it| it.1.function != WindowFunction::RowNumber);
    if keys.is_empty() || changes || !of_each || !functions.iter().all(ranks) {
        return None;
    }
    // As many dense ranks may be any number of rows.
    let counts = |it: &&&(Attr, WindowCall)| it.1.function != DenseRank;
    let is_number = |attr: Attr| functions.iter().filter(counts).any(|it| it.0 == attr);
    let safe = conditions.iter().take_while(|it| !is_fallible(it) && !is_volatile(it));
    safe.filter_map(|it| last_number(it, &is_number)).min()
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
