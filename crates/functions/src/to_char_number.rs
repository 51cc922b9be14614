//! Numbers as text by a picture.
//!
//! Key decision: PostgreSQL writes digits into the places of a picture one after the other, and what comes out in its odd
//! corners follows from that. So it is done here, too: [`fill`] walks over the tokens with the digits of a rounded number.
//! Before that the number is rounded to the places behind the point, or replaced by `#` where it has too many before it.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType as ArrowType;
use types::numeric::errors::out_of_range;
use types::numeric::number;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::number_picture::{Anchor, Picture, Pictures, Token};

/// Numbers that Roman numerals tell end before this.
const ROMAN_END: i128 = 4_000;
/// The places of a Roman numeral.
const ROMAN_WIDTH: usize = 15;

/// Texts of numbers by pictures.
pub(crate) fn to_char(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (numbers, templates) = (call.argument(0)?, call.texts(1)?);
    let mut pictures = Pictures::default();
    call.map_texts(|row, out| {
        let template = templates.value(row);
        if template.is_empty() {
            return Ok(());
        }
        let picture = pictures.get(template)?;
        let shown = match numbers.data_type() {
            ArrowType::Float32 => {
                let it = numbers.as_primitive::<Float32Type>().value(row);
                let shifted = if picture.has_shift {
                    it * 10f64.powi(picture.shifted as i32) as f32
                } else {
                    it
                };
                float(it.into(), shifted.into(), 6, picture)?
            }
            ArrowType::Float64 => {
                let it = numbers.as_primitive::<Float64Type>().value(row);
                let shifted =
                    if picture.has_shift { it * 10f64.powi(picture.shifted as i32) } else { it };
                float(it, shifted, 15, picture)?
            }
            // Of any scale.
            ArrowType::Utf8 => {
                let number = number::of_held(call.texts(0)?.value(row))?;
                match number.digits() {
                    Some(it) => of_digits(it, picture)?,
                    None => {
                        let it = number.to_float(false)?;
                        float(it, it, 15, picture)?
                    }
                }
            }
            _ => {
                let exact = call.exact(0)?;
                let limit = match numbers.data_type() {
                    ArrowType::Int16 | ArrowType::Int32 => Some(DataType::Integer),
                    ArrowType::Int64 => Some(DataType::BigInt),
                    _ => None,
                };
                decimal(exact.at(row), exact.scale(), limit, picture)?
            }
        };
        out.push(&shown)
    })
}

/// A number as it goes into a picture.
struct Number {
    is_negative: bool,
    /// Its digits with a point, or what stands in their place.
    digits: String,
    /// Digits behind the point, as far as there are.
    behind: usize,
}

/// An exact number: an integer, which is multiplied within its type, or a decimal.
fn decimal(
    unscaled: i128,
    scale: u32,
    limit: Option<DataType>,
    picture: &Picture,
) -> SqlResult<String> {
    let shifts = picture.has_shift && !picture.is_roman && !picture.is_scientific;
    if let (true, Some(limit)) = (shifts, limit) {
        let factor = u32::try_from(picture.shifted).ok().and_then(|it| 10i128.checked_pow(it));
        let value = factor.and_then(|it| unscaled.checked_mul(it));
        let value = value.ok_or_else(|| out_of_range(limit))?;
        let fits = match limit {
            DataType::Integer => i32::try_from(value).is_ok(),
            _ => i64::try_from(value).is_ok(),
        };
        if !fits {
            return Err(out_of_range(limit));
        }
    }
    of_digits((unscaled < 0, unscaled.unsigned_abs().to_string(), scale), picture)
}

