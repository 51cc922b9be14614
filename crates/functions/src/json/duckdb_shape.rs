//! JSON beside JSON, as DuckDB has it: one in order, two merged, what makes one of another, whether one is in another, and what
//! values are of.

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;
use types::json::{Kind, elements, kind, member, members, put_string, string_of, with_room};

use super::duckdb::{Parts, number_type, put};
use crate::call::Call;

/// json_normalize: the members of objects by their keys.
pub(super) fn in_order(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    call.map_texts(|row, out| out.push(&ordered(values.value(row))?))
}

fn ordered(json: &str) -> SqlResult<String> {
    let mut out = String::with_capacity(json.len());
    with_room(&[json], || put_ordered(json, &mut out))?;
    Ok(out)
}

fn put_ordered(json: &str, out: &mut String) -> SqlResult<()> {
    match kind(json) {
        Kind::Array => {
            let mut parts = Parts::begin(out, '[');
            for value in elements(json) {
                parts.next(out);
                put_ordered(value, out)?;
            }
            out.push(']');
        }
        Kind::Object => {
            let named = members(json).map(|(key, value)| Ok((string_of(key)?, value)));
            let mut all = named.collect::<SqlResult<Vec<_>>>()?;
            all.sort_by(|a, b| a.0.cmp(&b.0));
            let mut parts = Parts::begin(out, '{');
            for (key, value) in all {
                parts.next(out);
                put_string(&key, out);
                out.push(':');
                put_ordered(value, out)?;
            }
            out.push('}');
        }
        _ => put(json, out)?,
    }
    Ok(())
}

/// json_deep_merge and json_merge_patch_diff.
pub(super) fn of_two(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (first, second) = (call.texts(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        let (first, second) = (first.value(row), second.value(row));
        let mut made = String::new();
        with_room(&[first, second], || match call.function {
            Function::JsonDeepMerge => merged(first, second, &mut made),
            _ => difference(first, second, &mut made).map(drop),
        })?;
        out.push(&made)
    })
}

/// Objects with the members of both; what is null leaves what is there.
fn merged(first: &str, second: &str, out: &mut String) -> SqlResult<()> {
    if kind(second) == Kind::Null {
        return put(first, out);
    }
    if kind(first) != Kind::Object || kind(second) != Kind::Object {
        return put(second, out);
    }
    let mut parts = Parts::begin(out, '{');
    for (key, value) in members(first) {
        let name = string_of(key)?;
        parts.next(out);
        put_string(&name, out);
        out.push(':');
        match member(second, &name).filter(|it| kind(it) != Kind::Null) {
            Some(other) => merged(value, other, out)?,
            None => put(value, out)?,
        }
    }
    for (key, value) in members(second) {
        let name = string_of(key)?;
        if kind(value) == Kind::Null || member(first, &name).is_some() {
            continue;
        }
        parts.next(out);
        put_string(&name, out);
        out.push(':');
        put(value, out)?;
    }
    out.push('}');
    Ok(())
}

/// What json_merge_patch makes the second of the first with; whether there is anything.
fn difference(first: &str, second: &str, out: &mut String) -> SqlResult<bool> {
    if kind(first) != Kind::Object || kind(second) != Kind::Object {
        put(second, out)?;
        return Ok(true);
    }
    let mut parts = Parts::begin(out, '{');
    let mut is_other = false;
    for (key, _) in members(first) {
        let name = string_of(key)?;
        if member(second, &name).is_none() {
            parts.next(out);
            put_string(&name, out);
            out.push_str(":null");
            is_other = true;
        }
    }
    for (key, value) in members(second) {
        let name = string_of(key)?;
        let before = member(first, &name);
        if before.is_some_and(|it| is_same(it, value)) {
            continue;
        }
        let mut new = String::new();
        match before {
            Some(before) => drop(difference(before, value, &mut new)?),
            None => put(value, &mut new)?,
        }
        parts.next(out);
        put_string(&name, out);
        out.push(':');
        out.push_str(&new);
        is_other = true;
    }
    out.push('}');
    Ok(is_other)
}

/// Whether two values are one but for the order of members.
fn is_same(one: &str, other: &str) -> bool {
    let text = |it: &str| {
        let mut text = String::new();
        put_ordered(it, &mut text).map(|()| text)
    };
    matches!((text(one), text(other)), (Ok(one), Ok(other)) if one == other)
}

