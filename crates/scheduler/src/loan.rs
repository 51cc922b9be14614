//! Who waits works: a session that waits for the jobs of its statement takes the steps of a worker that rests
//! (docs/design/03-scheduling.md, "who waits works").
//!
//! The worker then serves that statement alone. When in the order of service it is the turn of another one, it declines, and is
//! given back to its own thread, which goes on with that: so a session is never kept by work that is not its own, and nobody
//! waits longer than when it had only waited.

use crate::shared::Shared;

/// A worker whose steps the calling thread takes. Dropping it gives the worker back.
pub struct Loan<'a> {
    shared: &'a Shared,
    worker: usize,
}

impl<'a> Loan<'a> {
    /// Borrows a worker that does nothing for a statement, if there is one to borrow.
    pub(crate) fn take(shared: &'a Shared, statement: u64) -> Option<Self> {
        let worker = shared.signal.team()?.borrow(shared.workers())?;
        shared.counters[worker].serves.only(statement);
        Some(Self { shared, worker })
    }

    /// Works until `done` holds, which it then says, or until the worker had better be given back.
    pub(crate) fn work_until(&self, done: &dyn Fn() -> bool) -> bool {
        let Some(team) = self.shared.signal.team() else { return false };
        let serves = &self.shared.counters[self.worker].serves;
        let ends = || done() || serves.has_declined();
        team.work_until(self.worker, &ends) && done()
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let counters = &self.shared.counters[self.worker];
        counters.serves.all();
        let Some(team) = self.shared.signal.team() else { return };
        team.give_back(self.worker, &|| {
            counters.state.rests() && !self.shared.has_work_for(self.worker)
        });
    }
}
