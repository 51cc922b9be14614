//! Rows of the build side as they came.

use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

use super::NO_ROW;
use crate::{Bitmap, Vector};

/// The rows of a batch that all have keys, or all have a NULL key.
pub(super) struct Chunk {
    pub(super) keyed: bool,
    pub(super) sequence: u64,
    pub(super) rows: usize,
    pub(super) keys: Vec<Arc<Vector>>,
    pub(super) payload: Vec<Arc<Vector>>,
}

/// Fails where there are more rows than have numbers.
pub(super) fn check_rows(rows: usize) -> SqlResult<()> {
    if rows < NO_ROW as usize {
        return Ok(());
    }
    let message = format!("the build side of a join has {rows} rows, the most is {NO_ROW}");
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}

impl Chunk {
    /// Parts the rows whose keys are there from those with a NULL key.
    pub(super) fn split_nulls(self) -> (Option<Self>, Option<Self>) {
        let maps: Vec<&Bitmap> = self.keys.iter().filter_map(|it| it.validity.as_ref()).collect();
        let is_keyed = |row: &u32| maps.iter().all(|it| it.get(*row as usize));
        let (keyed, without): (Vec<u32>, Vec<u32>) = match maps.as_slice() {
            [] => return (Some(self), None),
            _ => (0..self.rows as u32).partition(is_keyed),
        };
        match (keyed.is_empty(), without.is_empty()) {
            (_, true) => (Some(self), None),
            (true, false) => (None, Some(Self { keyed: false, ..self })),
            (false, false) => (Some(self.take(&keyed, true)), Some(self.take(&without, false))),
        }
    }

    /// Some of the rows.
    pub(super) fn take(&self, rows: &[u32], keyed: bool) -> Self {
        let take = |from: &[Arc<Vector>]| from.iter().map(|it| Arc::new(it.take(rows))).collect();
        let keys = if keyed { take(&self.keys) } else { Vec::new() };
        Self {
            keyed,
            sequence: self.sequence,
            rows: rows.len(),
            keys,
            payload: take(&self.payload),
        }
    }
}
