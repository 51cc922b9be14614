//! Several keys of words as one: each less its least value on the build side, in mixed radix. Joins on two ids then hash
//! and compare one word, and find it in a table of dense keys if there are few possible ones.

use memory::Placed;
use types::SqlResult;

use super::direct::{KeyRange, Seen};
use super::key::{KeyColumn, KeySlice};
use crate::Team;
use crate::pieces::{Pieces, piece_rows, unspecified};

/// How keys are put together.
pub(super) struct Packing {
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
struct Part {
    min: i64,
    /// Greatest value less the least.
    most: u64,
    factor: u64,
}

impl Packing {
    /// For keys that range over this; `None` for a single key, when a key is no word, or when 63 bits do not do.
    pub(super) fn of(ranges: &[Option<KeyRange>]) -> Option<Self> {
        let mut parts = Vec::with_capacity(ranges.len());
        let mut factor = 1u64;
        if ranges.len() < 2 {
            return None;
        }
        for range in ranges {
            let range = (*range)?;
            let most = range.max.wrapping_sub(range.min) as u64;
            parts.push(Part { min: range.min, most, factor });
            let product = most.checked_add(1).and_then(|it| factor.checked_mul(it));
            factor = product.filter(|&it| it <= i64::MAX as u64)?;
        }
        Some(Self { parts })
    }

    /// The keys of all build rows, and what they range over.
    pub(super) fn pack_all(
        &self,
        keys: &[KeyColumn],
        team: &dyn Team,
    ) -> SqlResult<(Placed<i64>, Option<KeyRange>)> {
        let columns: Vec<KeySlice<'_>> = keys.iter().map(KeyColumn::slice).collect();
        let rows = match columns.first() {
            Some(KeySlice::Words(words)) => words.len(),
            _ => 0,
        };
        let mut packed: Placed<i64> = unspecified(rows, team)?;
        let piece = piece_rows(rows, team.width() * 4);
        let mut seen = vec![None; rows.div_ceil(piece)];
        let mut pieces = Pieces::new();
        for ((index, out), seen) in packed.chunks_mut(piece).enumerate().zip(&mut seen) {
            let columns = &columns;
            let rows = index * piece..index * piece + out.len();
            pieces.add(rows.len(), move || {
                out.fill(0);
                for (part, column) in self.parts.iter().zip(columns) {
                    if let KeySlice::Words(words) = column {
                        part.add(&words[rows.clone()], out);
                    }
                }
                *seen = Seen::of(out);
            });
        }
        pieces.run(team)?;
        Ok((packed, Seen::all(seen)))
    }

    /// The value of one of the keys in a word.
    pub(super) fn part_of(&self, key: usize, packed: i64) -> i64 {
        let Part { min, most, factor } = self.parts[key];
        let value = packed as u64 / factor % most.saturating_add(1).max(1);
        min.wrapping_add(value as i64)
    }

    /// The keys of a batch of the probe side; clears `possible` where a key is beyond those of the build side, and tells
    /// whether none was.
    pub(super) fn pack(
        &self,
        keys: &[KeySlice<'_>],
        packed: &mut Vec<i64>,
        possible: &mut [bool],
    ) -> bool {
        packed.clear();
        packed.resize(possible.len(), 0);
        let mut all = true;
        for (part, column) in self.parts.iter().zip(keys) {
            if let KeySlice::Words(words) = column {
                part.add(words, packed);
                for (possible, word) in possible.iter_mut().zip(*words) {
                    let inside = word.wrapping_sub(part.min) as u64 <= part.most;
                    all &= inside;
                    *possible &= inside;
                }
            }
        }
        all
    }
}

impl Part {
    fn add(&self, words: &[i64], packed: &mut [i64]) {
        for (packed, word) in packed.iter_mut().zip(words) {
            let value = (word.wrapping_sub(self.min) as u64).wrapping_mul(self.factor);
            *packed = packed.wrapping_add(value as i64);
        }
    }
}
