//! Texts and errors, row by row.

use arrow_array::{Array, ArrayRef, StringArray};
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::texts::Texts;

/// An error about a value that a function does not take.
pub(crate) fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, message)
}

/// A text per row, made in a buffer; NULL where `make` says so, or where an argument is.
pub(crate) fn each_text(
    call: &Call<'_>,
    mut make: impl FnMut(usize, &mut String) -> SqlResult<bool>,
) -> SqlResult<ArrayRef> {
    let mut made = String::new();
    call.map_optional_texts(|row, out: &mut Texts| {
        made.clear();
        let there = make(row, &mut made)?;
        if there {
            out.push(&made)?;
        }
        Ok(there)
    })
}

/// The text of a row, if there is one.
pub(super) fn text_at(texts: &StringArray, row: usize) -> Option<&str> {
    (!texts.is_null(row)).then(|| texts.value(row))
}
