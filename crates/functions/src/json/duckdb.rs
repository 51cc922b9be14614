//! Functions of JSON that DuckDB has: parts by its paths, what kind of value one is, and JSON with something else in it. What comes
//! out has no blanks between its parts.

use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, StringArray};
use plan::Function;
use types::json::{Kind, elements, kind, members, put_string, string_of, with_room};
use types::{SqlResult, array};

use super::duckdb_path::{Step, find, steps};
use crate::call::Call;

/// The steps of paths; those of the last row are kept, as most often there is one path.
struct Paths<'a> {
    texts: Option<&'a StringArray>,
    last: Option<(&'a str, Vec<Step>)>,
}

impl<'a> Paths<'a> {
    fn new(texts: Option<&'a StringArray>) -> Self {
        Self { texts, last: None }
    }

    fn at(&mut self, row: usize) -> SqlResult<&[Step]> {
        let Some(texts) = self.texts else { return Ok(&[]) };
        let path = texts.value(row);
        if self.last.as_ref().is_none_or(|it| it.0 != path) {
            self.last = Some((path, steps(path)?));
        }
        Ok(self.last.as_ref().map_or(&[], |it| &it.1))
    }
}

/// json_extract and json_extract_string, the latter without the quotes of a string.
pub(super) fn extract(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let mut paths = Paths::new(Some(call.texts(1)?));
    let as_text = call.function == Function::JsonExtractString;
    call.map_optional_texts(|row, out| {
        let Some(found) = find(values.value(row), paths.at(row)?) else { return Ok(false) };
        match kind(found) {
            Kind::Null if as_text => return Ok(false),
            Kind::String if as_text => out.push(&string_of(found)?)?,
            _ => out.push(&without_blanks(found)?)?,
        }
        Ok(true)
    })
}

/// json_type.
pub(super) fn type_of(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let mut paths = Paths::new(call.optional_texts(1)?);
    call.map_optional_texts(|row, out| {
        let Some(found) = find(values.value(row), paths.at(row)?) else { return Ok(false) };
        out.push(match kind(found) {
            Kind::Null => "NULL",
            Kind::Boolean => "BOOLEAN",
            Kind::String => "VARCHAR",
            Kind::Array => "ARRAY",
            Kind::Object => "OBJECT",
            Kind::Number => number_type(found.trim()),
        })?;
        Ok(true)
    })
}

/// The type of a number as it is written.
pub(super) fn number_type(text: &str) -> &'static str {
    let fits = |it: &str| it.parse::<u64>().is_ok();
    match text.strip_prefix('-') {
        _ if text.contains(['.', 'e', 'E']) => "DOUBLE",
        None if fits(text) => "UBIGINT",
        Some(_) if text.parse::<i64>().is_ok() => "BIGINT",
        _ => "DOUBLE",
    }
}

/// json_keys: the keys of an object as an array, none of what is none.
pub(super) fn keys(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let mut paths = Paths::new(call.optional_texts(1)?);
    let mut held = String::new();
    call.map_optional_texts(|row, out| {
        let Some(found) = find(values.value(row), paths.at(row)?) else { return Ok(false) };
        held.clear();
        let mut count = 0;
        if kind(found) == Kind::Object {
            for (key, _) in members(found) {
                array::push_text(&mut held, &string_of(key)?);
                count += 1;
            }
        }
        array::close_list(&mut held, 0, count)?;
        out.push(&held)?;
        Ok(true)
    })
}

/// json_array_length with a path: 0 of what is no array.
pub(super) fn length(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let mut paths = Paths::new(Some(call.texts(1)?));
    call.map_optional::<Int64Type>(|row| {
        let Some(found) = find(values.value(row), paths.at(row)?) else { return Ok(None) };
        let count = if kind(found) == Kind::Array { elements(found).count() } else { 0 };
        Ok(Some(count as i64))
    })
}

/// json_set, json_insert, json_replace and json_remove.
pub(super) fn changed(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let mut paths = Paths::new(Some(call.texts(1)?));
    let new = call.optional_texts(2)?;
    let change = match call.function {
        Function::JsonPutNew => Change { replaces: false, makes: true },
        Function::JsonPutOld => Change { replaces: true, makes: false },
        Function::JsonRemove => Change { replaces: true, makes: false },
        _ => Change { replaces: true, makes: true },
    };
    call.map_optional_texts(|row, out| {
        let value = values.value(row);
        let new = new.map(|it| without_blanks(it.value(row))).transpose()?;
        let steps = paths.at(row)?;
        // Nothing is left without the whole.
        if steps.is_empty() && call.function == Function::JsonRemove {
            return Ok(false);
        }
        let mut made = String::new();
        with_room(&[value], || change.write(value, steps, new.as_deref(), &mut made))?;
        out.push(&made)?;
        Ok(true)
    })
}

/// What is done at the end of a path.
#[derive(Clone, Copy)]
struct Change {
    /// Whether a value that is there is replaced, or goes.
    replaces: bool,
    /// Whether one is made that is not there.
    makes: bool,
}

