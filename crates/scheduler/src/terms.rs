//! The part of a job's policy that workers read at every morsel boundary and that others may change meanwhile.

use stdx::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use crate::affinity::{Affinity, Binding, StealingScope};

/// Each value stands alone: a worker that sees one new and one old acts as it may for one morsel more.
pub(crate) struct Terms {
    class: AtomicU8,
    affinity: AtomicU8,
    scope: AtomicU8,
    binding: AtomicU8,
    bulk: AtomicU32,
    max_workers: AtomicUsize,
    /// Whether a job that waits for this one has a node: then workers are bound for this one, too (opportunistic).
    kin: AtomicBool,
}

/// What terms are made from and changed to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermValues {
    pub(crate) class: u8,
    pub(crate) affinity: Affinity,
    pub(crate) scope: StealingScope,
    pub(crate) binding: Binding,
    pub(crate) bulk: u32,
    pub(crate) max_workers: Option<usize>,
}

impl Terms {
    pub(crate) fn new(values: TermValues) -> Self {
        Self {
            class: AtomicU8::new(values.class),
            affinity: AtomicU8::new(values.affinity.code()),
            scope: AtomicU8::new(values.scope.code()),
            binding: AtomicU8::new(values.binding.code()),
            bulk: AtomicU32::new(values.bulk.max(1)),
            max_workers: AtomicUsize::new(most(values.max_workers)),
            kin: AtomicBool::new(false),
        }
    }

    /// Changes all of them. A job without affinity stays without, and the others do not become one: where its rows are at
    /// home was settled when it was submitted.
    pub(crate) fn change(&self, values: TermValues) {
        let order = Ordering::Relaxed;
        self.class.store(values.class, order);
        self.scope.store(values.scope.code(), order);
        self.binding.store(values.binding.code(), order);
        self.bulk.store(values.bulk.max(1), order);
        self.max_workers.store(most(values.max_workers), order);
        if (self.affinity() == Affinity::None) == (values.affinity == Affinity::None) {
            self.affinity.store(values.affinity.code(), order);
        }
    }

    /// Ends the learning of an adaptive job; false when it is none, or no longer.
    pub(crate) fn settle(&self, affinity: Affinity) -> bool {
        let (from, to) = (Affinity::Adaptive.code(), affinity.code());
        self.affinity.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn class(&self) -> u8 {
        self.class.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn affinity(&self) -> Affinity {
        Affinity::from_code(self.affinity.load(Ordering::Relaxed))
    }

    /// Whether nobody may steal: an adaptive job is bound while it learns. If it were not, idle nodes would take the
    /// morsels of every statement that waits for a busy node before that node has shown what it is bound by.
    pub(crate) fn is_hard(&self) -> bool {
        matches!(self.affinity(), Affinity::Hard | Affinity::Adaptive)
    }

    pub(crate) fn scope(&self) -> StealingScope {
        StealingScope::from_code(self.scope.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn binding(&self) -> Binding {
        Binding::from_code(self.binding.load(Ordering::Relaxed))
    }

    pub(crate) fn bulk(&self) -> u64 {
        self.bulk.load(Ordering::Relaxed).into()
    }

    pub(crate) fn max_workers(&self) -> usize {
        self.max_workers.load(Ordering::Relaxed)
    }

    pub(crate) fn bind_kin(&self) {
        self.kin.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_bound_kin(&self) -> bool {
        self.kin.load(Ordering::Relaxed)
    }
}

fn most(max_workers: Option<usize>) -> usize {
    max_workers.unwrap_or(usize::MAX).max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn terms_change_but_homes_stay_settled() {
        let values = |affinity| TermValues {
            class: 3,
            affinity,
            scope: StealingScope::Socket,
            binding: Binding::Preferred,
            bulk: 0,
            max_workers: Some(0),
        };
        let terms = Terms::new(values(Affinity::Adaptive));
        assert_eq!((terms.bulk(), terms.max_workers()), (1, 1));
        assert!(terms.settle(Affinity::Hard) && terms.is_hard());
        assert!(!terms.settle(Affinity::Soft), "learned once");
        terms.change(values(Affinity::None));
        assert!(terms.is_hard(), "its rows have homes");
        terms.change(values(Affinity::Soft));
        assert_eq!(terms.affinity(), Affinity::Soft);
        let floating = Terms::new(values(Affinity::None));
        floating.change(TermValues { class: 9, max_workers: None, ..values(Affinity::Hard) });
        assert_eq!((floating.affinity(), floating.class()), (Affinity::None, 9));
        assert_eq!(floating.max_workers(), usize::MAX);
    }
}
