//! Which row is which: a row keeps its id from one version of a table to the next, wherever deltas and merges put it
//! (docs/design/08-transactions.md, "a row has an id").
//!
//! Key decision: ids are runs, row by row one more, beside the columns of a part and not among them. What is loaded is one
//! run; who never asks for an id pays nothing for it.
//!
//! - Invariant: no two rows of a process have the same id. Files have none: nobody who asks for one outlives the process.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};
use types::{ColumnId, SqlResult};

use crate::build::piece_of;
use crate::partition::hashes_of_keys;
use crate::{Part, Partitioning, Table, values_at};

/// The next id.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Ids that no row has.
pub fn new_row_ids(count: usize) -> Range<u64> {
    let first = NEXT.fetch_add(count as u64, Ordering::Relaxed);
    first..first + count as u64
}

/// Rows of a part whose ids rise by one, up to the next run.
#[derive(Clone, Copy, Debug)]
struct Run {
    row: usize,
    id: u64,
}

/// The ids of the rows of a part.
#[derive(Clone, Debug)]
pub(crate) struct RowIds {
    runs: Vec<Run>,
    rows: usize,
    /// Whether ids rise from run to run, so that one is found by halves.
    rise: bool,
}

impl RowIds {
    /// New ones.
    pub(crate) fn fresh(rows: usize) -> Self {
        let mut ids = Self::none();
        ids.push(new_row_ids(rows));
        ids
    }

    pub(crate) fn none() -> Self {
        Self { runs: Vec::new(), rows: 0, rise: true }
    }

    /// How many there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds rows with ids that follow each other.
    pub(crate) fn push(&mut self, ids: Range<u64>) {
        if ids.is_empty() {
            return;
        }
        let end = self.runs.last().map(|it| it.id + (self.rows - it.row) as u64);
        if end != Some(ids.start) {
            self.rise &= end.is_none_or(|it| it <= ids.start);
            self.runs.push(Run { row: self.rows, id: ids.start });
        }
        self.rows += (ids.end - ids.start) as usize;
    }

    /// Adds the rows of a part that are there, but those at some positions, which rise.
    pub(crate) fn push_kept(&mut self, part: &Part, gone: &[u64]) {
        let positions = part.positions();
        let below = |end: usize| gone.partition_point(|it| *it < end as u64);
        let mut gone = gone[below(positions.start)..below(positions.end)].iter().peekable();
        for (rows, first) in part.ids.ranges() {
            if gone.peek().is_none() && part.deletions().is_none() {
                self.push(first..first + rows.len() as u64);
                continue;
            }
            for row in rows.clone() {
                let goes = gone.next_if(|it| **it == (positions.start + row) as u64).is_some();
                if !goes && part.is_live(row) {
                    let id = first + (row - rows.start) as u64;
                    self.push(id..id + 1);
                }
            }
        }
    }

    /// The rows of each run, and the id of its first.
    fn ranges(&self) -> impl DoubleEndedIterator<Item = (Range<usize>, u64)> {
        self.runs.iter().enumerate().map(|(place, run)| {
            let end = self.runs.get(place + 1).map_or(self.rows, |it| it.row);
            (run.row..end, run.id)
        })
    }

    fn get(&self, row: usize) -> u64 {
        let run = self.runs[self.runs.partition_point(|it| it.row <= row) - 1];
        run.id + (row - run.row) as u64
    }

    /// Tells the rows of some ids, which rise, each with its place among them.
    fn find(&self, ids: &[u64], found: &mut dyn FnMut(usize, usize)) {
        let mut look = |rows: Range<usize>, first: u64| {
            let from = ids.partition_point(|it| *it < first);
            let end = first + rows.len() as u64;
            for (place, id) in ids.iter().enumerate().skip(from).take_while(|it| *it.1 < end) {
                found(place, rows.start + (id - first) as usize);
            }
        };
        if self.rise && ids.len() < self.runs.len() {
            for id in ids {
                let run = self.runs.partition_point(|it| it.id <= *id);
                if let Some(run) = run.checked_sub(1) {
                    let end = self.runs.get(run + 1).map_or(self.rows, |it| it.row);
                    let Run { row, id: first } = self.runs[run];
                    if id - first < (end - row) as u64 {
                        look(row + (id - first) as usize..row + (id - first) as usize + 1, *id);
                    }
                }
            }
            return;
        }
        self.ranges().for_each(|(rows, first)| look(rows, first));
    }
}

