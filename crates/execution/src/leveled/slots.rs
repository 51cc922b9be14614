//! Slots of keys in tables of dense integers (docs/design/04-execution.md, "structures of a join"): a key less the
//! least one, or its rank in a bitmap of keys.

use super::leveled;

leveled! {
    /// For each word of a bitmap the bits set before it, of which `first` are before the first word; gives the number of all.
    pub(crate) fn ranks_of[](bitmap: &[u64], first: u32, ranks: &mut [u32]) -> usize {
        let mut count = first;
        for (rank, word) in ranks.iter_mut().zip(bitmap) {
            *rank = count;
            count += word.count_ones();
        }
        count as usize
    }
}

leveled! {
    /// The rows whose key is in the bitmap, which begins at `min`, and the ranks of their keys. Writes both from the
    /// front, and gives their number; there must be room for all rows.
    pub(crate) fn find_ranks[](
        keys: &[i64], min: i64, bitmap: &[u64], ranks: &[u32], rows: &mut [u32], slots: &mut [u32],
    ) -> usize {
        let mut count = 0;
        for (row, &key) in keys.iter().enumerate() {
            let place = key.wrapping_sub(min) as u64;
            let index = (place / 64) as usize;
            let word = bitmap.get(index).copied().unwrap_or(0);
            let before = ranks.get(index).copied().unwrap_or(0);
            rows[count] = row as u32;
            slots[count] = before + (word & ((1 << (place % 64)) - 1)).count_ones();
            count += (word >> (place % 64) & 1) as usize;
        }
        count
    }
}

leveled! {
    /// The rows whose key is in the bitmap, which begins at `min`, and how far their keys are from it. Writes both from
    /// the front, and gives their number; there must be room for all rows.
    pub(crate) fn find_places[](
        keys: &[i64], min: i64, bitmap: &[u64], rows: &mut [u32], slots: &mut [u32],
    ) -> usize {
        let mut count = 0;
        for (row, &key) in keys.iter().enumerate() {
            let place = key.wrapping_sub(min) as u64;
            let word = bitmap.get((place / 64) as usize).copied().unwrap_or(0);
            rows[count] = row as u32;
            slots[count] = place as u32;
            count += (word >> (place % 64) & 1) as usize;
        }
        count
    }
}
