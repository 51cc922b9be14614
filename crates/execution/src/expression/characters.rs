//! The characters of a text in UTF-8, and the blanks at its end.

/// The bytes of `take` characters after `skip`.
#[inline]
pub(super) fn characters(text: &[u8], skip: usize, take: usize) -> &[u8] {
    // Bytes after those that are taken do not matter.
    let end = skip.saturating_add(take).min(text.len());
    if text[..end].is_ascii() {
        return &text[skip.min(end)..end];
    }
    let start = byte_place(text, skip);
    let rest = &text[start..];
    &rest[..byte_place(rest, take)]
}

/// The characters of which all bytes are among the first.
#[inline]
pub(super) fn whole_characters(text: &[u8], bytes: usize) -> &[u8] {
    let mut end = bytes.min(text.len());
    while text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    &text[..end]
}

/// Where the character of this number begins, or the end.
fn byte_place(text: &[u8], character: usize) -> usize {
    let begins = |(_, byte): &(usize, &u8)| **byte & 0xc0 != 0x80;
    text.iter().enumerate().filter(begins).nth(character).map_or(text.len(), |(place, _)| place)
}

/// Without the blanks at the end, which do not count for CHAR.
#[inline]
pub(super) fn trim_blanks(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' '] = text {
        text = rest;
    }
    text
}
