//! How values stand in a file.

use types::json::{Lexer, Token, is_json, skip};

/// How values stand in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Each on a line of its own.
    Lines,
    /// Within one array.
    Array,
    /// One behind the other, with or without blanks and line breaks between.
    Sequence,
}

impl Layout {
    /// What the beginning of a file looks like, or all of it.
    pub(super) fn of(text: &str, is_whole: bool) -> Self {
        let text = text.trim_ascii_start();
        let Some((line, rest)) = text.split_once(['\n', '\r']) else {
            // All that is known is one line, whose end may be missing.
            return match (text.as_bytes().first(), is_whole) {
                (Some(b'['), true) => {
                    if has_one(text) {
                        Self::Array
                    } else {
                        Self::Sequence
                    }
                }
                (Some(b'['), false) => Self::Array,
                _ => Self::Sequence,
            };
        };
        let (is_array, is_value) = (line.starts_with('['), is_json(line));
        let is_followed = !rest.trim_ascii_start().is_empty();
        match (is_array, is_value) {
            (true, true) if is_followed || !is_whole => Self::Lines,
            (true, true) => Self::Array,
            (false, true) => Self::Lines,
            (true, false) if has_closed(line) => Self::Sequence,
            (true, false) => Self::Array,
            (false, false) => Self::Sequence,
        }
    }
}

/// Whether a text is one value and no more.
fn has_one(text: &str) -> bool {
    !has_closed(text) || is_json(text)
}

/// Whether a text begins with a value that ends within it.
fn has_closed(text: &str) -> bool {
    let mut lexer = Lexer::new(text);
    lexer.advance().is_ok_and(|it| it != Token::End && skip(&mut lexer, it).is_ok())
}
