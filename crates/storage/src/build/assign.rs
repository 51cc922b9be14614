//! Arrow arrays of another type than their column's: converted value by value, as PostgreSQL assigns them. Nothing is cut but
//! digits behind the point, which are rounded, and the time of day where a column holds days.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use types::numeric::{self, datetime, decimal, errors, float};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::piece::{Piece, PieceValues};
use crate::ColumnSchema;
use crate::word::key_of_float;

/// The values of an array, whatever its width.
enum Source {
    /// Unscaled integers with a scale.
    Exact(Vec<i128>, u8),
    /// Floats; whether they have 32 bits.
    Floats(Vec<f64>, bool),
    /// Days.
    Dates(Vec<i64>),
    /// Microseconds, and the rows that have a rest below one.
    Timestamps(Vec<i64>, Vec<usize>),
    Booleans(Vec<bool>),
}

/// Converts an array to the numbers, dates or timestamps of a column. `None` where values of its type are not assigned to it.
pub(super) fn assigned(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<Piece>> {
    let to = column.data_type;
    let nulls = array.nulls().cloned();
    if *array.data_type() == ArrowType::Null {
        let none = NullBuffer::new_null(array.len());
        return Ok(Some(Piece::ints(vec![0; array.len()], Some(none))));
    }
    let Some(source) = source(array, column)? else { return Ok(None) };
    let rows = Rows { nulls: nulls.as_ref(), column };
    let piece = match source {
        Source::Exact(values, scale) if to.is_float() => {
            let single = to == DataType::Real;
            let key = |it: i128| Ok(key_of_float(float::of_exact(it, scale, single)));
            Piece::ints(rows.convert(&values, key)?, nulls)
        }
        Source::Exact(values, scale) if to.is_numeric() => {
            let exact = |it: i128| {
                let rescaled = decimal::rescale(it, scale, to.scale());
                rescaled.filter(|&it| decimal::fits(it, to)).ok_or_else(|| errors::out_of_range(to))
            };
            decimals(&rows.convert(&values, exact)?, nulls)
        }
        Source::Floats(values, _) if to.is_float() => {
            let single = to == DataType::Real;
            let key = |it: f64| Ok(key_of_float(if single { float::to_single(it)? } else { it }));
            Piece::ints(rows.convert(&values, key)?, nulls)
        }
        Source::Floats(values, single) if to.is_numeric() => {
            decimals(&rows.convert(&values, |it| float::to_exact(it, single, to))?, nulls)
        }
        Source::Dates(days) if to == DataType::Date => {
            let checked = rows.convert(&days, |it| {
                i32::try_from(it).map(i64::from).map_err(|_| errors::out_of_range(to))
            });
            Piece::ints(checked?, nulls)
        }
        Source::Dates(days) if to == DataType::Timestamp => {
            let midnight =
                |it| datetime::timestamp_of_date(it).ok_or_else(|| errors::out_of_range(to));
            Piece::ints(rows.convert(&days, midnight)?, nulls)
        }
        Source::Timestamps(micros, rests) if to == DataType::Timestamp => {
            rows.refuse_rests(&rests)?;
            Piece::ints(micros, nulls)
        }
        Source::Timestamps(micros, _) if to == DataType::Date => {
            let days: Vec<i64> = micros.into_iter().map(datetime::date_of_timestamp).collect();
            Piece::ints(days, nulls)
        }
        _ => return Ok(None),
    };
    Ok(Some(piece))
}

/// Converts numbers, dates, timestamps and Booleans to text. `None` for arrays of other types.
pub(super) fn texts_of(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<StringArray>> {
    if *array.data_type() == ArrowType::Null {
        return Ok(Some(StringArray::new_null(array.len())));
    }
    let Some(source) = source(array, column)? else { return Ok(None) };
    let rows = Rows { nulls: array.nulls(), column };
    if let Source::Timestamps(_, rests) = &source {
        rows.refuse_rests(rests)?;
    }
    let text = |row: usize| {
        let (value, of) = match &source {
            Source::Exact(values, scale) => {
                let of = DataType::Decimal { precision: 38, scale: *scale };
                (Value::Decimal { unscaled: values[row], scale: *scale }, of)
            }
            Source::Floats(values, true) => (Value::Float(values[row]), DataType::Real),
            Source::Floats(values, false) => (Value::Float(values[row]), DataType::Double),
            Source::Dates(days) => {
                let day = i32::try_from(days[row]);
                let day = day.map_err(|_| errors::out_of_range(DataType::Date))?;
                (Value::Date(day), DataType::Date)
            }
            Source::Timestamps(micros, _) => (Value::Timestamp(micros[row]), DataType::Timestamp),
            Source::Booleans(values) => (Value::Boolean(values[row]), DataType::Boolean),
        };
        numeric::cast(&value, of, DataType::Text)
    };
    let texts = (0..array.len()).map(|row| match array.is_valid(row) {
        false => Ok(None),
        true => match text(row).map_err(|it| named(it, column))? {
            Value::Text(it) => Ok(Some(it.to_string())),
            other => Err(SqlError::internal(format!("{other} is no text"))),
        },
    });
    Ok(Some(texts.collect::<SqlResult<StringArray>>()?))
}

/// Which rows count, and whose errors they raise.
struct Rows<'a> {
    nulls: Option<&'a NullBuffer>,
    column: &'a ColumnSchema,
}

impl Rows<'_> {
    fn is_valid(&self, row: usize) -> bool {
        self.nulls.is_none_or(|it| it.is_valid(row))
    }

    /// Converts the rows that are not NULL; what stands at a NULL is arbitrary.
    fn convert<A: Copy, B: Default>(
        &self,
        values: &[A],
        f: impl Fn(A) -> SqlResult<B>,
    ) -> SqlResult<Vec<B>> {
        let one = |(row, &value)| if self.is_valid(row) { f(value) } else { Ok(B::default()) };
        let converted = values.iter().enumerate().map(one).collect::<SqlResult<_>>();
        converted.map_err(|it| named(it, self.column))
    }

    /// An error if any of some rows counts: a timestamp that microseconds do not hold.
    fn refuse_rests(&self, rests: &[usize]) -> SqlResult<()> {
        if !rests.iter().any(|&row| self.is_valid(row)) {
            return Ok(());
        }
        let message = format!(
            "column \"{}\" has timestamps with digits below a microsecond, which TIMESTAMP does not hold",
            self.column.name
        );
        Err(SqlError::new(SqlState::DATETIME_OVERFLOW, message)
            .with_hint("write the file with timestamps in microseconds"))
    }
}

