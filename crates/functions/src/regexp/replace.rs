//! regexp_replace.

use std::ops::Range;

use arrow_array::ArrayRef;
use types::SqlResult;

use super::{Matches, Pattern, Patterns, at_least, flags_of};
use crate::call::Call;
use crate::texts::Texts;

/// Texts with matches replaced.
pub(crate) fn replace(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns, news) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    let has_start = call.count() > 3 && !call.is_text(3);
    let starts = if has_start { call.optional_integers(3)? } else { None };
    let numbers = call.optional_integers(4)?;
    let flags = call.optional_texts(if has_start { 5 } else { 3 })?;
    let mut compiled = Patterns::default();
    let mut template = Template::new("");
    call.map_texts(|row, out| {
        let start = at_least("start", starts, row, 1, 1)?;
        let flags = flags_of(flags, row)?;
        let number = at_least("n", numbers, row, 0, i64::from(!flags.global))?;
        let pattern = compiled.get(patterns.value(row), flags)?;
        if template.text != news.value(row) {
            template = Template::new(news.value(row));
        }
        one(pattern, texts.value(row), &template, start, number, out)
    })
}

/// Replaces the match of a number, or all for 0.
fn one(
    pattern: &mut Pattern,
    text: &str,
    template: &Template<'_>,
    start: i64,
    number: i64,
    out: &mut Texts,
) -> SqlResult<()> {
    let mut matches = Matches::new(text, start);
    let (mut copied, mut count) = (0, 0);
    while let Some(from) = matches.from {
        let groups = if template.has_groups {
            pattern.captures(text, from)
        } else {
            pattern.find(text, from).map(|it| vec![Some(it)])
        };
        let Some(found) = groups.as_ref().and_then(|it| it.first()?.clone()) else {
            break;
        };
        matches.from = matches.after(&found);
        count += 1;
        if number != 0 && count != number {
            continue;
        }
        out.push(&text[copied..found.start])?;
        template.push(text, groups.as_deref().unwrap_or_default(), out)?;
        copied = found.end;
        if number != 0 {
            break;
        }
    }
    out.push(&text[copied..])
}

enum Piece<'a> {
    Text(&'a str),
    /// The whole match (0) or a subexpression.
    Group(usize),
}

/// A replacement: text, with `\1` to `\9` for subexpressions, `\&` for the match, `\\` for a backslash.
struct Template<'a> {
    text: &'a str,
    pieces: Vec<Piece<'a>>,
    has_groups: bool,
}

impl<'a> Template<'a> {
    fn new(text: &'a str) -> Self {
        let mut pieces = Vec::new();
        let mut has_groups = false;
        let mut rest = text;
        while let Some(place) = rest.find('\\') {
            let next = rest[place + 1..].chars().next();
            let (kept, piece, length) = match next {
                Some('&') => (place, Some(Piece::Group(0)), 2),
                Some(digit @ '1'..='9') => {
                    has_groups = true;
                    (place, Some(Piece::Group(digit as usize - '0' as usize)), 2)
                }
                // One of the two stays.
                Some('\\') => (place + 1, None, 2),
                _ => (place + 1, None, 1),
            };
            pieces.push(Piece::Text(&rest[..kept]));
            pieces.extend(piece);
            rest = &rest[place + length..];
        }
        pieces.push(Piece::Text(rest));
        Self { text, pieces, has_groups }
    }

    fn push(&self, text: &str, groups: &[Option<Range<usize>>], out: &mut Texts) -> SqlResult<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(it) => out.push(it)?,
                Piece::Group(group) => {
                    if let Some(Some(range)) = groups.get(*group) {
                        out.push(&text[range.clone()])?;
                    }
                }
            }
        }
        Ok(())
    }
}
