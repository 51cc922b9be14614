//! What functions do to the session of their statement, or to others.

use std::fmt;

use types::SqlResult;

/// What is locked: one number or two, which never mean the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdvisoryKey {
    /// A BIGINT.
    One(i64),
    /// Two INTEGERs.
    Pair(i32, i32),
}

/// How it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdvisoryLock {
    /// Whether others may share it.
    pub shared: bool,
    /// Whether it goes with the transaction, not with the session.
    pub of_transaction: bool,
    /// Whether to wait for it.
    pub wait: bool,
}

/// The session of a statement, and others.
pub trait SessionCalls: Send + Sync + fmt::Debug {
    /// What clocks show right now: microseconds from 1970-01-01, UTC.
    fn clock(&self) -> i64;
    /// The statement waits for so many seconds before it gives what it has made.
    fn sleep(&self, seconds: f64) -> SqlResult<()>;
    /// Sets a setting when the statement has ended well; `None` gives it back its default. Its value.
    fn set(&self, name: &str, value: Option<&str>, local: bool) -> SqlResult<String>;
    /// Says a text to a channel when the transaction commits. Errors: 22023.
    fn notify(&self, channel: &str, payload: &str) -> SqlResult<()>;
    /// Ends what a session runs, or all of the session; whether there is one. Errors: 42501.
    fn end(&self, session: i64, whole: bool) -> SqlResult<bool>;
    /// Takes an advisory lock if nobody is in the way; whether it has it. One that is to be waited for it has before the
    /// statement goes on with what the calls gave.
    fn lock(&self, key: AdvisoryKey, asked: AdvisoryLock) -> bool;
    /// Lets go of an advisory lock of the session, once; whether it had it.
    fn unlock(&self, key: AdvisoryKey, shared: bool) -> bool;
    /// Lets go of all advisory locks of the session.
    fn unlock_all(&self);
}
