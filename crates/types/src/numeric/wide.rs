//! Integers of 256 bits: just what exact intermediate results of 38-digit decimals need.

use std::cmp::Ordering;

const HALF: u128 = u64::MAX as u128;

/// A magnitude below 2^256. Ordered by its fields: the high half decides first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Magnitude {
    pub high: u128,
    pub low: u128,
}

/// A whole number with its sign; zero may have either.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    pub negative: bool,
    pub magnitude: Magnitude,
}

impl Magnitude {
    /// The product of two numbers of 128 bits; it always fits.
    pub fn product(a: u128, b: u128) -> Self {
        let (a1, a0, b1, b0) = (a >> 64, a & HALF, b >> 64, b & HALF);
        let low = a0 * b0;
        let middle = a1 * b0 + (low >> 64);
        let middle2 = a0 * b1 + (middle & HALF);
        Self { high: a1 * b1 + (middle >> 64) + (middle2 >> 64), low: middle2 << 64 | (low & HALF) }
    }

    /// `self * factor`, where 256 bits hold it.
    pub fn times(self, factor: u128) -> Option<Self> {
        let low = Self::product(self.low, factor);
        let high = Self::product(self.high, factor);
        if high.high != 0 {
            return None;
        }
        Some(Self { high: high.low.checked_add(low.high)?, low: low.low })
    }

    /// Quotient and remainder; the divisor is not zero.
    pub fn divided(self, divisor: u128) -> (Self, u128) {
        let (high, rest) = (self.high / divisor, self.high % divisor);
        let (low, rest) = divide_two_by_one(rest, self.low, divisor);
        (Self { high, low }, rest)
    }

    fn plus(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.checked_add(other.high)?.checked_add(u128::from(carry))?;
        Some(Self { high, low })
    }

    fn minus_smaller(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self { high: self.high - other.high - u128::from(borrow), low }
    }
}

/// `(high * 2^128 + low) / divisor` and its remainder, for `high < divisor`. Schoolbook division by digits of 64 bits.
fn divide_two_by_one(high: u128, low: u128, divisor: u128) -> (u128, u128) {
    if high == 0 {
        return (low / divisor, low % divisor);
    }
    // Shifted so that the divisor's first bit is set, an estimate by its first digit is at most 2 too great.
    let shift = divisor.leading_zeros();
    let divisor = divisor << shift;
    let high = if shift == 0 { high } else { high << shift | low >> (128 - shift) };
    let low = low << shift;
    let (first, rest) = divide_digit(high, low >> 64, divisor);
    let (second, rest) = divide_digit(rest, low & HALF, divisor);
    (first << 64 | second, rest >> shift)
}

/// One digit of a quotient: `(rest * 2^64 + digit) / divisor`, for `rest < divisor` and a divisor with its first bit set.
fn divide_digit(rest: u128, digit: u128, divisor: u128) -> (u128, u128) {
    let (d1, d0) = (divisor >> 64, divisor & HALF);
    let mut quotient = (rest / d1).min(HALF);
    let mut left = rest - quotient * d1;
    // `left * 2^64 + digit - quotient * d0` becomes the remainder; while it would be negative, the estimate was too great.
    while left <= HALF && quotient * d0 > (left << 64 | digit) {
        quotient -= 1;
        left += d1;
    }
    let remainder = (left << 64 | digit).wrapping_sub(quotient.wrapping_mul(d0));
    (quotient, remainder)
}

impl Wide {
    /// `a * b`.
    pub fn product(a: i128, b: i128) -> Self {
        let magnitude = Magnitude::product(a.unsigned_abs(), b.unsigned_abs());
        Self { negative: (a < 0) != (b < 0), magnitude }
    }

