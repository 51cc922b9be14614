//! Which worker does which morsel when: DESIGN 5, after P-HANA 5.1 (thread groups, two priority queues, affinities) and
//! P-HYPER 3 (pipeline jobs, morsels cut at run time, elasticity, cancelling at morsel boundaries).
//!
//! Key decision: a queue holds *jobs*, not morsels. A worker takes a group's lock to pick a job and then cuts morsels
//! from an atomic cursor per home node, so the lock is off the hot path and a waiting job with priority is seen at the
//! next morsel boundary through one version counter. Cost accepted: a job stands in the queues of each node it has
//! ranges on and has to be taken out of all of them at its end.
//!
//! Who goes first: a worker looks in its own group, then the other groups of its node, then nodes in order of distance
//! as far as the stealing scope allows. At each stop the lowest class is served first, within a class the oldest
//! statement, within a statement the job submitted first. So nothing starves as long as older statements end: each
//! range has a home node whose workers look there before they look anywhere else.
//!
//! - Invariant: every row of every range is in exactly one morsel, unless the job was stopped or cancelled.
//! - Invariant: a hard job's ranges run only on workers of their home node.
//! - Invariant: when a wait returns, no morsel of the job runs and the scheduler has let go of its body.
//! - Invariant: a panic in a body ends its job, never a worker or a waiter.
//! - Invariant: nothing here knows columns or pages; who makes a job asks the page-socket map and passes an affinity.
//!
//! Reading order: `affinity`, `morsel` (cursors), `queue`, `cancel`, `job`,
//! `lifecycle`, `thread_group`, `layout`, `worker`,
//! `scheduler`, `stats`, `concurrency`.
#![forbid(unsafe_code)]

mod affinity;
mod cancel;
mod concurrency;
mod job;
mod layout;
mod lifecycle;
#[cfg(all(test, loom))]
mod loom_tests;
mod morsel;
mod queue;
mod scheduler;
mod shared;
mod stats;
mod thread_group;
mod worker;

pub use affinity::{Affinity, StealingScope, class};
pub use cancel::CancelToken;
pub use concurrency::{concurrency_hint, scan_tasks, weighted_tasks};
pub use job::{JobHandle, JobId, JobOutcome, JobReport, PipelineJob, WorkerShare};
pub use morsel::{Morsel, MorselBody, MorselContext, MorselRange};
pub use scheduler::{Scheduler, SchedulerOptions};
pub use stats::{JobStats, SchedulerStats, WorkerId, WorkerState, WorkerStats};
