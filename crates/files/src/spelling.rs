//! Values as files nearly always spell them. What is spelt otherwise is read by the rules that all casts share.

use types::numeric::{datetime, spelling};
use types::styles::DateOrder;
use types::{DataType, SqlResult};

/// The longest run of digits that 64 bits hold whatever they are.
const DIGITS_MAX: usize = 18;

/// An integer or decimal, as the unscaled integer of its type.
pub(crate) fn exact(text: &str, data_type: DataType) -> SqlResult<i128> {
    match plain_exact(text.as_bytes(), data_type) {
        Some(value) => Ok(value.into()),
        None => spelling::exact(text, data_type),
    }
}

/// `-?digits[.digits]` that is surely within the type, but for its least and greatest value.
fn plain_exact(bytes: &[u8], data_type: DataType) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    let scale = usize::from(data_type.scale());
    let (mut value, mut behind) = (0_i64, None);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + i64::from(byte - b'0');
                if let Some(count) = &mut behind {
                    *count += 1;
                }
            }
            b'.' if behind.is_none() && scale > 0 => behind = Some(0),
            _ => return None,
        }
    }
    let behind = behind.unwrap_or(0);
    // At least one digit stands before the point, or behind it.
    if behind > scale || digits == b"." {
        return None;
    }
    let missing = (scale - behind) as u32;
    let value = 10_i64.checked_pow(missing)?.checked_mul(value)?;
    let greatest = match data_type {
        DataType::SmallInt => i64::from(i16::MAX),
        DataType::Integer => i64::from(i32::MAX),
        DataType::BigInt => i64::MAX,
        DataType::Decimal { precision, .. } if usize::from(precision) <= DIGITS_MAX => {
            10_i64.pow(precision.into()) - 1
        }
        DataType::Decimal { .. } => i64::MAX,
        _ => return None,
    };
    (value <= greatest).then_some(if negative { -value } else { value })
}

/// A float.
pub(crate) fn float(text: &str, data_type: DataType) -> SqlResult<f64> {
    match plain_float(text.as_bytes(), data_type) {
        Some(value) => Ok(value),
        None => spelling::float(text, data_type),
    }
}

/// Powers of ten, all of which a float is exactly.
const POWERS: [f64; FLOAT_DIGITS_MAX + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Digits of which each run is a float exactly.
const FLOAT_DIGITS_MAX: usize = 15;

/// `-?digits[.digits]` of so few digits that they and the power of ten that divides them are floats exactly: then the quotient
/// is the float nearest to what is meant.
fn plain_float(bytes: &[u8], data_type: DataType) -> Option<f64> {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    // The quotient would be rounded twice on its way to a single.
    if data_type != DataType::Double || digits.len() > FLOAT_DIGITS_MAX + 1 {
        return None;
    }
    let (mut value, mut count, mut behind) = (0_u64, 0, None);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + u64::from(byte - b'0');
                count += 1;
            }
            b'.' if behind.is_none() => behind = Some(count),
            _ => return None,
        }
    }
    if count == 0 || count > FLOAT_DIGITS_MAX {
        return None;
    }
    let value = value as f64 / POWERS[count - behind.unwrap_or(count)];
    Some(if negative { -value } else { value })
}

/// A date, as days from 1970-01-01; one of numbers alone in an order.
pub(crate) fn date(text: &str, order: DateOrder) -> SqlResult<i64> {
    match plain_date(text.as_bytes()) {
        Some(days) => Ok(days),
        None => datetime::parse_date_in(text, order),
    }
}

/// A timestamp, as microseconds from 1970-01-01; the same.
pub(crate) fn timestamp(text: &str, order: DateOrder) -> SqlResult<i64> {
    match plain_timestamp(text.as_bytes()) {
        Some(micros) => Ok(micros),
        None => datetime::parse_timestamp_in(text, order),
    }
}

/// Two digits.
fn pair(bytes: &[u8], at: usize) -> Option<i64> {
    let digit = |it: &u8| it.is_ascii_digit().then(|| i64::from(it - b'0'));
    Some(10 * digit(bytes.get(at)?)? + digit(bytes.get(at + 1)?)?)
}

/// `YYYY-MM-DD`.
pub(crate) fn plain_date(bytes: &[u8]) -> Option<i64> {
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = 100 * pair(bytes, 0)? + pair(bytes, 2)?;
    let (month, day) = (pair(bytes, 5)?, pair(bytes, 8)?);
    let is_day = year > 0
        && (1..=12).contains(&month)
        && (1..=datetime::days_of_month(year, month)).contains(&day);
    is_day.then(|| datetime::days_from_civil(year, month, day))
}

