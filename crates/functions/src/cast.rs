//! The names of Arrow's types: of a value's, and those that `arrow_cast` takes. The conversions themselves are CAST's.

use arrow_array::ArrayRef;
use arrow_schema::{DataType as ArrowType, TimeUnit};
use types::{DataType, SqlError, SqlResult};

use crate::call::Call;
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
