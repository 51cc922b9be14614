//! Ranges in binary, as PostgreSQL's `range_send` and `multirange_send` have them.
//!
//! A range is a byte of flags and the values of its bounds, each behind its length in four bytes; a set is the number of its ranges and
//! each of them behind its length.

use super::held::spans;
use super::{Bound, EMPTY, Span, item_of, make, set_of, value_of};
use crate::{Range, SqlResult, Value};

const IS_EMPTY: u8 = 0x01;
const LOWER_INSIDE: u8 = 0x02;
const UPPER_INSIDE: u8 = 0x04;
const NO_LOWER: u8 = 0x08;
const NO_UPPER: u8 = 0x10;

/// Makes a value of its bytes.
type Take<'t> = dyn FnMut(&[u8]) -> SqlResult<Value> + 't;

/// The bytes of a range: `put` appends the value of a bound behind its length.
pub fn sent(held: &str, of: Range, put: &mut dyn FnMut(&Value, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    match spans(held).next() {
        Some(it) => put_span(&it, of, put, &mut out),
        None => out.push(IS_EMPTY),
    }
    out
}

/// The bytes of a set of ranges.
pub fn sent_set(held: &str, of: Range, put: &mut dyn FnMut(&Value, &mut Vec<u8>)) -> Vec<u8> {
    let count = spans(held).count() as u32;
    let mut out = count.to_be_bytes().to_vec();
    for it in spans(held) {
        let mut range = Vec::new();
        put_span(&it, of, put, &mut range);
        out.extend((range.len() as u32).to_be_bytes());
        out.extend(range);
    }
    out
}

fn put_span(
    it: &Span<'_>,
    of: Range,
    put: &mut dyn FnMut(&Value, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    let flags = [
        (it.lower.inclusive, LOWER_INSIDE),
        (it.upper.inclusive, UPPER_INSIDE),
        (it.lower.item.is_none(), NO_LOWER),
        (it.upper.item.is_none(), NO_UPPER),
    ];
    out.push(flags.iter().filter(|it| it.0).fold(0, |all, it| all | it.1));
    for bound in [it.lower, it.upper] {
        if bound.item.is_some() {
            put(&value_of(bound, of), out);
        }
    }
}

/// The range that bytes are, as it is held; `None` of bytes that are none. `take` makes values of the bytes of bounds.
///
/// # Errors
/// Those of [`make`] and of `take`.
pub fn of_sent(bytes: &[u8], of: Range, take: &mut Take<'_>) -> SqlResult<Option<String>> {
    let Some((&flags, mut rest)) = bytes.split_first() else { return Ok(None) };
    let has = |flag: u8| flags & flag != 0;
    let mut bounds = [None, None];
    for (bound, none) in bounds.iter_mut().zip([NO_LOWER, NO_UPPER]) {
        if !has(IS_EMPTY) && !has(none) {
            let Some(value) = measured(&mut rest) else { return Ok(None) };
            *bound = item_of(&take(value)?);
        }
    }
    if !rest.is_empty() {
        return Ok(None);
    }
    if has(IS_EMPTY) {
        return Ok(Some(EMPTY.to_owned()));
    }
    let [lower, upper] = &bounds;
    let lower = Bound { item: lower.as_deref(), inclusive: has(LOWER_INSIDE) };
    let upper = Bound { item: upper.as_deref(), inclusive: has(UPPER_INSIDE) };
    make(of, Span { lower, upper }).map(Some)
}

/// The set of ranges that bytes are, as it is held; `None` of bytes that are none.
///
/// # Errors
/// As of [`of_sent`].
pub fn of_set_sent(bytes: &[u8], of: Range, take: &mut Take<'_>) -> SqlResult<Option<String>> {
    let Some((count, mut rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let mut ranges = Vec::new();
    for _ in 0..u32::from_be_bytes(*count) {
        let Some(range) = measured(&mut rest) else { return Ok(None) };
        let Some(held) = of_sent(range, of, take)? else { return Ok(None) };
        ranges.push(held);
    }
    Ok(rest.is_empty().then(|| set_of(ranges.iter().map(String::as_str))))
}

/// The bytes behind their length.
fn measured<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let (own, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = behind;
    Some(own)
}
