//! Benchmarks: what is run, measured and checked. How it looks on a terminal is the business of `cli`.
//!
//! Key decision: times are taken around the whole statement, from SQL text to Arrow rows, by the machine's clock, and
//! queries take turns round by round, so that a slow second of the machine hits one run of each and not all of one.
//!
//! - Invariant: no time is reported for a query whose answer is wrong without saying so beside it.
//! - Invariant: the data are in memory before the first time is taken.
//!
//! Reading order: [`record`], [`workload`], [`suite`], [`tpch`], [`tpcds`], [`ssb`], [`clickbench`], [`refresh_data`], [`refresh`], [`scans`], [`report`], [`memory`], [`primitives`], [`fixed`],
//! [`scheduling`],
//! [`oltp`], [`parts`].
#![forbid(unsafe_code)]

pub mod clickbench;
mod dice;
pub mod fixed;
mod made;
pub mod memory;
pub mod monet;
pub mod oltp;
pub mod page_map;
pub mod parts;
pub mod primitives;
pub mod record;
pub mod refresh;
pub mod refresh_data;
pub mod report;
pub mod reporting;
pub mod scans;
pub mod scheduling;
pub mod ssb;
pub mod suite;
pub mod tpcds;
pub mod tpch;
pub mod workload;
