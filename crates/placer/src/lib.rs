//! The placer (P-HANA 7; docs/adaptive-placement.md): watches what is read of each column and where, and says which
//! columns had better lie elsewhere.
//!
//! Key decision: it is a value that is told windows of measurements and answers with decisions. It has no clock, no
//! machine and no memory to move, so that an hour of any load is a test of a millisecond, and the same windows always
//! lead to the same decisions.
//!
//! - Invariant: it goes by measured counters alone; nothing is estimated from queries or data.
//! - Invariant: what a user has placed is never touched.
//! - Invariant: every decision to balance gains more within [`constants::HORIZON`] than its copy costs.
//!
//! Reading order: [`window`] (what it is told), [`decision`] (what it answers), [`constants`], `costs` (bandwidths),
//! `noise` (what is chance), `spread` (which rows move), `plan` (one round), `remake` (copies and parts), `tables` (what was cut), `tiers` (nodes without CPUs), [`placer`] (rounds over time).
#![forbid(unsafe_code)]

pub mod constants;
mod costs;
pub mod decision;
mod noise;
pub mod placer;
mod plan;
mod remake;
#[cfg(test)]
mod remake_tests;
mod spread;
mod tables;
#[cfg(test)]
mod tests;
mod tiers;
pub mod window;

pub use decision::{Action, Decision};
pub use placer::Placer;
pub use window::{Item, ItemWindow, Lookups, Window};
