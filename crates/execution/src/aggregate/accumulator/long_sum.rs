//! A sum of floats as an integer that is long enough for all of them.

/// Limbs of 64 bits: from 2^-1074, the least float, to 2^1024, and 64 bits more for as many floats as there may be rows.
const LIMBS: usize = 35;
/// Bits of a float's digits, the leading one included.
const DIGITS: usize = 53;

/// An exact sum: a whole number of times 2^-1074, in two's complement, and apart from it what is no finite number.
#[derive(Clone, Debug)]
pub struct LongSum {
    /// Least first.
    limbs: [u64; LIMBS],
    /// The sum of infinities and NaN; zero if there was none.
    beyond: f64,
}

impl Default for LongSum {
    fn default() -> Self {
        Self { limbs: [0; LIMBS], beyond: 0.0 }
    }
}

impl LongSum {
    /// Adds a float.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.beyond += value;
            return;
        }
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52) as usize & 0x7ff, bits & ((1 << 52) - 1));
        // Below the least exponent the leading digit is no longer understood.
        let digits = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let place = exponent.max(1) - 1;
        let shifted = u128::from(digits) << (place % 64);
        let words = [shifted as u64, (shifted >> 64) as u64];
        self.add_words(place / 64, words, value.is_sign_negative());
    }

    /// Adds or subtracts two words from a limb on.
    fn add_words(&mut self, first: usize, words: [u64; 2], subtract: bool) {
        let mut carry = false;
        for (place, limb) in self.limbs[first..].iter_mut().enumerate() {
            let word = words.get(place).copied().unwrap_or(0);
            if place >= words.len() && !carry {
                return;
            }
            let (result, a) =
                if subtract { limb.overflowing_sub(word) } else { limb.overflowing_add(word) };
            let more = u64::from(carry);
            let (result, b) =
                if subtract { result.overflowing_sub(more) } else { result.overflowing_add(more) };
            (*limb, carry) = (result, a || b);
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        let mut carry = false;
        for (limb, &more) in self.limbs.iter_mut().zip(&other.limbs) {
            let (sum, a) = limb.overflowing_add(more);
            let (sum, b) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, a || b);
        }
        self.beyond += other.beyond;
    }

    /// Whether only finite floats were added.
    pub fn is_finite(&self) -> bool {
        self.beyond == 0.0
    }

    /// The nearest float, of two that are as near the one whose last digit is even.
    pub fn rounded(&self) -> f64 {
        if self.beyond != 0.0 {
            return self.beyond;
        }
        let negative = self.limbs[LIMBS - 1] >> 63 == 1;
        let mut magnitude = self.limbs;
        if negative {
            let mut carry = true;
            for limb in &mut magnitude {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        let bits = rounded_bits(&magnitude);
        f64::from_bits(bits | u64::from(negative) << 63)
    }
}

/// The bits of the float nearest to a number of times 2^-1074.
fn rounded_bits(limbs: &[u64; LIMBS]) -> u64 {
    let Some(top) = limbs.iter().rposition(|&it| it != 0) else { return 0 };
    let length = top * 64 + 64 - limbs[top].leading_zeros() as usize;
    if length <= DIGITS {
        // The bits of the least floats count the least float, and those behind go on counting.
        return limbs[0];
    }
    let shift = length - DIGITS;
    let bit = |place: usize| limbs[place / 64] >> (place % 64) & 1 == 1;
    let (limb, offset) = (shift / 64, shift % 64);
    let above =
        if offset == 0 { 0 } else { limbs.get(limb + 1).map_or(0, |it| it << (64 - offset)) };
    let digits = (limbs[limb] >> offset | above) & ((1 << DIGITS) - 1);
    let half = bit(shift - 1);
    let below_half = |place: usize| {
        limbs[..place / 64].iter().any(|&it| it != 0)
            || limbs[place / 64] & ((1 << (place % 64)) - 1) != 0
    };
    let up = half && (digits & 1 == 1 || below_half(shift - 1));
    // A carry out of the digits goes into the exponent, as it should.
    let bits = ((shift as u64 + 1) << 52) + (digits - (1 << 52)) + u64::from(up);
    bits.min(f64::INFINITY.to_bits())
}

#[cfg(test)]
mod tests {
    use stdx::prng::Prng;

    use super::*;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = LongSum::default();
        values.iter().for_each(|&it| sum.add(it));
        sum.rounded()
    }

    #[test]
    fn a_float_alone_and_two_of_them_are_what_the_processor_says() {
        let mut prng = Prng::new(1);
        for _ in 0..200_000 {
            let a = f64::from_bits(prng.next_u64());
            let near = f64::from_bits(
                (a.to_bits() & !(0x7ff << 52))
                    | ((a.to_bits() >> 52 & 0x7ff).saturating_add(prng.below(60)).min(2046)) << 52,
            );
            let b = if prng.below(2) == 0 { near } else { f64::from_bits(prng.next_u64()) };
            if a.is_finite() && b.is_finite() {
                assert_eq!(sum(&[a]), a);
                assert_eq!(sum(&[a, b]), a + b, "{a:e} {b:e}");
                assert_eq!(sum(&[a, -b, b]), a, "{a:e} {b:e}");
            }
        }
        for it in [0.0, f64::MAX, f64::MIN, 5e-324, f64::MIN_POSITIVE, -f64::MIN_POSITIVE] {
            assert_eq!(sum(&[it]), it);
            assert_eq!(sum(&[it, it]), it + it);
        }
    }

    #[test]
    fn halves_round_to_even_unless_something_is_below() {
        let one = 2f64.powi(53);
        assert_eq!(sum(&[one, 1.0]), one);
        assert_eq!(sum(&[one, 1.0, 1e-300]), one + 2.0);
        assert_eq!(sum(&[one, 1.0, -1e-300]), one);
        assert_eq!(sum(&[one, 3.0]), one + 4.0);
        assert_eq!(sum(&[-one, -3.0]), -one - 4.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[f64::MIN, f64::MIN]), f64::NEG_INFINITY);
    }

    #[test]
    fn sums_merge() {
        let mut prng = Prng::new(2);
        for _ in 0..1000 {
            let values: Vec<f64> = (0..20)
                .map(|_| f64::from_bits(prng.next_u64()))
                .filter(|it| it.is_finite())
                .collect();
            let (mut a, mut b) = (LongSum::default(), LongSum::default());
            values.iter().for_each(|&it| if prng.below(2) == 0 { a.add(it) } else { b.add(it) });
            a.merge(&b);
            assert_eq!(a.rounded().to_bits(), sum(&values).to_bits());
        }
    }
}
