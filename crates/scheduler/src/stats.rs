//! What the views show: workers with their counters, and the jobs under way.

use hardware::{CpuId, LlcId, NodeId};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicU64, Ordering};

use crate::affinity::{Affinity, Binding, StealingScope};
use crate::report::{JobId, Label, WorkerId};
use crate::serves::Serves;
use crate::thread_group::{StateCell, WorkerState};

/// One worker since the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerStats {
    /// Its number.
    pub worker: WorkerId,
    /// The hardware thread it was started on.
    pub cpu: CpuId,
    /// The node of that thread.
    pub node: NodeId,
    /// The last-level cache of that thread.
    pub llc: LlcId,
    /// Its thread group, by number.
    pub group: usize,
    /// Whether the watchdog started it because others slept.
    pub extra: bool,
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
    /// What it is within its statement.
    pub label: Label,
    /// How it is bound to its nodes now.
    pub affinity: Affinity,
    /// How far workers may steal from it.
    pub stealing: StealingScope,
    /// When its workers are confined.
    pub binding: Binding,
    /// Whether it waits for other jobs.
    pub blocked: bool,
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
    /// Thread groups, by number.
    pub groups: Vec<GroupStats>,
    /// What the watchdog did.
    pub watchdog: WatchdogStats,
}

/// One thread group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupStats {
    /// Its node.
    pub node: NodeId,
    /// Its last-level cache.
    pub llc: LlcId,
    /// How many workers may run at a time.
    pub contexts: usize,
    /// How many run.
    pub running: usize,
    /// How many are free.
    pub free: usize,
}

/// What the watchdog did since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WatchdogStats {
    /// Looks at all groups.
    pub looks: u64,
    /// Workers found asleep in a morsel.
    pub found_asleep: u64,
    /// Times it woke workers of a group with tasks and too few at work.
    pub woken: u64,
    /// Times it woke workers of other groups for the tasks of a saturated one.
    pub woken_to_steal: u64,
    /// Workers it started.
    pub started: u64,
    /// Statements whose time was up.
    pub timeouts: u64,
}

/// A worker's counters: written by the worker alone, read by anyone.
#[repr(align(128))]
pub(crate) struct Counters {
    pub(crate) state: StateCell,
    /// Whom it serves.
    pub(crate) serves: Serves,
    morsels: AtomicU64,
    stolen: AtomicU64,
    busy_nanos: AtomicU64,
}

impl Counters {
    pub(crate) fn new(state: StateCell) -> Self {
        Self {
            state,
            serves: Serves::everybody(),
            morsels: AtomicU64::new(0),
            stolen: AtomicU64::new(0),
            busy_nanos: AtomicU64::new(0),
        }
    }

    pub(crate) fn ran(&self, stolen: bool, busy: Nanos) {
        // Only this worker writes, so a load and a store do what a locked addition would.
        let add = |it: &AtomicU64, more: u64| {
            it.store(it.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        add(&self.morsels, 1);
        add(&self.stolen, u64::from(stolen));
        add(&self.busy_nanos, busy.0);
    }

    /// Morsels, stolen ones, time.
    pub(crate) fn read(&self) -> (u64, u64, Nanos) {
        let load = |it: &AtomicU64| it.load(Ordering::Relaxed);
        (load(&self.morsels), load(&self.stolen), Nanos(load(&self.busy_nanos)))
    }
}

/// What the watchdog did, readable by anyone.
#[derive(Default)]
pub(crate) struct WatchCounters {
    pub(crate) looks: AtomicU64,
    pub(crate) found_asleep: AtomicU64,
    pub(crate) woken: AtomicU64,
    pub(crate) woken_to_steal: AtomicU64,
    pub(crate) started: AtomicU64,
    pub(crate) timeouts: AtomicU64,
}

impl WatchCounters {
    pub(crate) fn read(&self) -> WatchdogStats {
        let load = |it: &AtomicU64| it.load(Ordering::Relaxed);
        WatchdogStats {
            looks: load(&self.looks),
            found_asleep: load(&self.found_asleep),
            woken: load(&self.woken),
            woken_to_steal: load(&self.woken_to_steal),
            started: load(&self.started),
            timeouts: load(&self.timeouts),
        }
    }
}
