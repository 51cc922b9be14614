//! Rows as the bytes of messages: what workers make of a batch.

use arrow_array::RecordBatch;
use bytes::{BufMut, BytesMut};
use nodewise::{CopyFormat, DataType, SqlError, in_style};
use stdx::sync::Arc;
use types::{Charset, Zone};

use crate::binary_values::fill_length;
use crate::replies::Format;
use crate::transcoded;
use crate::values::RowWriter;

/// How rows are written.
#[derive(Clone, Debug)]
pub enum Encoding {
    /// As rows of a query, each column in a format of its own, in text behind those that are said; with their types, and the zone of a
    /// session that writes times in a style of its own.
    Rows(Vec<Format>, Vec<DataType>, Option<Zone>),
    /// As data of COPY, of columns of such types; the same.
    Copy(Arc<CopyFormat>, Vec<DataType>, Option<Zone>),
}

/// The messages of the rows of a batch.
pub struct Encoded {
    bytes: BytesMut,
    /// Where each message ends.
    ends: Vec<usize>,
    /// Why they cannot be sent: a letter that the client's character set has not.
    failed: Option<SqlError>,
}

impl Encoding {
    /// A batch with the texts of the session, where these are others than usual.
    fn styled(&self, batch: &RecordBatch) -> Option<RecordBatch> {
        let styled = match self {
            Self::Rows(formats, types, zone) => {
                let is_text = |it| formats.get(it).copied().unwrap_or(Format::Text) == Format::Text;
                in_style(batch, types, zone.as_ref()?, is_text)
            }
            Self::Copy(format, types, zone) => {
                let is_text = matches!(**format, CopyFormat::Lines(_));
                in_style(batch, types, zone.as_ref()?, |_| is_text)
            }
        };
        // It only fails where columns do not fit their schema.
        styled.ok()
    }

    /// Writes the rows of a batch, a message each, for a client of a character set.
    pub fn encode(&self, batch: &RecordBatch, charset: Charset) -> Encoded {
        let encoded = self.encode_held(batch);
        if charset.is_held() || encoded.bytes.is_ascii() {
            return encoded;
        }
        let written = (&encoded.bytes[..], &encoded.ends[..]);
        let anew = match self {
            Self::Rows(formats, types, _) => transcoded::rows(written, (formats, types), charset),
            Self::Copy(format, types, _) => transcoded::copied(written, (format, types), charset),
        };
        match anew {
            Ok((bytes, ends)) => Encoded { bytes, ends, failed: None },
            Err(error) => Encoded { failed: Some(error), ..encoded },
        }
    }

    fn encode_held(&self, batch: &RecordBatch) -> Encoded {
        let styled = self.styled(batch);
        let batch = styled.as_ref().unwrap_or(batch);
        let (rows, mut bytes) = (batch.num_rows(), BytesMut::new());
        let mut ends = Vec::with_capacity(rows);
        let mut each = |bytes: &mut BytesMut, row: &mut dyn FnMut(usize, &mut BytesMut)| {
            for place in 0..rows {
                row(place, bytes);
                ends.push(bytes.len());
            }
        };
        match self {
            Self::Rows(formats, types, _) => {
                let format = |it: usize| formats.get(it).copied().unwrap_or(Format::Text);
                let mut writer = RowWriter::new(batch, types, format);
                each(&mut bytes, &mut |row, bytes| writer.put_message(row, bytes));
            }
            Self::Copy(format, types, _) => match &**format {
                CopyFormat::Lines(style) => {
                    let (mut writer, mut line) = (style.lines(batch), String::new());
                    each(&mut bytes, &mut |row, bytes| {
                        line.clear();
                        writer.push(row, &mut line);
                        put_copy_data(line.as_bytes(), bytes);
                    });
                }
                // No other is sent.
                CopyFormat::Binary
                | CopyFormat::Parquet(_)
                | CopyFormat::Arrow { .. }
                | CopyFormat::Json { .. } => {
                    let mut writer = RowWriter::new(batch, types, |_| Format::Binary);
                    let columns = batch.num_columns() as i16;
                    each(&mut bytes, &mut |row, bytes| {
                        let start = bytes.len();
                        bytes.put_u8(b'd');
                        bytes.put_i32(0);
                        bytes.put_i16(columns);
                        writer.put_values(row, bytes);
                        fill_length(start + 1, 0, bytes);
                    });
                }
            },
        }
        Encoded { bytes, ends, failed: None }
    }
}

/// Appends data of COPY as a message.
pub fn put_copy_data(data: &[u8], out: &mut BytesMut) {
    out.put_u8(b'd');
    out.put_i32(data.len() as i32 + 4);
    out.put_slice(data);
}

impl Encoded {
    /// Why they cannot be sent.
    pub fn failed(&self) -> Option<&SqlError> {
        self.failed.as_ref()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// The messages of some rows.
    pub fn of_rows(&self, from: usize, to: usize) -> &[u8] {
        let end_of = |count: usize| count.checked_sub(1).map_or(0, |it| self.ends[it]);
        &self.bytes[end_of(from)..end_of(to)]
    }

    /// The first row from `from` on whose message ends behind so many bytes; all rows where none does.
    pub fn fitting(&self, from: usize, bytes: usize) -> usize {
        let start = from.checked_sub(1).map_or(0, |it| self.ends[it]);
        let end = self.ends.partition_point(|it| *it < start.saturating_add(bytes));
        (end + 1).clamp(from, self.rows())
    }
}
