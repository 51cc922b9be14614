//! Numbers of any scale, each with its own: what NUMERIC without digits holds.
//!
//! Key decision: such a number is held as a text whose bytes are in the order of the numbers (`held`), so that dictionaries,
//! zones, sorts and files need no new arm. Digits that are but zeros at the end (1.50) stand behind those that count, where
//! they do not change the order; without them a text is the *key* of the number, by which numbers are compared.
//! Arithmetic is done on whole numbers of `num-bigint`; how many digits a result has is PostgreSQL's rule.
//!
//! Reading order: `held`, `read` (texts, floats, exact numbers), `scales`, `operate`, `round`, `roots` (powers and logarithms).
//!
//! - Invariant: nothing here panics on any text; a number that PostgreSQL has no room for is 22003.

mod held;
mod limits;
mod operate;
mod read;
mod roots;
mod round;
mod scales;
#[cfg(test)]
mod tests;

use num_bigint::{BigInt, Sign};
use std::fmt;

use crate::{SqlError, SqlState};

pub use held::{
    END_OF_EQUALS, end_of_equals, is_held, key_end, key_of, of_held, of_integer, written,
};
pub use limits::Limits;
pub use read::{exact_of, float_of};
pub use scales::DISPLAY_SCALE_MAX;

/// Digits behind the point that a number has at most.
pub const SCALE_MAX: u32 = 16_383;
/// Digits before the point that a number has at most.
pub const WHOLE_DIGITS_MAX: i64 = 131_072;

/// A number of any scale, or none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Number {
    /// No number: equal to itself and greater than all others.
    NaN,
    /// Beyond all numbers, or below.
    Infinite {
        /// Whether it is below.
        negative: bool,
    },
    /// A number.
    Finite(Finite),
}

/// `unscaled / 10^scale`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finite {
    pub(super) unscaled: BigInt,
    pub(super) scale: u32,
}

/// 22003: more digits than there may be.
pub(super) fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "value overflows numeric format")
}

/// Ten to a power.
fn power(exponent: u32) -> BigInt {
    match 10_u128.checked_pow(exponent) {
        Some(it) => BigInt::from(it),
        None => BigInt::from(10u8).pow(exponent),
    }
}

impl Number {
    /// Zero without digits behind the point.
    pub const fn zero() -> Self {
        Self::Finite(Finite { unscaled: BigInt::ZERO, scale: 0 })
    }

    /// Whether it is NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self, Self::NaN)
    }

    /// -1, 0 or 1; `None` of NaN.
    pub fn signum(&self) -> Option<i8> {
        match self {
            Self::NaN => None,
            Self::Infinite { negative } => Some(if *negative { -1 } else { 1 }),
            Self::Finite(it) => Some(it.signum()),
        }
    }

    /// Whether it is below zero, all its digits, and how many of them stand behind the point; `None` of what is no number.
    pub fn digits(&self) -> Option<(bool, String, u32)> {
        let Self::Finite(it) = self else { return None };
        Some((it.signum() < 0, it.unscaled.magnitude().to_string(), it.scale))
    }

    /// The digits behind the point that are shown, and how many of them count; `None` of what is no number.
    pub fn scales(&self) -> Option<(u32, u32)> {
        let Self::Finite(it) = self else { return None };
        let digits = it.unscaled.magnitude().to_string();
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        let zeros = if it.signum() == 0 { it.scale } else { zeros.min(it.scale as usize) as u32 };
        Some((it.scale, it.scale - zeros))
    }
}

impl Finite {
    pub(super) fn new(unscaled: BigInt, scale: u32) -> Self {
        Self { unscaled, scale }
    }

    fn signum(&self) -> i8 {
        match self.unscaled.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    /// All its digits as a whole number at a scale that is no less than its own.
    fn at(&self, scale: u32) -> BigInt {
        match scale.saturating_sub(self.scale) {
            0 => self.unscaled.clone(),
            more => &self.unscaled * power(more),
        }
    }
}

impl From<Finite> for Number {
    fn from(it: Finite) -> Self {
        Self::Finite(it)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Finite(it) = self else {
            return f.write_str(match self {
                Self::NaN => "NaN",
                Self::Infinite { negative: true } => "-Infinity",
                _ => "Infinity",
            });
        };
        let scale = it.scale as usize;
        let digits = format!("{:0>1$}", it.unscaled.magnitude().to_string(), scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if it.signum() < 0 { "-" } else { "" };
        let point = if scale > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}
