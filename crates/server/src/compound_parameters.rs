//! Arrays, rows and ranges in binary, as clients send them: what `array_recv`, `record_recv` and `range_recv` read (see [`crate::compound_values`]).
//!
//! - Invariant: no bytes make reading panic, and none take memory before they are there.

use nodewise::pg_types::{BPCHAR, TEXT, VARCHAR, wire_type};
use nodewise::{DataType, SqlError, SqlResult, SqlState, Value};
use types::array::{self, Dimension};
use types::numeric;
use types::structs::{self, StructType};
use types::{Charset, Element, ranges};

use crate::parameters::{binary, incorrect};

/// Numbers of types below are the same everywhere; from here on each database gives its own.
const FIRST_OF_DATABASE: u32 = 10_000;

/// The types of texts that fields may have.
const TEXTS: [u32; 3] = [TEXT, BPCHAR, VARCHAR];

/// An array, a row or a range as it is written in SQL; `None` of any other type.
///
/// # Errors
/// 22P03 for bytes that are none of the type, 42804 for a row of other columns, and those of values.
pub fn written(bytes: &[u8], of: DataType, charset: Charset) -> SqlResult<Option<Value>> {
    let held = match of {
        // Labels come as texts.
        DataType::Array(Element::Enum(_)) => {
            let texts = DataType::Array(Element::Text);
            return written(bytes, texts, charset);
        }
        DataType::Array(it) if is_sent_as_array(it.data_type()) => {
            // A cast, or the column that it is stored in, has a limit of length; a parameter has none.
            let cut = it.data_type().is_cut_text();
            array(bytes, if cut { DataType::Text } else { it.data_type() }, charset)?
        }
        DataType::Struct(it) if it.is_record() => row(bytes, it, charset)?,
        DataType::Range(_) | DataType::Multirange(_) => range(bytes, of, charset)?,
        _ => return Ok(None),
    };
    numeric::cast(&Value::Text(held.into()), of, DataType::Text).map(Some)
}

/// Whether clients know arrays of a type. Structs and maps, and lists of lists, go as texts.
fn is_sent_as_array(element: DataType) -> bool {
    match element {
        DataType::Struct(it) => it.is_record(),
        DataType::Map(_) | DataType::Array(_) => false,
        _ => true,
    }
}

/// A value as rows and arrays hold it.
fn held(bytes: &[u8], of: DataType, charset: Charset) -> SqlResult<Value> {
    match of {
        DataType::Array(it) if is_sent_as_array(it.data_type()) => {
            array(bytes, it.data_type(), charset).map(|it| Value::Text(it.into()))
        }
        DataType::Struct(it) if it.is_record() => {
            row(bytes, it, charset).map(|it| Value::Text(it.into()))
        }
        DataType::Range(_) | DataType::Multirange(_) => {
            range(bytes, of, charset).map(|it| Value::Text(it.into()))
        }
        DataType::Enum(_) => held_as(binary(bytes, TEXT, charset)?, of),
        _ => held_as(binary(bytes, wire_type(of).oid, charset)?, of),
    }
}

/// A value that has come as a type that it is held in: what came as a text is read, and must not be too long; a number has the
/// digits of its type.
fn held_as(value: Value, of: DataType) -> SqlResult<Value> {
    match value {
        Value::Text(_) => numeric::assign(&value, DataType::Null, of, ""),
        Value::Decimal { scale, .. } => {
            numeric::cast(&value, DataType::Decimal { precision: 38, scale }, of)
        }
        Value::Integer(_) => numeric::cast(&value, of.plain(), of),
        _ => Ok(value),
    }
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn number(&mut self) -> SqlResult<i32> {
        let (first, rest) = self.0.split_first_chunk::<4>().ok_or_else(incorrect)?;
        self.0 = rest;
        Ok(i32::from_be_bytes(*first))
    }

    /// What stands behind its length; `None` of NULL, which has none.
    fn value(&mut self) -> SqlResult<Option<&'a [u8]>> {
        let length = self.number()?;
        if length == -1 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| incorrect())?;
        let (value, rest) = self.0.split_at_checked(length).ok_or_else(incorrect)?;
        self.0 = rest;
        Ok(Some(value))
    }

    fn end(&self) -> SqlResult<()> {
        if self.0.is_empty() { Ok(()) } else { Err(incorrect()) }
    }
}