/// An error of a value with the column that it was for.
fn named(error: SqlError, column: &ColumnSchema) -> SqlError {
    SqlError { message: format!("{}, in column \"{}\"", error.message, column.name), ..error }
}

/// Unscaled integers, narrow if all that count are.
pub(super) fn decimals(values: &[i128], nulls: Option<NullBuffer>) -> Piece {
    // What stands at a NULL is arbitrary and must not make the column wide.
    let valid = |row: usize| nulls.as_ref().is_none_or(|it| it.is_valid(row));
    let narrow =
        values.iter().enumerate().all(|(row, &it)| i64::try_from(it).is_ok() || !valid(row));
    if narrow {
        Piece::ints(values.iter().map(|&it| it as i64).collect::<Vec<_>>(), nulls)
    } else {
        Piece::new(PieceValues::Wide(values.to_vec()), nulls)
    }
}

fn wide<T: ArrowPrimitiveType>(array: &ArrayRef) -> Source
where
    T::Native: Into<i128>,
{
    let values = array.as_primitive::<T>().values();
    Source::Exact(values.iter().map(|&it| it.into()).collect(), 0)
}

fn source(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<Source>> {
    Ok(Some(match array.data_type() {
        ArrowType::Boolean => Source::Booleans(array.as_boolean().values().iter().collect()),
        ArrowType::Int8 => wide::<Int8Type>(array),
        ArrowType::Int16 => wide::<Int16Type>(array),
        ArrowType::Int32 => wide::<Int32Type>(array),
        ArrowType::Int64 => wide::<Int64Type>(array),
        ArrowType::UInt8 => wide::<UInt8Type>(array),
        ArrowType::UInt16 => wide::<UInt16Type>(array),
        ArrowType::UInt32 => wide::<UInt32Type>(array),
        ArrowType::UInt64 => wide::<UInt64Type>(array),
        ArrowType::Decimal32(_, scale) => scaled(wide::<Decimal32Type>(array), *scale, column)?,
        ArrowType::Decimal64(_, scale) => scaled(wide::<Decimal64Type>(array), *scale, column)?,
        ArrowType::Decimal128(_, scale) => scaled(wide::<Decimal128Type>(array), *scale, column)?,
        ArrowType::Decimal256(_, scale) => {
            let values = array.as_primitive::<Decimal256Type>().values();
            let rows = Rows { nulls: array.nulls(), column };
            let narrow = |it: arrow_buffer::i256| {
                it.to_i128().ok_or_else(|| errors::out_of_range(column.data_type))
            };
            scaled(Source::Exact(rows.convert(values, narrow)?, 0), *scale, column)?
        }
        ArrowType::Float16 => {
            let values = array.as_primitive::<Float16Type>().values();
            Source::Floats(values.iter().map(|it| it.to_f64()).collect(), true)
        }
        ArrowType::Float32 => {
            let values = array.as_primitive::<Float32Type>().values();
            Source::Floats(values.iter().map(|&it| f64::from(it)).collect(), true)
        }
        ArrowType::Float64 => {
            Source::Floats(array.as_primitive::<Float64Type>().values().to_vec(), false)
        }
        ArrowType::Date32 => {
            let values = array.as_primitive::<Date32Type>().values();
            Source::Dates(values.iter().map(|&it| i64::from(it)).collect())
        }
        ArrowType::Date64 => {
            let millis = array.as_primitive::<Date64Type>().values();
            Source::Dates(millis.iter().map(|it| it.div_euclid(datetime::DAY / 1000)).collect())
        }
        ArrowType::Timestamp(unit, _) => timestamps(array, *unit, column)?,
        _ => return Ok(None),
    }))
}

/// Decimals of a scale; one below zero means zeros before the point.
fn scaled(source: Source, scale: i8, column: &ColumnSchema) -> SqlResult<Source> {
    let Source::Exact(values, _) = source else { return Ok(source) };
    if let Ok(scale) = u8::try_from(scale) {
        return Ok(Source::Exact(values, scale));
    }
    let factor = decimal::power_of_ten(u32::from(scale.unsigned_abs()));
    let too_great = || named(errors::out_of_range(column.data_type), column);
    let moved = |it: i128| factor.and_then(|by| it.checked_mul(by)).ok_or_else(too_great);
    Ok(Source::Exact(values.into_iter().map(moved).collect::<SqlResult<_>>()?, 0))
}

fn timestamps(array: &ArrayRef, unit: TimeUnit, column: &ColumnSchema) -> SqlResult<Source> {
    let rows = Rows { nulls: array.nulls(), column };
    let times = |values: &[i64], factor: i64| {
        let beyond = || errors::out_of_range(DataType::Timestamp);
        rows.convert(values, |it| it.checked_mul(factor).ok_or_else(beyond))
    };
    Ok(match unit {
        TimeUnit::Second => {
            let values = array.as_primitive::<TimestampSecondType>().values();
            Source::Timestamps(times(values, 1_000_000)?, Vec::new())
        }
        TimeUnit::Millisecond => {
            let values = array.as_primitive::<TimestampMillisecondType>().values();
            Source::Timestamps(times(values, 1000)?, Vec::new())
        }
        TimeUnit::Microsecond => {
            let values = array.as_primitive::<TimestampMicrosecondType>().values();
            Source::Timestamps(values.to_vec(), Vec::new())
        }
        TimeUnit::Nanosecond => {
            let values = array.as_primitive::<TimestampNanosecondType>().values();
            let rests = values.iter().enumerate().filter(|(_, it)| **it % 1000 != 0);
            let rests = rests.map(|it| it.0).collect();
            Source::Timestamps(values.iter().map(|it| it.div_euclid(1000)).collect(), rests)
        }
    })
}