impl Table {
    /// Whether rows keep their ids when the table is put together anew. Where they are dealt by their number they do not.
    pub fn keeps_row_ids(&self) -> bool {
        !matches!(self.partitioning(), Partitioning::RoundRobin { .. }) && !self.columns.is_empty()
    }

    /// The ids of the rows at some positions, which rise.
    pub fn row_ids(&self, positions: &[u64]) -> Vec<u64> {
        let mut ids = Vec::with_capacity(positions.len());
        let mut parts = self.parts.iter();
        let mut part = parts.next();
        for position in positions {
            let at = *position as usize;
            while part.is_some_and(|it| it.positions().end <= at) {
                part = parts.next();
            }
            let part = part.expect("invariant: a position is in a part");
            ids.push(part.ids.get(at - part.positions().start));
        }
        ids
    }

    /// Where the rows with some ids are, which rise; `None` for those that are not there.
    pub fn positions_of(&self, ids: &[u64]) -> Vec<Option<u64>> {
        let mut positions = vec![None; ids.len()];
        for part in &self.parts {
            part.ids.find(ids, &mut |place, row| {
                if part.is_live(row) {
                    positions[place] = Some((part.positions().start + row) as u64);
                }
            });
        }
        positions
    }

    /// The keys that a change takes from rows or gives to them: the number of the rule and a hash that is the same for equal
    /// keys, whatever version of the table it is asked of. Positions rise.
    pub fn keys_of_change(
        &self,
        gone: &[u64],
        batches: &[RecordBatch],
    ) -> SqlResult<Vec<(u32, u64)>> {
        let mut keys = Vec::new();
        let gone: Vec<Option<usize>> = gone.iter().map(|it| Some(*it as usize)).collect();
        for (number, rule) in self.rules.indexes.iter().enumerate() {
            if !rule.kind.is_unique() {
                continue;
            }
            let mut add =
                |rows: usize, array: &dyn Fn(&ColumnId) -> SqlResult<ArrayRef>| -> SqlResult<()> {
                    if rows == 0 {
                        return Ok(());
                    }
                    let piece = |it: &ColumnId| {
                        let schema = self.column(*it).schema();
                        Ok((piece_of(&array(it)?, &schema)?, schema.data_type))
                    };
                    let pieces = rule.columns.iter().map(piece).collect::<SqlResult<Vec<_>>>()?;
                    let hashes = hashes_of_keys(&pieces, rows).into_iter().flatten();
                    keys.extend(hashes.map(|it| (number as u32, it)));
                    Ok(())
                };
            add(gone.len(), &|it| values_at(self, *it, &gone))?;
            for batch in batches {
                add(batch.num_rows(), &|it| Ok(batch.column(it.index()).clone()))?;
            }
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// A table that was put together anew of this one's rows, but those at some positions, and of new ones: rows keep their
    /// ids. `dealt` are the ids of the new ones for each part.
    pub(crate) fn identified(&self, mut new: Self, gone: &[u64], dealt: &[Vec<u64>]) -> Self {
        if !self.keeps_row_ids() {
            return new;
        }
        for part in &mut new.parts {
            let mut ids = RowIds::none();
            self.parts.iter().filter(|it| it.number == part.number).for_each(|it| {
                ids.push_kept(it, gone);
            });
            dealt[part.number].iter().for_each(|it| ids.push(*it..*it + 1));
            debug_assert_eq!(ids.rows(), part.rows, "rows come in the order of their parts");
            part.ids = Arc::new(ids);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_runs_that_rise_and_that_do_not() {
        let mut ids = RowIds::none();
        [10..13, 13..15, 40..41, 50..53].map(|it| ids.push(it));
        assert_eq!((ids.runs.len(), ids.rows(), ids.rise), (3, 9, true));
        let told: Vec<u64> = (0..9).map(|it| ids.get(it)).collect();
        assert_eq!(told, [10, 11, 12, 13, 14, 40, 50, 51, 52]);
        let find = |ids: &RowIds, wanted: &[u64]| {
            let mut found = Vec::new();
            ids.find(wanted, &mut |place, row| found.push((place, row)));
            found
        };
        assert_eq!(find(&ids, &[9, 40]), [(1, 5)]);
        assert_eq!(find(&ids, &[9, 12, 15, 40, 53]), [(1, 2), (3, 5)]);
        ids.push(20..22);
        assert!(!ids.rise);
        assert_eq!(find(&ids, &[21, 50]), [(1, 6), (0, 10)]);
        let (one, other) = (new_row_ids(3), new_row_ids(2));
        assert!(one.end <= other.start || other.end <= one.start);
    }
}
