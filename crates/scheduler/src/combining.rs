//! Combining: of those who want the same done to one thing at once, one does what all of them want, in one go (Hendler and others,
//! "Flat combining and the synchronization-parallelism tradeoff", SPAA 2010).
//!
//! Who comes while nobody leads, leads: it does what it wants, together with what others have brought meanwhile, and goes on with
//! what has come until then. Who comes while somebody leads leaves its work and waits. So work that costs about the same for one as
//! for many is done once for many, and the thing is handed from thread to thread as seldom as can be.
//!
//! Those who have waited are woken in a tree, each by one of those before it, so that waking many keeps nobody.
//!
//! - Invariant: while nobody leads nobody waits.
//! - Invariant: what is brought is done once, or its leader has panicked, which it is then told.

use stdx::sync::atomic::{AtomicU8, Ordering};
use stdx::sync::{Arc, Mutex};

use crate::cancel::CancelToken;
use crate::scheduler::Scheduler;

/// What is done in one go at most.
const TOGETHER_MAX: usize = 128;

/// How often one does what others have brought before somebody else leads: its own client waits meanwhile.
const ROUNDS_MAX: usize = 8;

/// How many each wakes.
const FAN: usize = 4;

const WAITS: u8 = 0;
const LEADS: u8 = 1;
const DONE: u8 = 2;

/// Where work is brought together.
pub struct Combining<W, R>(Mutex<Inside<W, R>>);

struct Inside<W, R> {
    is_led: bool,
    /// In the order in which they came.
    queue: Vec<Arc<Slot<W, R>>>,
}

/// Somebody who waits.
struct Slot<W, R> {
    state: AtomicU8,
    /// What it brought, as long as nobody has taken it.
    work: Mutex<Option<W>>,
    done: Mutex<Option<Done<W, R>>>,
    token: CancelToken,
}

/// What came of some work, the others that were done with it, and the place among them.
struct Done<W, R> {
    result: Option<R>,
    all: Arc<Vec<Arc<Slot<W, R>>>>,
    place: usize,
}

impl<W, R> Default for Combining<W, R> {
    fn default() -> Self {
        Self(Mutex::new(Inside { is_led: false, queue: Vec::new() }))
    }
}

impl<W, R> Combining<W, R> {
    /// Has some work done, with that of others, and returns what came of it. `serve` does the works of many, and tells of each, in
    /// their order, what came of it. Nothing where the one who did it panicked.
    pub fn run(
        &self,
        scheduler: &Scheduler,
        work: W,
        serve: impl FnMut(Vec<W>) -> Vec<R>,
    ) -> Option<R> {
        let work = match self.arrive(work) {
            Ok(work) => work,
            Err(slot) => {
                scheduler.wait_on(&slot.token, &|| slot.is_over());
                match slot.end() {
                    Ok(done) => return done,
                    Err(work) => work,
                }
            }
        };
        self.lead(work, serve)
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.0.lock().queue.len()
    }

    /// The work, of one who leads from now on; else its place among those who wait.
    fn arrive(&self, work: W) -> Result<W, Arc<Slot<W, R>>> {
        let mut inside = self.0.lock();
        if !std::mem::replace(&mut inside.is_led, true) {
            return Ok(work);
        }
        let slot = Arc::new(Slot {
            state: AtomicU8::new(WAITS),
            work: Mutex::new(Some(work)),
            done: Mutex::new(None),
            token: CancelToken::new(),
        });
        inside.queue.push(Arc::clone(&slot));
        Err(slot)
    }

    /// Does some work and what others have brought.
    fn lead(&self, own: W, mut serve: impl FnMut(Vec<W>) -> Vec<R>) -> Option<R> {
        let leads = Leads(self);
        let (mut works, mut result) = (vec![own], None);
        let mut slots = self.take(TOGETHER_MAX - 1);
        for round in 0.. {
            works.extend(slots.iter().filter_map(|it| it.work.lock().take()));
            let batch = Batch(Arc::new(slots));
            let mut results = serve(std::mem::take(&mut works)).into_iter();
            if round == 0 {
                result = results.next();
            }
            batch.end(results);
            if round + 1 == ROUNDS_MAX {
                break;
            }
            slots = self.take(TOGETHER_MAX);
            if slots.is_empty() {
                break;
            }
        }
        drop(leads);
        result
    }

    /// The first of those who wait.
    fn take(&self, most: usize) -> Vec<Arc<Slot<W, R>>> {
        let mut inside = self.0.lock();
        let count = inside.queue.len().min(most);
        inside.queue.drain(..count).collect()
    }

    /// Lets the first who waits lead, if somebody does.
    fn hand_on(&self) {
        let mut inside = self.0.lock();
        if inside.queue.is_empty() {
            inside.is_led = false;
            return;
        }
        let next = inside.queue.remove(0);
        drop(inside);
        next.state.store(LEADS, Ordering::Release);
        next.token.ring();
    }
}

impl<W, R> Slot<W, R> {
    /// Whether it need not wait any more.
    fn is_over(&self) -> bool {
        self.state.load(Ordering::Acquire) != WAITS
    }

    /// What came of its work; or that, where it is to lead. Wakes others.
    fn end(&self) -> Result<Option<R>, W> {
        match self.done.lock().take() {
            Some(Done { result, all, place }) => {
                wake(&all, FAN * (place + 1));
                Ok(result)
            }
            None => match self.work.lock().take() {
                Some(work) => Err(work),
                None => Ok(None),
            },
        }
    }
}

