//! What the first key of a row must be for the row to be among the first of an order: told by the workers who have enough
//! better rows, asked by the sort before it makes whole keys, and by the scan before it looks at anything else.
//!
//! Key decision: it is a value (or the code of a text), not a sort key, so that a scan turns it into a range of codes.

use stdx::sync::atomic::{AtomicI64, Ordering};

use crate::{Values, Vector};

/// The worst value of the first key with which a row may still be wanted. It only ever gets stricter.
#[derive(Debug)]
pub struct Cutoff {
    descending: bool,
    nulls_first: bool,
    /// The value; the last one of all as long as none is known.
    value: AtomicI64,
}

impl Cutoff {
    /// Every row may be wanted.
    pub fn new(descending: bool, nulls_first: bool) -> Self {
        let last = if descending { i64::MIN } else { i64::MAX };
        Self { descending, nulls_first, value: AtomicI64::new(last) }
    }

    /// Whether the greatest values come first.
    pub fn is_descending(&self) -> bool {
        self.descending
    }

    /// Whether rows without a value come first, so that no value tells that they are not wanted.
    pub fn keeps_nulls(&self) -> bool {
        self.nulls_first
    }

    /// The least and the greatest value that may be wanted; `None` as long as all are. A row with either bound is wanted
    /// if later keys say so.
    pub fn range(&self) -> Option<(i64, i64)> {
        // A stale value only keeps more rows.
        let value = self.value.load(Ordering::Relaxed);
        match self.descending {
            true => (value > i64::MIN).then_some((value, i64::MAX)),
            false => (value < i64::MAX).then_some((i64::MIN, value)),
        }
    }

    /// There are enough rows whose first key is not after that of a row. Nothing follows from a row without a value.
    pub(super) fn tighten(&self, keys: &Vector, row: usize) {
        if !keys.is_valid(row) {
            return;
        }
        let value = match &keys.values {
            Values::I64(values) => values[row],
            Values::Codes(codes) => codes[row].into(),
            _ => return,
        };
        match self.descending {
            true => self.value.fetch_max(value, Ordering::Relaxed),
            false => self.value.fetch_min(value, Ordering::Relaxed),
        };
    }

    /// The rows whose first key may be wanted, ascending; `None` when all may.
    pub(super) fn wanted(&self, keys: &Vector) -> Option<Vec<u32>> {
        let (low, high) = self.range()?;
        let wanted = match &keys.values {
            Values::I64(values) => within(values, low, high),
            Values::Codes(codes) => {
                let code = |it: i64| it.clamp(0, u32::MAX.into()) as u32;
                within(codes, code(low), code(high))
            }
            _ => return None,
        };
        let Some(valid) = &keys.validity else { return Some(wanted) };
        if !self.nulls_first {
            return Some(wanted.into_iter().filter(|&it| valid.get(it as usize)).collect());
        }
        // What stands at a NULL says nothing.
        let mut inside = vec![false; keys.values.len()];
        wanted.iter().for_each(|&it| inside[it as usize] = true);
        let rows = 0..inside.len() as u32;
        Some(rows.filter(|&it| inside[it as usize] || !valid.get(it as usize)).collect())
    }
}

/// The places of values within bounds.
fn within<T: Copy + Ord>(values: &[T], low: T, high: T) -> Vec<u32> {
    let mut places = Vec::new();
    for (chunk, values) in values.chunks(CHUNK).enumerate() {
        // Mostly there is none.
        if !values.iter().fold(false, |any, it| any | (low <= *it && *it <= high)) {
            continue;
        }
        let first = (chunk * CHUNK) as u32;
        let inside = (first..).zip(values).filter(|it| low <= *it.1 && *it.1 <= high);
        places.extend(inside.map(|it| it.0));
    }
    places
}

/// Values that are looked at without a branch.
const CHUNK: usize = 256;
