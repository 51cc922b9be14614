//! What others may see of a session's transaction, and end when its time is up.
//!
//! Key decision: what a transaction holds that others wait for, or that keeps old tables in memory, lies here and not in
//! its session, so that the watchdog can take it away while the session does nothing. The session hears of it with its
//! next statement.
//!
//! - Invariant: nothing is taken away while a statement of the session runs.

use std::collections::BTreeMap;
use std::ops::Deref;

use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex, OnceLock};
use storage::CatalogSnapshot;
use types::{RoleId, SqlError, SqlState};

use crate::CancelToken;
use crate::session_locks::SessionLocks;
use crate::transaction_state::{Modes, Writing};

/// What a session is at.
pub(crate) struct Activity {
    pub(crate) session: u64,
    /// The number of the role that its client came in as.
    pub(crate) user: AtomicU32,
    /// What the transaction, or the statement outside of one, has changed.
    pub(crate) writing: Arc<Mutex<Option<Writing>>>,
    /// What the session and its transaction have locked that they do not write.
    pub(crate) session_locks: Arc<SessionLocks>,
    /// The tables as all statements of the transaction see them; `None` where each sees what was committed before it.
    pub(crate) picture: Mutex<Option<Arc<CatalogSnapshot>>>,
    /// The newest tables as the session saw them last, for its next look. Those that are not the newest any more are let go of when it does
    /// nothing.
    pub(crate) latest: Mutex<Arc<CatalogSnapshot>>,
    /// Whether it waits for another transaction.
    pub(crate) waits: AtomicBool,
    /// What its session is running.
    pub(crate) running: Arc<Mutex<CancelToken>>,
    /// Who serves the session, and can end it.
    pub(crate) end: OnceLock<Box<dyn Fn(bool) + Send + Sync>>,
    /// Rows that statements of the transaction have changed.
    pub(crate) rows: AtomicU64,
    state: Mutex<State>,
}

/// How long a transaction may hold what others need; zero for any time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    /// Between two statements.
    pub(crate) idle: Nanos,
    /// The age of its picture of the tables.
    pub(crate) picture: Nanos,
}

/// Why a transaction was rolled back that had not ended.
#[derive(Clone, Copy)]
pub(crate) enum Expired {
    /// Its session did nothing.
    Idle,
    /// Its picture of the tables is too old.
    Picture,
}

#[derive(Clone, Copy, Default)]
struct State {
    block: Option<SeenBlock>,
    /// Whether a statement runs.
    is_running: bool,
    /// When it began to run, or to do nothing.
    since: Nanos,
    limits: Limits,
    expired: Option<Expired>,
    /// Whether the session has heard of that.
    is_told: bool,
}

/// A transaction that BEGIN opened.
#[derive(Clone, Copy)]
struct SeenBlock {
    modes: Modes,
    began: Nanos,
    failed: bool,
    /// When its picture was taken.
    pictured: Option<Nanos>,
}

/// A row of `nodewise.transactions`.
pub(crate) struct Seen {
    pub(crate) state: &'static str,
    /// Of a block.
    pub(crate) modes: Option<Modes>,
    /// Since the block, or the statement outside of one, began.
    pub(crate) age: Nanos,
    /// Since a statement began, or ended.
    pub(crate) state_age: Nanos,
    pub(crate) picture_age: Option<Nanos>,
}

impl Expired {
    /// What the next statement of the transaction ends with.
    pub(crate) fn error(self) -> SqlError {
        let (state, message) = match self {
            Self::Idle => ("25P03", "terminating transaction due to idle-in-transaction timeout"),
            Self::Picture => ("72000", "snapshot too old"),
        };
        SqlError::new(SqlState(state), message)
            .with_hint("it was rolled back: ROLLBACK ends it, BEGIN opens another")
    }
}

