//! Exact numbers: unscaled integers with a scale, computed in 128 bits, or in 256 where an intermediate result needs them.

use std::cmp::Ordering;

use super::types::{Arithmetic, MAX_DIGITS};
use super::wide::{Magnitude, Wide};
use crate::DataType;

/// An exact number: `unscaled / 10^scale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exact {
    /// All digits as an integer.
    pub unscaled: i128,
    /// Digits after the point, at most 38.
    pub scale: u8,
}

/// A power of ten; `None` above 10^38.
pub fn power_of_ten(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

/// A power of ten whose exponent a scale bounds.
fn power(exponent: u8) -> i128 {
    power_of_ten(u32::from(exponent.min(MAX_DIGITS))).unwrap_or(i128::MAX)
}

/// The least and the greatest value of an exact type, as its columns store them (unscaled digits, days, microseconds).
pub fn range(of: DataType) -> (i128, i128) {
    if let DataType::Whole(it) = of {
        return it.range();
    }
    if let DataType::Enum(it) = of {
        return (0, it.labels().len() as i128 - 1);
    }
    let of_i64 = |low: i64, high: i64| (i128::from(low), i128::from(high));
    match of.stored() {
        DataType::Boolean => (0, 1),
        DataType::SmallInt => of_i64(i64::from(i16::MIN), i64::from(i16::MAX)),
        DataType::Integer | DataType::Date => of_i64(i64::from(i32::MIN), i64::from(i32::MAX)),
        DataType::Decimal { precision, .. } => {
            let most = power(precision) - 1;
            (-most, most)
        }
        _ => of_i64(i64::MIN, i64::MAX),
    }
}

/// Whether a type holds an unscaled integer.
pub fn fits(unscaled: i128, of: DataType) -> bool {
    let (low, high) = range(of);
    low <= unscaled && unscaled <= high
}

/// Divides and rounds half away from zero; the divisor is not zero. The one quotient beyond 128 bits wraps.
#[inline]
pub fn divide_rounded(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value.wrapping_div(divisor), value.wrapping_rem(divisor));
    let up = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    let away = if (value < 0) != (divisor < 0) { -1 } else { 1 };
    if up { quotient.wrapping_add(away) } else { quotient }
}

/// The number with another scale; digits that go are rounded half away from zero. `None` where 128 bits do not hold it.
#[inline]
pub fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    if from <= to {
        unscaled.checked_mul(power_of_ten(u32::from(to - from))?)
    } else {
        Some(divide_rounded(unscaled, power(from - to)))
    }
}

impl Exact {
    /// The number with more digits after the point.
    fn at(self, scale: u8) -> Wide {
        Wide::product(self.unscaled, power(scale - self.scale))
    }

    /// The order of two numbers, whatever their scales.
    pub fn compare(self, other: Self) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.cmp(&other.unscaled);
        }
        let scale = self.scale.max(other.scale);
        self.at(scale).compare(other.at(scale))
    }

    /// `self op other`, rounded to a scale half away from zero. `None` where 128 bits do not hold the result; a divisor is
    /// not zero.
    pub fn arithmetic(self, op: Arithmetic, other: Self, scale: u8) -> Option<i128> {
        let common = self.scale.max(other.scale);
        let (exact, digits) = match op {
            Arithmetic::Add => (self.at(common).plus(other.at(common))?, common),
            Arithmetic::Subtract => (self.at(common).plus(other.at(common).negated())?, common),
            Arithmetic::Multiply => {
                (Wide::product(self.unscaled, other.unscaled), self.scale + other.scale)
            }
            Arithmetic::Divide => return self.quotient(other, scale),
            Arithmetic::Modulo => (self.remainder(other)?, common),
        };
        if digits <= scale {
            let magnitude = exact.magnitude.times(power(scale - digits).unsigned_abs())?;
            return Wide { magnitude, ..exact }.narrow();
        }
        exact.divided_rounded(power_of_ten(u32::from(digits - scale))?)?.narrow()
    }

    fn quotient(self, other: Self, scale: u8) -> Option<i128> {
        let digits = i32::from(scale) + i32::from(other.scale) - i32::from(self.scale);
        if digits < 0 {
            // More digits than the result shows: the divisor is moved instead, and where that is beyond all
            // dividends the quotient rounds to zero.
            let by =
                power_of_ten(digits.unsigned_abs()).and_then(|it| other.unscaled.checked_mul(it));
            return Some(by.map_or(0, |by| divide_rounded(self.unscaled, by)));
        }
        let first = digits.min(i32::from(MAX_DIGITS)) as u8;
        let mut dividend = Wide::product(self.unscaled, power(first));
        let rest = power(digits as u8 - first).unsigned_abs();
        // A dividend beyond 256 bits has a quotient beyond 128.
        dividend.magnitude = dividend.magnitude.times(rest)?;
        dividend.divided_rounded(other.unscaled)?.narrow()
    }

    /// The remainder of a division that truncates, at the greater scale; it has the sign of the dividend.
    fn remainder(self, other: Self) -> Option<Wide> {
        let common = self.scale.max(other.scale);
        let (dividend, divisor) = (self.at(common), other.at(common).magnitude);
        if divisor > dividend.magnitude {
            return Some(dividend);
        }
        // No greater than the dividend; and either of both is unscaled, so a greater divisor had been smaller.
        let rest = match divisor {
            Magnitude { high: 0, low } => dividend.magnitude.divided(low).1,
            _ => return None,
        };
        Some(Wide { negative: dividend.negative, magnitude: Magnitude { high: 0, low: rest } })
    }
}

