//! How the jobs of a statement are run: what can change while it runs, apart from what never does.

use hardware::NodeId;

use crate::affinity::{Affinity, Binding, ScanSharing, StealingScope, class};
use crate::job_times::JobTimes;

/// How large the pieces are that a job is cut into.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MorselSize {
    /// As the source of the rows wants it.
    #[default]
    Source,
    /// So many rows.
    Rows(u64),
    /// One piece for each worker, as systems divide work that know no morsels (P-HYPER 5.4): for comparison.
    Static,
}

/// What a statement asks of the scheduler. [`crate::Scheduler::set_policy`] changes it under jobs that run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// The query class, see [`class`]; the lower number is served first.
    pub class: u8,
    /// How strongly ranges are tied to their nodes. Between `None` and the others a change reaches the next job only,
    /// because the homes of a job's ranges are settled when it is submitted.
    pub affinity: Affinity,
    /// How far workers steal; as far as the scheduler was told when it started if `None`.
    pub stealing: Option<StealingScope>,
    /// When workers are confined to hardware threads.
    pub binding: Binding,
    /// Morsels that a worker takes at a time when it steals; zero counts as one.
    pub bulk: u32,
    /// The most workers that may be on a job at a time.
    pub max_workers: Option<usize>,
    /// The only nodes whose workers may take part; all when empty. A change reaches the next job.
    pub nodes: Vec<NodeId>,
    /// How large its morsels are. A change reaches the next job.
    pub morsels: MorselSize,
    /// Which of its scans are served together with others that read the same. A change reaches the next job.
    pub sharing: ScanSharing,
    /// Whether every morsel leaves a [`crate::TraceEvent`]. A change reaches the next job.
    pub traced: bool,
    /// Where it is noted when its jobs ran, if anybody wants to know. A change reaches the next job.
    pub times: Option<JobTimes>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            class: class::NORMAL,
            affinity: Affinity::Soft,
            stealing: None,
            binding: Binding::Always,
            bulk: 1,
            max_workers: None,
            nodes: Vec::new(),
            morsels: MorselSize::Source,
            sharing: ScanSharing::Auto,
            traced: false,
            times: None,
        }
    }
}
