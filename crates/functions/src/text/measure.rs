//! Numbers that a text has.

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;
use types::numeric::bytes::bytes_of;

use crate::call::Call;
use crate::error::too_long;

/// Steps that all comparisons of a call may take.
const EDIT_STEPS_MAX: usize = 1 << 30;

/// ascii, bit_length, character_length, octet_length; the number of characters that bytes stand for in a character set.
pub(crate) fn measure(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    if let Some(names) = call.optional_texts(1)? {
        return call.map_integers(|row| {
            let charset = crate::bytes::charset(names.value(row), "source")?;
            Ok(charset.decode(&bytes_of(texts.value(row)))?.chars().count())
        });
    }
    call.map_integers(|row| {
        let text = texts.value(row);
        Ok(match call.function {
            Function::Ascii => text.chars().next().map_or(0, |it| it as usize),
            Function::BitLength => text.len() * 8,
            Function::OctetLength => text.len(),
            _ => super::length(text),
        })
    })
}

/// How many characters must change to make one text of another.
pub(crate) fn levenshtein(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    let mut steps = 0usize;
    call.map_integers(|row| {
        let (left, right) = (left.value(row), right.value(row));
        let cost = super::length(left).saturating_mul(super::length(right));
        steps = steps.saturating_add(cost);
        if steps > EDIT_STEPS_MAX {
            return Err(too_long());
        }
        Ok(distance(left, right))
    })
}

fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    // Distances of the characters of `left` so far to each beginning of `right`.
    let mut distances: Vec<usize> = (0..=right.len()).collect();
    for (taken, from) in left.chars().enumerate() {
        let mut diagonal = distances[0];
        distances[0] = taken + 1;
        for (place, &to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = distances[place + 1];
            distances[place + 1] = replaced.min(diagonal + 1).min(distances[place] + 1);
        }
    }
    distances[right.len()]
}
