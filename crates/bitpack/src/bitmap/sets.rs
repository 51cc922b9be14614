//! Sets of rows as words of bits: what the kernels themselves are built on, and what needs none of them.

use std::ops::Range;

/// Words that hold `rows` bits.
#[inline]
pub fn words_for(rows: usize) -> usize {
    rows.div_ceil(64)
}

/// The valid bits of the last word of a bitmap over `rows` rows; all of them for a multiple of 64.
#[inline]
pub fn tail_mask(rows: usize) -> u64 {
    if rows.is_multiple_of(64) { u64::MAX } else { (1 << (rows % 64)) - 1 }
}

/// Whether any row is in.
pub fn any(words: &[u64]) -> bool {
    words.iter().any(|&it| it != 0)
}

/// Keeps in `words` the rows that are also in `other`.
pub fn and(words: &mut [u64], other: &[u64]) {
    words.iter_mut().zip(other).for_each(|(word, other)| *word &= other);
}

/// Keeps in `words` the rows that are not in `other`.
pub fn and_not(words: &mut [u64], other: &[u64]) {
    words.iter_mut().zip(other).for_each(|(word, other)| *word &= !other);
}

/// Adds to `words` the rows of `other`.
pub fn or(words: &mut [u64], other: &[u64]) {
    words.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}

/// Turns a bitmap over `rows` rows into its complement.
pub fn not(words: &mut [u64], rows: usize) {
    let words = &mut words[..words_for(rows)];
    words.iter_mut().for_each(|word| *word = !*word);
    if let Some(last) = words.last_mut() {
        *last &= tail_mask(rows);
    }
}

/// Fills a bitmap over `rows` rows with ones.
pub fn fill(words: &mut [u64], rows: usize) {
    words[..words_for(rows)].fill(0);
    set_range(words, 0..rows);
}

/// Adds a range of rows.
pub fn set_range(words: &mut [u64], rows: Range<usize>) {
    if rows.is_empty() {
        return;
    }
    let (first, last) = (rows.start / 64, (rows.end - 1) / 64);
    let head = u64::MAX << (rows.start % 64);
    let tail = tail_mask(rows.end);
    if first == last {
        words[first] |= head & tail;
    } else {
        words[first] |= head;
        words[first + 1..last].fill(u64::MAX);
        words[last] |= tail;
    }
}

/// Whether row `row` is in.
#[inline]
pub fn get(words: &[u64], row: usize) -> bool {
    words[row / 64] >> (row % 64) & 1 != 0
}

/// Adds row `row`.
#[inline]
pub fn set(words: &mut [u64], row: usize) {
    words[row / 64] |= 1 << (row % 64);
}

/// The rows that are in, ascending; for short bitmaps, [`super::positions`] is faster.
pub fn iter(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                index * 64 + bit
            })
        })
    })
}
