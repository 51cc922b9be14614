//! Sums of frames: of exact numbers the difference of two sums from the first row on, of floats an exact sum that moves with
//! the frame, so that neither depends on the way it was cut.

use super::frames::Ranges;
use crate::aggregate::{LongSum, Wide};

/// Sums from the first row of a unit up to each.
#[derive(Default)]
pub(super) struct Prefix {
    low: Vec<i128>,
    /// How often a sum has left 128 bits; empty as long as none has.
    carries: Vec<i64>,
}

impl Prefix {
    /// Of the values of all rows, zero where a row does not count.
    pub(super) fn of(values: impl ExactSizeIterator<Item = i128>) -> Self {
        let mut prefix = Self { low: Vec::with_capacity(values.len() + 1), carries: Vec::new() };
        let (mut sum, mut carry) = (0i128, 0);
        prefix.low.push(0);
        for value in values {
            let (next, overflowed) = sum.overflowing_add(value);
            if overflowed {
                prefix.carries.resize(prefix.low.len(), 0);
                carry += if value < 0 { -1 } else { 1 };
            }
            sum = next;
            prefix.low.push(sum);
            if !prefix.carries.is_empty() || overflowed {
                prefix.carries.push(carry);
            }
        }
        prefix
    }

    /// The sum of a frame, and what was before the unit.
    pub(super) fn sum(&self, ranges: &Ranges, before: &Wide) -> Wide {
        let mut sum = Wide { low: before.low, carry: before.carry };
        for (start, end) in ranges.iter() {
            for (place, sign) in [(end, 1), (start, -1)] {
                let value = self.low[place];
                let (low, overflowed) = match sign {
                    1 => sum.low.overflowing_add(value),
                    _ => sum.low.overflowing_sub(value),
                };
                // A sum that overflows goes in the direction of what was added.
                let up = (value >= 0) == (sign == 1);
                sum.low = low;
                sum.carry += if overflowed { if up { 1 } else { -1 } } else { 0 };
                sum.carry += sign * self.carries.get(place).copied().unwrap_or(0);
            }
        }
        sum
    }
}

/// An exact sum of floats, from which they can be taken again.
#[derive(Clone, Default)]
pub(super) struct FloatSum {
    finite: LongSum,
    nans: i64,
    positive: i64,
    negative: i64,
}

impl FloatSum {
    pub(super) fn add(&mut self, value: f64) {
        self.count(value, 1);
    }

    fn remove(&mut self, value: f64) {
        self.count(value, -1);
    }

    fn count(&mut self, value: f64, times: i64) {
        if value.is_finite() {
            self.finite.add(if times < 0 { -value } else { value });
        } else if value.is_nan() {
            self.nans += times;
        } else if value > 0.0 {
            self.positive += times;
        } else {
            self.negative += times;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.finite.merge(&other.finite);
        self.nans += other.nans;
        self.positive += other.positive;
        self.negative += other.negative;
    }

    /// The sum, and whether all were finite.
    fn value(&self) -> (f64, bool) {
        match (self.nans > 0, self.positive > 0, self.negative > 0) {
            (false, false, false) => (self.finite.rounded(), true),
            (true, _, _) | (_, true, true) => (f64::NAN, false),
            (_, true, _) => (f64::INFINITY, false),
            _ => (f64::NEG_INFINITY, false),
        }
    }
}

/// The floats of a unit: zero where a row does not count.
pub(super) struct Floats {
    pub(super) values: Vec<f64>,
    /// The first row of each piece, then the number of rows.
    pub(super) starts: Vec<usize>,
    /// The sum of each piece.
    pub(super) sums: Vec<FloatSum>,
}

/// A range whose sum is known.
#[derive(Default)]
struct Sliding {
    range: (usize, usize),
    sum: FloatSum,
}

impl Sliding {
    /// Goes to another range, by rows that come and go or anew, whichever is less.
    fn go_to(&mut self, range: (usize, usize), floats: &Floats) {
        let (start, end) = range;
        let forward = self.range.0 <= start && self.range.1 <= end && start <= self.range.1;
        let moved = (start - self.range.0.min(start)) + (end - self.range.1.min(end));
        if forward && moved <= end - start {
            floats.values[self.range.0..start].iter().for_each(|&it| self.sum.remove(it));
            floats.values[self.range.1..end].iter().for_each(|&it| self.sum.add(it));
        } else {
            self.sum = FloatSum::default();
            floats.add_range(start, end, &mut self.sum);
        }
        self.range = range;
    }
}

impl Floats {
    fn add_range(&self, mut start: usize, end: usize, sum: &mut FloatSum) {
        while start < end {
            let piece = self.starts.partition_point(|&it| it <= start) - 1;
            let (first, last) = (self.starts[piece], self.starts[piece + 1]);
            if first == start && last <= end {
                sum.merge(&self.sums[piece]);
                start = last;
                continue;
            }
            let until = last.min(end);
            self.values[start..until].iter().for_each(|&it| sum.add(it));
            start = until;
        }
    }
}

/// The sums of one frame after the other.
#[derive(Default)]
pub(super) struct FrameSums {
    before: Sliding,
    behind: Sliding,
}

impl FrameSums {
    /// From now on rows are counted from the end of the frame, which goes on.
    pub(super) fn go_on(&mut self) {
        self.before.range = (0, 0);
    }

    /// The sum of a frame, and whether all in it was finite.
    pub(super) fn sum(&mut self, ranges: &Ranges, floats: &Floats) -> (f64, bool) {
        self.before.go_to(ranges.before, floats);
        if ranges.whole().is_some() {
            return self.before.sum.value();
        }
        self.behind.go_to(ranges.behind, floats);
        let mut sum = self.before.sum.clone();
        sum.merge(&self.behind.sum);
        let (start, end) = ranges.current;
        floats.values[start..end].iter().for_each(|&it| sum.add(it));
        sum.value()
    }
}
