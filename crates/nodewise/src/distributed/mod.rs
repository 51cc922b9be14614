//! One database over several engines, each with a shard of some tables (P-MONET section 2, NUMA_Distr;
//! docs/design/14-coordinator.md).
//!
//! Key decision: a [`Coordinator`] plans, asks and merges, and knows of its engines only that they answer bytes with bytes
//! ([`Shard`]). They may be processes bound to a node each, or databases beside it in one process, which is how it is tested. What
//! they are asked is a bound query ([`plan::wire`]), and what they answer rows of Arrow as tables hold them, so that nothing
//! is rounded or written as text on the way.
//!
//! Reading order: `shard` (the two ends), `words` (requests and replies as bytes), `asking`, `coordinator`, `opening` (which tables
//! there are, and whether shards have the rows they should), `running` (the steps of a query).
//!
//! - Invariant: a coordinator only reads, and shards do not change while it has them.
//! - Invariant: rows that are not in the shard that their key says are found when it is opened, which is then refused.

mod asking;
mod coordinator;
mod opening;
mod running;
mod shard;
mod words;

pub use coordinator::Coordinator;
pub use opening::{shard_number, shard_of};
pub use shard::{LocalShard, Shard, ShardServer};
