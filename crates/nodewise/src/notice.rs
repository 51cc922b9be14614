//! What a statement says beside its answer.

use types::SqlState;

/// What a statement says beside its answer: nothing failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `WARNING`, `NOTICE` or `INFO`.
    pub severity: &'static str,
    /// Its class, for programs.
    pub state: SqlState,
    /// A sentence for people, without a final stop.
    pub message: String,
    /// More of it, in lines.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Notice {
    pub(crate) fn warning(state: &'static str, message: impl Into<String>) -> Self {
        Self::of("WARNING", SqlState(state), message)
    }

    pub(crate) fn told(state: &'static str, message: impl Into<String>) -> Self {
        Self::of("NOTICE", SqlState(state), message)
    }

    pub(crate) fn of(severity: &'static str, state: SqlState, message: impl Into<String>) -> Self {
        Self { severity, state, message: message.into(), detail: None, hint: None }
    }
}
