//! What functions have asked of the session of their statement.

use stdx::Nanos;
use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicBool, Ordering};

/// What calls have asked of a session, and it has not done.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Whether there is anything.
    pub(crate) any: AtomicBool,
    pub(crate) inside: Mutex<Inside>,
}

/// What is asked.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) sleep: Nanos,
    pub(crate) settings: Vec<(String, Option<String>, bool)>,
    pub(crate) warnings: Vec<String>,
}

impl Asked {
    pub(crate) fn note(&self, note: impl FnOnce(&mut Inside)) {
        note(&mut self.inside.lock());
        self.any.store(true, Ordering::Release);
    }
}
