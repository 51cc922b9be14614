//! Rows that are known to pass a test: a bit for each, piece by piece, by whichever worker has made it. Tests that several
//! scans make (`repeated`) and those that are made before a scan (`ahead`) leave them. The bits of a piece are memory of who
//! leaves them, so that nobody has to make room for all before.

use bitpack::bitmap;
use stdx::sync::OnceLock;
use storage::BLOCK_ROWS;

/// Rows that are known or not together: the smallest morsel that a scan is cut into by itself.
pub(crate) const PIECE_ROWS: usize = BLOCK_ROWS / 4;

/// The rows of a table that pass a test, as far as they are known: piece by piece of its blocks.
pub struct Marks {
    rows: usize,
    /// By piece, once that is known.
    known: Vec<OnceLock<Passed>>,
    /// Whether the test is made before the scan, where its columns lie.
    ahead: bool,
}

/// The rows of a piece that pass.
struct Passed {
    count: u32,
    /// A bit for each row of the piece; empty where none passes.
    words: Box<[u64]>,
}

impl Passed {
    /// Those whose bits are set.
    fn of(found: &[u64]) -> Self {
        let count = bitmap::count(found) as u32;
        Self { count, words: if count > 0 { found.into() } else { Box::default() } }
    }
}

impl Marks {
    /// Of a test of so many rows that several scans make.
    pub(super) fn new(rows: usize) -> Self {
        let known = (0..rows.div_ceil(PIECE_ROWS)).map(|_| OnceLock::new()).collect();
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

    /// The pieces of a block.
    fn of_block(&self, block: usize) -> &[OnceLock<Passed>] {
        let rows = block * BLOCK_ROWS..self.rows.min((block + 1) * BLOCK_ROWS);
        &self.known[rows.start / PIECE_ROWS..rows.end.div_ceil(PIECE_ROWS)]
    }

    /// The share of the rows of a block that pass; `None` while it is not known.
    pub(super) fn share(&self, block: usize) -> Option<f64> {
        let rows = BLOCK_ROWS.min(self.rows - block * BLOCK_ROWS);
        let counts = self.of_block(block).iter().map(|it| it.get().map(|it| it.count));
        counts.sum::<Option<u32>>().map(|it| f64::from(it) / rows as f64)
    }

    /// Says that no row of a block passes, whatever the test would say: another one leaves none.
    pub(super) fn rule_out(&self, block: usize) {
        self.of_block(block).iter().for_each(|it| _ = it.get_or_init(|| Passed::of(&[])));
    }

    /// What is known of whole pieces; `None` for other ranges of rows.
    fn pieces(&self, start: usize, rows: usize) -> Option<&[OnceLock<Passed>]> {
        let end = start + rows;
        let whole = start.is_multiple_of(PIECE_ROWS)
            && (end.is_multiple_of(PIECE_ROWS) && end <= self.rows || end == self.rows)
            && rows > 0;
        whole.then(|| &self.known[start / PIECE_ROWS..end.div_ceil(PIECE_ROWS)])
    }

    /// Sets (or, with `and`, keeps) the bits of the rows that pass; tells whether they are known.
    pub(super) fn load(&self, start: usize, rows: usize, out: &mut [u64], and: bool) -> bool {
        let known = self.pieces(start, rows).filter(|it| it.iter().all(|it| it.get().is_some()));
        let Some(known) = known else { return false };
        let words = &mut out[..rows.div_ceil(64)];
        for (out, passed) in words.chunks_mut(PIECE_ROWS / 64).zip(known) {
            match passed.get().filter(|it| !it.words.is_empty()) {
                None => out.fill(0),
                Some(passed) => out.iter_mut().zip(&passed.words).for_each(|(out, word)| {
                    *out = word & if and { *out } else { u64::MAX };
                }),
            }
        }
        true
    }

    /// Keeps the bits of the rows that pass, if they are those of whole pieces.
    pub(super) fn store(&self, start: usize, rows: usize, found: &[u64]) {
        let Some(known) = self.pieces(start, rows) else { return };
        for (known, found) in known.iter().zip(found.chunks(PIECE_ROWS / 64)) {
            known.get_or_init(|| Passed::of(found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pieces_are_known_and_only_once_they_are_stored() {
        const BLOCK_WORDS: usize = BLOCK_ROWS / 64;
        let rows = BLOCK_ROWS + 100;
        let marks = Marks::new(rows);
        let mut out = vec![7; BLOCK_WORDS];
        assert!(!marks.load(0, BLOCK_ROWS, &mut out, false));
        marks.store(0, 1024, &[1; 16]);
        assert!(!marks.load(0, BLOCK_ROWS, &mut out, false), "part of a piece is not kept");
        let found: Vec<u64> = (0..BLOCK_WORDS as u64).collect();
        marks.store(0, BLOCK_ROWS, &found);
        assert!(marks.load(0, BLOCK_ROWS, &mut out, false));
        assert_eq!(out, found);
        let second = &found[PIECE_ROWS / 64..PIECE_ROWS / 32];
        assert!(marks.load(PIECE_ROWS, PIECE_ROWS, &mut out, false), "what is in a block");
        assert_eq!(&out[..second.len()], second);
        assert!(!marks.load(PIECE_ROWS / 2, PIECE_ROWS, &mut out, false));
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
        let marks = Marks::new(rows);
        marks.store(PIECE_ROWS, PIECE_ROWS, second);
        assert!(!marks.load(0, BLOCK_ROWS, &mut out, false) && marks.share(0).is_none());
        marks.store(0, BLOCK_ROWS, &found);
        assert!(marks.load(0, BLOCK_ROWS, &mut out, false) && marks.share(0).is_some());
        assert_eq!(out, found);
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
        let mut out = vec![7; BLOCK_ROWS / 64];
        assert!(marks.load(0, BLOCK_ROWS, &mut out, false));
        assert!(out.iter().all(|it| *it == 0), "no row is left");
    }
}
