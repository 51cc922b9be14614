//! Tables for dense integer keys: an array indexed by key, with the row itself when keys are unique, else with the
//! start of a run of rows. 8 to 20 times faster to probe than any hash table (PERFORMANCE 1.4).

use stdx::sync::atomic::{AtomicU32, Ordering};
use types::SqlResult;

use super::parallel::{Pieces, piece_rows};
use crate::Team;

/// Keys that an array may span per row, plus [`SMALL`].
const SPREAD: u64 = 8;
/// Keys that an array may span in any case.
const SMALL: u64 = 4096;
/// Keys that an array may span at most: 64 MB.
const LARGEST: u64 = 16 << 20;

/// What one look at all keys tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyRange {
    pub(super) min: i64,
    pub(super) max: i64,
    /// Keys never fall from row to row.
    pub(super) rising: bool,
}

/// Rows by key.
pub(super) enum Rows {
    /// By key the row + 1, 0 for none.
    Unique(Vec<u32>),
    /// By key the start of its run, with one start more; the rows of all runs, or `None` when they stand in key order.
    Runs { starts: Vec<u32>, rows: Option<Vec<u32>> },
}

/// An array over the keys from `min` on.
pub(super) struct DirectTable {
    pub(super) min: i64,
    pub(super) rows: Rows,
    /// By key whether there is a row.
    pub(super) bitmap: Vec<u64>,
}

impl KeyRange {
    pub(super) fn of(keys: &[i64], team: &dyn Team) -> SqlResult<Option<Self>> {
        let piece = piece_rows(keys.len(), team.slots() * 4);
        let mut parts: Vec<Option<Self>> = vec![None; keys.len().div_ceil(piece)];
        let mut pieces = Pieces::new();
        for (part, keys) in parts.iter_mut().zip(keys.chunks(piece)) {
            pieces.add(keys.len(), move || *part = Self::of_part(keys));
        }
        pieces.run(team)?;
        let mut whole: Option<Self> = None;
        for (index, part) in parts.into_iter().flatten().enumerate() {
            whole = Some(match whole {
                None => part,
                Some(before) => Self {
                    min: before.min.min(part.min),
                    max: before.max.max(part.max),
                    rising: before.rising
                        && part.rising
                        && keys[index * piece - 1] <= keys[index * piece],
                },
            });
        }
        Ok(whole)
    }

    fn of_part(keys: &[i64]) -> Option<Self> {
        let &first = keys.first()?;
        // Separate folds, each of which the compiler turns into vector instructions.
        let (min, max) =
            keys.iter().fold((first, first), |(min, max), &key| (min.min(key), max.max(key)));
        let falls = keys.windows(2).fold(false, |falls, pair| falls | (pair[0] > pair[1]));
        Some(Self { min, max, rising: !falls })
    }

    /// How many keys there are from the least to the greatest, if an array of them is in proportion to `rows`.
    pub(super) fn span(self, rows: usize, forced: bool) -> Option<usize> {
        let span = self.max.wrapping_sub(self.min) as u64;
        let most = if forced { LARGEST } else { (rows as u64 * SPREAD + SMALL).min(LARGEST) };
        (span < most).then(|| span as usize + 1)
    }
}

impl DirectTable {
    /// A table of keys that lie within a range of `span` keys.
    pub(super) fn build(
        keys: &[i64],
        range: KeyRange,
        span: usize,
        team: &dyn Team,
    ) -> SqlResult<Self> {
        let by_key = fill_unique(keys, range.min, span, team)?;
        let bitmap = bitmap_of(&by_key, team)?;
        let distinct: usize = bitmap.iter().map(|it| it.count_ones() as usize).sum();
        let rows = if distinct == keys.len() {
            Rows::Unique(by_key)
        } else if range.rising {
            Rows::Runs { starts: rising_starts(keys, range.min, span, team)?, rows: None }
        } else {
            counted_runs(keys, range.min, span, team)?
        };
        Ok(Self { min: range.min, rows, bitmap })
    }
}

#[inline]
fn place(key: i64, min: i64) -> usize {
    key.wrapping_sub(min) as u64 as usize
}

fn zeroed(len: usize) -> Vec<AtomicU32> {
    (0..len).map(|_| AtomicU32::new(0)).collect()
}

