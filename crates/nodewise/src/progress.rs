//! How long work tells how far it is.

/// Told how far long work is. Called from several threads.
pub trait Progress: Send + Sync {
    /// A new phase of `total` units begins, with a name for people.
    fn begin(&self, phase: &str, total: u64);
    /// `units` more are done.
    fn advance(&self, units: u64);
    /// The phase is over.
    fn end(&self);
}

/// Nobody wants to know.
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
