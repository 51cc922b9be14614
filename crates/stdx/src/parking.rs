//! Sleeping without losing a wake-up: [`Parking`] for a team of workers, [`Nap`] for a thread that looks after them from
//! time to time, [`Bell`] for those who wait for a condition.
//!
//! The trouble is the worker that finds nothing, and decides to sleep, just while someone adds work. Both sides
//! therefore write first and read afterwards, with a sequentially consistent fence between:
//!
//! ```text
//! worker:  sleepy += 1; state = LOOKING;  FENCE;  look for work once more;  nothing: LOOKING -> PARKED, sleep
//! waker:   add work;                      FENCE;  sleepy == 0? nothing to wake;  else swap states to AWAKE
//! ```
//!
//! Of the two reads at least one sees the other side's write: the worker finds the work, or the waker finds the worker.
//! A worker still LOOKING is only *poked* (its change to PARKED fails and it looks again) and does not count as woken,
//! because its last look may have found other work that keeps it busy; one that is PARKED is claimed by the swap, and
//! notified. The state is read under the slot's lock before sleeping and the waker passes through that lock between
//! swap and notify, so that the notification cannot fall between. Waking costs one fence and one load when nobody
//! sleeps.
//!
//! The fences stand alone (no order on the atomics does their work), because that is what loom can model.
//!
//! A worker that does nothing can be LENT: somebody else looks for work in its stead, and the worker sleeps on, whoever adds
//! work. Who gives it back goes to bed for it: announces, fences, looks once more, and leaves it PARKED or wakes it.

use std::time::Duration;

use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, Mutex};

const AWAKE: u32 = 0;
const LOOKING: u32 = 1;
const PARKED: u32 = 2;
const LENT: u32 = 3;

/// The beds of a team: one per worker, on a cache line of its own.
#[derive(Debug)]
pub struct Parking {
    /// Workers that are LOOKING or PARKED.
    sleepy: AtomicUsize,
    beds: Box<[Bed]>,
}

#[derive(Debug)]
#[repr(align(128))]
struct Bed {
    state: AtomicU32,
    lock: Mutex<()>,
    risen: Condvar,
}

impl Parking {
    /// Beds for workers 0 to `workers - 1`, all awake.
    pub fn new(workers: usize) -> Self {
        let bed =
            |_| Bed { state: AtomicU32::new(AWAKE), lock: Mutex::new(()), risen: Condvar::new() };
        Self { sleepy: AtomicUsize::new(0), beds: (0..workers).map(bed).collect() }
    }

    /// Announces that `worker` may sleep soon. It must look for work once more now, and then call
    /// [`Parking::cancel`] when it found some, or [`Parking::park`].
    pub fn prepare(&self, worker: usize) {
        self.sleepy.fetch_add(1, Ordering::Relaxed);
        // A swap, as every change of a state: a chain of read-modify-writes has one order for all threads.
        self.beds[worker].state.swap(LOOKING, Ordering::AcqRel);
        fence(Ordering::SeqCst);
    }

