//! The placer in the database (docs/adaptive-placement.md): the watchdog takes windows of the counters, the crate `placer`
//! decides, and a task on the workers moves the columns, by what ALTER TABLE .. NUMA NODE does, without a demand.
//!
//! - Invariant: decisions are carried out one after the other; the next begins when the copy of the last would have ended
//!   under its share of the bandwidth.
//! - Invariant: it never waits: for a writer it gives way, and tries again later.

mod act;
mod cut;
mod log;
mod look;
mod measure;
mod parts;
mod service;

pub(crate) use log::{LogEntry, Outcome};
pub(crate) use service::{PlacerMode, PlacerService};
