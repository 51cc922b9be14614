//! Arrays of texts as one text, and back.

use arrow_array::{Array as _, ArrayRef};
use types::SqlResult;
use types::array::{self, Items, NULL_ITEM, is_null};

use super::build;
use crate::call::Call;

/// The texts of the items with a text between them. NULL is left out, or stands as a word.
pub(super) fn joined(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, between) = (call.texts(0)?, call.texts(1)?);
    let word = call.optional_texts(2)?;
    let mut out = crate::texts::Texts::with_capacity(call.rows);
    for row in 0..call.rows {
        if arrays.is_null(row) || between.is_null(row) {
            out.null();
            continue;
        }
        let word = word.filter(|it| !it.is_null(row)).map(|it| it.value(row));
        let mut first = true;
        for item in Items::new(arrays.value(row)) {
            if is_null(item) && word.is_none() {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push(between.value(row))?;
            }
            match word {
                Some(word) if is_null(item) => out.push(word)?,
                _ => match item {
                    "\u{20}" => out.push("f")?,
                    "\u{21}" => out.push("t")?,
                    _ => out.push(&array::text_of(item))?,
                },
            }
        }
        out.end();
    }
    Ok(out.finish())
}

/// The parts of a text. No separator means each character; an empty one, the text as it is; an empty text has no parts.
pub(super) fn split(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, separators) = (call.texts(0)?, call.texts(1)?);
    let word = call.optional_texts(2)?;
    build::each(call, |row, out| {
        if values.is_null(row) {
            return Ok(false);
        }
        let (value, mut count) = (values.value(row), 0);
        let word = word.filter(|it| !it.is_null(row)).map(|it| it.value(row));
        let mut put = |part: &str| {
            match word {
                Some(word) if word == part => out.push_str(NULL_ITEM),
                _ => array::push_text(out, part),
            }
            count += 1;
        };
        let mut character = [0; 4];
        match (separators.is_null(row), separators.value(row)) {
            _ if value.is_empty() => {}
            (true, _) => value.chars().for_each(|it| put(it.encode_utf8(&mut character))),
            (false, "") => put(value),
            (false, separator) => value.split(separator).for_each(put),
        }
        array::close_list(out, 0, count).map(|()| true)
    })
}
