//! Arrays and rows in binary, and what is in them.
//!
//! An array is as `array_send` has it: dimensions, whether there are NULLs, the type of the items, of each dimension its length and lower
//! bound, and the items, each behind its length. A row is as `record_send` has it: how many fields, and of each its type and its value
//! behind its length. Both are at hand as texts, and so are their items and fields.
//!
//! - Invariant: what is sent is what the text says; a text that is none of its type makes the whole column texts.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use bytes::{BufMut, BytesMut};
use nodewise::DataType;
use nodewise::pg_types::wire_type;
use types::array::Dimension;
use types::structs::{StructType, is_nested};

use crate::binary_values::{Binary, PutText, fill_length, put_bytes, put_of};

/// A column of values in binary.
pub enum Sent {
    /// Of types whose binary form is their text.
    Texts(StringArray),
    /// Of others that are at hand as texts.
    Written(StringArray, PutText),
    Arrays(ArrayColumn),
    Records(RecordColumn),
    Others(ArrayRef, DataType),
}

impl Sent {
    /// Of texts of a type; `None` where they are none of it.
    pub fn of_texts(texts: StringArray, of: DataType) -> Option<Self> {
        Some(match of {
            DataType::Struct(row) if row.is_record() => {
                Self::Records(RecordColumn::new(&texts, row)?)
            }
            _ if let Some(put) = put_of(of) => Self::Written(texts, put),
            _ => match of.element() {
                Some(element) if !is_nested(of) || is_row(element) => {
                    Self::Arrays(ArrayColumn::new(&texts, element)?)
                }
                _ if of.is_text()
                    || is_nested(of)
                    || matches!(of, DataType::Json | DataType::Enum(_)) =>
                {
                    Self::Texts(texts)
                }
                _ => Self::Others(read(&texts, of)?, of),
            },
        })
    }

    /// Whether the value of a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Texts(it) | Self::Written(it, _) => it.is_null(row),
            Self::Arrays(it) => it.is_null(row),
            Self::Records(it) => it.nulls[row],
            Self::Others(it, _) => it.is_null(row),
        }
    }

    /// Appends the value of a row behind its length.
    pub fn put(&self, row: usize, text: &mut String, out: &mut BytesMut) {
        match self {
            _ if self.is_null(row) => out.put_i32(-1),
            Self::Texts(it) => put_bytes(it.value(row).as_bytes(), out),
            Self::Written(it, put) => put.put(it.value(row), out),
            Self::Arrays(it) => it.put(row, text, out),
            Self::Records(it) => it.put(row, text, out),
            Self::Others(it, of) => Binary::new(it, Some(*of)).put(row, text, out),
        }
    }
}

/// Whether a type is that of rows.
pub fn is_row(of: DataType) -> bool {
    matches!(of, DataType::Struct(it) if it.is_record())
}

/// Texts as values of a type, read as the items of one array.
fn read(texts: &StringArray, of: DataType) -> Option<ArrayRef> {
    let mut list = String::from("{");
    for (number, text) in texts.iter().enumerate() {
        list.push_str(if number > 0 { "," } else { "" });
        let Some(text) = text else {
            list.push_str("NULL");
            continue;
        };
        list.push('"');
        for it in text.chars() {
            if matches!(it, '"' | '\\') {
                list.push('\\');
            }
            list.push(it);
        }
        list.push('"');
    }
    list.push('}');
    let (_, items) = nodewise::lists::items_of(&StringArray::from(vec![list]), of).ok()?;
    (items.len() == texts.len()).then_some(items)
}

/// A column of arrays.
pub struct ArrayColumn {
    /// The dimensions of each; `None` of NULL.
    shapes: Vec<Option<Vec<Dimension>>>,
    /// The first item of each, and the end of all.
    starts: Vec<usize>,
    items: Box<Sent>,
    element: u32,
}

