//! Admission: how many statements run at a time, and who waits for a place (P-HANA 5.1: full load without
//! oversubscription).
//!
//! A statement that finds no place waits in a queue, by class and then by arrival. Nothing polls: who leaves hands the
//! place to the first in the queue. As long as there is no limit and nobody waits, who comes and who goes only count: no lock is
//! taken.
//!
//! A *brisk* gate is for places that are held for less time than a thread takes to wake up. Who leaves only wakes the first in
//! the queue, once until that has looked, and who comes by takes the place until then; after some have, it is handed on as
//! above, so that nobody waits for ever.

use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use stdx::sync::{Arc, Mutex, OnceLock};

use crate::cancel::CancelToken;
use crate::scheduler::Scheduler;

/// The gate through which statements go.
pub struct Admission(Arc<Gate>);

/// Who waits has said so before it looks whether there is room, and who leaves has made room before it looks whether somebody
/// waits, with a fence between on both sides: so one of the two sees the other.
struct Gate {
    inside: Mutex<Inside>,
    running: AtomicUsize,
    /// Whether there is no limit and nobody waits.
    is_open: AtomicBool,
    /// Whether somebody waits.
    has_queue: AtomicBool,
    /// Whether those who run leave enough of everything else for one more; asked while somebody runs.
    has_means: OnceLock<Means>,
    is_brisk: bool,
    /// Whether the first that waits in a brisk gate was woken and has not looked yet.
    is_woken: AtomicBool,
}

struct Inside {
    /// The most statements that may run; `None` for any number.
    limit: Option<usize>,
    arrivals: u64,
    /// In the order in which they get a place.
    queue: Vec<Arc<Waiting>>,
    /// How many have gone past who waits in a brisk gate.
    passed: u32,
}

/// How many may go past who waits in a brisk gate.
const PASSING_MAX: u32 = 50;

type Means = Box<dyn Fn() -> bool + Send + Sync>;

struct Waiting {
    class: u8,
    arrival: u64,
    token: CancelToken,
    admitted: AtomicBool,
}

/// A place among those that run; dropping it hands it on.
pub struct Admitted(Arc<Gate>);

/// Why a statement got no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Its token was marked while it waited.
    Cancelled,
    /// It waited for as long as it may; so many run, and so many wait.
    TimedOut {
        /// Statements that run.
        running: usize,
        /// Statements that wait.
        waiting: usize,
    },
}

impl Admission {
    /// A gate without a limit.
    pub fn new() -> Self {
        Self(Arc::new(Gate::new(None, false)))
    }

    /// A gate for one at a time who does not stay long.
    pub fn brisk() -> Self {
        Self(Arc::new(Gate::new(Some(1), true)))
    }

    /// Lets so many run at a time; any number if `None`. Those who run already stay.
    pub fn set_limit(&self, limit: Option<usize>) {
        let mut inside = self.0.inside.lock();
        inside.limit = limit.map(|it| it.max(1));
        self.0.tell(&inside);
        drop(inside);
        self.0.admit_more();
    }

    /// While statements run, lets another in only if this is true, as when there is memory for it. Whoever leaves has those
    /// who wait looked at again; it must neither wait nor enter. What is said first stays.
    pub fn set_means(&self, has_means: impl Fn() -> bool + Send + Sync + 'static) {
        self.0.has_means.get_or_init(|| Box::new(has_means));
    }

    /// The limit.
    pub fn limit(&self) -> Option<usize> {
        self.0.inside.lock().limit
    }

    /// Statements that run, and that wait.
    pub fn counts(&self) -> (usize, usize) {
        let inside = self.0.inside.lock();
        (self.0.running.load(Ordering::Relaxed), inside.queue.len())
    }

    /// Takes a place if one is free and nobody waits for it: for who must not wait, as a task.
    pub fn try_enter(&self) -> Option<Admitted> {
        let inside = self.0.inside.lock();
        let is_free = inside.queue.is_empty() && self.0.take_place(&inside);
        is_free.then(|| Admitted(Arc::clone(&self.0)))
    }

