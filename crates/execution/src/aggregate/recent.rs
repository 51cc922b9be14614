//! The groups of the texts that were seen lately. What is grouped by is often short and of few values (flags, modes, the codes of
//! states), and then a word of its bytes tells the group of a row: no key is made, hashed or compared.
//!
//! Tables whose texts are codes never come here: their keys are words anyway. It serves texts that are computed or read from files.

use stdx::sync::Arc;

use crate::{ColumnShape, Representation, TextVector, Values, Vector};

/// Entries, of 32 bytes: they stay in the nearest cache.
const ENTRIES: usize = 256;
/// Key columns at most; each has half a word.
const COLUMNS_MAX: usize = 2;
/// Bytes of a text at most, beside the one that tells its length.
const BYTES_MAX: usize = 7;
/// The half of any longer text. No short one has it, as its highest byte is a length.
const LONG: u64 = u64::MAX;
/// A batch is served badly where fewer than one in so many rows are known.
const KNOWN_MIN: usize = 4;
/// After so many batches in a row that are served badly nothing is looked for any more.
const BAD_BATCHES_MAX: u32 = 8;

/// Groups by the words of their keys.
#[derive(Default)]
pub struct RecentTexts {
    /// Words, and the number of the group and one; by a hash, the last that came. Empty where nothing is looked for.
    entries: Vec<(u128, u32)>,
    /// Of the rows of a batch.
    words: Vec<u128>,
    /// The rows of a batch whose groups are not known.
    missing: Vec<u32>,
    bad_batches: u32,
}

impl RecentTexts {
    /// None yet; for key columns of these shapes.
    pub fn new(shapes: &[ColumnShape]) -> Self {
        let texts = shapes.iter().all(|it| matches!(it.representation, Representation::Text));
        let looks = texts && (1..=COLUMNS_MAX).contains(&shapes.len());
        Self { entries: vec![(0, 0); if looks { ENTRIES } else { 0 }], ..Self::default() }
    }

    /// Forgets all groups, as their numbers hold no longer.
    pub fn clear(&mut self) {
        self.entries.fill((0, 0));
    }

    /// Puts the groups of rows into `ids`, anything for those that are [`Self::missing`]; `false` if nothing is looked for.
    pub fn find(&mut self, keys: &[Arc<Vector>], rows: usize, ids: &mut Vec<u32>) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        self.words.clear();
        self.words.resize(rows, 0);
        for (place, column) in keys.iter().enumerate() {
            add_halves(column, u64::BITS * place as u32, &mut self.words);
        }
        self.missing.clear();
        ids.clear();
        ids.reserve(rows);
        for (row, &word) in self.words.iter().enumerate() {
            let (known, group) = self.entries[place_of(word)];
            if known != word || group == 0 {
                self.missing.push(row as u32);
            }
            ids.push(group.wrapping_sub(1));
        }
        true
    }

    /// The rows whose groups are not known.
    pub fn missing(&self) -> &[u32] {
        &self.missing
    }

    /// Notes the groups of the rows that were missing, and puts them into `ids`.
    pub fn note(&mut self, found: &[u32], ids: &mut [u32]) {
        for (&row, &group) in self.missing.iter().zip(found) {
            let word = self.words[row as usize];
            ids[row as usize] = group;
            if !is_long(word) {
                self.entries[place_of(word)] = (word, group + 1);
            }
        }
        let is_bad = (ids.len() - found.len()) * KNOWN_MIN < ids.len();
        self.bad_batches = if is_bad { self.bad_batches + 1 } else { 0 };
        if self.bad_batches == BAD_BATCHES_MAX {
            self.entries.clear();
        }
    }
}

fn place_of(word: u128) -> usize {
    let mixed = word as u64 ^ ((word >> u64::BITS) as u64).rotate_left(29);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - ENTRIES.ilog2())) as usize
}

fn is_long(word: u128) -> bool {
    word as u64 == LONG || (word >> u64::BITS) as u64 == LONG
}

/// Adds the halves that stand for the texts of a column, `shift` bits up.
fn add_halves(column: &Vector, shift: u32, words: &mut [u128]) {
    let Values::Text(texts) = &column.values else {
        unreachable!("invariant: a vector is held as its shape says");
    };
    let mut start = 0;
    for (row, (word, &end)) in words.iter_mut().zip(&texts.ends).enumerate() {
        let half = if column.is_valid(row) { half_of(texts, start, end as usize) } else { 0 };
        *word |= u128::from(half) << shift;
        start = end as usize;
    }
}

/// The bytes of a text, and above them its length and one.
fn half_of(texts: &TextVector, start: usize, end: usize) -> u64 {
    let len = end - start;
    if len > BYTES_MAX {
        return LONG;
    }
    let window = texts.bytes[start..].first_chunk().copied().unwrap_or_else(|| {
        let mut window = [0; 8];
        window[..len].copy_from_slice(&texts.bytes[start..end]);
        window
    });
    let bytes = u64::from_le_bytes(window) & ((1 << (8 * len)) - 1);
    bytes | (len as u64 + 1) << (8 * BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use stdx::Prng;

    use super::*;
    use crate::Bitmap;

    fn column(texts: &[Option<String>]) -> Arc<Vector> {
        let mut values = TextVector::default();
        texts.iter().for_each(|it| values.push_bytes(it.as_deref().unwrap_or("?").as_bytes()));
        let validity = Some(Bitmap::from_bits(texts.iter().map(Option::is_some)));
        Arc::new(Vector { values: Values::Text(values), validity })
    }

    #[test]
    fn a_word_stands_for_one_pair_of_texts() {
        let mut random = Prng::new(1);
        let mut text = |_: usize| {
            let len = random.below(10) as usize;
            let mut letter = |_| ['a', '\0', '\u{7f}', '\u{ff}'][random.below(4) as usize];
            let text: String = (0..len).map(&mut letter).collect();
            (random.below(6) > 0).then_some(text)
        };
        let texts: Vec<[Option<String>; 2]> = (0..4000).map(|it| [text(it), text(it)]).collect();
        let columns: Vec<Arc<Vector>> = [0, 1]
            .map(|place| column(&texts.iter().map(|it| it[place].clone()).collect::<Vec<_>>()))
            .to_vec();
        let mut words = vec![0; texts.len()];
        add_halves(&columns[0], 0, &mut words);
        add_halves(&columns[1], 64, &mut words);
        let mut known = std::collections::HashMap::new();
        for (word, pair) in words.into_iter().zip(&texts) {
            let is_short = pair.iter().flatten().all(|it| it.len() <= BYTES_MAX);
            assert_eq!(!is_short, is_long(word), "{pair:?}");
            if is_short {
                assert_eq!(known.entry(word).or_insert(pair), &pair);
            }
        }
        assert!(known.len() > 1000, "the texts repeat themselves");
    }
}
