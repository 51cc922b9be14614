//! Where a text stands in another.

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;

use crate::call::Call;

/// The place of the second text in the first.
pub(crate) fn strpos(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, parts) = (call.texts(0)?, call.texts(1)?);
    call.map_integers(|row| {
        let text = texts.value(row);
        Ok(text.find(parts.value(row)).map_or(0, |it| super::length(&text[..it]) + 1))
    })
}

/// contains, starts_with and ends_with.
pub(crate) fn search(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, parts) = (call.texts(0)?, call.texts(1)?);
    call.map_booleans(|row| {
        let (text, part) = (texts.value(row), parts.value(row));
        Ok(match call.function {
            Function::StartsWith => text.starts_with(part),
            Function::EndsWith => text.ends_with(part),
            _ => text.contains(part),
        })
    })
}
