//! A value among the integers that a column of a type stores: where it is, or between which two of them it lies.

use types::numeric::datetime;
use types::{DataType, Value};

use crate::word::key_of_float;

const MICROS_PER_DAY: i128 = datetime::DAY as i128;

/// A bound in the integers that a column stores: what is not above it is at most `floor`.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub(crate) floor: i128,
    /// Whether `floor` is the bound itself, not the integer below it.
    pub(crate) exact: bool,
}

/// A value among the integers that a column of a type stores.
pub(crate) fn point(data_type: DataType, value: &Value) -> Option<Point> {
    if data_type.is_float() {
        return float_point(value);
    }
    match (data_type.stored(), value) {
        (DataType::Boolean, Value::Boolean(it)) => Some(exact(i128::from(*it))),
        (DataType::Date, Value::Date(days)) => Some(exact(i128::from(*days))),
        (DataType::Date, Value::Timestamp(micros)) if datetime::is_infinite(*micros) => {
            Some(exact(datetime::date_of_timestamp(*micros).into()))
        }
        (DataType::Date, Value::Timestamp(micros)) => {
            Some(floor_point(i128::from(*micros), MICROS_PER_DAY))
        }
        (DataType::Timestamp, Value::Timestamp(micros)) => Some(exact(i128::from(*micros))),
        (DataType::Timestamp, Value::Date(days)) => Some(moment_of_day(i64::from(*days))),
        (it, Value::Integer(value)) if it.is_integer() || it.is_numeric() => {
            Some(scale_point(i128::from(*value), 0, it.scale()))
        }
        (it, Value::Decimal { unscaled, scale }) if it.is_numeric() => {
            Some(scale_point(*unscaled, *scale, it.scale()))
        }
        _ => None,
    }
}

/// The least key of a column of a type that is not below a value; `None` for a value of another kind and for NULL.
pub(crate) fn least_key_from(data_type: DataType, value: &Value) -> Option<i128> {
    let point = point(data_type, value)?;
    Some(point.floor.saturating_add(i128::from(!point.exact)))
}

/// The key of a column of a type that equals a value; `None` when there is none, or it is not known.
pub(crate) fn key_equal_to(data_type: DataType, value: &Value) -> Option<i128> {
    point(data_type, value).filter(|it| it.exact).map(|it| it.floor)
}

/// Midnight of a day; one that timestamps do not reach is behind all that are finite.
fn moment_of_day(days: i64) -> Point {
    match datetime::timestamp_of_date(days) {
        Some(micros) => exact(micros.into()),
        None => Point { floor: i128::from(datetime::INFINITE_MICROS.1) - 1, exact: false },
    }
}

fn exact(floor: i128) -> Point {
    Point { floor, exact: true }
}

fn floor_point(value: i128, unit: i128) -> Point {
    Point { floor: value.div_euclid(unit), exact: value.rem_euclid(unit) == 0 }
}

/// A number with `from` digits after the point among numbers with `to` of them. What overflows is beyond all values.
fn scale_point(unscaled: i128, from: u8, to: u8) -> Point {
    if from <= to {
        let factor = 10i128.checked_pow(u32::from(to - from));
        match factor.and_then(|it| unscaled.checked_mul(it)) {
            Some(value) => exact(value),
            None if unscaled > 0 => exact(i128::MAX),
            None => exact(i128::MIN),
        }
    } else {
        match 10i128.checked_pow(u32::from(from - to)) {
            Some(factor) => floor_point(unscaled, factor),
            None => Point { floor: if unscaled < 0 { -1 } else { 0 }, exact: unscaled == 0 },
        }
    }
}

fn float_point(value: &Value) -> Option<Point> {
    let key = |it: f64| exact(i128::from(key_of_float(it)));
    match value {
        Value::Float(it) => Some(key(*it)),
        // Beyond 53 bits an integer may lie between two floats.
        Value::Integer(it) if it.unsigned_abs() <= 1 << 53 => Some(key(*it as f64)),
        _ => None,
    }
}
