//! JSON made of other values. JSON has the blanks that PostgreSQL puts into it, JSONB its one form.

use arrow_array::ArrayRef;
use types::json::{self, Kind};
use types::{DataType, SqlError, SqlResult, SqlState, array};

use super::rows::{each_text, invalid, text_at};
use crate::array::Array as HeldArray;
use crate::call::Call;
use crate::texts::Texts;

/// Appends the text of a value as JSON. Numbers that JSON does not have are strings, points of time have a T in the middle.
pub(crate) fn put_text(text: &str, kind: &str, out: &mut String) {
    match kind {
        "json" => out.push_str(text),
        "number" | "boolean" if json::kind(text) != Kind::Null && json::is_json(text) => {
            out.push_str(text);
        }
        "moment" => json::put_string(&text.replacen(' ', "T", 1), out),
        "zoned" => json::put_string(&with_minutes(&text.replacen(' ', "T", 1)), out),
        _ => json::put_string(text, out),
    }
}

/// A moment whose distance to UTC is told with its minutes.
fn with_minutes(moment: &str) -> String {
    let (moment, era) = match moment.strip_suffix(" BC") {
        Some(it) => (it, " BC"),
        None => (moment, ""),
    };
    let sign = moment.rfind(['+', '-']).filter(|it| moment.len() - it == 3);
    format!("{moment}{}{era}", if sign.is_some() { ":00" } else { "" })
}

/// Brings JSON to the form of JSONB where that is wanted.
fn finish(call: &Call<'_>, out: &mut String) -> SqlResult<()> {
    if call.result == DataType::Jsonb {
        *out = json::normal(out)?;
    }
    Ok(())
}

/// The text of a value.
pub(super) fn of_text(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, kinds) = (call.texts(0)?, call.texts(1)?);
    each_text(call, |row, out| {
        put_text(texts.value(row), kinds.value(row), out);
        finish(call, out).map(|()| true)
    })
}

/// An array, arrays in it as such.
pub(super) fn of_array(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (arrays, kinds, separators) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    each_text(call, |row, out| {
        let kind = kinds.value(row);
        let mut item = |it: &str, out: &mut String| put_text(&array::text_of(it), kind, out);
        put_items(arrays.value(row), separators.value(row), &mut item, out);
        finish(call, out).map(|()| true)
    })
}

/// Writes an item that is not NULL.
type PutItem<'p> = dyn FnMut(&str, &mut String) + 'p;

/// Appends an array as JSON, with something between its elements, arrays in it as such.
pub(crate) fn put_items(held: &str, separator: &str, item: &mut PutItem<'_>, out: &mut String) {
    let array = HeldArray::read(held);
    let lengths: Vec<usize> =
        array.dimensions.iter().map(|it| usize::try_from(it.length).unwrap_or(0)).collect();
    put_level(&array.items, &lengths, separator, item, out);
}

fn put_level(
    items: &[&str],
    lengths: &[usize],
    separator: &str,
    item: &mut PutItem<'_>,
    out: &mut String,
) {
    out.push('[');
    let inner = lengths.get(1..).unwrap_or(&[]);
    let size = inner.iter().product::<usize>().max(1);
    for (place, part) in items.chunks(size).enumerate() {
        out.push_str(if place > 0 { separator } else { "" });
        match part {
            // Lines are for the outermost elements.
            _ if !inner.is_empty() => put_level(part, inner, ",", item, out),
            [it] if !array::is_null(it) => item(it, out),
            _ => out.push_str("null"),
        }
    }
    out.push(']');
}

/// An array of values that are JSON. Never NULL.
pub(super) fn array(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = sources(call)?;
    built(call, |row, out| {
        out.push('[');
        for (place, part) in parts.iter().enumerate() {
            out.push_str(if place > 0 { ", " } else { "" });
            out.push_str(part.and_then(|it| text_at(it, row)).unwrap_or("null"));
        }
        out.push(']');
        Ok(())
    })
}

/// The arguments; `None` of a bare NULL.
pub(super) fn sources<'a>(call: &Call<'a>) -> SqlResult<Vec<Option<&'a arrow_array::StringArray>>> {
    let source = |it| match call.is_text(it) {
        true => call.texts(it).map(Some),
        false => Ok(None),
    };
    (0..call.count()).map(source).collect()
}

/// A value per row, whatever is NULL.
pub(super) fn built(
    call: &Call<'_>,
    make: impl Fn(usize, &mut String) -> SqlResult<()>,
) -> SqlResult<ArrayRef> {
    let mut texts = Texts::with_capacity(call.rows);
    let mut out = String::new();
    for row in 0..call.rows {
        out.clear();
        make(row, &mut out)?;
        finish(call, &mut out)?;
        texts.push(&out)?;
        texts.end();
    }
    Ok(texts.finish())
}

