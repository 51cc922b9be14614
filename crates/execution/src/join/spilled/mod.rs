//! Joins for which there is not enough memory (Grace hash joins): rows of the build side that do not fit are written to files,
//! cut into partitions by the hash of their keys; rows that would look for them, and such that carry their numbers, wait
//! in files too, cut alike. Once all have come, a partition at a time becomes a table, and the rows that waited for it go on.
//!
//! Key decision: the partitions come one after the other and the team works on each, so that the memory of one is all
//! that is needed, however many workers there are.
//!
//! Reading order: `hashes` (the partition of a row), `filter` (which keys there are), `part` (a partition, perhaps cut again), `build`
//! (the side in files), `deferred` (rows that wait), `rows`;
//! `eligible` tells which joins can do so.
//!
//! - Invariant: rows with equal keys are in one partition; a build row has the same number each time its table is made.
//! - Limit: rows with one key are in one partition however often it is cut; where they do not fit the statement ends (53200).

mod build;
mod deferred;
mod eligible;
mod filter;
mod hashes;
mod part;
mod rows;

pub(super) use build::SpilledBuild;
pub(super) use deferred::{Deferred, Each, Resumed};
pub use eligible::SpillingJoins;
pub(super) use filter::KeyBits;
pub(super) use hashes::{hashes_of, hashes_of_build, partition_of};
pub(super) use part::SpilledPart;
pub(super) use rows::SpilledRowsSource;

/// The partition of rows that have no key, behind those of the others.
pub(super) const NO_KEY: u8 = PARTITIONS as u8;

/// How many partitions there are: some hundred pages each at the smallest limits, and a dozen limits' worth in all.
pub(super) const PARTITIONS: usize = 64;

/// Pieces that a task reads.
const PIECES_PER_TASK: usize = 8;
