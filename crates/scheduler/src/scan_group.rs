//! The members of a group of jobs that read the same; what they do together is in `sharing`.
//!
//! A job knows its group and the group its jobs, so the group is a list of anything.

use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex};

/// What a job reads, and in which morsels.
pub(crate) type Key = (u64, (u64, Vec<Vec<(u64, u64)>>));

/// The jobs under way that read the same in the same morsels, in order of submission.
pub(crate) struct ScanGroup<J> {
    pub(crate) key: Key,
    pub(crate) members: Mutex<Vec<Arc<J>>>,
    count: AtomicUsize,
}

impl<J> ScanGroup<J> {
    pub(crate) fn new(key: Key) -> Self {
        Self { key, members: Mutex::default(), count: AtomicUsize::new(0) }
    }

    pub(crate) fn enter(&self, job: &Arc<J>) {
        let mut members = self.members.lock();
        members.push(Arc::clone(job));
        self.count.store(members.len(), Ordering::Relaxed);
    }

    /// Takes a member out; whether it was the last.
    pub(crate) fn remove(&self, job: &Arc<J>) -> bool {
        let mut members = self.members.lock();
        members.retain(|it| !Arc::ptr_eq(it, job));
        self.count.store(members.len(), Ordering::Relaxed);
        members.is_empty()
    }

    /// Whether there is nobody to share with.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.count.load(Ordering::Relaxed) < 2
    }
}
