//! What the views show: workers with their counters, and the jobs under way.

use hardware::{CpuId, LlcId, NodeId};
use stdx::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use stdx::{Nanos, id};

use crate::job::JobId;

id! {
    /// A worker of the pool.
    WorkerId(u32)
}

/// What a worker is doing (P-HANA 5.1, as far as the scheduler can see).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerState {
    /// Running morsels.
    Working,
    /// Looking for a job, or parked by the machine until woken.
    Free,
    /// Done for good.
    Stopped,
}

/// One worker since the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerStats {
    /// Its number.
    pub worker: WorkerId,
    /// The hardware thread it was started on.
    pub cpu: CpuId,
    /// The node of that thread.
    pub node: NodeId,
    /// The cache group of that thread.
    pub llc: LlcId,
    /// What it does now.
    pub state: WorkerState,
    /// Morsels it ran.
    pub morsels: u64,
    /// Those of them with their home on another node.
    pub stolen: u64,
    /// Time inside bodies.
    pub busy: Nanos,
}

/// One job under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobStats {
    /// Its number.
    pub job: JobId,
    /// Its query class.
    pub class: u8,
    /// Its statement.
    pub statement: u64,
    /// Whether it is bound to its nodes.
    pub hard: bool,
    /// All its morsels.
    pub morsels: u64,
    /// Morsels not cut yet.
    pub waiting: u64,
    /// Workers on it now.
    pub workers: usize,
}

/// A look at the scheduler; the parts are read one after the other, while the workers go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedulerStats {
    /// All workers, by number.
    pub workers: Vec<WorkerStats>,
    /// Jobs submitted and not ended, by number.
    pub jobs: Vec<JobStats>,
    /// Jobs ever submitted.
    pub submitted: u64,
}

/// A worker's counters: written by the worker alone, read by anyone.
#[repr(align(128))]
pub(crate) struct Counters {
    state: AtomicU8,
    morsels: AtomicU64,
    stolen: AtomicU64,
    busy_nanos: AtomicU64,
}

impl Counters {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU8::new(0),
            morsels: AtomicU64::new(0),
            stolen: AtomicU64::new(0),
            busy_nanos: AtomicU64::new(0),
        }
    }

    pub(crate) fn set_state(&self, state: WorkerState) {
        let code = match state {
            WorkerState::Free => 0,
            WorkerState::Working => 1,
            WorkerState::Stopped => 2,
        };
        self.state.store(code, Ordering::Relaxed);
    }

    pub(crate) fn state(&self) -> WorkerState {
        match self.state.load(Ordering::Relaxed) {
            0 => WorkerState::Free,
            1 => WorkerState::Working,
            _ => WorkerState::Stopped,
        }
    }

    pub(crate) fn ran(&self, stolen: bool, busy: Nanos) {
        self.morsels.fetch_add(1, Ordering::Relaxed);
        self.stolen.fetch_add(u64::from(stolen), Ordering::Relaxed);
        self.busy_nanos.fetch_add(busy.0, Ordering::Relaxed);
    }

    /// Morsels, stolen ones, time.
    pub(crate) fn read(&self) -> (u64, u64, Nanos) {
        let load = |it: &AtomicU64| it.load(Ordering::Relaxed);
        (load(&self.morsels), load(&self.stolen), Nanos(load(&self.busy_nanos)))
    }
}
