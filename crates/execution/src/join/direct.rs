//! Tables for integer keys that are not too far apart: an array indexed by key, or a bitmap of keys whose ranks index
//! the rows. Keys that are unique lead to the row itself, others to the start of a run of rows. 8 to 20 times faster to
//! probe than any hash table (docs/design/07-measured-costs.md, "probes and sets").
//!
//! The ranked form takes an eighth of a byte per possible key and half as much for counts, so it stays in the cache
//! where an array of rows would not, and needs no rows at all when they stand in key order.

use memory::{Placed, plain, shared};
use stdx::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use types::SqlResult;

use super::rising::{Rising, place};
use crate::Team;
use crate::leveled::{level, ranks_of};
use crate::pieces::{Pieces, piece_rows, unspecified, zeros};

/// Keys that an array may span per row, plus [`SMALL`].
const SPREAD: u64 = 8;
/// Keys that an array may span in any case.
const SMALL: u64 = 4096;
/// Keys that an array may span at most: 64 MB.
const LARGEST: u64 = 16 << 20;
/// Rows for each time that a key falls from which on rows are put in the order of their keys.
const RUN_ROWS: usize = 64;
/// Keys that a ranked bitmap may span per row, plus [`SMALL_RANKED`]: beyond it a hash table takes less of the cache.
const SPREAD_RANKED: u64 = 256;
/// Keys that a ranked bitmap may span in any case: 96 KiB.
const SMALL_RANKED: u64 = 1 << 19;
/// Keys that a ranked bitmap may span at most: 48 MiB.
const LARGEST_RANKED: u64 = 1 << 28;

/// What one look at all keys tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyRange {
    pub(super) min: i64,
    pub(super) max: i64,
    /// How often a key is less than that of the row before.
    pub(super) falls: usize,
}

/// Rows by slot: a slot is a key less the least one, or the rank of a key among those that are there.
pub(super) enum Rows {
    /// The slot is the row.
    InOrder,
    /// By slot the row + 1, 0 for none.
    Unique(Placed<u32>),
    /// By slot the start of its run, with one start more; the rows of all runs, or `None` when they stand in key order.
    Runs { starts: Placed<u32>, rows: Option<Placed<u32>> },
}

/// A table over the keys from `min` on.
pub(super) struct DirectTable {
    pub(super) min: i64,
    /// By key whether there is a row.
    pub(super) bitmap: Placed<u64>,
    /// For each word of the bitmap the keys before it, when slots are ranks.
    pub(super) ranks: Option<Placed<u32>>,
    pub(super) rows: Rows,
}

/// What is seen of keys one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    range: KeyRange,
    first: i64,
    last: i64,
}

impl Seen {
    /// Of some keys, if there are any.
    pub(super) fn of(keys: &[i64]) -> Option<Self> {
        let (&first, &last) = (keys.first()?, keys.last()?);
        // Separate folds, each of which the compiler turns into vector instructions.
        let (min, max) =
            keys.iter().fold((first, first), |(min, max), &key| (min.min(key), max.max(key)));
        let falls = keys.windows(2).map(|pair| usize::from(pair[0] > pair[1])).sum();
        Some(Self { range: KeyRange { min, max, falls }, first, last })
    }

    /// Of these keys and those that follow them.
    pub(super) fn and(self, behind: Self) -> Self {
        let (a, b) = (self.range, behind.range);
        let range = KeyRange {
            min: a.min.min(b.min),
            max: a.max.max(b.max),
            falls: a.falls + b.falls + usize::from(self.last > behind.first),
        };
        Self { range, first: self.first, last: behind.last }
    }

    /// Of all pieces of the keys, in their order.
    pub(super) fn all(pieces: impl IntoIterator<Item = Option<Self>>) -> Option<KeyRange> {
        pieces.into_iter().flatten().reduce(Self::and).map(|it| it.range)
    }
}

impl KeyRange {
    /// How many keys there are from the least to the greatest, if a table of them is in proportion to `rows`. As many `tables`
    /// have some of the keys each, dealt by a hash: so many rows together make a range as dense as one table of all would.
    pub(super) fn span(self, rows: usize, tables: usize) -> Option<usize> {
        let (rows, tables) = (rows as u64, tables as u64);
        let dense = rows.saturating_mul(tables).saturating_mul(SPREAD_RANKED);
        self.span_below(dense.saturating_add(SMALL_RANKED).min(LARGEST_RANKED / tables))
    }

    /// The same, however far keys are apart, within reason.
    pub(super) fn span_in_any_case(self) -> Option<usize> {
        self.span_below(LARGEST)
    }

    fn span_below(self, most: u64) -> Option<usize> {
        let span = self.max.wrapping_sub(self.min) as u64;
        (span < most).then(|| span as usize + 1)
    }

    fn is_rising(self) -> bool {
        self.falls == 0
    }

