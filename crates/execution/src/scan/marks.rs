//! Rows that are known to pass a test: a bit for each, block by block, by whichever worker has made it. Tests that several
//! scans make (`repeated`) and those that are made before a scan (`ahead`) leave them. The bits of a block are memory of who
//! leaves them, so that nobody has to make room for all before.

use bitpack::bitmap;
use stdx::sync::OnceLock;
use storage::BLOCK_ROWS;

/// Words of a block.
const BLOCK_WORDS: usize = BLOCK_ROWS / 64;

/// The rows of a table that pass a test, as far as they are known: block by block.
pub struct Marks {
    rows: usize,
    /// By block, once that is known.
    known: Vec<OnceLock<Passed>>,
    /// Whether the test is made before the scan, where its columns lie.
    ahead: bool,
}

/// The rows of a block that pass.
struct Passed {
    count: u32,
    /// A bit for each row of the block; empty where none passes.
    words: Box<[u64]>,
}

impl Passed {
    /// No row.
    fn none() -> Self {
        Self { count: 0, words: Box::default() }
    }
}

impl Marks {
    /// Of a test of so many rows that several scans make.
    pub(super) fn new(rows: usize) -> Self {
        let known = (0..rows.div_ceil(BLOCK_ROWS)).map(|_| OnceLock::new()).collect();
        Self { rows, known, ahead: false }
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
        let rows = BLOCK_ROWS.min(self.rows - block * BLOCK_ROWS);
        self.known[block].get().map(|it| f64::from(it.count) / rows as f64)
    }

    /// Says that no row of a block passes, whatever the test would say: another one leaves none.
    pub(super) fn rule_out(&self, block: usize) {
        self.known[block].get_or_init(Passed::none);
    }

    /// What is known of a whole block; `None` for other ranges of rows.
    fn block(&self, start: usize, rows: usize) -> Option<&OnceLock<Passed>> {
        let whole = start.is_multiple_of(BLOCK_ROWS)
            && rows == BLOCK_ROWS.min(self.rows.checked_sub(start)?)
            && rows > 0;
        whole.then(|| &self.known[start / BLOCK_ROWS])
    }

    /// Sets (or, with `and`, keeps) the bits of the rows that pass; tells whether they are known.
    pub(super) fn load(&self, start: usize, rows: usize, out: &mut [u64], and: bool) -> bool {
        let Some(passed) = self.block(start, rows).and_then(OnceLock::get) else { return false };
        if passed.words.is_empty() {
            out[..rows.div_ceil(64)].fill(0);
        }
        for (out, word) in out.iter_mut().zip(&passed.words) {
            *out = word & if and { *out } else { u64::MAX };
        }
        true
    }

    /// Keeps the bits of the rows that pass, if they are those of a whole block.
    pub(super) fn store(&self, start: usize, rows: usize, found: &[u64]) {
        let Some(known) = self.block(start, rows) else { return };
        debug_assert!(found.len() <= BLOCK_WORDS);
        known.get_or_init(|| {
            let count = bitmap::count(found) as u32;
            Passed { count, words: if count > 0 { found.into() } else { Box::default() } }
        });
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
