//! Values as others see them in Arrow, and how they are held: types that are stored as another type ([`DataType::stored`])
//! have an Arrow type of their own in results, in files and for callers.

use arrow_array::builder::{BinaryBuilder, FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Int32Type, Int64Type, IntervalMonthDayNanoType, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Int32Array, Int64Array, IntervalMonthDayNanoArray,
    StringArray,
};
use arrow_buffer::IntervalMonthDayNano;
use arrow_schema::{DataType as ArrowType, Field, IntervalUnit, TimeUnit};
use stdx::sync::Arc;
use types::numeric::address::Address;
use types::numeric::datetime::{self, DAY};
use types::numeric::interval::Interval;
use types::numeric::interval_text::{self, Fields};
use types::numeric::number::{self, Number};
use types::numeric::time_tz::TimeTz;
use types::numeric::{self, bytes, errors, format, uuid};
use types::{DataType, EnumType, SqlError, SqlResult, SqlState, Value, Zone, ranges};

use crate::ColumnSchema;
use crate::schema::{EXTENSION, UUID};

/// A column as others see it; moments are told in a zone, UTC if none is given.
pub fn field(name: &str, data_type: DataType, zone: Option<&Zone>) -> Field {
    let zone = || Arc::from(zone.map_or("UTC".to_owned(), Zone::arrow_name));
    let arrow = match data_type {
        DataType::TimestampTz => ArrowType::Timestamp(TimeUnit::Microsecond, Some(zone())),
        DataType::Time => ArrowType::Time64(TimeUnit::Microsecond),
        DataType::Interval => ArrowType::Interval(IntervalUnit::MonthDayNano),
        DataType::Uuid => ArrowType::FixedSizeBinary(16),
        DataType::Bytea => ArrowType::Binary,
        // Texts: Arrow has no numbers that each have a scale of their own, no times of a day in a zone and no ranges.
        DataType::Enum(_)
        | DataType::Numeric
        | DataType::TimeTz
        | DataType::Network(_)
        | DataType::Range(_)
        | DataType::Multirange(_) => ArrowType::Utf8,
        other => crate::arrow_type(other),
    };
    let field = Field::new(name, arrow, true);
    match data_type {
        DataType::Uuid => field.with_metadata([(EXTENSION.to_owned(), UUID.to_owned())].into()),
        _ => field,
    }
}

/// Values that are held, as others see them: of the Arrow type of [`field`].
pub fn shown(array: &ArrayRef, data_type: DataType, field: &Field) -> ArrayRef {
    let is_written = matches!(data_type, DataType::Numeric | DataType::Network(_))
        || data_type.range().is_some();
    if array.data_type() == field.data_type() && !is_written {
        return array.clone();
    }
    match (data_type, field.data_type()) {
        (DataType::TimestampTz, ArrowType::Timestamp(_, zone)) => {
            let moments = array.as_primitive::<TimestampMicrosecondType>().clone();
            Arc::new(moments.with_timezone_opt(zone.clone()))
        }
        (DataType::Time, _) => {
            let held = array.as_primitive::<Int64Type>();
            Arc::new(held.reinterpret_cast::<Time64MicrosecondType>())
        }
        (DataType::TimeTz, _) => {
            let times = array.as_primitive::<Int64Type>().iter();
            written(times, |it, out| TimeTz::of_held(it).format(out))
        }
        (DataType::Interval, _) => {
            let held = array.as_primitive::<Decimal128Type>();
            let parts = |held: i128| {
                let it = Interval::of_held(held);
                // An interval is what these hold.
                IntervalMonthDayNano::new(it.months as i32, it.days as i32, it.micros * 1_000)
            };
            let shown = held.iter().map(|it| it.map(parts));
            Arc::new(IntervalMonthDayNanoArray::from_iter(shown))
        }
        (DataType::Uuid, _) => {
            let texts = array.as_string::<i32>();
            let mut out = FixedSizeBinaryBuilder::with_capacity(texts.len(), 16);
            for text in texts {
                match text.and_then(uuid::bits) {
                    Some(bits) => out
                        .append_value(bits.to_be_bytes())
                        .expect("invariant: 128 bits are 16 bytes"),
                    None => out.append_null(),
                }
            }
            Arc::new(out.finish())
        }
        (DataType::Enum(it), _) => {
            let label = |place: i32| it.label(place.into()).unwrap_or_default();
            let places = array.as_primitive::<Int32Type>().iter();
            Arc::new(StringArray::from_iter(places.map(|place| place.map(label))))
        }
        (DataType::Numeric, _) => written(array.as_string::<i32>().iter(), number::written),
        (DataType::Network(of), _) => written(array.as_string::<i32>().iter(), |it, out| {
            Address::of_held(it).format(of, out);
        }),
        (DataType::Range(_) | DataType::Multirange(_), _) => {
            written(array.as_string::<i32>().iter(), |it, out| format::text(it, data_type, out))
        }
        (DataType::Bytea, _) => {
            let texts = array.as_string::<i32>();
            let mut out = BinaryBuilder::with_capacity(texts.len(), texts.values().len());
            texts.iter().for_each(|it| out.append_option(it.map(bytes::bytes_of)));
            Arc::new(out.finish())
        }
        _ => array.clone(),
    }
}

