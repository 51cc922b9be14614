//! Some groups with their accumulators, and when a worker sets them aside.

use super::accumulator::Accumulator;
use super::distinct::DistinctSet;
use super::table::GroupTable;

/// Groups that a hashed local table may hold before it is set aside: about what the L2 cache holds.
pub(super) const LOCAL_GROUPS_MAX: usize = 1 << 15;
/// Groups with rising keys that a local table may hold: they are only appended to, and should not be copied as it grows.
pub(super) const RISING_GROUPS_MAX: usize = 1 << 16;
/// Bytes of keys that a local table may hold; far below the 4 GiB that it could address.
const LOCAL_KEY_BYTES_MAX: usize = 256 << 20;

/// Some groups with their accumulators.
pub(super) struct Groups {
    pub(super) table: GroupTable,
    pub(super) accumulators: Vec<Accumulator>,
    pub(super) distinct: Vec<DistinctSet>,
}

impl Groups {
    pub(super) fn resize(&mut self) {
        let groups = self.table.len();
        self.accumulators.iter_mut().for_each(|it| it.resize(groups));
    }

    /// Drops the groups that are not there, where numbers are keys.
    pub(super) fn pack(&mut self) {
        if let Some(places) = self.table.pack() {
            self.accumulators.iter_mut().for_each(|it| *it = it.take(&places));
        }
    }

    /// Takes everything out and begins anew; with `goes_on` keys are expected to go on rising.
    pub(super) fn set_aside(
        &mut self,
        fresh: (Vec<Accumulator>, Vec<DistinctSet>),
        goes_on: bool,
    ) -> Self {
        Self {
            table: if goes_on { self.table.set_runs_aside() } else { self.table.set_aside() },
            accumulators: std::mem::replace(&mut self.accumulators, fresh.0),
            distinct: std::mem::replace(&mut self.distinct, fresh.1),
        }
    }

    /// Whether it is time to begin anew with an empty table.
    pub(super) fn is_large(&self) -> bool {
        let bytes = self.table.key_bytes()
            + self.distinct.iter().map(DistinctSet::key_bytes).max().unwrap_or(0);
        self.table.is_hashed() && self.table.len() >= LOCAL_GROUPS_MAX
            || self.table.is_rising() && self.table.len() >= RISING_GROUPS_MAX
            || bytes >= LOCAL_KEY_BYTES_MAX
    }

    /// Some groups that follow each other, without distinct values and with no way to find them.
    pub(super) fn slice(&self, groups: std::ops::Range<u32>) -> Self {
        let groups = groups.start as usize..groups.end as usize;
        Self {
            table: self.table.slice(groups.clone()),
            accumulators: self.accumulators.iter().map(|it| it.slice(groups.clone())).collect(),
            distinct: Vec::new(),
        }
    }
}
