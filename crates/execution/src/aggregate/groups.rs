//! Groups as columns: what a worker flushes, what is merged, and what becomes rows of the result.

use std::ops::Range;

use super::accumulator::Accumulator;
use super::distinct::DistinctSet;
use super::index::{KeyOrder, ranges_of_runs};
use super::key::Keys;

/// Groups that no row is added to any more.
pub(super) struct Groups {
    pub(super) keys: Keys,
    pub(super) order: KeyOrder,
    /// Where each partition begins, if the groups stand in the order of those that many groups are merged by.
    pub(super) partitions: Option<Vec<u32>>,
    pub(super) accumulators: Vec<Accumulator>,
    /// Their values name groups by number.
    pub(super) distinct: Vec<DistinctSet>,
}

impl Groups {
    /// How many.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The ranges of groups with rising keys, if that is how they came; each has at least one group.
    pub(super) fn runs(&self) -> Option<Vec<Range<u32>>> {
        match &self.order {
            KeyOrder::SortedRuns(starts) => Some(ranges_of_runs(starts, self.len())),
            _ => None,
        }
    }

    /// The groups at some places, in that order, without distinct values.
    pub(super) fn take(&self, places: &[u32]) -> Self {
        Self {
            keys: self.keys.take(places),
            order: match self.order {
                KeyOrder::Unique => KeyOrder::Unique,
                _ => KeyOrder::Repeated,
            },
            partitions: None,
            accumulators: self.accumulators.iter().map(|it| it.take(places)).collect(),
            distinct: Vec::new(),
        }
    }

    /// Groups of a run that follow each other, without distinct values.
    pub(super) fn slice(&self, groups: Range<u32>) -> Self {
        let groups = groups.start as usize..groups.end as usize;
        Self {
            keys: Keys::Word(self.keys.words()[groups.clone()].to_vec()),
            order: KeyOrder::Repeated,
            partitions: None,
            accumulators: self.accumulators.iter().map(|it| it.slice(groups.clone())).collect(),
            distinct: Vec::new(),
        }
    }
}
