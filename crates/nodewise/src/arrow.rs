//! Types in SQL as callers see them in Arrow, and those of what callers bring, with its values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType as ArrowType, Field, TimeUnit};
use types::{DataType, SqlError, SqlResult, Value};

use crate::text::Cells;

/// A column of results as callers see it; moments are told in UTC.
pub fn shown_field(name: &str, data_type: DataType) -> Field {
    storage::outside::field(name, data_type, None)
}

/// The type that a column of Arrow has in SQL. `source` says in an error where it comes from.
///
/// # Errors
/// 0A000 for a type that is not stored.
pub fn sql_type(field: &Field, source: &str) -> SqlResult<DataType> {
    storage::schema::sql_type(field, source)
}

/// The types in SQL of columns that bind parameters; none of nulls.
///
/// # Errors
/// 0A000 for a type that is not stored.
pub fn parameter_types(batch: &RecordBatch) -> SqlResult<Vec<Option<DataType>>> {
    let of = |it: &arrow_schema::FieldRef| match it.data_type() {
        ArrowType::Null => Ok(None),
        _ => sql_type(it, "the values").map(Some),
    };
    batch.schema().fields().iter().map(of).collect()
}

/// Each row as the values of parameters.
///
/// # Errors
/// 0A000 for lists, structs and maps, and for types that are not stored.
pub fn parameter_values(batch: &RecordBatch) -> SqlResult<Vec<Vec<Value>>> {
    let types = parameter_types(batch)?;
    let columns = batch.columns().iter().zip(types);
    let columns =
        columns.map(|(array, of)| in_own_type(array, of)).collect::<SqlResult<Vec<_>>>()?;
    let row = |row| columns.iter().map(|it| value(it, row)).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

/// A column in the one Arrow type that its type in SQL has.
fn in_own_type(array: &ArrayRef, of: Option<DataType>) -> SqlResult<ArrayRef> {
    let Some(of) = of else { return Ok(array.clone()) };
    if of.has_parts() {
        return Err(SqlError::unsupported("lists, structs and maps as values of parameters")
            .with_hint("bind a text, as '{1,2}'"));
    }
    // As it came, so that fixed bytes are bytes of any length.
    let to = match (shown_field("value", of).data_type(), array.data_type()) {
        (ArrowType::Timestamp(unit, _), ArrowType::Timestamp(_, zone)) => {
            ArrowType::Timestamp(*unit, zone.clone())
        }
        (to, _) => to.clone(),
    };
    let failed = |error| SqlError::unsupported(format!("values of this type: {error}"));
    if *array.data_type() == to { Ok(array.clone()) } else { cast(array, &to).map_err(failed) }
}

/// A value; what has no literal of its own is a text that is read as its type.
fn value(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        ArrowType::Null => Value::Null,
        ArrowType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        ArrowType::Int16 => Value::Integer(array.as_primitive::<Int16Type>().value(row).into()),
        ArrowType::Int32 => Value::Integer(array.as_primitive::<Int32Type>().value(row).into()),
        ArrowType::Int64 => Value::Integer(array.as_primitive::<Int64Type>().value(row)),
        ArrowType::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(row).into()),
        ArrowType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        ArrowType::Decimal128(_, scale) => {
            let unscaled = array.as_primitive::<Decimal128Type>().value(row);
            Value::Decimal { unscaled, scale: scale.cast_unsigned() }
        }
        ArrowType::Date32 => Value::Date(array.as_primitive::<Date32Type>().value(row)),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            Value::Timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        ArrowType::Utf8 => Value::Text(array.as_string::<i32>().value(row).into()),
        _ => Cells::new(array).text(row).map_or(Value::Null, |it| Value::Text(it.into())),
    }
}
