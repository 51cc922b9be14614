//! What operators and functions make of ranges and sets: each takes either, a range as the set of itself.

use super::held::{held, is_behind, lower_order, order_of_items, spans, touch, upper_order};
use super::{Bound, Span};
use crate::{SqlError, SqlResult, SqlState};

/// Whether all that is in the second is in the first.
pub fn contains(one: &str, other: &str) -> bool {
    let mut all = spans(one).peekable();
    spans(other).all(|it| {
        while all.next_if(|own| upper_order(own.upper, it.upper).is_lt()).is_some() {}
        all.peek().is_some_and(|own| lower_order(own.lower, it.lower).is_le())
    })
}

/// Whether a value, as an item of an array holds it, is in a range.
pub fn contains_item(held: &str, item: &str) -> bool {
    let is_in = |it: Span<'_>| {
        let above = it.lower.item.is_none_or(|low| match order_of_items(low, item) {
            order if order.is_eq() => it.lower.inclusive,
            order => order.is_lt(),
        });
        let below = it.upper.item.is_none_or(|high| match order_of_items(item, high) {
            order if order.is_eq() => it.upper.inclusive,
            order => order.is_lt(),
        });
        above && below
    };
    spans(held).any(is_in)
}

/// Whether something is in both.
pub fn overlaps(one: &str, other: &str) -> bool {
    common(one, other).next().is_some()
}

/// From where a set begins to where it ends; `None` of the empty one.
pub fn ends(held: &str) -> Option<Span<'_>> {
    let mut all = spans(held);
    let first = all.next()?;
    Some(Span { lower: first.lower, upper: all.last().unwrap_or(first).upper })
}

/// The ends of two, where none is empty.
fn both_ends<'a>(one: &'a str, other: &'a str) -> Option<[Span<'a>; 2]> {
    Some([ends(one)?, ends(other)?])
}

/// A range of a set, as it is held by itself.
pub fn range(it: Span<'_>) -> String {
    held([it])
}

/// Whether the first ends before the second begins; nothing empty does.
pub fn before(one: &str, other: &str) -> bool {
    both_ends(one, other).is_some_and(|[a, b]| is_behind(b.lower, a.upper))
}

/// Whether the first does not go on behind the second; nothing empty does so.
pub fn not_after(one: &str, other: &str) -> bool {
    both_ends(one, other).is_some_and(|[a, b]| upper_order(a.upper, b.upper).is_le())
}

/// Whether the first does not begin before the second; nothing empty does so.
pub fn not_before(one: &str, other: &str) -> bool {
    both_ends(one, other).is_some_and(|[a, b]| lower_order(a.lower, b.lower).is_ge())
}

/// Whether one begins where the other ends.
pub fn adjacent(one: &str, other: &str) -> bool {
    both_ends(one, other).is_some_and(|[a, b]| touch(a.upper, b.lower) || touch(b.upper, a.lower))
}

/// The span from the lesser lower bound to the greater upper one.
fn around<'a>(one: Span<'a>, other: Span<'a>) -> Span<'a> {
    let first = lower_order(one.lower, other.lower).is_lt();
    let last = upper_order(one.upper, other.upper).is_gt();
    Span {
        lower: if first { one.lower } else { other.lower },
        upper: if last { one.upper } else { other.upper },
    }
}

/// The set of all that is in some of the ranges of sets.
pub fn set_of<'a>(sets: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<Span<'a>> = sets.into_iter().flat_map(spans).collect();
    all.sort_by(|a, b| lower_order(a.lower, b.lower).then_with(|| upper_order(a.upper, b.upper)));
    let mut apart: Vec<Span<'a>> = Vec::with_capacity(all.len());
    for it in all {
        match apart.last_mut() {
            Some(last) if !is_behind(it.lower, last.upper) || touch(last.upper, it.lower) => {
                *last = around(*last, it);
            }
            _ => apart.push(it),
        }
    }
    held(apart)
}

/// The range of all that is in either of two.
///
/// # Errors
/// 22000 where something lies between them.
pub fn union(one: &str, other: &str) -> SqlResult<String> {
    let is_one = overlaps(one, other) || adjacent(one, other);
    match both_ends(one, other) {
        Some(_) if !is_one => Err(not_contiguous("union")),
        _ => Ok(merge([one, other])),
    }
}

/// The least range around all that there is in ranges and sets.
pub fn merge<'a>(sets: impl IntoIterator<Item = &'a str>) -> String {
    held(sets.into_iter().flat_map(spans).reduce(around))
}

/// What is in both.
pub fn intersection(one: &str, other: &str) -> String {
    held(common(one, other))
}

/// The ranges of what is in both.
fn common<'a>(one: &'a str, other: &'a str) -> impl Iterator<Item = Span<'a>> {
    let (mut left, mut right) = (spans(one).peekable(), spans(other).peekable());
    std::iter::from_fn(move || {
        loop {
            let (a, b) = (*left.peek()?, *right.peek()?);
            let lower = if lower_order(a.lower, b.lower).is_ge() { a.lower } else { b.lower };
            let upper = if upper_order(a.upper, b.upper).is_le() { a.upper } else { b.upper };
            match upper_order(a.upper, b.upper).is_le() {
                true => left.next(),
                false => right.next(),
            };
            if !is_behind(lower, upper) {
                return Some(Span { lower, upper });
            }
        }
    })
}

/// What is in the first and not in the second.
pub fn minus(one: &str, other: &str) -> String {
    held(left_of(one, other))
}

/// The range of what is in the first and not in the second.
///
/// # Errors
/// 22000 where the second takes the middle of the first.
pub fn difference(one: &str, other: &str) -> SqlResult<String> {
    let left = left_of(one, other);
    if left.len() > 1 { Err(not_contiguous("difference")) } else { Ok(held(left)) }
}

fn left_of<'a>(one: &'a str, other: &'a str) -> Vec<Span<'a>> {
    let (mut left, mut taken) = (Vec::new(), spans(other).peekable());
    for mut rest in spans(one) {
        let is_left = loop {
            let Some(it) = taken.peek() else { break true };
            if is_behind(it.lower, rest.upper) {
                break true;
            }
            if !is_behind(rest.lower, it.upper) {
                if lower_order(rest.lower, it.lower).is_lt() {
                    let upper = Bound { inclusive: !it.lower.inclusive, ..it.lower };
                    left.push(Span { lower: rest.lower, upper });
                }
                // It may reach into what follows.
                if upper_order(rest.upper, it.upper).is_le() {
                    break false;
                }
                rest.lower = Bound { inclusive: !it.upper.inclusive, ..it.upper };
            }
            taken.next();
        };
        if is_left {
            left.push(rest);
        }
    }
    left
}

fn not_contiguous(of: &str) -> SqlError {
    let message = format!("result of range {of} would not be contiguous");
    SqlError::new(SqlState::DATA_EXCEPTION, message)
}
