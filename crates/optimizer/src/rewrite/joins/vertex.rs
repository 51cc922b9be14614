//! A relation to join, and how.

use plan::Expr;
use plan::relation::{Attr, AttrSet, Rel, RelJoin};

use super::set::VertexSet;

/// A relation to join.
pub struct Vertex {
    /// Its optimised rows.
    pub rel: Rel,
    /// What it gives to the others.
    pub attrs: AttrSet,
    /// What its own rows hold.
    pub inner_attrs: AttrSet,
    /// How it joins.
    pub kind: RelJoin,
    /// Whether NULL keys matter.
    pub null_aware: bool,
    /// Its mark.
    pub mark: Option<Attr>,
    /// The conjuncts of a join that is not inner.
    pub on: Vec<Expr>,
    /// The vertices that must be there before it.
    pub needs: VertexSet,
}