impl Activity {
    /// A statement has changed so many rows.
    pub(crate) fn changed(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// BEGIN.
    pub(crate) fn open(&self, modes: Modes, now: Nanos, limits: Limits) {
        let block = SeenBlock { modes, began: now, failed: false, pictured: None };
        self.rows.store(0, Ordering::Relaxed);
        let state = State { block: Some(block), since: now, limits, ..State::default() };
        *self.state.lock() = state;
    }

    /// COMMIT or ROLLBACK begins: from now on nothing is taken away. Tells whether that was done before.
    pub(crate) fn close(&self, now: Nanos) -> Option<Expired> {
        let mut state = self.state.lock();
        state.expire(now, self);
        let expired = state.expired.filter(|_| !state.is_told);
        *state = State { since: now, ..State::default() };
        *self.picture.lock() = None;
        expired
    }

    /// A statement begins, unless its transaction was rolled back meanwhile, which is told once.
    pub(crate) fn enter(&self, now: Nanos) -> Result<(), Expired> {
        let mut state = self.state.lock();
        state.expire(now, self);
        if let Some(expired) = state.expired.filter(|_| !state.is_told) {
            state.is_told = true;
            return Err(expired);
        }
        if state.block.is_none() {
            self.rows.store(0, Ordering::Relaxed);
        }
        (state.is_running, state.since) = (true, now);
        Ok(())
    }

    /// A statement has ended.
    pub(crate) fn leave(&self, now: Nanos, modes: Option<(Modes, bool)>, limits: Limits) {
        let mut state = self.state.lock();
        let began = std::mem::replace(&mut state.since, now);
        (state.is_running, state.limits) = (false, limits);
        if let (Some(block), Some((modes, failed))) = (&mut state.block, modes) {
            (block.modes, block.failed) = (modes, failed);
            let holds = self.writing.lock().is_some() || self.picture.lock().is_some();
            block.pictured = block.pictured.or(holds.then_some(began)).filter(|_| holds);
        }
    }

    /// Rolls the transaction back if its time is up, and lets go of old tables.
    fn look(&self, now: Nanos, newest: u64) {
        let mut state = self.state.lock();
        state.expire(now, self);
        if !state.is_running {
            let mut latest = self.latest.lock();
            if latest.version() != newest {
                *latest = Arc::default();
            }
        }
    }

    /// What there is to see; nothing of a session that does nothing.
    pub(crate) fn seen(&self, now: Nanos) -> Option<Seen> {
        let state = *self.state.lock();
        let name = match (state.is_running, &state.block) {
            (true, _) if self.waits.load(Ordering::Relaxed) => "waiting",
            (true, _) => "active",
            (false, Some(_)) if state.expired.is_some() && !state.is_told => {
                "rolled back by a timeout"
            }
            (false, Some(block)) if block.failed || state.is_told => {
                "idle in transaction (aborted)"
            }
            (false, Some(_)) => "idle in transaction",
            (false, None) => return None,
        };
        let began = state.block.as_ref().map_or(state.since, |it| it.began);
        let pictured = state.block.as_ref().and_then(|it| it.pictured);
        Some(Seen {
            state: name,
            modes: state.block.map(|it| it.modes),
            age: now - began,
            state_age: now - state.since,
            picture_age: pictured.filter(|_| state.expired.is_none()).map(|it| now - it),
        })
    }
}

impl State {
    fn expire(&mut self, now: Nanos, activity: &Activity) {
        let Some(block) = &self.block else { return };
        if self.is_running || self.expired.is_some() {
            return;
        }
        let is_over = |since: Nanos, limit: Nanos| limit.0 > 0 && now - since >= limit;
        let is_old = block.pictured.is_some_and(|it| is_over(it, self.limits.picture));
        self.expired = match is_over(self.since, self.limits.idle) {
            true => Some(Expired::Idle),
            false if is_old => Some(Expired::Picture),
            false => return,
        };
        *activity.writing.lock() = None;
        activity.session_locks.end_transaction();
        *activity.picture.lock() = None;
    }
}

/// What all sessions are at.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<BTreeMap<u64, Arc<Activity>>>);

impl Sessions {
    /// In the order of their numbers.
    pub(crate) fn list(&self) -> Vec<Arc<Activity>> {
        self.0.lock().values().cloned().collect()
    }

    /// The role that the client of a session came in as.
    pub(crate) fn user_of(&self, session: u64) -> Option<RoleId> {
        self.0.lock().get(&session).map(|it| RoleId(it.user.load(Ordering::Relaxed)))
    }

    /// Ends what a session runs, or the session itself where that can be; whether there is such a session.
    pub(crate) fn end(&self, session: u64, whole: bool) -> bool {
        let found = self.0.lock().get(&session).cloned();
        if let Some(it) = &found {
            match it.end.get() {
                Some(end) => end(whole),
                None => it.running.lock().cancel(),
            }
        }
        found.is_some()
    }

    /// How many sessions are a role's.
    pub(crate) fn count_of(&self, role: RoleId) -> u64 {
        let all = self.0.lock();
        all.values().filter(|it| it.user.load(Ordering::Relaxed) == role.0).count() as u64
    }

    /// Rolls back transactions whose time is up, and lets go of tables that are not those of the newest version, where sessions do
    /// nothing.
    pub(crate) fn look(&self, now: Nanos, newest: u64) {
        self.list().iter().for_each(|it| it.look(now, newest));
    }
}

/// A session among all others, until it is dropped.
pub(crate) struct Registered {
    sessions: Arc<Sessions>,
    activity: Arc<Activity>,
}

impl Registered {
    pub(crate) fn new(
        sessions: &Arc<Sessions>,
        session: u64,
        writing: &Arc<Mutex<Option<Writing>>>,
        session_locks: &Arc<SessionLocks>,
        running: &Arc<Mutex<CancelToken>>,
    ) -> Self {
        let activity = Arc::new(Activity {
            session,
            user: AtomicU32::new(RoleId::BOOTSTRAP.0),
            writing: writing.clone(),
            session_locks: session_locks.clone(),
            running: running.clone(),
            end: OnceLock::new(),
            picture: Mutex::default(),
            latest: Mutex::default(),
            waits: AtomicBool::new(false),
            rows: AtomicU64::new(0),
            state: Mutex::default(),
        });
        sessions.0.lock().insert(session, activity.clone());
        Self { sessions: sessions.clone(), activity }
    }
}

impl Deref for Registered {
    type Target = Activity;

    fn deref(&self) -> &Activity {
        &self.activity
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.sessions.0.lock().remove(&self.activity.session);
        *self.writing.lock() = None;
        self.session_locks.end_transaction();
        self.session_locks.unlock_all();
    }
}
