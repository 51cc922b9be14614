//! Values as text, as PostgreSQL writes them.

use std::fmt::Write;

use super::address::Address;
use super::interval::Interval;
use super::interval_text;
use super::time_tz::TimeTz;
use super::{bytes, datetime, number as numbers, styled};
use crate::styles::{BytesForm, DateForm, FloatForm};
use crate::{DataType, Element, Styles, Value, Zone, array, ranges, structs};

/// Appends what a column of an exact type stores: an integer, the unscaled digits of a decimal, days, microseconds.
/// Nothing fails to be written to a string.
pub fn number(value: i128, data_type: DataType, out: &mut String) {
    match data_type {
        DataType::Date => datetime::format_date(value as i64, out),
        DataType::Timestamp => datetime::format_timestamp(value as i64, out),
        DataType::Time => datetime::format_time(value as i64, out),
        DataType::TimeTz => TimeTz::of_held(value as i64).format(out),
        DataType::Interval => interval_text::format(Interval::of_held(value), out),
        DataType::Enum(it) => out.push_str(it.label(value).unwrap_or_default()),
        _ => decimal(value, usize::from(data_type.scale()), out),
    }
}

/// Appends what a column of such a type stores as a text.
pub fn text(held: &str, data_type: DataType, out: &mut String) {
    match data_type {
        DataType::Bytea => bytes::format(held, out),
        DataType::Numeric => numbers::written(held, out),
        DataType::Network(it) => Address::of_held(held).format(it, out),
        DataType::Array(it) => array(held, it, &Zone::utc(), out),
        DataType::Range(_) | DataType::Multirange(_) => range(held, data_type, &Zone::utc(), out),
        DataType::Struct(_) | DataType::Map(_) => {
            structs::format(held, data_type, &Zone::utc(), out);
        }
        _ => out.push_str(held),
    }
}

/// Appends an array with items of a type, its moments as the clocks of a zone show them.
pub fn array(held: &str, element: Element, zone: &Zone, out: &mut String) {
    let of = element.data_type();
    // What is DuckDB's alone is written as it writes it.
    if structs::is_nested(of) && !matches!(of, DataType::Struct(it) if it.is_record()) {
        return structs::format(held, DataType::Array(element), zone, out);
    }
    array::format(held, element, &mut |it, out| shown(it, of, zone, out), out);
}

/// Appends a range or a set of ranges, its moments as the clocks of a zone show them.
fn range(held: &str, of: DataType, zone: &Zone, out: &mut String) {
    match of {
        DataType::Range(it) => {
            ranges::format(held, it, &mut |value, out| shown(value, it.bound(), zone, out), out);
        }
        DataType::Multirange(it) => {
            ranges::format_set(
                held,
                it,
                &mut |value, out| shown(value, it.bound(), zone, out),
                out,
            );
        }
        _ => {}
    }
}

/// Appends a value as PostgreSQL's clients see it: a truth as one letter, a CHAR with its blanks. NULL has no text.
pub fn shown(it: &Value, of: DataType, zone: &Zone, out: &mut String) {
    match (it, of) {
        (Value::Boolean(it), _) => out.push_str(if *it { "t" } else { "f" }),
        (Value::Text(it), DataType::Char(length)) => out.push_str(&padded(it, length)),
        _ => value(it, of, zone, out),
    }
}

/// Appends a value of a type, its moments as the clocks of a zone show them. NULL has no text.
pub fn value(value: &Value, of: DataType, zone: &Zone, out: &mut String) {
    let styles = zone.styles();
    match value {
        _ if !styles.is_usual() && in_style(value, of, styles, out) => {}
        Value::Timestamp(it) if of == DataType::TimestampTz => moment(*it, zone, out),
        Value::Text(it) if let DataType::Array(element) = of => array(it, element, zone, out),
        Value::Text(it) if of.range().is_some() => range(it, of, zone, out),
        Value::Text(it) if structs::is_nested(of) => structs::format(it, of, zone, out),
        Value::Text(it) => text(it, of, out),
        Value::Integer(_) | Value::Decimal { .. }
            if matches!(
                of,
                DataType::Time | DataType::TimeTz | DataType::Interval | DataType::Enum(_)
            ) =>
        {
            number(value.as_i128().unwrap_or(0), of, out);
        }
        Value::Boolean(it) => out.push_str(boolean(*it)),
        Value::Float(it) => float(*it, of == DataType::Real, out),
        Value::Integer(it) => decimal(i128::from(*it), 0, out),
        Value::Decimal { unscaled, scale } => decimal(*unscaled, usize::from(*scale), out),
        Value::Date(it) => datetime::format_date(i64::from(*it), out),
        Value::Timestamp(it) => datetime::format_timestamp(*it, out),
        Value::Null => {}
    }
}

