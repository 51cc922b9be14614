//! The flags of a call, and what each letter says.

use types::{SqlError, SqlResult};

use crate::error::invalid;

/// What the flags of a call say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Flags {
    /// All matches, not only the first.
    pub global: bool,
    /// Case does not count.
    pub fold: bool,
    /// `.` and `[^..]` do not match a newline.
    pub stops_at_newline: bool,
    /// `^` and `$` match at newlines.
    pub line_anchors: bool,
    /// Blanks and comments in the pattern do not count.
    pub expanded: bool,
    /// The pattern is a plain text.
    pub literal: bool,
    /// The pattern prefers the shortest match: what its quantifiers say.
    pub shortest: bool,
}

impl Flags {
    /// The meaning of letters. Errors: 22023 for an unknown one, 0A000 for basic expressions.
    pub fn parse(text: &str) -> SqlResult<Self> {
        let mut flags = Self::default();
        for it in text.chars() {
            match it {
                'g' => flags.global = true,
                _ => flags.set(it)?,
            }
        }
        Ok(flags)
    }

    /// Adds the meaning of a letter.
    pub(super) fn set(&mut self, letter: char) -> SqlResult<()> {
        match letter {
            'i' => self.fold = true,
            'c' => self.fold = false,
            'm' | 'n' => (self.stops_at_newline, self.line_anchors) = (true, true),
            'p' => (self.stops_at_newline, self.line_anchors) = (true, false),
            's' => (self.stops_at_newline, self.line_anchors) = (false, false),
            'w' => (self.stops_at_newline, self.line_anchors) = (false, true),
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'q' => self.literal = true,
            'e' => {}
            'b' => {
                return Err(SqlError::unsupported("basic regular expressions are not supported"));
            }
            other => {
                return Err(invalid(format!("invalid regular expression option: \"{other}\"")));
            }
        }
        Ok(())
    }
}
