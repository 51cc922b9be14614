//! Which row is which: a row keeps its id from one version of a table to the next, wherever deltas and merges put it
//! (docs/design/08-transactions.md, "a row has an id").
//!
//! Key decision: ids are runs, row by row one more, beside the columns of a part and not among them. What is loaded is one
//! run; who never asks for an id pays nothing for it.
//!
//! - Invariant: no two rows of a process have the same id. Files have none: nobody who asks for one outlives the process.

use std::ops::Range;

use stdx::sync::OnceLock;
use stdx::sync::atomic::{AtomicU64, Ordering};

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
#[derive(Debug)]
pub(crate) struct RowIds {
    runs: Vec<Run>,
    rows: usize,
    /// Whether ids rise from run to run, so that one is found by halves.
    rise: bool,
    /// The runs by their ids where they do not, made when somebody looks for an id.
    by_id: OnceLock<Vec<Run>>,
}

impl Clone for RowIds {
    fn clone(&self) -> Self {
        Self { runs: self.runs.clone(), by_id: OnceLock::new(), ..*self }
    }
}

impl RowIds {
    /// New ones.
    pub(crate) fn fresh(rows: usize) -> Self {
        let mut ids = Self::none();
        ids.push(new_row_ids(rows));
        ids
    }

    pub(crate) fn none() -> Self {
        Self { runs: Vec::new(), rows: 0, rise: true, by_id: OnceLock::new() }
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
        self.by_id.take();
        let end = self.runs.last().map(|it| it.id + (self.rows - it.row) as u64);
        if end != Some(ids.start) {
            self.rise &= end.is_none_or(|it| it <= ids.start);
            self.runs.push(Run { row: self.rows, id: ids.start });
        }
        self.rows += (ids.end - ids.start) as usize;
    }

    /// The rows of each run, and the id of its first.
    pub(crate) fn ranges(&self) -> impl DoubleEndedIterator<Item = (Range<usize>, u64)> {
        self.runs.iter().enumerate().map(|(place, run)| {
            let end = self.runs.get(place + 1).map_or(self.rows, |it| it.row);
            (run.row..end, run.id)
        })
    }

    /// The id of a row.
    pub(crate) fn get(&self, row: usize) -> u64 {
        let run = self.runs[self.runs.partition_point(|it| it.row <= row) - 1];
        run.id + (row - run.row) as u64
    }

    /// Tells the rows of some ids, which rise, each with its place among them.
    pub(crate) fn find(&self, ids: &[u64], found: &mut dyn FnMut(usize, usize)) {
        if ids.len() < self.runs.len() {
            let by_id = if self.rise { &self.runs } else { self.runs_by_id() };
            for (place, id) in ids.iter().enumerate() {
                let before = by_id.partition_point(|it| it.id <= *id).checked_sub(1);
                let Some(Run { row, id: first }) = before.map(|it| by_id[it]) else { continue };
                let found_at = row + (id - first) as usize;
                if found_at < self.end_of_run(row) {
                    found(place, found_at);
                }
            }
            return;
        }
        for (rows, first) in self.ranges() {
            let from = ids.partition_point(|it| *it < first);
            let end = first + rows.len() as u64;
            for (place, id) in ids.iter().enumerate().skip(from).take_while(|it| *it.1 < end) {
                found(place, rows.start + (id - first) as usize);
            }
        }
    }

    /// Behind the rows of the run that begins with one.
    fn end_of_run(&self, row: usize) -> usize {
        let next = self.runs.partition_point(|it| it.row <= row);
        self.runs.get(next).map_or(self.rows, |it| it.row)
    }

    fn runs_by_id(&self) -> &Vec<Run> {
        self.by_id.get_or_init(|| {
            let mut runs = self.runs.clone();
            runs.sort_unstable_by_key(|it| it.id);
            runs
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_runs_that_rise_and_that_do_not() {
        let mut ids = RowIds::none();
        [10..13, 13..15, 40..41, 50..53].into_iter().for_each(|it| ids.push(it));
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
        assert_eq!(find(&ids, &[21, 50]), [(0, 10), (1, 6)]);
        assert_eq!(find(&ids, &[9, 22, 53]), []);
        assert_eq!(find(&ids, &[]), []);
        ids.push(60..61);
        assert_eq!(find(&ids, &[10, 60]), [(0, 0), (1, 11)]);
        assert_eq!(find(&ids.clone(), &[14, 20, 22, 60]), [(0, 4), (1, 9), (3, 11)]);
        let (one, other) = (new_row_ids(3), new_row_ids(2));
        assert!(one.end <= other.start || other.end <= one.start);
    }
}