/// Digits, of which so many are behind the point.
fn of_digits(
    (is_negative, all, scale): (bool, String, u32),
    picture: &Picture,
) -> SqlResult<String> {
    if picture.is_roman {
        let whole: i128 = rounded(&all, scale as usize, 0).parse().unwrap_or(ROMAN_END);
        return fill(&roman(if is_negative { -whole } else { whole }), picture);
    }
    if picture.is_scientific {
        return Ok(scientific(&all, scale as usize, is_negative, picture.behind));
    }
    let mut scale = scale as usize;
    let mut digits = Cow::Borrowed(all.as_str());
    if picture.has_shift {
        let zeros = picture.shifted.saturating_sub(scale);
        digits = Cow::Owned(format!("{all}{}", "0".repeat(zeros)));
        scale = scale.saturating_sub(picture.shifted);
    }
    let digits = rounded(&digits, scale, picture.behind);
    let is_negative = is_negative && digits.bytes().any(|it| (b'1'..=b'9').contains(&it));
    fill(&Number { is_negative, digits, behind: picture.behind }, picture)
}

/// Digits, of which so many are behind the point, with so many behind it, rounded half away from zero.
fn rounded(digits: &str, scale: usize, behind: usize) -> String {
    let missing = (scale + 1).saturating_sub(digits.len());
    let padded = "0".repeat(missing) + digits;
    let (whole, part) = padded.split_at(padded.len() - scale);
    let mut kept: Vec<u8> = whole.bytes().chain(part.bytes().take(behind)).collect();
    if part.as_bytes().get(behind).is_some_and(|it| *it >= b'5') {
        let mut place = kept.len();
        loop {
            if place == 0 {
                kept.insert(0, b'1');
                break;
            }
            place -= 1;
            if kept[place] < b'9' {
                kept[place] += 1;
                break;
            }
            kept[place] = b'0';
        }
    }
    let shown_behind = part.len().min(behind);
    let at = kept.len() - shown_behind;
    let mut text: String = kept.iter().map(|it| char::from(*it)).collect();
    let cut = text[..at].trim_start_matches('0').len();
    text.drain(..(at - cut).min(at - 1));
    if behind > 0 {
        text.insert(text.len() - shown_behind, '.');
        text.extend(std::iter::repeat_n('0', behind - shown_behind));
    }
    text
}

