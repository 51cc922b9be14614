//! What a client hands in and gets back. The life cycle is in `lifecycle`.

use hardware::NodeId;
use stdx::sync::Arc;
use stdx::{Nanos, id};

use crate::affinity::{Affinity, Binding, StealingScope};
use crate::cancel::CancelToken;
use crate::lifecycle::JobState;
use crate::morsel::{MorselBody, MorselRange};
use crate::policy::Policy;
use crate::stats::WorkerId;

id! {
    /// A job, in order of submission to its scheduler.
    JobId(u64)
}

/// A pipeline over ranges of rows; a single task is a pipeline of one row.
#[derive(Clone)]
pub struct PipelineJob {
    /// The rows and where they are.
    pub ranges: Vec<MorselRange>,
    /// Rows of a morsel; zero counts as one.
    pub morsel_rows: u64,
    /// How strongly the ranges' nodes bind.
    pub affinity: Affinity,
    /// The query class, see [`crate::class`]; the lower number is served first.
    pub class: u8,
    /// The age of the statement: an older one has the lower number and is served first within its class.
    pub statement: u64,
    /// The most workers that may be on the job at a time.
    pub max_workers: Option<usize>,
    /// How far workers steal; as far as the scheduler was told when it started if `None`.
    pub stealing: Option<StealingScope>,
    /// When its workers are confined to hardware threads.
    pub binding: Binding,
    /// Morsels that a worker takes at a time when it steals; zero counts as one.
    pub bulk: u32,
    /// The only nodes whose workers may take part; all when empty. Rows elsewhere are then at home on the nearest.
    pub nodes: Vec<NodeId>,
    /// Jobs that must end first. It is cancelled when one of them is cancelled or panics.
    pub after: Vec<JobHandle>,
    /// What its morsels read, when that is too much for a cache: jobs that read the same and have the same ranges are
    /// served together, so that memory is read once for all of them. Any number that tells it from other things. Workers
    /// that serve it beside another job do not count for `max_workers`.
    pub reads: Option<u64>,
    /// What trace and views call it.
    pub label: Label,
    /// Whether its morsels leave events in the trace.
    pub traced: bool,
    /// The mark that ends it early.
    pub cancel: CancelToken,
    /// What to do with each morsel.
    pub body: Arc<dyn MorselBody>,
}

impl PipelineJob {
    /// A soft job of the normal class, without a limit or a token that somebody else holds.
    pub fn new(ranges: Vec<MorselRange>, morsel_rows: u64, body: Arc<dyn MorselBody>) -> Self {
        let policy = Policy::default();
        Self {
            ranges,
            morsel_rows,
            affinity: policy.affinity,
            class: policy.class,
            statement: 0,
            max_workers: policy.max_workers,
            stealing: policy.stealing,
            binding: policy.binding,
            bulk: policy.bulk,
            nodes: policy.nodes,
            after: Vec::new(),
            reads: None,
            label: Label::default(),
            traced: policy.traced,
            cancel: CancelToken::new(),
            body,
        }
    }

    /// The job under a policy.
    pub fn with_policy(mut self, policy: &Policy) -> Self {
        self.affinity = policy.affinity;
        self.class = policy.class;
        self.max_workers = policy.max_workers;
        self.stealing = policy.stealing;
        self.binding = policy.binding;
        self.bulk = policy.bulk;
        self.nodes.clone_from(&policy.nodes);
        self.traced = policy.traced;
        self
    }

    /// A single task: the body runs once, on `node` if it has one.
    pub fn task(node: Option<NodeId>, body: Arc<dyn MorselBody>) -> Self {
        Self::new(vec![MorselRange { node, start: 0, end: 1 }], 1, body)
    }
}

/// What a job is within its statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Label {
    /// The pipeline.
    pub pipeline: u32,
    /// Whether it finishes the pipeline's sink, and does not read its source.
    pub finishing: bool,
}

/// A submitted job. Dropping the handle neither stops nor awaits the job.
#[derive(Clone)]
pub struct JobHandle {
    pub(crate) job: Arc<JobState>,
}

impl JobHandle {
    /// The job's number.
    pub fn id(&self) -> JobId {
        self.job.id
    }

    /// Whether the job has ended, without waiting.
    pub fn is_finished(&self) -> bool {
        self.job.is_finished()
    }
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
