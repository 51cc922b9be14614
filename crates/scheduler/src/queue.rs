//! The two priority queues of a thread group (P-HANA 5.1): what others may steal, and what is bound to the node.
//!
//! A queue holds a handful of jobs, so it is a sorted vector. Who finds it empty does not take the lock.

use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicUsize, Ordering};

use crate::affinity::Priority;

/// What to do with an entry that a worker looks at.
pub(crate) enum Verdict<R> {
    /// Take it and stop looking. The entry stays for others.
    Take(R),
    /// Not for this worker: look further.
    Skip,
    /// Done with: take it out and look further.
    Remove,
}

/// Both queues behind one lock.
pub(crate) struct JobQueues<T> {
    entries: Mutex<Entries<T>>,
    /// Entries in both, readable without the lock.
    count: AtomicUsize,
}

struct Entries<T> {
    stealable: Vec<(Priority, T)>,
    hard: Vec<(Priority, T)>,
}

impl<T> JobQueues<T> {
    pub(crate) fn new() -> Self {
        let entries = Entries { stealable: Vec::new(), hard: Vec::new() };
        Self { entries: Mutex::new(entries), count: AtomicUsize::new(0) }
    }

    /// Whether there was nothing at all a moment ago. A worker that is about to park relies on the machine to let it
    /// look again when it is woken meanwhile.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub(crate) fn insert(&self, priority: Priority, hard: bool, entry: T) {
        let mut entries = self.entries.lock();
        let queue = if hard { &mut entries.hard } else { &mut entries.stealable };
        let at = queue.partition_point(|it| it.0 <= priority);
        queue.insert(at, (priority, entry));
        self.count.store(entries.stealable.len() + entries.hard.len(), Ordering::Release);
    }

    /// Shows entries to `judge` in the order of service until it takes one. Hard entries only if `hard` is set.
    pub(crate) fn pick<R>(&self, hard: bool, mut judge: impl FnMut(&T) -> Verdict<R>) -> Option<R> {
        let mut removed = Vec::new();
        let mut guard = self.entries.lock();
        let entries = &mut *guard;
        let (mut soft_at, mut hard_at) = (0, 0);
        let picked = loop {
            let soft = entries.stealable.get(soft_at);
            let bound = entries.hard.get(hard_at).filter(|_| hard);
            let from_hard = match (soft, bound) {
                (None, None) => break None,
                (Some(_), None) => false,
                (None, Some(_)) => true,
                (Some(soft), Some(bound)) => bound.0 < soft.0,
            };
            let (queue, at) = if from_hard {
                (&mut entries.hard, &mut hard_at)
            } else {
                (&mut entries.stealable, &mut soft_at)
            };
            match judge(&queue[*at].1) {
                Verdict::Take(it) => break Some(it),
                Verdict::Skip => *at += 1,
                Verdict::Remove => removed.push(queue.remove(*at)),
            }
        };
        self.count.store(entries.stealable.len() + entries.hard.len(), Ordering::Release);
        drop(guard);
        // What an entry owns is dropped without the lock.
        drop(removed);
        picked
    }

    /// Asks every entry anew for its place in the order of service, and whether it is hard.
    pub(crate) fn rearrange(&self, place: impl Fn(&T) -> (Priority, bool)) {
        let mut guard = self.entries.lock();
        let entries = &mut *guard;
        let all: Vec<T> =
            entries.stealable.drain(..).chain(entries.hard.drain(..)).map(|it| it.1).collect();
        for entry in all {
            let (priority, hard) = place(&entry);
            let queue = if hard { &mut entries.hard } else { &mut entries.stealable };
            queue.push((priority, entry));
        }
        entries.stealable.sort_by_key(|it| it.0);
        entries.hard.sort_by_key(|it| it.0);
    }

    /// Whether `wanted` holds for any entry.
    pub(crate) fn any(&self, wanted: impl Fn(&T) -> bool) -> bool {
        if self.is_empty() {
            return false;
        }
        let entries = self.entries.lock();
        entries.stealable.iter().chain(&entries.hard).any(|it| wanted(&it.1))
    }

    /// Takes out all entries for which `gone` holds.
    pub(crate) fn remove(&self, gone: impl Fn(&T) -> bool) {
        if self.is_empty() {
            return;
        }
        self.pick::<()>(true, |it| if gone(it) { Verdict::Remove } else { Verdict::Skip });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn at(class: u8, statement: u64, sequence: u64) -> Priority {
        Priority { class, statement, sequence }
    }

    fn order(queues: &JobQueues<&'static str>, hard: bool) -> Vec<&'static str> {
        let mut seen = Vec::new();
        queues.pick::<()>(hard, |it| {
            seen.push(*it);
            Verdict::Skip
        });
        seen
    }

    #[test]
    fn class_then_age_then_submission_over_both_queues() {
        let queues = JobQueues::new();
        assert!(queues.is_empty());
        queues.insert(at(1, 1, 5), false, "late class");
        queues.insert(at(0, 9, 2), true, "young, bound");
        queues.insert(at(0, 3, 4), false, "old, second");
        queues.insert(at(0, 3, 3), true, "old, first, bound");
        let all = ["old, first, bound", "old, second", "young, bound", "late class"];
        assert_eq!(order(&queues, true), all);
        assert_eq!(order(&queues, false), ["old, second", "late class"]);
    }

    #[test]
    fn entries_change_places_and_queues() {
        let queues = JobQueues::new();
        for (name, statement) in [("a", 1), ("b", 2), ("c", 3)] {
            queues.insert(at(1, statement, 0), false, name);
        }
        assert!(queues.any(|it| *it == "c") && !queues.any(|it| *it == "d"));
        queues.rearrange(|&it| match it {
            "c" => (at(0, 3, 0), true),
            other => (at(1, u64::from(other == "a"), 0), false),
        });
        assert_eq!(order(&queues, true), ["c", "b", "a"]);
        assert_eq!(order(&queues, false), ["b", "a"]);
    }

    #[test]
    fn taking_leaves_the_entry_and_removing_does_not() {
        let queues = JobQueues::new();
        for it in 0..4 {
            queues.insert(at(0, 0, it), it % 2 == 0, it);
        }
        let picked = queues.pick(true, |&it| match it {
            0 => Verdict::Remove,
            1 => Verdict::Skip,
            _ => Verdict::Take(it),
        });
        assert_eq!(picked, Some(2));
        queues.remove(|&it| it == 3);
        let mut left = Vec::new();
        queues.pick::<()>(true, |&it| {
            left.push(it);
            Verdict::Remove
        });
        assert_eq!(left, [1, 2]);
        assert!(queues.is_empty());
        assert_eq!(queues.pick(true, |_| Verdict::Take(())), None);
    }
}
