//! Marks by extremes: some partner fulfils `probe.a <> build.a` exactly when the least or the greatest value that came with
//! the key does, and so for `<`, `<=`, `>`, `>=`. Each key keeps these two, no pair is looked at, and a hot key costs no
//! more than others (docs/design/05-sql-and-planning.md, "extremes").

use memory::{Placed, Scratch};
use plan::BinaryOperator;
use stdx::sync::atomic::{AtomicI64, Ordering};
use types::SqlResult;

use super::Pairs;
use super::hash::float_bits;
use crate::{Values, Vector};

/// The least and the greatest value that came with each key, and what is asked of them.
pub(super) struct Extremes {
    /// `value of the probe side <operator> value of the build side`.
    operator: BinaryOperator,
    /// The column of the payload that is compared.
    pub(super) column: usize,
    /// By slot; the least above the greatest when nothing came.
    ends: Placed<[AtomicI64; 2]>,
}

/// A float as a word of the same order: NaN above all, and both zeros one.
#[inline]
pub(super) fn float_word(value: f64) -> i64 {
    let bits = float_bits(value);
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

impl Extremes {
    /// Nothing has come yet to so many slots.
    pub(super) fn new(
        operator: BinaryOperator,
        column: usize,
        slots: usize,
        scratch: &Scratch,
    ) -> SqlResult<Self> {
        let none = || [AtomicI64::new(i64::MAX), AtomicI64::new(i64::MIN)];
        Ok(Self { operator, column, ends: scratch.filled(slots, none)? })
    }

    /// How many slots there are.
    #[inline]
    pub(super) fn slots(&self) -> usize {
        self.ends.len()
    }

    /// Takes in the values of rows, given with the slots of their keys; NULL fulfils no comparison.
    pub(super) fn take_in(&self, found: &Pairs, values: &Vector) {
        match &values.values {
            Values::I64(it) => self.widen(found, values, |row| it[row]),
            Values::F64(it) => self.widen(found, values, |row| float_word(it[row])),
            Values::Codes(it) => self.widen(found, values, |row| i64::from(it[row])),
            _ => unreachable!("invariant: a vector is held as its shape says"),
        }
    }

    fn widen(&self, found: &Pairs, values: &Vector, word: impl Fn(usize) -> i64) {
        for (&row, &slot) in found.probe.iter().zip(&found.build) {
            if !values.is_valid(row as usize) {
                continue;
            }
            let (it, [least, greatest]) = (word(row as usize), &self.ends[slot as usize]);
            // Looking first keeps the line shared among workers.
            if it < least.load(Ordering::Relaxed) {
                least.fetch_min(it, Ordering::Relaxed);
            }
            if it > greatest.load(Ordering::Relaxed) {
                greatest.fetch_max(it, Ordering::Relaxed);
            }
        }
    }

    /// Whether some value that came with the key of a slot fulfils the comparison with `own`.
    #[inline]
    pub(super) fn decides(&self, slot: usize, own: i64) -> bool {
        let [least, greatest] = &self.ends[slot];
        let (least, greatest) = (least.load(Ordering::Relaxed), greatest.load(Ordering::Relaxed));
        least <= greatest
            && match self.operator {
                BinaryOperator::Less => least < own,
                BinaryOperator::LessEqual => least <= own,
                BinaryOperator::Greater => greatest > own,
                BinaryOperator::GreaterEqual => greatest >= own,
                _ => least != own || greatest != own,
            }
    }
}