/// Appends a date, a timestamp, an interval, bytes or a float in the style of a session; of others nothing, and `false`. Moments are
/// written by their zone.
pub fn in_style(value: &Value, of: DataType, styles: Styles, out: &mut String) -> bool {
    match (value, of) {
        (_, DataType::TimestampTz) => return false,
        (Value::Float(it), _) => styled_float(*it, of == DataType::Real, styles, out),
        (Value::Text(it), DataType::Bytea) if styles.bytes == BytesForm::Escape => {
            bytes::format_escaped(it, out);
        }
        (Value::Date(it), _) => date(i64::from(*it), styles, out),
        (Value::Timestamp(it), _) => timestamp(*it, styles, out),
        (Value::Integer(_) | Value::Decimal { .. }, DataType::Interval) => {
            interval(Interval::of_held(value.as_i128().unwrap_or(0)), styles, out);
        }
        _ => return false,
    }
    true
}

/// Appends a date in a style.
pub fn date(days: i64, styles: Styles, out: &mut String) {
    match styles.dates {
        _ if datetime::is_infinite_day(days) => datetime::format_date(days, out),
        DateForm::Iso => datetime::format_date(days, out),
        _ => styled::date(days, styles, out),
    }
}

/// Appends a timestamp without time zone in a style.
pub fn timestamp(micros: i64, styles: Styles, out: &mut String) {
    match styles.dates {
        _ if datetime::is_infinite(micros) => datetime::format_timestamp(micros, out),
        DateForm::Iso => datetime::format_timestamp(micros, out),
        _ => styled::timestamp(micros, None, styles, out),
    }
}

/// Appends an interval in a style.
pub fn interval(it: Interval, styles: Styles, out: &mut String) {
    styled::interval(it, styles.intervals, out);
}

/// A text with blanks behind it up to a length, counted in characters.
pub fn padded(text: &str, length: u32) -> String {
    let missing = (length as usize).saturating_sub(text.chars().count());
    let mut padded = String::with_capacity(text.len() + missing);
    padded.push_str(text);
    padded.extend(std::iter::repeat_n(' ', missing));
    padded
}

/// Appends a moment as the clocks of a zone show it.
pub fn moment(micros: i64, zone: &Zone, out: &mut String) {
    let styles = zone.styles();
    match styles.dates {
        _ if datetime::is_infinite(micros) => datetime::format_timestamp(micros, out),
        DateForm::Iso => datetime::format_moment(micros, zone, out),
        _ => {
            // At the ends of the range the clocks may show what no timestamp holds.
            let local = micros.saturating_add(zone.ahead_at(micros) * 1_000_000);
            styled::timestamp(local, Some((micros, zone)), styles, out);
        }
    }
}

/// Appends a decimal with all digits of its scale.
pub(super) fn decimal(value: i128, scale: usize, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    let digits = value.unsigned_abs();
    if scale == 0 {
        let _ = write!(out, "{digits}");
        return;
    }
    let _ = write!(out, "{digits:0>width$}", width = scale + 1);
    out.insert(out.len() - scale, '.');
}

