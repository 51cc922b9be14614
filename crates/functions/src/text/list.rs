//! Texts as lists with separators.

use arrow_array::ArrayRef;
use types::SqlResult;

use crate::call::Call;
use crate::error::invalid;

/// The n-th field of a text cut at a separator.
pub(crate) fn split_part(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, separators, numbers) = (call.texts(0)?, call.texts(1)?, call.integers(2)?);
    call.map_texts(|row, out| {
        let (text, separator) = (texts.value(row), separators.value(row));
        let number = numbers.at(row);
        if number == 0 {
            return Err(invalid("field position must not be zero"));
        }
        let place = usize::try_from(number.unsigned_abs() - 1).unwrap_or(usize::MAX >> 1);
        let field = if separator.is_empty() || text.is_empty() {
            (place == 0).then_some(text)
        } else if number > 0 {
            text.split(separator).nth(place)
        } else {
            // Fields are cut from the left, also where they are counted from the right.
            let count = text.split(separator).count();
            count.checked_sub(place + 1).and_then(|it| text.split(separator).nth(it))
        };
        out.push(field.unwrap_or(""))
    })
}

/// What stands before (or, counted from the end, after) the n-th separator; all when there are fewer.
pub(crate) fn substring_index(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, separators, numbers) = (call.texts(0)?, call.texts(1)?, call.integers(2)?);
    call.map_texts(|row, out| {
        let (text, separator) = (texts.value(row), separators.value(row));
        let number = numbers.at(row);
        if separator.is_empty() || number == 0 {
            return Ok(());
        }
        let place = usize::try_from(number.unsigned_abs() - 1).unwrap_or(usize::MAX);
        let part = if number > 0 {
            text.match_indices(separator).nth(place).map(|it| &text[..it.0])
        } else {
            let found = text.rmatch_indices(separator).nth(place);
            found.map(|it| &text[it.0 + separator.len()..])
        };
        out.push(part.unwrap_or(text))
    })
}

/// The place of a text in a list with commas; 0 when it is not there.
pub(crate) fn find_in_set(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, lists) = (call.texts(0)?, call.texts(1)?);
    call.map_integers(|row| {
        let (text, list) = (texts.value(row), lists.value(row));
        if list.is_empty() {
            return Ok(0);
        }
        Ok(list.split(',').position(|it| it == text).map_or(0, |it| it + 1))
    })
}
