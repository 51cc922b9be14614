//! Whom a worker serves: everybody, or the statement that has borrowed it ([`crate::loan`]).

use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whom a worker serves.
pub(crate) struct Serves {
    /// The statement that has borrowed it, or [`EVERYBODY`].
    statement: AtomicU64,
    /// Whether it was the turn of another one.
    declined: AtomicBool,
}

/// No statement has this number.
const EVERYBODY: u64 = u64::MAX;

impl Serves {
    pub(crate) fn everybody() -> Self {
        Self { statement: AtomicU64::new(EVERYBODY), declined: AtomicBool::new(false) }
    }

    /// Whether it serves the jobs of a statement.
    #[inline]
    pub(crate) fn includes(&self, statement: u64) -> bool {
        let only = self.statement.load(Ordering::Acquire);
        only == EVERYBODY || only == statement
    }

    /// Whether a statement has borrowed it.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        self.statement.load(Ordering::Acquire) != EVERYBODY
    }

    /// Whether this statement has borrowed it.
    pub(crate) fn is_lent_to(&self, statement: u64) -> bool {
        self.statement.load(Ordering::Acquire) == statement && statement != EVERYBODY
    }

    /// A statement has borrowed it.
    pub(crate) fn only(&self, statement: u64) {
        self.declined.store(false, Ordering::Release);
        self.statement.store(statement, Ordering::Release);
    }

    /// It is given back.
    pub(crate) fn all(&self) {
        self.statement.store(EVERYBODY, Ordering::Release);
    }

    pub(crate) fn decline(&self) {
        self.declined.store(true, Ordering::Release);
    }

    pub(crate) fn has_declined(&self) -> bool {
        self.declined.load(Ordering::Acquire)
    }
}
