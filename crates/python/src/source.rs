//! Rows on their way out of a statement: made while they are asked for.

use std::collections::VecDeque;

use arrow_array::RecordBatch;
use nodewise::{Cursor, Session, SqlResult};

/// Bytes of rows that are made at a time.
const FETCH_BYTES: u64 = 4 << 20;

/// Rows that have not been read: made already, or not yet.
pub struct Source {
    cursor: Option<Cursor>,
    made: VecDeque<RecordBatch>,
}

impl Source {
    /// Rows that a cursor will make, after those that are there.
    pub fn new(cursor: Option<Cursor>, made: VecDeque<RecordBatch>) -> Self {
        Self { cursor, made }
    }

    /// The next batch; `None` when all were read.
    pub fn next_batch(&mut self, session: &mut Session) -> SqlResult<Option<RecordBatch>> {
        while self.made.is_empty() && self.cursor.is_some() {
            self.make(session)?;
        }
        Ok(self.made.pop_front())
    }

    /// Makes some more rows.
    fn make(&mut self, session: &mut Session) -> SqlResult<()> {
        let Some(mut cursor) = self.cursor.take() else { return Ok(()) };
        let fetched = session.fetch(&mut cursor, FETCH_BYTES, &|it| it)?;
        self.made.extend(fetched.items().iter().filter(|it| it.num_rows() > 0).cloned());
        if !fetched.is_last {
            session.pause_cursor(&mut cursor);
            self.cursor = Some(cursor);
        }
        Ok(())
    }

    /// Makes rows until there are so many, or all.
    pub fn make_rows(&mut self, session: &mut Session, count: usize) -> SqlResult<()> {
        while self.cursor.is_some() && self.rows() < count {
            self.make(session)?;
        }
        Ok(())
    }

    fn rows(&self) -> usize {
        self.made.iter().map(RecordBatch::num_rows).sum()
    }

    /// Takes rows that were made; at most so many.
    pub fn take(&mut self, count: usize) -> Vec<RecordBatch> {
        let mut left = count;
        let mut taken = Vec::new();
        while left > 0
            && let Some(batch) = self.made.pop_front()
        {
            let rows = batch.num_rows();
            if rows > left {
                self.made.push_front(batch.slice(left, rows - left));
                taken.push(batch.slice(0, left));
                return taken;
            }
            left -= rows;
            taken.push(batch);
        }
        taken
    }

    /// Rows that were made, without taking them away; at most so many.
    pub fn seen(&self, count: usize) -> Vec<RecordBatch> {
        let mut left = count;
        let cut = self.made.iter().map(|batch| {
            let rows = batch.num_rows().min(left);
            left -= rows;
            batch.slice(0, rows)
        });
        cut.filter(|it| it.num_rows() > 0).collect()
    }

    /// Ends its statement; what was made is forgotten.
    pub fn close(&mut self, session: &mut Session) -> SqlResult<()> {
        self.made.clear();
        self.cursor.take().map_or(Ok(()), |it| session.close(it))
    }
}
