//! Single values out of vectors, and vectors from one representation to another. Not for hot paths.

use std::borrow::Cow;

use stdx::sync::Arc;
use storage::{Column, Encoding, head};
use types::{DataType, SqlError, SqlResult, Value};

use crate::{ColumnShape, Representation, TextVector, Values, Vector};

/// The text behind a code of a dictionary column or a position of a plain one.
#[inline]
pub fn text_of(column: &Column, code: u32) -> Cow<'_, str> {
    match &column.encoding {
        Encoding::Dictionary(dictionary) => Cow::Borrowed(dictionary.as_str(code)),
        Encoding::Plain(strings) => strings.get(code as usize),
        _ => unreachable!("invariant: only text columns travel as codes"),
    }
}

impl Vector {
    /// One value.
    pub fn value(&self, shape: &ColumnShape, row: usize) -> Value {
        if !self.is_valid(row) {
            return Value::Null;
        }
        match &self.values {
            Values::Codes(codes) => match &shape.representation {
                Representation::Codes(column) => Value::Text(text_of(column, codes[row]).into()),
                _ => unreachable!("invariant: a vector is held as its shape says"),
            },
            Values::I64(values) => integer_value(i128::from(values[row]), shape.data_type),
            Values::I128(values) => integer_value(values[row], shape.data_type),
            Values::F64(values) => Value::Float(values[row]),
            Values::Bool(values) => Value::Boolean(values[row]),
            Values::Text(texts) => Value::Text(texts.get(row).into()),
        }
    }
}

fn integer_value(value: i128, data_type: DataType) -> Value {
    // Columns hold these in fewer bits; the casts undo a widening.
    match data_type.stored() {
        DataType::Decimal { scale, .. } => Value::Decimal { unscaled: value, scale },
        DataType::Date => Value::Date(value as i32),
        DataType::Timestamp => Value::Timestamp(value as i64),
        DataType::Boolean => Value::Boolean(value != 0),
        _ => Value::Integer(value as i64),
    }
}

/// The heads of texts that have no codes in their order, as integers of the same order; `None` of other values.
pub(crate) fn heads(shape: &ColumnShape, values: &Values) -> Option<Vec<i64>> {
    let signed = |head: u64| (head ^ 1 << 63) as i64;
    match (values, shape.plain()) {
        (Values::Text(texts), _) => {
            Some((0..texts.len()).map(|row| signed(head(texts.bytes_at(row)))).collect())
        }
        (Values::Codes(positions), Some(strings)) => {
            Some(positions.iter().map(|&it| signed(strings.head(it as usize))).collect())
        }
        _ => None,
    }
}

impl TextVector {
    /// Appends the texts behind codes of a dictionary column or positions of a plain one; at a NULL an empty text.
    pub(crate) fn push_codes(
        &mut self,
        column: &Column,
        codes: &[u32],
        is_valid: impl Fn(usize) -> bool,
    ) {
        for (row, &code) in codes.iter().enumerate() {
            if is_valid(row) {
                match &column.encoding {
                    Encoding::Plain(strings) => strings.append(code as usize, &mut self.bytes),
                    _ => self.bytes.extend_from_slice(text_of(column, code).as_bytes()),
                }
            }
            self.push("");
        }
    }
}

/// A vector held as `to` says: text may leave its column, integers may widen.
pub fn convert(
    vector: &Arc<Vector>,
    from: &ColumnShape,
    to: &ColumnShape,
) -> SqlResult<Arc<Vector>> {
    let values = match (&vector.values, &from.representation, &to.representation) {
        (Values::Codes(_), Representation::Codes(a), Representation::Codes(b))
            if Arc::ptr_eq(a, b) =>
        {
            return Ok(vector.clone());
        }
        (Values::Codes(codes), Representation::Codes(column), Representation::Text) => {
            let mut texts = TextVector::default();
            texts.push_codes(column, codes, |row| vector.is_valid(row));
            Values::Text(texts)
        }
        (Values::I64(values), _, Representation::I128) => {
            Values::I128(values.iter().map(|&it| i128::from(it)).collect())
        }
        (Values::I64(_), _, Representation::I64)
        | (Values::I128(_), _, Representation::I128)
        | (Values::F64(_), _, Representation::F64)
        | (Values::Bool(_), _, Representation::Bool)
        | (Values::Text(_), _, Representation::Text) => return Ok(vector.clone()),
        _ => return Err(SqlError::internal("two parts of a union are held in different ways")),
    };
    Ok(Arc::new(Vector { values, validity: vector.validity.clone() }))
}
