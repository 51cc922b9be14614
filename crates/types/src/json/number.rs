//! Numbers of JSON: as JSONB has them, and as values of other types.

use std::borrow::Cow;

use super::{Kind, kind};
use crate::numeric::number::Number;
use crate::numeric::{self, parse_literal, spelling};
use crate::{DataType, SqlError, SqlResult, SqlState, Value};

/// Digits before and behind the point that PostgreSQL's numbers have at most.
const WHOLE_MAX: i64 = 131_072;
const SCALE_MAX: i64 = 16_383;

/// A number taken apart: sign, digits without the point, and how many of them stand before it.
pub(super) struct Parts<'a> {
    pub negative: bool,
    pub digits: Cow<'a, str>,
    pub whole: i64,
}

/// The parts of a number that is written as JSON has it.
pub(super) fn parts(text: &str) -> Parts<'_> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(i64::from(i32::MAX))),
        None => (rest, 0i64),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = match behind {
        "" => Cow::Borrowed(before),
        _ => Cow::Owned([before, behind].concat()),
    };
    Parts { negative, digits, whole: exponent.saturating_add(before.len() as i64) }
}

/// A number without an exponent; zero has no sign.
///
/// Errors: 22003 for more digits than PostgreSQL has.
pub(super) fn normal(text: &str) -> SqlResult<Cow<'_, str>> {
    if text.len() <= 1000 && !text.starts_with("-0") && !text.contains(['e', 'E']) {
        return Ok(Cow::Borrowed(text));
    }
    let Parts { negative, digits, whole } = parts(text);
    let scale = (digits.len() as i64).saturating_sub(whole).max(0);
    let significant = digits.trim_start_matches('0');
    let before = whole - (digits.len() - significant.len()) as i64;
    if !significant.is_empty() && before > WHOLE_MAX || scale > SCALE_MAX {
        let message = "value overflows numeric format";
        return Err(SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
    }
    let mut out = String::new();
    if negative && !significant.is_empty() {
        out.push('-');
    }
    let zeros = |count: i64, out: &mut String| {
        out.extend(std::iter::repeat_n('0', usize::try_from(count).unwrap_or(0)));
    };
    let place = usize::try_from(whole.max(0)).unwrap_or(0).min(digits.len());
    // What is no number may have no character that ends there.
    let lead = digits.get(..place).unwrap_or("").trim_start_matches('0');
    out.push_str(lead);
    if !significant.is_empty() {
        zeros(whole - digits.len() as i64, &mut out);
    }
    if out.is_empty() || out == "-" {
        out.push('0');
    }
    if scale > 0 {
        out.push('.');
        zeros((-whole).min(scale), &mut out);
        out.push_str(digits.get(place..).unwrap_or(""));
    }
    Ok(Cow::Owned(out))
}

/// A JSONB as a value of a type of truths or numbers; `null` is NULL.
///
/// # Errors
/// 22023 for a value of another kind, 22003 for a number that the type does not hold.
pub(crate) fn scalar(json: &str, to: DataType) -> SqlResult<Value> {
    let found = kind(json);
    match (found, to) {
        (Kind::Null, _) => Ok(Value::Null),
        (Kind::Boolean, DataType::Boolean) => Ok(Value::Boolean(json == "true")),
        (Kind::Number, _) if to.is_float() => Ok(Value::Float(spelling::float(json, to)?)),
        (Kind::Number, DataType::Numeric) => Ok(Value::Text(Number::parse(json)?.held()?.into())),
        (Kind::Number, _) if to.is_exact() => {
            let (value, own) = parse_literal(json)?;
            numeric::cast(&value, own, to)
        }
        _ => {
            let own = match found {
                Kind::Number => "numeric",
                other => other.name(),
            };
            let to = match to {
                DataType::Decimal { .. } => "numeric".to_owned(),
                other => numeric::errors::type_name(other),
            };
            let message = format!("cannot cast jsonb {own} to type {to}");
            Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
        }
    }
}
