//! How numbers are held: texts of ASCII whose bytes are in the order of the numbers.
//!
//! ```text
//! A                -Infinity
//! B place digits ~ a number below zero: the place and each digit turned round
//! C                zero
//! D place digits   a number above zero
//! E                Infinity
//! F                NaN
//! ```
//!
//! The digits are those from the first that is not 0 to the last; the place says how many of them stand before the point, in
//! one character where it is near to zero, else in seven. Behind all that, `!` and a number say how many zeros more are shown
//! behind the point than the digits need. `!` is below all digits, so a number with zeros comes directly behind its key.

use num_bigint::{BigInt, BigUint, Sign};
use std::borrow::Cow;
use std::fmt::Write;

use super::{Finite, Number, SCALE_MAX, WHOLE_DIGITS_MAX, overflow};
use crate::{SqlError, SqlResult};

const LEAST: char = 'A';
const BELOW: char = 'B';
const ZERO: char = 'C';
const ABOVE: char = 'D';
const GREATEST: char = 'E';
const NAN: char = 'F';
/// Behind the digits of a number below zero: above all digits.
const END_OF_NEGATIVE: char = '~';
/// Before the zeros that do not count.
const ZEROS: char = '!';
/// Stands behind the key of a number in what is above all that hold equal ones: above what stands before zeros, and below
/// all digits.
pub const END_OF_EQUALS: char = '"';

/// The character of a place of 0; those near to it stand beside it.
const NEAR_ZERO: u8 = b'P';
const NEAR: i64 = 30;
/// Before a place that is less, or greater, in six digits.
const FAR_BELOW: char = '0';
const FAR_ABOVE: char = 'z';
const FAR_OFFSET: i64 = 200_000;

/// Whether a text holds a number; none that spells one does.
pub fn is_held(text: &str) -> bool {
    matches!(text.as_bytes().first(), Some(b'A'..=b'F')) && Parts::of(text).is_some()
}

/// The part of what holds a number by which it is compared.
pub fn key_of(held: &str) -> &str {
    &held[..key_end(held.as_bytes())]
}

/// The least text that is above all those which hold a number equal to that of a key.
pub fn end_of_equals(key: &str) -> String {
    format!("{key}{END_OF_EQUALS}")
}

/// Where the key of a number ends in what holds it.
#[inline]
pub fn key_end(held: &[u8]) -> usize {
    held.iter().position(|it| *it == ZEROS as u8).unwrap_or(held.len())
}

/// What holds an unscaled integer at a scale.
pub fn of_integer(unscaled: i128, scale: u32) -> String {
    let mut out = String::new();
    // The digits of 128 bits and a scale of DECIMAL are never too many.
    let _ = push(&mut out, unscaled < 0, &unscaled.unsigned_abs().to_string(), scale);
    out
}

/// Appends what holds a number of some digits.
fn push(out: &mut String, negative: bool, digits: &str, scale: u32) -> SqlResult<()> {
    let digits = digits.trim_start_matches('0');
    let place = digits.len() as i64 - i64::from(scale);
    let significant = digits.trim_end_matches('0');
    if scale > SCALE_MAX || place > WHOLE_DIGITS_MAX && !significant.is_empty() {
        return Err(overflow());
    }
    let zeros = match significant.is_empty() {
        true => scale as usize,
        false => (digits.len() - significant.len()).min(scale as usize),
    };
    match (significant.is_empty(), negative) {
        (true, _) => out.push(ZERO),
        (false, false) => {
            out.push(ABOVE);
            push_place(out, place);
            out.push_str(significant);
        }
        (false, true) => {
            out.push(BELOW);
            push_place(out, -place);
            out.extend(significant.bytes().map(turned));
            out.push(END_OF_NEGATIVE);
        }
    }
    if zeros > 0 {
        let _ = write!(out, "{ZEROS}{zeros}");
    }
    Ok(())
}

fn turned(digit: u8) -> char {
    char::from(b'9' - digit.wrapping_sub(b'0').min(9))
}

fn push_place(out: &mut String, place: i64) {
    if place.abs() <= NEAR {
        return out.push(char::from((i64::from(NEAR_ZERO) + place) as u8));
    }
    let sign = if place < 0 { FAR_BELOW } else { FAR_ABOVE };
    let _ = write!(out, "{sign}{:06}", place + FAR_OFFSET);
}

/// The place that stands first in a text, and what stands behind it.
fn take_place(text: &str) -> Option<(i64, &str)> {
    let first = text.chars().next()?;
    if first != FAR_BELOW && first != FAR_ABOVE {
        let place = i64::from(*text.as_bytes().first()?) - i64::from(NEAR_ZERO);
        return (place.abs() <= NEAR).then(|| (place, &text[1..]));
    }
    let place: i64 = text.get(1..7)?.parse().ok()?;
    Some((place - FAR_OFFSET, text.get(7..)?))
}

