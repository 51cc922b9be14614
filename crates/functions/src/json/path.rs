//! A JSONB with something else at the end of a path: `jsonb_set`, `jsonb_insert`, `#-`.

use std::borrow::Cow;

use arrow_array::ArrayRef;
use plan::Function;
use types::json::{Node, deduplicated, with_room};
use types::{SqlError, SqlResult, SqlState, array};

use super::change::Member;
use super::look::texts_of;
use super::rows::{each_text, invalid};
use crate::call::Call;

/// What is done at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Delete,
    Replace,
    /// What is not there is made.
    Create,
    InsertBefore,
    InsertAfter,
}

impl Change {
    fn of(function: Function, flag: Option<bool>) -> Self {
        match (function, flag) {
            (Function::JsonDeletePath, _) => Self::Delete,
            (Function::JsonSet, Some(false)) => Self::Replace,
            (Function::JsonSet, _) => Self::Create,
            (_, Some(true)) => Self::InsertAfter,
            (_, _) => Self::InsertBefore,
        }
    }

    fn makes_new(self) -> bool {
        !matches!(self, Self::Delete | Self::Replace)
    }

    fn inserts(self) -> bool {
        matches!(self, Self::InsertBefore | Self::InsertAfter)
    }
}

struct Walk<'a> {
    path: &'a [Option<String>],
    change: Change,
    value: Option<Node<'a>>,
}

/// The kernel of all three.
pub(super) fn changed(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, paths) = (call.texts(0)?, call.texts(1)?);
    let new = call.optional_texts(2)?;
    let flags = (call.count() > 3).then(|| call.booleans(3)).transpose()?;
    each_text(call, |row, out| {
        let value = values.value(row);
        let new = new.map(|it| it.value(row));
        let change = Change::of(call.function, flags.map(|it| it.value(row)));
        if array::dimensions(paths.value(row)).len() > 1 {
            return Err(SqlError::new(SqlState("2202E"), "wrong number of array subscripts"));
        }
        let path = texts_of(paths.value(row));
        with_room(&[value, new.unwrap_or("")], || {
            let root = Node::read(value)?;
            let is_empty = match &root {
                Node::Array(items) => items.is_empty(),
                Node::Object(members) => members.is_empty(),
                _ if change == Change::Delete => {
                    return Err(invalid("cannot delete path in scalar"));
                }
                _ => return Err(invalid("cannot set path in scalar")),
            };
            if path.is_empty() || is_empty && !change.makes_new() {
                root.write(out);
                return Ok(true);
            }
            let value = new.map(Node::read).transpose()?;
            Walk { path: &path, change, value }.node(root, 0)?.write(out);
            Ok(true)
        })
    })
}

impl<'a> Walk<'a> {
    /// A value at so many steps of the path, with the change made below it.
    fn node(&mut self, node: Node<'a>, level: usize) -> SqlResult<Node<'a>> {
        let Some(step) = self.path.get(level) else { return Ok(node) };
        let Some(step) = step.as_deref() else {
            let message = format!("path element at position {} is null", level + 1);
            return Err(SqlError::new(SqlState::NULL_NOT_ALLOWED, message));
        };
        match node {
            Node::Object(members) => self.object(members, step, level).map(Node::Object),
            Node::Array(items) => self.array(items, step, level).map(Node::Array),
            scalar => Ok(scalar),
        }
    }

    fn is_last(&self, level: usize) -> bool {
        level + 1 == self.path.len()
    }

    fn object(
        &mut self,
        mut members: Vec<Member<'a>>,
        step: &str,
        level: usize,
    ) -> SqlResult<Vec<Member<'a>>> {
        let place = members.iter().position(|it| it.0 == step);
        let Some(place) = place else {
            if self.is_last(level)
                && self.change.makes_new()
                && let Some(value) = self.value.take()
            {
                members.push((Cow::Owned(step.to_owned()), value));
                members = deduplicated(members);
            }
            return Ok(members);
        };
        if !self.is_last(level) {
            let inner = std::mem::replace(&mut members[place].1, Node::Null);
            members[place].1 = self.node(inner, level + 1)?;
            return Ok(members);
        }
        if self.change.inserts() {
            let hint = "Try using the function jsonb_set to replace key value.";
            return Err(invalid("cannot replace existing key").with_hint(hint));
        }
        match (self.change, self.value.take()) {
            (Change::Delete, _) | (_, None) => {
                members.remove(place);
            }
            (_, Some(value)) => members[place].1 = value,
        }
        Ok(members)
    }

    fn array(
        &mut self,
        mut items: Vec<Node<'a>>,
        step: &str,
        level: usize,
    ) -> SqlResult<Vec<Node<'a>>> {
        let Ok(said) = step.trim_start().parse::<i32>() else {
            let position = level + 1;
            let message =
                format!("path element at position {position} is not an integer: \"{step}\"");
            return Err(SqlError::new(SqlState::INVALID_TEXT, message));
        };
        let distance = usize::try_from(said.unsigned_abs()).unwrap_or(usize::MAX);
        // None: before all.
        let place = match said {
            0.. => Some(distance.min(items.len())),
            _ => items.len().checked_sub(distance),
        };
        let there = place.filter(|it| *it < items.len());
        if !self.is_last(level) {
            if let Some(place) = there {
                let inner = std::mem::replace(&mut items[place], Node::Null);
                items[place] = self.node(inner, level + 1)?;
            }
            return Ok(items);
        }
        let value = self.value.take();
        match (there, self.change, value) {
            (Some(place), Change::Delete, _) => {
                items.remove(place);
            }
            (Some(place), Change::Replace | Change::Create, Some(value)) => items[place] = value,
            (Some(place), Change::InsertAfter, Some(value)) => items.insert(place + 1, value),
            (Some(place), Change::InsertBefore, Some(value)) => items.insert(place, value),
            (None, change, Some(value)) if change.makes_new() => {
                let end = if place.is_none() { 0 } else { items.len() };
                items.insert(end, value);
            }
            _ => {}
        }
        Ok(items)
    }
}
