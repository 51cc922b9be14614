//! Arrow arrays into pieces of a column's type. What fits without a change of kind is taken; what does not is an error.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, StringArray};
use arrow_buffer::NullBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType as ArrowType, TimeUnit};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::piece::{Piece, PieceValues};
use crate::word::key_of_float;
use crate::{ColumnSchema, arrow_type};

/// Converts rows for a column: widens, rescales, trims; checks ranges, lengths and NULL.
pub(crate) fn piece_of(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Piece> {
    let piece = if column.data_type.is_text() || column.data_type == DataType::Null {
        texts(array, column)?
    } else {
        match numbers(array, column)? {
            Some(piece) => piece,
            None => {
                let cast = cast_to(array, &arrow_type(column.data_type), column)?;
                numbers(&cast, column)?.ok_or_else(|| mismatch(array, column))?
            }
        }
    };
    if piece.nulls.is_some() && !column.nullable {
        let message =
            format!("null value in column \"{}\" violates not-null constraint", column.name);
        return Err(SqlError::new(SqlState::NOT_NULL_VIOLATION, message));
    }
    Ok(piece)
}

/// Numbers that need no cast; `None` for others.
fn numbers(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<Piece>> {
    let data_type = column.data_type;
    let nulls = array.nulls().cloned();
    let piece = match (data_type, array.data_type()) {
        (DataType::Boolean, ArrowType::Boolean) => {
            let values = array.as_boolean().values().iter().map(i64::from);
            Piece::ints(values.collect::<Vec<_>>(), nulls)
        }
        (it, ArrowType::Int8) if it.is_integer() => ints::<Int8Type>(array),
        (it, ArrowType::Int16) if it.is_integer() => ints::<Int16Type>(array),
        (it, ArrowType::Int32) if it.is_integer() => ints::<Int32Type>(array),
        (it, ArrowType::Int64) if it.is_integer() => words::<Int64Type>(array),
        (it, ArrowType::UInt8) if it.is_integer() => ints::<UInt8Type>(array),
        (it, ArrowType::UInt16) if it.is_integer() => ints::<UInt16Type>(array),
        (it, ArrowType::UInt32) if it.is_integer() => ints::<UInt32Type>(array),
        (DataType::Date, ArrowType::Date32) => ints::<Date32Type>(array),
        (DataType::Timestamp, ArrowType::Timestamp(TimeUnit::Microsecond, _)) => {
            words::<TimestampMicrosecondType>(array)
        }
        (DataType::Decimal { scale, .. }, ArrowType::Decimal32(_, from)) if same(scale, *from) => {
            ints::<Decimal32Type>(array)
        }
        (DataType::Decimal { scale, .. }, ArrowType::Decimal64(_, from)) if same(scale, *from) => {
            words::<Decimal64Type>(array)
        }
        (DataType::Decimal { scale, .. }, ArrowType::Decimal128(_, from)) if same(scale, *from) => {
            decimals(array.as_primitive::<Decimal128Type>().values(), nulls)
        }
        (DataType::Real | DataType::Double, ArrowType::Float32) => {
            let values = array.as_primitive::<Float32Type>().values().iter();
            Piece::ints(values.map(|&it| key_of_float(f64::from(it))).collect::<Vec<_>>(), nulls)
        }
        (DataType::Double, ArrowType::Float64) => {
            let values = array.as_primitive::<Float64Type>().values().iter();
            Piece::ints(values.map(|&it| key_of_float(it)).collect::<Vec<_>>(), nulls)
        }
        _ => return Ok(None),
    };
    check_range(&piece, column)?;
    Ok(Some(piece))
}

fn same(scale: u8, from: i8) -> bool {
    i8::try_from(scale) == Ok(from)
}

fn ints<T: ArrowPrimitiveType>(array: &ArrayRef) -> Piece
where
    T::Native: Into<i64>,
{
    let values = array.as_primitive::<T>().values();
    let values = values.iter().map(|&it| it.into());
    Piece::ints(values.collect::<Vec<i64>>(), array.nulls().cloned())
}

/// Integers that are 64 bits wide already: the array's memory is the piece's.
fn words<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef) -> Piece {
    Piece::ints(array.as_primitive::<T>().values().clone(), array.nulls().cloned())
}

fn decimals(values: &[i128], nulls: Option<NullBuffer>) -> Piece {
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

fn check_range(piece: &Piece, column: &ColumnSchema) -> SqlResult<()> {
    let limit = match column.data_type {
        DataType::SmallInt => (i128::from(i16::MIN), i128::from(i16::MAX)),
        DataType::Integer => (i128::from(i32::MIN), i128::from(i32::MAX)),
        DataType::Decimal { precision, .. } => {
            let end = 10i128.pow(u32::from(precision.min(38))) - 1;
            (-end, end)
        }
        _ => return Ok(()),
    };
    let outside = |value: i128| value < limit.0 || value > limit.1;
    let wrong = match &piece.values {
        PieceValues::Int { range, .. } => {
            range.map(|it| (i128::from(it.0), i128::from(it.1))).and_then(|(low, high)| {
                if outside(low) { Some(low) } else { Some(high).filter(|&it| outside(it)) }
            })
        }
        PieceValues::Wide(values) => (values.iter().enumerate())
            .find(|(row, it)| outside(**it) && !piece.is_null(*row))
            .map(|it| *it.1),
        _ => None,
    };
    match wrong {
        None => Ok(()),
        Some(value) => {
            let value = crate::word::value_of_int(column.data_type, value);
            Err(out_of_range(column, &format!("value {value} is out of range")))
        }
    }
}

fn out_of_range(column: &ColumnSchema, what: &str) -> SqlError {
    let message = format!("{what} for column \"{}\" of type {}", column.name, column.data_type);
    SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
}

fn mismatch(array: &ArrayRef, column: &ColumnSchema) -> SqlError {
    let message = format!(
        "column \"{}\" is of type {} but its values are of the Arrow type {}",
        column.name,
        column.data_type,
        array.data_type()
    );
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}

/// Casts within a kind: numbers to numbers, times to times, text to text.
fn cast_to(array: &ArrayRef, to: &ArrowType, column: &ColumnSchema) -> SqlResult<ArrayRef> {
    let from = match array.data_type() {
        ArrowType::Dictionary(_, values) => values.as_ref(),
        other => other,
    };
    let text =
        |it: &ArrowType| matches!(it, ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View);
    let time = |it: &ArrowType| {
        matches!(it, ArrowType::Date32 | ArrowType::Date64 | ArrowType::Timestamp(..))
    };
    let alike = *from == ArrowType::Null
        || from == to
        || from.is_numeric() && to.is_numeric()
        || time(from) && time(to)
        || text(from) && text(to);
    if !alike {
        return Err(mismatch(array, column));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|error| match error {
        ArrowError::CastError(what) | ArrowError::ComputeError(what) if to.is_numeric() => {
            out_of_range(column, &what)
        }
        ArrowError::InvalidArgumentError(what) => out_of_range(column, &what),
        error if time(to) => {
            let message = format!("column \"{}\": {error}", column.name);
            SqlError::new(SqlState::DATETIME_OVERFLOW, message)
        }
        error => SqlError::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!("column \"{}\": {error}", column.name),
        ),
    })
}

fn texts(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Piece> {
    if let ArrowType::Dictionary(key, value) = array.data_type()
        && matches!(**value, ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View)
    {
        let narrow = ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(ArrowType::Utf8));
        // A cast between dictionaries keeps the codes: it costs no look at the texts.
        let cast = if **key == ArrowType::Int32 && **value == ArrowType::Utf8 {
            array.clone()
        } else {
            let options = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(array, &narrow, &options)
                .map_err(|error| SqlError::internal(error.to_string()))?
        };
        let dictionary = cast.as_dictionary::<Int32Type>();
        let nulls = cast.logical_nulls().filter(|it| it.null_count() > 0);
        let keys = dictionary.keys().values();
        let codes = match &nulls {
            None => keys.iter().map(|&it| it as u32).collect(),
            Some(nulls) => (keys.iter().enumerate())
                .map(|(row, &it)| if nulls.is_valid(row) { it as u32 } else { 0 })
                .collect(),
        };
        let texts = fit(dictionary.values().as_string::<i32>(), column)?;
        return Ok(Piece::new(PieceValues::Coded { codes, texts }, nulls));
    }
    let cast = match array.data_type() {
        ArrowType::Utf8 => array.clone(),
        _ => cast_to(array, &ArrowType::Utf8, column)?,
    };
    let nulls = cast.nulls().cloned();
    let texts = fit(cast.as_string::<i32>(), column)?;
    Ok(Piece::new(PieceValues::Text(texts), nulls))
}

/// Texts as their type stores them: without the trailing blanks of CHAR(n), and not longer than n.
fn fit(texts: &StringArray, column: &ColumnSchema) -> SqlResult<StringArray> {
    let (limit, blanks) = match column.data_type {
        DataType::Char(limit) => (limit as usize, true),
        DataType::Varchar(limit) => (limit as usize, false),
        _ => return Ok(texts.clone()),
    };
    let values = || (0..texts.len()).filter(|&it| texts.is_valid(it)).map(|it| texts.value(it));
    // Nearly always nothing is to be done; a text has at most as many characters as bytes.
    if values().all(|it| it.len() <= limit && !(blanks && it.ends_with(' '))) {
        return Ok(texts.clone());
    }
    texts.iter().map(|it| it.map(|it| fit_one(it, limit, blanks, column)).transpose()).collect()
}

fn fit_one<'a>(
    text: &'a str,
    limit: usize,
    blanks: bool,
    column: &ColumnSchema,
) -> SqlResult<&'a str> {
    let text = if blanks { text.trim_end_matches(' ') } else { text };
    // Blanks past the limit are cut off without an error, as the standard says.
    match text.char_indices().nth(limit) {
        None => Ok(text),
        Some((end, _)) if text[end..].bytes().all(|it| it == b' ') => Ok(&text[..end]),
        Some(_) => {
            let (name, data_type) = (&column.name, column.data_type);
            let message = format!("value too long for column \"{name}\" of type {data_type}");
            Err(SqlError::new(SqlState::STRING_TRUNCATION, message))
        }
    }
}
