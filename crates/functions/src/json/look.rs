//! Parts of JSON, and what is told of it.

use arrow_array::{ArrayRef, StringArray};
use plan::Function;
use types::json::{self, Kind};
use types::{DataType, SqlResult, array};

use super::rows::{each_text, invalid};
use crate::call::{Call, Integers};

/// Spaces around a value.
const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

/// The element at a place, from the end when negative; nothing of what is no array.
fn element(of: &str, place: i64) -> Option<&str> {
    let mut elements = json::elements(of);
    let place = match place {
        0.. => place,
        _ => place.checked_add(i64::try_from(elements.clone().count()).ok()?)?,
    };
    elements.nth(usize::try_from(place).ok()?)
}

/// Appends a value as a text; whether there is one.
pub(super) fn put_text(value: &str, out: &mut String) -> SqlResult<bool> {
    match json::kind(value) {
        Kind::Null => return Ok(false),
        Kind::String => out.push_str(&json::string_of(value)?),
        _ => out.push_str(value),
    }
    Ok(true)
}

/// Appends what was found, as JSON or as a text.
fn put_found(found: Option<&str>, as_text: bool, out: &mut String) -> SqlResult<bool> {
    match found {
        None => Ok(false),
        Some(it) if as_text => put_text(it, out),
        Some(it) => {
            out.push_str(it);
            Ok(true)
        }
    }
}

/// `->` and `->>`.
pub(super) fn get(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let as_text = call.function == Function::JsonGetText;
    if call.is_text(1) {
        let keys = call.texts(1)?;
        return each_text(call, |row, out| {
            put_found(json::member(values.value(row), keys.value(row)), as_text, out)
        });
    }
    let places: Integers<'_> = call.integers(1)?;
    let has_scalars = call.result == DataType::Jsonb;
    each_text(call, |row, out| {
        let (of, place) = (values.value(row), places.at(row));
        // In PostgreSQL a JSONB that is no object and no array is the one element of itself.
        let is_own = has_scalars
            && matches!(place, 0 | -1)
            && !matches!(json::kind(of), Kind::Object | Kind::Array);
        put_found(if is_own { Some(of) } else { element(of, place) }, as_text, out)
    })
}

/// The texts of an array as it is held; `None` for an item that is NULL.
pub(super) fn texts_of(held: &str) -> Vec<Option<String>> {
    let text = |it| (!array::is_null(it)).then(|| array::text_of(it).into_owned());
    array::Items::new(held).map(text).collect()
}

/// What stands at the end of a path.
fn walked<'a>(of: &'a str, path: &[Option<String>]) -> Option<&'a str> {
    let mut value = of.trim_matches(SPACES);
    for step in path {
        let step = step.as_deref()?;
        value = match json::kind(value) {
            Kind::Object => json::member(value, step)?,
            Kind::Array => {
                let place: i32 = step.trim_start().parse().ok()?;
                element(value, place.into())?
            }
            _ => return None,
        };
    }
    Some(value)
}

/// `#>` and `#>>`.
pub(super) fn path(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, paths) = (call.texts(0)?, call.texts(1)?);
    let as_text = call.function == Function::JsonPathText;
    each_text(call, |row, out| {
        let path = texts_of(paths.value(row));
        put_found(walked(values.value(row), &path), as_text, out)
    })
}

/// `json_typeof`.
pub(super) fn type_of(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    call.map_texts(|row, out| out.push(json::kind(values.value(row)).name()))
}

/// `json_array_length`.
pub(super) fn array_length(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    call.map_integers(|row| match json::kind(values.value(row)) {
        Kind::Array => Ok(json::elements(values.value(row)).count()),
        Kind::Object => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    })
}

/// Whether a text is a key of an object, a string in an array, or the string itself.
fn has(value: &str, key: &str) -> bool {
    let is_it =
        |it: &str| json::kind(it) == Kind::String && json::string_of(it).is_ok_and(|it| it == key);
    match json::kind(value) {
        Kind::Object => json::member(value, key).is_some(),
        Kind::Array => json::elements(value).any(is_it),
        _ => is_it(value),
    }
}

/// `?`.
pub(super) fn has_key(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, keys) = (call.texts(0)?, call.texts(1)?);
    call.map_booleans(|row| Ok(has(values.value(row), keys.value(row))))
}

/// `?|` and `?&`; NULL among the keys does not count.
pub(super) fn has_keys(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, keys): (&StringArray, &StringArray) = (call.texts(0)?, call.texts(1)?);
    let all = call.function == Function::JsonHasAllKeys;
    call.map_booleans(|row| {
        let keys = texts_of(keys.value(row));
        let mut found = keys.iter().flatten().map(|it| has(values.value(row), it));
        Ok(if all { found.all(|it| it) } else { found.any(|it| it) })
    })
}

/// `IS JSON`.
pub(super) fn is_json(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, kinds, uniques) = (call.texts(0)?, call.texts(1)?, call.booleans(2)?);
    call.map_booleans(|row| {
        let text = texts.value(row);
        let found = json::kind(text);
        let is_of_kind = match kinds.value(row) {
            "array" => found == Kind::Array,
            "object" => found == Kind::Object,
            "scalar" => found.is_scalar(),
            _ => true,
        };
        let unique = || !uniques.value(row) || json::has_unique_keys(text);
        Ok(is_of_kind && json::is_json(text) && unique())
    })
}

/// What JSONB is compared by; of an array, what its items are.
pub(super) fn order_key(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let is_array = call.result.element().is_some();
    each_text(call, |row, out| {
        let value = values.value(row);
        if !is_array {
            out.push_str(&json::order_key(value)?);
            return Ok(true);
        }
        let mut items = array::Items::new(value);
        let mut count = 0;
        for item in items.by_ref() {
            match array::is_null(item) {
                true => out.push_str(item),
                false => array::push_text(out, &json::order_key(&array::text_of(item))?),
            }
            count += 1;
        }
        array::close(out, 0, &array::dimensions_behind(items.rest(), count))?;
        Ok(true)
    })
}
