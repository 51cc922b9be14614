//! What a SELECT computes over its rows or groups.

use plan::{Expr, SortKey};

/// An entry of the select list.
#[derive(Debug)]
pub(super) struct Item {
    pub name: String,
    pub expr: Expr,
}

/// Everything of a SELECT that stands over its rows or groups.
#[derive(Debug, Default)]
pub(super) struct Upper {
    pub items: Vec<Item>,
    pub keys: Vec<Expr>,
    pub having: Option<Expr>,
    pub order: Vec<OrderKey>,
    /// DISTINCT ON, by entries of the select list or other expressions.
    pub distinct_on: Vec<OrderKey>,
}

/// What ORDER BY names.
#[derive(Debug)]
pub(super) enum OrderKey {
    /// An output column by place.
    Place(usize, SortKey),
    /// Anything else.
    By(SortKey),
}
