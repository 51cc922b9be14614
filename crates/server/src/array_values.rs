//! Arrays as `array_send` has them: dimensions, whether there are NULLs, the type of the items, of each dimension its length
//! and lower bound, and the items, each behind its length.

use arrow_array::StringArray;
use arrow_array::cast::AsArray;
use bytes::{BufMut, BytesMut};
use nodewise::DataType;
use nodewise::pg_types::wire_type;
use types::array::Dimension;

use crate::binary_values::fill_length;
use crate::record_values::{Sent, is_row};

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
            DataType::Jsonb => Sent::Jsonb(items.as_string_opt()?.clone()),
            _ if rows => Sent::of_texts(items.as_string_opt()?.clone(), element)?,
            _ => Sent::Others(items),
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

#[cfg(test)]
mod tests {
    use super::*;

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
