//! What a running statement shares with those who watch it and steer it: its mark, its policy, how far it is.

use memory::Account;
use scheduler::{CancelReason, CancelToken, Policy, Scheduler};
use stdx::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use stdx::sync::{Apart, Arc, Mutex};
use types::{SqlError, SqlResult, SqlState};

/// The handle of one statement. Its jobs read it when they are submitted, and others may change it meanwhile.
pub struct QueryControl {
    /// Its number and age: the lower, the older, the sooner served.
    pub statement: u64,
    /// Ends it early.
    pub cancel: CancelToken,
    /// Statements that run in its database, itself among them: the concurrency hint goes by it.
    pub running: Arc<Apart<AtomicUsize>>,
    policy: Mutex<Policy>,
    pipelines: AtomicU32,
    finished: AtomicU32,
}

impl QueryControl {
    /// The control of a statement that has not begun.
    pub fn new(
        statement: u64,
        cancel: CancelToken,
        policy: Policy,
        running: Arc<Apart<AtomicUsize>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            statement,
            cancel,
            running,
            policy: Mutex::new(policy),
            pipelines: AtomicU32::new(0),
            finished: AtomicU32::new(0),
        })
    }

    /// The control of work that nobody else watches.
    pub fn alone(statement: u64, cancel: CancelToken) -> Arc<Self> {
        Self::new(statement, cancel, Policy::default(), Arc::new(Apart(AtomicUsize::new(1))))
    }

    /// How its jobs are run now.
    pub fn policy(&self) -> Policy {
        self.policy.lock().clone()
    }

    /// Changes how its jobs are run: those under way and those to come.
    pub fn change_policy(&self, scheduler: &Scheduler, change: impl FnOnce(&mut Policy)) {
        let mut policy = self.policy.lock();
        change(&mut policy);
        scheduler.set_policy(self.statement, &policy);
    }

    /// Pipelines that have ended, of how many; no pipelines before the plan is known.
    pub fn pipelines(&self) -> (u32, u32) {
        (self.finished.load(Ordering::Relaxed), self.pipelines.load(Ordering::Relaxed))
    }

    pub(crate) fn begin(&self, pipelines: usize) {
        self.pipelines.store(pipelines as u32, Ordering::Relaxed);
        self.finished.store(0, Ordering::Relaxed);
    }

    pub(crate) fn finished(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }
}

/// Fails when the statement of a token has been ended, and ends it when memory runs short.
#[inline]
pub fn check(cancel: &CancelToken) -> SqlResult<()> {
    if is_ended(cancel) { Err(cancelled(cancel)) } else { Ok(()) }
}

/// Fails when a statement holds more memory than it may.
#[inline]
pub fn check_memory(account: &Account) -> SqlResult<()> {
    if account.is_exceeded() { Err(exceeded(account)) } else { Ok(()) }
}

#[cold]
fn exceeded(account: &Account) -> SqlError {
    let held = account.held();
    let (message, hint) = match account.limit().filter(|it| held > *it) {
        Some(limit) => (
            format!("the statement holds {held}, and memory_limit allows {limit}"),
            "SET memory_limit to more, or to DEFAULT",
        ),
        None => (
            format!("out of memory: the statement holds {held}, more than its share"),
            "run it alone, drop tables, or run with more memory",
        ),
    };
    SqlError::new(SqlState::OUT_OF_MEMORY, message).with_hint(hint)
}

/// What [`check`] fails by.
#[inline]
pub fn is_ended(cancel: &CancelToken) -> bool {
    if stdx::memory::is_short() {
        cancel.cancel_because(CancelReason::Memory);
    }
    cancel.is_cancelled()
}

/// The error of a statement whose mark is set.
pub fn cancelled(cancel: &CancelToken) -> SqlError {
    let error = |message: &str| SqlError::new(SqlState::QUERY_CANCELED, message);
    match cancel.reason() {
        Some(CancelReason::Timeout) => error("the statement ran for longer than statement_timeout")
            .with_hint("SET statement_timeout = 0 lets statements run for any time"),
        Some(CancelReason::Killed) => error("the statement was ended by KILL"),
        Some(CancelReason::Memory) => {
            let message = "the statement was ended because memory ran out";
            SqlError::new(SqlState::OUT_OF_MEMORY, message)
                .with_hint("run it alone, drop tables, or run with more memory")
        }
        Some(CancelReason::Client) | None => error("the query was cancelled"),
    }
}