impl ArrayColumn {
    /// Of the texts of arrays; `None` where they are none.
    pub fn new(texts: &StringArray, element: DataType) -> Option<Self> {
        let rows = is_row(element);
        // Rows are read from the texts that they are as items, and labels go out as texts.
        let is_enum = matches!(element, DataType::Enum(_));
        let read_as = if rows || is_enum { DataType::Text } else { element };
        let (shapes, items) = nodewise::lists::items_of(texts, read_as).ok()?;
        let items = match element {
            _ if let Some(put) = put_of(element) => {
                Sent::Written(items.as_string_opt()?.clone(), put)
            }
            _ if rows => Sent::of_texts(items.as_string_opt()?.clone(), element)?,
            _ => Sent::Others(items, element),
        };
        let mut starts = vec![0];
        for shape in &shapes {
            let lengths = shape.iter().flatten().map(|it| it.length as usize);
            let none = shape.as_ref().is_none_or(Vec::is_empty);
            let count: usize = if none { 0 } else { lengths.product() };
            starts.push(starts[starts.len() - 1] + count);
        }
        Some(Self { shapes, starts, items: Box::new(items), element: wire_type(element).oid })
    }

    /// Whether that of a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        self.shapes[row].is_none()
    }

    /// Appends the array of a row behind its length.
    pub fn put(&self, row: usize, text: &mut String, out: &mut BytesMut) {
        let Some(shape) = &self.shapes[row] else { return out.put_i32(-1) };
        let items = self.starts[row]..self.starts[row + 1];
        let place = out.len();
        out.put_i32(0);
        out.put_i32(shape.len() as i32);
        out.put_i32(items.clone().any(|it| self.items.is_null(it)).into());
        out.put_u32(self.element);
        for it in shape {
            out.put_i32(it.length);
            out.put_i32(it.lower);
        }
        for item in items {
            self.items.put(item, text, out);
        }
        fill_length(place, 4, out);
    }
}

/// A column of rows.
pub struct RecordColumn {
    nulls: Vec<bool>,
    fields: Vec<(u32, Sent)>,
}

impl RecordColumn {
    /// Of the texts of rows, as they are written; `None` where they are none.
    pub fn new(texts: &StringArray, of: StructType) -> Option<Self> {
        let mut columns: Vec<Vec<Option<String>>> = vec![Vec::new(); of.fields().len()];
        for text in texts {
            let mut values = match text {
                Some("()") if columns.is_empty() => Vec::new(),
                Some(text) => fields_of(text)?,
                None => vec![None; columns.len()],
            };
            if values.len() != columns.len() {
                return None;
            }
            columns.iter_mut().zip(values.drain(..)).for_each(|(column, it)| column.push(it));
        }
        let field = |(texts, of): (Vec<Option<String>>, DataType)| {
            let sent = Sent::of_texts(StringArray::from(texts), of)?;
            Some((wire_type(of).oid, sent))
        };
        let types = of.fields().iter().map(|it| it.data_type);
        let fields = columns.into_iter().zip(types).map(field).collect::<Option<_>>()?;
        Some(Self { nulls: (0..texts.len()).map(|it| texts.is_null(it)).collect(), fields })
    }

    fn put(&self, row: usize, text: &mut String, out: &mut BytesMut) {
        let place = out.len();
        out.put_i32(0);
        out.put_i32(self.fields.len() as i32);
        for (oid, values) in &self.fields {
            out.put_u32(*oid);
            values.put(row, text, out);
        }
        fill_length(place, 4, out);
    }
}