    /// Waits for a place, until `deadline` at most. The token wakes the waiter when it is marked.
    pub fn enter(
        &self,
        scheduler: &Scheduler,
        class: u8,
        token: &CancelToken,
        deadline: Option<Nanos>,
    ) -> Result<Admitted, Refused> {
        let Some(waiting) = self.0.arrive(class, token) else {
            return Ok(Admitted(Arc::clone(&self.0)));
        };
        let alarm = deadline.map(|at| scheduler.set_alarm(at, token, None));
        let now = || scheduler.machine().now();
        let late = || deadline.is_some_and(|it| now() >= it);
        let done = || self.0.is_admitted(&waiting) || token.is_cancelled() || late();
        scheduler.wait_on(token, &done);
        drop(alarm);
        if self.0.give_up(&waiting) {
            let (running, waiting) = self.counts();
            return Err(match token.is_cancelled() {
                true => Refused::Cancelled,
                false => Refused::TimedOut { running, waiting },
            });
        }
        Ok(Admitted(Arc::clone(&self.0)))
    }
}

impl Default for Admission {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    fn new(limit: Option<usize>, is_brisk: bool) -> Self {
        Self {
            inside: Mutex::new(Inside { limit, arrivals: 0, queue: Vec::new(), passed: 0 }),
            running: AtomicUsize::new(0),
            is_open: AtomicBool::new(limit.is_none()),
            has_queue: AtomicBool::new(false),
            has_means: OnceLock::new(),
            is_brisk,
            is_woken: AtomicBool::new(false),
        }
    }

    /// Takes a place; or stands in the queue when there is none.
    fn arrive(&self, class: u8, token: &CancelToken) -> Option<Arc<Waiting>> {
        if self.passes() {
            return None;
        }
        let mut inside = self.inside.lock();
        if (inside.queue.is_empty() || self.may_pass(&inside)) && self.take_place(&inside) {
            inside.passed += u32::from(!inside.queue.is_empty());
            return None;
        }
        let arrival = inside.arrivals;
        inside.arrivals += 1;
        let admitted = AtomicBool::new(false);
        let waiting = Arc::new(Waiting { class, arrival, token: token.clone(), admitted });
        let at = inside.queue.partition_point(|it| (it.class, it.arrival) <= (class, arrival));
        inside.queue.insert(at, Arc::clone(&waiting));
        self.tell(&inside);
        fence(Ordering::SeqCst);
        // Who left before it could see that somebody waits has left a place.
        if at == 0 && self.take_place(&inside) {
            self.admit(&waiting, &mut inside);
            return None;
        }
        Some(waiting)
    }

