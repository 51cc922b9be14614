//! A table of groups that rows, or the groups of other tables, are added to.

use super::accumulator::Accumulator;
use super::distinct::DistinctSet;
use super::groups::Groups;
use super::index::GroupIndex;
use super::key::Keys;
use super::plan::GroupPlan;
use super::tuning::{KEY_BYTES_MAX, SORTED_GROUPS_MAX, UNSORTED_GROUPS_MAX};

/// Groups, and a way to find them by key.
pub(super) struct GroupTable {
    pub(super) index: GroupIndex,
    pub(super) accumulators: Vec<Accumulator>,
    pub(super) distinct: Vec<DistinctSet>,
}

impl GroupTable {
    /// An empty table.
    pub(super) fn new(plan: &GroupPlan, index: GroupIndex) -> Self {
        Self { index, accumulators: plan.new_accumulators(), distinct: plan.new_distinct_sets() }
    }

    /// An empty table where each key has one group.
    pub(super) fn unique(plan: &GroupPlan) -> Self {
        Self::new(plan, GroupIndex::new(&plan.layout))
    }

    /// An empty table of a worker that sees some of the rows.
    pub(super) fn of_worker(plan: &GroupPlan) -> Self {
        if plan.has_distinct() {
            // Distinct values name their groups by number, so that a key should have one.
            return Self::unique(plan);
        }
        let expected = (plan.expected, plan.rows_per_worker);
        Self::new(plan, GroupIndex::for_merging(&plan.layout, expected))
    }

    /// How many groups.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// The group number of each of some keys; unknown ones become new groups.
    pub(super) fn find_or_insert(&mut self, keys: &Keys, ids: &mut Vec<u32>) {
        self.index.find_or_insert(keys, ids);
        self.resize();
    }

    /// Makes the only group of a grouping without keys.
    pub(super) fn insert_only_group(&mut self) {
        self.find_or_insert(&Keys::Word(vec![0]), &mut Vec::new());
    }

    /// Makes room for all groups.
    pub(super) fn resize(&mut self) {
        let groups = self.len();
        self.accumulators.iter_mut().for_each(|it| it.resize(groups));
    }

    /// Adds the groups `places[i]` of other groups to the groups `to[i]`.
    pub(super) fn merge(&mut self, to: &[u32], other: &Groups, places: &[u32]) {
        for (into, more) in self.accumulators.iter_mut().zip(&other.accumulators) {
            into.merge(to, more, places);
        }
    }

    /// Whether it is time to flush.
    pub(super) fn is_full(&self) -> bool {
        let of_sets = self.distinct.iter().map(DistinctSet::key_bytes).max();
        let key_bytes = self.index.keys().variable_bytes() + of_sets.unwrap_or(0);
        self.index.is_unsorted() && self.len() >= UNSORTED_GROUPS_MAX
            || self.index.is_sorted() && self.len() >= SORTED_GROUPS_MAX
            || key_bytes >= KEY_BYTES_MAX
    }

    /// Takes all groups out and begins anew.
    pub(super) fn flush(&mut self, plan: &GroupPlan) -> Groups {
        let (keys, order) = self.index.flush();
        let accumulators = std::mem::replace(&mut self.accumulators, plan.new_accumulators());
        let distinct = std::mem::replace(&mut self.distinct, plan.new_distinct_sets());
        Groups { keys, order, partitions: None, accumulators, distinct }
    }

    /// The groups at the end.
    pub(super) fn finish(self) -> Groups {
        let Self { index, mut accumulators, distinct } = self;
        let (keys, order, places) = index.finish();
        if let Some(places) = places {
            accumulators.iter_mut().for_each(|it| *it = it.take(&places));
        }
        Groups { keys, order, partitions: None, accumulators, distinct }
    }
}
