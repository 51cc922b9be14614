//! Numbers that texts hold by a picture.

use arrow_array::ArrayRef;
use types::numeric::decimal;
use types::{DataType, SqlError, SqlResult, SqlState, Value, numeric};

use crate::call::Call;
use crate::number_picture::{Anchor, Picture, Pictures, Token};

/// The numbers of texts by pictures.
pub(crate) fn to_number(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let DataType::Decimal { scale, .. } = call.result else {
        return Err(call.broken("a result that is no number"));
    };
    let (texts, templates) = (call.texts(0)?, call.texts(1)?);
    let mut pictures = Pictures::default();
    let mut values = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        if call.is_null(row) || templates.value(row).is_empty() {
            values.push(None);
            continue;
        }
        let picture = pictures.get(templates.value(row))?;
        values.push(Some(read(texts.value(row), picture, call.result, scale)?));
    }
    let array = arrow_array::Decimal128Array::from_iter(values);
    let DataType::Decimal { precision, scale } = call.result else {
        return Err(call.broken("a result that is no number"));
    };
    let array = array.with_precision_and_scale(precision, scale as i8);
    Ok(stdx::sync::Arc::new(array.map_err(|_| call.broken("an impossible decimal as result"))?))
}

fn read(text: &str, picture: &Picture, result: DataType, scale: u8) -> SqlResult<i128> {
    if picture.is_scientific {
        return Err(SqlError::unsupported("\"EEEE\" is not supported for input"));
    }
    if picture.is_roman {
        let number = roman(text, picture)?;
        return decimal::rescale(number, 0, scale).ok_or_else(overflow);
    }
    let mut reading = Reading::new(text, picture);
    for token in &picture.tokens {
        if reading.rest.is_empty() {
            break;
        }
        reading.token(*token);
    }
    let number = reading.finish();
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let behind = number.split_once('.').map_or(0, |it| it.1.len());
    let value = numeric::cast(&Value::Text(number.as_str().into()), DataType::Text, wide(behind))?;
    let Value::Decimal { unscaled, .. } = value else { return Err(overflow()) };
    // More digits before the point than the picture has.
    let significant = number.trim_start_matches([' ', '-', '+', '0']);
    let whole = significant.find('.').unwrap_or(significant.len());
    if digits > 0 && whole > picture.before + picture.shifted {
        return Err(overflow());
    }
    let behind = behind + picture.shifted;
    let value = decimal::rescale(unscaled, u8::try_from(behind).map_err(|_| overflow())?, scale);
    value.filter(|it| decimal::fits(*it, result)).ok_or_else(overflow)
}

fn wide(scale: usize) -> DataType {
    DataType::Decimal { precision: 38, scale: scale.min(38) as u8 }
}

fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "numeric field overflow")
}

/// What has been read of a text.
struct Reading<'a> {
    picture: &'a Picture,
    rest: &'a str,
    sign: char,
    digits: String,
    before: usize,
    behind: usize,
    has_point: bool,
}

impl<'a> Reading<'a> {
    fn new(text: &'a str, picture: &'a Picture) -> Self {
        let digits = String::new();
        Self { picture, rest: text, sign: ' ', digits, before: 0, behind: 0, has_point: false }
    }

    fn next(&self) -> char {
        self.rest.chars().next().unwrap_or('\0')
    }

    fn skip(&mut self) {
        self.rest = &self.rest[self.next().len_utf8().min(self.rest.len())..];
    }

    /// Skips so many characters that are no part of a number.
    fn skip_others(&mut self, count: usize) {
        for _ in 0..count {
            if self.rest.is_empty() || "0123456789.,+-".contains(self.next()) {
                break;
            }
            self.skip();
        }
    }