    /// The same number with the other sign.
    pub fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }

    /// The sum, where 256 bits hold it.
    pub fn plus(self, other: Self) -> Option<Self> {
        if self.negative == other.negative {
            return Some(Self { magnitude: self.magnitude.plus(other.magnitude)?, ..self });
        }
        let (greater, smaller) =
            if self.magnitude >= other.magnitude { (self, other) } else { (other, self) };
        Some(Self { magnitude: greater.magnitude.minus_smaller(smaller.magnitude), ..greater })
    }

    /// The quotient, rounded half away from zero; the divisor is not zero.
    pub fn divided_rounded(self, divisor: i128) -> Option<Self> {
        let by = divisor.unsigned_abs();
        let (quotient, rest) = self.magnitude.divided(by);
        let up = Magnitude { high: 0, low: u128::from(rest >= by - rest) };
        let negative = self.negative != (divisor < 0);
        Some(Self { negative, magnitude: quotient.plus(up)? })
    }

    /// The number, where 128 bits hold it.
    pub fn narrow(self) -> Option<i128> {
        let Magnitude { high: 0, low } = self.magnitude else { return None };
        if self.negative { 0_i128.checked_sub_unsigned(low) } else { i128::try_from(low).ok() }
    }

    /// The order of two numbers.
    pub fn compare(self, other: Self) -> Ordering {
        let zero = Magnitude { high: 0, low: 0 };
        let negative = |it: Self| it.negative && it.magnitude != zero;
        match (negative(self), negative(other)) {
            (false, false) => self.magnitude.cmp(&other.magnitude),
            (true, true) => other.magnitude.cmp(&self.magnitude),
            (a, _) => {
                if a {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stdx::prng::Prng;

    use super::*;

    /// Bit by bit: too slow to be used, too simple to be wrong.
    fn divide_slowly(number: Magnitude, divisor: u128) -> (Magnitude, u128) {
        let (mut quotient, mut rest) = (Magnitude { high: 0, low: 0 }, 0_u128);
        for bit in (0..256).rev() {
            let next =
                if bit < 128 { number.low >> bit & 1 } else { number.high >> (bit - 128) & 1 };
            let carried = rest >> 127 == 1;
            rest = rest << 1 | next;
            if carried || rest >= divisor {
                rest = rest.wrapping_sub(divisor);
                if bit < 128 {
                    quotient.low |= 1 << bit;
                } else {
                    quotient.high |= 1 << (bit - 128);
                }
            }
        }
        (quotient, rest)
    }

    fn random(prng: &mut Prng) -> u128 {
        let value = u128::from(prng.next_u64()) << 64 | u128::from(prng.next_u64());
        match prng.next_u64() % 8 {
            0 => u128::MAX,
            1 => value | 1 << 127,
            2 => value & HALF << 64,
            _ => value >> (prng.next_u64() % 128),
        }
    }

    #[test]
    fn division_is_the_same_as_bit_by_bit() {
        let mut prng = Prng::new(7);
        for _ in 0..20_000 {
            let number = Magnitude { high: random(&mut prng), low: random(&mut prng) };
            let divisor = random(&mut prng).max(1);
            let fast = number.divided(divisor);
            assert_eq!(fast, divide_slowly(number, divisor), "{number:?} / {divisor}");
            // And back: quotient * divisor + rest.
            let product = fast.0.times(divisor).expect("no more than the dividend");
            let rest = Magnitude { high: 0, low: fast.1 };
            assert_eq!(product.plus(rest), Some(number));
        }
    }

    #[test]
    fn signs_and_limits() {
        let max = Wide::product(i128::MAX, 1);
        assert_eq!(max.plus(Wide::product(1, 1)).and_then(Wide::narrow), None);
        assert_eq!(Wide::product(i128::MIN, 1).narrow(), Some(i128::MIN));
        assert_eq!(Wide::product(i128::MIN, -1).narrow(), None);
        assert_eq!(max.plus(max.negated()).and_then(Wide::narrow), Some(0));
        assert_eq!(Wide::product(-5, 1).divided_rounded(2).and_then(Wide::narrow), Some(-3));
        assert_eq!(Wide::product(-4, 1).divided_rounded(-3).and_then(Wide::narrow), Some(1));
        assert_eq!(Wide::product(0, -1).compare(Wide::product(0, 1)), Ordering::Equal);
        assert_eq!(Wide::product(-2, 1).compare(Wide::product(1, 1)), Ordering::Less);
        assert_eq!(Wide::product(-2, 1).compare(Wide::product(-3, 1)), Ordering::Greater);
        let most = Magnitude { high: u128::MAX, low: 0 };
        assert_eq!(most.times(2), None);
    }
}
