//! Parts of a text.

use arrow_array::{ArrayRef, StringArray};
use plan::Function;
use types::{SqlError, SqlResult, SqlState};

use super::{byte_of, length};
use crate::call::Call;

/// A part by first character and length.
pub(crate) fn substring(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, starts) = (call.texts(0)?, call.integers(1)?);
    let counts = call.optional_integers(2)?;
    call.map_texts(|row, out| {
        let text = texts.value(row);
        let start = starts.at(row);
        let end = match counts.map(|it| it.at(row)) {
            Some(count) if count < 0 => {
                let message = "negative substring length not allowed";
                return Err(SqlError::new(SqlState("22011"), message));
            }
            Some(count) => start.saturating_add(count).max(1),
            None => i64::MAX,
        };
        let from = byte_of(text, place(start.max(1) - 1));
        let rest = &text[from..];
        out.push(&rest[..byte_of(rest, place(end.saturating_sub(start.max(1))))])
    })
}

/// A count of characters that is not negative.
fn place(count: i64) -> usize {
    usize::try_from(count.max(0)).unwrap_or(usize::MAX)
}

/// left and right.
pub(crate) fn left_or_right(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, counts) = (call.texts(0)?, call.integers(1)?);
    let left = call.function == Function::Left;
    call.map_texts(|row, out| {
        let text = texts.value(row);
        let count = counts.at(row);
        let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        // The first characters that are kept, or dropped.
        let from_left = left == (count >= 0);
        let middle = if from_left {
            byte_of(text, wanted)
        } else {
            byte_of(text, length(text).saturating_sub(wanted))
        };
        out.push(if left { &text[..middle] } else { &text[middle..] })
    })
}

/// btrim, ltrim and rtrim.
pub(crate) fn trim(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, sets) = (call.texts(0)?, call.optional_texts(1)?);
    let (left, right) = match call.function {
        Function::Ltrim => (true, false),
        Function::Rtrim => (false, true),
        _ => (true, true),
    };
    call.map_texts(|row, out| {
        let set = Set::new(sets, row);
        let mut text = texts.value(row);
        if left {
            text = text.trim_start_matches(|it| set.contains(it));
        }
        if right {
            text = text.trim_end_matches(|it| set.contains(it));
        }
        out.push(text)
    })
}

/// Characters to cut off, sorted, so that a large set costs no more than its length.
struct Set(Vec<char>);

impl Set {
    fn new(sets: Option<&StringArray>, row: usize) -> Self {
        let mut characters: Vec<char> = sets.map_or(" ", |it| it.value(row)).chars().collect();
        characters.sort_unstable();
        Self(characters)
    }

    fn contains(&self, character: char) -> bool {
        self.0.binary_search(&character).is_ok()
    }
}
