//! Values of a result as Postgres prints them.

use std::fmt::Write;

pub use crate::sql_names::{sql_name as relation_name, sql_path as relation_path};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, LargeStringArray,
    PrimitiveArray, StringArray, StringViewArray,
};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
pub use binder::quoted_name;
use types::numeric::interval::Interval;
use types::numeric::interval_text;
use types::numeric::time_tz::TimeTz;
use types::numeric::{bytes, datetime, format, uuid};
use types::{DataType as SqlType, Zone};

/// A column of a result, its type found out once.
pub struct Cells<'a> {
    array: &'a ArrayRef,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Null,
    Boolean(&'a BooleanArray),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, SqlType),
    Date(&'a PrimitiveArray<Date32Type>),
    Timestamp(&'a PrimitiveArray<TimestampMicrosecondType>),
    Moment(&'a PrimitiveArray<TimestampMicrosecondType>, Box<Zone>),
    Time(&'a PrimitiveArray<Time64MicrosecondType>),
    Interval(&'a PrimitiveArray<IntervalMonthDayNanoType>),
    Uuid(&'a FixedSizeBinaryArray),
    Bytes(&'a BinaryArray),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    /// Types that no column of ours has.
    Other,
}

impl<'a> Cells<'a> {
    /// Looks at a column.
    pub fn new(array: &'a ArrayRef) -> Self {
        let kind = match array.data_type() {
            DataType::Null => Kind::Null,
            DataType::Boolean => Kind::Boolean(array.as_boolean()),
            DataType::Int16 => Kind::Int16(array.as_primitive()),
            DataType::Int32 => Kind::Int32(array.as_primitive()),
            DataType::Int64 => Kind::Int64(array.as_primitive()),
            DataType::Float32 => Kind::Float32(array.as_primitive()),
            DataType::Float64 => Kind::Float64(array.as_primitive()),
            DataType::Decimal128(_, scale) if *scale >= 0 => {
                let (precision, scale) = (38, scale.unsigned_abs());
                Kind::Decimal(array.as_primitive(), SqlType::Decimal { precision, scale })
            }
            DataType::Date32 => Kind::Date(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Microsecond, None) => {
                Kind::Timestamp(array.as_primitive())
            }
            DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => {
                let zone = Zone::of_arrow_name(zone).unwrap_or_default();
                Kind::Moment(array.as_primitive(), Box::new(zone))
            }
            DataType::Time64(TimeUnit::Microsecond) => Kind::Time(array.as_primitive()),
            DataType::Interval(IntervalUnit::MonthDayNano) => Kind::Interval(array.as_primitive()),
            DataType::FixedSizeBinary(16) => Kind::Uuid(array.as_fixed_size_binary()),
            DataType::Binary => Kind::Bytes(array.as_binary()),
            DataType::Utf8 => Kind::Text(array.as_string()),
            DataType::LargeUtf8 => Kind::LargeText(array.as_string()),
            DataType::Utf8View => Kind::TextView(array.as_string_view()),
            _ => Kind::Other,
        };
        Self { array, kind }
    }

    /// Whether the value of a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        matches!(self.kind, Kind::Null) || self.array.is_null(row)
    }

    /// Appends the value of a row; nothing, and `false`, for NULL.
    pub fn write(&self, row: usize, out: &mut String) -> bool {
        if self.is_null(row) {
            return false;
        }
        let written = match &self.kind {
            Kind::Null => return false,
            Kind::Boolean(it) => write!(out, "{}", it.value(row)),
            Kind::Int16(it) => write!(out, "{}", it.value(row)),
            Kind::Int32(it) => write!(out, "{}", it.value(row)),
            Kind::Int64(it) => write!(out, "{}", it.value(row)),
            Kind::Float32(it) => {
                format::float(f64::from(it.value(row)), true, out);
                Ok(())
            }
            Kind::Float64(it) => {
                format::float(it.value(row), false, out);
                Ok(())
            }
            Kind::Decimal(it, data_type) => {
                format::number(it.value(row), *data_type, out);
                Ok(())
            }
            Kind::Date(it) => {
                format::number(it.value(row).into(), SqlType::Date, out);
                Ok(())
            }
            Kind::Timestamp(it) => {
                format::number(it.value(row).into(), SqlType::Timestamp, out);
                Ok(())
            }
            Kind::Moment(it, zone) => {
                format::moment(it.value(row), zone, out);
                Ok(())
            }
            Kind::Time(it) => {
                format::number(it.value(row).into(), SqlType::Time, out);
                Ok(())
            }
            Kind::Interval(it) => {
                interval_text::format(parts(it.value(row)), out);
                Ok(())
            }
            Kind::Uuid(it) => {
                let bits = it.value(row).try_into().map_or(0, u128::from_be_bytes);
                out.write_str(&uuid::format(bits))
            }
            Kind::Bytes(it) => {
                format::text(&bytes::held(it.value(row)), SqlType::Bytea, out);
                Ok(())
            }
            Kind::Text(it) => out.write_str(it.value(row)),
            Kind::LargeText(it) => out.write_str(it.value(row)),
            Kind::TextView(it) => out.write_str(it.value(row)),
            Kind::Other => write!(out, "{:?}", self.array.slice(row, 1)),
        };
        written.expect("invariant: a String takes whatever is written to it");
        true
    }

    /// The value of a row, `None` for NULL.
    pub fn text(&self, row: usize) -> Option<String> {
        let mut out = String::new();
        self.write(row, &mut out).then_some(out)
    }
}

/// The time of a day in a zone that a text of a result tells.
pub fn time_in_zone(text: &str) -> Option<TimeTz> {
    datetime::parse_time_tz(text, &Zone::utc()).ok()
}

/// The interval that Arrow shows.
pub fn parts(it: arrow_array::types::IntervalMonthDayNano) -> Interval {
    let micros = it.nanoseconds.div_euclid(1_000);
    Interval { months: it.months.into(), days: it.days.into(), micros }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array, NullArray,
        TimestampMicrosecondArray,
    };
    use stdx::sync::Arc;

    use super::*;

    fn texts(array: impl Array + 'static) -> Vec<String> {
        let array: ArrayRef = Arc::new(array);
        let cells = Cells::new(&array);
        (0..array.len()).map(|row| cells.text(row).unwrap_or("NULL".into())).collect()
    }

    #[test]
    fn numbers_print_as_in_postgres() {
        assert_eq!(texts(Int64Array::from(vec![Some(-7), None])), ["-7", "NULL"]);
        let decimals = vec![Some(-5), Some(12_345), Some(0), None];
        let decimals = Decimal128Array::from(decimals).with_precision_and_scale(15, 2).unwrap();
        assert_eq!(texts(decimals), ["-0.05", "123.45", "0.00", "NULL"]);
        let extremes = Decimal128Array::from(vec![i128::MIN, 10_i128.pow(37)]);
        let extremes = extremes.with_precision_and_scale(38, 38).unwrap();
        assert_eq!(texts(extremes)[1], format!("0.1{}", "0".repeat(37)));
        let floats = vec![0.1, 1e15, 123_456_789_012_345.0, 1e-4, 1e-5, -0.0, 2.5e-300, 3.0];
        let expected =
            ["0.1", "1e+15", "123456789012345", "0.0001", "1e-05", "-0", "2.5e-300", "3"];
        assert_eq!(texts(Float64Array::from(floats)), expected);
        let odd = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        assert_eq!(texts(Float64Array::from(odd)), ["NaN", "Infinity", "-Infinity"]);
        assert_eq!(
            texts(Float32Array::from(vec![0.1, 1e6, 123_456.0])),
            ["0.1", "1e+06", "123456"]
        );
    }

    #[test]
    fn times_truths_and_texts_print_as_in_postgres() {
        let days = vec![Some(0), Some(-1), Some(19_782), None];
        let expected = ["1970-01-01", "1969-12-31", "2024-02-29", "NULL"];
        assert_eq!(texts(Date32Array::from(days)), expected);
        let micros = vec![0, -1, 1_500_000, 86_399_999_999];
        let expected = [
            "1970-01-01 00:00:00",
            "1969-12-31 23:59:59.999999",
            "1970-01-01 00:00:01.5",
            "1970-01-01 23:59:59.999999",
        ];
        assert_eq!(texts(TimestampMicrosecondArray::from(micros)), expected);
        assert_eq!(
            texts(BooleanArray::from(vec![Some(true), Some(false), None])),
            ["true", "false", "NULL"]
        );
        assert_eq!(texts(StringArray::from(vec![Some("a"), Some(""), None])), ["a", "", "NULL"]);
        assert_eq!(texts(NullArray::new(1)), ["NULL"]);
    }

    #[test]
    fn years_before_the_first_are_bc() {
        let first = texts(Date32Array::from(vec![-719_162, -719_163]));
        assert_eq!(first, ["0001-01-01", "0001-12-31 BC"]);
    }
}
