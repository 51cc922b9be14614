//! Sums of floats that do not depend on the order of rows: exact until they are read, then rounded once.
//!
//! Key decision: rows meet in whatever order the schedule gives, so the sum of a group is kept without rounding. Two floats
//! hold it nearly always, since the error of adding two floats is a float again (Knuth, The Art of Computer Programming,
//! volume 2, 4.2.2); what they do not hold goes to a third one, and what that does not hold to an integer as long as all
//! floats need. So the result is the float nearest to the true sum under every schedule, placement and size of morsels.

use std::collections::HashMap;

use foldhash::quality::FixedState;

use super::long_sum::LongSum;
use crate::Bitmap;
use crate::aggregate::tuning::{COPIED_GROUPS, FLOAT_COPIES, FLOAT_STEP};
use crate::leveled::{FLOAT_LANES, add_floats, level, two_sum};

/// Exact sums by group.
#[derive(Clone, Default)]
pub struct FloatSums {
    /// Two floats of each group, whose sum is nearly always the sum.
    pairs: Vec<[f64; 2]>,
    /// What pairs did not hold; empty until there is such a group.
    thirds: Vec<f64>,
    /// What those did not hold, and floats that are no finite numbers.
    long: HashMap<u32, Box<LongSum>, FixedState>,
}

impl FloatSums {
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Makes room for groups.
    pub fn resize(&mut self, groups: usize) {
        self.pairs.resize(groups, [0.0; 2]);
        if !self.thirds.is_empty() {
            self.thirds.resize(groups, 0.0);
        }
    }

    /// The groups at some places, in that order.
    pub fn take(&self, places: impl Iterator<Item = usize> + Clone) -> Self {
        let pairs = places.clone().map(|it| self.pairs[it]).collect();
        let thirds = if self.thirds.is_empty() {
            Vec::new()
        } else {
            places.clone().map(|it| self.thirds[it]).collect()
        };
        let mut long = HashMap::default();
        if !self.long.is_empty() {
            let found = |(new, old)| Some((new as u32, self.long.get(&(old as u32))?.clone()));
            long.extend(places.enumerate().filter_map(found));
        }
        Self { pairs, thirds, long }
    }

    /// Adds a value to a group.
    #[inline]
    fn add(&mut self, group: usize, value: f64) {
        let [high, low] = self.pairs[group];
        let (high, error) = two_sum(high, value);
        let (low, rest) = two_sum(low, error);
        // NaN is not zero either.
        if rest == 0.0 {
            self.pairs[group] = [high, low];
        } else {
            self.add_rest(group, value, [high, low], rest);
        }
    }

    /// Adds a value, of which a pair leaves a rest or that is beyond the floats.
    #[cold]
    fn add_rest(&mut self, group: usize, value: f64, pair: [f64; 2], rest: f64) {
        if !(rest.is_finite() && pair[0].is_finite() && pair[1].is_finite()) {
            return self.add_long(group, value);
        }
        self.pairs[group] = pair;
        if self.thirds.is_empty() {
            self.thirds.resize(self.pairs.len(), 0.0);
        }
        let (third, rest) = two_sum(self.thirds[group], rest);
        self.thirds[group] = third;
        if rest != 0.0 {
            self.add_long(group, rest);
        }
    }

    fn add_long(&mut self, group: usize, value: f64) {
        self.long.entry(group as u32).or_default().add(value);
    }

    /// Adds a value per row to the groups of the rows; only rows of `valid` count.
    pub fn update(&mut self, groups: &[u32], values: &[f64], valid: Option<&Bitmap>) {
        match valid {
            None if self.len() == 1 => self.add_all_to_one(values),
            None => self.add_all(groups, values),
            Some(valid) => {
                // Adding nothing costs less than a branch on what is often random.
                let counted = |(row, &value)| if valid.get(row) { value } else { 0.0 };
                let values: Vec<f64> = values.iter().enumerate().map(counted).collect();
                match self.len() {
                    1 => self.add_all_to_one(&values),
                    _ => self.add_all(groups, &values),
                }
            }
        }
    }

    fn add_all_to_one(&mut self, values: &[f64]) {
        let (mut high, mut low) = ([0.0; FLOAT_LANES], [0.0; FLOAT_LANES]);
        for step in values.chunks(FLOAT_STEP) {
            let before = (high, low);
            let (whole, odd) = step.as_chunks::<FLOAT_LANES>();
            if add_floats(level(), &mut high, &mut low, whole) {
                odd.iter().for_each(|&it| self.add(0, it));
            } else {
                (high, low) = before;
                step.iter().for_each(|&it| self.add(0, it));
            }
        }
        high.iter().chain(&low).for_each(|&it| self.add(0, it));
    }

    fn add_all(&mut self, groups: &[u32], values: &[f64]) {
        if self.len() > COPIED_GROUPS {
            return groups
                .iter()
                .zip(values)
                .for_each(|(&group, &it)| self.add(group as usize, it));
        }
        let mut copies = [[[0.0_f64; 2]; COPIED_GROUPS]; FLOAT_COPIES];
        let (group_chunks, odd_groups) = groups.as_chunks::<FLOAT_COPIES>();
        let (value_chunks, odd_values) = values.as_chunks::<FLOAT_COPIES>();
        for (groups, values) in group_chunks.iter().zip(value_chunks) {
            for ((copy, &group), &value) in copies.iter_mut().zip(groups).zip(values) {
                let pair = &mut copy[group as usize % COPIED_GROUPS];
                let (high, error) = two_sum(pair[0], value);
                let (low, rest) = two_sum(pair[1], error);
                if rest == 0.0 {
                    *pair = [high, low];
                } else {
                    self.add(group as usize, value);
                }
            }
        }
        odd_groups.iter().zip(odd_values).for_each(|(&group, &it)| self.add(group as usize, it));
        for copy in &copies {
            for (group, pair) in copy[..self.len()].iter().enumerate() {
                pair.iter().for_each(|&it| self.add(group, it));
            }
        }
    }