/// What holds a number, taken apart.
enum Parts<'a> {
    Special(Number),
    /// The digits that count, how many of them stand before the point, and digits behind it.
    Digits {
        negative: bool,
        digits: Cow<'a, str>,
        place: i64,
        scale: u32,
    },
}

impl<'a> Parts<'a> {
    fn of(held: &'a str) -> Option<Self> {
        let key = key_of(held);
        let zeros = match held.get(key.len() + 1..) {
            Some(it) => it.parse::<u32>().ok()?,
            None => 0,
        };
        let rest = key.get(1..)?;
        let (negative, place, digits) = match key.chars().next()? {
            LEAST => return Some(Self::Special(Number::Infinite { negative: true })),
            GREATEST => return Some(Self::Special(Number::Infinite { negative: false })),
            NAN => return Some(Self::Special(Number::NaN)),
            ZERO => (false, 1, Cow::Borrowed("")),
            BELOW => {
                let (place, digits) = take_place(rest)?;
                let digits = digits.strip_suffix(END_OF_NEGATIVE)?;
                (true, -place, Cow::Owned(digits.bytes().map(turned).collect()))
            }
            ABOVE => {
                let (place, digits) = take_place(rest)?;
                (false, place, Cow::Borrowed(digits))
            }
            _ => return None,
        };
        if !digits.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        let behind = (digits.len() as i64 - place).max(0);
        let scale = u32::try_from(behind).ok()?.checked_add(zeros)?;
        let fits = scale <= SCALE_MAX && place <= WHOLE_DIGITS_MAX;
        fits.then_some(Self::Digits { negative, digits, place, scale })
    }
}

/// A number by what holds it.
///
/// # Errors
/// XX000 for a text that holds none.
pub fn of_held(held: &str) -> SqlResult<Number> {
    read(held).ok_or_else(|| SqlError::internal(format!("{held:?} holds no number")))
}

/// The number that a text holds.
fn read(held: &str) -> Option<Number> {
    let (negative, digits, place, scale) = match Parts::of(held)? {
        Parts::Special(it) => return Some(it),
        Parts::Digits { negative, digits, place, scale } => (negative, digits, place, scale),
    };
    let missing = place + i64::from(scale) - digits.len() as i64;
    let zeros = if digits.is_empty() { 0 } else { u32::try_from(missing).ok()? };
    let magnitude = match digits.len() <= 38 {
        true => BigUint::from(digits.parse::<u128>().unwrap_or(0)),
        false => BigUint::parse_bytes(digits.as_bytes(), 10)?,
    };
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    let unscaled = BigInt::from_biguint(sign, magnitude);
    let unscaled = if zeros > 0 { unscaled * super::power(zeros) } else { unscaled };
    Some(Number::Finite(Finite { unscaled, scale }))
}

/// Appends a number as it is written; what holds none as it is.
pub fn written(held: &str, out: &mut String) {
    let (negative, digits, place, scale) = match Parts::of(held) {
        Some(Parts::Digits { negative, digits, place, scale }) => (negative, digits, place, scale),
        Some(Parts::Special(it)) => {
            let _ = write!(out, "{it}");
            return;
        }
        None => return out.push_str(held),
    };
    if negative {
        out.push('-');
    }
    let whole = place.max(0) as usize;
    let (before, behind) = digits.split_at(whole.min(digits.len()));
    match before {
        "" => out.push('0'),
        _ => {
            out.push_str(before);
            out.extend(std::iter::repeat_n('0', whole - before.len()));
        }
    }
    if scale > 0 {
        out.push('.');
        let leading = (-place).max(0) as usize;
        let leading = if digits.is_empty() { 0 } else { leading };
        out.extend(std::iter::repeat_n('0', leading));
        out.push_str(behind);
        out.extend(std::iter::repeat_n('0', scale as usize - leading - behind.len()));
    }
}

impl Number {
    /// What holds it.
    ///
    /// # Errors
    /// 22003 for more digits than a number may have.
    pub fn held(&self) -> SqlResult<String> {
        let special = |it: char| Ok(it.to_string());
        match self {
            Self::NaN => special(NAN),
            Self::Infinite { negative: true } => special(LEAST),
            Self::Infinite { negative: false } => special(GREATEST),
            Self::Finite(it) => {
                let magnitude = it.unscaled.magnitude();
                let digits = match u128::try_from(magnitude) {
                    Ok(small) => small.to_string(),
                    // Not even written, if there are far too many.
                    Err(_) if magnitude.bits() > 1 << 20 => return Err(overflow()),
                    Err(_) => magnitude.to_string(),
                };
                let mut out = String::with_capacity(digits.len() + 4);
                push(&mut out, it.signum() < 0, &digits, it.scale)?;
                Ok(out)
            }
        }
    }
}
