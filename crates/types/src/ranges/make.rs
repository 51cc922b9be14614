//! Ranges between two values.

use std::cmp::Ordering;

use super::held::{EMPTY, held, is_behind, order_of_items};
use super::{Bound, Span};
use crate::numeric::datetime;
use crate::numeric::errors::out_of_range;
use crate::{Range, SqlError, SqlResult, SqlState, Value, array};

/// A value as bounds have it; `None` of NULL, which bounds nothing.
pub fn item_of(value: &Value) -> Option<String> {
    let mut item = String::new();
    array::push_value(&mut item, value);
    (!value.is_null()).then_some(item)
}

/// The value of a bound of a range of a type, NULL where nothing bounds it.
pub fn value_of(bound: Bound<'_>, of: Range) -> Value {
    bound.item.map_or(Value::Null, |it| array::value_of(it, of.bound()))
}

/// What holds the range between two bounds, whichever way they are said.
///
/// # Errors
/// 22000 for a lower bound above the upper one, 22003 and 22008 where no value stands behind a bound that there must be one behind.
pub fn make(of: Range, said: Span<'_>) -> SqlResult<String> {
    let (mut lower, mut upper) = (said.lower, said.upper);
    lower.inclusive &= lower.item.is_some();
    upper.inclusive &= upper.item.is_some();
    if let (Some(low), Some(high)) = (lower.item, upper.item) {
        match order_of_items(low, high) {
            Ordering::Greater => {
                let message = "range lower bound must be less than or equal to range upper bound";
                return Err(SqlError::new(SqlState::DATA_EXCEPTION, message));
            }
            Ordering::Equal if !(lower.inclusive && upper.inclusive) => return Ok(EMPTY.to_owned()),
            _ => {}
        }
    }
    let (mut behind_low, mut behind_high) = (None, None);
    if of.is_discrete() && !lower.inclusive {
        behind_low = next(lower, of)?;
    }
    if of.is_discrete() && upper.inclusive {
        behind_high = next(upper, of)?;
    }
    if let Some(item) = &behind_low {
        lower = Bound { item: Some(item), inclusive: true };
    }
    if let Some(item) = &behind_high {
        upper = Bound { item: Some(item), inclusive: false };
    }
    Ok(held((!is_behind(lower, upper)).then_some(Span { lower, upper })))
}

/// The item of the value behind that of a bound; `None` where there is no bound, and of a day that is infinite.
fn next(bound: Bound<'_>, of: Range) -> SqlResult<Option<String>> {
    let Some(value) = bound.item.map(|it| array::value_of(it, of.bound())) else { return Ok(None) };
    let next = match value {
        Value::Date(it) if datetime::is_infinite_day(it.into()) => return Ok(None),
        Value::Date(it) => datetime::date(i64::from(it) + 1).map(Value::Date),
        Value::Integer(it) if of == Range::Int4 => {
            i32::try_from(it + 1).ok().map(|it| Value::Integer(it.into()))
        }
        Value::Integer(it) => it.checked_add(1).map(Value::Integer),
        _ => return Ok(None),
    };
    next.map(|it| item_of(&it)).ok_or_else(|| out_of_range(of.bound()))
}
