//! A thread group (P-HANA 5.1): workers of one node that share a last-level cache, with their queues, and the rules by
//! which they work or rest.
//!
//! A worker is *working* while it takes part in a job, *inactive* while it sleeps in the kernel in the middle of a morsel,
//! *free* when it finds nothing to do, *parked* when there are as many free ones as hardware threads already. Of those
//! that work and are not inactive there shall be as many as hardware threads: one too many rests at its next morsel
//! boundary, and for one too few the watchdog wakes or starts another. One that was started works in the place of an inactive one
//! only: it shares a hardware thread with another worker, so that two of them would take turns there while another thread
//! idles. The paper's free threads wake by a timer to look
//! for tasks; ours need none, because no wake-up is lost and the watchdog looks.

use hardware::{CpuId, LlcId};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::lifecycle::JobState;
use crate::queue::JobQueues;

/// An entry of a queue: a job and the cursor that is at home here.
pub(crate) struct Ticket {
    pub(crate) job: Arc<JobState>,
    pub(crate) cursor: usize,
}

/// Workers that share a cache, and the jobs that are at home with them.
pub(crate) struct ThreadGroup {
    /// The index of its place.
    pub(crate) place: usize,
    pub(crate) llc: LlcId,
    /// The workers it was started with.
    pub(crate) workers: Vec<usize>,
    /// Their hardware threads, each once.
    pub(crate) cpus: Vec<CpuId>,
    pub(crate) queues: JobQueues<Ticket>,
    pub(crate) seats: Seats,
}

/// Who of a group does what.
pub(crate) struct Seats {
    /// How many may run at a time: the group's hardware threads, or more when more workers were asked for.
    pub(crate) contexts: usize,
    /// Workers that take part in a job, inactive ones too.
    working: AtomicUsize,
    inactive: AtomicUsize,
    free: AtomicUsize,
}

/// What a worker is doing (P-HANA 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerState {
    /// Taking part in a job.
    Working,
    /// Asleep in the kernel in the middle of a morsel.
    Inactive,
    /// Looking for a job, or waiting to be woken for one.
    Free,
    /// Waiting while there are enough free ones.
    Parked,
    /// Done for good.
    Stopped,
}

/// The state of one worker, written by the worker; only the watchdog also writes, from working to inactive.
pub(crate) struct StateCell(AtomicU8);

const FREE: u8 = 0;
const PARKED: u8 = 1;
const WORKING: u8 = 2;
const INACTIVE: u8 = 3;
const STOPPED: u8 = 4;

impl StateCell {
    pub(crate) fn free() -> Self {
        Self(AtomicU8::new(FREE))
    }

    /// The state of a worker that does not exist yet.
    pub(crate) fn stopped() -> Self {
        Self(AtomicU8::new(STOPPED))
    }

    pub(crate) fn get(&self) -> WorkerState {
        match self.0.load(Ordering::Acquire) {
            FREE => WorkerState::Free,
            PARKED => WorkerState::Parked,
            WORKING => WorkerState::Working,
            INACTIVE => WorkerState::Inactive,
            _ => WorkerState::Stopped,
        }
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the worker has nothing to do.
    pub(crate) fn rests(&self) -> bool {
        matches!(self.0.load(Ordering::Acquire), FREE | PARKED)
    }

    fn works(&self) -> bool {
        matches!(self.0.load(Ordering::Acquire), WORKING | INACTIVE)
    }
}

impl Seats {
    /// Seats for a group whose workers are all free.
    pub(crate) fn new(contexts: usize) -> Self {
        let zero = || AtomicUsize::new(0);
        Self { contexts, working: zero(), inactive: zero(), free: AtomicUsize::new(contexts) }
    }

    /// Workers that run now: in the kernel's eyes, too.
    pub(crate) fn running(&self) -> usize {
        let inactive = self.inactive.load(Ordering::Acquire);
        self.working.load(Ordering::Acquire).saturating_sub(inactive)
    }

    /// Whether one more would be one too many.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.running() >= self.contexts
    }

