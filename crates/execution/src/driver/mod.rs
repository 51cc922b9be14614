//! Which pipelines run next, and running them.
//!
//! Pipelines run one after the other, each on all workers: that keeps their hash tables in the caches (P-HYPER 3.2). Only
//! where a pipeline is too narrow to keep the workers busy are others that are ready, and narrow too, run beside it.
//!
//! Reading order: `ready` (a pipeline whose inputs are there), `queue` (which of them run next), `run` (their jobs), `fan_out` (how many
//! workers these get, and where), `ahead` (what sources have done before), `morsels` (what a worker does with a morsel), `stream` (a
//! pipeline whose rows are taken while it runs).

mod ahead;
mod fan_out;
mod morsels;
mod queue;
mod ready;
mod run;
mod stream;

pub(crate) use queue::PipelineQueue;
pub(crate) use run::{Done, run_together};
pub(crate) use stream::PipelineStream;
