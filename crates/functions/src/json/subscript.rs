//! `SET j['a'][0] = value`: a JSONB with another value at the end of subscripts. What is missing on the way is made, and an array
//! gets a `null` for each place before the one that is set.

use std::borrow::Cow;

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType as ArrowType;
use types::json::{Node, deduplicated, with_room};
use types::{SqlError, SqlResult, SqlState};

use super::build::{built, sources};
use super::look::texts_of;
use super::rows::{invalid, text_at};
use crate::call::Call;

/// What the subscripts of an assignment come to at most: so many elements may have to be made.
const ELEMENTS_MAX: i64 = 10_000_000;

/// The kernel. Never NULL.
pub(super) fn set(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = sources(call)?;
    // A bare NULL is of no type.
    let is_said = call.argument(3)?.data_type() == &ArrowType::Boolean;
    let numbers = is_said.then(|| call.booleans(3)).transpose()?;
    let at = |part: usize, row: usize| -> Option<&str> {
        parts.get(part).copied().flatten().and_then(|it: &StringArray| text_at(it, row))
    };
    built(call, |row, out| {
        let is_number = numbers.is_some_and(|it| it.is_valid(row) && it.value(row));
        let empty = if is_number { "[]" } else { "{}" };
        let (json, value) = (at(0, row).unwrap_or(empty), at(2, row).unwrap_or("null"));
        let mut path = Vec::new();
        for step in texts_of(at(1, row).unwrap_or("")) {
            let none = || {
                let message = "jsonb subscript in assignment must not be null";
                SqlError::new(SqlState::NULL_NOT_ALLOWED, message)
            };
            path.push(step.ok_or_else(none)?);
        }
        let places = path.iter().filter_map(|it: &String| it.parse::<i32>().ok());
        if places.map(|it| i64::from(it.max(0))).sum::<i64>() > ELEMENTS_MAX {
            let message = format!("subscripts of JSON come to {ELEMENTS_MAX} at most");
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        }
        // The value stands below the steps.
        let below = format!("{}{value}", "[".repeat(path.len()));
        with_room(&[json, &below], || {
            let made = changed(Node::read(json)?, &path, 0, Node::read(value)?)?;
            made.write(out);
            Ok(())
        })
    })
}

/// A value with another one at the end of the steps from a level on.
fn changed<'a>(
    node: Node<'a>,
    path: &[String],
    level: usize,
    value: Node<'a>,
) -> SqlResult<Node<'a>> {
    let Some(step) = path.get(level) else { return Ok(value) };
    match node {
        Node::Object(mut members) => {
            match members.iter().position(|it| it.0 == *step) {
                Some(place) => {
                    let inner = std::mem::replace(&mut members[place].1, Node::Null);
                    members[place].1 = changed(inner, path, level + 1, value)?;
                }
                None => {
                    members.push((Cow::Owned(step.clone()), made(path, level + 1, value)?));
                    members = deduplicated(members);
                }
            }
            Ok(Node::Object(members))
        }
        Node::Array(mut items) => {
            let place = place_of(step, level, items.len())?;
            if place < items.len() {
                let inner = std::mem::replace(&mut items[place], Node::Null);
                items[place] = changed(inner, path, level + 1, value)?;
            } else {
                items.resize(place, Node::Null);
                items.push(made(path, level + 1, value)?);
            }
            Ok(Node::Array(items))
        }
        _ => Err(invalid("cannot replace existing key")
            .with_detail("The path assumes key is a composite object, but it is a scalar value.")),
    }
}

/// What stands at the end of steps where nothing is: a number is a place in an array, any other text a key.
fn made<'a>(path: &[String], level: usize, value: Node<'a>) -> SqlResult<Node<'a>> {
    let Some(step) = path.get(level) else { return Ok(value) };
    let inner = made(path, level + 1, value)?;
    match step.parse::<i32>() {
        Ok(place) => {
            let mut items = vec![Node::Null; usize::try_from(place).unwrap_or(0)];
            items.push(inner);
            Ok(Node::Array(items))
        }
        Err(_) => Ok(Node::Object(vec![(Cow::Owned(step.clone()), inner)])),
    }
}

/// The place in an array of so many elements; one below zero counts from the end.
fn place_of(step: &str, level: usize, count: usize) -> SqlResult<usize> {
    let position = level + 1;
    let Ok(said) = step.parse::<i32>() else {
        let message = format!("path element at position {position} is not an integer: \"{step}\"");
        return Err(SqlError::new(SqlState::INVALID_TEXT, message));
    };
    let distance = usize::try_from(said.unsigned_abs()).unwrap_or(usize::MAX);
    match said {
        0.. => Ok(distance),
        _ => count.checked_sub(distance).ok_or_else(|| {
            invalid(format!("path element at position {position} is out of range: {said}"))
        }),
    }
}
