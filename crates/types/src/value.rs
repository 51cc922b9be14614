//! One SQL value, as literals, statistics and dictionary bounds carry it. Rows never hold these.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use stdx::sync::Arc;

/// A value or NULL, as [`DataType::stored`](crate::DataType::stored) holds it: what a timestamp is in UTC, an integer a time,
/// a decimal an interval, a text a UUID, the type beside it says.
///
/// `==` is whether two are held alike: floats by their bits, so that `-0.0` is not `0.0` and what is no number is itself. What is equal in
/// SQL is another question ([`crate::numeric`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Value {
    /// No value.
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// SMALLINT, INTEGER or BIGINT.
    Integer(i64),
    /// REAL or DOUBLE PRECISION.
    Float(f64),
    /// An exact number: `unscaled / 10^scale`.
    Decimal {
        /// All digits as an integer.
        unscaled: i128,
        /// Digits after the point.
        scale: u8,
    },
    /// Days from 1970-01-01.
    Date(i32),
    /// Microseconds from 1970-01-01.
    Timestamp(i64),
    /// Any text.
    Text(#[serde(with = "crate::shared")] Arc<str>),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) | (Self::Timestamp(a), Self::Timestamp(b)) => {
                a == b
            }
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (
                Self::Decimal { unscaled: a, scale: of_a },
                Self::Decimal { unscaled: b, scale: of_b },
            ) => (a, of_a) == (b, of_b),
            (Self::Date(a), Self::Date(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            _ => false,
        }
    }
}

impl Value {
    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value as the integer that columns store for it (days, microseconds, unscaled digits, 0 / 1), if it is one.
    pub fn as_i128(&self) -> Option<i128> {
        match self {
            Self::Boolean(it) => Some(i128::from(*it)),
            Self::Integer(it) => Some(i128::from(*it)),
            Self::Decimal { unscaled, .. } => Some(*unscaled),
            Self::Date(it) => Some(i128::from(*it)),
            Self::Timestamp(it) => Some(i128::from(*it)),
            Self::Null | Self::Float(_) | Self::Text(_) => None,
        }
    }

    /// A value of the same kind with another number; `None` for what is no number, and where it has no room.
    pub fn with_i128(&self, number: i128) -> Option<Self> {
        Some(match self {
            Self::Integer(_) => Self::Integer(number.try_into().ok()?),
            Self::Decimal { scale, .. } => Self::Decimal { unscaled: number, scale: *scale },
            Self::Date(_) => Self::Date(number.try_into().ok()?),
            Self::Timestamp(_) => Self::Timestamp(number.try_into().ok()?),
            Self::Boolean(_) | Self::Null | Self::Float(_) | Self::Text(_) => return None,
        })
    }

    /// The order of two values of the same kind; NULL and values of different kinds have none.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => Some(a.total_cmp(b)),
            (Self::Text(a), Self::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            (Self::Decimal { scale: a, .. }, Self::Decimal { scale: b, .. }) if a != b => None,
            (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b) => {
                Some(a.as_i128()?.cmp(&b.as_i128()?))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(it) => write!(f, "{it}"),
            Self::Integer(it) => write!(f, "{it}"),
            Self::Float(it) => write!(f, "{it}"),
            Self::Decimal { unscaled, scale } => {
                let digits = format!("{:0>1$}", unscaled.unsigned_abs(), usize::from(*scale) + 1);
                let (whole, fraction) = digits.split_at(digits.len() - usize::from(*scale));
                let sign = if *unscaled < 0 { "-" } else { "" };
                if fraction.is_empty() {
                    write!(f, "{sign}{whole}")
                } else {
                    write!(f, "{sign}{whole}.{fraction}")
                }
            }
            Self::Date(i32::MIN) => f.write_str("DATE '-infinity'"),
            Self::Date(i32::MAX) => f.write_str("DATE 'infinity'"),
            Self::Timestamp(i64::MIN) => f.write_str("TIMESTAMP '-infinity'"),
            Self::Timestamp(i64::MAX) => f.write_str("TIMESTAMP 'infinity'"),
            Self::Date(days) => {
                let (y, m, d) = civil_from_days(i64::from(*days));
                write!(f, "DATE '{y:04}-{m:02}-{d:02}'")
            }
            Self::Timestamp(micros) => {
                let (y, m, d) = civil_from_days(micros.div_euclid(86_400_000_000));
                let of_day = micros.rem_euclid(86_400_000_000);
                let (h, min, s) =
                    (of_day / 3_600_000_000, of_day / 60_000_000 % 60, of_day as f64 / 1e6 % 60.0);
                write!(f, "TIMESTAMP '{y:04}-{m:02}-{d:02} {h:02}:{min:02}:{s:09.6}'")
            }
            Self::Text(it) => write!(f, "'{}'", it.replace('\'', "''")),
        }
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
pub fn civil_from_days(days: i64) -> (i64, u32, u32) {
    // Counted from 0000-03-01, eras of 400 years all have the same length and leap days come last.
    let from_march = days + 719_468;
    let era = from_march.div_euclid(146_097);
    let day_of_era = from_march.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month =
        (if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 }) as u32;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_as_sql() {
        let cases = [
            (Value::Decimal { unscaled: -5, scale: 2 }, "-0.05"),
            (Value::Decimal { unscaled: 12345, scale: 2 }, "123.45"),
            (Value::Decimal { unscaled: 7, scale: 0 }, "7"),
            (Value::Date(0), "DATE '1970-01-01'"),
            (Value::Date(10957), "DATE '2000-01-01'"),
            (Value::Date(-1), "DATE '1969-12-31'"),
            (Value::Text("it's".into()), "'it''s'"),
            (Value::Timestamp(-1), "TIMESTAMP '1969-12-31 23:59:59.999999'"),
        ];
        for (value, text) in cases {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn only_values_of_one_kind_compare() {
        assert_eq!(Value::Integer(1).compare(&Value::Integer(2)), Some(Ordering::Less));
        assert_eq!(Value::Integer(1).compare(&Value::Date(2)), None);
        assert_eq!(Value::Null.compare(&Value::Null), None);
    }
}
