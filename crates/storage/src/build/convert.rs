//! Arrow arrays into pieces of a column's type. What fits without a change of kind is taken; what does not is an error.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, StringArray, StringArrayType};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use types::numeric;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::assign::{assigned, decimals, texts_of};
use super::piece::{Piece, PieceValues};
use crate::ColumnSchema;
use crate::word::key_of_float;

/// Converts rows for a column: widens, rescales, trims; checks ranges, lengths and NULL.
pub(crate) fn piece_of(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Piece> {
    if let DataType::Whole(it) = column.data_type {
        let piece = piece_of(array, &ColumnSchema { data_type: it.plain(), ..column.clone() })?;
        check_range(&piece, column)?;
        return Ok(piece);
    }
    if column.data_type.stored() != column.data_type {
        let held = match crate::nested::held(array, column)? {
            Some(held) => held,
            None => crate::outside::held(array, column)?,
        };
        let column = ColumnSchema { data_type: column.data_type.stored(), ..column.clone() };
        return piece_of(&held, &column);
    }
    let piece = if column.data_type.stored().is_text() || column.data_type == DataType::Null {
        texts(array, column)?
    } else {
        match numbers(array, column)? {
            Some(piece) => piece,
            None if matches!(array.data_type(), ArrowType::Dictionary(..)) => {
                return piece_of(&looked_up(array)?, column);
            }
            None => assigned(array, column)?.ok_or_else(|| mismatch(array, column))?,
        }
    };
    if piece.nulls.is_some() && !column.nullable {
        return Err(SqlError::null_in(&column.name, None));
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
        (DataType::Date, ArrowType::Date32) => dates(array),
        (DataType::Timestamp, ArrowType::Timestamp(TimeUnit::Microsecond, _)) => timestamps(array),
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

/// Dates. DuckDB has one more than the least integer for those before all others.
fn dates(array: &ArrayRef) -> Piece {
    let held = |it: i32| i64::from(if it == -i32::MAX { i32::MIN } else { it });
    let values = array.as_primitive::<Date32Type>().values().iter().map(|it| held(*it));
    Piece::ints(values.collect::<Vec<i64>>(), array.nulls().cloned())
}

/// Timestamps, of which the same is to be said.
fn timestamps(array: &ArrayRef) -> Piece {
    let values = array.as_primitive::<TimestampMicrosecondType>().values();
    if !values.contains(&-i64::MAX) {
        return words::<TimestampMicrosecondType>(array);
    }
    let held = |it: &i64| if *it == -i64::MAX { i64::MIN } else { *it };
    Piece::ints(values.iter().map(held).collect::<Vec<i64>>(), array.nulls().cloned())
}

/// Integers that are 64 bits wide already: the array's memory is the piece's.
fn words<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef) -> Piece {
    Piece::ints(array.as_primitive::<T>().values().clone(), array.nulls().cloned())
}

fn check_range(piece: &Piece, column: &ColumnSchema) -> SqlResult<()> {
    let limit = match column.data_type {
        DataType::BigInt => return Ok(()),
        it if it.is_exact() => numeric::decimal::range(it),
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

/// The values that the keys of a dictionary stand for.
fn looked_up(array: &ArrayRef) -> SqlResult<ArrayRef> {
    let dictionary = array.as_any_dictionary();
    arrow_select::take::take(dictionary.values(), dictionary.keys(), None)
        .map_err(|error| SqlError::internal(format!("a dictionary of Arrow is malformed: {error}")))
}

/// Texts of any of Arrow's three forms in the one with offsets of 32 bits; `None` for what is no text. Errors: 54000
/// for more than 2 GiB in one array.
fn narrow(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<StringArray>> {
    Ok(Some(match array.data_type() {
        ArrowType::Utf8 => array.as_string::<i32>().clone(),
        ArrowType::LargeUtf8 => collected(array.as_string::<i64>(), column)?,
        ArrowType::Utf8View => collected(array.as_string_view(), column)?,
        _ => return Ok(None),
    }))
}

fn collected<'a>(texts: impl StringArrayType<'a>, column: &ColumnSchema) -> SqlResult<StringArray> {
    let bytes: usize = texts.iter().flatten().map(str::len).sum();
    if i32::try_from(bytes).is_err() {
        let message = format!("column \"{}\": {bytes} bytes of text in one array", column.name);
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    Ok(texts.iter().collect())
}

fn texts(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Piece> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return match narrow(dictionary.values(), column)? {
            Some(values) => {
                let nulls = array.logical_nulls().filter(|it| it.null_count() > 0);
                // Without values there is nothing that a key could stand for.
                let keys = match values.is_empty() {
                    true => vec![0; array.len()],
                    false => dictionary.normalized_keys(),
                };
                let code = |(row, key): (usize, usize)| match &nulls {
                    Some(nulls) if nulls.is_null(row) => 0,
                    _ => key as u32,
                };
                let codes = keys.into_iter().enumerate().map(code).collect();
                Ok(Piece::new(PieceValues::Coded { codes, texts: fit(&values, column)? }, nulls))
            }
            None => texts(&looked_up(array)?, column),
        };
    }
    let narrow = match narrow(array, column)? {
        Some(texts) => texts,
        None => texts_of(array, column)?.ok_or_else(|| mismatch(array, column))?,
    };
    let nulls = narrow.nulls().cloned();
    Ok(Piece::new(PieceValues::Text(fit(&narrow, column)?), nulls))
}

/// Texts as their type stores them: without the trailing blanks of CHAR(n), and not longer than n.
fn fit(texts: &StringArray, column: &ColumnSchema) -> SqlResult<StringArray> {
    let (limit, blanks) = match column.data_type {
        DataType::VARCHAR => return Ok(texts.clone()),
        DataType::Char(limit) => (limit as usize, true),
        DataType::Varchar(limit) => (limit as usize, false),
        DataType::Bits(_) => {
            let held = |it: &str| {
                let value = Value::Text(it.into());
                match numeric::assign(&value, DataType::Null, column.data_type, &column.name)? {
                    Value::Text(it) => Ok(it.to_string()),
                    other => Err(SqlError::internal(format!("{other} is no bits"))),
                }
            };
            return texts.iter().map(|it| it.map(held).transpose()).collect();
        }
        DataType::Letter => {
            let first = |it: &str| numeric::shortened(it, DataType::Letter).to_owned();
            return Ok(texts.iter().map(|it| it.map(first)).collect());
        }
        _ => return Ok(texts.clone()),
    };
    let values = || (0..texts.len()).filter(|&it| texts.is_valid(it)).map(|it| texts.value(it));
    // Nearly always nothing is to be done; a text has at most as many characters as bytes.
    if values().all(|it| it.len() <= limit && !(blanks && it.ends_with(' '))) {
        return Ok(texts.clone());
    }
    let fitting = |it| {
        numeric::fitting(it, column.data_type).map_err(|error| {
            let (name, data_type) = (&column.name, column.data_type);
            let message = format!("value too long for column \"{name}\" of type {data_type}");
            SqlError { message, ..error }
        })
    };
    texts.iter().map(|it| it.map(fitting).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Decimal128Array, Float64Array, Int64Array, TimestampNanosecondArray, TimestampSecondArray,
    };
    use stdx::Prng;
    use stdx::sync::Arc;
    use types::Value;

    use super::*;
    use crate::word::{float_of_key, value_of_int};

    fn column(data_type: DataType) -> ColumnSchema {
        ColumnSchema::new("c", data_type, true)
    }

    fn decimal(precision: u8, scale: u8) -> DataType {
        DataType::Decimal { precision, scale }
    }

    /// What a piece holds, as values of its column's type.
    fn values_of(piece: &Piece, rows: usize, to: DataType) -> Vec<Value> {
        let value = |row: usize| match &piece.values {
            _ if piece.is_null(row) => Value::Null,
            PieceValues::Int { values, .. } if to.is_float() => {
                Value::Float(float_of_key(values[row]))
            }
            PieceValues::Int { values, .. } => value_of_int(to, values[row].into()),
            PieceValues::Wide(values) => value_of_int(to, values[row]),
            PieceValues::Text(texts) => Value::Text(texts.value(row).into()),
            PieceValues::Coded { .. } => panic!("no dictionary was given"),
        };
        (0..rows).map(value).collect()
    }

    /// Loads values one by one, and compares each with the scalar assignment.
    fn check(array: ArrayRef, values: &[Value], from: DataType, to: DataType) {
        for (row, value) in values.iter().enumerate() {
            let loaded = piece_of(&array.slice(row, 1), &column(to));
            let loaded = loaded.map(|it| values_of(&it, 1, to).remove(0)).map_err(|it| it.state.0);
            let expected = numeric::assign(value, from, to, "c").map_err(|it| it.state.0);
            assert_eq!(loaded, expected, "{value} of {from} into {to}");
        }
    }

    #[test]
    fn loading_is_assignment() {
        let mut prng = Prng::new(10);
        let targets = [
            DataType::SmallInt,
            DataType::Integer,
            DataType::BigInt,
            DataType::Real,
            DataType::Double,
            decimal(5, 2),
            decimal(38, 10),
            DataType::Text,
            DataType::Varchar(4),
        ];
        for to in targets {
            let any: Vec<i64> = (0..200)
                .map(|_| prng.next_u64() as i64 >> prng.below(64))
                .chain([i64::MIN, i64::MAX, 0, 25, -25, 32767, 32768])
                .collect();
            let integers = any.iter().map(|&it| Value::Integer(it)).collect::<Vec<_>>();
            check(Arc::new(Int64Array::from(any.clone())), &integers, DataType::BigInt, to);
            for scale in [1_u8, 9] {
                let decimals = any.iter().map(|&it| Value::Decimal { unscaled: it.into(), scale });
                let array = any.iter().map(|&it| i128::from(it)).collect::<Vec<_>>();
                let array =
                    Decimal128Array::from(array).with_precision_and_scale(38, scale as i8).unwrap();
                check(Arc::new(array), &decimals.collect::<Vec<_>>(), decimal(38, scale), to);
            }
            let floats: Vec<f64> = any.iter().map(|&it| it as f64 / 8.0).chain([1e300]).collect();
            let values = floats.iter().map(|&it| Value::Float(it)).collect::<Vec<_>>();
            check(Arc::new(Float64Array::from(floats)), &values, DataType::Double, to);
        }
    }

    #[test]
    fn nothing_below_a_microsecond_is_cut_in_silence() {
        let array: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![-1_000, 2_000]));
        let piece = piece_of(&array, &column(DataType::Timestamp)).unwrap();
        let expected = [Value::Timestamp(-1), Value::Timestamp(2)];
        assert_eq!(values_of(&piece, 2, DataType::Timestamp), expected);
        let array: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![2_000, 2_001]));
        let error = piece_of(&array, &column(DataType::Timestamp)).err().unwrap();
        assert_eq!(error.state.0, "22008");
        assert!(error.message.contains("\"c\""), "{}", error.message);
        let array: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX]));
        let error = piece_of(&array, &column(DataType::Timestamp)).err().unwrap();
        assert_eq!(error.state.0, "22008");
    }

    #[test]
    fn what_is_not_assigned_is_an_error() {
        let array: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        for to in [DataType::Boolean, DataType::Date, DataType::Timestamp] {
            assert_eq!(piece_of(&array, &column(to)).err().map(|it| it.state.0), Some("42804"));
        }
    }
}
