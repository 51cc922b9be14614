//! Rows that are known to pass a test: a bit for each, block by block, by whichever worker has made it. Tests that several
//! scans make (`repeated`) and those that are made before a scan (`ahead`) leave them.

use bitpack::bitmap;
use stdx::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use storage::BLOCK_ROWS;

/// Words of a block.
const BLOCK_WORDS: usize = BLOCK_ROWS / 64;

/// The rows of a table that pass a test, as far as they are known: block by block.
pub struct Marks {
    rows: usize,
    words: Vec<AtomicU64>,
    /// How many rows of each block pass, and whether that is known.
    known: Vec<(AtomicU32, AtomicBool)>,
    /// Whether the test is made before the scan, where its columns lie.
    ahead: bool,
}

impl Marks {
    /// Of a test of so many rows that several scans make.
    pub(super) fn new(rows: usize) -> Self {
        let unknown = |_| (AtomicU32::new(0), AtomicBool::new(false));
        let known = (0..rows.div_ceil(BLOCK_ROWS)).map(unknown).collect();
        let words = (0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { rows, words, known, ahead: false }
    }

    /// Of a test that is made before the scan.
    pub(super) fn ahead(rows: usize) -> Self {
        Self { ahead: true, ..Self::new(rows) }
    }

    /// Whether the test is made before the scan.
    pub(super) fn is_ahead(&self) -> bool {
        self.ahead
    }

    /// The share of the rows of a block that pass; `None` while it is not known.
    pub(super) fn share(&self, block: usize) -> Option<f64> {
        let (passed, known) = &self.known[block];
        let rows = BLOCK_ROWS.min(self.rows - block * BLOCK_ROWS);
        let is_known = known.load(Ordering::Acquire);
        is_known.then(|| f64::from(passed.load(Ordering::Relaxed)) / rows as f64)
    }

    /// Says that no row of a block passes, whatever the test would say: another one leaves none.
    pub(super) fn rule_out(&self, block: usize) {
        self.known[block].1.store(true, Ordering::Release);
    }

    /// The words of a whole block; `None` for other ranges of rows.
    fn block(&self, start: usize, rows: usize) -> Option<(&(AtomicU32, AtomicBool), &[AtomicU64])> {
        let whole = start.is_multiple_of(BLOCK_ROWS)
            && rows == BLOCK_ROWS.min(self.rows.checked_sub(start)?)
            && rows > 0;
        let words = start / 64..(start + rows).div_ceil(64);
        whole.then(|| (&self.known[start / BLOCK_ROWS], &self.words[words]))
    }

    /// Sets (or, with `and`, keeps) the bits of the rows that pass; tells whether they are known.
    pub(super) fn load(&self, start: usize, rows: usize, out: &mut [u64], and: bool) -> bool {
        let Some((known, words)) = self.block(start, rows) else { return false };
        // Whoever sees the flag sees the words that were written before it.
        if !known.1.load(Ordering::Acquire) {
            return false;
        }
        for (out, word) in out.iter_mut().zip(words) {
            *out = word.load(Ordering::Relaxed) & if and { *out } else { u64::MAX };
        }
        true
    }

    /// Keeps the bits of the rows that pass, if they are those of a whole block.
    pub(super) fn store(&self, start: usize, rows: usize, found: &[u64]) {
        let Some((known, words)) = self.block(start, rows) else { return };
        debug_assert!(words.len() <= BLOCK_WORDS);
        words.iter().zip(found).for_each(|(word, &it)| word.store(it, Ordering::Relaxed));
        known.0.store(bitmap::count(found) as u32, Ordering::Relaxed);
        known.1.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_blocks_are_known_and_only_once_they_are_stored() {
        let rows = BLOCK_ROWS + 100;
        let marks = Marks::new(rows);
        let mut out = vec![7; BLOCK_WORDS];
        assert!(!marks.load(0, BLOCK_ROWS, &mut out, false));
        marks.store(0, 1024, &[1; 16]);
        assert!(!marks.load(0, BLOCK_ROWS, &mut out, false), "part of a block is not kept");
        let found: Vec<u64> = (0..BLOCK_WORDS as u64).collect();
        marks.store(0, BLOCK_ROWS, &found);
        assert!(marks.load(0, BLOCK_ROWS, &mut out, false));
        assert_eq!(out, found);
        out.fill(5);
        assert!(marks.load(0, BLOCK_ROWS, &mut out, true));
        assert!(out.iter().zip(&found).all(|(out, it)| *out == it & 5));
        let mut tail = vec![0; 2];
        assert!(!marks.load(BLOCK_ROWS, 100, &mut tail, false));
        marks.store(BLOCK_ROWS, 100, &[3, 1]);
        assert!(marks.load(BLOCK_ROWS, 100, &mut tail, false));
        assert_eq!(tail, [3, 1]);
        assert!(!marks.load(BLOCK_ROWS, 64, &mut tail, false));
        assert!(!marks.load(2 * BLOCK_ROWS, 0, &mut tail, false));
    }

    #[test]
    fn the_share_that_passes_is_known_with_the_rows() {
        let marks = Marks::ahead(BLOCK_ROWS + 100);
        assert!(marks.is_ahead() && !Marks::new(1).is_ahead());
        assert_eq!(marks.share(1), None);
        marks.store(BLOCK_ROWS, 100, &[u64::MAX, 0]);
        assert_eq!(marks.share(1), Some(0.64));
        marks.rule_out(0);
        assert_eq!(marks.share(0), Some(0.0));
        let mut out = vec![7; BLOCK_WORDS];
        assert!(marks.load(0, BLOCK_ROWS, &mut out, false));
        assert!(out.iter().all(|it| *it == 0), "no row is left");
    }
}
