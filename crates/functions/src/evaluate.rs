//! A call of constants, as binding folds it.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int16Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray, new_null_array,
};
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, Value};

use crate::call::arrow_type;
use crate::invoke::invoke;

/// The result of a function of constants, each of the type that the signature named.
pub fn evaluate(
    function: Function,
    arguments: &[(Value, DataType)],
    result: DataType,
) -> SqlResult<Value> {
    if let Some(made) = crate::structs::of_constants(function, arguments, result) {
        return made;
    }
    let arrays: Option<Vec<ArrayRef>> = arguments.iter().map(|it| array_of(&it.0, it.1)).collect();
    let arrays = arrays.ok_or_else(|| SqlError::internal("a constant of another type"))?;
    let array = invoke(function, &arrays, 1, result)?;
    value_of(&array, result).ok_or_else(|| SqlError::internal("a result of another type"))
}

/// One value as an array.
fn array_of(value: &Value, data_type: DataType) -> Option<ArrayRef> {
    if value.is_null() {
        return Some(new_null_array(&arrow_type(data_type), 1));
    }
    let integer = || value.as_i128().and_then(|it| i64::try_from(it).ok());
    Some(match (data_type.stored(), value) {
        (DataType::Boolean, Value::Boolean(it)) => Arc::new(BooleanArray::from(vec![*it])),
        (DataType::SmallInt, _) => {
            Arc::new(Int16Array::from(vec![i16::try_from(integer()?).ok()?]))
        }
        (DataType::Integer, _) => Arc::new(Int32Array::from(vec![i32::try_from(integer()?).ok()?])),
        (DataType::BigInt, _) => Arc::new(Int64Array::from(vec![integer()?])),
        (DataType::Real, Value::Float(it)) => Arc::new(Float32Array::from(vec![*it as f32])),
        (DataType::Double, Value::Float(it)) => Arc::new(Float64Array::from(vec![*it])),
        (DataType::Decimal { precision, scale }, Value::Decimal { unscaled, scale: own })
            if scale == *own =>
        {
            let array = Decimal128Array::from(vec![*unscaled]);
            Arc::new(array.with_precision_and_scale(precision, scale as i8).ok()?)
        }
        (DataType::Date, Value::Date(it)) => Arc::new(Date32Array::from(vec![*it])),
        (DataType::Timestamp, Value::Timestamp(it)) => {
            Arc::new(TimestampMicrosecondArray::from(vec![*it]))
        }
        (it, Value::Text(text)) if it.is_text() => Arc::new(StringArray::from(vec![&**text])),
        _ => return None,
    })
}

/// The value of an array of one row.
fn value_of(array: &ArrayRef, data_type: DataType) -> Option<Value> {
    if array.is_null(0) {
        return Some(Value::Null);
    }
    let whole = |it: i64| Some(Value::Integer(it));
    match data_type.stored() {
        DataType::Null => None,
        DataType::Boolean => Some(Value::Boolean(array.as_boolean_opt()?.value(0))),
        DataType::SmallInt => whole(array.as_primitive_opt::<Int16Type>()?.value(0).into()),
        DataType::Integer => whole(array.as_primitive_opt::<Int32Type>()?.value(0).into()),
        DataType::BigInt => whole(array.as_primitive_opt::<Int64Type>()?.value(0)),
        DataType::Real => {
            Some(Value::Float(array.as_primitive_opt::<Float32Type>()?.value(0).into()))
        }
        DataType::Double => Some(Value::Float(array.as_primitive_opt::<Float64Type>()?.value(0))),
        DataType::Decimal { scale, .. } => {
            let unscaled = array.as_primitive_opt::<Decimal128Type>()?.value(0);
            Some(Value::Decimal { unscaled, scale })
        }
        DataType::Date => Some(Value::Date(array.as_primitive_opt::<Date32Type>()?.value(0))),
        DataType::Timestamp => {
            let micros = array.as_primitive_opt::<TimestampMicrosecondType>()?.value(0);
            Some(Value::Timestamp(micros))
        }
        DataType::Char(_) | DataType::Bpchar | DataType::Varchar(_) | DataType::Text => {
            Some(Value::Text(array.as_string_opt::<i32>()?.value(0).into()))
        }
        _ => None,
    }
}
