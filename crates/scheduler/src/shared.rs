//! What workers and clients of a scheduler share.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hardware::Machine;
use stdx::sync::atomic::{AtomicBool, AtomicU64};
use stdx::sync::{Arc, Mutex};

use crate::cancel::Signal;
use crate::layout::Layout;
use crate::lifecycle::JobState;
use crate::morsel::{Morsel, MorselBody, MorselContext};
use crate::stats::Counters;
use crate::thread_group::ThreadGroup;

/// The common state.
pub(crate) struct Shared {
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) layout: Layout,
    pub(crate) groups: Vec<ThreadGroup>,
    pub(crate) signal: Arc<Signal>,
    pub(crate) counters: Vec<Counters>,
    /// Jobs under way, for the views.
    pub(crate) running: Mutex<Vec<Arc<JobState>>>,
    pub(crate) submitted: AtomicU64,
    pub(crate) shutdown: AtomicBool,
}

impl Shared {
    /// The cursor of ranges that are at home everywhere.
    pub(crate) fn anywhere(&self) -> usize {
        self.layout.places.len()
    }

    /// Ends a job; by the one who closed it.
    pub(crate) fn finish(&self, job: &Arc<JobState>) {
        job.release(self.machine.now());
        for &group in &job.groups {
            self.groups[group].queues.remove(|it| Arc::ptr_eq(&it.job, job));
        }
        self.running.lock().retain(|it| !Arc::ptr_eq(it, job));
        job.set_finished();
        self.signal.notify();
    }

    /// Ends a job that was cancelled before anybody took part. Says whether the job is finished.
    pub(crate) fn reap(&self, job: &Arc<JobState>) -> bool {
        if job.is_finished() {
            return true;
        }
        if job.is_halted() && job.participants.close_if_idle() {
            self.finish(job);
            return true;
        }
        false
    }

    /// Wakes as many workers as a job has morsels left, those of its homes first.
    pub(crate) fn wake_for(&self, job: &JobState) {
        let Some(team) = self.signal.team() else { return };
        let workers = self.layout.seats.len();
        // A hard job needs a worker of each home awake even when they will have to take turns.
        let mut budget = if job.hard { workers } else { job.max_workers.min(workers) };
        let mut total = 0_u64;
        for (place, home) in self.layout.places.iter().enumerate() {
            let left = job.cursors.left(place);
            let count = budget.min(home.workers.len()).min(small(left));
            if count > 0 {
                team.wake(&home.workers, count);
                budget -= count;
                total += left - count as u64;
            }
        }
        total += job.cursors.left(self.anywhere());
        let rest = if job.hard { job.cursors.left(self.anywhere()) } else { total };
        let count = budget.min(small(rest));
        if count > 0 {
            team.wake(&[], count);
        }
    }
}

/// A count of morsels as a count of workers.
fn small(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Runs a body on one morsel; a panic or a `Break` ends the job.
pub(crate) fn run_morsel(
    job: &JobState,
    body: &dyn MorselBody,
    context: &MorselContext,
    morsel: Morsel,
) {
    match catch_unwind(AssertUnwindSafe(|| body.run(context, morsel))) {
        Ok(ControlFlow::Continue(())) => {}
        Ok(ControlFlow::Break(())) => job.stop(),
        Err(payload) => job.panicked(message_of(payload.as_ref())),
    }
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}
