//! What a statement says beside its answer.

use types::SqlState;

/// What a statement says beside its answer: nothing failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `WARNING` or `NOTICE`.
    pub severity: &'static str,
    /// Its class, for programs.
    pub state: SqlState,
    /// A sentence for people, without a final stop.
    pub message: String,
}

impl Notice {
    pub(crate) fn warning(state: &'static str, message: impl Into<String>) -> Self {
        Self { severity: "WARNING", state: SqlState(state), message: message.into() }
    }

    pub(crate) fn told(state: &'static str, message: impl Into<String>) -> Self {
        Self { severity: "NOTICE", state: SqlState(state), message: message.into() }
    }
}
