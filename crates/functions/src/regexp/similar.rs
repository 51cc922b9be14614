//! similar_to_escape: patterns of the SQL standard, as SIMILAR TO has them, as regular expressions of PostgreSQL's kind.

use arrow_array::ArrayRef;
use plan::Function;
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::texts::Texts;

/// For each pattern the regular expression that matches what it matches: all of a text. The second argument is the
/// character that escapes, or the empty text for none; a backslash when it is left out.
///
/// For SUBSTRING the quantifiers before the first separator take as little as can be, as PostgreSQL has it of all that stands
/// there together.
///
/// Errors: 22025 for an escape of several characters, 2200C for more than two separators.
pub(crate) fn similar_to_escape(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (patterns, escapes) = (call.texts(0)?, call.optional_texts(1)?);
    call.map_texts(|row, out| {
        let escape = escape_of(escapes.map_or("\\", |it| it.value(row)))?;
        let pattern = patterns.value(row);
        let is_parted = escape.is_some_and(|it| pattern.contains(&format!("{it}\"")));
        let is_lazy = is_parted && call.function == Function::SimilarParts;
        Translation { is_lazy, ..Translation::default() }.write(pattern, escape, out)
    })
}

fn escape_of(text: &str) -> SqlResult<Option<char>> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (first, None) => Ok(first),
        _ => Err(SqlError::new(SqlState("22025"), "invalid escape string")
            .with_hint("escape string must be empty or one character")),
    }
}

/// How far a pattern is read.
#[derive(Default)]
struct Translation {
    /// Brackets that are open; those of named classes count, and so does one that stands for itself.
    depth: usize,
    /// Whether a closing bracket here stands for itself: behind the opening one, or behind that and a `^`.
    start: Start,
    /// The separators so far: escaped double quotes, by which SUBSTRING finds the part that it gives.
    separators: usize,
    /// Whether quantifiers before the first separator are lazy.
    is_lazy: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Start {
    Bracket,
    Caret,
    #[default]
    Over,
}

impl Translation {
    fn write(mut self, pattern: &str, escape: Option<char>, out: &mut Texts) -> SqlResult<()> {
        out.push("^(?:")?;
        let mut rest = pattern.chars();
        while let Some(it) = rest.next() {
            if Some(it) != escape {
                match self.depth {
                    0 => self.outside(it, out)?,
                    _ => self.inside(it, out)?,
                }
                continue;
            }
            match rest.next() {
                Some('"') if self.depth == 0 => self.separator(out)?,
                // Anything may be escaped: so one comes to `\d` and the like.
                Some(escaped) => {
                    out.push("\\")?;
                    out.push_char(escaped)?;
                    self.start = Start::Over;
                }
                None => {}
            }
        }
        out.push(")$")
    }

    fn outside(&mut self, it: char, out: &mut Texts) -> SqlResult<()> {
        let lazy = if self.is_lazy && self.separators == 0 { "?" } else { "" };
        match it {
            '%' => {
                out.push(".*")?;
                out.push(lazy)
            }
            '*' | '+' | '?' | '}' => {
                out.push_char(it)?;
                out.push(lazy)
            }
            '_' => out.push("."),
            // Groups are there to group alone.
            '(' => out.push("(?:"),
            '\\' | '.' | '^' | '$' => {
                out.push("\\")?;
                out.push_char(it)
            }
            _ => {
                if it == '[' {
                    (self.depth, self.start) = (1, Start::Bracket);
                }
                out.push_char(it)
            }
        }
    }

    fn inside(&mut self, it: char, out: &mut Texts) -> SqlResult<()> {
        match it {
            ']' if self.start == Start::Over => self.depth -= 1,
            '[' => self.depth += 1,
            '\\' => out.push("\\")?,
            _ => {}
        }
        self.start = match (it, &self.start) {
            ('^', Start::Bracket) => Start::Caret,
            _ => Start::Over,
        };
        out.push_char(it)
    }

    /// The part before the first separator is as short, the part between both as long as can be.
    fn separator(&mut self, out: &mut Texts) -> SqlResult<()> {
        self.separators += 1;
        match self.separators {
            1 if self.is_lazy => out.push(")("),
            2 if self.is_lazy => out.push(")(?:"),
            1 => out.push("){1,1}?("),
            2 => out.push("){1,1}(?:"),
            _ => {
                let message = "SQL regular expression may not contain more than two escape-double-quote separators";
                Err(SqlError::new(SqlState("2200C"), message))
            }
        }
    }
}