fn plain(words: Vec<AtomicU32>) -> Vec<u32> {
    words.into_iter().map(AtomicU32::into_inner).collect()
}

/// Writes each row to the place of its key. Where keys repeat, any of the rows stays, so fewer places than rows are
/// taken in the end, which is how repeated keys are noticed without an atomic read-modify-write.
fn fill_unique(keys: &[i64], min: i64, span: usize, team: &dyn Team) -> SqlResult<Vec<u32>> {
    let rows = zeroed(span);
    let piece = piece_rows(keys.len(), team.slots() * 4);
    let mut pieces = Pieces::new();
    for (index, keys) in keys.chunks(piece).enumerate() {
        let rows = &rows;
        pieces.add(keys.len(), move || {
            for (row, &key) in (index * piece..).zip(keys) {
                rows[place(key, min)].store(row as u32 + 1, Ordering::Relaxed);
            }
        });
    }
    pieces.run(team)?;
    Ok(plain(rows))
}

fn bitmap_of(rows: &[u32], team: &dyn Team) -> SqlResult<Vec<u64>> {
    let mut bitmap = vec![0; rows.len().div_ceil(64)];
    let piece = piece_rows(rows.len(), team.slots() * 4);
    let mut pieces = Pieces::new();
    for (words, rows) in bitmap.chunks_mut(piece / 64).zip(rows.chunks(piece)) {
        pieces.add(rows.len(), move || {
            for (word, rows) in words.iter_mut().zip(rows.chunks(64)) {
                *word = rows
                    .iter()
                    .enumerate()
                    .fold(0, |word, (bit, &row)| word | u64::from(row != 0) << bit);
            }
        });
    }
    pieces.run(team)?;
    Ok(bitmap)
}

/// Starts of the runs when rows stand in key order: each piece of rows writes the starts of the keys it reaches first.
fn rising_starts(keys: &[i64], min: i64, span: usize, team: &dyn Team) -> SqlResult<Vec<u32>> {
    let mut starts = vec![0; span + 1];
    let piece = piece_rows(keys.len(), team.slots() * 4);
    let mut pieces = Pieces::new();
    // Start 0 is row 0; `rest` begins at the first start that is not written yet.
    let (mut rest, mut written) = (&mut starts[1..], 1);
    for (index, part) in keys.chunks(piece).enumerate() {
        let Some(&last) = part.last() else { continue };
        let end = place(last, min) + 1;
        let (own, after) = rest.split_at_mut(end - written);
        let first = written;
        (rest, written) = (after, end);
        pieces.add(part.len(), move || {
            let mut done = first;
            for (row, &key) in (index * piece..).zip(part) {
                let key = place(key, min);
                // All keys after the previous one up to this one start here.
                while done <= key {
                    own[done - first] = row as u32;
                    done += 1;
                }
            }
        });
    }
    pieces.run(team)?;
    starts[span] = keys.len() as u32;
    Ok(starts)
}

/// Runs by counting sort.
fn counted_runs(keys: &[i64], min: i64, span: usize, team: &dyn Team) -> SqlResult<Rows> {
    // Key k is counted one place on, so that the sum up to a place is the start of its run.
    let counts = zeroed(span + 1);
    let piece = piece_rows(keys.len(), team.slots() * 4);
    let mut pieces = Pieces::new();
    for keys in keys.chunks(piece) {
        let counts = &counts;
        pieces.add(keys.len(), move || {
            for &key in keys {
                counts[place(key, min) + 1].fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    pieces.run(team)?;
    let mut starts = plain(counts);
    let mut total = 0;
    for start in &mut starts {
        total += *start;
        *start = total;
    }
    // Scattering moves a copy of the starts to the ends.
    let cursors: Vec<AtomicU32> = starts.iter().map(|&start| AtomicU32::new(start)).collect();
    let rows = zeroed(keys.len());
    let mut pieces = Pieces::new();
    for (index, keys) in keys.chunks(piece).enumerate() {
        let (cursors, rows) = (&cursors, &rows);
        pieces.add(keys.len(), move || {
            for (row, &key) in (index * piece..).zip(keys) {
                let at = cursors[place(key, min)].fetch_add(1, Ordering::Relaxed);
                rows[at as usize].store(row as u32, Ordering::Relaxed);
            }
        });
    }
    pieces.run(team)?;
    Ok(Rows::Runs { starts, rows: Some(plain(rows)) })
}
