//! Cancelling: a mark that workers see at the next morsel boundary (P-HYPER 3.2), and the bell that wakes who waits.

use hardware::WorkerTeam;
use stdx::parking::Bell;
use stdx::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use stdx::sync::{Arc, RwLock};

/// Why a statement was ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CancelReason {
    /// Its client asked for it, or has gone.
    Client,
    /// Somebody else asked for it.
    Killed,
    /// It ran for longer than it may.
    Timeout,
    /// The machine or its limit ran out of memory.
    Memory,
}

const REASONS: [CancelReason; 4] =
    [CancelReason::Client, CancelReason::Killed, CancelReason::Timeout, CancelReason::Memory];

/// Marks the jobs that carry it for an early end. Clones share the mark.
#[derive(Clone)]
pub struct CancelToken {
    mark: Arc<Mark>,
}

struct Mark {
    /// Zero, or one more than the place of the reason in [`REASONS`].
    reason: AtomicU8,
    /// Rung when the mark is set and when a job that carries it has ended.
    bell: Bell,
}

impl CancelToken {
    /// A token without the mark.
    pub fn new() -> Self {
        Self { mark: Arc::new(Mark { reason: AtomicU8::new(0), bell: Bell::new() }) }
    }

    /// Sets the mark on behalf of the client. Takes a lock: call it from a thread, not from inside a signal handler.
    pub fn cancel(&self) {
        self.cancel_because(CancelReason::Client);
    }

    /// Sets the mark and makes those who wait look, so that a job ends even when every worker is busy with others. The
    /// first reason stays.
    pub fn cancel_because(&self, reason: CancelReason) {
        let code = REASONS.iter().position(|it| *it == reason).map_or(1, |it| it as u8 + 1);
        let order = Ordering::AcqRel;
        if self.mark.reason.compare_exchange(0, code, order, Ordering::Acquire).is_ok() {
            self.ring();
        }
    }

    /// Whether the mark is set.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.mark.reason.load(Ordering::Acquire) != 0
    }

    /// Why the mark was set, if it is.
    pub fn reason(&self) -> Option<CancelReason> {
        let code = self.mark.reason.load(Ordering::Acquire);
        code.checked_sub(1).map(|it| REASONS[usize::from(it)])
    }

    /// Where to wait for what happens to the jobs of this token.
    pub(crate) fn bell(&self) -> &Bell {
        &self.mark.bell
    }

    pub(crate) fn ring(&self) {
        self.mark.bell.ring();
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancelToken").field("reason", &self.reason()).finish()
    }
}

/// What workers watch: a counter that moves when the queues changed, and the team to wake.
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

    /// Those who wait for anything look again.
    pub(crate) fn notify(&self) {
        if let Some(team) = self.team() {
            team.notify();
        }
    }
}
