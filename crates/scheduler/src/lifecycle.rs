//! A job from submission to its end: who takes part, what ends it early, when it is over.
//!
//! ```text
//! submitted -> (others end) -> queued -> (workers join, cut, leave) -> closed by the last one out -> finished
//! ```
//!
//! A worker joins before it cuts its first morsel and leaves after its last. The job is over when nobody takes part and
//! nothing is left to cut (or cutting was halted); whoever sees that first closes it, and closing happens once.

use std::ops::Range;

use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex};

use crate::affinity::{Affinity, Priority};
use crate::cancel::CancelToken;
use crate::job_times::JobTimes;
use crate::learn::{Lesson, Verdict};
use crate::morsel::{Cursors, MorselBody};
use crate::report::{JobId, JobOutcome, JobReport, Label, WorkerShare};
use crate::scan_group::ScanGroup;
use crate::terms::Terms;

/// The workers on a job, and whether it is closed to them. Guests come for one morsel each and take nobody's chair.
pub(crate) struct Participants(AtomicUsize);

const CLOSED: usize = 1 << (usize::BITS - 1);
const GUEST: usize = 1 << (usize::BITS / 2);
const REGULARS: usize = GUEST - 1;

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
            if now & REGULARS >= max {
                return Join::Full;
            }
            match self.0.compare_exchange(now, now + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Join::Joined,
                Err(other) => now = other,
            }
        }
    }

    /// Joins beside those who have a chair; false when the job is closed.
    pub(crate) fn join_as_guest(&self) -> bool {
        let mut now = self.0.load(Ordering::Acquire);
        while now & CLOSED == 0 {
            match self.0.compare_exchange(now, now + GUEST, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        false
    }

    /// As [`Participants::leave`], for a guest.
    pub(crate) fn leave_as_guest(&self, over: impl FnOnce() -> bool) -> bool {
        let before = self.0.fetch_sub(GUEST, Ordering::AcqRel);
        debug_assert!(before & CLOSED == 0 && before >= GUEST, "left without having joined");
        before == GUEST && over() && self.close()
    }

    /// Leaves. True for the one who thereby closed the job: the last one out, when `over` holds.
    pub(crate) fn leave(&self, over: impl FnOnce() -> bool) -> bool {
        let before = self.0.fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before & CLOSED == 0 && before & REGULARS > 0, "left without having joined");
        before == 1 && over() && self.close()
    }

    /// Closes a job that is over and that nobody works on. True for the one who closed it.
    pub(crate) fn close_if_idle(&self) -> bool {
        // A write even when it changes nothing: who leaves after it must see what made the caller think it over,
        // and then closes the job itself.
        self.0.fetch_add(0, Ordering::AcqRel) == 0 && self.close()
    }

    pub(crate) fn count(&self) -> usize {
        let now = self.0.load(Ordering::Relaxed) & !CLOSED;
        (now & REGULARS) + now / GUEST
    }

    /// Leaves if there are more than `max`; for a participant. True when it has left, and then it is not the last one.
    pub(crate) fn step_out(&self, max: usize) -> bool {
        let mut now = self.0.load(Ordering::Acquire);
        while now & REGULARS > max.max(1) {
            match self.0.compare_exchange(now, now - 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        false
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
    pub(crate) statement: u64,
    pub(crate) label: Label,
    pub(crate) traced: bool,
    times: Option<JobTimes>,
    pub(crate) terms: Terms,
    pub(crate) cursors: Cursors,
    pub(crate) participants: Participants,
    /// The queues it stands in once it may run, as (group, cursor).
    pub(crate) tickets: Vec<(usize, usize)>,
    /// The places whose workers may take part; `None` for all.
    pub(crate) places: Option<Vec<bool>>,
    pub(crate) cancel: CancelToken,
    /// Those that read the same.
    pub(crate) company: Option<Arc<ScanGroup<JobState>>>,
    /// Jobs that must end before it may run, and one for its submission.
    pub(crate) waits_for: AtomicUsize,
    /// Jobs that wait for it; `None` once it has ended.
    dependents: Mutex<Option<Vec<Arc<JobState>>>>,
    /// Why cutting was halted; the first reason stays.
    ending: AtomicU8,
    /// Whether morsels that were cut were given up.
    dropped: AtomicBool,
    finished: AtomicBool,
    /// Gone when the job is finished, so that the client is again its only owner.
    body: Mutex<Option<Arc<dyn MorselBody>>>,
    lesson: Mutex<Lesson>,
    tally: Mutex<Tally>,
}

struct Tally {
    shares: Vec<WorkerShare>,
    panic: String,
    submitted: Nanos,
    finished: Nanos,
    /// Fixed by the one who closed the job: a mark set later changes no report.
    outcome: JobOutcome,
    verdict: Option<Verdict>,
}

/// What a job's state is made from.
pub(crate) struct JobParts {
    pub(crate) id: JobId,
    pub(crate) statement: u64,
    pub(crate) label: Label,
    pub(crate) traced: bool,
    pub(crate) times: Option<JobTimes>,
    pub(crate) terms: Terms,
    pub(crate) cursors: Cursors,
    pub(crate) tickets: Vec<(usize, usize)>,
    pub(crate) places: Option<Vec<bool>>,
    pub(crate) cancel: CancelToken,
    pub(crate) company: Option<Arc<ScanGroup<JobState>>>,
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
            verdict: None,
        };
        Self {
            id: parts.id,
            statement: parts.statement,
            label: parts.label,
            traced: parts.traced,
            times: parts.times,
            terms: parts.terms,
            cursors: parts.cursors,
            participants: Participants::new(),
            tickets: parts.tickets,
            places: parts.places,
            cancel: parts.cancel,
            company: parts.company,
            waits_for: AtomicUsize::new(1),
            dependents: Mutex::new(Some(Vec::new())),
            ending: AtomicU8::new(RUNNING),
            dropped: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            body: Mutex::new(Some(parts.body)),
            lesson: Mutex::new(Lesson::default()),
            tally: Mutex::new(tally),
        }
    }

    /// Its place in the order of service.
    pub(crate) fn priority(&self) -> Priority {
        Priority { class: self.terms.class(), statement: self.statement, sequence: self.id.0 }
    }

    /// Whether it waits for no other job any more.
    pub(crate) fn is_ready(&self) -> bool {
        self.waits_for.load(Ordering::Acquire) == 0
    }

    /// Whether workers of a place may take part.
    pub(crate) fn allows(&self, place: usize) -> bool {
        self.places.as_ref().is_none_or(|it| it[place])
    }

    /// Makes a job wait for this one; false when this one has ended.
    pub(crate) fn add_dependent(&self, job: &Arc<JobState>) -> bool {
        let mut dependents = self.dependents.lock();
        let Some(dependents) = dependents.as_mut() else { return false };
        job.waits_for.fetch_add(1, Ordering::AcqRel);
        dependents.push(Arc::clone(job));
        true
    }

    /// The jobs that waited for this one; by the one who closed it.
    pub(crate) fn take_dependents(&self) -> Vec<Arc<JobState>> {
        self.dependents.lock().take().unwrap_or_default()
    }

    /// One of the things it waits for has happened; true when that was the last.
    pub(crate) fn one_less(&self) -> bool {
        self.waits_for.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Adds a morsel to what is known of the job; true when that makes it a soft one.
    pub(crate) fn learn(&self, bytes: u64, busy: Nanos, workers: usize, node_mb_s: u64) -> bool {
        let Some(verdict) = self.lesson.lock().add(bytes, busy, workers, node_mb_s) else {
            return false;
        };
        let affinity = if verdict.memory_bound { Affinity::Hard } else { Affinity::Soft };
        if self.terms.settle(affinity) {
            self.tally.lock().verdict = Some(verdict);
            return !verdict.memory_bound;
        }
        false
    }

    /// Whether no more morsels may be cut. Once true it stays so.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        if self.cancel.is_cancelled() {
            self.end_early(CANCELLED);
        }
        self.ending.load(Ordering::Acquire) != RUNNING
    }

    /// The numbers of the next morsels, up to `count`, unless the job is halted.
    #[inline]
    pub(crate) fn cut(&self, cursor: usize, count: u64) -> Option<Range<u64>> {
        if self.is_halted() { None } else { self.cursors.cut(cursor, count) }
    }

    /// Notes that somebody gave up morsels that were cut, because the job was halted.
    pub(crate) fn drop_morsels(&self) {
        self.dropped.store(true, Ordering::Release);
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
        if let Some(times) = &self.times {
            times.note(self.label, tally.submitted, now);
        }
        tally.outcome = match self.ending.load(Ordering::Acquire) {
            STOPPED => JobOutcome::Stopped,
            PANICKED => JobOutcome::Panicked(std::mem::take(&mut tally.panic)),
            // What was cut has run: with nothing left, the mark came too late to matter.
            CANCELLED if !self.cursors.all_dry() || self.dropped.load(Ordering::Acquire) => {
                JobOutcome::Cancelled
            }
            _ => JobOutcome::Completed,
        };
    }

    /// Waiters may go on.
    pub(crate) fn set_finished(&self) {
        self.finished.store(true, Ordering::Release);
    }

    /// Whether it was cancelled or panicked; once it is released.
    pub(crate) fn has_failed(&self) -> bool {
        let outcome = &self.tally.lock().outcome;
        matches!(outcome, JobOutcome::Cancelled | JobOutcome::Panicked(_))
    }

    /// Only of a finished job.
    pub(crate) fn report(&self) -> JobReport {
        let tally = self.tally.lock();
        let elapsed = tally.finished - tally.submitted;
        let rate = tally.verdict.map(|it| it.bytes_per_second);
        let shares = tally.shares.clone();
        let affinity = self.terms.affinity();
        JobReport::new(self.id, tally.outcome.clone(), shares, elapsed, (affinity, rate))
    }
}