    /// Takes the announcement back.
    pub fn cancel(&self, worker: usize) {
        if self.beds[worker].state.swap(AWAKE, Ordering::AcqRel) != AWAKE {
            self.sleepy.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Sleeps until woken; returns at once when a waker came by since [`Parking::prepare`].
    pub fn park(&self, worker: usize) {
        let bed = &self.beds[worker];
        if bed.state.compare_exchange(LOOKING, PARKED, Ordering::AcqRel, Ordering::Acquire).is_err()
        {
            return;
        }
        self.sleep(worker);
    }

    /// Sleeps until the worker is awake: for one that finds itself lent, or put to bed by who had borrowed it.
    pub fn sleep(&self, worker: usize) {
        let bed = &self.beds[worker];
        let mut guard = bed.lock.lock();
        while bed.state.load(Ordering::Acquire) != AWAKE {
            guard = bed.risen.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Whether the worker is neither asleep, nor about to be, nor lent.
    pub fn is_awake(&self, worker: usize) -> bool {
        self.beds[worker].state.load(Ordering::Acquire) == AWAKE
    }

    /// Lends a worker that sleeps, or that is awake and does nothing, as the caller has seen to. From then on it is the caller who
    /// looks for its work.
    pub fn lend(&self, worker: usize) -> bool {
        let state = &self.beds[worker].state;
        let take = |from| state.compare_exchange(from, LENT, Ordering::AcqRel, Ordering::Acquire);
        if take(PARKED).is_ok() {
            self.sleepy.fetch_sub(1, Ordering::Relaxed);
            return true;
        }
        take(AWAKE).is_ok()
    }

    /// Gives a lent worker back: puts it to bed when `rests` says, after it is announced, that it would find nothing, else wakes it.
    pub fn give_back(&self, worker: usize, rests: impl FnOnce() -> bool) {
        let bed = &self.beds[worker];
        self.prepare(worker);
        let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
        if rests() && bed.state.compare_exchange(LOOKING, PARKED, order, failed).is_ok() {
            return;
        }
        self.cancel(worker);
        drop(bed.lock.lock());
        bed.risen.notify_one();
    }

    /// Wakes up to `count` parked workers, the preferred ones first, then in order; returns how many. What they shall
    /// find must have been written before.
    pub fn wake(&self, preferred: &[usize], count: usize) -> usize {
        fence(Ordering::SeqCst);
        if count == 0 || self.sleepy.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let mut woken = 0;
        let known = preferred.iter().copied().filter(|&it| it < self.beds.len());
        for worker in known.chain(0..self.beds.len()) {
            if self.rouse(worker) {
                woken += 1;
                if woken == count {
                    break;
                }
            }
        }
        woken
    }

    /// Pokes a looking worker or wakes a parked one; true for the latter. A lent one is looked after.
    fn rouse(&self, worker: usize) -> bool {
        let bed = &self.beds[worker];
        let mut before = bed.state.load(Ordering::Acquire);
        loop {
            if before == AWAKE || before == LENT {
                return false;
            }
            let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match bed.state.compare_exchange(before, AWAKE, order, failed) {
                Ok(_) => break,
                Err(other) => before = other,
            }
        }
        self.sleepy.fetch_sub(1, Ordering::Relaxed);
        if before == PARKED {
            drop(bed.lock.lock());
            bed.risen.notify_one();
        }
        before == PARKED
    }
}

/// The rest of one thread: it ends by time or by a nudge, and a nudge that comes early ends the next rest.
#[derive(Debug, Default)]
pub struct Nap {
    nudged: Mutex<bool>,
    over: Condvar,
}

impl Nap {
    /// Sleeps for at most `span`.
    pub fn rest(&self, span: Duration) {
        let mut nudged = self.nudged.lock();
        if !*nudged {
            let woken = self.over.wait_timeout(nudged, span);
            nudged = woken.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        *nudged = false;
    }

    /// Ends the rest.
    pub fn nudge(&self) {
        *self.nudged.lock() = true;
        self.over.notify_one();
    }
}

/// Threads that wait until a condition of their own holds, and those that ring when it may have changed.
///
/// The same two-sided protocol: a waiter announces itself, fences and looks; who rings has changed the condition, fences
/// and looks for waiters. The number of the last ring, kept under the lock, covers the time between look and sleep.
#[derive(Debug, Default)]
pub struct Bell {
    waiters: AtomicUsize,
    rings: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// A bell that nobody waits for.
    pub fn new() -> Self {
        Self { waiters: AtomicUsize::new(0), rings: Mutex::new(0), rung: Condvar::new() }
    }

    /// Sleeps until `done` holds. It is asked once at least and after each ring, with no lock held.
    pub fn wait_until(&self, done: impl Fn() -> bool) {
        while !self.wait(None, &done) {}
    }

    /// Sleeps until `done` holds, which it then says, or until nobody rang for `span`.
    pub fn wait_for(&self, span: Duration, done: impl Fn() -> bool) -> bool {
        self.wait(Some(span), &done)
    }

    fn wait(&self, span: Option<Duration>, done: &dyn Fn() -> bool) -> bool {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let _leave = Leave(&self.waiters);
        loop {
            let seen = *self.rings.lock();
            fence(Ordering::SeqCst);
            if done() {
                return true;
            }
            let mut rings = self.rings.lock();
            while *rings == seen {
                let Some(span) = span else {
                    rings = self.rung.wait(rings).unwrap_or_else(|poisoned| poisoned.into_inner());
                    continue;
                };
                let waited = self.rung.wait_timeout(rings, span);
                rings = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
                if *rings == seen {
                    return false;
                }
            }
        }
    }

    /// Makes the waiters look again. Costs a fence and a load when there are none.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.waiters.load(Ordering::Relaxed) == 0 {
            return;
        }
        *self.rings.lock() += 1;
        self.rung.notify_all();
    }
}

/// Counts a waiter out, also when its condition panics.
struct Leave<'a>(&'a AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::{Arc, thread};

    #[test]
    fn waking_nobody_is_nothing_and_unknown_preferences_are_skipped() {
        let parking = Parking::new(2);
        assert_eq!(parking.wake(&[0, 7], 5), 0);
        parking.prepare(1);
        assert_eq!(parking.wake(&[9], 1), 0, "a looking worker is only poked");
        parking.park(1);
        parking.prepare(0);
        parking.cancel(0);
        assert_eq!(parking.sleepy.load(Ordering::SeqCst), 0);
        assert_eq!(Parking::new(0).wake(&[0], 1), 0);
    }

    #[test]
    fn a_lent_worker_is_not_woken_until_it_is_given_back() {
        let parking = Parking::new(2);
        assert!(parking.lend(0) && !parking.lend(0) && !parking.is_awake(0));
        assert_eq!(parking.wake(&[0], 1), 0, "somebody looks in its stead");
        parking.give_back(0, || true);
        assert_eq!(parking.sleepy.load(Ordering::SeqCst), 1);
        assert!(parking.lend(0), "it sleeps, and can be lent");
        assert_eq!(parking.sleepy.load(Ordering::SeqCst), 0);
        parking.give_back(0, || false);
        assert!(parking.is_awake(0));
        assert!(parking.lend(0));
        parking.give_back(0, || parking.wake(&[0], 1) == 0);
        assert!(parking.is_awake(0), "a waker came by while it was put to bed");
        parking.sleep(0);
        parking.prepare(1);
        assert!(!parking.lend(1), "that one looks for itself");
        parking.cancel(1);
        assert_eq!(parking.sleepy.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_nudge_ends_the_rest_that_comes_after_it() {
        let nap = Nap::default();
        nap.nudge();
        nap.nudge();
        nap.rest(Duration::from_secs(3600));
        assert!(!*nap.nudged.lock(), "several nudges end one rest");
        nap.rest(Duration::from_nanos(1));
    }

    #[test]
    fn every_item_is_taken_by_a_team_that_sleeps_between() {
        const ITEMS: usize = 20_000;
        let parking = Arc::new(Parking::new(3));
        let bell = Arc::new(Bell::new());
        let queue = Arc::new(Mutex::new(0_usize));
        let taken = Arc::new(AtomicUsize::new(0));
        let stop = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..3)
            .map(|me| {
                let (parking, bell, queue) = (parking.clone(), bell.clone(), queue.clone());
                let (taken, stop) = (taken.clone(), stop.clone());
                thread::spawn(move || {
                    let take = || {
                        let mut left = queue.lock();
                        let found = *left > 0;
                        *left -= usize::from(found);
                        found
                    };
                    loop {
                        if !take() {
                            parking.prepare(me);
                            if stop.load(Ordering::Relaxed) == 1 {
                                break;
                            }
                            if !take() {
                                parking.park(me);
                                continue;
                            }
                            parking.cancel(me);
                        }
                        taken.fetch_add(1, Ordering::Relaxed);
                        bell.ring();
                    }
                })
            })
            .collect();
        for item in 0..ITEMS {
            *queue.lock() += 1;
            parking.wake(&[item % 3], 1);
            if item % 100 == 0 {
                bell.wait_until(|| taken.load(Ordering::Relaxed) > item);
            }
        }
        bell.wait_until(|| taken.load(Ordering::Relaxed) == ITEMS);
        stop.store(1, Ordering::Relaxed);
        parking.wake(&[], usize::MAX);
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

/// Loom tries every interleaving and reports a thread that sleeps for ever as a deadlock.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::{Arc, thread};

    /// A worker as the machine runs it: takes items, sleeping in between, and returns how many at the end.
    fn run(parking: &Parking, me: usize, items: &AtomicUsize, end: &AtomicUsize) -> usize {
        let take = || {
            items.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| it.checked_sub(1)).is_ok()
        };
        let mut taken = 0;
        loop {
            parking.prepare(me);
            let ended = end.load(Ordering::Acquire) == 1;
            if take() {
                parking.cancel(me);
                taken += 1;
            } else if ended {
                parking.cancel(me);
                return taken;
            } else {
                parking.park(me);
            }
        }
    }

    #[test]
    fn loom_one_worker_never_misses_an_item() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let parking = Arc::new(Parking::new(1));
            let items = Arc::new(AtomicUsize::new(0));
            let end = Arc::new(AtomicUsize::new(0));
            let worker = {
                let (parking, items, end) = (parking.clone(), items.clone(), end.clone());
                thread::spawn(move || run(&parking, 0, &items, &end))
            };
            items.fetch_add(1, Ordering::Relaxed);
            parking.wake(&[], 1);
            // Released after the item: who sees the end sees the item, too.
            end.store(1, Ordering::Release);
            parking.wake(&[0], usize::MAX);
            assert_eq!(worker.join().unwrap(), 1);
        });
    }

