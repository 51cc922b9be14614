//! Roots, powers, exponentials and logarithms.
//!
//! Key decision: PostgreSQL's rules say how many digits a result has; its digits are those of the exact result, rounded. They are
//! computed in whole numbers that count in units far below the last digit that is shown (`GUARD` digits), by short series behind
//! a reduction of the argument.

use num_bigint::{BigInt, Sign};

use super::{Finite, Number, overflow, power, scales};
use crate::numeric::errors::division_by_zero;
use crate::{SqlError, SqlResult, SqlState};

/// Digits beyond those that are shown.
const GUARD: u32 = 24;
/// Decimal digits beyond which no result of an exponential is told apart from overflow or zero.
const EXPONENT_MAX: f64 = 6_000.0;
/// Digits of an exact power up to which it is computed as it is.
const EXACT_DIGITS_MAX: f64 = 4_000.0;
/// The decimal logarithm of e.
const LOG10_E: f64 = std::f64::consts::LOG10_E;

fn refused(state: &'static str, message: &str) -> SqlError {
    SqlError::new(SqlState(state), message)
}

impl Finite {
    /// The square root of what is not below zero, rounded to a scale.
    pub(super) fn root(&self, scale: u32) -> Self {
        // One digit more than is shown, which decides how the last one is rounded.
        let digits = 2 * (i64::from(scale) + 1) - i64::from(self.scale);
        let by = power(digits.unsigned_abs() as u32);
        let square: BigInt = if digits < 0 { &self.unscaled / by } else { &self.unscaled * by };
        Self::new(square.sqrt(), scale + 1).rounded(i64::from(scale))
    }

    /// In units of 10^-digits, cut.
    fn fixed(&self, digits: u32) -> BigInt {
        match digits >= self.scale {
            true => &self.unscaled * power(digits - self.scale),
            false => &self.unscaled / power(self.scale - digits),
        }
    }

    /// Its digits up to the 17th as a number of one digit before the point, and the place of the first.
    fn leading(&self) -> (f64, i64) {
        let digits = self.unscaled.magnitude().to_string();
        let place = digits.len() as i64 - 1 - i64::from(self.scale);
        let first = format!("{}e-{}", &digits[..digits.len().min(17)], digits.len().min(17) - 1);
        (first.parse().unwrap_or(0.0), place)
    }

    /// About its decimal logarithm, whatever its sign; it is not zero.
    fn log10(&self) -> f64 {
        let (first, place) = self.leading();
        first.log10() + place as f64
    }

    /// About the number itself.
    fn about(&self) -> f64 {
        if self.signum() == 0 {
            return 0.0;
        }
        let (first, place) = self.leading();
        let value = first * 10_f64.powi(place.clamp(-400, 400) as i32);
        if self.signum() < 0 { -value } else { value }
    }

    fn is_whole(&self) -> bool {
        (&self.unscaled % power(self.scale)).sign() == Sign::NoSign
    }
}

/// The natural logarithm of a number above zero in units of 10^-digits; it is exact but for the last few of them.
fn ln_fixed(of: &Finite, digits: u32) -> BigInt {
    let place = of.unscaled.magnitude().to_string().len() as i64 - 1 - i64::from(of.scale);
    let unit = power(digits);
    // From 1 to 10.
    let shift = i64::from(digits) - i64::from(of.scale) - place;
    let by = power(shift.unsigned_abs() as u32);
    let first = if shift < 0 { &of.unscaled / by } else { &of.unscaled * by };
    let ten = if place == 0 { BigInt::ZERO } else { ln_near(&unit * 10, &unit) * place };
    ln_near(first, &unit) + ten
}

/// The same of a number from 1 to 10 in such units: roots are taken until it is near to 1, from where on the series is short.
fn ln_near(mut value: BigInt, unit: &BigInt) -> BigInt {
    let near = unit + unit / 64;
    let mut halvings = 0u32;
    while value > near {
        value = (value * unit).sqrt();
        halvings += 1;
    }
    let ratio = (&value - unit) * unit / (&value + unit);
    let square = &ratio * &ratio / unit;
    let (mut term, mut sum, mut odd) = (ratio.clone(), ratio, 1u32);
    while term.sign() != Sign::NoSign {
        term = term * &square / unit;
        odd += 2;
        sum += &term / odd;
    }
    sum << (halvings + 1)
}

