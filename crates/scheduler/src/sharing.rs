//! Scan sharing: jobs that read the same memory go over it together, so that memory is read once for all of them and each
//! but the first finds it in a cache. Many cores on one memory controller wait for it long before they have too much to do
//! (P-HANA 6: scans of many clients), and this is the one way to more throughput that needs no further memory.
//!
//! A job that comes in while another reads the same begins where that one stands and goes round (a circular scan). From
//! then on nothing ties them but how workers choose: who has run a morsel of one job turns to a job of the group that
//! has come to the very same place, then to one that has fallen behind, and only then goes on with the job that the order
//! of service gave it, the *leader*. The leader ends first, and with it the turn of the group: then the
//! order of service decides again. So it decides as it would without groups, only later, by [`COMPANIONS`] times at most.

use std::collections::BTreeMap;

use stdx::sync::{Arc, Mutex};

use crate::lifecycle::JobState;
use crate::morsel::Cursors;
use crate::scan_group::{Key, ScanGroup};

/// The most jobs that are served beside the leader at a time, and the most morsels of theirs that a worker runs before it
/// runs one of the leader's: what bounds how much later than alone that ends.
pub(crate) const COMPANIONS: usize = 15;

/// The groups of a scheduler.
#[derive(Default)]
pub(crate) struct ScanGroups(Mutex<BTreeMap<Key, Arc<ScanGroup<JobState>>>>);

impl ScanGroups {
    /// The group of a job: it begins where that stands.
    pub(crate) fn join(&self, reads: u64, cursors: &mut Cursors) -> Arc<ScanGroup<JobState>> {
        let key = (reads, cursors.morsels());
        let group = {
            let mut groups = self.0.lock();
            let group =
                groups.entry(key).or_insert_with_key(|key| Arc::new(ScanGroup::new(key.clone())));
            Arc::clone(group)
        };
        if let Some(guide) = group.guide() {
            cursors.begin_at(&guide.cursors);
        }
        group
    }

    /// Takes a job that has ended out of its group.
    pub(crate) fn leave(&self, group: &Arc<ScanGroup<JobState>>, job: &Arc<JobState>) {
        let mut groups = self.0.lock();
        let is_empty = group.remove(job);
        let known = groups.get(&group.key).is_some_and(|it| Arc::ptr_eq(it, group));
        if known && is_empty {
            groups.remove(&group.key);
        }
    }
}

impl ScanGroup<JobState> {
    /// The job that a newcomer does best to follow: the oldest that still has something to read.
    fn guide(&self) -> Option<Arc<JobState>> {
        self.members.lock().iter().find(|it| !it.is_over()).cloned()
    }

    /// Whom to serve next on a cursor instead of the leader, by a worker of `place` who has just read the morsel at
    /// `read`, of whom there are `workers`. `None` when it is the leader's turn, or the
    /// leader has nothing left there.
    pub(crate) fn next(
        &self,
        leader: &Arc<JobState>,
        cursor: usize,
        place: usize,
        read: Option<u64>,
        workers: usize,
    ) -> Option<Arc<JobState>> {
        let class = leader.terms.class();
        let members = self.members.lock();
        let others = members.iter().filter(|it| {
            it.terms.class() == class && it.is_ready() && it.allows(place) && !it.is_halted()
        });
        let others = others.filter(|it| !Arc::ptr_eq(it, leader)).take(COMPANIONS);
        let standing = others.filter_map(|it| Some((it, it.cursors.place_of_next(cursor)?)));
        let turn = Turn {
            read,
            leader: leader.cursors.place_of_next(cursor)?,
            total: leader.cursors.count_of(cursor),
            workers: workers as u64,
        };
        turn.choose(standing).cloned()
    }
}

/// What a worker knows when it chooses among those that read the same.
struct Turn {
    read: Option<u64>,
    leader: u64,
    total: u64,
    workers: u64,
}

impl Turn {
    /// The one at the place that was just read; else the one furthest behind the leader, if it is further behind than
    /// morsels are under way, and not so far that nothing is left of what the leader read.
    fn choose<T>(&self, others: impl Iterator<Item = (T, u64)>) -> Option<T> {
        let mut last: Option<(u64, T)> = None;
        for (other, place) in others {
            if self.read == Some(place) {
                return Some(other);
            }
            let behind = (self.leader + self.total - place) % self.total;
            let near = behind > self.workers && behind <= 4 * self.workers + 4;
            if near && last.as_ref().is_none_or(|it| it.0 < behind) {
                last = Some((behind, other));
            }
        }
        last.map(|it| it.1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn choose(read: Option<u64>, leader: u64, others: &[u64]) -> Option<usize> {
        let turn = Turn { read, leader, total: 100, workers: 2 };
        turn.choose(others.iter().copied().enumerate())
    }

    #[test]
    fn who_stands_where_the_worker_is_goes_first() {
        assert_eq!(choose(Some(7), 8, &[9, 7, 7]), Some(1));
        assert_eq!(choose(None, 8, &[8]), None, "nothing read: the leader begins");
        assert_eq!(choose(Some(3), 4, &[8]), None);
    }

    #[test]
    fn who_falls_behind_is_fetched_but_not_from_too_far() {
        assert_eq!(choose(Some(20), 21, &[19, 18, 17]), Some(2));
        assert_eq!(choose(Some(20), 21, &[19]), None, "another worker may be there yet");
        assert_eq!(choose(Some(20), 21, &[9]), Some(0));
        assert_eq!(choose(Some(20), 21, &[8]), None, "out of the caches by now");
        assert_eq!(choose(Some(20), 21, &[22, 60]), None, "ahead");
        assert_eq!(choose(Some(2), 3, &[98]), Some(0), "round the end");
    }
}
