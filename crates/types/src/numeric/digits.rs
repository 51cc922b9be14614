//! The digits of a written number, before a type decides what they mean.

use super::decimal::power_of_ten;

/// The digits of a written number.
#[derive(Debug)]
pub(in crate::numeric) struct Digits {
    negative: bool,
    /// Values of the digits, most significant first.
    digits: Vec<u8>,
    /// How many of them stand behind the point, before the exponent moves it.
    fraction: i64,
    /// What the digits count in: 10, or 16, 8 and 2 for whole numbers with a prefix.
    base: u8,
    has_point: bool,
    exponent: Option<i64>,
}

impl Digits {
    /// `[+-] digits [. digits] [e [+-] digits]` or `[+-] 0x digits` and the like; `_` may stand between two digits.
    pub fn parse(spelt: &str) -> Option<Self> {
        let (negative, unsigned) = match spelt.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let base = match unsigned {
            [b'0', b'x' | b'X', ..] => 16,
            [b'0', b'o' | b'O', ..] => 8,
            [b'0', b'b' | b'B', ..] => 2,
            _ => 10,
        };
        if base != 10 {
            // Behind the prefix an underscore may stand too.
            let rest = &unsigned[2..];
            let digits = digits_of(rest.strip_prefix(b"_").unwrap_or(rest), base)?;
            let some = !digits.is_empty();
            let (fraction, has_point, exponent) = (0, false, None);
            return some.then_some(Self { negative, digits, fraction, base, has_point, exponent });
        }
        let place = unsigned.iter().position(|it| matches!(it, b'e' | b'E'));
        let (mantissa, exponent) = match place {
            Some(place) => (&unsigned[..place], Some(exponent_of(&unsigned[place + 1..])?)),
            None => (unsigned, None),
        };
        let point = mantissa.iter().position(|&it| it == b'.');
        let (whole, fraction) = match point {
            Some(place) => (&mantissa[..place], &mantissa[place + 1..]),
            None => (mantissa, &b""[..]),
        };
        let (mut digits, behind) = (digits_of(whole, 10)?, digits_of(fraction, 10)?);
        let fraction = i64::try_from(behind.len()).ok()?;
        digits.extend(behind);
        let some = !digits.is_empty();
        let has_point = point.is_some();
        some.then_some(Self { negative, digits, fraction, base, has_point, exponent })
    }

    /// Whether a minus stands before them.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Their values, most significant first.
    pub fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// What they count in: of all but 10 the number is whole.
    pub fn base(&self) -> u8 {
        self.base
    }

    /// Whether it is spelt as an integer.
    pub fn is_whole(&self) -> bool {
        !self.has_point && self.exponent.is_none()
    }

    /// Digits behind the point; fewer than none where zeros follow the digits.
    pub fn scale(&self) -> i64 {
        self.fraction - self.exponent.unwrap_or(0)
    }

    /// The unscaled integer at a scale, rounded half away from zero; `None` when 128 bits do not hold it.
    pub fn at_scale(&self, scale: u8) -> Option<i128> {
        let missing = i64::from(scale) - self.scale();
        let mut value: i128 = 0;
        if self.base != 10 {
            for &digit in &self.digits {
                value = value.checked_mul(i128::from(self.base))?.checked_add(i128::from(digit))?;
            }
            value = value.checked_mul(power_of_ten(u32::from(scale))?)?;
            return Some(if self.negative { -value } else { value });
        }
        // Digits kept: all, or those before the ones that the scale has no room for.
        let kept = i64::try_from(self.digits.len()).ok()?.checked_add(missing.min(0))?;
        for &digit in self.digits.iter().take(usize::try_from(kept).unwrap_or(0)) {
            value = value.checked_mul(10)?.checked_add(i128::from(digit))?;
        }
        if missing > 0 && value != 0 {
            value = value.checked_mul(power_of_ten(u32::try_from(missing).ok()?)?)?;
        }
        let first_gone = usize::try_from(kept).ok().and_then(|kept| self.digits.get(kept));
        value = value.checked_add(i128::from(first_gone.is_some_and(|&it| it >= 5)))?;
        Some(if self.negative { -value } else { value })
    }
}

/// The values of digits; `None` for anything else, or an underscore that does not stand between two of them.
fn digits_of(spelt: &[u8], base: u8) -> Option<Vec<u8>> {
    let mut digits = Vec::with_capacity(spelt.len());
    let mut after_digit = false;
    for &byte in spelt {
        if byte == b'_' && after_digit {
            after_digit = false;
            continue;
        }
        let digit = char::from(byte).to_digit(u32::from(base))?;
        digits.push(u8::try_from(digit).ok()?);
        after_digit = true;
    }
    (after_digit || spelt.is_empty()).then_some(digits)
}

/// An exponent; beyond all that any type holds the exact one does not matter.
fn exponent_of(spelt: &[u8]) -> Option<i64> {
    let (negative, digits) = match spelt {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let digits = digits_of(digits, 10)?;
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().fold(0_i64, |value, &it| (value * 10 + i64::from(it)).min(1 << 40));
    Some(if negative { -value } else { value })
}
