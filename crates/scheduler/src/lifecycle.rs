//! A job from submission to its end: who takes part, what ends it early, when it is over.
//!
//! ```text
//! submitted -> queued -> (workers join, cut, leave) -> closed by the last one out -> finished
//! ```
//!
//! A worker joins before it cuts its first morsel and leaves after its last. The job is over when nobody takes part and
//! nothing is left to cut (or cutting was halted); whoever sees that first closes it, and closing happens once.

use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex};

use crate::affinity::Priority;
use crate::cancel::CancelToken;
use crate::job::{JobId, JobOutcome, JobReport, WorkerShare};
use crate::morsel::{Cursors, Morsel, MorselBody};

/// The workers on a job, and whether it is closed to them.
pub(crate) struct Participants(AtomicUsize);

const CLOSED: usize = 1 << (usize::BITS - 1);

/// What came of an attempt to join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Join {
    Joined,
    /// As many as may take part already do.
    Full,
    /// Over.
    Closed,
}

impl Participants {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(crate) fn join(&self, max: usize) -> Join {
        let mut now = self.0.load(Ordering::Acquire);
        loop {
            if now & CLOSED != 0 {
                return Join::Closed;
            }
            if now >= max {
                return Join::Full;
            }
            match self.0.compare_exchange(now, now + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Join::Joined,
                Err(other) => now = other,
            }
        }
    }

    /// Leaves. True for the one who thereby closed the job: the last one out, when `over` holds.
    pub(crate) fn leave(&self, over: impl FnOnce() -> bool) -> bool {
        let before = self.0.fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before & CLOSED == 0 && before > 0, "left without having joined");
        before == 1 && over() && self.close()
    }

    /// Closes a job that is over and that nobody works on. True for the one who closed it.
    pub(crate) fn close_if_idle(&self) -> bool {
        // A write even when it changes nothing: who leaves after it must see what made the caller think it over,
        // and then closes the job itself.
        self.0.fetch_add(0, Ordering::AcqRel) == 0 && self.close()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed) & !CLOSED
    }

    fn close(&self) -> bool {
        self.0.compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

const RUNNING: u8 = 0;
const STOPPED: u8 = 1;
const CANCELLED: u8 = 2;
const PANICKED: u8 = 3;

/// A submitted job.
pub(crate) struct JobState {
    pub(crate) id: JobId,
    pub(crate) priority: Priority,
    pub(crate) hard: bool,
    pub(crate) max_workers: usize,
    pub(crate) cursors: Cursors,
    pub(crate) participants: Participants,
    /// The groups in whose queues it stands.
    pub(crate) groups: Vec<usize>,
    cancel: CancelToken,
    /// Why cutting was halted; the first reason stays.
    ending: AtomicU8,
    finished: AtomicBool,
    /// Gone when the job is finished, so that the client is again its only owner.
    body: Mutex<Option<Arc<dyn MorselBody>>>,
    tally: Mutex<Tally>,
}

struct Tally {
    shares: Vec<WorkerShare>,
    panic: String,
    submitted: Nanos,
    finished: Nanos,
    /// Fixed by the one who closed the job: a mark set later changes no report.
    outcome: JobOutcome,
}

/// What a job's state is made from.
pub(crate) struct JobParts {
    pub(crate) id: JobId,
    pub(crate) priority: Priority,
    pub(crate) hard: bool,
    pub(crate) max_workers: usize,
    pub(crate) cursors: Cursors,
    pub(crate) groups: Vec<usize>,
    pub(crate) cancel: CancelToken,
    pub(crate) body: Arc<dyn MorselBody>,
    pub(crate) submitted: Nanos,
}

impl JobState {
    pub(crate) fn new(parts: JobParts) -> Self {
        let submitted = parts.submitted;
        let tally = Tally {
            shares: Vec::new(),
            panic: String::new(),
            submitted,
            finished: submitted,
            outcome: JobOutcome::Completed,
        };
        Self {
            id: parts.id,
            priority: parts.priority,
            hard: parts.hard,
            max_workers: parts.max_workers,
            cursors: parts.cursors,
            participants: Participants::new(),
            groups: parts.groups,
            cancel: parts.cancel,
            ending: AtomicU8::new(RUNNING),
            finished: AtomicBool::new(false),
            body: Mutex::new(Some(parts.body)),
            tally: Mutex::new(tally),
        }
    }

    /// Whether no more morsels may be cut. Once true it stays so.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        if self.cancel.is_cancelled() {
            self.end_early(CANCELLED);
        }
        self.ending.load(Ordering::Acquire) != RUNNING
    }

    /// The next morsel, unless the job is halted.
    #[inline]
    pub(crate) fn cut(&self, cursor: usize) -> Option<Morsel> {
        if self.is_halted() { None } else { self.cursors.cut(cursor) }
    }

    /// Whether nothing will be cut any more.
    pub(crate) fn is_over(&self) -> bool {
        self.cursors.all_dry() || self.is_halted()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self) {
        self.end_early(STOPPED);
    }

    /// Nobody will run the rest: the scheduler ends.
    pub(crate) fn abandon(&self) {
        self.end_early(CANCELLED);
    }

    pub(crate) fn panicked(&self, message: String) {
        // The message first: whoever sees the reason may read it.
        let mut tally = self.tally.lock();
        if self.end_early(PANICKED) {
            tally.panic = message;
        }
    }

    fn end_early(&self, why: u8) -> bool {
        let order = Ordering::AcqRel;
        self.ending.compare_exchange(RUNNING, why, order, Ordering::Acquire).is_ok()
    }

    /// The body; only for one who takes part.
    pub(crate) fn body(&self) -> Arc<dyn MorselBody> {
        let body = self.body.lock();
        Arc::clone(body.as_ref().expect("invariant: a job with participants has its body"))
    }

    /// Adds what a worker did; before it leaves.
    pub(crate) fn account(&self, share: &WorkerShare) {
        let mut tally = self.tally.lock();
        match tally.shares.iter_mut().find(|it| it.worker == share.worker) {
            Some(known) => known.add(share),
            None => tally.shares.push(*share),
        }
    }

    /// Lets go of the body and settles the outcome; by the one who closed the job.
    pub(crate) fn release(&self, now: Nanos) {
        let body = self.body.lock().take();
        drop(body);
        let mut tally = self.tally.lock();
        tally.finished = now;
        tally.outcome = match self.ending.load(Ordering::Acquire) {
            STOPPED => JobOutcome::Stopped,
            PANICKED => JobOutcome::Panicked(std::mem::take(&mut tally.panic)),
            // What was cut has run: with nothing left, the mark came too late to matter.
            CANCELLED if !self.cursors.all_dry() => JobOutcome::Cancelled,
            _ => JobOutcome::Completed,
        };
    }

    /// Waiters may go on.
    pub(crate) fn set_finished(&self) {
        self.finished.store(true, Ordering::Release);
    }

    /// Only of a finished job.
    pub(crate) fn report(&self) -> JobReport {
        let tally = self.tally.lock();
        let elapsed = tally.finished - tally.submitted;
        JobReport::new(self.id, tally.outcome.clone(), tally.shares.clone(), elapsed)
    }
}