/// e to a power in units of 10^-digits, both counted so; the power is not below zero.
fn exp_fixed(of: &BigInt, digits: u32) -> BigInt {
    let unit = power(digits);
    let mut halvings = 0u32;
    let mut rest = of.clone();
    while rest > &unit / 64 {
        rest >>= 1;
        halvings += 1;
    }
    let (mut term, mut sum, mut number) = (unit.clone(), unit.clone(), 0u32);
    while term.sign() != Sign::NoSign {
        number += 1;
        term = term * &rest / &unit / number;
        sum += &term;
    }
    for _ in 0..halvings {
        sum = &sum * &sum / &unit;
    }
    sum
}

/// e to a power of so many units of 10^-digits, rounded to a scale; the digits have room for the whole part of the result.
fn exp_rounded(of: &BigInt, digits: u32, scale: u32) -> Finite {
    let magnitude = BigInt::from(of.magnitude().clone());
    let grown = exp_fixed(&magnitude, digits);
    let value = match of.sign() {
        Sign::Minus => power(digits) * power(digits) / grown,
        _ => grown,
    };
    Finite::new(value, digits).rounded(scale.into())
}

/// How many digits before the point a natural logarithm has, about; fewer than none where it is near to zero.
fn digits_of_ln(of: &Finite) -> i64 {
    let (first, place) = of.leading();
    let near = of.about();
    if (0.9..=1.1).contains(&near) {
        let one = Finite::new(BigInt::from(1), 0);
        let scale = of.scale;
        let apart = Finite::new(of.at(scale) - one.at(scale), scale);
        return if apart.signum() == 0 { 0 } else { scales::digits_apart(&apart) };
    }
    let ln = first.ln() + place as f64 * std::f64::consts::LN_10;
    ln.abs().log10() as i64
}

impl Number {
    /// The square root.
    ///
    /// # Errors
    /// 2201F below zero.
    pub fn sqrt(&self) -> SqlResult<Self> {
        if self.signum() == Some(-1) {
            return Err(refused("2201F", "cannot take square root of a negative number"));
        }
        Ok(match self {
            Self::Finite(it) => it.root(scales::of_root(it)).into(),
            other => other.clone(),
        })
    }

    /// e to the power of the number.
    ///
    /// # Errors
    /// 22003 for a result of too many digits.
    pub fn exp(&self) -> SqlResult<Self> {
        let of = match self {
            Self::Finite(it) => it,
            Self::Infinite { negative: true } => return Ok(Self::zero()),
            other => return Ok(other.clone()),
        };
        let about = of.about();
        let places = (about * LOG10_E).clamp(-2000.0, 2000.0);
        let scale = scales::of_magnitude(places as i64, of.scale);
        if about.abs() >= EXPONENT_MAX {
            return match about > 0.0 {
                true => Err(overflow()),
                false => Ok(Finite::new(BigInt::ZERO, scale).into()),
            };
        }
        let digits = scale + (about.abs() * LOG10_E) as u32 + GUARD;
        Ok(exp_rounded(&of.fixed(digits), digits, scale).into())
    }

    /// The number as one that has a logarithm; `None` of NaN and infinity.
    fn of_logarithm(&self) -> SqlResult<Option<&Finite>> {
        match self.signum() {
            Some(0) => return Err(refused("2201E", "cannot take logarithm of zero")),
            Some(-1) => return Err(refused("2201E", "cannot take logarithm of a negative number")),
            _ => {}
        }
        Ok(if let Self::Finite(it) = self { Some(it) } else { None })
    }

