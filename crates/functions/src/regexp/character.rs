//! Single characters of a pattern: those that an escape stands for, and those that mean themselves.

use types::{SqlError, SqlResult, SqlState};

/// A pattern that does not say anything, 2201B.
pub(crate) fn malformed(why: &str) -> SqlError {
    SqlError::new(SqlState("2201B"), format!("invalid regular expression: {why}"))
}

/// The character that an escape stands for; `at` is behind its first letter.
pub(super) fn escaped_character(first: char, rest: &[char], at: &mut usize) -> SqlResult<char> {
    let bad = || malformed("invalid escape \\ sequence");
    let mut digits = |radix: u32, least: usize, most: usize| {
        let mut value = 0u32;
        let mut count = 0;
        while count < most
            && let Some(digit) = rest.get(*at).and_then(|it| it.to_digit(radix))
        {
            value = value.wrapping_mul(radix) + digit;
            *at += 1;
            count += 1;
        }
        if count < least { None } else { char::from_u32(value) }
    };
    Ok(match first {
        'a' => '\x07',
        'b' => '\x08',
        'B' => '\\',
        'e' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        'u' => digits(16, 4, 4).ok_or_else(bad)?,
        'U' => digits(16, 8, 8).ok_or_else(bad)?,
        'x' => digits(16, 1, 8).ok_or_else(bad)?,
        '0' => digits(8, 0, 2).ok_or_else(bad)?,
        'c' => {
            let control = rest.get(*at).copied().ok_or_else(bad)?;
            *at += 1;
            char::from_u32(control as u32 & 0x1f).ok_or_else(bad)?
        }
        other if other.is_alphanumeric() => return Err(bad()),
        other => other,
    })
}

/// A character that means itself.
pub(super) fn push_literal(out: &mut String, character: char) {
    if character.is_ascii_punctuation() {
        out.push('\\');
        out.push(character);
    } else if character.is_whitespace() || character.is_control() {
        out.push_str(&format!("\\x{{{:x}}}", character as u32));
    } else {
        out.push(character);
    }
}
