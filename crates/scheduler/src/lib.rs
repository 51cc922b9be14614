//! Which worker does which morsel when: docs/design/03-scheduling.md, "jobs, not morsels, are queued", after P-HANA 5.1
//! (thread groups, two priority queues, affinities) and P-HYPER 3 (pipeline jobs, morsels cut at run time, elasticity,
//! cancelling at morsel boundaries).
//!
//! Key decision: a queue holds *jobs*, not morsels. A worker takes a group's lock to pick a job and then cuts morsels
//! from an atomic cursor per home node, so the lock is off the hot path and a waiting job with priority is seen at the
//! next morsel boundary through one version counter. Cost accepted: a job stands in the queues of each node it has
//! ranges on and has to be taken out of all of them at its end.
//!
//! Who goes first: a worker looks in its own group, then the other groups of its node, then nodes in order of distance
//! as far as the stealing scope allows. At each stop the lowest class is served first, within a class the oldest
//! statement, within a statement the job submitted first. So nothing starves as long as older statements end: each
//! range has a home node whose workers look there before they look anywhere else. Jobs that read the same memory are
//! served beside the one among them whose turn it is, by a bounded number of morsels (`sharing`).
//!
//! - Invariant: every row of every range is in exactly one morsel, unless the job was stopped or cancelled.
//! - Invariant: a hard job's ranges run only on workers of their home node.
//! - Invariant: when a wait returns, no morsel of the job runs and the scheduler has let go of its body.
//! - Invariant: a panic in a body ends its job, never a worker or a waiter.
//! - Invariant: what is under way ends: by itself, by its mark within a morsel per worker, or with the scheduler.
//! - Invariant: nothing here knows columns or pages; who makes a job asks the page-socket map and passes an affinity.
//!
//! Reading order: `affinity`, `policy`, `morsel` (cursors), `queue`, `cancel`, `report`, `job`, `terms` (what may change under a job
//! that runs), `lifecycle`, `thread_group` (who works and who rests), `layout`, `sharing`
//! (jobs that read the same), `worker`, `watchdog`, `scheduler`, `loan` (who waits works), `graph`,
//! `learn` (the adaptive strategy), `concurrency` and `hint`, `admission`, `combining`, `trace`, `job_times`, `stats`.
#![forbid(unsafe_code)]

mod admission;
mod affinity;
mod alarm;
mod cancel;
mod combining;
mod concurrency;
// It adds no concurrency of its own, and loom's `Arc` cannot hold its bodies.
#[cfg(not(loom))]
mod graph;
pub mod hint;
mod job;
mod job_times;
mod layout;
mod learn;
mod lifecycle;
mod loan;
#[cfg(all(test, loom))]
mod loom_tests;
mod morsel;
mod policy;
mod queue;
mod report;
mod scan_group;
mod scheduler;
mod serves;
mod shared;
mod sharing;
mod stats;
mod terms;
mod thread_group;
mod trace;
mod watchdog;
mod worker;

pub use admission::{Admission, Admitted, Refused};
pub use affinity::{Affinity, Binding, ScanSharing, StealingScope, Strategy, class};
pub use cancel::{CancelReason, CancelToken};
pub use combining::Combining;
pub use concurrency::{concurrency_hint, scan_tasks, weighted_tasks};
#[cfg(not(loom))]
pub use graph::{TaskGraph, TaskId};
pub use job::{JobHandle, PipelineJob};
pub use job_times::{JobTimes, PipelineTime};
pub use loan::Loan;
pub use morsel::{Morsel, MorselBody, MorselContext, MorselRange};
pub use policy::{MorselSize, Policy};
pub use report::{JobId, JobOutcome, JobReport, Label, WorkerId, WorkerShare};
pub use scheduler::{AlarmGuard, Scheduler, SchedulerOptions, WORKERS_MAX};
pub use stats::{GroupStats, JobStats, SchedulerStats, WatchdogStats, WorkerStats};
pub use thread_group::WorkerState;
pub use trace::TraceEvent;
