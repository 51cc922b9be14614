//! Rows as messages: values in text or in binary, from Arrow arrays.
//!
//! - Invariant: a row is put whole, or not at all.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_schema::DataType;
use bytes::{BufMut, BytesMut};
use nodewise::DataType as SqlType;
use nodewise::text::Cells;

use crate::binary_values::{Binary, PutText, fill_length, put_bytes, put_of, put_printed};
use crate::compound_values::{Sent, is_row};
use crate::replies::Format;

/// The columns of a batch, ready to be written row by row.
pub struct RowWriter<'a> {
    columns: Vec<Column<'a>>,
    text: String,
}

enum Column<'a> {
    Text(&'a StringArray),
    /// Truths are `t` and `f` here, and words elsewhere.
    Truth(&'a BooleanArray),
    Printed(Cells<'a>),
    Binary(&'a ArrayRef, Binary<'a>),
    /// Arrays and rows in binary.
    Sent(Sent),
    /// In binary what is at hand as texts.
    Written(&'a StringArray, PutText),
}

impl<'a> RowWriter<'a> {
    /// For the rows of a batch.
    pub fn new(
        batch: &'a RecordBatch,
        types: &[SqlType],
        format: impl Fn(usize) -> Format,
    ) -> Self {
        let each = batch.columns().iter().enumerate();
        let compound = |it: usize| {
            let of = types.get(it).filter(|it| it.element().is_some() || is_row(**it));
            of.copied()
                .filter(|it| is_row(it.element().unwrap_or(*it)) || !types::structs::is_nested(*it))
        };
        let columns = each.map(|(index, array)| match (format(index), array.data_type()) {
            (Format::Binary, DataType::Utf8) if let Some(of) = compound(index) => {
                Sent::of_texts(array.as_string().clone(), of).map_or_else(
                    // What no array or row is read from is sent as it is.
                    || Column::Text(array.as_string()),
                    Column::Sent,
                )
            }
            (Format::Binary, DataType::Utf8)
                if let Some(put) = types.get(index).and_then(|it| put_of(*it)) =>
            {
                Column::Written(array.as_string(), put)
            }
            (_, DataType::Utf8) => Column::Text(array.as_string()),
            (Format::Text, DataType::Boolean) => Column::Truth(array.as_boolean()),
            (Format::Text, _) => Column::Printed(Cells::new(array)),
            (Format::Binary, _) => {
                Column::Binary(array, Binary::new(array, types.get(index).copied()))
            }
        });
        Self { columns: columns.collect(), text: String::new() }
    }

    /// Appends a row as a message.
    pub fn put_message(&mut self, row: usize, out: &mut BytesMut) {
        let start = out.len();
        out.put_u8(b'D');
        out.put_i32(0);
        out.put_i16(self.columns.len() as i16);
        self.put_values(row, out);
        fill_length(start + 1, 0, out);
    }

    /// Appends the values of a row, each behind its length.
    pub fn put_values(&mut self, row: usize, out: &mut BytesMut) {
        for column in &self.columns {
            column.put(row, &mut self.text, out);
        }
    }
}

impl Column<'_> {
    fn put(&self, row: usize, text: &mut String, out: &mut BytesMut) {
        match self {
            Self::Text(it) if it.is_null(row) => out.put_i32(-1),
            Self::Text(it) => put_bytes(it.value(row).as_bytes(), out),
            Self::Truth(it) if it.is_null(row) => out.put_i32(-1),
            Self::Truth(it) => put_bytes(if it.value(row) { b"t" } else { b"f" }, out),
            Self::Printed(cells) => put_printed(cells, row, text, out),
            Self::Binary(array, _) if array.is_null(row) => out.put_i32(-1),
            Self::Binary(_, it) => it.put(row, text, out),
            Self::Sent(it) => it.put(row, text, out),
            Self::Written(it, _) if it.is_null(row) => out.put_i32(-1),
            Self::Written(it, put) => put.put(it.value(row), out),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Date32Array, Decimal128Array, Int64Array, TimestampMicrosecondArray};
    use stdx::sync::Arc;

    use super::*;
    use crate::binary_values::{EPOCH_DAYS, EPOCH_MICROS};

    #[test]
    fn rows_are_messages_in_both_formats() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(258), None]));
        let days: ArrayRef = Arc::new(Date32Array::from(vec![EPOCH_DAYS + 1, 0]));
        let times: ArrayRef =
            Arc::new(TimestampMicrosecondArray::from(vec![EPOCH_MICROS + 5, EPOCH_MICROS]));
        let truths: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
        let prices = Decimal128Array::from(vec![150, 5]).with_precision_and_scale(5, 2).unwrap();
        let columns = [
            ("n", numbers),
            ("d", days),
            ("t", times),
            ("b", truths),
            ("p", Arc::new(prices) as _),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut out = BytesMut::new();
        RowWriter::new(&batch, &[], |_| Format::Text).put_message(0, &mut out);
        let expected = b"D\0\0\0\x46\0\x05\0\0\0\x03258\0\0\0\x0a2000-01-02\0\0\0\x1a2000-01-01 00:00:00.000005\
            \0\0\0\x01t\0\0\0\x041.50";
        assert_eq!(out[..], expected[..]);
        out.clear();
        RowWriter::new(&batch, &[], |_| Format::Binary).put_message(1, &mut out);
        let mut expected = b"D\0\0\0\x3b\0\x05\xff\xff\xff\xff\0\0\0\x04".to_vec();
        expected.extend((-EPOCH_DAYS).to_be_bytes());
        expected.extend(
            b"\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\x0a\0\x01\xff\xff\0\0\0\x02\x01\xf4",
        );
        let length = expected.len() as i32 - 1;
        expected[1..5].copy_from_slice(&length.to_be_bytes());
        assert_eq!(out[..], expected[..]);
    }

    #[test]
    fn jsonb_has_a_version_in_binary() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("[1]"), None]));
        let batch = RecordBatch::try_from_iter([("j", texts)]).unwrap();
        let sent = |row, of, format| {
            let mut out = BytesMut::new();
            RowWriter::new(&batch, &[of], |_| format).put_values(row, &mut out);
            out.to_vec()
        };
        assert_eq!(sent(0, SqlType::Jsonb, Format::Binary), b"\0\0\0\x04\x01[1]");
        assert_eq!(sent(1, SqlType::Jsonb, Format::Binary), b"\xff\xff\xff\xff");
        assert_eq!(sent(0, SqlType::Jsonb, Format::Text), b"\0\0\0\x03[1]");
        assert_eq!(sent(0, SqlType::Json, Format::Binary), b"\0\0\0\x03[1]");
    }
}
