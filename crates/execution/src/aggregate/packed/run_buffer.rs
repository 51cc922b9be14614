//! The runs of equal keys in a block of packed rows.

use std::ops::Range;

use crate::leveled::{PACKED_ROWS, SLACK};

/// The runs of a block so far. Buffers keep their memory and are longer than what they hold.
#[derive(Default)]
pub(super) struct Runs {
    /// The codes of a chunk, and the rows of it that begin a run.
    pub(super) codes: Vec<u32>,
    /// The codes or the values of those rows of a chunk that passed.
    pub(super) chosen: Vec<u32>,
    pub(super) starts: Vec<u64>,
    pub(super) count: usize,
    /// For each run its code, the row of the block that begins it, and for each sum what was added before it.
    pub(super) keys: Vec<u32>,
    pub(super) rows: Vec<u32>,
    pub(super) before: Vec<Vec<u32>>,
    /// All that was added, by sum.
    pub(super) totals: Vec<u32>,
}

impl Runs {
    /// No runs with so many sums.
    pub(super) fn new(sums: usize) -> Self {
        Self {
            codes: vec![0; PACKED_ROWS],
            chosen: vec![0; PACKED_ROWS],
            starts: vec![0; PACKED_ROWS / 64],
            before: vec![Vec::new(); sums],
            totals: vec![0; sums],
            ..Self::default()
        }
    }

    /// Room for the runs of so many rows, and none of them yet.
    pub(super) fn clear(&mut self, rows: usize) {
        self.count = 0;
        self.totals.fill(0);
        for it in [&mut self.keys, &mut self.rows].into_iter().chain(&mut self.before) {
            it.resize(it.len().max(rows + SLACK), 0);
        }
    }

    /// What some runs added to a sum: what was added before the next one, less what was before it.
    pub(super) fn sums(&self, sum: usize, range: Range<usize>) -> Vec<i64> {
        self.differences(&self.before[sum], self.totals[sum], range)
    }

    /// How many rows some runs have, in a block of `rows`.
    pub(super) fn counts(&self, rows: usize, range: Range<usize>) -> Vec<i64> {
        self.differences(&self.rows, rows as u32, range)
    }

    fn differences(&self, before: &[u32], total: u32, range: Range<usize>) -> Vec<i64> {
        if range.is_empty() {
            return Vec::new();
        }
        let next = &before[range.start + 1..(range.end + 1).min(self.count)];
        let pairs = before[range.clone()].iter().zip(next);
        let mut sums = Vec::with_capacity(range.len());
        sums.extend(pairs.map(|(it, next)| i64::from(next.wrapping_sub(*it))));
        if range.end == self.count {
            sums.push(i64::from(total.wrapping_sub(before[range.end - 1])));
        }
        sums
    }
}
