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

/// What ORDER BY means where it says neither a direction nor where NULL stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OrderDefaults {
    /// Greatest first.
    pub descending: bool,
    /// Where NULL stands.
    pub nulls: NullOrder,
}

/// Where NULL stands in an order that does not say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NullOrder {
    /// As if it were greater than any value, as in PostgreSQL.
    #[default]
    Greatest,
    /// As if it were less than any value.
    Least,
    /// Before all values.
    First,
    /// Behind all values.
    Last,
}

impl NullOrder {
    /// Whether NULL stands first in an order of a direction.
    pub fn is_first(self, descending: bool) -> bool {
        match self {
            Self::Greatest => descending,
            Self::Least => !descending,
            Self::First => true,
            Self::Last => false,
        }
    }
}
