//! Cancelling: a mark that workers see at the next morsel boundary (P-HYPER 3.2).

use hardware::WorkerTeam;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex, RwLock};

/// Marks the jobs that carry it for an early end. Clones share the mark.
#[derive(Clone)]
pub struct CancelToken {
    mark: Arc<Mark>,
}

struct Mark {
    cancelled: AtomicBool,
    /// Schedulers that hold jobs with this token; nearly always one.
    listeners: Mutex<Vec<Arc<Signal>>>,
}

impl CancelToken {
    /// A token without the mark.
    pub fn new() -> Self {
        let mark = Mark { cancelled: AtomicBool::new(false), listeners: Mutex::new(Vec::new()) };
        Self { mark: Arc::new(mark) }
    }

    /// Sets the mark and makes waiting jobs end even when every worker is busy with others. Takes a lock: call it
    /// from a thread, not from inside a signal handler.
    pub fn cancel(&self) {
        if !self.mark.cancelled.swap(true, Ordering::AcqRel) {
            let listeners = std::mem::take(&mut *self.mark.listeners.lock());
            for listener in listeners {
                listener.look_again();
            }
        }
    }

    /// Whether the mark is set.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.mark.cancelled.load(Ordering::Acquire)
    }

    /// Makes `cancel` tell a scheduler.
    pub(crate) fn listen(&self, signal: &Arc<Signal>) {
        let mut listeners = self.mark.listeners.lock();
        if !listeners.iter().any(|it| Arc::ptr_eq(it, signal)) {
            listeners.push(Arc::clone(signal));
        }
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

/// What workers and waiters watch: a counter that moves when the queues or a mark changed, and the team to wake.
pub(crate) struct Signal {
    version: AtomicU64,
    /// Set after the workers were made, since they hold the signal themselves; taken when the scheduler ends.
    team: RwLock<Option<Arc<dyn WorkerTeam>>>,
}

impl Signal {
    pub(crate) fn new() -> Self {
        Self { version: AtomicU64::new(0), team: RwLock::new(None) }
    }

    pub(crate) fn set_team(&self, team: Option<Arc<dyn WorkerTeam>>) {
        *self.team.write() = team;
    }

    pub(crate) fn team(&self) -> Option<Arc<dyn WorkerTeam>> {
        self.team.read().clone()
    }

    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Workers choose anew at their next morsel boundary.
    pub(crate) fn bump(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn look_again(&self) {
        self.bump();
        self.notify();
    }

    /// Waiters look whether their job has ended.
    pub(crate) fn notify(&self) {
        if let Some(team) = self.team() {
            team.notify();
        }
    }
}