/// Values as the texts that they are written as.
fn written<T>(
    values: impl ExactSizeIterator<Item = Option<T>>,
    write: impl Fn(T, &mut String),
) -> ArrayRef {
    let mut out = StringBuilder::with_capacity(values.len(), values.len() * 12);
    let mut text = String::new();
    for value in values {
        text.clear();
        out.append_option(value.map(|it| {
            write(it, &mut text);
            &text
        }));
    }
    Arc::new(out.finish())
}

/// Values of a column, of no lists, as they are held, whether they come from outside or are held so already. Errors: 42804 for values of
/// another type, 22008 for those out of range.
pub(crate) fn held(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<ArrayRef> {
    let data_type = column.data_type;
    match data_type {
        DataType::Enum(it) => return places(array, it, column),
        DataType::Numeric => return numbers(array, column),
        DataType::Network(of) => {
            let is_held = |it: &str| !it.contains(['.', ':']);
            return of_texts(array, column, &is_held, &|it| {
                Address::parse(it, of).map(Address::held)
            });
        }
        DataType::Range(_) | DataType::Multirange(_) => {
            return of_texts(array, column, &ranges::is_held, &|it| ranges_of(it, data_type));
        }
        _ => {}
    }
    if matches!(array.data_type(), ArrowType::Null)
        || *array.data_type() == crate::arrow_type(data_type)
    {
        return Ok(array.clone());
    }
    let found = match (data_type, array.data_type()) {
        // Longer units are brought to microseconds where all timestamps are.
        (DataType::TimestampTz, ArrowType::Timestamp(TimeUnit::Microsecond, Some(_))) => {
            let moments = array.as_primitive::<TimestampMicrosecondType>();
            Some(Arc::new(moments.clone().with_timezone_opt(None::<Arc<str>>)) as ArrayRef)
        }
        (DataType::TimestampTz, ArrowType::Timestamp(..) | ArrowType::Date32) => {
            Some(array.clone())
        }
        (DataType::Time, _) => times(array, column)?,
        (DataType::TimeTz, _) => times_in_zones(array, column)?,
        (DataType::Interval, _) => intervals(array, column)?,
        (DataType::Uuid | DataType::Bytea, _) => texts(array, data_type),
        _ => None,
    };
    // Texts repeat in codes, which stay.
    let is_coded = matches!(array.data_type(), ArrowType::Dictionary(..));
    match found {
        Some(found) => Ok(found),
        None if is_coded && data_type.stored().is_text() => Ok(array.clone()),
        None => {
            let (name, arrow) = (&column.name, array.data_type());
            let message = format!(
                "column \"{name}\" is of type {data_type} but its values are of the Arrow type {arrow}"
            );
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
        }
    }
}

/// Numbers of any scale: as they are held, as they are written, or of a type of Arrow that has a scale.
fn numbers(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<ArrayRef> {
    let wrong = || {
        let (name, arrow) = (&column.name, array.data_type());
        let message = format!(
            "column \"{name}\" is of type numeric but its values are of the Arrow type {arrow}"
        );
        SqlError::new(SqlState::DATATYPE_MISMATCH, message)
    };
    if matches!(array.data_type(), ArrowType::Null) {
        return Ok(array.clone());
    }
    if let ArrowType::Dictionary(_, values) = array.data_type() {
        let texts = arrow_cast::cast(array, values).map_err(|_| wrong())?;
        return numbers(&texts, column);
    }
    if let Some(texts) = array.as_string_opt::<i32>() {
        if texts.iter().flatten().all(number::is_held) {
            return Ok(array.clone());
        }
        let held = |it: &str| match number::is_held(it) {
            true => Ok(it.to_owned()),
            false => Number::parse(it).and_then(|it| it.held()),
        };
        let held = texts.iter().map(|it| it.map(held).transpose());
        return Ok(Arc::new(held.collect::<SqlResult<StringArray>>()?));
    }
    // What else is a number is written with all its digits.
    let is_number = array.data_type().is_numeric()
        || matches!(array.data_type(), ArrowType::LargeUtf8 | ArrowType::Utf8View);
    match is_number {
        true => {
            let texts = arrow_cast::cast(array, &ArrowType::Utf8).map_err(|_| wrong())?;
            numbers(&texts, column)
        }
        false => Err(wrong()),
    }
}

/// Values as they are held, whether they come so, which `is_held` tells, or as they are written.
fn of_texts(
    array: &ArrayRef,
    column: &ColumnSchema,
    is_held: &dyn Fn(&str) -> bool,
    read: &dyn Fn(&str) -> SqlResult<String>,
) -> SqlResult<ArrayRef> {
    match array.data_type() {
        ArrowType::Null => Ok(array.clone()),
        ArrowType::Utf8 => {
            let texts = array.as_string::<i32>();
            if texts.iter().flatten().all(is_held) {
                return Ok(array.clone());
            }
            let held = |it: &str| if is_held(it) { Ok(it.to_owned()) } else { read(it) };
            let held = texts.iter().map(|it| it.map(held).transpose());
            Ok(Arc::new(held.collect::<SqlResult<StringArray>>()?))
        }
        arrow => match arrow_cast::cast(array, &ArrowType::Utf8) {
            Ok(texts) if array.data_type() != texts.data_type() => {
                of_texts(&texts, column, is_held, read)
            }
            _ => {
                let message = format!(
                    "column \"{}\" is of type {} but its values are of the Arrow type {arrow}",
                    column.name,
                    column.data_type.to_string().to_lowercase()
                );
                Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
            }
        },
    }
}

/// A range or a set of ranges by how it is written.
fn ranges_of(text: &str, of: DataType) -> SqlResult<String> {
    match numeric::cast(&Value::Text(text.into()), DataType::Text, of)? {
        Value::Text(held) => Ok(held.to_string()),
        _ => Err(SqlError::internal("a range that is held as no text")),
    }
}

/// Labels, or their places, as places.
fn places(array: &ArrayRef, of: EnumType, column: &ColumnSchema) -> SqlResult<ArrayRef> {
    let name = &column.name;
    match array.data_type() {
        ArrowType::Null => Ok(array.clone()),
        ArrowType::Int32 => {
            let wrong = array.as_primitive::<Int32Type>().iter().flatten();
            match wrong.into_iter().find(|it| of.label((*it).into()).is_none()) {
                None => Ok(array.clone()),
                Some(place) => {
                    let message =
                        format!("{place} is no place of a label of {of}, in column \"{name}\"");
                    Err(SqlError::new(SqlState::INVALID_TEXT, message))
                }
            }
        }
        ArrowType::Utf8 => {
            let place = |it: &str| match of.place(it) {
                Some(place) => Ok(place as i32),
                None => {
                    let message = format!(
                        "invalid input value for enum {of}: \"{it}\", in column \"{name}\""
                    );
                    Err(SqlError::new(SqlState::INVALID_TEXT, message))
                }
            };
            let places = array.as_string::<i32>().iter().map(|it| it.map(place).transpose());
            Ok(Arc::new(places.collect::<SqlResult<Int32Array>>()?))
        }
        ArrowType::LargeUtf8
        | ArrowType::Utf8View
        | ArrowType::Dictionary(..)
        | ArrowType::Int64 => {
            let to = match array.data_type() {
                ArrowType::Int64 => ArrowType::Int32,
                _ => ArrowType::Utf8,
            };
            let exactly = arrow_cast::CastOptions { safe: false, ..Default::default() };
            let cast = arrow_cast::cast_with_options(array, &to, &exactly);
            let cast = cast.map_err(|it| {
                SqlError::new(SqlState::INVALID_TEXT, format!("labels of {of}: {it}"))
            })?;
            places(&cast, of, column)
        }
        other => {
            let message = format!(
                "column \"{name}\" is of type {of} but its values are of the Arrow type {other}"
            );
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
        }
    }
}

/// Microseconds of a day, of any unit. What is below a microsecond is rounded away, as PostgreSQL does.
fn times(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<ArrayRef>> {
    fn of<T: arrow_array::ArrowPrimitiveType>(
        array: &ArrayRef,
        micros: impl Fn(T::Native) -> i64,
    ) -> Int64Array {
        array.as_primitive::<T>().unary(micros)
    }
    let times: Int64Array = match array.data_type() {
        ArrowType::Time32(TimeUnit::Second) => {
            of::<Time32SecondType>(array, |it| i64::from(it) * 1_000_000)
        }
        ArrowType::Time32(_) => of::<Time32MillisecondType>(array, |it| i64::from(it) * 1_000),
        ArrowType::Time64(TimeUnit::Nanosecond) => {
            of::<Time64NanosecondType>(array, |it| (it.saturating_add(500)).div_euclid(1_000))
        }
        ArrowType::Time64(_) => of::<Time64MicrosecondType>(array, |it| it),
        _ => return Ok(None),
    };
    let wrong = times.iter().flatten().any(|it| !(0..=DAY).contains(&it));
    if wrong { Err(errors::out_of_range(column.data_type)) } else { Ok(Some(Arc::new(times))) }
}

/// Times of a day from texts that each name their zone: no session is asked here, which may have one.
fn times_in_zones(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<ArrayRef>> {
    let texts = match array.data_type() {
        ArrowType::Utf8 => array.clone(),
        ArrowType::LargeUtf8 | ArrowType::Utf8View | ArrowType::Dictionary(..) => {
            match arrow_cast::cast(array, &ArrowType::Utf8) {
                Ok(texts) => texts,
                Err(_) => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    let read = |text: &str| {
        let time = match datetime::names_clocks(text) {
            true => datetime::parse_time_tz(text, &Zone::utc()).map(TimeTz::held),
            false => {
                let message = format!("the time of a day \"{text}\" names no zone");
                Err(SqlError::new(SqlState::INVALID_DATETIME, message))
            }
        };
        let named = |it: SqlError| SqlError {
            message: format!("{}, in column \"{}\"", it.message, column.name),
            ..it
        };
        time.map_err(named)
    };
    let times = texts.as_string::<i32>().iter().map(|it| it.map(read).transpose());
    Ok(Some(Arc::new(times.collect::<SqlResult<Int64Array>>()?)))
}

/// Intervals from those of Arrow that have all parts, or from texts. (Readers of Parquet leave months out.)
fn intervals(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<ArrayRef>> {
    let held: Vec<Option<SqlResult<i128>>> = match array.data_type() {
        ArrowType::Interval(IntervalUnit::MonthDayNano) => {
            let parts = |it: IntervalMonthDayNano| {
                let micros = it.nanoseconds.div_euclid(1_000);
                Interval::new(it.months.into(), it.days.into(), micros).map(Interval::held)
            };
            let array = array.as_primitive::<IntervalMonthDayNanoType>();
            array.iter().map(|it| it.map(parts)).collect()
        }
        ArrowType::Utf8 => {
            let read = |it| interval_text::parse(it, Fields::default()).map(Interval::held);
            array.as_string::<i32>().iter().map(|it| it.map(read)).collect()
        }
        ArrowType::Dictionary(_, values) if **values == ArrowType::Utf8 => {
            let dictionary = array.as_any_dictionary();
            let texts = arrow_select::take::take(dictionary.values(), dictionary.keys(), None)
                .map_err(|it| SqlError::internal(format!("a dictionary is malformed: {it}")))?;
            return intervals(&texts, column);
        }
        _ => return Ok(None),
    };
    let named = |it: SqlError| SqlError {
        message: format!("{}, in column \"{}\"", it.message, column.name),
        ..it
    };
    let held = held.into_iter().map(|it| it.transpose().map_err(named));
    let held = held.collect::<SqlResult<Vec<Option<i128>>>>()?;
    let array = Decimal128Array::from_iter(held).with_precision_and_scale(38, 0);
    Ok(Some(Arc::new(array.map_err(|_| errors::out_of_range(DataType::Interval))?)))
}

/// Bytes as the texts that they are held as; 16 of them are a UUID.
fn texts(array: &ArrayRef, data_type: DataType) -> Option<ArrayRef> {
    let mut out = StringBuilder::new();
    let mut push = |it: Option<&[u8]>| -> Option<()> {
        match (it, data_type) {
            (None, _) => out.append_null(),
            (Some(it), DataType::Uuid) => {
                out.append_value(uuid::format(u128::from_be_bytes(it.try_into().ok()?)));
            }
            (Some(it), _) => out.append_value(bytes::held(it)),
        }
        Some(())
    };
    match array.data_type() {
        ArrowType::Binary => array.as_binary::<i32>().iter().try_for_each(&mut push)?,
        ArrowType::LargeBinary => array.as_binary::<i64>().iter().try_for_each(&mut push)?,
        ArrowType::BinaryView => array.as_binary_view().iter().try_for_each(&mut push)?,
        ArrowType::FixedSizeBinary(_) => {
            array.as_fixed_size_binary().iter().try_for_each(&mut push)?;
        }
        _ => return None,
    }
    Some(Arc::new(out.finish()))
}

#[cfg(test)]
mod tests {
    use arrow_array::TimestampMicrosecondArray;

    use super::*;

    #[test]
    fn what_is_shown_is_held_again() {
        let texts =
            |it: Vec<Option<&str>>| Arc::new(arrow_array::StringArray::from(it)) as ArrayRef;
        let id = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        let spans = [(1, -2, 3), (0, 0, -1)].map(|(months, days, micros)| {
            Some(Interval::new(months, days, micros).unwrap().held())
        });
        let spans = Decimal128Array::from(spans.to_vec()).with_precision_and_scale(38, 0).unwrap();
        let cases: [(DataType, ArrayRef); 5] = [
            (DataType::TimestampTz, Arc::new(TimestampMicrosecondArray::from(vec![Some(5), None]))),
            (DataType::Time, Arc::new(Int64Array::from(vec![Some(DAY), None]))),
            (DataType::Interval, Arc::new(spans)),
            (DataType::Uuid, texts(vec![Some(id), None])),
            (DataType::Bytea, texts(vec![Some("a\u{ff}\0"), None])),
        ];
        for (data_type, array) in cases {
            let field = field("c", data_type, None);
            let seen = shown(&array, data_type, &field);
            assert_eq!(seen.data_type(), field.data_type());
            assert_eq!(crate::schema::sql_type(&field, "f"), Ok(data_type));
            let column = ColumnSchema::new("c", data_type, true);
            assert_eq!(&held(&seen, &column).unwrap(), &array, "{data_type}");
        }
    }
}