    /// The natural logarithm.
    ///
    /// # Errors
    /// 2201E of what is not above zero.
    pub fn ln(&self) -> SqlResult<Self> {
        let Some(of) = self.of_logarithm()? else { return Ok(self.clone()) };
        let scale = scales::of_magnitude(digits_of_ln(of), of.scale);
        let digits = scale + GUARD;
        Ok(Finite::new(ln_fixed(of, digits), digits).rounded(scale.into()).into())
    }

    /// `log(base, number)`: the logarithm to a base.
    ///
    /// # Errors
    /// 2201E of what is not above zero, 22012 for a base of 1.
    pub fn log(base: &Self, number: &Self) -> SqlResult<Self> {
        if base.is_nan() || number.is_nan() {
            return Ok(Self::NaN);
        }
        let (Some(of_base), Some(of)) = (base.of_logarithm()?, number.of_logarithm()?) else {
            return Ok(match (base, number) {
                (Self::Infinite { .. }, Self::Infinite { .. }) => Self::NaN,
                (Self::Infinite { .. }, _) => Self::zero(),
                _ => number.clone(),
            });
        };
        let (a, b) = (digits_of_ln(of_base), digits_of_ln(of));
        let scale = scales::of_magnitude(b - a, of_base.scale.max(of.scale));
        // A base near to 1 has a logarithm whose first digits are zeros.
        let digits = scale + GUARD + 2 * a.unsigned_abs() as u32 + b.unsigned_abs() as u32;
        let divisor = ln_fixed(of_base, digits);
        if divisor.sign() == Sign::NoSign {
            return Err(division_by_zero());
        }
        let quotient = ln_fixed(of, digits) * power(digits) / divisor;
        Ok(Finite::new(quotient, digits).rounded(scale.into()).into())
    }

    /// `power(number, exponent)`.
    ///
    /// # Errors
    /// 2201F where no number is such a power, 22003 for a result of too many digits.
    pub fn power(&self, exponent: &Self) -> SqlResult<Self> {
        let one = || Self::of_exact(1, 0);
        if self.is_nan() {
            return Ok(if exponent.signum() == Some(0) { one() } else { Self::NaN });
        }
        if exponent.is_nan() {
            return Ok(if self.compare(&one()).is_eq() { one() } else { Self::NaN });
        }
        let is_whole = matches!(exponent, Self::Finite(it) if it.is_whole());
        if self.signum() == Some(0) && exponent.signum() == Some(-1) {
            return Err(refused("2201F", "zero raised to a negative power is undefined"));
        }
        let is_complex = self.signum() == Some(-1) && !is_whole;
        if is_complex && !matches!(exponent, Self::Infinite { .. }) {
            let message = "a negative number raised to a non-integer power yields a complex result";
            return Err(refused("2201F", message));
        }
        match (self, exponent) {
            (Self::Finite(a), Self::Finite(b)) => a.to_the_power(b).map(Self::from),
            _ => Ok(self.infinite_power(exponent)),
        }
    }

    /// A power of which a side is infinite.
    fn infinite_power(&self, exponent: &Self) -> Self {
        let one = Self::of_exact(1, 0);
        let infinite = |negative| Self::Infinite { negative };
        let (base, up) = (self.abs().compare(&one), exponent.signum() == Some(1));
        match (self, exponent) {
            _ if self.compare(&one).is_eq() || exponent.signum() == Some(0) => one,
            (_, Self::Infinite { .. }) if base.is_eq() => one,
            (_, Self::Infinite { .. }) if base.is_gt() == up => infinite(false),
            (_, Self::Infinite { .. }) => Self::zero(),
            _ if !up => Self::zero(),
            (Self::Infinite { negative: true }, Self::Finite(it)) => {
                let half: BigInt = (&it.unscaled / power(it.scale)) % 2;
                infinite(half.sign() != Sign::NoSign)
            }
            _ => infinite(false),
        }
    }
}

