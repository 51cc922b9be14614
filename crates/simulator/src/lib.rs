//! The virtual Machine (docs/design/00-house.md, "one machine, two kinds"): the real scheduler, placement and execution
//! code on a topology that is only data, one worker step at a time, in an order and at a time that follow from a seed.
//!
//! Key decision: workers run only inside [`hardware::WorkerTeam::wait_until`], on the thread that waits. There is no
//! other thread, so a seed repeats a schedule as long as one client thread drives the machine, or several take turns
//! ([`SimulatedMachine::expect_clients`]). The price is that
//! races of real threads are not seen here; loom and the linux machine look for those.
//!
//! There are two kinds of time. [`SimulatedMachine::new`] gives every step the same cost: good for looking for wrong
//! schedules. [`SimulatedMachine::with_model`] gives a step the time that its [`hardware::Demand`] takes on a machine of
//! published latencies and bandwidths, beside whatever else runs there: good for asking how fast.
//!
//! - Invariant: the same seed, topology and calls from one thread give the same schedule
//!   ([`SimulatedMachine::schedule_hash`]).
//! - Invariant: no page is charged to a node past the node's memory; asking for more is `OutOfMemory`.
//! - Invariant: a wait that no worker can end panics with the seed instead of hanging.
//! - Invariant: no memory controller and no link ever carries more than its capacity.
//! - Invariant: a model holds data sheets and published tables, nothing fitted to an outcome.
//!
//! Reading order: `stage` (who may step the workers), `team` (the interleaving), `pages` (the page table), `machine` (both
//! behind the trait); then `model`, `physics` (what a byte uses), `fluid` (who gets how much), `engine` (virtual time),
//! `timed` (workers in it), `turns` (clients in it), `probe`.
#![forbid(unsafe_code)]

mod disk;
mod engine;
mod fault;
pub mod fields;
mod fluid;
mod folder;
mod lasting;
mod machine;
mod meters;
pub mod model;
mod pages;
mod physics;
mod probe;
mod schedule;
mod stage;
mod team;
mod timed;
mod turns;

pub use fault::Fault;
pub use lasting::{DiskImage, Picture};
pub use machine::SimulatedMachine;
pub use meters::Meters;
pub use model::{Coherence, MachineModel};
pub use probe::{Probe, probe};
