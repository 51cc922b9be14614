//! Window functions: rows are sorted by partition and order, with runs on disk where there is no memory, and cut into units
//! of whole partitions; workers take units, and share one that is long (docs/design/04-execution.md, "Windows").
//!
//! Reading order: `call`, `keys` (peers), `reach`, `bounds`, `any_scale` and `frames` (the rows of a frame), `sums` and `extremes` (aggregates of
//! frames), `unit` (what functions need of the rows), `results`, `segments` (partitions for whose rows there is no memory).
//!
//! - Invariant: a row's values depend on the order of the rows alone, not on who computes them.

mod any_scale;
mod bounds;
mod call;
mod compile;
mod extremes;
mod frames;
mod keys;
mod reach;
mod results;
mod segments;
mod sink;
mod states;
mod sums;
#[cfg(test)]
mod tests;
mod unit;

pub use compile::lowered;
