//! Numbers and Booleans from text, as PostgreSQL reads them. Blanks around a value do not count.

use super::decimal;
use super::digits::Digits;
use super::errors::{invalid_text, not_a_number, text_out_of_range};
use super::number::Number;
use super::types::MAX_DIGITS;
use crate::{DataType, SqlError, SqlResult, SqlState, Value};

/// Without what C calls space around it.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|it: char| matches!(it, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r'))
}

/// A Boolean: beginnings of true, false, yes, no, on and off that tell them apart, 1 and 0.
pub fn boolean(text: &str) -> SqlResult<bool> {
    let word = trimmed(text).to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if begins("true", 1) || begins("yes", 1) || begins("on", 2) || word == "1" {
        Ok(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0" {
        Ok(false)
    } else {
        Err(invalid_text(text, DataType::Boolean))
    }
}

/// An integer or decimal, as the unscaled integer of the type.
pub fn exact(text: &str, to: DataType) -> SqlResult<i128> {
    let spelt = trimmed(text);
    let is_whole = to.is_integer() || matches!(to, DataType::Whole(_));
    if !is_whole {
        match spelt.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
            "nan" => return Err(not_a_number()),
            "inf" | "infinity" => return Err(text_out_of_range(text, to)),
            _ => {}
        }
    }
    let digits = Digits::parse(spelt).ok_or_else(|| invalid_text(text, to))?;
    if is_whole && !digits.is_whole() {
        return Err(invalid_text(text, to));
    }
    let unscaled = digits.at_scale(to.scale()).filter(|&it| decimal::fits(it, to));
    unscaled.ok_or_else(|| text_out_of_range(text, to))
}

/// A float; `to` is REAL or DOUBLE PRECISION.
pub fn float(text: &str, to: DataType) -> SqlResult<f64> {
    let spelt = trimmed(text);
    let unsigned = spelt.strip_prefix(['+', '-']).unwrap_or(spelt);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        let whole = Digits::parse(spelt).and_then(|it| it.at_scale(0));
        let whole = whole.ok_or_else(|| invalid_text(text, to))?;
        return Ok(super::float::of_exact(whole, 0, to == DataType::Real));
    }
    let parsed = if to == DataType::Real {
        spelt.parse::<f32>().map(f64::from)
    } else {
        spelt.parse::<f64>()
    };
    let value = parsed.map_err(|_| invalid_text(text, to))?;
    let mantissa = unsigned.split(['e', 'E']).next().unwrap_or("");
    let not_zero = mantissa.bytes().any(|it| matches!(it, b'1'..=b'9'));
    if not_zero && (value == 0.0 || value.is_infinite()) {
        return Err(text_out_of_range(text, to));
    }
    Ok(value)
}

/// A number as SQL spells it: `1`, `2.50`, `1e3`, `.5`, `1_000`, `0x1F`, `0o17`, `0b1`. INTEGER or BIGINT where it has neither
/// point nor exponent and fits, else DECIMAL with the digits that are written, or NUMERIC where there are more than it holds.
///
/// # Errors
/// 42601 for what is no number; 22003 for more digits than NUMERIC holds.
pub fn parse_literal(text: &str) -> SqlResult<(Value, DataType)> {
    let syntax = || SqlError::new(SqlState::SYNTAX, format!("\"{text}\" is not a number"));
    let digits = Digits::parse(text).ok_or_else(syntax)?;
    let scale = u8::try_from(digits.scale().max(0)).ok().filter(|&it| it <= MAX_DIGITS);
    let Some((scale, unscaled)) = scale.and_then(|it| Some((it, digits.at_scale(it)?))) else {
        return of_any_scale(&digits);
    };
    if digits.is_whole()
        && let Some(integer) = smallest_integer(unscaled)
    {
        return Ok(integer);
    }
    let count = unscaled.unsigned_abs().checked_ilog10().map_or(1, |it| it + 1);
    let precision = u8::try_from(count).unwrap_or(u8::MAX).max(scale).max(1);
    if precision > MAX_DIGITS {
        return of_any_scale(&digits);
    }
    Ok((Value::Decimal { unscaled, scale }, DataType::Decimal { precision, scale }))
}

