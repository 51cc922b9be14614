//! Rounding, and functions of whole digits.

use num_bigint::BigInt;
use num_integer::Integer;

use super::{Finite, Number, SCALE_MAX, WHOLE_DIGITS_MAX, power};
use crate::numeric::errors::division_by_zero;
use crate::{SqlError, SqlResult, SqlState};

/// A quotient rounded half away from zero; the divisor is above zero.
pub(super) fn divided_rounded(value: &BigInt, divisor: &BigInt) -> BigInt {
    let (quotient, rest) = value.div_rem(divisor);
    if rest.magnitude() * 2u8 < *divisor.magnitude() {
        return quotient;
    }
    if (value.sign() == num_bigint::Sign::Minus) != (divisor.sign() == num_bigint::Sign::Minus) {
        quotient - 1
    } else {
        quotient + 1
    }
}

impl Finite {
    /// With so many digits behind the point, fewer than none before it; what goes is rounded half away from zero.
    pub(super) fn rounded(&self, scale: i64) -> Self {
        self.cut(scale, divided_rounded)
    }

    fn cut(&self, scale: i64, divide: impl Fn(&BigInt, &BigInt) -> BigInt) -> Self {
        let gone = i64::from(self.scale) - scale;
        let shown = scale.max(0) as u32;
        if gone <= 0 {
            return Self::new(self.at(shown), shown);
        }
        // All digits are gone where there are not that many.
        if gone > WHOLE_DIGITS_MAX + i64::from(SCALE_MAX) + 1 {
            return Self::new(BigInt::ZERO, shown);
        }
        let kept = divide(&self.unscaled, &power(gone as u32));
        match u32::try_from(-scale) {
            Ok(zeros) if zeros > 0 => Self::new(kept * power(zeros), 0),
            _ => Self::new(kept, shown),
        }
    }
}

impl Number {
    fn of_finite(&self, change: impl Fn(&Finite) -> Finite) -> Self {
        match self {
            Self::Finite(it) => Self::Finite(change(it)),
            other => other.clone(),
        }
    }

    /// `round(number, digits)`: half away from zero.
    #[must_use]
    pub fn round(&self, digits: i64) -> Self {
        self.of_finite(|it| it.rounded(limited(digits)))
    }

    /// `trunc(number, digits)`.
    #[must_use]
    pub fn trunc(&self, digits: i64) -> Self {
        self.of_finite(|it| it.cut(limited(digits), |a, b| a / b))
    }

    /// The least whole number that is no less.
    #[must_use]
    pub fn ceil(&self) -> Self {
        self.of_finite(|it| it.cut(0, |a, b| a.div_ceil(b)))
    }

    /// The greatest whole number that is no greater.
    #[must_use]
    pub fn floor(&self) -> Self {
        self.of_finite(|it| it.cut(0, BigInt::div_floor))
    }

    /// Without the zeros at the end.
    #[must_use]
    pub fn trim_scale(&self) -> Self {
        let least = self.scales().map_or(0, |it| it.1);
        self.of_finite(|it| it.rounded(i64::from(least)))
    }

    /// Without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        match self {
            Self::Infinite { .. } => Self::Infinite { negative: false },
            _ if self.signum() == Some(-1) => self.negated(),
            _ => self.clone(),
        }
    }

    /// -1, 0, 1 or NaN.
    #[must_use]
    pub fn sign(&self) -> Self {
        self.signum().map_or(Self::NaN, |it| Self::of_exact(it.into(), 0))
    }

    /// Two numbers as whole ones at a scale, which both have; `None` where one is none.
    fn both(&self, other: &Self) -> Option<(BigInt, BigInt, u32)> {
        let (Self::Finite(a), Self::Finite(b)) = (self, other) else { return None };
        let scale = a.scale.max(b.scale);
        Some((a.at(scale), b.at(scale), scale))
    }

    /// The greatest number of which both are multiples.
    #[must_use]
    pub fn gcd(&self, other: &Self) -> Self {
        match self.both(other) {
            Some((a, b, scale)) => Finite::new(a.gcd(&b), scale).into(),
            None => Self::NaN,
        }
    }

    /// The least number above zero that is a multiple of both; zero where one is.
    #[must_use]
    pub fn lcm(&self, other: &Self) -> Self {
        match self.both(other) {
            Some((a, b, scale)) => Finite::new(a.lcm(&b), scale).into(),
            None => Self::NaN,
        }
    }

    /// `div(number, divisor)`: the quotient without what is behind the point.
    ///
    /// # Errors
    /// 22012 for a divisor of zero.
    pub fn whole_quotient(&self, divisor: &Self) -> SqlResult<Self> {
        if self.is_nan() || divisor.is_nan() {
            return Ok(Self::NaN);
        }
        if divisor.signum() == Some(0) {
            return Err(division_by_zero());
        }
        match self.both(divisor) {
            Some((a, b, _)) => Ok(Finite::new(a / b, 0).into()),
            None => self.of_infinite_quotient(divisor),
        }
    }

    /// `width_bucket(number, low, high, count)`.
    ///
    /// # Errors
    /// 2201G for bounds that are equal or no numbers.
    pub fn bucket(&self, low: &Self, high: &Self, count: i64) -> SqlResult<i64> {
        let refused = |message| Err(SqlError::new(SqlState("2201G"), message));
        if count <= 0 {
            return refused("count must be greater than zero");
        }
        if [self, low, high].into_iter().any(Self::is_nan) {
            return refused("operand, lower bound, and upper bound cannot be NaN");
        }
        let (Self::Finite(_), Self::Finite(_)) = (low, high) else {
            return refused("lower and upper bounds must be finite");
        };
        let order = low.compare(high);
        if order.is_eq() {
            return refused("lower bound cannot equal upper bound");
        }
        let (from, to) = if order.is_lt() { (self, low) } else { (low, self) };
        if from.compare(to).is_lt() {
            return Ok(0);
        }
        let (below, above) = if order.is_lt() { (self, high) } else { (high, self) };
        if !below.compare(above).is_lt() {
            return Ok(count + 1);
        }
        let (Some((own, start, a)), Some((end, begin, b))) = (self.both(low), high.both(low))
        else {
            return refused("operand must be finite");
        };
        let scale = a.max(b);
        let (way, width) = ((own - start) * power(scale - a), (end - begin) * power(scale - b));
        let place = way * count / width;
        Ok(i64::try_from(place).unwrap_or(count).min(count - 1) + 1)
    }
}

/// Digits to round to, as far as they can matter.
fn limited(digits: i64) -> i64 {
    digits.clamp(-WHOLE_DIGITS_MAX - 1, i64::from(SCALE_MAX))
}
