//! `||` and `-` of JSONB.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use arrow_schema::DataType as ArrowType;
use plan::Function;
use types::json::{Node, deduplicated, with_room};
use types::{DataType, SqlResult};

use super::look::texts_of;
use super::rows::{each_text, invalid};
use crate::call::Call;

/// `||`: two objects are one, anything else is put behind one another in an array.
pub(super) fn concat(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    each_text(call, |row, out| {
        let (a, b) = (left.value(row), right.value(row));
        with_room(&[a, b], || {
            let node = match (Node::read(a)?, Node::read(b)?) {
                (Node::Object(mut a), Node::Object(b)) => {
                    a.extend(b);
                    Node::Object(deduplicated(a))
                }
                (a, b) => {
                    let items = |it| match it {
                        Node::Array(items) => items,
                        other => vec![other],
                    };
                    let mut all = items(a);
                    all.extend(items(b));
                    Node::Array(all)
                }
            };
            node.write(out);
            Ok(true)
        })
    })
}

/// `-` of a key, several keys, or a place.
pub(super) fn delete(call: &Call<'_>) -> SqlResult<ArrayRef> {
    debug_assert!(call.result == DataType::Jsonb, "invariant: only JSONB is changed");
    match call.argument(1)?.data_type() {
        ArrowType::Utf8 => delete_keys(call),
        _ => delete_place(call),
    }
}

fn delete_keys(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, keys) = (call.texts(0)?, call.texts(1)?);
    let is_one = call.function == Function::JsonDeleteKey;
    each_text(call, |row, out| {
        let value = values.value(row);
        let keys = match is_one {
            true => vec![Some(keys.value(row).to_owned())],
            false => texts_of(keys.value(row)),
        };
        let named = |key: &str| keys.iter().flatten().any(|it| it == key);
        with_room(&[value], || {
            let kept = match Node::read(value)? {
                Node::Object(mut members) => {
                    members.retain(|it| !named(&it.0));
                    Node::Object(members)
                }
                Node::Array(mut items) => {
                    items.retain(|it| !matches!(it, Node::String(it) if named(it)));
                    Node::Array(items)
                }
                _ => return Err(invalid("cannot delete from scalar")),
            };
            kept.write(out);
            Ok(true)
        })
    })
}

fn delete_place(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places) = (call.texts(0)?, call.integers(1)?);
    each_text(call, |row, out| {
        let value = values.value(row);
        with_room(&[value], || {
            match Node::read(value)? {
                Node::Array(mut items) => {
                    let place = places.at(row);
                    let from_end = usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX);
                    let place = match place {
                        0.. => Some(from_end),
                        _ => items.len().checked_sub(from_end),
                    };
                    if let Some(place) = place.filter(|it| *it < items.len()) {
                        items.remove(place);
                    }
                    Node::Array(items).write(out);
                }
                Node::Object(_) => {
                    return Err(invalid("cannot delete from object using integer index"));
                }
                _ => return Err(invalid("cannot delete from scalar")),
            }
            Ok(true)
        })
    })
}

/// A key and its value.
pub(super) type Member<'a> = (Cow<'a, str>, Node<'a>);