    /// Adds group `from` of other sums to group `to` of these.
    pub fn merge(&mut self, to: usize, other: &Self, from: usize) {
        other.pairs[from].iter().for_each(|&it| self.add(to, it));
        if let Some(&third) = other.thirds.get(from) {
            self.add(to, third);
        }
        if let Some(long) = other.long.get(&(from as u32)) {
            self.long.entry(to as u32).or_default().merge(long);
        }
    }

    /// The sum of a group, rounded to the nearest float: infinite also where it is beyond the greatest.
    pub fn sum(&self, group: usize) -> f64 {
        let [high, low] = self.pairs[group];
        let third = self.thirds.get(group).copied().unwrap_or(0.0);
        let long = self.long.get(&(group as u32));
        if long.is_none() && third == 0.0 {
            return high + low;
        }
        let mut sum = long.map_or_else(LongSum::default, |it| (**it).clone());
        [high, low, third].iter().for_each(|&it| sum.add(it));
        sum.rounded()
    }

    /// Floats whose sum is that of a group: all of it, but where it took more than three.
    pub fn parts(&self, group: usize) -> [f64; 3] {
        let [high, low] = self.pairs[group];
        match self.long.contains_key(&(group as u32)) {
            true => [self.sum(group), 0.0, 0.0],
            false => [high, low, self.thirds.get(group).copied().unwrap_or(0.0)],
        }
    }

    /// Whether no infinity was added to a group: an infinite sum is an overflow then.
    pub fn is_finite(&self, group: usize) -> bool {
        self.long.get(&(group as u32)).is_none_or(|it| it.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use stdx::prng::Prng;

    use super::*;

    /// Floats of all sizes, with many that cancel.
    fn values(prng: &mut Prng, count: usize, kind: u64) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::new();
        while values.len() < count {
            let exponent = match kind {
                0 => 1023,
                1 => 1000 + prng.below(60),
                _ => prng.below(2046),
            };
            let mantissa = prng.next_u64() >> 12;
            let value = f64::from_bits(prng.below(2) << 63 | exponent << 52 | mantissa);
            values.push(value);
            if prng.below(3) == 0 {
                values.push(-value);
            }
        }
        values.truncate(count);
        values
    }

    fn shuffled(prng: &mut Prng, mut values: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
        for place in (1..values.len()).rev() {
            values.swap(place, prng.below(place as u64 + 1) as usize);
        }
        values
    }

    #[test]
    fn sums_are_the_nearest_floats_in_any_order_and_split() {
        let mut prng = Prng::new(19);
        for round in 0..120_u64 {
            let groups = [1, 2, 31, 33, 100][round as usize % 5];
            let rows: Vec<(u32, f64)> = values(&mut prng, 3000, round / 5 % 3)
                .into_iter()
                .map(|it| (prng.below(groups) as u32, it))
                .collect();
            let mut exact = vec![LongSum::default(); groups as usize];
            rows.iter().for_each(|&(group, it)| exact[group as usize].add(it));
            for _ in 0..3 {
                let rows = shuffled(&mut prng, rows.clone());
                let mut sums = FloatSums::default();
                sums.resize(groups as usize);
                let length = 1 + prng.below(1500) as usize;
                for part in rows.chunks(length) {
                    let mut of_part = FloatSums::default();
                    of_part.resize(groups as usize);
                    let (ids, values): (Vec<u32>, Vec<f64>) = part.iter().copied().unzip();
                    of_part.update(&ids, &values, None);
                    (0..groups as usize).for_each(|it| sums.merge(it, &of_part, it));
                }
                let backwards = sums.take((0..groups as usize).rev());
                for (group, exact) in exact.iter().enumerate() {
                    assert_eq!(sums.sum(group).to_bits(), exact.rounded().to_bits(), "{round}");
                    let mirrored = backwards.sum(groups as usize - 1 - group);
                    assert_eq!(mirrored.to_bits(), exact.rounded().to_bits(), "{round}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_stays_so() {
        let sum = |values: &[f64]| {
            let mut sums = FloatSums::default();
            sums.resize(1);
            sums.update(&vec![0; values.len()], values, None);
            (sums.sum(0), sums.is_finite(0))
        };
        assert_eq!(sum(&[1.0, f64::INFINITY, -5.0]), (f64::INFINITY, false));
        assert!(sum(&[f64::NEG_INFINITY, f64::INFINITY]).0.is_nan());
        assert!(sum(&[f64::NAN, 1.0]).0.is_nan());
        assert_eq!(sum(&[1e308, 1e308]), (f64::INFINITY, true));
        assert_eq!(sum(&[1e308, 1e308, -1e308]), (1e308, true));
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 5e-324]), (5e-324, true));
        assert_eq!(sum(&[0.1; 10]), (1.0, true));
    }
}