    fn token(&mut self, token: Token) {
        match token {
            Token::Nine | Token::Zero | Token::Point => {
                self.digit(token);
                self.skip();
            }
            Token::Comma | Token::Group if self.picture.is_plain => {}
            Token::Comma | Token::Group if self.next() == ',' => self.skip(),
            Token::Comma | Token::Group => {}
            Token::Currency => self.skip_others(1),
            Token::Ordinal(_) if self.sign == '-' || self.picture.has_point => {}
            Token::Ordinal(_) => self.skip_others(2),
            Token::Minus | Token::Plus | Token::Signs => {
                let next = self.next();
                let reads =
                    next == '-' && token != Token::Plus || next == '+' && token != Token::Minus;
                if reads {
                    self.sign = next;
                    self.skip();
                } else {
                    self.skip_others(1);
                }
            }
            Token::Mark | Token::Roman(_) => {}
            Token::Literal(_) => self.skip(),
        }
    }

    /// Reads a digit or the point, and a sign before or behind it. The last character that counts stays.
    fn digit(&mut self, token: Token) {
        if self.next() == ' ' {
            self.skip();
        }
        if self.rest.is_empty() {
            return;
        }
        if self.sign == ' ' && token != Token::Point && self.before + self.behind == 0 {
            let bracket = self.picture.has_brackets && self.next() == '<';
            let anchored = self.picture.anchor == Some(Anchor::Behind);
            if (self.next() == '-' || bracket) && (self.picture.anchor.is_none() || !anchored) {
                self.sign = '-';
                self.skip();
            } else if self.next() == '+' && (self.picture.anchor.is_none() || !anchored) {
                self.sign = '+';
                self.skip();
            } else if anchored && matches!(self.next(), '-' | '+') {
                self.sign = self.next();
                self.skip();
            }
        }
        if self.rest.is_empty() {
            return;
        }
        let mut is_read = false;
        let next = self.next();
        if next.is_ascii_digit() {
            if self.has_point && self.behind == self.picture.behind {
                return;
            }
            self.digits.push(next);
            *(if self.has_point { &mut self.behind } else { &mut self.before }) += 1;
            is_read = true;
        } else if self.picture.has_point && !self.has_point && next == '.' {
            self.digits.push('.');
            self.has_point = true;
            is_read = true;
        }
        if is_read {
            self.sign_behind();
        } else {
            self.sign_between(next);
        }
    }

    /// Reads a sign of `MI`, `PL` or `SG` where a digit may still come: the text has fewer of them than the picture.
    fn sign_between(&mut self, next: char) {
        let signs = [Token::Minus, Token::Plus, Token::Signs];
        if self.sign == ' '
            && self.picture.anchor.is_none()
            && self.before + self.behind > 0
            && matches!(next, '-' | '+')
            && self.picture.tokens.iter().any(|it| signs.contains(it))
        {
            self.sign = next;
        }
    }

    /// Reads a sign of `S` right behind a digit.
    fn sign_behind(&mut self) {
        let mut behind = self.rest.chars();
        behind.next();
        if self.sign == ' '
            && self.picture.anchor.is_some()
            && self.before + self.behind > 0
            && let Some(it @ ('-' | '+')) = behind.clone().next()
        {
            self.sign = it;
            // The sign is what is skipped next.
            self.rest = behind.as_str();
        }
    }

    fn finish(self) -> String {
        let digits = self.digits.strip_suffix('.').unwrap_or(&self.digits);
        format!("{}{digits}", self.sign)
    }
}

/// The number of a Roman numeral.
fn roman(text: &str, picture: &Picture) -> SqlResult<i128> {
    let invalid = || SqlError::new(SqlState::INVALID_TEXT, "invalid Roman numeral");
    let mut rest = text;
    for token in &picture.tokens {
        match token {
            Token::Roman(_) => break,
            Token::Literal(_) => {
                let next = rest.chars().next().map_or(0, char::len_utf8);
                rest = &rest[next..];
            }
            _ => {}
        }
    }
    let rest = rest.trim_start_matches(' ');
    let end = rest.find(|it: char| !"IVXLCDMivxlcdm".contains(it)).unwrap_or(rest.len());
    let numeral = rest[..end].to_uppercase();
    let found = (1..4_000).find(|it| crate::to_char_number::numeral(*it) == numeral);
    found.ok_or_else(invalid)
}
