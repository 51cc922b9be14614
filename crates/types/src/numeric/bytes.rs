//! Strings of bytes: as texts they are written with, and as texts they are held as.
//!
//! Key decision: a byte is held as the character of its number, U+0000 to U+00FF. So the order, length and parts of a
//! string of bytes are those of the text, and whatever holds texts holds it. It costs a second byte for those from 128 on.

use std::fmt::Write;

use super::errors::invalid_text;
use crate::{DataType, SqlError, SqlResult, SqlState};

/// Bytes as they are held.
pub fn held(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes that a text holds. A character above U+00FF stands for none and is left out; no string of bytes has one.
pub fn bytes_of(held: &str) -> Vec<u8> {
    held.chars().filter_map(|it| u8::try_from(it).ok()).collect()
}

/// A text in PostgreSQL's form `\x6162`, or with `\\` and `\141`, as it is held.
///
/// # Errors
/// 22P02 for a backslash that begins nothing, 22023 for what is no hexadecimal digit or half a byte.
pub fn parse(text: &str) -> SqlResult<String> {
    let bytes = match text.strip_prefix("\\x") {
        Some(digits) => from_hex(digits)?,
        None => unescaped(text).ok_or_else(|| invalid_text(text, DataType::Bytea))?,
    };
    Ok(held(&bytes))
}

/// Bytes of hexadecimal digits; white space between them does not count.
///
/// # Errors
/// 22023 for what is no digit, and for half a byte.
pub fn from_hex(digits: &str) -> SqlResult<Vec<u8>> {
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER, message);
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut first = None;
    for it in digits.chars() {
        if first.is_none() && matches!(it, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let digit = it.to_digit(16);
        let digit = digit.ok_or_else(|| invalid(format!("invalid hexadecimal digit: \"{it}\"")))?;
        match first.take() {
            None => first = Some(digit),
            Some(high) => bytes.push((high << 4 | digit) as u8),
        }
    }
    match first {
        None => Ok(bytes),
        Some(_) => Err(invalid("invalid hexadecimal data: odd number of digits".to_owned())),
    }
}

/// Bytes of a text in which `\\` is a backslash and `\ooo` the byte of an octal number.
pub fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&it, after)) = rest.split_first() {
        if it != b'\\' {
            bytes.push(it);
            rest = after;
            continue;
        }
        rest = match after {
            [b'\\', after @ ..] => {
                bytes.push(b'\\');
                after
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                after
            }
            _ => return None,
        };
    }
    Some(bytes)
}

/// Appends what is held as PostgreSQL writes it: `\x` and two digits for each byte.
pub fn format(held: &str, out: &mut String) {
    out.push_str("\\x");
    for it in held.chars() {
        let _ = write!(out, "{:02x}", u32::from(it));
    }
}

/// Appends what is held with `\\` for a backslash and three octal digits for each byte that is no printable character of ASCII.
pub fn format_escaped(held: &str, out: &mut String) {
    for it in held.chars() {
        match it {
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(it),
            other => {
                let _ = write!(out, "\\{:03o}", u32::from(other));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_both_forms_and_written_in_one() {
        for (text, expected) in [
            ("\\x00fF 10", "\\x00ff10"),
            ("a\\\\b\\001\\377", "\\x615c6201ff"),
            ("", "\\x"),
            ("\u{e4}", "\\xc3a4"),
        ] {
            let mut out = String::new();
            format(&parse(text).unwrap(), &mut out);
            assert_eq!(out, expected, "{text}");
        }
        let mut out = String::new();
        format_escaped(&parse("a\\\\b\\001\\377").unwrap(), &mut out);
        assert_eq!(out, "a\\\\b\\001\\377");
        let state = |it| parse(it).map_err(|it| it.state.0);
        assert_eq!(state("\\x0"), Err("22023"));
        assert_eq!(state("\\x0g"), Err("22023"));
        assert_eq!(state("\\400"), Err("22P02"));
        assert_eq!(bytes_of(&held(&[0, 255, 128])), [0, 255, 128]);
    }
}
