//! A bitmap of rising keys, the ranks of its words, and the starts of runs: each piece of the rows writes words of its own, so
//! that no write is atomic, and a key is told from the one before it without a look at the bitmap.

use std::ops::Range;

use memory::Placed;
use types::SqlResult;

use crate::Team;
use crate::leveled::{level, ranks_of};
use crate::pieces::{Pieces, piece_rows, unspecified};

/// How many keys of a range are before one.
#[inline]
pub(super) fn place(key: i64, min: i64) -> usize {
    key.wrapping_sub(min) as u64 as usize
}

/// What is found of rising keys.
pub(super) struct Rising {
    /// By key whether there is a row.
    pub(super) bitmap: Placed<u64>,
    /// For each word of the bitmap the keys before it.
    pub(super) ranks: Placed<u32>,
    /// The first row of each key, with one start more; none where no key is there twice.
    pub(super) starts: Option<Placed<u32>>,
}

/// Neighbouring rows and the words of the bitmap that only their keys are in.
struct Piece {
    rows: Range<usize>,
    words: Range<usize>,
    /// Different keys, once they are counted.
    keys: usize,
}

impl Rising {
    /// Of keys that never fall, from `min` on, within a range of `span` keys.
    pub(super) fn new(keys: &[i64], min: i64, span: usize, team: &dyn Team) -> SqlResult<Self> {
        let mut bitmap: Placed<u64> = unspecified(span.div_ceil(64), team)?;
        let mut pieces = cut(keys, min, bitmap.len(), piece_rows(keys.len(), team.width() * 4));
        let mut work = Pieces::new();
        let mut rest = bitmap.as_mut_slice();
        for Piece { rows, words, keys: count } in &mut pieces {
            let (own, others) = rest.split_at_mut(words.len());
            rest = others;
            let (keys, first) = (&keys[rows.clone()], words.start);
            work.add(keys.len(), move || *count = mark(keys, min, first, own));
        }
        work.run(team)?;
        let distinct: usize = pieces.iter().map(|it| it.keys).sum();
        let mut ranks: Placed<u32> = unspecified(bitmap.len(), team)?;
        let mut starts = match distinct < keys.len() {
            true => Some(unspecified(distinct + 1, team)?),
            false => None,
        };
        let mut work = Pieces::new();
        let (mut ranks_left, mut starts_left) = (ranks.as_mut_slice(), starts.as_deref_mut());
        let mut before = 0;
        for Piece { rows, words, keys: count } in &pieces {
            let (own_ranks, others) = ranks_left.split_at_mut(words.len());
            ranks_left = others;
            let (own_starts, others) = starts_left.map(|it| it.split_at_mut(*count)).unzip();
            starts_left = others;
            let (keys, row, words) = (&keys[rows.clone()], rows.start, &bitmap[words.clone()]);
            let first = before as u32;
            work.add(keys.len(), move || {
                ranks_of(level(), words, first, own_ranks);
                own_starts.into_iter().for_each(|it| note_starts(keys, row, it));
            });
            before += count;
        }
        starts_left.into_iter().for_each(|end| end[0] = keys.len() as u32);
        work.run(team)?;
        Ok(Self { bitmap, ranks, starts })
    }
}

/// Cuts keys into pieces of about so many rows between words of a bitmap of so many.
fn cut(keys: &[i64], min: i64, words: usize, piece: usize) -> Vec<Piece> {
    let word = |row: usize| place(keys[row], min) / 64;
    let mut pieces: Vec<Piece> = Vec::with_capacity(keys.len().div_ceil(piece));
    let mut start = 0;
    while start < keys.len() {
        let mut end = keys.len().min(start + piece);
        while end < keys.len() && word(end) == word(end - 1) {
            end += 1;
        }
        let first = pieces.last().map_or(0, |it| it.words.end);
        let behind = if end < keys.len() { word(end) } else { words };
        pieces.push(Piece { rows: start..end, words: first..behind, keys: 0 });
        start = end;
    }
    pieces
}

/// Sets the bits of keys, and no others, in words of which the first has this number; gives how many different ones there are.
fn mark(keys: &[i64], min: i64, first: usize, own: &mut [u64]) -> usize {
    own.fill(0);
    let (mut word, mut bits, mut count) = (first, 0, 0);
    let mut before = None;
    for &key in keys {
        let place = place(key, min);
        if place / 64 != word {
            own[word - first] |= bits;
            (word, bits) = (place / 64, 0);
        }
        bits |= 1 << (place % 64);
        count += usize::from(before != Some(key));
        before = Some(key);
    }
    own[word - first] |= bits;
    count
}

/// Writes the first row of each key; `row` is that of the first of them.
fn note_starts(keys: &[i64], row: usize, starts: &mut [u32]) {
    let mut done = 0;
    let mut before = None;
    for (row, &key) in (row as u32..).zip(keys) {
        if before != Some(key) {
            starts[done] = row;
            done += 1;
            before = Some(key);
        }
    }
}
