//! The constructors of the standard (JSON_OBJECT, JSON_ARRAY and their aggregates), where they differ from functions that build JSON:
//! values that are NULL may be left out, and keys may have to be unique.

use std::borrow::Cow;
use std::collections::HashSet;

use arrow_array::ArrayRef;
use types::json;
use types::{DataType, SqlError, SqlResult, SqlState};

use super::build::{built, null_key, sources};
use super::rows::{each_text, invalid, text_at};
use crate::call::Call;

/// 22030: an object has a key twice.
fn duplicate(key: &str, of: DataType) -> SqlError {
    let message = match of {
        DataType::Jsonb => "duplicate JSON object key value".to_owned(),
        _ => format!("duplicate JSON object key value: \"{key}\""),
    };
    SqlError::new(SqlState("22030"), message)
}

/// An object of a word, and then keys and values by turns. Never NULL.
pub(super) fn members(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = sources(call)?;
    let Some((words, parts)) = parts.split_first() else {
        return Err(call.broken("no word about NULL and keys"));
    };
    built(call, |row, out| {
        let word = words.and_then(|it| text_at(it, row)).unwrap_or("");
        let (skips, is_unique) = (word.contains('a'), word.contains('u'));
        let mut keys: HashSet<&str> = HashSet::new();
        out.push('{');
        for (place, pair) in parts.chunks(2).enumerate() {
            let [key, value] = pair else { return Err(call.broken("a key without a value")) };
            let Some(key) = key.and_then(|it| text_at(it, row)) else {
                return Err(match call.result {
                    DataType::Jsonb => {
                        invalid(format!("argument {}: key must not be null", 2 * place + 1))
                    }
                    _ => null_key(),
                });
            };
            // Keys of values that are left out are asked, too.
            if is_unique && !keys.insert(key) {
                return Err(duplicate(key, call.result));
            }
            let value = value.and_then(|it| text_at(it, row));
            if skips && value.is_none() {
                continue;
            }
            out.push_str(if out.len() > 1 { ", " } else { "" });
            json::put_string(key, out);
            out.push_str(" : ");
            out.push_str(value.unwrap_or("null"));
        }
        out.push('}');
        Ok(())
    })
}

/// An array of the values that are not NULL. Never NULL.
pub(super) fn present_items(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = sources(call)?;
    built(call, |row, out| {
        out.push('[');
        for value in parts.iter().filter_map(|it| it.and_then(|it| text_at(it, row))) {
            out.push_str(if out.len() > 1 { ", " } else { "" });
            out.push_str(value);
        }
        out.push(']');
        Ok(())
    })
}

/// A JSON as it is, if no object in it has a key twice.
pub(super) fn unique_keys(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, outermost) = (call.texts(0)?, call.booleans(1)?);
    each_text(call, |row, out| {
        let text = texts.value(row);
        if !outermost.value(row) && !json::has_unique_keys(text) {
            return Err(duplicate("", DataType::Jsonb));
        }
        if outermost.value(row) {
            let mut keys: HashSet<Cow<'_, str>> = HashSet::new();
            for (quoted, _) in json::members(text) {
                let key = json::string_of(quoted).unwrap_or(Cow::Borrowed(quoted));
                if keys.contains(&key) {
                    return Err(duplicate(&key, DataType::Json));
                }
                keys.insert(key);
            }
        }
        out.push_str(text);
        Ok(true)
    })
}