/// Appends a float: the shortest digits that mean it, with an exponent where PostgreSQL writes one.
pub fn float(value: f64, single: bool, out: &mut String) {
    if value.is_nan() {
        out.push_str("NaN");
        return;
    }
    if value.is_infinite() {
        out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
        return;
    }
    let start = out.len();
    let _ = if single { write!(out, "{:e}", value as f32) } else { write!(out, "{value:e}") };
    let exponent_at = out[start..].find('e').map_or(out.len(), |place| start + place);
    let exponent: i32 = out.get(exponent_at + 1..).and_then(|it| it.parse().ok()).unwrap_or(0);
    if (-4..if single { 6 } else { 15 }).contains(&exponent) {
        out.truncate(start);
        let _ = if single { write!(out, "{}", value as f32) } else { write!(out, "{value}") };
    } else {
        out.truncate(exponent_at);
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.abs());
    }
}

/// Appends a float in a style: as `%g` of C with so many digits, where not the shortest are wanted.
pub fn styled_float(value: f64, single: bool, styles: Styles, out: &mut String) {
    let FloatForm::Fewer(fewer) = styles.floats else { return float(value, single, out) };
    if !value.is_finite() {
        return float(value, single, out);
    }
    let digits = if single { 6_usize } else { 15 };
    let digits = digits.saturating_sub(fewer.into()).max(1);
    let spelt = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = spelt.split_once('e').unwrap_or((&spelt, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |it: &str| match it.contains('.') {
        true => it.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => it.to_owned(),
    };
    if (-4..digits as i32).contains(&exponent) {
        let behind = (digits as i32 - 1 - exponent).max(0) as usize;
        out.push_str(&without_zeros(&format!("{value:.behind$}")));
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
}

/// A Boolean as a cast to text writes it. (On the wire it is `t` or `f`.)
pub fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_postgres_does() {
        let decimal = |scale| DataType::Decimal { precision: 38, scale };
        let cases = [
            (-5, decimal(2), "-0.05"),
            (0, decimal(2), "0.00"),
            (12345, decimal(2), "123.45"),
            (-1, decimal(38), "-0.00000000000000000000000000000000000001"),
            (-7, DataType::Integer, "-7"),
            (i128::MIN, decimal(0), "-170141183460469231731687303715884105728"),
            (-1, DataType::Date, "1969-12-31"),
            (-719_529, DataType::Date, "0002-12-31 BC"),
            (-719_528, DataType::Date, "0001-01-01 BC"),
            (1, DataType::Timestamp, "1970-01-01 00:00:00.000001"),
            (-500_000, DataType::Timestamp, "1969-12-31 23:59:59.5"),
        ];
        for (value, data_type, expected) in cases {
            let mut out = "x".to_owned();
            number(value, data_type, &mut out);
            assert_eq!(out[1..], *expected);
        }
    }

    #[test]
    fn floats_are_written_with_fewer_digits() {
        for (value, single, extra, expected) in [
            (31.690692639953454, false, 0, "31.6906926399535"),
            (1e15, false, 0, "1e+15"),
            (123456789.0, false, -7, "1.2345679e+08"),
            (0.1, false, -15, "0.1"),
            (0.00001, false, 0, "1e-05"),
            (-0.0, false, 0, "-0"),
            (999999.5, true, 0, "1e+06"),
            (f64::INFINITY, false, -3, "Infinity"),
            (1.0 / 3.0, false, 1, "0.3333333333333333"),
        ] {
            let mut out = String::new();
            styled_float(value, single, Styles::default().with_float_digits(extra), &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn floats_are_written_as_postgres_does() {
        let cases = [
            (0.1, "0.1"),
            (1.0, "1"),
            (-0.0, "-0"),
            (1e15, "1e+15"),
            (1e20, "1e+20"),
            (1e-5, "1e-05"),
            (1e300, "1e+300"),
            (5e-324, "5e-324"),
            (123456789012345.0, "123456789012345"),
            (1.5e-5, "1.5e-05"),
            (-0.0001, "-0.0001"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, expected) in cases {
            let mut out = "x".to_owned();
            float(value, false, &mut out);
            assert_eq!(out[1..], *expected);
        }
        for (value, expected) in
            [(0.1_f32, "0.1"), (1e6, "1e+06"), (999999.0, "999999"), (16777216.0, "1.6777216e+07")]
        {
            let mut out = String::new();
            float(f64::from(value), true, &mut out);
            assert_eq!(out, expected);
        }
    }
}
