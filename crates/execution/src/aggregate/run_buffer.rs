//! The runs of equal keys in a block of packed rows.

use crate::leveled::{PACKED_ROWS, SLACK};

/// The runs of a block so far. Buffers keep their memory and are longer than what they hold.
#[derive(Default)]
pub(super) struct Runs {
    /// The codes of a chunk, and the rows of it that begin a run.
    pub(super) codes: Vec<u32>,
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
}
