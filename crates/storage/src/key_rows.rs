//! Where the rows of a dense key are: in a table in one piece that rises from row to row, the key tells it; in one that is cut
//! into parts, an array from key to row does, which joins look into in place of a hash table.
//!
//! - Invariant: rows are numbered over the parts that the table is cut into, in their order, without gaps. Deltas come
//!   behind them, so that what comes or goes later does not change a number.

use memory::Segment;
use stdx::sync::Arc;
use types::SqlResult;

use crate::dictionary::Move;

/// From the keys of a table in parts to their rows: the keys are all integers from the least to the greatest, each once.
#[derive(Debug)]
pub struct KeyRows {
    min: i64,
    len: usize,
    segment: Arc<Segment>,
}

/// A key of which each integer from the least to the greatest is in one row of what a table was built of.
#[derive(Clone, Copy, Debug)]
pub struct DenseKey<'a> {
    /// The least key.
    pub min: i64,
    /// How many keys and rows.
    pub rows: usize,
    /// The rows by key; `None` where the number of a row is its key less the least one.
    pub places: Option<&'a Arc<KeyRows>>,
}

impl KeyRows {
    /// The numbers of so many keys from the least on, in a segment.
    pub(crate) fn new(min: i64, len: usize, segment: Segment) -> Self {
        Self { min, len, segment: Arc::new(segment) }
    }

    /// The number of the row of each key, from the least on.
    #[inline]
    pub fn rows(&self) -> &[u32] {
        &self.segment.as_slice()[..self.len]
    }

    /// The least key.
    pub fn min(&self) -> i64 {
        self.min
    }

    /// The same over another segment with the same bytes.
    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        Ok(Self { segment: body("key rows", &self.segment)?, ..*self })
    }

    /// The memory behind it.
    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }
}
