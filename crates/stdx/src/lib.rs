//! What the standard library lacks and every layer needs: strong ids, units, a seeded generator, checksums, text in XML, room on the
//! stack, and the one door to atomics and locks.
//!
//! Key decision: ids and units are newtypes, because nodes, positions, codes and bytes are all integers and get mixed.
//!
//! - Invariant: no other crate imports `std::sync` locks or atomics; [`sync`] is swapped for loom under `cfg(loom)`.
//! - Invariant: [`prng`] is the only source of pseudo-randomness, so a seed repeats a run.
#![forbid(unsafe_code)]

pub mod ids;
pub mod memory;
pub mod parking;
pub mod prng;
pub mod stack;
pub mod sync;
pub mod tagged;
pub mod units;
pub mod xml;

pub use prng::Prng;
pub use units::{Bytes, Nanos};
