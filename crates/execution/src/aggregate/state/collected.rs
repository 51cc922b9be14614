//! All rows of each group, put in order at the end. Rows are not copied: a worker keeps the vectors of its batches, and of
//! each row where it is.

use std::any::Any;
use std::ops::Range;

use stdx::sync::{Arc, OnceLock};
use storage::Check;
use types::SqlResult;

use super::fold::{Plain, Rows, Segment, fold};
use super::interface::{GroupStates, same_kind};
use super::rows::StateRows;
use super::spec::StateSpec;
use crate::Vector;
use crate::sort::RowKey;

/// A row that counts.
#[derive(Clone, Copy)]
struct Entry {
    group: u32,
    segment: u32,
    row: u32,
}

/// The rows of each group.
pub(super) struct Collected<K> {
    spec: StateSpec,
    plain: Plain,
    segments: Vec<Arc<Segment<K>>>,
    entries: Vec<Entry>,
    groups: usize,
    /// Entries by group: where those of each begin, and all of them.
    by_group: OnceLock<(Vec<u32>, Vec<u32>)>,
}

impl<K: RowKey> Collected<K> {
    /// `plain` makes the states of an aggregate of all rows.
    pub(super) fn new(spec: &StateSpec, plain: Plain) -> Self {
        Self {
            spec: spec.clone(),
            plain,
            segments: Vec::new(),
            entries: Vec::new(),
            groups: 0,
            by_group: OnceLock::new(),
        }
    }

    /// The entries of a group by number.
    fn of_group(&self, group: usize) -> &[u32] {
        let (starts, order) = self.by_group.get_or_init(|| {
            let mut starts = vec![0u32; self.groups + 1];
            self.entries.iter().for_each(|it| starts[it.group as usize + 1] += 1);
            for group in 0..self.groups {
                starts[group + 1] += starts[group];
            }
            let mut next = starts.clone();
            let mut order = vec![0; self.entries.len()];
            for (number, entry) in self.entries.iter().enumerate() {
                let place = &mut next[entry.group as usize];
                order[*place as usize] = number as u32;
                *place += 1;
            }
            (starts, order)
        });
        let range: Range<usize> = starts[group] as usize..starts[group + 1] as usize;
        &order[range]
    }

    /// Adds the rows of groups of other states; the segments of those come behind `first`.
    fn add(&mut self, pairs: impl Iterator<Item = (u32, u32)>, other: &Self, first: u32) {
        for (to, from) in pairs {
            for &number in other.of_group(from as usize) {
                let Entry { segment, row, .. } = other.entries[number as usize];
                self.entries.push(Entry { group: to, segment: first + segment, row });
            }
        }
    }
}

impl<K: RowKey> GroupStates for Collected<K> {
    fn resize(&mut self, groups: usize) {
        self.groups = groups;
        self.by_group.take();
    }

    fn take(&self, places: &[u32]) -> Box<dyn GroupStates> {
        let mut taken = Self::new(&self.spec, self.plain);
        taken.segments.clone_from(&self.segments);
        taken.groups = places.len();
        taken.add((0..).zip(places.iter().copied()), self, 0);
        Box::new(taken)
    }

    fn update(&mut self, rows: &StateRows<'_>) {
        let segment = self.segments.len() as u32;
        let known = self.entries.len();
        let entry = |(row, group)| Entry { group: group as u32, segment, row: row as u32 };
        self.entries.extend(rows.counted().map(entry));
        if self.entries.len() == known {
            return;
        }
        self.by_group.take();
        let arguments = self.spec.arguments.iter().map(|&it| rows.arguments[it].clone()).collect();
        let (keys, position) = (self.spec.keys(rows), rows.position);
        self.segments.push(Arc::new(Segment { keys, arguments, position }));
    }

    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]) {
        let other: &Self = same_kind(other);
        let first = self.segments.len() as u32;
        self.segments.extend(other.segments.iter().cloned());
        self.add(to.iter().copied().zip(from.iter().copied()), other, first);
        self.by_group.take();
    }

    fn finish(&self, check: Check<'_>) -> SqlResult<Vector> {
        let mut by_place: Vec<u32> = (0..self.segments.len() as u32).collect();
        by_place.sort_by_key(|&it| self.segments[it as usize].position);
        let mut ranks = vec![0u32; by_place.len()];
        (0..).zip(&by_place).for_each(|(rank, &it)| ranks[it as usize] = rank);
        let segments: Vec<&Segment<K>> =
            by_place.iter().map(|&it| &*self.segments[it as usize]).collect();
        let rows_of = |group: usize| {
            let row = |&number: &u32| {
                let Entry { segment, row, .. } = self.entries[number as usize];
                let key = self.segments[segment as usize].keys[row as usize].clone();
                (key, ranks[segment as usize], row)
            };
            self.of_group(group).iter().map(row).collect()
        };
        let rows = Rows { segments: &segments, groups: self.groups, of_group: &rows_of, check };
        fold(&self.spec, &rows, self.plain)
    }

    fn bytes(&self) -> u64 {
        let of = |it: &Arc<Segment<K>>| {
            let values: u64 = it.arguments.iter().map(|it| it.value_bytes()).sum();
            values + (it.keys.len() * size_of::<K>()) as u64
        };
        self.segments.iter().map(of).sum::<u64>() + (self.entries.len() * size_of::<Entry>()) as u64
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
