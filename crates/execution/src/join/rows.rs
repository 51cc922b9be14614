//! The rows of a table after all probes: those that found a partner, or those that did not (right and full joins).

use std::ops::Range;

use hardware::NodeId;
use scheduler::MorselRange;
use stdx::sync::Arc;
use types::SqlResult;

use super::JoinTable;
use crate::{BATCH_ROWS, Batch, Layout, Next, Source, WorkContext};

const MORSEL_ROWS: u64 = 64 * 1024;

/// Reads a table by its matches.
pub struct BuildRowsSource {
    table: Arc<JoinTable>,
    matched: bool,
}

impl BuildRowsSource {
    /// The rows of `table` that have (`matched`) or have not found a partner. NULL keys never find one.
    pub fn new(table: Arc<JoinTable>, matched: bool) -> Self {
        Self { table, matched }
    }
}

impl Source for BuildRowsSource {
    fn layout(&self) -> &Layout {
        self.table.layout()
    }

    fn ranges(&self) -> Vec<MorselRange> {
        vec![MorselRange { node: None, start: 0, end: self.table.rows() as u64 }]
    }

    fn morsel_rows(&self) -> u64 {
        MORSEL_ROWS
    }

    fn produce(&self, rows: Range<u64>, _: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let mut chosen: Vec<u32> = Vec::with_capacity(BATCH_ROWS);
        for start in rows.clone().step_by(BATCH_ROWS) {
            let end = rows.end.min(start + BATCH_ROWS as u64);
            chosen.clear();
            chosen.extend(
                (start as u32..end as u32).filter(|&it| self.table.is_matched(it) == self.matched),
            );
            if chosen.is_empty() {
                continue;
            }
            let columns = 0..self.table.layout().len();
            next(Batch {
                rows: chosen.len(),
                columns: columns.map(|it| self.table.gather(it, &chosen, false)).collect(),
                sequence: start,
            })?;
        }
        Ok(())
    }

    fn bytes_read(&self, _: Range<u64>, _: NodeId) -> Vec<(NodeId, u64)> {
        Vec::new()
    }

    fn describe(&self) -> String {
        self.table.describe()
    }
}