/// A constant of more digits than DECIMAL has.
fn of_any_scale(digits: &Digits) -> SqlResult<(Value, DataType)> {
    Ok((Value::Text(Number::of_digits(digits)?.held()?.into()), DataType::Numeric))
}

/// INTEGER or BIGINT, whichever is the smaller that holds it.
pub(super) fn smallest_integer(value: i128) -> Option<(Value, DataType)> {
    let value = i64::try_from(value).ok()?;
    let small = i32::try_from(value).is_ok();
    Some((Value::Integer(value), if small { DataType::Integer } else { DataType::BigInt }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_types_of_their_spelling() {
        let decimal = |unscaled, precision, scale| {
            Ok((Value::Decimal { unscaled, scale }, DataType::Decimal { precision, scale }))
        };
        let integer = |it| Ok((Value::Integer(it), DataType::Integer));
        let bigint = |it| Ok((Value::Integer(it), DataType::BigInt));
        let nines = "9".repeat(38);
        let numeric = |it: &str| {
            Ok((Value::Text(Number::parse(it).unwrap().held().unwrap().into()), DataType::Numeric))
        };
        let cases = [
            ("1", integer(1)),
            ("2147483647", integer(2147483647)),
            ("2147483648", bigint(2147483648)),
            ("9223372036854775807", bigint(i64::MAX)),
            ("9223372036854775808", decimal(1 << 63, 19, 0)),
            ("2.50", decimal(250, 3, 2)),
            ("1.", decimal(1, 1, 0)),
            (".5", decimal(5, 1, 1)),
            ("0.05", decimal(5, 2, 2)),
            ("0.0", decimal(0, 1, 1)),
            ("1e3", decimal(1000, 4, 0)),
            ("1E-3", decimal(1, 3, 3)),
            ("1.50e1", decimal(150, 3, 1)),
            ("1_000", integer(1000)),
            ("1_0.0_1e0_1", decimal(1001, 4, 1)),
            ("0x1F", integer(31)),
            ("0x_ff", integer(255)),
            ("0b101", integer(5)),
            ("0o17", integer(15)),
            ("0x8000000000000000", decimal(1 << 63, 19, 0)),
            (&nines, decimal(10_i128.pow(38) - 1, 38, 0)),
            ("1e37", decimal(10_i128.pow(37), 38, 0)),
            ("0e99", decimal(0, 1, 0)),
            ("1e38", numeric("1e38")),
            ("1e-39", numeric("1e-39")),
            ("1e131072", Err("22003")),
            ("1e9999999999999999999999", Err("22003")),
            ("1e-9999999999999999999999", Err("22003")),
            ("1__0", Err("42601")),
            ("_1", Err("42601")),
            ("1_", Err("42601")),
            ("1e", Err("42601")),
            (".", Err("42601")),
            ("0x", Err("42601")),
            ("0b2", Err("42601")),
            ("1a", Err("42601")),
            ("", Err("42601")),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_literal(text).map_err(|it| it.state.0), expected, "{text}");
        }
    }

    #[test]
    fn digits_beyond_the_type_are_rounded_and_never_lost_before_the_point() {
        let tenths = DataType::Decimal { precision: 5, scale: 1 };
        assert_eq!(exact("1.25", tenths), Ok(13));
        assert_eq!(exact("-1.25", tenths), Ok(-13));
        assert_eq!(exact("9999.94", tenths), Ok(99999));
        assert_eq!(exact("9999.95", tenths).map_err(|it| it.state.0), Err("22003"));
        assert_eq!(exact("125e-2", tenths), Ok(13));
        assert_eq!(exact("0.04e1", tenths), Ok(4));
        assert_eq!(exact("5e-2", tenths), Ok(1));
        assert_eq!(exact("5e-3", tenths), Ok(0));
        assert_eq!(exact("1e-999999999", tenths), Ok(0));
    }
}