/// The fields of a row as it is written: `(1,"a ""b""",)`, where nothing at all is NULL.
fn fields_of(text: &str) -> Option<Vec<Option<String>>> {
    let mut rest = text.strip_prefix('(')?.strip_suffix(')')?.chars().peekable();
    let mut fields = Vec::new();
    loop {
        let mut field = None;
        loop {
            match rest.next() {
                None => {
                    fields.push(field);
                    return Some(fields);
                }
                Some(',') => break,
                Some('"') => {
                    let field = field.get_or_insert_with(String::new);
                    loop {
                        match rest.next()? {
                            '"' if rest.peek() != Some(&'"') => break,
                            '"' => field.push(rest.next()?),
                            '\\' => field.push(rest.next()?),
                            it => field.push(it),
                        }
                    }
                }
                Some('\\') => field.get_or_insert_with(String::new).push(rest.next()?),
                Some(it) => field.get_or_insert_with(String::new).push(it),
            }
        }
        fields.push(field);
    }
}

#[cfg(test)]
mod tests {
    use types::structs::Field;

    use super::*;

    fn row(fields: &[DataType]) -> StructType {
        StructType::new(fields.iter().map(|it| Field::new("", *it)).collect()).unwrap()
    }

    #[test]
    fn rows_are_cut_into_fields() {
        let cut = |it: &str| fields_of(it).map(|it| it.into_iter().collect::<Vec<_>>());
        let some = |it: &str| Some(it.to_owned());
        assert_eq!(cut("(1,\"a \"\"b\"\"\",)"), Some(vec![some("1"), some("a \"b\""), None]));
        assert_eq!(cut("(\"\",null)"), Some(vec![some(""), some("null")]));
        assert_eq!(cut("()"), Some(vec![None]));
        assert_eq!(
            cut("(\"(1,\"\"\\\\\\\\x\"\")\",t)"),
            Some(vec![some("(1,\"\\\\x\")"), some("t")])
        );
        for wrong in ["", "(", "1,2", "(\"a)", "(\\)"] {
            assert_eq!(cut(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rows_are_as_record_send_has_them() {
        let of = row(&[DataType::Integer, DataType::Text, DataType::Boolean]);
        let texts = StringArray::from(vec![Some("(7,null,t)"), None, Some("(,,)")]);
        let column = Sent::of_texts(texts, DataType::Struct(of)).unwrap();
        let sent = |row| {
            let mut out = BytesMut::new();
            column.put(row, &mut String::new(), &mut out);
            out.to_vec()
        };
        // By SELECT record_send(..) of PostgreSQL 18, behind its length.
        let words = |it: &[i32]| it.iter().flat_map(|it| it.to_be_bytes()).collect::<Vec<u8>>();
        let mut expected = words(&[37, 3, 23, 4, 7, 25, 4]);
        expected.extend(b"null");
        expected.extend(words(&[16, 1]));
        expected.push(1);
        assert_eq!(sent(0), expected);
        assert_eq!(sent(1), words(&[-1]));
        assert_eq!(sent(2), words(&[28, 3, 23, -1, 25, -1, 16, -1]));
    }

    #[test]
    fn arrays_are_as_array_send_has_them() {
        let texts = StringArray::from(vec![Some("{1,NULL}"), None, Some("{}"), Some("[0:0]={7}")]);
        let column = ArrayColumn::new(&texts, DataType::SmallInt).unwrap();
        let sent = |row| {
            let mut out = BytesMut::new();
            column.put(row, &mut String::new(), &mut out);
            out.to_vec()
        };
        // By SELECT array_send(..) of PostgreSQL 18, behind its length.
        let words = |it: &[i32]| it.iter().flat_map(|it| it.to_be_bytes()).collect::<Vec<u8>>();
        let mut expected = words(&[34 - 4, 1, 1, 21, 2, 1, 2]);
        expected.extend([0, 1]);
        expected.extend(words(&[-1]));
        assert_eq!(sent(0), expected);
        assert_eq!(sent(1), words(&[-1]));
        assert_eq!(sent(2), words(&[12, 0, 0, 21]));
        let mut expected = words(&[26, 1, 0, 21, 1, 0, 2]);
        expected.extend([0, 7]);
        assert_eq!(sent(3), expected);
    }
}
