//! Numbers of bytes as people write them.

use arrow_array::ArrayRef;
use arrow_array::types::Int64Type;
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;

/// Digits of a number that are read; more make it too large or change nothing.
const DIGITS_MAX: usize = 30;
/// Powers of ten that are told apart; beyond them a number is too large, or nothing.
const POWER_MAX: i64 = 60;
/// Units behind bytes, each 1024 times the one before.
const UNITS: [&str; 5] = ["kb", "mb", "gb", "tb", "pb"];

/// `pg_size_bytes`.
pub(crate) fn size_bytes(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    call.map::<Int64Type>(|row| bytes(texts.value(row)))
}

/// Errors: 22023 for what is no size, 22003 for one beyond BIGINT.
fn bytes(text: &str) -> SqlResult<i64> {
    let invalid =
        || SqlError::new(SqlState::INVALID_PARAMETER, format!("invalid size: \"{text}\""));
    let trimmed = text.trim();
    let (number, rest) = number(trimmed).ok_or_else(invalid)?;
    let unit = rest.trim_start();
    let factor = factor(unit).ok_or_else(|| {
        invalid().with_detail(format!("Invalid size unit: \"{unit}\".")).with_hint(
            "Valid units are \"bytes\", \"B\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".",
        )
    })?;
    number
        .times(factor)
        .ok_or_else(|| SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "bigint out of range"))
}

fn factor(unit: &str) -> Option<i128> {
    if unit.is_empty() || unit.eq_ignore_ascii_case("bytes") || unit.eq_ignore_ascii_case("b") {
        return Some(1);
    }
    let place = UNITS.iter().position(|it| unit.eq_ignore_ascii_case(it))?;
    Some(1 << (10 * (place + 1)))
}

/// A decimal: its digits as a whole number, and the power of ten that they are to be taken by.
#[derive(Debug, PartialEq)]
struct Decimal {
    digits: i128,
    power: i64,
}

impl Decimal {
    /// The product with a factor as a whole number, halves away from zero.
    fn times(&self, factor: i128) -> Option<i64> {
        let product = self.digits.checked_mul(factor)?;
        let whole = match u32::try_from(self.power) {
            Ok(_) if product == 0 => 0,
            Ok(power) => product.checked_mul(10_i128.checked_pow(power)?)?,
            Err(_) => {
                let power = u32::try_from(-self.power).ok()?;
                let Some(by) = 10_i128.checked_pow(power) else { return Some(0) };
                let half = by / 2 * product.signum();
                product.checked_add(half)? / by
            }
        };
        i64::try_from(whole).ok()
    }
}

/// The number that a text begins with, and what stands behind it.
fn number(text: &str) -> Option<(Decimal, &str)> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (whole, rest) = digits_of(unsigned);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(behind) => digits_of(behind),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (power, rest) = exponent(rest).unwrap_or((0, rest));
    let mut value = Decimal { digits: 0, power };
    let mut taken = 0;
    let all = whole.bytes().map(|it| (it, 0)).chain(fraction.bytes().map(|it| (it, -1)));
    for (digit, shift) in all {
        if taken < DIGITS_MAX {
            value.digits = value.digits * 10 + i128::from(digit - b'0');
            value.power += shift;
        } else {
            value.power += 1 + shift;
        }
        taken += usize::from(value.digits != 0);
    }
    value.digits *= sign;
    value.power = value.power.clamp(-POWER_MAX, POWER_MAX);
    Some((value, rest))
}

fn digits_of(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// What stands behind an `e`, if that is a number.
fn exponent(text: &str) -> Option<(i64, &str)> {
    let behind = text.strip_prefix(['e', 'E'])?;
    let unsigned = behind.strip_prefix(['-', '+']).unwrap_or(behind);
    let (digits, rest) = digits_of(unsigned);
    if digits.is_empty() {
        return None;
    }
    let power: i64 = digits.parse().unwrap_or(POWER_MAX * 4).min(POWER_MAX * 4);
    Some((if behind.starts_with('-') { -power } else { power }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_postgres_reads_them() {
        for (text, expected) in [
            ("1", 1),
            ("123bytes", 123),
            ("1kB", 1024),
            (" 1 MB ", 1 << 20),
            ("1 GB", 1 << 30),
            ("1.5 gb", 3 << 29),
            ("-.1kb", -102),
            ("1.", 1),
            ("-0.5", -1),
            ("1e3 kB", 1_024_000),
            ("1.5e-3", 0),
            ("1e-100", 0),
            ("0e100 PB", 0),
            ("9223372036854775807", i64::MAX),
            ("00000000000000000000000000000000000000012 B", 12),
            ("1.00000000000000000000000000000000000000000009 kB", 1024),
        ] {
            assert_eq!(bytes(text).unwrap(), expected, "{text}");
        }
        for (text, state) in [
            ("", "22023"),
            ("kB", "22023"),
            ("1 AB", "22023"),
            ("1 GB A", "22023"),
            ("1e", "22023"),
            (".", "22023"),
            ("9223372036854775808", "22003"),
            ("1e100", "22003"),
            ("-8193 PB", "22003"),
        ] {
            assert_eq!(bytes(text).unwrap_err().state.0, state, "{text}");
        }
    }
}
