//! Strings of JSON: their characters, and how they are written.

use std::borrow::Cow;
use std::fmt::Write;

use super::lexer::invalid;
use crate::{SqlError, SqlResult, SqlState};

/// Appends a string in quotes, as PostgreSQL escapes it.
pub fn put_string(value: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (place, byte) in value.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x0c => "\\f",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            ..0x20 => "",
            _ => continue,
        };
        out.push_str(value.get(from..place).unwrap_or(""));
        from = place + 1;
        match escape {
            "" => {
                // Nothing fails to be written to a string.
                let _ = write!(out, "\\u{byte:04x}");
            }
            known => out.push_str(known),
        }
    }
    out.push_str(value.get(from..).unwrap_or(""));
    out.push('"');
}

/// The characters of a string that is written in quotes.
///
/// # Errors
/// 22P05 for U+0000, which no text holds, and 22P02 for half of a surrogate pair.
pub fn string_of(quoted: &str) -> SqlResult<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(quoted);
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(place) = rest.find('\\') {
        out.push_str(&rest[..place]);
        rest = &rest[place + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        match escape {
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let (character, behind) = character(rest)?;
                out.push(character);
                rest = behind;
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

/// The four digits at the beginning of a text as a number, and what stands behind them.
fn unit(text: &str) -> Option<(u32, &str)> {
    let unit = u32::from_str_radix(text.get(..4)?, 16).ok()?;
    Some((unit, text.get(4..)?))
}

/// The character of the digits behind `\u`, with those of a second one where it takes two.
fn character(text: &str) -> SqlResult<(char, &str)> {
    let low_missing = || invalid("Unicode low surrogate must follow a high surrogate.");
    let Some((first, behind)) = unit(text) else {
        return Err(invalid("\"\\u\" must be followed by four hexadecimal digits."));
    };
    match first {
        0 => {
            let message = "unsupported Unicode escape sequence";
            Err(SqlError::new(SqlState("22P05"), message)
                .with_hint("\\u0000 cannot be converted to text."))
        }
        0xd800..=0xdbff => {
            let second = behind.strip_prefix("\\u").and_then(unit);
            let Some((second, behind)) = second else { return Err(low_missing()) };
            match second {
                0xdc00..=0xdfff => {
                    let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                    char::from_u32(code).map(|it| (it, behind)).ok_or_else(low_missing)
                }
                0xd800..=0xdbff => {
                    Err(invalid("Unicode high surrogate must not follow a high surrogate."))
                }
                _ => Err(low_missing()),
            }
        }
        _ => char::from_u32(first).map(|it| (it, behind)).ok_or_else(low_missing),
    }
}
