//! What every aggregate with states of its own can do.

use std::any::Any;

use plan::AggregateFunction;
use storage::Check;
use types::{DataType, SqlResult};

use super::rows::StateRows;
use crate::Vector;

/// What an aggregate keeps of each of some groups.
pub(crate) trait GroupStates: Send + Sync {
    /// Makes room for groups.
    fn resize(&mut self, groups: usize);
    /// The groups at some places, in that order.
    fn take(&self, places: &[u32]) -> Box<dyn GroupStates>;
    /// Takes in the rows of a batch.
    fn update(&mut self, rows: &StateRows<'_>);
    /// Adds the groups `from[i]` of other states of the same aggregate to the groups `to[i]`.
    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]);
    /// The value of each group; `check` fails when the statement has been ended.
    fn finish(&self, check: Check<'_>) -> SqlResult<Vector>;
    /// About how many bytes it holds.
    fn bytes(&self) -> u64;
    /// Itself, for who merges it.
    fn as_any(&self) -> &dyn Any;
}

/// The states of another worker as what they are: those of one aggregate are of one kind.
pub(super) fn same_kind<T: 'static>(other: &dyn GroupStates) -> &T {
    other.as_any().downcast_ref().expect("invariant: states of one aggregate are of one kind")
}

/// Whether a function keeps states of its own of values of a type; sums of numbers of any scale are no accumulator's.
pub(crate) fn has_states(function: AggregateFunction, of: Option<DataType>) -> bool {
    use AggregateFunction::{AnyValue, Average, Count, Max, Min, Sum};
    match function {
        Sum | Average => of == Some(DataType::Numeric),
        _ => !matches!(function, Count | Min | Max | AnyValue),
    }
}
