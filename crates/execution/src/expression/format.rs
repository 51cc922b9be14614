//! Values as text, as Postgres writes them.

use std::fmt::Write;

use types::DataType;
use types::value::civil_from_days;

use super::date::DAY;

/// Appends an integer, decimal, date or timestamp; nothing fails to be written to a string.
pub(super) fn number(value: i128, data_type: DataType, out: &mut String) {
    match data_type {
        DataType::Date => date(value as i64, out),
        DataType::Timestamp => timestamp(value as i64, out),
        _ => decimal(value, usize::from(data_type.scale()), out),
    }
}

fn decimal(value: i128, scale: usize, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    let digits = value.unsigned_abs();
    if scale == 0 {
        let _ = write!(out, "{digits}");
        return;
    }
    let start = out.len();
    let _ = write!(out, "{digits:0>width$}", width = scale + 1);
    let point = out.len() - scale;
    debug_assert!(point > start, "one digit stands before the point");
    out.insert(point, '.');
}

fn date(days: i64, out: &mut String) {
    let (year, month, day) = civil_from_days(days);
    if year > 0 {
        let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    } else {
        let _ = write!(out, "{:04}-{month:02}-{day:02} BC", 1 - year);
    }
}

fn timestamp(micros: i64, out: &mut String) {
    date(micros.div_euclid(DAY), out);
    let bc = out.ends_with(" BC");
    if bc {
        out.truncate(out.len() - 3);
    }
    let seconds = micros.rem_euclid(DAY) / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = write!(out, " {hour:02}:{minute:02}:{second:02}");
    let fraction = micros.rem_euclid(1_000_000);
    if fraction != 0 {
        let _ = write!(out, ".{fraction:06}");
        out.truncate(out.trim_end_matches('0').len());
    }
    if bc {
        out.push_str(" BC");
    }
}

/// Appends a float: the shortest digits that mean it, with an exponent where Postgres writes one.
pub(super) fn float(value: f64, single: bool, out: &mut String) {
    if value.is_nan() {
        out.push_str("NaN");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    } else {
        let (plain, scientific) = if single {
            (format!("{}", value as f32), format!("{:e}", value as f32))
        } else {
            (format!("{value}"), format!("{value:e}"))
        };
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        if (-4..if single { 6 } else { 15 }).contains(&exponent) {
            out.push_str(&plain);
        } else {
            let sign = if exponent < 0 { '-' } else { '+' };
            let _ = write!(out, "{mantissa}e{sign}{:02}", exponent.abs());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_postgres_does() {
        let cases = [
            (-5, DataType::Decimal { precision: 5, scale: 2 }, "-0.05"),
            (0, DataType::Decimal { precision: 5, scale: 2 }, "0.00"),
            (12345, DataType::Decimal { precision: 5, scale: 2 }, "123.45"),
            (-7, DataType::Integer, "-7"),
            (-1, DataType::Date, "1969-12-31"),
            (-719_529, DataType::Date, "0002-12-31 BC"),
            (-719_528, DataType::Date, "0001-01-01 BC"),
            (1, DataType::Timestamp, "1970-01-01 00:00:00.000001"),
            (-500_000, DataType::Timestamp, "1969-12-31 23:59:59.5"),
        ];
        for (value, data_type, expected) in cases {
            let mut out = String::new();
            number(value, data_type, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn floats_are_written_as_postgres_does() {
        let cases = [
            (0.1, "0.1"),
            (1.0, "1"),
            (1e15, "1e+15"),
            (123456789012345.0, "123456789012345"),
            (1.5e-5, "1.5e-05"),
            (-0.0001, "-0.0001"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, expected) in cases {
            let mut out = String::new();
            float(value, false, &mut out);
            assert_eq!(out, expected);
        }
        let mut out = String::new();
        float(f64::from(0.1_f32), true, &mut out);
        assert_eq!(out, "0.1");
    }
}
