//! What a session was given of sequences.

use std::collections::HashMap;

use stdx::sync::Mutex;
use stdx::sync::atomic::AtomicU64;

/// What a session was given.
#[derive(Debug, Default)]
pub(crate) struct GivenNumbers {
    pub(crate) given: Mutex<Given>,
    /// The last record that covers any of it.
    pub(crate) record: AtomicU64,
}

/// By sequence.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// By the id of the sequence.
    pub(crate) last: HashMap<u64, i64>,
    /// The sequence that was asked last.
    pub(crate) newest: Option<u64>,
}