impl Change {
    /// Appends a JSON with a new value at the end of a path, or without the one that is there.
    fn write(
        self,
        json: &str,
        steps: &[Step],
        new: Option<&str>,
        out: &mut String,
    ) -> SqlResult<()> {
        let Some((step, rest)) = steps.split_first() else {
            out.push_str(match (self.replaces, new) {
                (true, Some(new)) => new,
                (true, None) => "null",
                (false, _) => return put(json, out),
            });
            return Ok(());
        };
        match (kind(json), step) {
            (Kind::Object, Step::Key { name, .. }) => {
                let mut parts = Parts::begin(out, '{');
                let mut is_there = false;
                for (key, value) in members(json) {
                    let is_it = string_of(key)? == *name;
                    is_there |= is_it;
                    if is_it && rest.is_empty() && new.is_none() {
                        continue;
                    }
                    parts.next(out);
                    put_string(&string_of(key)?, out);
                    out.push(':');
                    match is_it {
                        true => self.write(value, rest, new, out)?,
                        false => put(value, out)?,
                    }
                }
                if let (false, true, Some(new)) = (is_there, self.makes, new) {
                    parts.next(out);
                    put_string(name, out);
                    out.push(':');
                    made(rest, new, out);
                }
                out.push('}');
            }
            (Kind::Array, step) => {
                let count = elements(json).count();
                let place = step.place_in(count);
                let mut parts = Parts::begin(out, '[');
                for (at, value) in elements(json).enumerate() {
                    let is_it = place == Some(at);
                    if is_it && rest.is_empty() && new.is_none() {
                        continue;
                    }
                    parts.next(out);
                    match is_it {
                        true => self.write(value, rest, new, out)?,
                        false => put(value, out)?,
                    }
                }
                if let (true, true, Some(new)) = (place == Some(count), self.makes, new) {
                    parts.next(out);
                    made(rest, new, out);
                }
                out.push(']');
            }
            _ => put(json, out)?,
        }
        Ok(())
    }
}

/// The parts of an array or an object that is written.
pub(super) struct Parts {
    is_first: bool,
}

impl Parts {
    pub(super) fn begin(out: &mut String, bracket: char) -> Self {
        out.push(bracket);
        Self { is_first: true }
    }

    pub(super) fn next(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.is_first) {
            out.push(',');
        }
    }
}

/// Appends a value inside of the objects and arrays that the steps before it need.
fn made(steps: &[Step], new: &str, out: &mut String) {
    for step in steps {
        match step {
            Step::Key { name, .. } => {
                out.push('{');
                put_string(name, out);
                out.push(':');
            }
            _ => out.push('['),
        }
    }
    out.push_str(new);
    for step in steps.iter().rev() {
        out.push(if matches!(step, Step::Key { .. }) { '}' } else { ']' });
    }
}

/// json_merge_patch: the members of the second take the place of those of the first; those that are null go.
pub(super) fn merge_patch(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, patches) = (call.texts(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        let (value, patch) = (values.value(row), patches.value(row));
        let mut made = String::new();
        with_room(&[value, patch], || match kind(value) {
            Kind::Object => merged(value, patch, &mut made),
            // As DuckDB has it, what is no object becomes the patch as it is.
            _ => put(patch, &mut made),
        })?;
        out.push(&made)
    })
}

/// The members of an object that a patch leaves alone, then those of the patch.
fn merged(value: &str, patch: &str, out: &mut String) -> SqlResult<()> {
    if kind(patch) != Kind::Object {
        return put(patch, out);
    }
    let value = if kind(value) == Kind::Object { value } else { "{}" };
    let mut parts = Parts::begin(out, '{');
    for (key, own) in members(value) {
        let name = string_of(key)?;
        if types::json::member(patch, &name).is_some() {
            continue;
        }
        parts.next(out);
        put_string(&name, out);
        out.push(':');
        put(own, out)?;
    }
    for (key, new) in members(patch) {
        if kind(new) == Kind::Null {
            continue;
        }
        let name = string_of(key)?;
        parts.next(out);
        put_string(&name, out);
        out.push(':');
        merged(types::json::member(value, &name).unwrap_or("{}"), new, out)?;
    }
    out.push('}');
    Ok(())
}

/// A JSON without blanks between its parts.
fn without_blanks(json: &str) -> SqlResult<String> {
    let mut out = String::with_capacity(json.len());
    with_room(&[json], || put(json, &mut out))?;
    Ok(out)
}

/// Appends a JSON without blanks between its parts.
pub(super) fn put(json: &str, out: &mut String) -> SqlResult<()> {
    match kind(json) {
        Kind::Array => {
            let mut parts = Parts::begin(out, '[');
            for value in elements(json) {
                parts.next(out);
                put(value, out)?;
            }
            out.push(']');
        }
        Kind::Object => {
            let mut parts = Parts::begin(out, '{');
            for (key, value) in members(json) {
                parts.next(out);
                put_string(&string_of(key)?, out);
                out.push(':');
                put(value, out)?;
            }
            out.push('}');
        }
        Kind::String => put_string(&string_of(json)?, out),
        Kind::Number => put_number(json.trim(), out),
        _ => out.push_str(json.trim()),
    }
    Ok(())
}

/// A number: one with a point or an exponent is a float.
fn put_number(text: &str, out: &mut String) {
    match text.parse::<f64>() {
        Ok(float) if text.contains(['.', 'e', 'E']) && float.is_finite() => {
            let before = out.len();
            types::numeric::format::float(float, false, out);
            if out[before..].bytes().all(|it| it.is_ascii_digit() || it == b'-') {
                out.push_str(".0");
            }
        }
        _ => out.push_str(text),
    }
}
