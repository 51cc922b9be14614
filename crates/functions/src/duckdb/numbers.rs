//! Functions of numbers that only DuckDB has: the float behind another, binomial coefficients, and bytes from their text.

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, Int64Type};
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::error::{invalid, out_of_range};

/// The longest text that is looked at: beginnings of it are tried as numbers.
const TEXT_BYTES_MAX: usize = 200;

/// nextafter: the float that follows one in the direction of another.
pub(super) fn next_after(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (from, towards) = (call.floats(0)?, call.floats(1)?);
    call.map::<Float64Type>(|row| {
        let (from, towards) = (from.value(row), towards.value(row));
        Ok(match from.partial_cmp(&towards) {
            None => f64::NAN,
            Some(std::cmp::Ordering::Less) => from.next_up(),
            Some(std::cmp::Ordering::Greater) => from.next_down(),
            Some(std::cmp::Ordering::Equal) => towards,
        })
    })
}

/// binom: how many sets of `k` things there are among `n`.
pub(super) fn binomial(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (n, k) = (call.integers(0)?, call.integers(1)?);
    call.map_exact(|row| {
        let (n, k) = (n.at(row), k.at(row));
        if n < 0 || k < 0 {
            return Err(SqlError::new(
                SqlState::NUMERIC_OUT_OF_RANGE,
                "binom of a negative number is not defined",
            ));
        }
        if k > n {
            return Ok(0);
        }
        coefficient(i128::from(n), i128::from(k.min(n - k)))
            .ok_or_else(|| out_of_range(DataType::Decimal { precision: 38, scale: 0 }))
    })
}

/// Multiplies and divides by turns, so that nothing on the way is greater than need be; `None` where it is too great.
fn coefficient(n: i128, k: i128) -> Option<i128> {
    let mut value: i128 = 1;
    for step in 1..=k {
        let factor = n - k + step;
        // The product is divisible by the step; what they have in common goes first.
        let common = gcd(value, step);
        let step = step / common;
        value = (value / common).checked_mul(factor / step)?;
    }
    Some(value)
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// parse_formatted_bytes: `1.5 KB`, `2MiB`.
pub(super) fn parsed_bytes(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    call.map::<Int64Type>(|row| bytes_of(texts.value(row)))
}

fn bytes_of(text: &str) -> SqlResult<i64> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(invalid("a size in bytes is not as long as that"));
    }
    let text = text.trim().to_ascii_lowercase();
    let number = |end: &usize| text[..*end].trim_end().parse::<f64>().ok();
    // The longest beginning that is a number; letters of `inf` and `nan` are none.
    let ends = text.char_indices().map(|it| it.0 + it.1.len_utf8());
    let mut ends =
        ends.filter(|end| text[..*end].ends_with(|it: char| it.is_ascii_digit() || it == '.'));
    let Some(end) = ends.rfind(|end| number(end).is_some()) else {
        return Err(invalid("a size in bytes must have a number, as 1GB has"));
    };
    let (value, unit) = (number(&end).unwrap_or(0.0), text[end..].trim_start());
    if value < 0.0 {
        return Err(invalid("a size in bytes cannot be negative"));
    }
    let in_unit = |base: f64| base.powi("kmgt".find(&unit[..1]).map_or(0, |it| it as i32 + 1));
    let factor = match unit {
        "b" | "byte" | "bytes" => 1.0,
        "kb" | "mb" | "gb" | "tb" => in_unit(1000.0),
        "kib" | "mib" | "gib" | "tib" => in_unit(1024.0),
        _ => {
            return Err(invalid(format!(
                "unknown unit of bytes \"{unit}\": KB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB of 1024"
            )));
        }
    };
    let bytes = value * factor;
    // Floats from 2^63 on are no BIGINT.
    if bytes < 9_223_372_036_854_775_808.0 {
        Ok(bytes as i64)
    } else {
        Err(out_of_range(DataType::BigInt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_exact_up_to_their_range() {
        assert_eq!(coefficient(120, 60), Some(96_614_908_840_363_322_603_893_139_521_372_656));
        assert_eq!(coefficient(5, 0), Some(1));
        for n in 0..40 {
            for k in 1..=n {
                let sum = coefficient(n, k).unwrap() + coefficient(n, k - 1).unwrap();
                assert_eq!(coefficient(n + 1, k), Some(sum), "{n} {k}");
            }
        }
        assert_eq!(coefficient(i128::from(i64::MAX), 3), None);
    }

    #[test]
    fn bytes_are_read_in_both_kinds_of_units() {
        for (text, bytes) in [
            ("0 B", 0),
            ("1.5 KiB", 1536),
            ("  2  mib  ", 2_097_152),
            ("1e3 b", 1000),
            ("5MB", 5_000_000),
        ] {
            assert_eq!(bytes_of(text), Ok(bytes), "{text}");
        }
        for text in ["", "5", "abc", "1 Ki", "-1 KB", "inf KB", "1 \u{e9}", "99999999999 TiB"] {
            assert!(bytes_of(text).is_err(), "{text}");
        }
    }
}