    /// Whether rows come in few runs of rising keys, as those of a table in parts that each is in the order of the key.
    fn has_long_runs(self, rows: usize) -> bool {
        self.falls.saturating_mul(RUN_ROWS) <= rows
    }

    /// Whether ranks pay: always when they are the rows or can become them, else where an array would be too large.
    fn is_ranked(self, span: usize, (rows, unique): (usize, bool)) -> bool {
        let becomes_rows = unique && self.has_long_runs(rows);
        self.is_rising()
            || becomes_rows
            || span as u64 > (rows as u64 * SPREAD + SMALL).min(LARGEST)
    }
}

impl DirectTable {
    /// A table of keys that lie within a range of `span` keys; `unique` says that none of them is there twice.
    pub(super) fn build(
        keys: &[i64],
        (range, unique): (KeyRange, bool),
        span: usize,
        team: &dyn Team,
    ) -> SqlResult<Self> {
        if range.is_ranked(span, (keys.len(), unique)) {
            return Self::ranked(keys, range, span, team);
        }
        let slot = |key| place(key, range.min);
        let by_key = fill_unique(keys, &slot, span, team)?;
        let (bitmap, distinct) = bitmap_of(&by_key, team)?;
        let rows = if distinct == keys.len() {
            Rows::Unique(by_key)
        } else {
            counted_runs(keys, &slot, span, team)?
        };
        Ok(Self { min: range.min, bitmap, ranks: None, rows })
    }

    fn ranked(keys: &[i64], range: KeyRange, span: usize, team: &dyn Team) -> SqlResult<Self> {
        if range.is_rising() {
            let Rising { bitmap, ranks, starts } = Rising::new(keys, range.min, span, team)?;
            let rows = starts.map_or(Rows::InOrder, |starts| Rows::Runs { starts, rows: None });
            return Ok(Self { min: range.min, bitmap, ranks: Some(ranks), rows });
        }
        let bitmap = bitmap_of_keys(keys, range.min, span, team)?;
        let (ranks, distinct) = ranks_of_all(&bitmap, team)?;
        let slot = |key| {
            let place = place(key, range.min);
            let before = bitmap[place / 64] & ((1 << (place % 64)) - 1);
            (ranks[place / 64] + before.count_ones()) as usize
        };
        let rows = match distinct == keys.len() {
            true => Rows::Unique(fill_unique(keys, &slot, distinct, team)?),
            false => counted_runs(keys, &slot, distinct, team)?,
        };
        Ok(Self { min: range.min, bitmap, ranks: Some(ranks), rows })
    }

    /// Where rows come in few runs of rising keys: the row + 1 of each rank, in whose order the caller puts what it has of rows,
    /// so that ranks are the rows from now on. Each run is read from its first row to its last, as it would be if all rows rose.
    pub(super) fn take_order(&mut self, range: KeyRange) -> Option<Placed<u32>> {
        match &self.rows {
            Rows::Unique(rows) if self.ranks.is_some() && range.has_long_runs(rows.len()) => {}
            _ => return None,
        }
        match std::mem::replace(&mut self.rows, Rows::InOrder) {
            Rows::Unique(rows) => Some(rows),
            _ => None,
        }
    }
}

/// For each word of a bitmap the bits before it, and how many there are.
fn ranks_of_all(bitmap: &[u64], team: &dyn Team) -> SqlResult<(Placed<u32>, usize)> {
    let piece = piece_rows(bitmap.len(), team.width() * 2);
    let mut counts = vec![0; bitmap.len().div_ceil(piece)];
    let mut pieces = Pieces::new();
    for (count, words) in counts.iter_mut().zip(bitmap.chunks(piece)) {
        let sum = |words: &[u64]| words.iter().map(|it| it.count_ones() as usize).sum();
        pieces.add(words.len(), move || *count = sum(words));
    }
    pieces.run(team)?;
    let mut ranks: Placed<u32> = unspecified(bitmap.len(), team)?;
    let (mut pieces, mut before) = (Pieces::new(), 0);
    for ((ranks, words), count) in ranks.chunks_mut(piece).zip(bitmap.chunks(piece)).zip(counts) {
        let first = before as u32;
        pieces.add(words.len(), move || _ = ranks_of(level(), words, first, ranks));
        before += count;
    }
    pieces.run(team)?;
    Ok((ranks, before))
}

/// A bit for each key that is there, set by all workers at once; keys that rise share most of their writes.
fn bitmap_of_keys(keys: &[i64], min: i64, span: usize, team: &dyn Team) -> SqlResult<Placed<u64>> {
    let words: Placed<AtomicU64> = shared(zeros(span.div_ceil(64), team)?);
    let piece = piece_rows(keys.len(), team.width() * 4);
    let mut pieces = Pieces::new();
    for keys in keys.chunks(piece) {
        let words = &words;
        pieces.add(keys.len(), move || {
            let (mut word, mut bits) = (0, 0);
            for &key in keys {
                let place = place(key, min);
                if place / 64 != word {
                    words[word].fetch_or(bits, Ordering::Relaxed);
                    (word, bits) = (place / 64, 0);
                }
                bits |= 1 << (place % 64);
            }
            words[word].fetch_or(bits, Ordering::Relaxed);
        });
    }
    pieces.run(team)?;
    Ok(plain(words))
}

