//! Streaming aggregation while the input is sorted by the key: a row begins a group if its key is not the last one, and
//! nothing is searched.

use std::ops::Range;

use crate::leveled::{level, numbers_of_runs, rises};

/// Groups whose keys have come in rising order, run after run. A key may come again in another run.
pub struct SortedRuns {
    /// The first group of each run.
    starts: Vec<u32>,
    /// The block of the last rows; after a gap a new run begins, so that the runs of workers who share the blocks do not
    /// overlap.
    block: u64,
}

impl SortedRuns {
    /// No runs yet.
    pub fn new() -> Self {
        Self { starts: Vec::new(), block: u64::MAX }
    }

    /// Takes the first groups of the runs out; those that follow are expected to go on rising.
    pub fn take(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.starts)
    }

    /// Whether keys of a block may follow the known ones, in the same run or a new one; if so, they must.
    pub fn accepts(&mut self, known: &[u64], keys: &[u64], block: u64) -> bool {
        let goes_on = block == self.block || block == self.block.wrapping_add(1);
        let falls = match (known.last(), keys.first()) {
            (Some(last), Some(first)) => goes_on && first < last,
            _ => false,
        };
        if falls && block == self.block || !rises(level(), keys) {
            return false;
        }
        if !goes_on || falls || known.is_empty() {
            self.starts.push(known.len() as u32);
        }
        self.block = block;
        true
    }

    /// The group number of each of some keys that were accepted; those that are new are appended to `known`. Numbers rise
    /// by at most one from row to row.
    pub fn append(&self, known: &mut Vec<u64>, keys: &[u64], ids: &mut Vec<u32>) {
        let goes_on = self.starts.last().is_some_and(|&it| (it as usize) < known.len());
        numbers_of_runs(keys, goes_on, known, ids);
    }
}

/// The ranges of runs that begin at these groups of so many; each has at least one group.
pub fn ranges_of_runs(starts: &[u32], groups: usize) -> Vec<Range<u32>> {
    let ends = starts.iter().skip(1).copied().chain([groups as u32]);
    starts.iter().zip(ends).map(|(&start, end)| start..end).filter(|it| !it.is_empty()).collect()
}