/// An array as it is held: dimensions, whether there are NULLs, the type of the items, of each dimension its length and lower bound, and
/// the items, each behind its length.
fn array(bytes: &[u8], element: DataType, charset: Charset) -> SqlResult<String> {
    let mut bytes = Bytes(bytes);
    let (dimensions, _, _) = (bytes.number()?, bytes.number()?, bytes.number()?);
    if !(0..=array::DIMENSIONS_MAX as i32).contains(&dimensions) {
        return Err(incorrect());
    }
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        let (length, lower) = (bytes.number()?, bytes.number()?);
        shape.push(Dimension { length, lower });
    }
    let lengths = shape.iter().map(|it| usize::try_from(it.length).unwrap_or(0));
    let count = if shape.is_empty() { 0 } else { lengths.fold(1usize, usize::saturating_mul) };
    let mut out = String::new();
    for _ in 0..count {
        let item = bytes.value()?.map(|it| held(it, element, charset));
        array::push_value(&mut out, &item.transpose()?.unwrap_or(Value::Null));
    }
    bytes.end()?;
    array::close(&mut out, 0, &shape)?;
    Ok(out)
}

/// A range or a set of ranges as it is held.
fn range(bytes: &[u8], of: DataType, charset: Charset) -> SqlResult<String> {
    let read = match of {
        DataType::Range(it) => {
            ranges::of_sent(bytes, it, &mut |bound| held(bound, it.bound(), charset))?
        }
        DataType::Multirange(it) => {
            ranges::of_set_sent(bytes, it, &mut |bound| held(bound, it.bound(), charset))?
        }
        _ => None,
    };
    read.ok_or_else(incorrect)
}

/// A row as it is held: how many fields, and of each the number of its type and its value behind its length.
fn row(bytes: &[u8], of: StructType, charset: Charset) -> SqlResult<String> {
    let mut bytes = Bytes(bytes);
    let (count, expected) = (bytes.number()?, of.fields().len());
    if usize::try_from(count) != Ok(expected) {
        return Err(mismatch(format!("wrong number of columns: {count}, expected {expected}")));
    }
    let mut values = Vec::with_capacity(expected);
    for (place, field) in (1..).zip(of.fields()) {
        let (sent, own) = (bytes.number()?.cast_unsigned(), wire_type(field.data_type).oid);
        // A parameter that goes to a column is known without the length of its texts, and so as TEXT.
        let are_texts = field.data_type.is_text() && TEXTS.contains(&sent);
        if sent != own && !are_texts && sent.max(own) < FIRST_OF_DATABASE {
            return Err(mismatch(format!(
                "binary data has type {sent} instead of expected {own} in record column {place}"
            )));
        }
        let value = bytes.value()?.map(|it| held(it, field.data_type, charset));
        values.push(value.transpose()?.unwrap_or(Value::Null));
    }
    bytes.end()?;
    Ok(structs::held(values))
}

fn mismatch(message: String) -> SqlError {
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}

#[cfg(test)]
mod tests {
    use types::structs::Field;

    use super::*;

    fn words(all: &[i32]) -> Vec<u8> {
        all.iter().flat_map(|it| it.to_be_bytes()).collect()
    }

    fn text(bytes: &[u8], of: DataType) -> Result<String, &'static str> {
        match written(bytes, of, Charset::UTF8) {
            Ok(Some(Value::Text(it))) => Ok(it.to_string()),
            Ok(_) => Ok(String::new()),
            Err(error) => Err(error.state.0),
        }
    }

    #[test]
    fn rows_are_read_as_record_send_writes_them() {
        let fields =
            vec![Field::new("street", DataType::Text), Field::new("no", DataType::Integer)];
        let of = DataType::Struct(StructType::named("addr", fields).unwrap());
        let mut sent = words(&[2, 25, 4]);
        sent.extend(b"a, b");
        sent.extend(words(&[23, 4, 7]));
        assert_eq!(text(&sent, of).as_deref(), Ok("(\"a, b\",7)"));
        assert_eq!(text(&words(&[2, 25, -1, 23, -1]), of).as_deref(), Ok("(,)"));
        let mut list = words(&[1, 1, 70_000, 2, 1, sent.len() as i32]);
        list.extend(&sent);
        list.extend(words(&[-1]));
        let array = of.array().unwrap();
        assert_eq!(text(&list, array).as_deref(), Ok("{\"(\\\"a, b\\\",7)\",NULL}"));
        for end in 0..sent.len() {
            assert_eq!(text(&sent[..end], of), Err("22P03"), "{end}");
        }
        for end in 0..list.len() {
            assert_eq!(text(&list[..end], array), Err("22P03"), "{end}");
        }
        assert_eq!(text(&words(&[1, 25, -1]), of), Err("42804"));
        assert_eq!(text(&words(&[2, 25, -1, 20, -1]), of), Err("42804"));
        assert_eq!(text(&words(&[2, 25, -1, 23, -1, 0]), of), Err("22P03"));
    }
}