/// Wakes those of some whose work is done from a place on, who wake the rest.
fn wake<W, R>(all: &[Arc<Slot<W, R>>], from: usize) {
    all.iter().skip(from).take(FAN).for_each(|it| it.token.ring());
}

/// Those whose work is being done. Dropping it tells those who were told nothing that nothing came of it.
struct Batch<W, R>(Arc<Vec<Arc<Slot<W, R>>>>);

impl<W, R> Batch<W, R> {
    fn end(self, mut results: impl Iterator<Item = R>) {
        self.tell(&mut results);
    }

    fn tell(&self, results: &mut dyn Iterator<Item = R>) {
        let mut is_told = false;
        for (place, slot) in self.0.iter().enumerate().filter(|it| !it.1.is_over()) {
            let done = Done { result: results.next(), all: Arc::clone(&self.0), place };
            *slot.done.lock() = Some(done);
            slot.state.store(DONE, Ordering::Release);
            is_told = true;
        }
        if is_told {
            wake(&self.0, 0);
        }
    }
}

impl<W, R> Drop for Batch<W, R> {
    fn drop(&mut self) {
        self.tell(&mut std::iter::empty());
    }
}

/// Who leads. Dropping it lets somebody else.
struct Leads<'a, W, R>(&'a Combining<W, R>);

impl<W, R> Drop for Leads<'_, W, R> {
    fn drop(&mut self) {
        self.0.hand_on();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// What came of each work: the number, and how many were done with it.
    fn counted(works: Vec<u32>) -> Vec<(u32, usize)> {
        let count = works.len();
        works.into_iter().map(|it| (it, count)).collect()
    }

    #[test]
    fn one_does_what_others_have_brought() {
        let combining: Combining<u32, (u32, usize)> = Combining::default();
        let mut slots = Vec::new();
        let own = combining.lead(combining.arrive(1).ok().unwrap(), |works| {
            if works == [1] {
                slots = (2..10).map(|it| combining.arrive(it).err().unwrap()).collect();
            }
            counted(works)
        });
        assert_eq!(own, Some((1, 1)));
        for (number, slot) in (2..10).zip(&slots) {
            assert!(slot.is_over());
            assert_eq!(slot.end().unwrap(), Some((number, 8)));
        }
        assert_eq!(combining.waiting(), 0);
        assert!(combining.arrive(10).is_ok(), "nobody leads");
    }

    #[test]
    fn somebody_else_leads_after_some_rounds() {
        let combining: Combining<u32, (u32, usize)> = Combining::default();
        let (mut rounds, mut last) = (0, None);
        combining.lead(combining.arrive(0).ok().unwrap(), |works| {
            rounds += 1;
            last = combining.arrive(rounds).err();
            counted(works)
        });
        assert_eq!(rounds as usize, ROUNDS_MAX);
        let last = last.unwrap();
        assert!(last.is_over());
        let work = last.end().err().unwrap();
        assert_eq!(combining.lead(work, counted), Some((rounds, 1)));
        assert!(combining.arrive(0).is_ok());
    }

    #[test]
    fn who_waits_is_told_of_a_panic() {
        let combining: Combining<u32, (u32, usize)> = Combining::default();
        let mut slots = Vec::new();
        let own = combining.arrive(0).ok().unwrap();
        let lead = AssertUnwindSafe(|| {
            combining.lead(own, |works| {
                slots.push(combining.arrive(works[0] + 1).err().unwrap());
                assert!(works[0] == 0, "as it is meant");
                counted(works)
            })
        });
        assert!(catch_unwind(lead).is_err());
        assert_eq!(slots[0].end().unwrap(), None, "it was being done");
        assert_eq!(slots[1].end().err(), Some(2), "it leads now");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use stdx::sync::thread;

    /// Waits as a machine does, but that the model turns over while nothing has happened.
    fn run(combining: &Combining<u32, u32>, work: u32) -> Option<u32> {
        let serve = |works: Vec<u32>| works.into_iter().map(|it| it + 10).collect();
        match combining.arrive(work) {
            Ok(work) => combining.lead(work, serve),
            Err(slot) => {
                slot.token.bell().wait_until(|| slot.is_over());
                match slot.end() {
                    Ok(done) => done,
                    Err(work) => combining.lead(work, serve),
                }
            }
        }
    }

    #[test]
    fn loom_what_two_bring_is_done_once_and_nobody_sleeps_on() {
        crate::loom_tests::check(|| {
            let combining: Arc<Combining<u32, u32>> = Arc::default();
            let other = Arc::clone(&combining);
            let thread = thread::spawn(move || run(&other, 1));
            assert_eq!(run(&combining, 2), Some(12));
            assert_eq!(thread.join().unwrap(), Some(11));
            assert!(combining.arrive(3).is_ok(), "nobody leads");
        });
    }

    #[test]
    fn loom_whom_a_leader_leaves_behind_leads() {
        crate::loom_tests::check(|| {
            let combining: Arc<Combining<u32, u32>> = Arc::default();
            assert_eq!(combining.arrive(1).ok(), Some(1), "nobody leads");
            let other = Arc::clone(&combining);
            let thread = thread::spawn(move || run(&other, 2));
            combining.hand_on();
            assert_eq!(thread.join().unwrap(), Some(12));
        });
    }
}