    /// Whether one is one too many.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.running() > self.contexts
    }

    /// Whether all that work are awake, as far as the watchdog has seen.
    #[inline]
    pub(crate) fn all_awake(&self) -> bool {
        self.inactive.load(Ordering::Acquire) == 0
    }

    pub(crate) fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    /// The worker takes part in a job from now on; nothing changes when it did before.
    pub(crate) fn begin(&self, cell: &StateCell) {
        if cell.works() {
            return;
        }
        self.working.fetch_add(1, Ordering::AcqRel);
        if cell.0.swap(WORKING, Ordering::AcqRel) == FREE {
            self.free.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The worker rests from now on; nothing changes when it did before.
    pub(crate) fn end(&self, cell: &StateCell) {
        if !cell.works() {
            return;
        }
        self.wake(cell);
        let free = self.free.fetch_add(1, Ordering::AcqRel) < self.contexts;
        if !free {
            self.free.fetch_sub(1, Ordering::AcqRel);
        }
        let before = cell.0.swap(if free { FREE } else { PARKED }, Ordering::AcqRel);
        if before == INACTIVE {
            // Marked since we looked.
            self.inactive.fetch_sub(1, Ordering::AcqRel);
        }
        self.working.fetch_sub(1, Ordering::AcqRel);
    }

    /// A worker that sits down for the first time is parked: it is there for when others sleep.
    pub(crate) fn sit_down(&self, cell: &StateCell) {
        cell.change(STOPPED, PARKED);
    }

    /// The worker stops for good.
    pub(crate) fn stop(&self, cell: &StateCell) {
        self.end(cell);
        if cell.0.swap(STOPPED, Ordering::AcqRel) == FREE {
            self.free.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The watchdog saw the worker sleep in a morsel. False when the worker is not in one any more.
    pub(crate) fn sleeps(&self, cell: &StateCell) -> bool {
        // Counted first: the worker may wake at once and count itself out again.
        self.inactive.fetch_add(1, Ordering::AcqRel);
        let marked = cell.change(WORKING, INACTIVE);
        if !marked {
            self.inactive.fetch_sub(1, Ordering::AcqRel);
        }
        marked
    }

    /// The worker is at a morsel boundary, so if it slept it does no longer.
    #[inline]
    pub(crate) fn wake(&self, cell: &StateCell) {
        if cell.0.load(Ordering::Relaxed) == INACTIVE && cell.change(INACTIVE, WORKING) {
            self.inactive.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn workers_run_up_to_the_contexts_and_rest_as_free_or_parked() {
        let seats = Seats::new(2);
        let cells: Vec<StateCell> =
            vec![StateCell::free(), StateCell::free(), StateCell::stopped()];
        seats.sit_down(&cells[2]);
        let states = || cells.iter().map(StateCell::get).collect::<Vec<_>>();
        use WorkerState::{Free, Inactive, Parked, Stopped, Working};
        assert_eq!(states(), [Free, Free, Parked]);
        seats.begin(&cells[0]);
        seats.begin(&cells[0]);
        seats.begin(&cells[1]);
        assert!(seats.is_full() && !seats.is_crowded());
        assert!(seats.all_awake());
        assert!(seats.sleeps(&cells[0]) && !seats.sleeps(&cells[0]) && !seats.sleeps(&cells[2]));
        assert!(!seats.all_awake());
        assert!(!seats.is_full(), "one sleeps, so there is room for another");
        seats.begin(&cells[2]);
        assert_eq!(states(), [Inactive, Working, Working]);
        seats.wake(&cells[0]);
        assert!(seats.is_crowded(), "it is back, and one has to rest");
        seats.end(&cells[2]);
        seats.end(&cells[2]);
        assert_eq!((states()[2], seats.free(), seats.running()), (Free, 1, 2));
        seats.end(&cells[1]);
        assert!(seats.sleeps(&cells[0]));
        seats.end(&cells[0]);
        assert_eq!(states(), [Parked, Free, Free], "no more free ones than contexts");
        assert_eq!((seats.running(), seats.free()), (0, 2));
        cells.iter().for_each(|it| seats.stop(it));
        assert_eq!((states(), seats.free()), (vec![Stopped; 3], 0));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use stdx::sync::thread;

    #[test]
    fn loom_counts_are_right_whenever_the_watchdog_looks() {
        crate::loom_tests::check(|| {
            let shared = Arc::new((Seats::new(1), StateCell::free()));
            let other = Arc::clone(&shared);
            let watchdog = thread::spawn(move || {
                other.0.sleeps(&other.1);
                other.0.sleeps(&other.1);
            });
            let (seats, cell) = &*shared;
            seats.begin(cell);
            seats.wake(cell);
            seats.end(cell);
            seats.begin(cell);
            seats.wake(cell);
            watchdog.join().unwrap();
            seats.end(cell);
            assert_eq!(seats.inactive.load(Ordering::Acquire), 0);
            assert_eq!(seats.working.load(Ordering::Acquire), 0);
            assert_eq!(seats.free(), 1);
            assert_eq!(cell.get(), WorkerState::Free);
        });
    }
}
