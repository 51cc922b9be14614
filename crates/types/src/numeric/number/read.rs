//! Numbers of any scale from texts, floats and exact numbers, and what becomes of them there.

use num_bigint::{BigInt, BigUint, Sign};

use super::{Finite, Number, SCALE_MAX, WHOLE_DIGITS_MAX, of_held, overflow, power};
use crate::numeric::digits::Digits;
use crate::numeric::errors::{self, invalid_text};
use crate::numeric::spelling::trimmed;
use crate::{DataType, SqlError, SqlResult, SqlState};

impl Number {
    /// A number as it is written, with blanks around it.
    ///
    /// # Errors
    /// 22P02 for what is none, 22003 for more digits than there may be.
    pub fn parse(text: &str) -> SqlResult<Self> {
        let spelt = trimmed(text);
        let (negative, unsigned) = match spelt.as_bytes().first() {
            Some(b'-') => (true, &spelt[1..]),
            Some(b'+') => (false, &spelt[1..]),
            _ => (false, spelt),
        };
        if unsigned.eq_ignore_ascii_case("nan") && unsigned.len() == spelt.len() {
            return Ok(Self::NaN);
        }
        if ["infinity", "inf"].iter().any(|it| unsigned.eq_ignore_ascii_case(it)) {
            return Ok(Self::Infinite { negative });
        }
        let digits = Digits::parse(spelt).ok_or_else(|| invalid_text(text, DataType::Numeric))?;
        Self::of_digits(&digits)
    }

    /// The number that digits spell.
    ///
    /// # Errors
    /// 22003 for more digits than there may be.
    pub(in crate::numeric) fn of_digits(digits: &Digits) -> SqlResult<Self> {
        let magnitude = match digits.base() {
            10 => {
                let all: String = digits.digits().iter().map(|it| char::from(b'0' + it)).collect();
                BigUint::parse_bytes(all.as_bytes(), 10)
            }
            base => BigUint::from_radix_be(digits.digits(), base.into()),
        };
        let magnitude = magnitude.ok_or_else(overflow)?;
        let scale = digits.scale();
        let zeros = digits.digits().iter().take_while(|it| **it == 0).count();
        let whole = (digits.digits().len() - zeros) as i64 - scale;
        if digits.base() == 10 && zeros < digits.digits().len() && whole > WHOLE_DIGITS_MAX {
            return Err(overflow());
        }
        let sign = if digits.is_negative() { Sign::Minus } else { Sign::Plus };
        let unscaled = BigInt::from_biguint(sign, magnitude);
        let scale = match u32::try_from(scale) {
            _ if scale > i64::from(SCALE_MAX) => return Err(overflow()),
            Ok(scale) => scale,
            // Zeros follow the digits.
            Err(_) if unscaled.sign() == Sign::NoSign => 0,
            Err(_) => {
                let unscaled = unscaled * power(scale.unsigned_abs() as u32);
                return Ok(Self::Finite(Finite { unscaled, scale: 0 }));
            }
        };
        Ok(Self::Finite(Finite { unscaled, scale }))
    }

    /// The number that a float shows with the 15 digits (6 of a REAL) that every one keeps.
    ///
    /// # Errors
    /// None for any float.
    pub fn of_float(value: f64, single: bool) -> SqlResult<Self> {
        if value.is_nan() {
            return Ok(Self::NaN);
        }
        if value.is_infinite() {
            return Ok(Self::Infinite { negative: value < 0.0 });
        }
        let spelt = if single { format!("{value:.5e}") } else { format!("{value:.14e}") };
        let (mantissa, exponent) = spelt.split_once('e').unwrap_or((&spelt, "0"));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        Self::parse(&format!("{mantissa}e{exponent}"))
    }

    /// An unscaled integer with a scale.
    pub fn of_exact(unscaled: i128, scale: u8) -> Self {
        Self::Finite(Finite { unscaled: unscaled.into(), scale: scale.into() })
    }

    /// The unscaled integer of an exact type, rounded half away from zero.
    ///
    /// # Errors
    /// 0A000 for NaN and, of whole numbers, what is infinite; 22003 where the type does not hold it.
    pub fn to_exact(&self, to: DataType) -> SqlResult<i128> {
        let is_whole = to.is_integer() || matches!(to, DataType::Whole(_));
        let no_number = |what: &str| {
            Err(SqlError::unsupported(format!(
                "cannot convert {what} to {}",
                errors::type_name(to)
            )))
        };
        match self {
            Self::NaN if is_whole => no_number("NaN"),
            Self::Infinite { .. } if is_whole => no_number("infinity"),
            Self::NaN => Err(errors::not_a_number()),
            Self::Infinite { .. } => {
                let message = "numeric field overflow: DECIMAL does not hold an infinite value";
                Err(SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message))
            }
            Self::Finite(it) => {
                let rounded = it.rounded(i64::from(to.scale())).at(to.scale().into());
                i128::try_from(rounded)
                    .ok()
                    .filter(|it| crate::numeric::decimal::fits(*it, to))
                    .ok_or_else(|| errors::out_of_range(to))
            }
        }
    }

    /// The float nearest to it; `single` for REAL.
    ///
    /// # Errors
    /// 22003 where the floats have none.
    pub fn to_float(&self, single: bool) -> SqlResult<f64> {
        let of = if single { DataType::Real } else { DataType::Double };
        match self {
            Self::NaN => Ok(f64::NAN),
            Self::Infinite { negative } => {
                Ok(if *negative { -f64::INFINITY } else { f64::INFINITY })
            }
            Self::Finite(it) => {
                let spelt = format!("{}e-{}", it.unscaled, it.scale);
                crate::numeric::spelling::float(&spelt, of).map_err(|error| match error.state {
                    SqlState::NUMERIC_OUT_OF_RANGE => {
                        errors::text_out_of_range(&self.to_string(), of)
                    }
                    _ => error,
                })
            }
        }
    }
}

/// What holds a number as the unscaled integer of an exact type.
///
/// # Errors
/// As of [`Number::to_exact`].
pub fn exact_of(held: &str, to: DataType) -> SqlResult<i128> {
    of_held(held)?.to_exact(to)
}

/// What holds a number as a float.
///
/// # Errors
/// As of [`Number::to_float`].
pub fn float_of(held: &str, single: bool) -> SqlResult<f64> {
    of_held(held)?.to_float(single)
}
