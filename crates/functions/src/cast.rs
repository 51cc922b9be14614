//! Casts by the names of Arrow's types, and casts that answer NULL where they fail.
//!
//! The planner may turn [`Function::ArrowCast`] and [`Function::CastToType`] into its own cast to the result's type; the
//! kernels here do what DataFusion's do, except that a float becomes the nearest integer and is not cut.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::call::{Call, arrow_type};
use crate::error::invalid;

/// The type that Arrow calls so. Errors: 22023 for an unknown name, 0A000 for a type that we do not have.
pub(crate) fn from_arrow_name(name: &str) -> SqlResult<DataType> {
    let arrow: ArrowType =
        name.parse().map_err(|_| invalid(format!("\"{name}\" is no type of Arrow")))?;
    Ok(match arrow {
        ArrowType::Null => DataType::Null,
        ArrowType::Boolean => DataType::Boolean,
        ArrowType::Int8 | ArrowType::Int16 | ArrowType::UInt8 => DataType::SmallInt,
        ArrowType::Int32 | ArrowType::UInt16 => DataType::Integer,
        ArrowType::Int64 | ArrowType::UInt32 | ArrowType::UInt64 => DataType::BigInt,
        ArrowType::Float16 | ArrowType::Float32 => DataType::Real,
        ArrowType::Float64 => DataType::Double,
        ArrowType::Decimal128(precision, scale) if (0..=precision as i8).contains(&scale) => {
            DataType::Decimal { precision, scale: scale as u8 }
        }
        ArrowType::Date32 | ArrowType::Date64 => DataType::Date,
        ArrowType::Timestamp(_, _) => DataType::Timestamp,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => DataType::Text,
        other => {
            return Err(SqlError::unsupported(format!("values of type {other} are not supported")));
        }
    })
}

/// The first argument as the type of the result.
pub(crate) fn cast(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let safe = matches!(call.function, Function::ArrowTryCast | Function::TryCastToType);
    let wanted = arrow_type(call.result);
    let options = CastOptions { safe, ..CastOptions::default() };
    let source = rounded(call.argument(0)?, &wanted);
    cast_with_options(&source, &wanted, &options).map_err(|error| {
        let of_text = source.data_type() == &ArrowType::Utf8;
        let state = if of_text { SqlState::INVALID_TEXT } else { SqlState::NUMERIC_OUT_OF_RANGE };
        SqlError::new(state, error.to_string())
    })
}

/// Floats that become integers are rounded first.
fn rounded(source: &ArrayRef, wanted: &ArrowType) -> ArrayRef {
    if !wanted.is_integer() {
        return Arc::clone(source);
    }
    if let Some(values) = source.as_primitive_opt::<Float64Type>() {
        return Arc::new(values.unary::<_, Float64Type>(f64::round_ties_even));
    }
    if let Some(values) = source.as_primitive_opt::<Float32Type>() {
        return Arc::new(values.unary::<_, Float32Type>(f32::round_ties_even));
    }
    Arc::clone(source)
}

/// What Arrow calls the type of the argument.
pub(crate) fn type_of(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let array = call.argument(0)?;
    let name = match array.data_type() {
        ArrowType::Timestamp(TimeUnit::Microsecond, None) => "Timestamp(Microsecond, None)".into(),
        other => other.to_string(),
    };
    let mut out = crate::texts::Texts::with_capacity(call.rows);
    for _ in 0..call.rows {
        out.push(&name)?;
        out.end();
    }
    Ok(out.finish())
}
