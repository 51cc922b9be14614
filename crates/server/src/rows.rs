//! The rows of an answer on their way to the client: as much at a time as a buffer takes.

use std::collections::VecDeque;

use arrow_array::RecordBatch;
use bytes::BytesMut;
use nodewise::Answer;

use crate::replies::Format;
use crate::values::RowWriter;

/// Bytes of rows that are put together before they are handed on.
pub const CHUNK_BYTES: usize = 256 << 10;

/// Rows between two looks at how much there is.
const STRIDE: usize = 64;

/// The rows of an answer that have not been sent, and what became of its statement.
pub struct Rows {
    batches: VecDeque<RecordBatch>,
    /// The first row of the first batch that has not been sent.
    row: usize,
    pub tag: String,
    /// Rows sent since the client asked last.
    sent: usize,
}

/// Where sending has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// All rows are sent.
    All,
    /// As many as were asked for.
    AsAsked,
    /// As many as there is room for now.
    Chunk,
}

impl Rows {
    pub fn new(answer: Answer) -> Self {
        let Answer { tag, batches, .. } = answer;
        Self { batches: batches.into(), row: 0, tag, sent: 0 }
    }

    /// Whether the answer is that of a query, whose rows may be asked for again in vain.
    pub fn is_query(&self) -> bool {
        self.tag.starts_with("SELECT ")
    }

    /// The client asks for rows.
    pub fn begin(&mut self) {
        self.sent = 0;
    }

    /// What became of the statement, in the words of PostgreSQL: of a query, as many rows as were sent since the client asked.
    pub fn tag(&self) -> String {
        if self.is_query() { format!("SELECT {}", self.sent) } else { self.tag.clone() }
    }

    /// Appends rows, at most `most` since the client asked unless that is zero.
    pub fn send(
        &mut self,
        most: usize,
        format: impl Fn(usize) -> Format,
        out: &mut BytesMut,
    ) -> Sent {
        while let Some(batch) = self.batches.front() {
            let mut writer = RowWriter::new(batch, &format);
            while self.row < batch.num_rows() {
                if most > 0 && self.sent >= most {
                    return Sent::AsAsked;
                }
                if self.row.is_multiple_of(STRIDE) && out.len() >= CHUNK_BYTES {
                    return Sent::Chunk;
                }
                writer.put_message(self.row, out);
                self.row += 1;
                self.sent += 1;
            }
            self.batches.pop_front();
            self.row = 0;
        }
        // As PostgreSQL has it: who got as many as were asked for has to ask whether there are more.
        if most > 0 && self.sent >= most { Sent::AsAsked } else { Sent::All }
    }
}
