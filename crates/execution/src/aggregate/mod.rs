//! Aggregation in two phases (P-HYPER 4.4): each worker pre-aggregates what it sees in a table of its own that it flushes
//! when it outgrows the cache; then the groups are cut into partitions, each merged by one task.
//!
//! Reading order: `spec` (aggregates and the accumulators they need), `plan`, `key` (key columns as one value), `index` (from
//! keys to group numbers) and `accumulator` (a value per group): a `table` is an index with accumulators. Then `worker` (phase
//! one), `merge` (phase two), `result`, and `sink`, which holds them together. `packed` takes in rows as they are stored,
//! before they become batches. `state` has the aggregates that keep more than a number. Thresholds stand in `tuning`.
//!
//! - Invariant: a group's number is its place in all columns of a table or of `groups::Groups`.

mod accumulator;
mod argument;
mod batch_groups;
mod distinct;
mod groups;
mod having;
mod index;
mod key;
mod merge;
mod order;
mod packed;
mod plan;
mod recent;
mod result;
mod sink;
mod spec;
mod spill;
mod state;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
mod tuning;
mod worker;

pub(crate) use accumulator::{LongSum, Wide};
pub(crate) use argument::argument_of;
pub(crate) use having::stands_alone;
pub use order::compare_floats;
pub(crate) use result::{checked_float, exact_average, exact_sum};
pub use sink::AggregateSink;
pub use spec::AggregateSpec;
pub(crate) use state::{GroupStates, StateRows, StateSpec, states_of};
