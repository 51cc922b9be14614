//! The commands beside the shell.

pub mod bench;
pub mod check;
pub mod demo;
pub mod generate;
pub mod monet;
pub mod oltp;
pub mod parts;
pub mod placement;
pub mod primitives;
pub mod probe;
pub mod reporting;
pub mod results;
pub mod scans;
pub mod scheduling;
pub mod serve;
pub mod shard;
pub mod simulate;
pub mod simulate_tpch;
pub mod slow_log;
pub mod topology;
pub mod trace;
pub mod trace_log;
