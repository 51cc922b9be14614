//! Functions of what Unicode says of characters: case that does not count, normal forms, characters by number.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use plan::Function;
use types::{SqlError, SqlResult, SqlState};
use unicode_normalization::UnicodeNormalization;

use crate::call::Call;
use crate::error::invalid;
use crate::texts::Texts;

/// Texts in which case does not count: the full folding of Unicode.
pub(crate) fn casefold(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    call.map_texts(|row, out| {
        let text = texts.value(row);
        if text.is_ascii() {
            return out.push(&text.to_ascii_lowercase());
        }
        text.chars().try_for_each(|it| fold(it, out))
    })
}

/// A folded character: in all but few cases what upper case makes of it, in lower case.
fn fold(it: char, out: &mut Texts) -> SqlResult<()> {
    match it {
        // Dotless i has no other case, and the capital sharp s is two of them.
        '\u{131}' => out.push_char(it),
        '\u{1e9e}' => out.push("ss"),
        // Cherokee folds to capitals, which came first.
        '\u{13a0}'..='\u{13f5}' => out.push_char(it),
        '\u{13f8}'..='\u{13fd}' => out.push_char(moved(it, 0x13f8, 0x13f0)),
        '\u{ab70}'..='\u{abbf}' => out.push_char(moved(it, 0xab70, 0x13a0)),
        _ => it.to_uppercase().flat_map(char::to_lowercase).try_for_each(|it| out.push_char(it)),
    }
}

fn moved(it: char, from: u32, to: u32) -> char {
    char::from_u32(it as u32 - from + to).unwrap_or(it)
}

/// Whether Unicode says of each character what it is.
pub(crate) fn unicode_assigned(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    let unassigned =
        regex::Regex::new(r"\p{Cn}").map_err(|it| SqlError::internal(it.to_string()))?;
    call.map_booleans(|row| Ok(!unassigned.is_match(texts.value(row))))
}

/// `normalize` and `is_normalized`: a text and perhaps a form.
pub(crate) fn normalize(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, forms) = (call.texts(0)?, call.optional_texts(1)?);
    let form = |row| forms.map_or("NFC", |it| it.value(row));
    if call.function == Function::IsNormalized {
        return call.map_booleans(|row| {
            let text = texts.value(row);
            Ok(normal(text, form(row))? == text)
        });
    }
    call.map_texts(|row, out| out.push(&normal(texts.value(row), form(row))?))
}

/// A text in a normal form. Error: 22023 for a form that is none.
fn normal<'a>(text: &'a str, form: &str) -> SqlResult<Cow<'a, str>> {
    let made: fn(&str) -> String = match form.to_ascii_uppercase().as_str() {
        "NFC" => |it| it.nfc().collect(),
        "NFD" => |it| it.nfd().collect(),
        "NFKC" => |it| it.nfkc().collect(),
        "NFKD" => |it| it.nfkd().collect(),
        _ => return Err(invalid(format!("invalid normalization form: {form}"))),
    };
    Ok(if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(made(text)) })
}

/// Texts with characters by number in them: `\0061`, `\+000061`, `\u0061`, `\U00000061`.
pub(crate) fn unistr(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    call.map_texts(|row, out| {
        let mut rest = texts.value(row);
        // The first half of a pair, which waits for the second.
        let mut high: Option<u32> = None;
        while let Some(place) = rest.find('\\') {
            if high.is_some() && place > 0 {
                return Err(no_pair());
            }
            out.push(&rest[..place])?;
            rest = &rest[place + 1..];
            if let Some(behind) = rest.strip_prefix('\\') {
                if high.is_some() {
                    return Err(no_pair());
                }
                out.push_char('\\')?;
                rest = behind;
                continue;
            }
            let (code, behind) = escaped(rest).ok_or_else(no_escape)?;
            rest = behind;
            match (high.take(), code) {
                (Some(first), 0xDC00..=0xDFFF) => {
                    let code = 0x10000 + ((first - 0xD800) << 10) + (code - 0xDC00);
                    out.push_char(char::from_u32(code).ok_or_else(no_pair)?)?;
                }
                (Some(_), _) | (None, 0xDC00..=0xDFFF) => return Err(no_pair()),
                (None, 0xD800..=0xDBFF) => high = Some(code),
                (None, 1..) => out.push_char(char::from_u32(code).ok_or_else(no_character)?)?,
                (None, 0) => return Err(no_character()),
            }
        }
        if high.is_some() {
            return Err(no_pair());
        }
        out.push(rest)
    })
}

/// The number behind a backslash, and what follows it.
fn escaped(text: &str) -> Option<(u32, &str)> {
    let (digits, count) = match text.as_bytes().first()? {
        b'+' => (&text[1..], 6),
        b'u' => (&text[1..], 4),
        b'U' => (&text[1..], 8),
        _ => (text, 4),
    };
    let number = digits.get(..count)?;
    let is_hex = number.bytes().all(|it| it.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(number, 16).ok()).flatten().map(|it| (it, &digits[count..]))
}

fn no_escape() -> SqlError {
    let hint = "Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.";
    SqlError::new(SqlState::SYNTAX, "invalid Unicode escape").with_hint(hint)
}

fn no_pair() -> SqlError {
    SqlError::new(SqlState::SYNTAX, "invalid Unicode surrogate pair")
}

fn no_character() -> SqlError {
    SqlError::new(SqlState::SYNTAX, "invalid Unicode code point")
}
