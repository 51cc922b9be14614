//! Operators, the order, and what sums of numbers and of their squares come to.

use std::cmp::Ordering;

use super::round::divided_rounded;
use super::{Finite, Number, SCALE_MAX, power, scales};
use crate::SqlResult;
use crate::numeric::Arithmetic;
use crate::numeric::errors::division_by_zero;

impl Number {
    /// The order: NaN is equal to itself and greater than all others.
    pub fn compare(&self, other: &Self) -> Ordering {
        let rank = |it: &Self| match it {
            Self::Infinite { negative: true } => 0,
            Self::Finite(_) => 1,
            Self::Infinite { negative: false } => 2,
            Self::NaN => 3,
        };
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => {
                let scale = a.scale.max(b.scale);
                a.at(scale).cmp(&b.at(scale))
            }
            _ => rank(self).cmp(&rank(other)),
        }
    }

    /// `-number`.
    #[must_use]
    pub fn negated(&self) -> Self {
        match self {
            Self::NaN => Self::NaN,
            Self::Infinite { negative } => Self::Infinite { negative: !negative },
            Self::Finite(it) => Finite::new(-&it.unscaled, it.scale).into(),
        }
    }

    /// `self op other`.
    ///
    /// # Errors
    /// 22012 for a divisor of zero. What has too many digits is found when it is held.
    pub fn arithmetic(&self, op: Arithmetic, other: &Self) -> SqlResult<Self> {
        let (Self::Finite(a), Self::Finite(b)) = (self, other) else {
            return self.with_infinite(op, other);
        };
        let scale = a.scale.max(b.scale);
        Ok(match op {
            Arithmetic::Add => Finite::new(a.at(scale) + b.at(scale), scale).into(),
            Arithmetic::Subtract => Finite::new(a.at(scale) - b.at(scale), scale).into(),
            Arithmetic::Multiply => {
                let product = Finite::new(&a.unscaled * &b.unscaled, a.scale + b.scale);
                match product.scale > SCALE_MAX {
                    true => product.rounded(i64::from(SCALE_MAX)).into(),
                    false => product.into(),
                }
            }
            Arithmetic::Divide | Arithmetic::Modulo if b.signum() == 0 => {
                return Err(division_by_zero());
            }
            Arithmetic::Divide => a.divided(b, scales::of_quotient(a, b)).into(),
            Arithmetic::Modulo => Finite::new(a.at(scale) % b.at(scale), scale).into(),
        })
    }

    /// An operator of which an operand is no number.
    fn with_infinite(&self, op: Arithmetic, other: &Self) -> SqlResult<Self> {
        let (Some(a), Some(b)) = (self.signum(), other.signum()) else { return Ok(Self::NaN) };
        let infinite = |sign: i8| Self::Infinite { negative: sign < 0 };
        Ok(match (op, self, other) {
            (Arithmetic::Divide | Arithmetic::Modulo, _, Self::Finite(_)) if b == 0 => {
                return Err(division_by_zero());
            }
            (Arithmetic::Add, Self::Infinite { .. }, Self::Infinite { .. }) if a != b => Self::NaN,
            (Arithmetic::Subtract, Self::Infinite { .. }, Self::Infinite { .. }) if a == b => {
                Self::NaN
            }
            (Arithmetic::Add | Arithmetic::Subtract, Self::Infinite { .. }, _) => self.clone(),
            (Arithmetic::Add, ..) => other.clone(),
            (Arithmetic::Subtract, ..) => other.negated(),
            (Arithmetic::Multiply, ..) if a == 0 || b == 0 => Self::NaN,
            (Arithmetic::Multiply, ..) => infinite(a * b),
            (Arithmetic::Divide, ..) => return self.of_infinite_quotient(other),
            (Arithmetic::Modulo, Self::Infinite { .. }, _) => Self::NaN,
            (Arithmetic::Modulo, ..) => self.clone(),
        })
    }

    /// A quotient of which one side is infinite, and the divisor is not zero.
    pub(super) fn of_infinite_quotient(&self, divisor: &Self) -> SqlResult<Self> {
        let sign = self.signum().unwrap_or(0) * divisor.signum().unwrap_or(0);
        Ok(match (self, divisor) {
            (Self::Infinite { .. }, Self::Infinite { .. }) => Self::NaN,
            (Self::Infinite { .. }, _) => Self::Infinite { negative: sign < 0 },
            _ => Self::zero(),
        })
    }

    /// The mean of so many numbers of this sum; the count is above zero.
    ///
    /// # Errors
    /// As of [`Number::arithmetic`].
    pub fn mean(&self, count: i64) -> SqlResult<Self> {
        self.arithmetic(Arithmetic::Divide, &Self::of_exact(count.into(), 0))
    }

    /// The variance of numbers by how many there are, their sum and that of their squares, or the deviation, which is its
    /// root.
    ///
    /// # Errors
    /// As of [`Number::arithmetic`].
    pub fn spread(count: i64, sums: (&Self, &Self), sample: bool, root: bool) -> SqlResult<Self> {
        let (Self::Finite(sum), Self::Finite(squares)) = sums else { return Ok(Self::NaN) };
        let scale = (sum.scale * 2).max(squares.scale);
        let total =
            squares.at(scale) * count - Finite::new(sum.unscaled.pow(2), sum.scale * 2).at(scale);
        let total = Finite::new(total, scale);
        if total.signum() <= 0 {
            return Ok(Self::zero());
        }
        let divisor = if sample { i128::from(count) - 1 } else { i128::from(count) };
        let divisor = Finite::new((divisor * i128::from(count)).into(), 0);
        let digits = scales::of_quotient(&total, &divisor);
        let variance = total.divided(&divisor, digits);
        Ok(match root {
            false => variance.into(),
            true => variance.root(digits).into(),
        })
    }
}

impl Finite {
    /// The quotient rounded to a scale; the divisor is not zero.
    pub(super) fn divided(&self, divisor: &Self, scale: u32) -> Self {
        let digits = i64::from(scale) + i64::from(divisor.scale) - i64::from(self.scale);
        let by = power(digits.unsigned_abs() as u32);
        let quotient = match digits < 0 {
            true => divided_rounded(&self.unscaled, &(&divisor.unscaled * by)),
            false => divided_rounded(&(&self.unscaled * by), &divisor.unscaled),
        };
        Self::new(quotient, scale)
    }
}
