//! UUIDs: the forms in which they are written, and the one in which they are held.

use std::fmt::Write;

use super::errors::invalid_text;
use crate::{DataType, SqlResult};

/// A UUID in the form in which it is held: 32 hexadecimal digits in lower case, and hyphens. Read are both cases, braces
/// around, and hyphens behind any four digits, or none.
///
/// # Errors
/// 22P02 for what is none.
pub fn parse(text: &str) -> SqlResult<String> {
    bits(text).map(format).ok_or_else(|| invalid_text(text, DataType::Uuid))
}

/// The bits of a UUID that is spelt in any of the forms.
pub fn bits(text: &str) -> Option<u128> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let (mut bits, mut digits) = (0u128, 0);
    let mut hyphen = false;
    for it in inner.bytes() {
        match it {
            b'-' if !hyphen && digits > 0 && digits % 4 == 0 && digits < 32 => hyphen = true,
            _ => {
                let digit = char::from(it).to_digit(16)?;
                bits = bits << 4 | u128::from(digit);
                digits += 1;
                hyphen = false;
            }
        }
        if digits > 32 {
            return None;
        }
    }
    (digits == 32 && !hyphen).then_some(bits)
}

/// Bits as they are held.
pub fn format(bits: u128) -> String {
    let digits = format!("{bits:032x}");
    let mut out = String::with_capacity(36);
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    let _ = write!(out, "{}", parts.join("-"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_one() {
        let held = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for text in [
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
        ] {
            assert_eq!(parse(text).as_deref(), Ok(held), "{text}");
        }
        for wrong in ["", "{a0eebc99", "a0e-ebc999c0b4ef8bb6d6bb9bd380a11", &held[1..], "x"] {
            assert_eq!(parse(wrong).map_err(|it| it.state.0), Err("22P02"), "{wrong}");
        }
    }
}
