//! Vectors as Arrow arrays and back: at every border of the engine, results and functions of libraries.
//!
//! The Arrow form of a type: Boolean, Int16, Int32, Int64, Float32, Float64, Decimal128, Date32, Timestamp in
//! microseconds without zone, Utf8 for all text, Null for a bare NULL; of other types, that of what they are stored as.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, NullArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions, StringArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult};

use crate::{Batch, Bitmap, ColumnShape, Layout, Representation, TextVector, Values, Vector};

pub use storage::schema::arrow_type;

/// A vector as an array of its type's Arrow form; codes become text.
pub fn to_arrow(vector: &Vector, shape: &ColumnShape) -> ArrayRef {
    let rows = vector.values.len();
    if shape.data_type == DataType::Null {
        return Arc::new(NullArray::new(rows));
    }
    let nulls = vector.validity.as_ref().map(|it| nulls_of(it, rows));
    match &vector.values {
        Values::I64(values) => integers(values.iter().copied(), shape.data_type, nulls),
        Values::I128(values) => wide_integers(values, shape.data_type, nulls),
        Values::F64(values) if shape.data_type == DataType::Real => {
            let values = values.iter().map(|&it| it as f32);
            primitive::<Float32Type>(values, nulls)
        }
        Values::F64(values) => primitive::<Float64Type>(values.iter().copied(), nulls),
        Values::Bool(values) => {
            let values = BooleanBuffer::from_iter(values.iter().copied());
            Arc::new(BooleanArray::new(values, nulls))
        }
        Values::Text(texts) => texts_to_arrow(texts.clone(), nulls),
        Values::Codes(codes) => {
            let Representation::Codes(column) = &shape.representation else {
                unreachable!("invariant: a vector is held as its shape says");
            };
            let mut texts = TextVector::default();
            texts.push_codes(column, codes, |row| vector.is_valid(row));
            texts_to_arrow(texts, nulls)
        }
    }
}

fn nulls_of(validity: &Bitmap, rows: usize) -> NullBuffer {
    NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(validity.0.clone()), 0, rows))
}

fn primitive<T: arrow_array::ArrowPrimitiveType>(
    values: impl Iterator<Item = T::Native>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let values: Vec<T::Native> = values.collect();
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
}

fn decimals(
    values: impl Iterator<Item = i128>,
    precision: u8,
    scale: u8,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let values: Vec<i128> = values.collect();
    let array = Decimal128Array::new(ScalarBuffer::from(values), nulls);
    let array = array.with_precision_and_scale(precision, scale as i8);
    Arc::new(array.expect("invariant: a decimal type has at most 38 digits"))
}

fn integers(
    values: impl Iterator<Item = i64>,
    data_type: DataType,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    match data_type.stored() {
        DataType::SmallInt => primitive::<Int16Type>(values.map(|it| it as i16), nulls),
        DataType::Integer => primitive::<Int32Type>(values.map(|it| it as i32), nulls),
        DataType::Date => primitive::<Date32Type>(values.map(|it| it as i32), nulls),
        DataType::Timestamp => primitive::<TimestampMicrosecondType>(values, nulls),
        DataType::Decimal { precision, scale } => {
            decimals(values.map(i128::from), precision, scale, nulls)
        }
        _ => primitive::<Int64Type>(values, nulls),
    }
}

fn wide_integers(values: &[i128], data_type: DataType, nulls: Option<NullBuffer>) -> ArrayRef {
    match data_type.stored() {
        DataType::Decimal { precision, scale } => {
            decimals(values.iter().copied(), precision, scale, nulls)
        }
        // Only decimals can need 128 bits; others are held so beside them.
        other => integers(values.iter().map(|&it| it as i64), other, nulls),
    }
}

fn texts_to_arrow(texts: TextVector, nulls: Option<NullBuffer>) -> ArrayRef {
    let mut offsets = Vec::with_capacity(texts.len() + 1);
    offsets.push(0);
    offsets.extend(texts.ends.iter().map(|&it| it as i32));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let array = StringArray::try_new(offsets, Buffer::from_vec(texts.bytes), nulls);
    Arc::new(array.expect("invariant: texts are UTF-8 and below 2 GiB"))
}

/// An array of the type's Arrow form as a vector held as `shape` says.
pub fn from_arrow(array: &dyn Array, shape: &ColumnShape) -> SqlResult<Vector> {
    let rows = array.len();
    if shape.data_type == DataType::Null || *array.data_type() == ArrowType::Null {
        return Ok(crate::expression::null_vector(shape, rows));
    }
    if *array.data_type() != arrow_type(shape.data_type) {
        let (found, wanted) = (array.data_type(), shape.data_type);
        return Err(SqlError::internal(format!("an array of {found} in place of {wanted}")));
    }
    let values = match (shape.data_type.stored(), &shape.representation) {
        (DataType::Boolean, _) => Values::Bool(array.as_boolean().values().iter().collect()),
        (DataType::SmallInt, _) => widened::<Int16Type, i64>(array, Values::I64),
        (DataType::Integer, _) => widened::<Int32Type, i64>(array, Values::I64),
        (DataType::BigInt, _) => widened::<Int64Type, i64>(array, Values::I64),
        (DataType::Real, _) => widened::<Float32Type, f64>(array, Values::F64),
        (DataType::Double, _) => widened::<Float64Type, f64>(array, Values::F64),
        (DataType::Date, _) => widened::<Date32Type, i64>(array, Values::I64),
        (DataType::Timestamp, _) => widened::<TimestampMicrosecondType, i64>(array, Values::I64),
        (DataType::Decimal { .. }, Representation::I64) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            Values::I64(values.iter().map(|&it| it as i64).collect())
        }
        (DataType::Decimal { .. }, _) => widened::<Decimal128Type, i128>(array, Values::I128),
        _ => Values::Text(texts_from_arrow(array.as_string::<i32>())),
    };
    let nulls = array.nulls().filter(|it| it.null_count() > 0);
    Ok(Vector { values, validity: nulls.map(|it| Bitmap::from_bits(it.iter())) })
}

fn widened<T: arrow_array::ArrowPrimitiveType, R: From<T::Native>>(
    array: &dyn Array,
    values: fn(Vec<R>) -> Values,
) -> Values {
    values(array.as_primitive::<T>().values().iter().map(|&it| R::from(it)).collect())
}

fn texts_from_arrow(array: &StringArray) -> TextVector {
    let mut texts = TextVector::default();
    for row in 0..array.len() {
        texts.push(if array.is_valid(row) { array.value(row) } else { "" });
    }
    texts
}

/// A batch as Arrow users see it.
pub fn to_record_batch(batch: &Batch, layout: &Layout, names: &[String]) -> SqlResult<RecordBatch> {
    let fields: Vec<Field> = (layout.iter().zip(names))
        .map(|(shape, name)| Field::new(name, arrow_type(shape.data_type), true))
        .collect();
    let columns: Vec<ArrayRef> =
        batch.columns.iter().zip(layout).map(|(it, shape)| to_arrow(it, shape)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|it| SqlError::internal(format!("a result is not a record batch: {it}")))
}
