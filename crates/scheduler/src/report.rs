//! What is told of jobs and of the workers on them: plain data, which all parts of the scheduler may hold.

use stdx::{Nanos, id};

use crate::affinity::Affinity;

id! {
    /// A job, in order of submission to its scheduler.
    JobId(u64)
}

id! {
    /// A worker of the pool.
    WorkerId(u32)
}

/// What a job is within its statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Label {
    /// The pipeline.
    pub pipeline: u32,
    /// Whether it finishes the pipeline's sink, and does not read its source.
    pub finishing: bool,
}

/// How a job ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobOutcome {
    /// Every row went through the body.
    Completed,
    /// The body said `Break`.
    Stopped,
    /// The token was marked before the job was through.
    Cancelled,
    /// The body panicked with this message.
    Panicked(String),
}

/// What one worker did for a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerShare {
    /// The worker.
    pub worker: WorkerId,
    /// Morsels it ran.
    pub morsels: u64,
    /// Those of them with their home on another node.
    pub stolen: u64,
    /// Time inside the body.
    pub busy: Nanos,
}

impl WorkerShare {
    pub(crate) fn new(worker: WorkerId) -> Self {
        Self { worker, morsels: 0, stolen: 0, busy: Nanos(0) }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.morsels += other.morsels;
        self.stolen += other.stolen;
        self.busy += other.busy;
    }
}

/// What is known about a job that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobReport {
    /// The job.
    pub id: JobId,
    /// How it ended.
    pub outcome: JobOutcome,
    /// Morsels that ran.
    pub morsels: u64,
    /// Morsels that ran away from their home node.
    pub stolen: u64,
    /// The workers that took part, by number.
    pub per_worker: Vec<WorkerShare>,
    /// From submission to the end of the last morsel.
    pub elapsed: Nanos,
    /// The affinity at the end: what [`Affinity::Adaptive`] came to, or still that when there was too little to learn.
    pub affinity: Affinity,
    /// Bytes per second of a worker, where the adaptive strategy has learned them.
    pub bytes_per_second: Option<u64>,
}

impl JobReport {
    pub(crate) fn new(
        id: JobId,
        outcome: JobOutcome,
        mut per_worker: Vec<WorkerShare>,
        elapsed: Nanos,
        (affinity, bytes_per_second): (Affinity, Option<u64>),
    ) -> Self {
        per_worker.retain(|it| it.morsels > 0);
        per_worker.sort_by_key(|it| it.worker);
        let morsels = per_worker.iter().map(|it| it.morsels).sum();
        let stolen = per_worker.iter().map(|it| it.stolen).sum();
        Self { id, outcome, morsels, stolen, per_worker, elapsed, affinity, bytes_per_second }
    }
}
