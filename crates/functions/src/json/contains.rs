//! `@>`: whether one JSONB holds another.

use arrow_array::ArrayRef;
use types::SqlResult;
use types::json::{Node, same_scalar, with_room};

use crate::call::Call;

pub(super) fn contains(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    call.map_booleans(|row| {
        let (a, b) = (left.value(row), right.value(row));
        with_room(&[a, b], || Ok(outermost(&Node::read(a)?, &Node::read(b)?)))
    })
}

/// Of whole values: an array holds a scalar that is one of its elements.
fn outermost(whole: &Node<'_>, part: &Node<'_>) -> bool {
    match (whole, part) {
        (Node::Array(items), scalar) if is_scalar(scalar) => {
            items.iter().any(|it| is_scalar(it) && same_scalar(it, scalar))
        }
        _ => holds(whole, part),
    }
}

fn is_scalar(node: &Node<'_>) -> bool {
    !matches!(node, Node::Array(_) | Node::Object(_))
}

fn holds(whole: &Node<'_>, part: &Node<'_>) -> bool {
    match (whole, part) {
        (Node::Array(items), Node::Array(wanted)) => {
            wanted.iter().all(|wanted| items.iter().any(|it| holds(it, wanted)))
        }
        (Node::Object(members), Node::Object(wanted)) => wanted.iter().all(|(key, wanted)| {
            let order = |it: &(std::borrow::Cow<'_, str>, Node<'_>)| {
                (it.0.len(), &*it.0).cmp(&(key.len(), key))
            };
            members.binary_search_by(order).is_ok_and(|it| holds(&members[it].1, wanted))
        }),
        (Node::Array(_) | Node::Object(_), _) | (_, Node::Array(_) | Node::Object(_)) => false,
        (a, b) => same_scalar(a, b),
    }
}
