//! What a client hands in, and the handle that it gets. The life cycle is in `lifecycle`, what it gets back in `report`.

use hardware::NodeId;
use stdx::sync::Arc;

use crate::affinity::{Affinity, Binding, StealingScope};
use crate::cancel::CancelToken;
use crate::job_times::JobTimes;
use crate::lifecycle::JobState;
use crate::morsel::{MorselBody, MorselRange};
use crate::policy::Policy;
use crate::report::{JobId, Label};

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
    /// Where it is noted when it ran.
    pub times: Option<JobTimes>,
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
            times: policy.times,
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
        self.times.clone_from(&policy.times);
        self
    }

    /// A single task: the body runs once, on `node` if it has one.
    pub fn task(node: Option<NodeId>, body: Arc<dyn MorselBody>) -> Self {
        Self::new(vec![MorselRange { node, start: 0, end: 1 }], 1, body)
    }
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
