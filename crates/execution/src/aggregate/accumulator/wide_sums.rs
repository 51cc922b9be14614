//! Sums of integers that may pass even 128 bits: two values of 38 digits are enough for that, and later ones may bring
//! the sum back, so saturating would give a wrong number.

use super::gather::take;

/// A sum: `low + carry * 2^128`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wide {
    /// The low 128 bits, as a signed number.
    pub low: i128,
    /// How often the sum went over the top less how often it went under the bottom.
    pub carry: i64,
}

/// One sum per group.
#[derive(Default)]
pub struct WideSums {
    low: Vec<i128>,
    /// Empty as long as no sum has left 128 bits.
    carries: Vec<i64>,
}

impl WideSums {
    /// Sums that start at these.
    pub fn of(sums: &[i64]) -> Self {
        Self { low: sums.iter().map(|&it| it.into()).collect(), carries: Vec::new() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Makes room for groups.
    pub fn resize(&mut self, groups: usize) {
        self.low.resize(groups, 0);
        if !self.carries.is_empty() {
            self.carries.resize(groups, 0);
        }
    }

    /// The sum of a group.
    pub fn get(&self, group: usize) -> Wide {
        Wide { low: self.low[group], carry: self.carries.get(group).copied().unwrap_or(0) }
    }

    /// The sums at some places, in that order.
    pub fn take(&self, places: &[u32]) -> Self {
        let of_carries = if self.carries.is_empty() { &[] } else { places };
        Self { low: take(&self.low, places), carries: take(&self.carries, of_carries) }
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, group: usize, value: i128) {
        let (sum, overflowed) = self.low[group].overflowing_add(value);
        self.low[group] = sum;
        if overflowed {
            self.carry(group, if value < 0 { -1 } else { 1 });
        }
    }

    /// Adds a sum.
    pub fn add_sum(&mut self, group: usize, sum: Wide) {
        self.add(group, sum.low);
        if sum.carry != 0 {
            self.carry(group, sum.carry);
        }
    }

    #[cold]
    fn carry(&mut self, group: usize, carry: i64) {
        self.carries.resize(self.low.len(), 0);
        self.carries[group] += carry;
    }
}

impl Wide {
    /// The sum if 128 bits hold it.
    pub fn fitting(self) -> Option<i128> {
        (self.carry == 0).then_some(self.low)
    }

    /// The sum as a float.
    pub fn to_f64(self) -> f64 {
        self.low as f64 + self.carry as f64 * 2f64.powi(128)
    }

    /// The quotient, cut towards zero, and the rest by a positive divisor; `None` when the quotient is too long.
    pub fn divide(self, divisor: i64) -> Option<(i128, i64)> {
        if self.carry == 0 {
            let wide = i128::from(divisor);
            return Some((self.low / wide, (self.low % wide) as i64));
        }
        // Sign and magnitude in three limbs, then division limb by limb.
        let carry = self.carry - i64::from(self.low < 0);
        let negative = carry < 0;
        let (mut low, mut high) = (self.low as u128, carry as u64);
        if negative {
            low = low.wrapping_neg();
            high = (!high).wrapping_add(u64::from(low == 0));
        }
        let divisor = u128::from(divisor.unsigned_abs());
        let mut rest = 0u128;
        let mut limbs = [high, (low >> 64) as u64, low as u64];
        for limb in &mut limbs {
            let part = rest << 64 | u128::from(*limb);
            (*limb, rest) = ((part / divisor) as u64, part % divisor);
        }
        if limbs[0] != 0 {
            return None;
        }
        let quotient = i128::try_from(u128::from(limbs[1]) << 64 | u128::from(limbs[2])).ok()?;
        let sign = if negative { -1 } else { 1 };
        Some((quotient * i128::from(sign), rest as i64 * sign))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_leave_128_bits_and_come_back() {
        let mut sums = WideSums::default();
        sums.resize(2);
        for _ in 0..5 {
            sums.add(0, i128::MAX);
            sums.add(1, i128::MIN);
        }
        assert_eq!(sums.get(0).fitting(), None);
        assert_eq!(sums.get(0).divide(5), Some((i128::MAX, 0)));
        assert_eq!(sums.get(1).divide(10), Some((i128::MIN / 2, 0)));
        assert_eq!(sums.get(0).divide(1), None);
        assert!((sums.get(0).to_f64() / (5.0 * i128::MAX as f64) - 1.0).abs() < 1e-12);
        let more = sums.get(1);
        sums.add_sum(0, more);
        assert_eq!(sums.get(0).fitting(), Some(-5));
        for _ in 0..5 {
            sums.add(1, i128::MAX);
        }
        assert_eq!(sums.get(1).fitting(), Some(-5));
    }

    #[test]
    fn division_cuts_towards_zero() {
        let of = |low, carry| Wide { low, carry };
        assert_eq!(of(7, 0).divide(2), Some((3, 1)));
        assert_eq!(of(-7, 0).divide(2), Some((-3, -1)));
        // 2^128 + 3 and -(2^128) - 3.
        assert_eq!(of(3, 1).divide(4), Some((1 << 126, 3)));
        assert_eq!(of(-3, -1).divide(4), Some((-(1 << 126), -3)));
        assert_eq!(of(0, -1).divide(8), Some((-(1 << 125), 0)));
    }
}
