//! The rows of a table after all probes: those that found a partner, or those that did not (right and full joins).

use std::ops::Range;

use hardware::NodeId;
use scheduler::MorselRange;
use stdx::sync::Arc;
use types::SqlResult;

use super::JoinTable;
use super::extremes::Extremes;
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

    fn hand_on(&self, chosen: &[u32], sequence: u64, next: Next<'_>) -> SqlResult<()> {
        if chosen.is_empty() {
            return Ok(());
        }
        let columns = 0..self.table.layout().len();
        next(Batch {
            rows: chosen.len(),
            columns: columns.map(|it| self.table.gather(it, chosen, false)).collect(),
            sequence,
        })
    }

    /// The rows key by key. A mark that is set all the same, by a join that looked at pairs, counts too.
    fn produce_by_extremes(
        &self,
        extremes: &Extremes,
        places: Range<u64>,
        context: &WorkContext,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let mut step = 0;
        let mut chosen: Vec<u32> = Vec::with_capacity(BATCH_ROWS);
        for place in places.clone() {
            extremes.rows_at(&self.table, place as usize, |row, partner| -> SqlResult<()> {
                context.check_step(&mut step)?;
                if (partner || self.table.is_matched(row)) == self.matched {
                    chosen.push(row);
                }
                if chosen.len() < BATCH_ROWS {
                    return Ok(());
                }
                self.hand_on(&chosen, place, next)?;
                chosen.clear();
                Ok(())
            })?;
        }
        self.hand_on(&chosen, places.end, next)
    }
}

impl Source for BuildRowsSource {
    fn layout(&self) -> &Layout {
        self.table.layout()
    }

    fn ranges(&self) -> Vec<MorselRange> {
        let table = &self.table;
        let end = table.extremes.get().map_or(table.rows() as u64, |it| it.places(table));
        vec![MorselRange { node: None, start: 0, end }]
    }

    fn morsel_rows(&self) -> u64 {
        MORSEL_ROWS
    }

    fn produce(&self, rows: Range<u64>, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        if let Some(extremes) = self.table.extremes.get() {
            return self.produce_by_extremes(extremes, rows, context, next);
        }
        let mut chosen: Vec<u32> = Vec::with_capacity(BATCH_ROWS);
        for start in rows.clone().step_by(BATCH_ROWS) {
            let end = rows.end.min(start + BATCH_ROWS as u64);
            chosen.clear();
            chosen.extend(
                (start as u32..end as u32).filter(|&it| self.table.is_matched(it) == self.matched),
            );
            self.hand_on(&chosen, start, next)?;
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