impl Finite {
    /// A power that is a number.
    fn to_the_power(&self, exponent: &Self) -> SqlResult<Self> {
        let whole = &exponent.unscaled / power(exponent.scale);
        if exponent.is_whole()
            && let Ok(whole) = i32::try_from(&whole)
        {
            return self.whole_power(whole, exponent.scale);
        }
        if self.signum() == 0 {
            return Ok(Self::new(BigInt::ZERO, 16));
        }
        let rest: BigInt = &whole % 2;
        let is_odd = exponent.is_whole() && rest.sign() != Sign::NoSign;
        let negative = self.signum() < 0 && is_odd;
        let base = Self::new(BigInt::from(self.unscaled.magnitude().clone()), self.scale);
        let about = base.log10() / LOG10_E * exponent.about();
        if about.abs() > 2_000.0 * 3.01 {
            return match about > 0.0 {
                true => Err(overflow()),
                false => Ok(Self::new(BigInt::ZERO, scales::DISPLAY_SCALE_MAX)),
            };
        }
        let least = self.scale.max(exponent.scale);
        let scale = scales::of_magnitude((about * LOG10_E) as i64, least);
        // A base of 1 has a logarithm of 0, whatever it is multiplied by.
        let room = about.abs() * LOG10_E + exponent.about().abs().log10().clamp(0.0, 400.0);
        let digits = scale + room as u32 + GUARD + exponent.scale.min(scales::DISPLAY_SCALE_MAX);
        let logarithm = ln_fixed(&base, digits) * &exponent.unscaled / power(exponent.scale);
        let mut made = exp_rounded(&logarithm, digits, scale);
        if negative {
            made.unscaled = -made.unscaled;
        }
        Ok(made)
    }

    /// A power with an exponent that is a whole number, which is written with so many digits behind the point.
    fn whole_power(&self, exponent: i32, shown: u32) -> SqlResult<Self> {
        let about = match self.signum() {
            0 => 0.0,
            _ => f64::from(exponent) * self.log10(),
        };
        if about > super::WHOLE_DIGITS_MAX as f64 {
            return Err(overflow());
        }
        if about + 1.0 < -f64::from(scales::DISPLAY_SCALE_MAX) {
            return Ok(Self::new(BigInt::ZERO, scales::DISPLAY_SCALE_MAX));
        }
        let scale = scales::of_magnitude(about as i64, self.scale.max(shown));
        let one = Self::new(BigInt::from(1), 0);
        match exponent {
            0 => return Ok(one.rounded(scale.into())),
            1 => return Ok(self.rounded(scale.into())),
            -1 => return Ok(one.divided(self, scale)),
            _ => {}
        }
        let times = exponent.unsigned_abs();
        let digits = self.unscaled.magnitude().to_string().len() as f64 * f64::from(times);
        let scaled = i64::from(self.scale) * i64::from(times);
        if digits <= EXACT_DIGITS_MAX && scaled <= 2 * EXACT_DIGITS_MAX as i64 {
            let made = Self::new(self.unscaled.pow(times), scaled as u32);
            return Ok(match exponent < 0 {
                true => one.divided(&made, scale),
                false => made.rounded(scale.into()),
            });
        }
        let kept = f64::from(scale) + about.abs() + f64::from(times).log10() + f64::from(GUARD);
        let made = self.power_of_digits(times, kept as u64);
        Ok(match exponent < 0 {
            true => one.divided(&made, scale),
            false => made.rounded(scale.into()),
        })
    }

    /// A power of which so many digits count.
    fn power_of_digits(&self, mut times: u32, kept: u64) -> Self {
        let cut = |it: Self| {
            let digits = it.unscaled.magnitude().to_string().len() as u64;
            match u32::try_from(digits.saturating_sub(kept)) {
                Ok(gone) if gone > 0 && gone <= it.scale => {
                    Self::new(it.unscaled / power(gone), it.scale - gone)
                }
                _ => it,
            }
        };
        let product =
            |a: &Self, b: &Self| cut(Self::new(&a.unscaled * &b.unscaled, a.scale + b.scale));
        let (mut made, mut base) = (Self::new(BigInt::from(1), 0), self.clone());
        while times > 0 {
            if times % 2 == 1 {
                made = product(&made, &base);
            }
            times /= 2;
            if times > 0 {
                base = product(&base, &base);
            }
        }
        made
    }
}