/// An object: what stands between a key and its value, and between members, then keys and values by turns. Never NULL.
pub(super) fn object(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = sources(call)?;
    let Some(([Some(colon), Some(comma)], parts)) = parts.split_first_chunk::<2>() else {
        return Err(call.broken("nothing to stand between keys and values"));
    };
    built(call, |row, out| {
        let (colon, comma) = (colon.value(row), comma.value(row));
        out.push('{');
        for (place, pair) in parts.chunks(2).enumerate() {
            let [key, value] = pair else { return Err(call.broken("a key without a value")) };
            let Some(key) = key.and_then(|it| text_at(it, row)) else {
                let error = match call.result {
                    DataType::Jsonb => {
                        invalid(format!("argument {}: key must not be null", 2 * place + 1))
                    }
                    _ => null_key(),
                };
                return Err(error);
            };
            out.push_str(if place > 0 { comma } else { "" });
            json::put_string(key, out);
            out.push_str(colon);
            out.push_str(value.and_then(|it| text_at(it, row)).unwrap_or("null"));
        }
        out.push('}');
        Ok(())
    })
}

pub(super) fn null_key() -> SqlError {
    SqlError::new(SqlState::NULL_NOT_ALLOWED, "null value not allowed for object key")
}

/// A member of an object as a text; NULL without a key.
pub(super) fn member(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = sources(call)?;
    let [keys, values] = parts[..] else { return Err(call.broken("no key and value")) };
    let mut texts = Texts::with_capacity(call.rows);
    let mut out = String::new();
    for row in 0..call.rows {
        let Some(key) = keys.and_then(|it| text_at(it, row)) else {
            texts.null();
            continue;
        };
        out.clear();
        json::put_string(key, &mut out);
        out.push_str(" : ");
        out.push_str(values.and_then(|it| text_at(it, row)).unwrap_or("null"));
        texts.push(&out)?;
        texts.end();
    }
    Ok(texts.finish())
}

/// An object of an array of members.
pub(super) fn of_members(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let arrays = call.texts(0)?;
    each_text(call, |row, out| {
        out.push_str("{ ");
        for (place, item) in array::Items::new(arrays.value(row)).enumerate() {
            if array::is_null(item) {
                return Err(match call.result {
                    DataType::Jsonb => invalid("field name must not be null"),
                    _ => null_key(),
                });
            }
            out.push_str(if place > 0 { ", " } else { "" });
            out.push_str(&array::text_of(item));
        }
        out.push_str(" }");
        finish(call, out).map(|()| true)
    })
}

fn wrong_array(message: &str) -> SqlError {
    SqlError::new(SqlState("2202E"), message)
}

/// An object of texts.
pub(super) fn of_texts(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (first, second) = (call.texts(0)?, call.optional_texts(1)?);
    each_text(call, |row, out| {
        let keys = HeldArray::read(first.value(row));
        let lengths: Vec<i32> = keys.dimensions.iter().map(|it| it.length).collect();
        let pairs: Vec<(&str, &str)> = match second {
            Some(values) => {
                let values = HeldArray::read(values.value(row));
                if lengths.len() > 1 || values.dimensions.len() > 1 {
                    return Err(wrong_array("wrong number of array subscripts"));
                }
                if keys.items.len() != values.items.len() {
                    return Err(wrong_array("mismatched array dimensions"));
                }
                keys.items.into_iter().zip(values.items).collect()
            }
            None => {
                match lengths[..] {
                    [] | [_] if keys.items.len().is_multiple_of(2) => {}
                    [_, 2] => {}
                    [_] => return Err(wrong_array("array must have even number of elements")),
                    [_, _] => return Err(wrong_array("array must have two columns")),
                    _ => return Err(wrong_array("wrong number of array subscripts")),
                }
                keys.items.chunks_exact(2).map(|it| (it[0], it[1])).collect()
            }
        };
        out.push('{');
        for (place, (key, value)) in pairs.into_iter().enumerate() {
            if array::is_null(key) {
                return Err(null_key());
            }
            out.push_str(if place > 0 { ", " } else { "" });
            json::put_string(&array::text_of(key), out);
            out.push_str(" : ");
            match array::is_null(value) {
                true => out.push_str("null"),
                false => json::put_string(&array::text_of(value), out),
            }
        }
        out.push('}');
        finish(call, out).map(|()| true)
    })
}