    /// Takes a place of a gate that is open.
    fn passes(&self) -> bool {
        if !self.is_open.load(Ordering::Relaxed) {
            return false;
        }
        let before = self.running.fetch_add(1, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        if self.is_open.load(Ordering::Relaxed) && (before == 0 || self.leaves_means()) {
            return true;
        }
        self.leave();
        false
    }

    /// Leaves the queue; false when there was a place before.
    fn give_up(&self, waiting: &Arc<Waiting>) -> bool {
        let mut inside = self.inside.lock();
        if waiting.admitted.load(Ordering::Acquire) {
            return false;
        }
        inside.queue.retain(|it| !Arc::ptr_eq(it, waiting));
        self.tell(&inside);
        self.is_woken.store(false, Ordering::Relaxed);
        drop(inside);
        // It may be the one that was woken for a place.
        self.admit_more();
        true
    }

    /// Whether one that waits has a place. In a brisk gate it takes the one that it was woken for, if that is still there.
    fn is_admitted(&self, waiting: &Arc<Waiting>) -> bool {
        if waiting.admitted.load(Ordering::Acquire) {
            return true;
        }
        if !self.is_brisk {
            return false;
        }
        if self.is_woken.load(Ordering::Relaxed) {
            self.is_woken.store(false, Ordering::Relaxed);
        }
        fence(Ordering::SeqCst);
        // Who spins looks often.
        if self.running.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let mut inside = self.inside.lock();
        if !waiting.admitted.load(Ordering::Acquire) && self.take_place(&inside) {
            self.admit(waiting, &mut inside);
        }
        waiting.admitted.load(Ordering::Acquire)
    }

    fn leave(&self) {
        self.running.fetch_sub(1, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        if self.has_queue.load(Ordering::Relaxed) {
            self.admit_more();
        }
    }

    /// Gives places to the first in the queue while there are some.
    fn admit_more(&self) {
        loop {
            let mut inside = self.inside.lock();
            let Some(first) = inside.queue.first().map(Arc::clone) else { return };
            if self.may_pass(&inside) {
                if !self.has_room(&inside, self.running.load(Ordering::Relaxed)) {
                    return;
                }
                let is_woken = self.is_woken.swap(true, Ordering::AcqRel);
                drop(inside);
                if !is_woken {
                    first.token.ring();
                }
                return;
            }
            if !self.take_place(&inside) {
                return;
            }
            self.admit(&first, &mut inside);
            drop(inside);
            first.token.ring();
        }
    }

    /// Counts one more, if there is room.
    fn take_place(&self, inside: &Inside) -> bool {
        let before = self.running.fetch_add(1, Ordering::AcqRel);
        let has_room = self.has_room(inside, before);
        if !has_room {
            self.running.fetch_sub(1, Ordering::AcqRel);
        }
        has_room
    }

    fn has_room(&self, inside: &Inside, running: usize) -> bool {
        running == 0 || inside.limit.is_none_or(|it| running < it) && self.leaves_means()
    }

    fn leaves_means(&self) -> bool {
        self.has_means.get().is_none_or(|it| it())
    }

    /// Whether who comes may go past who waits.
    fn may_pass(&self, inside: &Inside) -> bool {
        self.is_brisk && inside.passed < PASSING_MAX
    }

    /// Gives a place that was taken to one that waits; inside the lock, so that it cannot give up a place that it has.
    fn admit(&self, waiting: &Arc<Waiting>, inside: &mut Inside) {
        inside.passed = 0;
        self.is_woken.store(false, Ordering::Relaxed);
        inside.queue.retain(|it| !Arc::ptr_eq(it, waiting));
        self.tell(inside);
        waiting.admitted.store(true, Ordering::Release);
    }

    /// Tells those who take no lock how things are.
    fn tell(&self, inside: &Inside) {
        let is_empty = inside.queue.is_empty();
        self.is_open.store(is_empty && inside.limit.is_none(), Ordering::Relaxed);
        self.has_queue.store(!is_empty, Ordering::Relaxed);
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn gate(limit: usize) -> Admission {
        let admission = Admission::new();
        admission.set_limit(Some(limit));
        admission
    }

    #[test]
    fn places_go_by_class_and_arrival() {
        let admission = gate(1);
        let gate = &admission.0;
        let token = CancelToken::new();
        assert!(gate.arrive(100, &token).is_none());
        let late = gate.arrive(100, &token).unwrap();
        let later = gate.arrive(100, &token).unwrap();
        let urgent = gate.arrive(0, &token).unwrap();
        assert_eq!(admission.counts(), (1, 3));
        let inside = |it: &Waiting| it.admitted.load(Ordering::Acquire);
        gate.leave();
        assert!(inside(&urgent) && !inside(&late));
        assert!(gate.give_up(&late) && !gate.give_up(&urgent));
        gate.leave();
        assert!(inside(&later) && !inside(&late));
        assert_eq!(admission.counts(), (1, 0));
        gate.leave();
        assert!(gate.arrive(100, &token).is_none());
    }

    #[test]
    fn who_does_not_wait_gets_a_free_place_and_goes_before_nobody() {
        let admission = gate(1);
        let token = CancelToken::new();
        let place = admission.try_enter();
        assert!(place.is_some() && admission.try_enter().is_none());
        let waiting = admission.0.arrive(1, &token).unwrap();
        drop(place);
        assert!(waiting.admitted.load(Ordering::Acquire) && admission.try_enter().is_none());
        assert_eq!(admission.counts(), (1, 0));
    }

    #[test]
    fn who_finds_no_means_waits_until_somebody_leaves_and_nobody_waits_for_nothing() {
        let (admission, token) = (Admission::new(), CancelToken::new());
        let free = Arc::new(AtomicBool::new(false));
        let seen = free.clone();
        admission.set_means(move || seen.load(Ordering::Relaxed));
        let gate = &admission.0;
        assert!(gate.arrive(100, &token).is_none(), "nobody runs");
        let waiting = [0, 1].map(|_| gate.arrive(100, &token).unwrap());
        let inside = |it: &Waiting| it.admitted.load(Ordering::Acquire);
        gate.leave();
        assert!(inside(&waiting[0]) && !inside(&waiting[1]), "alone again");
        free.store(true, Ordering::Relaxed);
        assert!(gate.arrive(100, &token).is_some(), "not past who waits");
        gate.admit_more();
        assert!(inside(&waiting[1]));
        assert_eq!(admission.counts(), (3, 0));
    }

    #[test]
    fn in_a_brisk_gate_some_go_past_who_waits_and_then_it_is_its_turn() {
        let (admission, token) = (Admission::brisk(), CancelToken::new());
        let gate = &admission.0;
        assert!(gate.arrive(1, &token).is_none());
        let waiting = gate.arrive(1, &token).unwrap();
        for _ in 0..PASSING_MAX {
            assert!(!gate.is_admitted(&waiting), "somebody is there");
            gate.leave();
            assert!(!waiting.admitted.load(Ordering::Acquire), "it is woken only");
            assert!(gate.arrive(1, &token).is_none(), "past it");
        }
        let late = gate.arrive(1, &token).unwrap();
        gate.leave();
        assert!(waiting.admitted.load(Ordering::Acquire));
        gate.leave();
        assert!(gate.is_admitted(&late) && gate.arrive(1, &token).is_some());
        assert_eq!(admission.counts(), (1, 1));
    }

    #[test]
    fn a_higher_limit_lets_in_who_waits() {
        let admission = gate(1);
        let token = CancelToken::new();
        assert!(admission.0.arrive(1, &token).is_none());
        let waiting: Vec<_> = (0..3).map(|_| admission.0.arrive(1, &token).unwrap()).collect();
        admission.set_limit(Some(3));
        let inside: Vec<bool> =
            waiting.iter().map(|it| it.admitted.load(Ordering::Acquire)).collect();
        assert_eq!(inside, [true, true, false]);
        admission.set_limit(None);
        assert_eq!((admission.counts(), admission.limit()), ((4, 0), None));
        assert!(admission.0.arrive(1, &token).is_none());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use stdx::sync::thread;

    /// Two that come to a brisk gate while somebody leaves: both have been inside in the end, one after the other.
    #[test]
    fn loom_a_brisk_gate_loses_nobody() {
        crate::loom_tests::check(|| {
            let admission = Admission::brisk();
            let gate = Arc::clone(&admission.0);
            let token = CancelToken::new();
            assert!(gate.arrive(0, &token).is_none());
            let waiting = gate.arrive(0, &token).expect("the only place is taken");
            let other = Arc::clone(&gate);
            let leaver = thread::spawn(move || {
                other.leave();
                if other.arrive(0, &CancelToken::new()).is_none() {
                    other.leave();
                }
            });
            let was_in = gate.is_admitted(&waiting);
            leaver.join().unwrap();
            if was_in {
                gate.leave();
            } else {
                assert!(gate.is_admitted(&waiting));
            }
        });
    }

    #[test]
    fn loom_a_place_is_handed_on_or_given_up_never_lost() {
        crate::loom_tests::check(|| {
            let admission = Admission::new();
            admission.set_limit(Some(1));
            let gate = Arc::clone(&admission.0);
            let token = CancelToken::new();
            assert!(gate.arrive(0, &token).is_none());
            let waiting = gate.arrive(0, &token).expect("the only place is taken");
            let other = Arc::clone(&gate);
            let leaver = thread::spawn(move || other.leave());
            let gave_up = gate.give_up(&waiting);
            leaver.join().unwrap();
            assert_eq!(waiting.admitted.load(Ordering::Acquire), !gave_up);
            assert_eq!(admission.counts(), (usize::from(!gave_up), 0));
        });
    }
}