/// `1.23e+04` of a number of digits.
fn scientific(digits: &str, scale: usize, is_negative: bool, behind: usize) -> String {
    let significant = digits.trim_start_matches('0');
    let sign = if is_negative { '-' } else { ' ' };
    let mut exponent = significant.len() as i64 - 1 - scale as i64;
    // As in PostgreSQL, what is rounded up to ten stays so.
    let mantissa = match significant {
        "" => {
            exponent = 0;
            rounded("0", 0, behind)
        }
        it => rounded(it, it.len() - 1, behind),
    };
    format!("{sign}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// A float with so many digits that count, and the same multiplied as the picture says.
fn float(value: f64, shifted: f64, significant: usize, picture: &Picture) -> SqlResult<String> {
    if picture.is_roman {
        let whole = value.round_ties_even();
        let whole = if whole.abs() < ROMAN_END as f64 { whole as i128 } else { 0 };
        return fill(&roman(whole), picture);
    }
    if picture.is_scientific {
        return Ok(scientific_float(value, picture));
    }
    let text = |digits: usize| match shifted {
        it if it.is_nan() => "NaN".to_owned(),
        it if it.is_infinite() => "Infinity".to_owned(),
        it => format!("{:.digits$}", it.abs()),
    };
    let whole = text(0).len();
    let behind = picture.behind.min(significant.saturating_sub(whole));
    let is_negative = shifted.is_sign_negative() && !shifted.is_nan();
    fill(&Number { is_negative, digits: text(behind), behind }, picture)
}

fn scientific_float(value: f64, picture: &Picture) -> String {
    if !value.is_finite() {
        let mut filled = vec![b'#'; picture.before + picture.behind + 6];
        filled[0] = b' ';
        filled[picture.before + 1] = b'.';
        return String::from_utf8_lossy(&filled).into_owned();
    }
    let text = format!("{:.*e}", picture.behind, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    let before = if value.is_sign_negative() { '-' } else { ' ' };
    format!("{before}{mantissa}e{sign}{exponent:0>2}")
}

/// A Roman numeral, or `#` in its place.
fn roman(number: i128) -> Number {
    let digits = match number {
        1..ROMAN_END => numeral(number),
        _ => "#".repeat(ROMAN_WIDTH),
    };
    Number { is_negative: false, digits, behind: 0 }
}

/// The Roman numeral of a number below 4000.
pub(crate) fn numeral(number: i128) -> String {
    const NUMERALS: [(i128, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut rest = number;
    let mut text = String::new();
    for (value, numeral) in NUMERALS {
        while rest >= value {
            text.push_str(numeral);
            rest -= value;
        }
    }
    text
}

/// Where the walk over a picture is.
struct Walk<'a> {
    picture: &'a Picture,
    is_negative: bool,
    digits: &'a [u8],
    /// The next digit.
    at: usize,
    /// The last digit that is shown where there are no blanks.
    last: Option<usize>,
    /// Places before the first digit.
    blanks: usize,
    /// Places so far.
    place: usize,
    /// The place at which a sign behind the number stands, but for the point.
    places: usize,
    sign_is_written: bool,
    has_digit: bool,
    has_brackets: bool,
    out: Vec<u8>,
}

/// Puts a number into a picture.
///
/// # Errors
/// 22P02 where `TH` has no digits before it.
fn fill(number: &Number, picture: &Picture) -> SqlResult<String> {
    let (before, behind) = match picture.is_roman {
        true => (0, 0),
        false => (picture.before + picture.shifted, number.behind),
    };
    let mut digits = Cow::Borrowed(number.digits.as_str());
    let whole = digits.find('.').unwrap_or(digits.len());
    let blanks = if picture.is_roman { 0 } else { before.saturating_sub(whole) };
    if !picture.is_roman && whole > before {
        digits = Cow::Owned(format!("{}.{}", "#".repeat(before), "#".repeat(behind)));
    }
    let signs = picture.has_plus || picture.has_minus;
    let sign_is_written = match (signs, picture.is_roman) {
        (_, true) => true,
        (true, _) => picture.has_minus,
        (false, _) => !number.is_negative && picture.is_plain && picture.anchor.is_none(),
    };
    let last = (picture.is_plain && picture.has_point)
        .then(|| last_relevant(digits.as_bytes(), picture.zero_end, blanks))
        .flatten();
    let places = (before + behind).wrapping_sub(1);
    let mut walk = Walk {
        picture,
        is_negative: number.is_negative,
        digits: digits.as_bytes(),
        at: 0,
        last,
        blanks,
        place: 0,
        places: if !sign_is_written && blanks == 0 { places.wrapping_add(1) } else { places },
        sign_is_written,
        has_digit: false,
        has_brackets: picture.has_brackets && (signs || number.is_negative || !picture.is_plain),
        out: Vec::new(),
    };
    for token in &picture.tokens {
        walk.token(*token)?;
    }
    // A digit that a float does not have ends the text.
    let end = walk.out.iter().position(|it| *it == 0).unwrap_or(walk.out.len());
    Ok(String::from_utf8_lossy(&walk.out[..end]).into_owned())
}

/// The last digit behind the point that is not zero, or that a `0` asks for; the point itself where there is none.
fn last_relevant(digits: &[u8], zero_end: usize, blanks: usize) -> Option<usize> {
    let point = digits.iter().position(|it| *it == b'.')?;
    let behind = (point + 1..digits.len()).rfind(|it| digits[*it] != b'0').unwrap_or(point);
    let asked = zero_end.saturating_sub(blanks).min(digits.len() - 1);
    Some(if zero_end > blanks { behind.max(asked) } else { behind })
}

impl Walk<'_> {
    fn token(&mut self, token: Token) -> SqlResult<()> {
        let plain = self.picture.is_plain;
        let sign = if self.is_negative { b'-' } else { b'+' };
        match token {
            Token::Nine | Token::Zero | Token::Point => self.digit(token),
            Token::Comma | Token::Group if self.has_digit => self.out.push(b','),
            Token::Comma | Token::Group if plain => {}
            Token::Comma | Token::Group | Token::Currency => self.out.push(b' '),
            Token::Minus | Token::Plus if (token == Token::Minus) == self.is_negative => {
                self.out.push(sign);
            }
            Token::Minus | Token::Plus if plain => {}
            Token::Minus | Token::Plus => self.out.push(b' '),
            Token::Signs => self.out.push(sign),
            Token::Roman(capital) => self.roman(capital),
            Token::Ordinal(capital) => return self.ordinal(capital),
            Token::Mark => {}
            Token::Literal(it) => {
                self.out.extend_from_slice(it.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Ok(())
    }

    fn roman(&mut self, capital: bool) {
        let numeral = String::from_utf8_lossy(self.digits);
        let numeral = if capital { numeral } else { numeral.to_lowercase().into() };
        let width = if self.picture.is_plain { 0 } else { ROMAN_WIDTH };
        self.out.extend_from_slice(format!("{numeral:>width$}").as_bytes());
    }

    fn ordinal(&mut self, capital: bool) -> SqlResult<()> {
        let is_full = self.digits.first() == Some(&b'#');
        if self.picture.is_roman || self.is_negative || self.picture.has_point || is_full {
            return Ok(());
        }
        if !self.digits.last().is_some_and(u8::is_ascii_digit) {
            let shown = String::from_utf8_lossy(self.digits);
            let message = format!("\"{shown}\" is not a number");
            return Err(SqlError::new(SqlState::INVALID_TEXT, message));
        }
        let suffix = crate::to_char::ordinal_suffix(
            &String::from_utf8_lossy(self.digits),
            if capital { crate::template::Case::Upper } else { crate::template::Case::Lower },
        );
        self.out.extend_from_slice(suffix.as_bytes());
        Ok(())
    }

    /// Whether the zero before the point is left out.
    fn skips_zero(&self) -> bool {
        self.picture.zero_start.is_none()
            && self.at == 0
            && self.digits.first() == Some(&b'0')
            && self.picture.behind > 0
    }

    fn last_is_point(&self) -> bool {
        self.last.is_some_and(|it| self.digits[it] == b'.')
    }

    fn digit(&mut self, token: Token) {
        if self.picture.is_roman {
            return;
        }
        self.sign_before();
        let digit = self.digits.get(self.at).copied().unwrap_or(0);
        let plain = self.picture.is_plain;
        let is_zero = self.picture.zero_start.is_some_and(|it| it <= self.place);
        if self.place < self.blanks {
            if is_zero {
                self.out.push(b'0');
                self.has_digit = true;
            } else if !plain {
                self.out.push(b' ');
            }
        } else {
            if digit == b'.' {
                if !self.last_is_point() || plain {
                    self.out.push(b'.');
                }
            } else if self.last.is_some_and(|it| self.at > it) && token != Token::Zero {
                // A zero that nobody asked for.
            } else if self.skips_zero() {
                if !plain {
                    self.out.push(b' ');
                } else if self.last_is_point() {
                    self.out.push(b'0');
                }
            } else {
                self.out.push(digit);
                self.has_digit = true;
            }
            self.at += usize::from(self.at < self.digits.len());
        }
        self.sign_behind();
        self.place += 1;
    }

    fn sign_before(&mut self) {
        let begins = self.place >= self.blanks || self.picture.zero_start == Some(self.place);
        if self.sign_is_written || !begins || self.skips_zero() && !self.last_is_point() {
            return;
        }
        let sign = if self.is_negative { b'-' } else { b'+' };
        match self.picture.anchor {
            Some(Anchor::Before) => self.out.push(sign),
            // It stands behind.
            Some(Anchor::Behind) => return,
            None if self.has_brackets => self.out.push(if self.is_negative { b'<' } else { b' ' }),
            None if self.is_negative => self.out.push(b'-'),
            None if !self.picture.is_plain => self.out.push(b' '),
            None => {}
        }
        self.sign_is_written = true;
    }

    fn sign_behind(&mut self) {
        let mut end = self.places.wrapping_add(usize::from(self.blanks > 0));
        end = end.wrapping_add(usize::from(self.picture.has_point));
        if self.last == Some(self.at) {
            end = self.place;
        }
        if self.place + 1 != end {
            return;
        }
        if self.sign_is_written && self.has_brackets {
            self.out.push(if self.is_negative { b'>' } else { b' ' });
        } else if self.picture.anchor == Some(Anchor::Behind) {
            self.out.push(if self.is_negative { b'-' } else { b'+' });
        }
    }
}