/// json_contains: whether the second is a part of the first, or of a part of it.
pub(super) fn contains(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, parts) = (call.texts(0)?, call.texts(1)?);
    call.map_booleans(|row| {
        let (value, part) = (values.value(row), parts.value(row));
        Ok(with_room(&[value, part], || holds(value, part)))
    })
}

fn holds(value: &str, part: &str) -> bool {
    has(value, part)
        || match kind(value) {
            Kind::Array => elements(value).any(|it| holds(it, part)),
            Kind::Object => members(value).any(|it| holds(it.1, part)),
            _ => false,
        }
}

/// Whether a value has all that another has, from its outermost level on.
fn has(value: &str, part: &str) -> bool {
    match (kind(value), kind(part)) {
        (Kind::Array, Kind::Array) => {
            elements(part).all(|wanted| elements(value).any(|it| has(it, wanted)))
        }
        (Kind::Object, Kind::Object) => members(part).all(|(key, wanted)| {
            string_of(key).ok().and_then(|it| member(value, &it)).is_some_and(|it| has(it, wanted))
        }),
        (own, other) => own == other && is_same(value, part),
    }
}

/// json_structure: what values are of, in the place of them.
pub(super) fn structure(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    call.map_texts(|row, out| {
        let value = values.value(row);
        let mut text = String::new();
        with_room(&[value], || Shape::of(value).map(|it| it.write(&mut text)))?;
        out.push(&text)
    })
}

/// What a value is of.
#[derive(PartialEq)]
enum Shape {
    Plain(&'static str),
    Array(Box<Shape>),
    Object(Vec<(String, Shape)>),
}

impl Shape {
    fn of(json: &str) -> SqlResult<Self> {
        Ok(match kind(json) {
            Kind::Null => Self::Plain("NULL"),
            Kind::Boolean => Self::Plain("BOOLEAN"),
            Kind::String => Self::Plain("VARCHAR"),
            Kind::Number => Self::Plain(number_type(json.trim())),
            Kind::Array => {
                let mut all = Self::Plain("NULL");
                for value in elements(json) {
                    all = all.with(Self::of(value)?);
                }
                Self::Array(Box::new(all))
            }
            Kind::Object => {
                let mut all: Vec<(String, Self)> = Vec::new();
                for (key, value) in members(json) {
                    all.push((string_of(key)?.into_owned(), Self::of(value)?));
                }
                if all.is_empty() { Self::Plain("JSON") } else { Self::Object(all) }
            }
        })
    }

    /// Of what both are.
    fn with(self, other: Self) -> Self {
        let is_whole = |it: &str| matches!(it, "UBIGINT" | "BIGINT" | "HUGEINT");
        match (self, other) {
            (Self::Plain("NULL"), it) | (it, Self::Plain("NULL")) => it,
            (Self::Plain(one), Self::Plain(other)) if one == other => Self::Plain(one),
            (Self::Plain(one), Self::Plain(other)) if is_whole(one) && is_whole(other) => {
                Self::Plain("HUGEINT")
            }
            (Self::Plain("DOUBLE"), Self::Plain(it)) | (Self::Plain(it), Self::Plain("DOUBLE"))
                if is_whole(it) =>
            {
                Self::Plain("DOUBLE")
            }
            (Self::Array(one), Self::Array(other)) => Self::Array(Box::new(one.with(*other))),
            (Self::Object(mut one), Self::Object(other)) => {
                for (name, shape) in other {
                    match one.iter_mut().find(|it| it.0 == name) {
                        Some((_, known)) => {
                            let before = std::mem::replace(known, Self::Plain("NULL"));
                            *known = before.with(shape);
                        }
                        None => one.push((name, shape)),
                    }
                }
                Self::Object(one)
            }
            _ => Self::Plain("JSON"),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Plain(name) => put_string(name, out),
            Self::Array(of) => {
                out.push('[');
                of.write(out);
                out.push(']');
            }
            Self::Object(members) => {
                let mut parts = Parts::begin(out, '{');
                for (name, shape) in members {
                    parts.next(out);
                    put_string(name, out);
                    out.push(':');
                    shape.write(out);
                }
                out.push('}');
            }
        }
    }
}
