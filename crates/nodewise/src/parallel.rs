//! The scheduler's workers, and the ear for progress, as loading sees them.

use std::ops::Deref;

use execution::{QueryTeam, Team};
use stdx::sync::atomic::{AtomicU64, Ordering};
use types::SqlResult;

use crate::Progress;

/// Runs the tasks of a load on the one pool of workers.
pub struct LoadTeam(pub QueryTeam);

impl storage::Parallel for LoadTeam {
    fn run(&self, tasks: usize, body: &(dyn Fn(usize) -> SqlResult<()> + Sync)) -> SqlResult<()> {
        self.0.run(tasks, &|task, _| body(task))
    }

    fn width(&self) -> usize {
        self.0.scheduler.workers()
    }
}

/// Turns totals into steps, and begins the phase when the first is heard.
pub struct LoadProgress<L>
where
    L: Deref<Target = dyn Progress>,
{
    listener: L,
    name: String,
    done: AtomicU64,
}

impl<L: Deref<Target = dyn Progress>> LoadProgress<L> {
    /// Tells `listener` how far the load of `name` is.
    pub fn new(listener: L, name: &str) -> Self {
        Self { listener, name: name.to_owned(), done: AtomicU64::new(0) }
    }
}

impl<L: Deref<Target = dyn Progress> + Sync> storage::Progress for LoadProgress<L> {
    fn advance(&self, done: u64, total: u64) {
        let before = self.done.fetch_max(done, Ordering::Relaxed);
        if before == 0 && done > 0 {
            self.listener.begin(&self.name, total);
        }
        self.listener.advance(done.saturating_sub(before));
    }
}

impl<L: Deref<Target = dyn Progress>> Drop for LoadProgress<L> {
    fn drop(&mut self) {
        if self.done.load(Ordering::Relaxed) > 0 {
            self.listener.end();
        }
    }
}