/// `YYYY-MM-DD HH:MM:SS[.digits]`, up to microseconds.
pub(crate) fn plain_timestamp(bytes: &[u8]) -> Option<i64> {
    let days = plain_date(bytes.get(..10)?)?;
    let (separators, rest) = (bytes.get(10..19)?, &bytes[19..]);
    if !matches!(separators[0], b' ' | b'T') || separators[3] != b':' || separators[6] != b':' {
        return None;
    }
    let (hour, minute, second) = (pair(bytes, 11)?, pair(bytes, 14)?, pair(bytes, 17)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let micros = match rest {
        [] => 0,
        [b'.', digits @ ..] if (1..=6).contains(&digits.len()) => {
            let mut micros = 0;
            for place in 0..6 {
                let digit = digits.get(place).copied().unwrap_or(b'0');
                if !digit.is_ascii_digit() {
                    return None;
                }
                micros = micros * 10 + i64::from(digit - b'0');
            }
            micros
        }
        _ => return None,
    };
    Some(((days * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use stdx::Prng;

    use super::*;

    #[test]
    fn plain_spellings_mean_what_all_spellings_mean() {
        let mut prng = Prng::new(3);
        let types = [
            DataType::SmallInt,
            DataType::Integer,
            DataType::BigInt,
            DataType::Decimal { precision: 4, scale: 2 },
            DataType::Decimal { precision: 18, scale: 18 },
            DataType::Decimal { precision: 38, scale: 10 },
        ];
        for round in 0..60_000 {
            let length = 1 + prng.below(20);
            let alphabet: &[u8] = if round % 3 == 0 { b"0123456789.-+ e" } else { b"0123456789" };
            let mut text: String = (0..length)
                .map(|_| char::from(alphabet[prng.below(alphabet.len() as u64) as usize]))
                .collect();
            if round % 5 == 1 {
                text.insert(prng.below(length + 1) as usize, '.');
            }
            let data_type = types[round % types.len()];
            if let Some(value) = plain_exact(text.as_bytes(), data_type) {
                assert_eq!(
                    spelling::exact(&text, data_type),
                    Ok(value.into()),
                    "{text} {data_type}"
                );
            }
        }
        for (text, data_type, value) in [
            ("32767", types[0], Some(32767)),
            ("32768", types[0], None),
            ("-12.5", types[3], Some(-1250)),
            ("100", types[3], None),
            (".5", types[3], Some(50)),
            ("5.", types[3], Some(500)),
            (".", types[3], None),
            ("-", types[0], None),
        ] {
            assert_eq!(plain_exact(text.as_bytes(), data_type), value, "{text}");
        }
    }

    #[test]
    fn plain_floats_are_those_that_all_spellings_are() {
        let mut prng = Prng::new(6);
        let mut plain = 0;
        for round in 0..100_000 {
            let alphabet: &[u8] = if round % 4 == 0 { b"0123456789.-+ e" } else { b"0123456789" };
            let length = 1 + prng.below(18);
            let mut text: String = (0..length)
                .map(|_| char::from(alphabet[prng.below(alphabet.len() as u64) as usize]))
                .collect();
            if round % 3 > 0 {
                text.insert(prng.below(length + 1) as usize, '.');
            }
            if round % 5 == 0 {
                text.insert(0, '-');
            }
            if let Some(value) = plain_float(text.as_bytes(), DataType::Double) {
                let meant = spelling::float(&text, DataType::Double).unwrap();
                assert_eq!(value.to_bits(), meant.to_bits(), "{text}");
                plain += 1;
            }
        }
        assert!(plain > 50_000, "{plain}");
        for text in ["", "-", ".", "-.", "1..", "1e5", "+1", " 1", "1234567890123456", "nan"] {
            assert_eq!(plain_float(text.as_bytes(), DataType::Double), None, "{text}");
        }
        assert_eq!(plain_float(b"-0", DataType::Double).unwrap().to_bits(), (-0.0_f64).to_bits());
        assert_eq!(plain_float(b"0.1", DataType::Real), None);
    }

    #[test]
    fn plain_days_and_times_mean_what_all_spellings_mean() {
        let mut prng = Prng::new(4);
        for _ in 0..20_000 {
            let mut number = |most: u64| prng.below(most);
            let date = format!("{:04}-{:02}-{:02}", number(10_000), number(14), number(33));
            if let Some(days) = plain_date(date.as_bytes()) {
                assert_eq!(datetime::parse_date(&date), Ok(days), "{date}");
            }
            let time = format!(
                "{:02}:{:02}:{:02}.{}",
                number(25),
                number(61),
                number(61),
                number(9_999_999)
            );
            let text = format!("{date} {time}");
            if let Some(micros) = plain_timestamp(text.as_bytes()) {
                assert_eq!(datetime::parse_timestamp(&text), Ok(micros), "{text}");
            }
        }
        assert_eq!(plain_date(b"1970-01-02"), Some(1));
        assert_eq!(plain_timestamp(b"1970-01-01T00:00:01.5"), Some(1_500_000));
        assert_eq!(plain_date(b"2023-02-29"), None);
    }
}
