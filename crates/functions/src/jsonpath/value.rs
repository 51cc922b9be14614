//! What a path comes to on its way: a part of a JSON, or a value that was made.

use std::rc::Rc;

use types::json::Node;

use super::moment::Moment;

/// A part of a JSON, or a value that was made on the way.
#[derive(Clone, Debug)]
pub(super) enum Value<'j> {
    Held(&'j Node<'j>),
    Made(Rc<Node<'j>>),
    /// A point of time, and the string that it is shown as.
    Moment(Moment, Rc<Node<'j>>),
}

impl<'j> Value<'j> {
    pub fn made(node: Node<'j>) -> Self {
        Self::Made(Rc::new(node))
    }

    pub fn of_moment(moment: Moment) -> Self {
        Self::Moment(moment, Rc::new(Node::String(moment.text().into())))
    }

    /// The point of time that it is.
    pub fn moment(&self) -> Option<Moment> {
        match self {
            Self::Moment(it, _) => Some(*it),
            _ => None,
        }
    }

    /// What it is in JSON; of a point of time the string that it is shown as.
    pub fn node(&self) -> &Node<'j> {
        match self {
            Self::Held(it) => it,
            Self::Made(it) | Self::Moment(_, it) => it,
        }
    }

    pub fn is_array(&self) -> bool {
        matches!(self.node(), Node::Array(_))
    }

    /// Whether it is an array or an object.
    pub fn is_container(&self) -> bool {
        matches!(self.node(), Node::Array(_) | Node::Object(_))
    }

    /// The elements of an array, or the values of an object; of a scalar nothing.
    pub fn parts(&self) -> Vec<Self> {
        match self {
            Self::Held(Node::Array(items)) => items.iter().map(Self::Held).collect(),
            Self::Held(Node::Object(members)) => {
                members.iter().map(|it| Self::Held(&it.1)).collect()
            }
            Self::Made(it) => match &**it {
                Node::Array(items) => items.iter().map(|it| Self::made(it.clone())).collect(),
                Node::Object(members) => {
                    members.iter().map(|it| Self::made(it.1.clone())).collect()
                }
                _ => Vec::new(),
            },
            Self::Held(_) | Self::Moment(..) => Vec::new(),
        }
    }

    /// The element of an array at a place.
    pub fn element(&self, place: usize) -> Option<Self> {
        match self {
            Self::Held(Node::Array(items)) => items.get(place).map(Self::Held),
            Self::Made(it) => match &**it {
                Node::Array(items) => items.get(place).map(|it| Self::made(it.clone())),
                _ => None,
            },
            Self::Held(_) | Self::Moment(..) => None,
        }
    }

    /// The value of a key of an object.
    pub fn member(&self, key: &str) -> Option<Self> {
        match self {
            Self::Held(Node::Object(members)) => {
                members.iter().find(|it| it.0 == key).map(|it| Self::Held(&it.1))
            }
            Self::Made(it) => match &**it {
                Node::Object(members) => {
                    members.iter().find(|it| it.0 == key).map(|it| Self::made(it.1.clone()))
                }
                _ => None,
            },
            Self::Held(_) | Self::Moment(..) => None,
        }
    }
}
