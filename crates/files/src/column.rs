//! Values of a column, one after the other, on their way from texts into Arrow.

use arrow_array::types::{Date32Type, Decimal64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int32Array, PrimitiveArray, StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use stdx::sync::Arc;
use types::{DataType, Element, SqlError, SqlResult, SqlState, Value, Zone, numeric};

use crate::repeats::repeats;
use crate::spelling;

/// Digits that 64 bits hold.
const WORD_DIGITS: u8 = 18;

/// The values of a column so far.
pub(crate) struct Column {
    data_type: DataType,
    /// In which moments are that name no time zone.
    zone: Zone,
    values: Values,
    nulls: NullBufferBuilder,
    rows: usize,
}

enum Values {
    Booleans(Vec<bool>),
    Integers(Vec<i64>),
    Decimals(Vec<i64>),
    Wide(Vec<i128>),
    Singles(Vec<f32>),
    Doubles(Vec<f64>),
    Days(Vec<i32>),
    Moments(Vec<i64>),
    Texts { offsets: Vec<i32>, data: Vec<u8> },
}

impl Column {
    /// A column without rows. Errors: 0A000 for a type that no file has.
    pub(crate) fn new(data_type: DataType, zone: &Zone) -> SqlResult<Self> {
        let values = match data_type.stored() {
            DataType::Boolean => Values::Booleans(Vec::new()),
            it if it.is_integer() => Values::Integers(Vec::new()),
            DataType::Decimal { precision, .. } if precision <= WORD_DIGITS => {
                Values::Decimals(Vec::new())
            }
            DataType::Decimal { .. } => Values::Wide(Vec::new()),
            DataType::Real => Values::Singles(Vec::new()),
            DataType::Double => Values::Doubles(Vec::new()),
            DataType::Date => Values::Days(Vec::new()),
            DataType::Timestamp => Values::Moments(Vec::new()),
            it if it.is_text() || it == DataType::Null => {
                Values::Texts { offsets: vec![0], data: Vec::new() }
            }
            other => {
                let message = format!("a column of type {other} is not read from text");
                return Err(SqlError::unsupported(message));
            }
        };
        Ok(Self {
            data_type,
            zone: zone.clone(),
            values,
            nulls: NullBufferBuilder::new(0),
            rows: 0,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the value that a text spells, as its type reads it. After an error nothing was added.
    pub(crate) fn push(&mut self, text: &str) -> SqlResult<()> {
        let data_type = self.data_type;
        if data_type.stored() != data_type {
            let value = Value::Text(text.into());
            let held = match data_type {
                // Bits, and texts in arrays, must fit.
                DataType::Bits(_)
                | DataType::Array(Element::Varchar(_) | Element::Char(_) | Element::Bits(_)) => {
                    numeric::assign(&value, DataType::Null, data_type, "")?
                }
                _ if types::structs::is_nested(data_type) => {
                    let roomy = types::structs::unlimited(data_type)?;
                    let read = numeric::cast_in(&value, DataType::Text, roomy, &self.zone)?;
                    numeric::assign(&read, roomy, data_type, "")?
                }
                _ => numeric::cast_in(&value, DataType::Text, data_type, &self.zone)?,
            };
            return self.push_held(&held);
        }
        match &mut self.values {
            Values::Booleans(it) => it.push(numeric::spelling::boolean(text)?),
            Values::Integers(it) | Values::Decimals(it) => {
                let value = spelling::exact(text, data_type)?;
                it.push(
                    i64::try_from(value).map_err(|_| numeric::errors::out_of_range(data_type))?,
                );
            }
            Values::Wide(it) => it.push(spelling::exact(text, data_type)?),
            Values::Singles(it) => it.push(spelling::float(text, data_type)? as f32),
            Values::Doubles(it) => it.push(spelling::float(text, data_type)?),
            Values::Days(it) => {
                let days = i32::try_from(spelling::date(text, self.zone.styles().order)?);
                it.push(days.map_err(|_| numeric::errors::out_of_range(data_type))?);
            }
            Values::Moments(it) => it.push(spelling::timestamp(text, self.zone.styles().order)?),
            Values::Texts { offsets, data } => {
                let text = match data_type {
                    DataType::Char(_) | DataType::Varchar(_) => numeric::fitting(text, data_type)?,
                    _ => text,
                };
                push_text(offsets, data, text)?;
            }
        }
        self.nulls.append_non_null();
        self.rows += 1;
        Ok(())
    }

    /// Adds a value of a type that is stored as another.
    pub(crate) fn push_held(&mut self, held: &Value) -> SqlResult<()> {
        match (&mut self.values, held) {
            (Values::Integers(it), Value::Integer(value))
            | (Values::Moments(it), Value::Timestamp(value)) => it.push(*value),
            (Values::Wide(it), Value::Decimal { unscaled, .. }) => it.push(*unscaled),
            (Values::Texts { offsets, data }, Value::Text(text)) => {
                push_text(offsets, data, text)?;
            }
            _ => {
                let message = format!("{held} is no value of type {}", self.data_type);
                return Err(SqlError::internal(message));
            }
        }
        self.nulls.append_non_null();
        self.rows += 1;
        Ok(())
    }

    /// Adds NULL.
    pub(crate) fn push_null(&mut self) {
        match &mut self.values {
            Values::Booleans(it) => it.push(false),
            Values::Integers(it) | Values::Decimals(it) | Values::Moments(it) => it.push(0),
            Values::Wide(it) => it.push(0),
            Values::Singles(it) => it.push(0.0),
            Values::Doubles(it) => it.push(0.0),
            Values::Days(it) => it.push(0),
            Values::Texts { offsets, data } => offsets.push(data.len() as i32),
        }
        self.nulls.append_null();
        self.rows += 1;
    }

    /// Takes rows away from the end.
    pub(crate) fn truncate(&mut self, rows: usize) {
        match &mut self.values {
            Values::Booleans(it) => it.truncate(rows),
            Values::Integers(it) | Values::Decimals(it) | Values::Moments(it) => it.truncate(rows),
            Values::Wide(it) => it.truncate(rows),
            Values::Singles(it) => it.truncate(rows),
            Values::Doubles(it) => it.truncate(rows),
            Values::Days(it) => it.truncate(rows),
            Values::Texts { offsets, data } => {
                offsets.truncate(rows + 1);
                data.truncate(offsets.last().map_or(0, |it| *it as usize));
            }
        }
        self.nulls.truncate(rows);
        self.rows = rows;
    }

    /// All values as an array that a column of the type takes as it is.
    pub(crate) fn finish(mut self) -> SqlResult<ArrayRef> {
        let nulls = self.nulls.finish();
        let malformed = |error: arrow_schema::ArrowError| {
            SqlError::internal(format!("a column of a file is malformed: {error}"))
        };
        Ok(match self.values {
            Values::Booleans(it) => Arc::new(BooleanArray::new(it.into(), nulls)),
            Values::Integers(it) => Arc::new(PrimitiveArray::<Int64Type>::new(it.into(), nulls)),
            Values::Moments(it) => {
                Arc::new(PrimitiveArray::<TimestampMicrosecondType>::new(it.into(), nulls))
            }
            Values::Decimals(it) => {
                let scale = self.data_type.scale() as i8;
                let array = PrimitiveArray::<Decimal64Type>::new(it.into(), nulls);
                Arc::new(array.with_precision_and_scale(WORD_DIGITS, scale).map_err(malformed)?)
            }
            Values::Wide(it) => {
                let scale = self.data_type.scale() as i8;
                let array = Decimal128Array::new(it.into(), nulls);
                Arc::new(array.with_precision_and_scale(38, scale).map_err(malformed)?)
            }
            Values::Singles(it) => Arc::new(Float32Array::new(it.into(), nulls)),
            Values::Doubles(it) => Arc::new(Float64Array::new(it.into(), nulls)),
            Values::Days(it) => Arc::new(PrimitiveArray::<Date32Type>::new(it.into(), nulls)),
            Values::Texts { offsets, data } => texts(offsets, data, nulls).map_err(malformed)?,
        })
    }
}

fn push_text(offsets: &mut Vec<i32>, data: &mut Vec<u8>, text: &str) -> SqlResult<()> {
    let end = i32::try_from(data.len() + text.len()).map_err(|_| {
        let message = "the texts of a block of a file are over 2 GiB";
        SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
    })?;
    data.extend_from_slice(text.as_bytes());
    offsets.push(end);
    Ok(())
}

/// A column that has the value which a text spells in all rows, or NULL.
///
/// # Errors
/// Those of a cast from text.
pub fn constant(text: Option<&str>, data_type: DataType, rows: usize) -> SqlResult<ArrayRef> {
    // Values that a file's name tells name no time.
    let mut column = Column::new(data_type, &Zone::utc())?;
    for _ in 0..rows {
        match text {
            Some(text) => column.push(text)?,
            None => column.push_null(),
        }
    }
    column.finish()
}

/// Texts as they are, or each once where they repeat.
fn texts(
    offsets: Vec<i32>,
    data: Vec<u8>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, arrow_schema::ArrowError> {
    let array = |offsets: Vec<i32>, data: Vec<u8>, nulls| {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        StringArray::try_new(offsets, Buffer::from_vec(data), nulls)
    };
    let Some(found) = repeats(&offsets, &data) else {
        return Ok(Arc::new(array(offsets, data, nulls)?));
    };
    let (mut ends, mut bytes) = (vec![0], Vec::new());
    for row in found.firsts {
        let row = row as usize;
        bytes.extend_from_slice(&data[offsets[row] as usize..offsets[row + 1] as usize]);
        ends.push(bytes.len() as i32);
    }
    let keys = Int32Array::new(found.codes.into(), nulls);
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(array(ends, bytes, None)?))?))
}
