//! The row with the least or the greatest value of a range: a tree of the best rows of blocks, and of blocks of blocks
//! (Leis et al., VLDB 2015, "Efficient Processing of Window Functions", section 4.2).
//!
//! Key decision: of rows that are equal the first is the best, so that the answer does not depend on how a range was cut.

use std::cmp::Ordering;

use super::keys::Keys;

/// No row.
pub(super) const NONE: usize = usize::MAX;
/// Entries of a level under one of the next.
const FAN_OUT: usize = 16;

/// The rows of a unit with their values.
pub(super) struct Extremes {
    keys: Keys,
    greatest: bool,
    /// The rows that have a value.
    rows: Vec<usize>,
    /// The best row of each block, of blocks of blocks, and so on.
    levels: Vec<Vec<usize>>,
}

/// A range that was asked for, and its best row: the next range often begins at the same row.
#[derive(Clone, Copy)]
pub(super) struct Last {
    range: (usize, usize),
    best: usize,
}

impl Default for Last {
    fn default() -> Self {
        Self { range: (0, 0), best: NONE }
    }
}

impl Extremes {
    /// Of rows of which `counts` tells those that have a value.
    pub(super) fn new(
        keys: Keys,
        greatest: bool,
        rows: usize,
        counts: impl Fn(usize) -> bool,
    ) -> Self {
        let rows: Vec<usize> = (0..rows).map(|it| if counts(it) { it } else { NONE }).collect();
        let mut extremes = Self { keys, greatest, rows, levels: Vec::new() };
        loop {
            let below = extremes.levels.last().unwrap_or(&extremes.rows);
            if below.len() <= FAN_OUT {
                return extremes;
            }
            let best =
                |block: &[usize]| block.iter().fold(NONE, |best, &it| extremes.better(best, it));
            let level = below.chunks(FAN_OUT).map(best).collect();
            extremes.levels.push(level);
        }
    }

    fn better(&self, left: usize, right: usize) -> usize {
        if left == NONE || right == NONE {
            return left.min(right);
        }
        let order = self.keys.compare(left, right);
        match if self.greatest { order.reverse() } else { order } {
            Ordering::Less => left,
            Ordering::Greater => right,
            Ordering::Equal => left.min(right),
        }
    }

    /// The best row of a range; [`NONE`] if none of it has a value.
    pub(super) fn best(&self, range: (usize, usize), last: &mut Last) -> usize {
        let (start, end) = range;
        let goes_on = start == last.range.0 && last.range.1 <= end && last.range.0 < last.range.1;
        let best = match goes_on && end - last.range.1 <= FAN_OUT {
            true => {
                let more = &self.rows[last.range.1..end];
                more.iter().fold(last.best, |best, &it| self.better(best, it))
            }
            false => self.search(start, end),
        };
        *last = Last { range, best };
        best
    }

    /// The best of some rows.
    pub(super) fn best_of(&self, rows: [usize; 3]) -> usize {
        rows.into_iter().fold(NONE, |best, it| self.better(best, it))
    }

    fn search(&self, mut start: usize, mut end: usize) -> usize {
        let mut best = NONE;
        let mut level = &self.rows;
        let mut above = self.levels.iter();
        loop {
            let next = above.next();
            while start < end && (next.is_none() || !start.is_multiple_of(FAN_OUT)) {
                best = self.better(best, level[start]);
                start += 1;
            }
            while start < end && !end.is_multiple_of(FAN_OUT) {
                end -= 1;
                best = self.better(best, level[end]);
            }
            match next {
                Some(next) if start < end => {
                    (start, end, level) = (start / FAN_OUT, end / FAN_OUT, next);
                }
                _ => return best,
            }
        }
    }
}
