//! Which rows of a part have gone (docs/design/01-storage.md, "changes"): a bit for each, copied block by block when it changes,
//! so that a version of a table costs what its change costs, and a scan has one mask more.

use bitpack::bitmap;
use stdx::sync::Arc;

use crate::BLOCK_ROWS;

/// The bits of a block: set for rows that have gone.
type Block = [u64; BLOCK_ROWS / 64];

/// The rows of a part that have gone. A clone shares the blocks.
#[derive(Clone, Debug, Default)]
pub struct Deletions {
    /// By block; none where no row has gone, as in blocks behind the last.
    blocks: Vec<Option<Arc<Block>>>,
    count: usize,
}

impl Deletions {
    /// The same and more rows of a part. Rows that have gone already stay so.
    pub(crate) fn with(&self, rows: impl Iterator<Item = usize>) -> Self {
        let mut changed = self.clone();
        for row in rows {
            let (block, at) = (row / BLOCK_ROWS, row % BLOCK_ROWS);
            if changed.blocks.len() <= block {
                changed.blocks.resize(block + 1, None);
            }
            let bits = changed.blocks[block].get_or_insert_with(|| Arc::new([0; BLOCK_ROWS / 64]));
            // Copied once for a version: from then on this one is its only holder.
            let word = &mut Arc::make_mut(bits)[at / 64];
            changed.count += usize::from(*word >> (at % 64) & 1 == 0);
            *word |= 1 << (at % 64);
        }
        changed
    }

    /// How many rows have gone.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether a row has gone.
    #[inline]
    pub fn contains(&self, row: usize) -> bool {
        let block = self.blocks.get(row / BLOCK_ROWS).and_then(Option::as_ref);
        block.is_some_and(|it| it[row % BLOCK_ROWS / 64] >> (row % 64) & 1 == 1)
    }

    /// Whether any row of a block has gone.
    #[inline]
    pub fn touches(&self, block: usize) -> bool {
        self.blocks.get(block).is_some_and(Option::is_some)
    }

    /// Clears the bits of rows that have gone in a bitmap over rows of one block, from `start` on, a multiple of 64.
    pub fn clear(&self, start: usize, words: &mut [u64]) {
        let Some(Some(block)) = self.blocks.get(start / BLOCK_ROWS) else { return };
        let first = start % BLOCK_ROWS / 64;
        for (word, gone) in words.iter_mut().zip(&block[first..]) {
            *word &= !gone;
        }
    }

    /// The last row that has gone.
    pub(crate) fn last(&self) -> Option<usize> {
        let words = self.blocks.iter().enumerate().rev().filter_map(|(block, bits)| {
            let word = bits.as_ref()?.iter().rposition(|it| *it != 0)?;
            let bit = 63 - bits.as_ref()?[word].leading_zeros() as usize;
            Some(block * BLOCK_ROWS + word * 64 + bit)
        });
        words.into_iter().next()
    }

    /// The bits by block, for files.
    pub fn blocks(&self) -> impl Iterator<Item = Option<&[u64]>> {
        self.blocks.iter().map(|it| it.as_ref().map(|it| &it[..]))
    }

    /// What [`Deletions::blocks`] told. Blocks of another length are `None`.
    pub fn of_blocks<'a>(blocks: impl Iterator<Item = Option<&'a [u64]>>) -> Option<Self> {
        let block = |it: Option<&[u64]>| -> Option<Option<Arc<Block>>> {
            let Some(bits) = it else { return Some(None) };
            Some(Some(Arc::new(bits.try_into().ok()?)))
        };
        let blocks: Vec<Option<Arc<Block>>> = blocks.map(block).collect::<Option<_>>()?;
        let count = blocks.iter().flatten().map(|it| bitmap::count(&it[..])).sum();
        Some(Self { blocks, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_once_and_versions_stay() {
        let none = Deletions::default();
        let first = none.with([3, 64, BLOCK_ROWS + 1, 3].into_iter());
        let second = first.with([64, 65, 3 * BLOCK_ROWS].into_iter());
        assert_eq!((none.count(), first.count(), second.count()), (0, 3, 5));
        assert!(first.contains(64) && !first.contains(65) && second.contains(65));
        assert!(second.touches(1) && !second.touches(2) && second.touches(3) && !second.touches(9));
        // What did not change is shared.
        assert!(Arc::ptr_eq(first.blocks[1].as_ref().unwrap(), second.blocks[1].as_ref().unwrap()));
        let mut words = [u64::MAX; 2];
        second.clear(64, &mut words);
        assert_eq!(words, [!3, u64::MAX]);
        second.clear(2 * BLOCK_ROWS, &mut words);
        assert_eq!(words, [!3, u64::MAX], "no row of that block has gone");
        let again = Deletions::of_blocks(second.blocks()).unwrap();
        assert_eq!(again.count(), 5);
        assert!((0..4 * BLOCK_ROWS).all(|it| again.contains(it) == second.contains(it)));
    }
}
