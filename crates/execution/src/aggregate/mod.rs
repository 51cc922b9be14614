//! Aggregation in two phases (P-HYPER 4.4): each worker groups what it sees in a table of its own that it sets
//! aside when it outgrows the cache; then the groups are cut into partitions, each merged by one task.
//!
//! Sums, counts and averages of one argument share their accumulators.

mod accumulator;
mod distinct;
mod feed;
mod float_sums;
mod group_plan;
mod group_rows;
mod groups;
mod hash;
mod having;
mod key;
mod long_sum;
mod merge;
mod order;
mod packed;
mod packed_runs;
mod pick;
mod result;
mod run_buffer;
mod runs;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
mod texts;
mod whole;
mod wide;

use std::borrow::Cow;

use stdx::sync::Arc;
use types::SqlResult;

use crate::expression::Compiled;
use crate::leveled::{FEW_GROUPS, group_masks, level};
use crate::scan::PackedBlock;
use crate::{Batch, Bitmap, ColumnShape, PerSlot, Rows, Sink, State, Team, Vector, WorkContext};

pub use feed::AggregateSpec;
pub(crate) use having::stands_alone;
pub use order::compare_floats;

use feed::{Feed, FeedKind, feeds_of};
use group_plan::GroupPlan;
use group_rows::GroupRows;
use groups::Groups;
use having::Having;
use key::{KeyLayout, Keys};
use merge::{by_partition, merge_all};
use packed::{PackedPlan, Registers};
use pick::Rule;
use result::result_batches;
use table::GroupTable;
use whole::{Room, WholePlan};

/// Groups the rows of a pipeline.
pub struct AggregateSink {
    keys: Vec<Compiled>,
    arguments: Vec<Compiled>,
    plan: GroupPlan,
    /// What is asked of the finished groups, if that is known here.
    having: Option<Having>,
    /// How packed rows are grouped, where they can be.
    packed: Option<PackedPlan>,
    /// How packed rows are added up when all are one group.
    whole: Option<WholePlan>,
    locals: PerSlot<Local>,
}

/// Groups of one worker, and those that it has set aside.
struct Local {
    groups: Groups,
    aside: Vec<Groups>,
    /// The keys of a batch, and their groups; kept for their memory.
    keys: Keys,
    ids: Vec<u32>,
    /// Bitmaps of rows by group, while there are few groups.
    masks: Vec<u64>,
    /// The first rows of the groups that a batch began.
    firsts: Vec<u32>,
    /// Chunks of packed rows; made with the first.
    registers: Option<Registers>,
    /// As `registers`, for a single group.
    room: Option<Room>,
}

impl Local {
    fn new(plan: &GroupPlan) -> Self {
        Self {
            groups: plan.groups_of_worker(),
            aside: Vec::new(),
            keys: plan.layout.no_keys(),
            ids: Vec::new(),
            masks: Vec::new(),
            firsts: Vec::new(),
            registers: None,
            room: None,
        }
    }
}

impl AggregateSink {
    /// Groups by `keys`; aggregates name their arguments and filters by place in `arguments`.
    pub fn new(
        keys: Vec<Compiled>,
        arguments: Vec<Compiled>,
        specs: Vec<AggregateSpec>,
        slots: usize,
    ) -> SqlResult<Self> {
        let key_shapes: Vec<ColumnShape> = keys.iter().map(|it| it.shape().clone()).collect();
        let shapes: Vec<ColumnShape> = arguments.iter().map(|it| it.shape().clone()).collect();
        let mut feeds: Vec<Feed> = Vec::new();
        let keyed = !keys.is_empty();
        let parts = specs.iter().map(|spec| feeds_of(spec, &shapes, keyed, &mut feeds)).collect();
        let layout = KeyLayout::new(&key_shapes);
        let any = feeds.iter().any(|it| it.kind == FeedKind::Pick(Rule::Any));
        let packed = PackedPlan::of(level(), &keys, &layout, &arguments, &feeds);
        let whole = WholePlan::of(&keys, &arguments, &feeds);
        let expected = 0.0;
        let plan = GroupPlan { layout, keyed, shapes, specs, feeds, parts, any, expected };
        let having = None;
        Ok(Self { keys, arguments, plan, having, packed, whole, locals: PerSlot::new(slots) })
    }

    /// Makes ready for so many groups.
    pub fn expecting(mut self, groups: f64) -> Self {
        self.plan.expected = groups;
        self
    }

    /// Drops finished groups for which a condition over the columns of the result is not TRUE: whoever reads them asks
    /// that first, and most of them need never be written (Q18: 57 of 1.5 million).
    pub fn having(mut self, condition: &plan::Expr) -> Self {
        self.having = Some(Having::new(condition));
        self
    }
}

