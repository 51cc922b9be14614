//! What rows are ordered by.

use serde::{Deserialize, Serialize};

use crate::Expr;

/// One key of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SortKey {
    /// What is ordered by.
    pub expr: Expr,
    /// Greatest first.
    pub descending: bool,
    /// NULL before all values.
    pub nulls_first: bool,
}
