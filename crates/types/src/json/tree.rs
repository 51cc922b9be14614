//! Values that are taken apart, and the text of JSONB.

use std::borrow::Cow;

use super::check::DEPTH_MAX;
use super::{Kind, check, elements, kind, members, number, put_string, string_of};
use crate::SqlResult;

/// A value of JSON.
#[derive(Clone, PartialEq, Debug)]
pub enum Node<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number as JSONB has it.
    Number(Cow<'a, str>),
    /// The characters of a string.
    String(Cow<'a, str>),
    /// The elements of an array.
    Array(Vec<Node<'a>>),
    /// The members of an object; of JSONB in its order, each key once.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// A text that is known to be JSON, taken apart as it is: keys keep their order.
    ///
    /// # Errors
    /// 22P05 and 22P02 for characters that no text holds, 22003 for numbers that are too long.
    pub fn read(json: &'a str) -> SqlResult<Self> {
        let json = json.trim_matches(|it| matches!(it, ' ' | '\t' | '\n' | '\r'));
        Ok(match kind(json) {
            Kind::Null => Self::Null,
            Kind::Boolean => Self::Boolean(json == "true"),
            Kind::Number => Self::Number(number::normal(json)?),
            Kind::String => Self::String(string_of(json)?),
            Kind::Array => Self::Array(elements(json).map(Self::read).collect::<SqlResult<_>>()?),
            Kind::Object => {
                let member = |(key, value)| Ok((string_of(key)?, Self::read(value)?));
                Self::Object(members(json).map(member).collect::<SqlResult<_>>()?)
            }
        })
    }

    /// Appends the value as JSONB is shown. The keys must be in order.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Boolean(it) => out.push_str(if *it { "true" } else { "false" }),
            Self::Number(it) => out.push_str(it),
            Self::String(it) => put_string(it, out),
            Self::Array(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place > 0 { ", " } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (place, (key, value)) in members.iter().enumerate() {
                    out.push_str(if place > 0 { ", " } else { "" });
                    put_string(key, out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// The same with the members of all objects as JSONB has them.
    pub fn ordered(self) -> Self {
        match self {
            Self::Array(items) => Self::Array(items.into_iter().map(Self::ordered).collect()),
            Self::Object(members) => {
                let members = members.into_iter().map(|(key, it)| (key, it.ordered())).collect();
                Self::Object(deduplicated(members))
            }
            other => other,
        }
    }
}

/// Members in the order of JSONB: by the length of their keys, then by bytes. Of those with one key the last stays.
pub fn deduplicated<'a>(
    mut members: Vec<(Cow<'a, str>, Node<'a>)>,
) -> Vec<(Cow<'a, str>, Node<'a>)> {
    // Sorted stably from the back, the last of a key is the first of its run.
    members.reverse();
    members.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
    members.dedup_by(|a, b| a.0 == b.0);
    members
}

/// Runs `walk` with room on the stack for the trees of some texts.
pub fn with_room<R>(texts: &[&str], walk: impl FnOnce() -> R) -> R {
    stdx::stack::with_levels(texts.iter().map(|it| depth(it)).max().unwrap_or(0) + 2, walk)
}

/// How deep the arrays and objects of a text are in one another, at most: brackets in strings may count.
fn depth(json: &str) -> usize {
    let opening = json.bytes().filter(|it| matches!(it, b'[' | b'{')).count();
    if opening <= stdx::stack::FREE_LEVELS / 2 {
        return opening;
    }
    check(json).unwrap_or_else(|_| opening.min(2 * DEPTH_MAX))
}

/// A text as JSONB.
///
/// # Errors
/// Those of [`check`] and [`Node::read`].
pub fn normal(text: &str) -> SqlResult<String> {
    let depth = check(text)?;
    stdx::stack::with_levels(depth + 2, || {
        let mut out = String::with_capacity(text.len());
        Node::read(text)?.ordered().write(&mut out);
        Ok(out)
    })
}

/// Whether no object in a JSON has a key twice.
pub fn has_unique_keys(json: &str) -> bool {
    fn unique(node: &Node<'_>) -> bool {
        match node {
            Node::Array(items) => items.iter().all(unique),
            Node::Object(members) => {
                let mut keys: Vec<&str> = members.iter().map(|it| &*it.0).collect();
                keys.sort_unstable();
                keys.windows(2).all(|it| it[0] != it[1]) && members.iter().all(|it| unique(&it.1))
            }
            _ => true,
        }
    }
    with_room(&[json], || Node::read(json).is_ok_and(|it| unique(&it)))
}