impl Sink for AggregateSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        let keys: Vec<Arc<Vector>> =
            self.keys.iter().map(|it| it.evaluate(&batch)).collect::<SqlResult<_>>()?;
        let arguments: Vec<Arc<Vector>> =
            self.arguments.iter().map(|it| it.evaluate(&batch)).collect::<SqlResult<_>>()?;
        let plan = &self.plan;
        let mut guard = self.locals.lock(context.slot);
        let local = guard.get_or_insert_with(|| Local::new(plan));
        let Local { groups, aside, keys: words, ids, masks, firsts, .. } = local;
        plan.layout.encode(&keys, batch.rows, words);
        if !groups.table.accepts(words, batch.sequence / storage::BLOCK_ROWS as u64) {
            aside.push(groups.set_aside(plan.groups_without_table(), false));
        }
        let known = groups.table.len();
        groups.table.find_or_insert(words, batch.rows, ids);
        groups.resize();
        if plan.any {
            first_rows(ids, known as u32, groups.table.len() - known, firsts);
        }
        let rows = GroupRows { firsts, ..group_rows(&groups.table, ids, masks) };
        let mut sets = groups.distinct.iter_mut();
        for (feed, accumulator) in plan.feeds.iter().zip(&mut groups.accumulators) {
            let column = feed.argument.map(|it| &arguments[it]);
            let filter = feed.filter.map(|it| &*arguments[it]);
            let valid = effective(column.map(|it| &**it), filter, batch.rows);
            let valid = valid.as_deref();
            match (feed.kind, column) {
                (FeedKind::Distinct, Some(column)) => {
                    if let Some(set) = sets.next() {
                        set.add(column, ids, valid);
                    }
                }
                _ => accumulator.update(rows, column.map(|it| &**it), valid),
            }
        }
        if let Some(dense) = groups.table.dense().filter(|_| !plan.any) {
            let fresh = plan.groups_without_table();
            aside.push(groups.set_aside(fresh, false));
            groups.table = dense;
            groups.resize();
        } else if groups.is_large() {
            let (fresh, rising) = (plan.groups_without_table(), groups.table.is_rising());
            let done = groups.set_aside(fresh, rising);
            aside.push(if rising { done } else { by_partition(plan, done) });
        }
        Ok(())
    }

    fn takes_packed(&self) -> bool {
        // Groups by runs pay where most of them are dropped before they are kept.
        let packed = self.packed.as_ref();
        self.whole.is_some() || packed.is_some_and(|it| !it.in_runs || self.having.is_some())
    }

    fn consume_packed(&self, block: &PackedBlock<'_>, context: &WorkContext) -> SqlResult<bool> {
        let mut guard = self.locals.lock(context.slot);
        let plan = &self.plan;
        let local = guard.get_or_insert_with(|| Local::new(plan));
        let Local { groups, registers, aside, room, .. } = local;
        if let Some(whole) = &self.whole {
            return Ok(whole.add(block, groups, room.get_or_insert_default()));
        }
        let Some(packed) = &self.packed else { return Ok(false) };
        let registers = registers.get_or_insert_with(|| packed.registers());
        if !packed.in_runs {
            return Ok(packed.add(block, groups, registers));
        }
        let took = packed.add_runs(block, (plan, self.having.as_ref()), groups, registers)?;
        if groups.is_large() {
            let (fresh, rising) = (plan.groups_without_table(), groups.table.is_rising());
            aside.push(groups.set_aside(fresh, rising));
        }
        Ok(took)
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let mut all: Vec<Groups> = Vec::new();
        for mut local in self.locals.take_all() {
            local.groups.pack();
            all.extend(local.aside);
            if local.groups.table.len() > 0 {
                all.push(local.groups);
            }
        }
        let parts = merge_all(&self.plan, self.having.as_ref(), all, team)?;
        let (layout, batches) = result_batches(&self.plan, parts, team)?;
        Ok(State::Rows(Arc::new(Rows { layout, batches, ordered: false, homes: Vec::new() })))
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

/// What is known of the groups of a batch.
fn group_rows<'a>(table: &GroupTable, ids: &'a [u32], masks: &'a mut Vec<u64>) -> GroupRows<'a> {
    let few = !table.is_rising() && (2..=FEW_GROUPS).contains(&table.len());
    let masked = few && group_masks(level(), ids, table.len(), masks);
    GroupRows { ids, firsts: &[], rising: table.is_rising(), masks: masked.then_some(&*masks) }
}

/// The rows that count for an aggregate: not NULL, and TRUE under its filter.
fn effective<'a>(
    column: Option<&'a Vector>,
    filter: Option<&Vector>,
    rows: usize,
) -> Option<Cow<'a, Bitmap>> {
    let validity = column.and_then(|it| it.validity.as_ref());
    let Some(filter) = filter else { return validity.map(Cow::Borrowed) };
    let crate::Values::Bool(values) = &filter.values else {
        unreachable!("invariant: a filter is a Boolean");
    };
    let mut bits = Bitmap::from_bits(values[..rows].iter().copied());
    for map in [&filter.validity, &validity.cloned()].into_iter().flatten() {
        bits.0.iter_mut().zip(&map.0).for_each(|(word, more)| *word &= more);
    }
    Some(Cow::Owned(bits))
}
