//! Aggregate functions by name.

use serde::{Deserialize, Serialize};

/// Aggregate functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AggregateFunction {
    /// Rows, or values that are not NULL.
    Count,
    /// Sum, NULL over nothing.
    Sum,
    /// Mean, NULL over nothing.
    Average,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// The value of any row of the group, NULL included: for columns that the group keys determine.
    AnyValue,
}

impl AggregateFunction {
    /// Its name, as plans show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Average => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::AnyValue => "any",
        }
    }
}