/// `a * b / c`, rounded half away from zero, with the product in 256 bits; `None` when 128 do not hold the result.
pub fn multiply_divide(a: i128, b: i128, c: i128) -> Option<i128> {
    Wide::product(a, b).divided_rounded(c)?.narrow()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Whole;

    #[test]
    fn each_plain_type_holds_the_range_of_whole_numbers() {
        for it in Whole::ALL {
            let (low, high) = it.range();
            assert!(low < high && fits(low, it.plain()) && fits(high, it.plain()));
            assert_eq!(range(DataType::Whole(it)), it.range());
            assert_eq!(Whole::by_name(it.name()), Some(it));
        }
    }

    fn exact(unscaled: i128, scale: u8) -> Exact {
        Exact { unscaled, scale }
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        for (value, divisor, expected) in
            [(5, 2, 3), (-5, 2, -3), (5, -2, -3), (-5, -2, 3), (4, 3, 1), (5, 3, 2), (-1, 2, -1)]
        {
            assert_eq!(divide_rounded(value, divisor), expected, "{value} / {divisor}");
            assert_eq!(multiply_divide(value, 1, divisor), Some(expected));
        }
        assert_eq!(rescale(-15, 1, 0), Some(-2));
        assert_eq!(rescale(15, 1, 3), Some(1500));
        assert_eq!(rescale(2, 0, 38), None);
        assert_eq!(rescale(i128::MAX, 38, 0), Some(2));
    }

    #[test]
    fn intermediate_results_do_not_overflow() {
        use Arithmetic::{Add, Divide, Modulo, Multiply, Subtract};
        let big = power(37);
        let half = exact(5 * big, 38);
        assert_eq!(exact(20, 1).arithmetic(Divide, half, 16), Some(4 * power(16)));
        assert_eq!(exact(big, 0).arithmetic(Divide, half, 16), None);
        assert_eq!(exact(big, 0).arithmetic(Divide, exact(big, 0), 38), Some(power(38)));
        assert_eq!(exact(big, 38).arithmetic(Multiply, exact(big, 38), 38), Some(power(36)));
        assert_eq!(exact(7, 0).arithmetic(Modulo, half, 38), Some(0));
        assert_eq!(exact(-72, 1).arithmetic(Modulo, half, 38), Some(-2 * big));
        assert_eq!(half.arithmetic(Modulo, exact(7, 0), 38), Some(5 * big));
        assert_eq!(exact(5, 0).arithmetic(Subtract, exact(5, 0), 38), Some(0));
        assert_eq!(exact(5, 0).arithmetic(Add, half, 38), None);
        assert_eq!(exact(5, 38).arithmetic(Divide, exact(7, 0), 0), Some(0));
        assert_eq!(exact(i128::MIN, 0).arithmetic(Divide, exact(-1, 0), 0), None);
    }

    #[test]
    fn order_does_not_depend_on_the_scale() {
        assert_eq!(exact(10, 1).compare(exact(1, 0)), Ordering::Equal);
        assert_eq!(exact(power(37), 0).compare(exact(power(37), 38)), Ordering::Greater);
        assert_eq!(exact(-power(37), 0).compare(exact(1, 38)), Ordering::Less);
    }
}
