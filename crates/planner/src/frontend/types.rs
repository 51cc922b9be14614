//! Types and values of DataFusion (Arrow) and ours.

use datafusion_common::ScalarValue;
use datafusion_common::arrow::datatypes::{DataType as Arrow, IntervalUnit, TimeUnit};
use types::{DataType, SqlError, SqlResult, Value};

/// The Arrow type under which DataFusion sees a type of ours; also the Arrow form of function arguments and results.
pub fn to_arrow(data_type: DataType) -> Arrow {
    match data_type {
        DataType::Null => Arrow::Null,
        DataType::Boolean => Arrow::Boolean,
        DataType::SmallInt => Arrow::Int16,
        DataType::Integer => Arrow::Int32,
        DataType::BigInt => Arrow::Int64,
        DataType::Real => Arrow::Float32,
        DataType::Double => Arrow::Float64,
        DataType::Decimal { precision, scale } => Arrow::Decimal128(precision, scale as i8),
        DataType::Date => Arrow::Date32,
        DataType::Timestamp => Arrow::Timestamp(TimeUnit::Microsecond, None),
        DataType::Char(_) | DataType::Varchar(_) | DataType::Text => Arrow::Utf8View,
    }
}

/// Our type for one of Arrow's.
pub fn from_arrow(arrow: &Arrow) -> SqlResult<DataType> {
    Ok(match arrow {
        Arrow::Null => DataType::Null,
        Arrow::Boolean => DataType::Boolean,
        Arrow::Int8 | Arrow::Int16 | Arrow::UInt8 => DataType::SmallInt,
        Arrow::Int32 | Arrow::UInt16 => DataType::Integer,
        Arrow::Int64 | Arrow::UInt32 | Arrow::UInt64 => DataType::BigInt,
        Arrow::Float16 | Arrow::Float32 => DataType::Real,
        Arrow::Float64 => DataType::Double,
        Arrow::Decimal128(precision, scale) if *scale >= 0 => {
            DataType::Decimal { precision: *precision, scale: *scale as u8 }
        }
        Arrow::Date32 | Arrow::Date64 => DataType::Date,
        Arrow::Timestamp(_, _) => DataType::Timestamp,
        Arrow::Utf8 | Arrow::LargeUtf8 | Arrow::Utf8View => DataType::Text,
        Arrow::Decimal256(_, _) => {
            return Err(SqlError::unsupported("numbers of more than 38 digits are not supported")
                .with_hint("cast the operands to a smaller DECIMAL"));
        }
        Arrow::Interval(_) | Arrow::Duration(_) => {
            return Err(SqlError::unsupported(
                "an INTERVAL can only be added to or subtracted from a date or timestamp",
            ));
        }
        other => {
            return Err(SqlError::unsupported(format!("values of type {other} are not supported")));
        }
    })
}

/// Our value for a constant.
pub fn value(scalar: &ScalarValue) -> SqlResult<Value> {
    if scalar.is_null() {
        return Ok(Value::Null);
    }
    Ok(match scalar {
        ScalarValue::Boolean(Some(it)) => Value::Boolean(*it),
        ScalarValue::Int8(Some(it)) => Value::Integer(i64::from(*it)),
        ScalarValue::Int16(Some(it)) => Value::Integer(i64::from(*it)),
        ScalarValue::Int32(Some(it)) => Value::Integer(i64::from(*it)),
        ScalarValue::Int64(Some(it)) => Value::Integer(*it),
        ScalarValue::UInt8(Some(it)) => Value::Integer(i64::from(*it)),
        ScalarValue::UInt16(Some(it)) => Value::Integer(i64::from(*it)),
        ScalarValue::UInt32(Some(it)) => Value::Integer(i64::from(*it)),
        ScalarValue::UInt64(Some(it)) => Value::Integer(i64::try_from(*it).map_err(|_| {
            SqlError::new(
                types::SqlState::NUMERIC_OUT_OF_RANGE,
                format!("{it} is out of the range of BIGINT"),
            )
        })?),
        ScalarValue::Float32(Some(it)) => Value::Float(f64::from(*it)),
        ScalarValue::Float64(Some(it)) => Value::Float(*it),
        ScalarValue::Decimal128(Some(unscaled), _, scale) if *scale >= 0 => {
            Value::Decimal { unscaled: *unscaled, scale: *scale as u8 }
        }
        ScalarValue::Date32(Some(days)) => Value::Date(*days),
        ScalarValue::TimestampSecond(Some(it), _) => Value::Timestamp(it.saturating_mul(1_000_000)),
        ScalarValue::TimestampMillisecond(Some(it), _) => {
            Value::Timestamp(it.saturating_mul(1_000))
        }
        ScalarValue::TimestampMicrosecond(Some(it), _) => Value::Timestamp(*it),
        ScalarValue::TimestampNanosecond(Some(it), _) => Value::Timestamp(it.div_euclid(1_000)),
        ScalarValue::Utf8(Some(it))
        | ScalarValue::LargeUtf8(Some(it))
        | ScalarValue::Utf8View(Some(it)) => Value::Text(it.as_str().into()),
        other => {
            from_arrow(&other.data_type())?;
            return Err(SqlError::unsupported(format!("the constant {other} is not supported")));
        }
    })
}

/// The constant that DataFusion takes for a value of ours, of the type that [`to_arrow`] names.
pub fn interval_parts(scalar: &ScalarValue) -> Option<(i32, i32, i64)> {
    match scalar {
        ScalarValue::IntervalMonthDayNano(Some(it)) => Some((it.months, it.days, it.nanoseconds)),
        ScalarValue::IntervalDayTime(Some(it)) => {
            Some((0, it.days, i64::from(it.milliseconds) * 1_000_000))
        }
        ScalarValue::IntervalYearMonth(Some(it)) => Some((*it, 0, 0)),
        _ => None,
    }
}

/// Whether the type is an interval of any unit.
pub fn is_interval(arrow: &Arrow) -> bool {
    matches!(
        arrow,
        Arrow::Interval(
            IntervalUnit::YearMonth | IntervalUnit::DayTime | IntervalUnit::MonthDayNano
        )
    )
}
