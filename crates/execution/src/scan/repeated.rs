//! Tests that several scans of one query make of the same table (Q17 and Q02 ask twice for the rows of some parts, Q21 for
//! late lines): the first scan that makes one leaves a bitmap of rows, and the others read that.

use plan::{Expr, Plan, Scan, Source, Transfer};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use storage::BLOCK_ROWS;
use types::TableId;

use crate::QueryContext;

/// Words of a block.
const BLOCK_WORDS: usize = BLOCK_ROWS / 64;

/// The rows of a table that pass a test, as far as they are known: block by block.
pub struct Marks {
    rows: usize,
    words: Vec<AtomicU64>,
    known: Vec<AtomicBool>,
}

impl Marks {
    fn new(rows: usize) -> Self {
        let known = (0..rows.div_ceil(BLOCK_ROWS)).map(|_| AtomicBool::new(false)).collect();
        Self { rows, words: (0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(), known }
    }

    /// The words of a whole block; `None` for other ranges of rows.
    fn block(&self, start: usize, rows: usize) -> Option<(&AtomicBool, &[AtomicU64])> {
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
        if !known.load(Ordering::Acquire) {
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
        known.store(true, Ordering::Release);
    }
}

/// A test of the rows of a table.
#[derive(Clone, PartialEq)]
enum Test {
    /// A condition over columns of the table, by their numbers.
    Filter(Expr),
    /// Its column and the hash table.
    Transfer(usize, Transfer),
}

/// What a query tests more than once.
#[derive(Default)]
pub struct Repeated(Vec<(TableId, Test, Arc<Marks>)>);

impl Repeated {
    /// What the scans of a plan have in common.
    pub fn of(plan: &Plan, context: &QueryContext) -> Self {
        let scans = || {
            plan.pipelines.iter().filter_map(|it| match &it.source {
                Source::Scan(scan) => Some(scan),
                _ => None,
            })
        };
        let mut this = Self::default();
        for (place, scan) in scans().enumerate() {
            let earlier = || scans().take(place).filter(|it| it.table == scan.table);
            // One table after the other is the rule: nothing is compared then.
            if earlier().next().is_none() {
                continue;
            }
            for test in tests(scan) {
                let seen = earlier().any(|it| tests(it).any(|it| it == test));
                if !seen || this.marks(scan.table, &test).is_some() {
                    continue;
                }
                // Parts have encodings and rows of their own; that would be a bitmap for each.
                let Some(table) = context.tables.get(&scan.table) else { continue };
                if let [part] = table.parts() {
                    this.0.push((scan.table, test, Arc::new(Marks::new(part.rows()))));
                }
            }
        }
        this
    }

    fn marks(&self, table: TableId, test: &Test) -> Option<Arc<Marks>> {
        self.0.iter().find(|it| it.0 == table && it.1 == *test).map(|it| it.2.clone())
    }

    /// The rows that pass a filter of a scan, if another scan asks for them too.
    pub(super) fn filter(&self, scan: &Scan, filter: &Expr) -> Option<Arc<Marks>> {
        let ask = |_: &_| self.marks(scan.table, &of_filter(scan, filter));
        self.0.first().and_then(ask)
    }

    /// The rows that pass a transfer of a scan, if another scan asks for them too.
    pub(super) fn transfer(&self, scan: &Scan, transfer: &Transfer) -> Option<Arc<Marks>> {
        let ask = |_: &_| self.marks(scan.table, &of_transfer(scan, transfer));
        self.0.first().and_then(ask)
    }
}

fn tests(scan: &Scan) -> impl Iterator<Item = Test> {
    let filters = scan.filters.iter().map(|it| of_filter(scan, it));
    filters.chain(scan.transfers.iter().map(|it| of_transfer(scan, it)))
}

fn of_filter(scan: &Scan, filter: &Expr) -> Test {
    let mut filter = filter.clone();
    filter.map_columns(&mut |it| scan.columns[it].index());
    Test::Filter(filter)
}

fn of_transfer(scan: &Scan, transfer: &Transfer) -> Test {
    Test::Transfer(
        scan.columns[transfer.column].index(),
        Transfer { column: 0, ..transfer.clone() },
    )
}

#[cfg(test)]
mod tests_of_marks {
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
}
