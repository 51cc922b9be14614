//! Phase one: a worker's table, which takes in batches and is flushed when it is full.

use std::borrow::Cow;

use stdx::Bytes;
use stdx::sync::Arc;

use super::accumulator::Accumulator;
use super::batch_groups::BatchGroups;
use super::distinct::DistinctSet;
use super::groups::Groups;
use super::key::Keys;
use super::merge::by_partition;
use super::plan::GroupPlan;
use super::recent::RecentTexts;
use super::spec::AccumulatorKind;
use super::state::StateRows;
use super::table::GroupTable;
use crate::leveled::{FEW_GROUPS, group_masks, level};
use crate::{Bitmap, Values, Vector};

/// About how many bytes a distinct value takes beside those that depend on its length.
const DISTINCT_BYTES: u64 = 32;

/// The groups of one worker.
pub(super) struct Worker {
    pub(super) table: GroupTable,
    /// Those that it has flushed.
    flushed: Vec<Groups>,
    /// The keys of a batch, and their groups; kept for their memory.
    keys: Keys,
    ids: Vec<u32>,
    /// The groups of keys that came lately, and of the rows that have others.
    recent: RecentTexts,
    found: Vec<u32>,
    /// The first rows of the groups that a batch began.
    firsts: Vec<u32>,
    /// Bitmaps of rows by group, while there are few groups.
    masks: Vec<u64>,
    /// Batches taken in.
    batches: u64,
}

/// The key columns, arguments and filters of a batch.
pub(super) struct Input {
    pub(super) keys: Vec<Arc<Vector>>,
    pub(super) arguments: Vec<Arc<Vector>>,
    pub(super) rows: usize,
    /// Where the first of them stood in the source.
    pub(super) sequence: u64,
}

impl Input {
    /// The block of rows that they come from.
    fn block(&self) -> u64 {
        self.sequence / storage::BLOCK_ROWS as u64
    }
}

impl Worker {
    pub(super) fn new(plan: &GroupPlan) -> Self {
        Self::of(plan, GroupTable::of_worker(plan))
    }

    /// A worker that adds to the groups of a table.
    pub(super) fn of(plan: &GroupPlan, table: GroupTable) -> Self {
        Self {
            table,
            flushed: Vec::new(),
            keys: plan.layout.no_keys(),
            ids: Vec::new(),
            recent: plan.layout.recent(),
            found: Vec::new(),
            firsts: Vec::new(),
            masks: Vec::new(),
            batches: 0,
        }
    }

    /// How many groups it has, some of them perhaps twice.
    pub(super) fn groups(&self) -> usize {
        self.table.len() + self.flushed.iter().map(Groups::len).sum::<usize>()
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self, plan: &GroupPlan) -> u64 {
        let flushed = self.flushed.iter().map(|it| (&it.keys, &it.distinct));
        let tables = flushed.chain([(self.table.index.keys(), &self.table.distinct)]);
        let variable = |(keys, sets): (&Keys, &Vec<DistinctSet>)| {
            // A value of a set has an entry as a group has one, and its number.
            let values =
                sets.iter().map(|it| it.key_bytes() as u64 + DISTINCT_BYTES * it.len() as u64);
            keys.variable_bytes() as u64 + values.sum::<u64>()
        };
        let flushed = self.flushed.iter().flat_map(|it| &it.accumulators);
        let states: u64 = flushed.chain(&self.table.accumulators).map(Accumulator::bytes).sum();
        self.groups() as u64 * plan.group_bytes() + tables.map(variable).sum::<u64>() + states
    }

    /// Takes in a batch, when there are so many bytes left for the worker.
    pub(super) fn consume(&mut self, plan: &GroupPlan, input: &Input, room: Bytes) {
        let known = self.find_groups(plan, input);
        if plan.keeps_any() {
            first_rows(&self.ids, known as u32, self.table.len() - known, &mut self.firsts);
        }
        self.update(plan, input);
        self.flush_if_full(plan, room);
    }

    /// Finds or makes the group of each row; how many groups there were before.
    fn find_groups(&mut self, plan: &GroupPlan, input: &Input) -> usize {
        if self.recent.find(&input.keys, input.rows, &mut self.ids) {
            let (known, missing) = (self.table.len(), self.recent.missing());
            if !missing.is_empty() {
                let keys: Vec<_> = input.keys.iter().map(|it| Arc::new(it.take(missing))).collect();
                plan.layout.encode(&keys, missing.len(), &mut self.keys);
                self.table.find_or_insert(&self.keys, &mut self.found);
                self.recent.note(&self.found, &mut self.ids);
            }
            return known;
        }
        plan.layout.encode(&input.keys, input.rows, &mut self.keys);
        if !self.table.index.accepts(&self.keys, input.block()) {
            self.flush(plan);
            self.table.index.find_by_hash();
        }
        let known = self.table.len();
        self.table.find_or_insert(&self.keys, &mut self.ids);
        known
    }