/// Writes each row to the slot of its key. Where keys repeat, any of the rows stays, so fewer places than rows are
/// taken in the end, which is how repeated keys are noticed without an atomic read-modify-write.
fn fill_unique(
    keys: &[i64],
    slot: &(impl Fn(i64) -> usize + Sync),
    slots: usize,
    team: &dyn Team,
) -> SqlResult<Placed<u32>> {
    let rows: Placed<AtomicU32> = shared(zeros(slots, team)?);
    let piece = piece_rows(keys.len(), team.width() * 4);
    let mut pieces = Pieces::new();
    for (index, keys) in keys.chunks(piece).enumerate() {
        let rows = &rows;
        pieces.add(keys.len(), move || {
            for (row, &key) in (index * piece..).zip(keys) {
                rows[slot(key)].store(row as u32 + 1, Ordering::Relaxed);
            }
        });
    }
    pieces.run(team)?;
    Ok(plain(rows))
}

/// A bit for each place that is taken, and how many are.
fn bitmap_of(rows: &[u32], team: &dyn Team) -> SqlResult<(Placed<u64>, usize)> {
    let mut bitmap: Placed<u64> = unspecified(rows.len().div_ceil(64), team)?;
    let piece = piece_rows(rows.len(), team.width() * 4);
    let mut counts = vec![0; rows.len().div_ceil(piece)];
    let mut pieces = Pieces::new();
    let parts = bitmap.chunks_mut(piece / 64).zip(rows.chunks(piece)).zip(&mut counts);
    for ((words, rows), count) in parts {
        pieces.add(rows.len(), move || {
            for (word, rows) in words.iter_mut().zip(rows.chunks(64)) {
                *word = rows
                    .iter()
                    .enumerate()
                    .fold(0, |word, (bit, &row)| word | u64::from(row != 0) << bit);
                *count += word.count_ones() as usize;
            }
        });
    }
    pieces.run(team)?;
    Ok((bitmap, counts.into_iter().sum()))
}

/// Runs by counting sort.
fn counted_runs(
    keys: &[i64],
    slot: &(impl Fn(i64) -> usize + Sync),
    slots: usize,
    team: &dyn Team,
) -> SqlResult<Rows> {
    // A slot is counted one place on, so that the sum up to a place is the start of its run.
    let counts: Placed<AtomicU32> = shared(zeros(slots + 1, team)?);
    let piece = piece_rows(keys.len(), team.width() * 4);
    let mut pieces = Pieces::new();
    for keys in keys.chunks(piece) {
        let counts = &counts;
        pieces.add(keys.len(), move || {
            for &key in keys {
                counts[slot(key) + 1].fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    pieces.run(team)?;
    // Scattering moves a copy of the starts to the ends.
    let (starts, cursors) = starts_of(plain(counts), team)?;
    let cursors: Placed<AtomicU32> = shared(cursors);
    let rows: Placed<AtomicU32> = shared(unspecified(keys.len(), team)?);
    let mut pieces = Pieces::new();
    for (index, keys) in keys.chunks(piece).enumerate() {
        let (cursors, rows) = (&cursors, &rows);
        pieces.add(keys.len(), move || {
            for (row, &key) in (index * piece..).zip(keys) {
                let at = cursors[slot(key)].fetch_add(1, Ordering::Relaxed);
                rows[at as usize].store(row as u32, Ordering::Relaxed);
            }
        });
    }
    pieces.run(team)?;
    Ok(Rows::Runs { starts, rows: Some(plain(rows)) })
}

/// The sums of counts up to each of them, twice.
fn starts_of(mut counts: Placed<u32>, team: &dyn Team) -> SqlResult<(Placed<u32>, Placed<u32>)> {
    let piece = piece_rows(counts.len(), team.width() * 2);
    let mut sums = vec![0u32; counts.len().div_ceil(piece)];
    let mut pieces = Pieces::new();
    for (sum, counts) in sums.iter_mut().zip(counts.chunks(piece)) {
        pieces.add(counts.len(), move || *sum = counts.iter().sum());
    }
    pieces.run(team)?;
    let mut copies: Placed<u32> = unspecified(counts.len(), team)?;
    let (mut pieces, mut before) = (Pieces::new(), 0);
    for ((counts, copies), sum) in counts.chunks_mut(piece).zip(copies.chunks_mut(piece)).zip(sums)
    {
        let mut total = before;
        pieces.add(counts.len(), move || {
            for (count, copy) in counts.iter_mut().zip(copies) {
                total += *count;
                (*count, *copy) = (total, total);
            }
        });
        before += sum;
    }
    pieces.run(team)?;
    Ok((counts, copies))
}
