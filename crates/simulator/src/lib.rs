//! The virtual Machine (DESIGN 2, 9): the real scheduler, placement and execution code on a topology that is only data,
//! one worker step at a time, in an order and at a time that follow from a seed.
//!
//! Key decision: workers run only inside [`hardware::WorkerTeam::wait_until`], on the thread that waits. There is no
//! other thread, so a seed repeats a schedule as long as one client thread drives the machine. The price is that
//! races of real threads are not seen here; loom and the linux machine look for those.
//!
//! - Invariant: the same seed, topology and calls from one thread give the same schedule
//!   ([`SimulatedMachine::schedule_hash`]).
//! - Invariant: no page is charged to a node past the node's memory; asking for more is `OutOfMemory`.
//! - Invariant: a wait that no worker can end panics with the seed instead of hanging.
//!
//! Reading order: `team` (the interleaving), `pages` (the page table), `machine` (both behind the trait).
#![forbid(unsafe_code)]

mod machine;
mod pages;
mod schedule;
mod team;

pub use machine::SimulatedMachine;
