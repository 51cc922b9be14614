//! Sums of integers, and counts: in 64 bits as long as values added x greatest magnitude proves that they fit. They
//! widen to 128 bits once for the whole column when it no longer does: no check per row, and no wrong number.

use std::ops::Range;

use super::gather::take;
use super::integer_kernels::{add_integers, add_ones, add_wide};
use super::wide_sums::{Wide, WideSums};
use crate::aggregate::batch_groups::BatchGroups;
use crate::aggregate::tuning::COPIED_GROUPS;
use crate::{Bitmap, Values};

/// One sum per group.
pub struct IntegerSums {
    sums: Sums,
    /// Greatest magnitude of a value.
    magnitude: u128,
    /// Values added so far, over all groups; not counted any more when sums are wide.
    added: u128,
}

enum Sums {
    Narrow(Vec<i64>),
    Wide(WideSums),
}

impl IntegerSums {
    /// Sums of values of up to a magnitude, in 64 bits as long as these suffice.
    pub fn narrow(magnitude: u128) -> Self {
        Self { sums: Sums::Narrow(Vec::new()), magnitude, added: 0 }
    }

    /// Sums of values of up to a magnitude, in 128 bits from the start.
    pub fn wide(magnitude: u128) -> Self {
        Self { sums: Sums::Wide(WideSums::default()), magnitude, added: 0 }
    }

    /// Makes room for groups.
    pub fn resize(&mut self, groups: usize) {
        match &mut self.sums {
            Sums::Narrow(sums) => sums.resize(groups, 0),
            Sums::Wide(sums) => sums.resize(groups),
        }
    }

    /// The groups at some places, in that order.
    pub fn take(&self, places: &[u32]) -> Self {
        let sums = match &self.sums {
            Sums::Narrow(sums) => Sums::Narrow(take(sums, places)),
            Sums::Wide(sums) => Sums::Wide(sums.take(places)),
        };
        Self { sums, ..*self }
    }

    /// Groups that follow each other.
    pub fn slice(&self, groups: Range<usize>) -> Self {
        let sums = match &self.sums {
            Sums::Narrow(sums) => Sums::Narrow(sums[groups].to_vec()),
            Sums::Wide(sums) => {
                Sums::Wide(sums.take(&(groups.start as u32..groups.end as u32).collect::<Vec<_>>()))
            }
        };
        Self { sums, ..*self }
    }

    /// Adds one for each row of a batch that counts.
    pub fn count(&mut self, groups: BatchGroups<'_>, valid: Option<&Bitmap>) {
        match &mut self.sums {
            Sums::Narrow(counts) => add_ones(counts, groups, valid),
            Sums::Wide(_) => unreachable!("invariant: counts fit 64 bits"),
        }
    }

    /// Adds the values of the rows of a batch that count.
    pub fn update(&mut self, groups: BatchGroups<'_>, values: &Values, valid: Option<&Bitmap>) {
        self.widen_before(groups.ids.len() as u128);
        match (&mut self.sums, values) {
            (Sums::Narrow(sums), Values::I64(values)) => add_integers(sums, groups, values, valid),
            (Sums::Wide(sums), Values::I64(values)) => {
                let most = self.magnitude.saturating_mul(values.len() as u128);
                if most <= i64::MAX as u128 && sums.len() <= COPIED_GROUPS && !groups.is_sorted {
                    // A batch alone fits 64 bits.
                    let mut batch = [0i64; COPIED_GROUPS];
                    add_integers(&mut batch[..sums.len()], groups, values, valid);
                    (0..sums.len()).for_each(|group| sums.add(group, batch[group].into()));
                } else {
                    add_wide(sums, groups.ids, values, valid);
                }
            }
            (Sums::Wide(sums), Values::I128(values)) => add_wide(sums, groups.ids, values, valid),
            _ => unreachable!("invariant: an accumulator was made for its column"),
        }
    }

    /// Puts these sums of `rows` rows in place of those that are there.
    pub fn set(&mut self, new: Vec<i64>, rows: usize) {
        self.widen_before(rows as u128);
        match &mut self.sums {
            Sums::Narrow(sums) => *sums = new,
            Sums::Wide(sums) => *sums = WideSums::of(&new),
        }
    }

    /// Adds sums of `rows` rows to the first groups; 64 bits were enough for each.
    pub fn add(&mut self, more: &[i64], rows: usize) {
        self.widen_before(rows as u128);
        match &mut self.sums {
            Sums::Narrow(sums) => {
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            }
            Sums::Wide(sums) => {
                more.iter().enumerate().for_each(|(group, &it)| sums.add(group, it.into()));
            }
        }
    }

    /// Adds a sum of `rows` rows to the only group.
    pub fn add_total(&mut self, more: i128, rows: usize) {
        self.widen_before(rows as u128);
        match &mut self.sums {
            Sums::Narrow(sums) => sums[0] += more as i64,
            Sums::Wide(sums) => sums.add(0, more),
        }
    }

    /// For each pair adds the group that stands second, of other sums, to the one that stands first.
    pub fn merge(&mut self, pairs: impl Iterator<Item = (usize, usize)>, other: &Self) {
        match &other.sums {
            Sums::Narrow(_) => self.widen_before(other.added),
            Sums::Wide(_) => self.widen(),
        }
        match (&mut self.sums, &other.sums) {
            (Sums::Narrow(sums), Sums::Narrow(more)) => {
                pairs.for_each(|(to, from)| sums[to] += more[from]);
            }
            (Sums::Wide(sums), Sums::Narrow(more)) => {
                pairs.for_each(|(to, from)| sums.add(to, more[from].into()));
            }
            (Sums::Wide(sums), Sums::Wide(more)) => {
                pairs.for_each(|(to, from)| sums.add_sum(to, more.get(from)));
            }
            (Sums::Narrow(_), Sums::Wide(_)) => unreachable!("invariant: these were just widened"),
        }
    }

    /// Widens before the proof fails that sums fit 64 bits.
    fn widen_before(&mut self, more: u128) {
        if let Sums::Narrow(_) = self.sums {
            self.added += more;
            if self.magnitude.saturating_mul(self.added) > i64::MAX as u128 {
                self.widen();
            }
        }
    }

    fn widen(&mut self) {
        if let Sums::Narrow(sums) = &self.sums {
            self.sums = Sums::Wide(WideSums::of(sums));
        }
    }

    /// The sums when all fit 64 bits anyway.
    pub fn as_narrow(&self) -> Option<&[i64]> {
        match &self.sums {
            Sums::Narrow(sums) => Some(sums),
            Sums::Wide(_) => None,
        }
    }

    /// The sum of a group.
    pub fn get(&self, group: usize) -> Wide {
        match &self.sums {
            Sums::Narrow(sums) => Wide { low: sums[group].into(), carry: 0 },
            Sums::Wide(sums) => sums.get(group),
        }
    }
}
