//! A cursor that DECLARE has opened.

use std::collections::{HashMap, VecDeque};

use arrow_array::RecordBatch;
use stdx::sync::Arc;

use crate::Described;
use crate::opened::Cursor;

/// The cursors of a session by name.
pub(crate) type SqlCursors = HashMap<String, SqlCursor>;

/// A cursor that DECLARE has opened.
pub(crate) struct SqlCursor {
    pub(crate) described: Described,
    /// What makes the rows that are not there yet; `None` when all are made.
    pub(crate) source: Option<Cursor>,
    /// Rows that were made.
    pub(crate) rows: VecDeque<RecordBatch>,
    /// Rows before these, which are forgotten.
    pub(crate) forgotten: u64,
    /// Rows that were made in all.
    pub(crate) made: u64,
    /// Zero before the first row, one on it; one more than there are rows behind the last.
    pub(crate) position: u64,
    /// Whether it may go backward.
    pub(crate) scroll: bool,
    pub(crate) hold: bool,
    /// The statement that declared it, and when: microseconds from 1970-01-01.
    pub(crate) text: Arc<str>,
    pub(crate) made_at: i64,
    /// Of one whose transaction is open: how many savepoints there were when it was declared.
    pub(crate) inside: Option<usize>,
}