    /// Adds the rows of a batch to their groups.
    fn update(&mut self, plan: &GroupPlan, input: &Input) {
        self.batches += 1;
        let position = (input.sequence, self.batches);
        let Self { table, ids, firsts, masks, .. } = self;
        let is_sorted = table.index.is_sorted();
        let few = !is_sorted && (2..=FEW_GROUPS).contains(&table.len());
        let masked = few && group_masks(level(), ids, table.len(), masks);
        let groups = BatchGroups { ids, firsts, is_sorted, masks: masked.then_some(&**masks) };
        let mut sets = table.distinct.iter_mut();
        for (spec, accumulator) in plan.accumulators.iter().zip(&mut table.accumulators) {
            if let (AccumulatorKind::States(of), Some(states)) = (spec.kind, accumulator.states()) {
                let (filter, strict) = plan.states_of(of).filter();
                let columns = strict.iter().map(|&it| &*input.arguments[it]);
                let filter = filter.map(|it| &*input.arguments[it]);
                let valid = rows_that_count(columns, filter, input.rows);
                let (arguments, valid) = (&input.arguments[..], valid.as_deref());
                states.update(&StateRows { groups: ids, arguments, valid, position });
                continue;
            }
            let column = spec.argument.map(|it| &input.arguments[it]);
            let filter = spec.filter.map(|it| &*input.arguments[it]);
            let valid = rows_that_count(column.map(|it| &**it).into_iter(), filter, input.rows);
            let valid = valid.as_deref();
            match (spec.kind, column) {
                (AccumulatorKind::Distinct, Some(column)) => {
                    if let Some(set) = sets.next() {
                        set.add(column, ids, valid);
                    }
                }
                _ => accumulator.update(groups, column.map(|it| &**it), valid),
            }
        }
    }

    /// Flushes a table that is full, or that goes on as a dense array if there is room for it.
    pub(super) fn flush_if_full(&mut self, plan: &GroupPlan, room: Bytes) {
        // Who keeps any value wants to know the first rows of groups, which numbers do not tell there.
        let has_room = |groups: u64| groups.saturating_mul(plan.group_bytes()) <= room.0;
        let dense = self.table.index.denser(has_room).filter(|_| !plan.keeps_any());
        if let Some(dense) = dense {
            self.flush(plan);
            self.table.index = dense;
            self.table.resize();
        } else if self.table.is_full() {
            self.flush(plan);
            if !self.table.index.is_sorted()
                && let Some(groups) = self.flushed.pop()
            {
                self.flushed.push(by_partition(plan, groups));
            }
        }
    }

    fn flush(&mut self, plan: &GroupPlan) {
        self.recent.clear();
        self.flushed.push(self.table.flush(plan));
    }

    /// All its groups at the end.
    pub(super) fn finish(self) -> Vec<Groups> {
        let Self { table, mut flushed, .. } = self;
        let rest = table.finish();
        if rest.len() > 0 {
            flushed.push(rest);
        }
        flushed
    }
}

/// The rows of the `count` groups from `known` on that began them. Numbers are given in the order of first rows.
fn first_rows(ids: &[u32], known: u32, count: usize, firsts: &mut Vec<u32>) {
    firsts.clear();
    firsts.resize(count, 0);
    let mut found = 0;
    for (row, &id) in ids.iter().enumerate() {
        if found == count {
            return;
        }
        firsts[found] = row as u32;
        found += usize::from(id == known + found as u32);
    }
}

/// The rows that count for an aggregate: not NULL, and TRUE under its filter.
fn rows_that_count<'a>(
    columns: impl Iterator<Item = &'a Vector>,
    filter: Option<&'a Vector>,
    rows: usize,
) -> Option<Cow<'a, Bitmap>> {
    let mut maps = columns.filter_map(|it| it.validity.as_ref());
    let Some(filter) = filter else {
        let mut known = Cow::Borrowed(maps.next()?);
        for map in maps {
            known.to_mut().0.iter_mut().zip(&map.0).for_each(|(word, more)| *word &= more);
        }
        return Some(known);
    };
    let Values::Bool(values) = &filter.values else {
        unreachable!("invariant: a filter is a Boolean");
    };
    let mut bits = Bitmap::from_bits(values[..rows].iter().copied());
    for map in maps.chain(&filter.validity) {
        bits.0.iter_mut().zip(&map.0).for_each(|(word, more)| *word &= more);
    }
    Some(Cow::Owned(bits))
}
