//! Single values as vectors.

use types::Value;

use super::node::push_text;
use crate::{Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// Values as a vector held as `shape` says; never as codes.
pub(crate) fn vector_of(values: &[Value], shape: &ColumnShape) -> Vector {
    let numbers = || values.iter().map(|it| it.as_i128().unwrap_or_default());
    let held = match shape.representation {
        Representation::I64 => Values::I64(numbers().map(|it| it as i64).collect()),
        Representation::I128 => Values::I128(numbers().collect()),
        Representation::Bool => Values::Bool(numbers().map(|it| it != 0).collect()),
        Representation::F64 => {
            let float = |it: &Value| if let Value::Float(it) = it { *it } else { 0.0 };
            Values::F64(values.iter().map(float).collect())
        }
        Representation::Text | Representation::Codes(_) => {
            let mut texts = TextVector::default();
            for value in values {
                let text = if let Value::Text(it) = value { it.as_bytes() } else { b"" };
                push_text(&mut texts, text);
            }
            Values::Text(texts)
        }
    };
    let has_null = values.iter().any(Value::is_null);
    let validity = has_null.then(|| Bitmap::from_bits(values.iter().map(|it| !it.is_null())));
    Vector { values: held, validity }
}