    #[test]
    fn loom_two_wakers_and_a_sleeper() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let parking = Arc::new(Parking::new(1));
            let items = Arc::new(AtomicUsize::new(0));
            let wakers: Vec<_> = (0..2)
                .map(|_| {
                    let (parking, items) = (parking.clone(), items.clone());
                    thread::spawn(move || {
                        items.fetch_add(1, Ordering::Relaxed);
                        parking.wake(&[0], 1);
                    })
                })
                .collect();
            let mut taken = 0;
            while taken < 2 {
                parking.prepare(0);
                let found = items.swap(0, Ordering::Relaxed);
                taken += found;
                if found > 0 {
                    parking.cancel(0);
                } else {
                    parking.park(0);
                }
            }
            for waker in wakers {
                waker.join().unwrap();
            }
            // A read-modify-write reads the newest value.
            assert_eq!(parking.sleepy.fetch_add(0, Ordering::AcqRel), 0);
        });
    }

    #[test]
    fn loom_two_workers_share_one_waker() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let parking = Arc::new(Parking::new(2));
            let end = Arc::new(AtomicUsize::new(0));
            let items = Arc::new(AtomicUsize::new(0));
            let workers: Vec<_> = (0..2)
                .map(|me| {
                    let (parking, items, end) = (parking.clone(), items.clone(), end.clone());
                    thread::spawn(move || run(&parking, me, &items, &end))
                })
                .collect();
            end.store(1, Ordering::Relaxed);
            parking.wake(&[1], usize::MAX);
            for worker in workers {
                assert_eq!(worker.join().unwrap(), 0);
            }
        });
    }

    #[test]
    fn loom_a_worker_that_was_lent_never_misses_an_item() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let parking = Arc::new(Parking::new(1));
            let items = Arc::new(AtomicUsize::new(0));
            let taken = Arc::new(AtomicUsize::new(0));
            // The body of the worker: only who holds it looks, and the worker only while it is awake.
            let body = Arc::new(crate::sync::Mutex::new(()));
            let worker = {
                let (parking, items, taken) = (parking.clone(), items.clone(), taken.clone());
                let body = body.clone();
                thread::spawn(move || {
                    let take = || {
                        let one = |it: usize| it.checked_sub(1);
                        items.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one).is_ok()
                    };
                    loop {
                        let held = body.lock();
                        if !parking.is_awake(0) {
                            drop(held);
                            parking.sleep(0);
                            continue;
                        }
                        parking.prepare(0);
                        let found = take();
                        if found {
                            parking.cancel(0);
                            taken.fetch_add(1, Ordering::Relaxed);
                            return;
                        }
                        drop(held);
                        parking.park(0);
                    }
                })
            };
            let adder = {
                let (parking, items) = (parking.clone(), items.clone());
                thread::spawn(move || {
                    items.fetch_add(1, Ordering::Relaxed);
                    parking.wake(&[0], 1);
                })
            };
            let held = body.lock();
            let lent = parking.lend(0);
            drop(held);
            if lent {
                parking.give_back(0, || items.load(Ordering::Relaxed) == 0);
            }
            worker.join().unwrap();
            adder.join().unwrap();
            assert_eq!(taken.load(Ordering::Relaxed), 1);
            // It was put to bed once more where it was lent after its end.
            parking.wake(&[0], 1);
            assert_eq!(parking.sleepy.fetch_add(0, Ordering::AcqRel), 0);
        });
    }

    #[test]
    fn loom_a_nudge_is_never_lost() {
        // The model knows no time: a rest without a nudge would be a deadlock.
        loom::model(|| {
            let nap = Arc::new(Nap::default());
            let other = nap.clone();
            let nudger = thread::spawn(move || other.nudge());
            nap.rest(Duration::from_secs(1));
            nudger.join().unwrap();
        });
    }

    #[test]
    fn loom_a_ring_is_never_lost() {
        loom::model(|| {
            let bell = Arc::new(Bell::new());
            let done = Arc::new(AtomicUsize::new(0));
            let ringer = {
                let (bell, done) = (bell.clone(), done.clone());
                thread::spawn(move || {
                    done.store(1, Ordering::Relaxed);
                    bell.ring();
                })
            };
            bell.wait_until(|| done.load(Ordering::Relaxed) == 1);
            ringer.join().unwrap();
        });
    }
}
