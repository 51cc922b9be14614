//! Measures how fast the nodes of a machine reach each other's memory (P-SNC chapter 4, tables 1 to 8): latency by a
//! pointer chase, idle and loaded, and bandwidth of all threads of a node, read and written.
//!
//! Key decision: one node's memory is measured at a time, from every node with CPUs, in a segment larger than the caches
//! of a node, so that a machine of many nodes needs no more memory than one of two. Threads are workers of the
//! [`hardware::Machine`] and time is its time, so the same code runs on modelled machines.
//!
//! - Invariant: a cell is measured only where the machine says that the memory is on the node; otherwise it stays empty.
//! - Invariant: a chase visits every line of its region once before it comes back, in an order that no prefetcher knows.
//!
//! Reading order: [`measure`], `plan`, `crew`, `chase`, `stream`.
#![forbid(unsafe_code)]

mod chase;
mod crew;
mod measure;
mod plan;
mod stream;

pub use measure::{Report, measure};
pub use plan::ProbeOptions;
