//! Aggregation in two phases (P-HYPER 4.4): each worker groups what it sees in a table of its own that it sets
//! aside when it outgrows the cache; then the groups are cut into partitions, each merged by one task.
//!
//! Sums, counts and averages of one argument share their accumulators.

mod accumulator;
mod distinct;
mod float_sums;
mod having;
mod key;
mod long_sum;
mod merge;
mod order;
mod packed;
mod packed_runs;
mod pick;
mod result;
mod runs;
mod table;
#[cfg(test)]
mod tests;
mod texts;
mod whole;
mod wide;

use std::borrow::Cow;

use plan::AggregateFunction;
use stdx::sync::Arc;
use types::{DataType, SqlResult};

use crate::expression::Compiled;
use crate::leveled::{FEW_GROUPS, group_masks, level};
use crate::scan::PackedBlock;
use crate::{Batch, Bitmap, ColumnShape, PerSlot, Rows, Sink, State, Team, Vector, WorkContext};

pub(crate) use having::stands_alone;
pub use order::compare_floats;

use accumulator::{Accumulator, GroupRows, Rule};
use distinct::DistinctSet;
use having::Having;
use key::{KeyLayout, Keys};
use merge::{by_partition, merge_all};
use packed::{PackedPlan, Registers};
use result::result_batches;
use table::GroupTable;
use whole::{Room, WholePlan};

/// An aggregate over compiled expressions.
#[derive(Clone, Debug)]
pub struct AggregateSpec {
    /// Which.
    pub function: AggregateFunction,
    /// Its argument by place among the sink's arguments; `None` for COUNT(*).
    pub argument: Option<usize>,
    /// Only distinct values.
    pub distinct: bool,
    /// FILTER by place among the sink's arguments, a Boolean.
    pub filter: Option<usize>,
    /// The type of the result.
    pub data_type: DataType,
}

/// What an accumulator is fed with; equal feeds share an accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Feed {
    kind: FeedKind,
    argument: Option<usize>,
    filter: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FeedKind {
    Count,
    Sum,
    Pick(Rule),
    /// An index into the distinct sets; counts and sums of it are made when the sets are merged.
    Distinct,
}

/// Groups the rows of a pipeline.
pub struct AggregateSink {
    keys: Vec<Compiled>,
    arguments: Vec<Compiled>,
    plan: GroupPlan,
    /// How packed rows are grouped, where they can be.
    packed: Option<PackedPlan>,
    /// How packed rows are added up when all are one group.
    whole: Option<WholePlan>,
    locals: PerSlot<Local>,
}

/// Everything that phase two needs to know.
struct GroupPlan {
    layout: KeyLayout,
    keyed: bool,
    shapes: Vec<ColumnShape>,
    specs: Vec<AggregateSpec>,
    feeds: Vec<Feed>,
    /// For each aggregate: its accumulators among the feeds (the value, then the count if it needs one).
    parts: Vec<(usize, Option<usize>)>,
    /// Whether some feed keeps any value of a group.
    any: bool,
    /// Groups that are expected.
    expected: f64,
    /// What is asked of the finished groups, if that is known here.
    having: Option<Having>,
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

/// Some groups with their accumulators.
struct Groups {
    table: GroupTable,
    accumulators: Vec<Accumulator>,
    distinct: Vec<DistinctSet>,
}

/// Groups that a hashed local table may hold before it is set aside: about what the L2 cache holds.
const LOCAL_GROUPS_MAX: usize = 1 << 15;
/// Groups with rising keys that a local table may hold: they are only appended to, and should not be copied as it grows.
const RISING_GROUPS_MAX: usize = 1 << 16;
/// Bytes of keys that a local table may hold; far below the 4 GiB that it could address.
const LOCAL_KEY_BYTES_MAX: usize = 256 << 20;

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
        let (expected, having) = (0.0, None);
        let plan = GroupPlan { layout, keyed, shapes, specs, feeds, parts, any, expected, having };
        Ok(Self { keys, arguments, plan, packed, whole, locals: PerSlot::new(slots) })
    }

    /// Makes ready for so many groups.
    pub fn expecting(mut self, groups: f64) -> Self {
        self.plan.expected = groups;
        self
    }

    /// Drops finished groups for which a condition over the columns of the result is not TRUE: whoever reads them asks
    /// that first, and most of them need never be written (Q18: 57 of 1.5 million).
    pub fn having(mut self, condition: &plan::Expr) -> Self {
        self.plan.having = Some(Having::new(condition));
        self
    }
}

/// Registers what an aggregate needs: the accumulator of its value and the count that tells an empty group.
fn feeds_of(
    spec: &AggregateSpec,
    shapes: &[ColumnShape],
    keyed: bool,
    feeds: &mut Vec<Feed>,
) -> (usize, Option<usize>) {
    let mut place = |feed: Feed| {
        feeds.iter().position(|it| *it == feed).unwrap_or_else(|| {
            feeds.push(feed);
            feeds.len() - 1
        })
    };
    let filter = spec.filter;
    // Counting a column without NULL is counting rows.
    let counted = spec.argument.filter(|&it| shapes[it].nullable);
    let argument = spec.argument;
    // A group of a key has a row, so only NULL and FILTER can leave a sum without any.
    let never_empty = keyed && counted.is_none() && filter.is_none();
    let (kind, needs_count) = match spec.function {
        AggregateFunction::Min => (FeedKind::Pick(Rule::Min), false),
        AggregateFunction::Max => (FeedKind::Pick(Rule::Max), false),
        AggregateFunction::AnyValue => (FeedKind::Pick(Rule::Any), false),
        _ if spec.distinct => (FeedKind::Distinct, false),
        AggregateFunction::Count => {
            let count = place(Feed { kind: FeedKind::Count, argument: counted, filter });
            return (count, None);
        }
        AggregateFunction::Sum => (FeedKind::Sum, !never_empty),
        AggregateFunction::Average => (FeedKind::Sum, true),
    };
    let value = place(Feed { kind, argument, filter });
    let count = Feed { kind: FeedKind::Count, argument: counted, filter };
    (value, needs_count.then(|| place(count)))
}

impl GroupPlan {
    /// No groups yet, for a worker that sees some of the rows.
    fn groups_of_worker(&self) -> Groups {
        let (accumulators, distinct) = self.groups_without_table();
        // Distinct values name their groups by number, so that a key should have one.
        let table = if distinct.is_empty() {
            GroupTable::for_parts(&self.layout, self.expected)
        } else {
            GroupTable::new(&self.layout)
        };
        Groups { table, accumulators, distinct }
    }

    fn groups(&self) -> Groups {
        let (accumulators, distinct) = self.groups_without_table();
        Groups { table: GroupTable::new(&self.layout), accumulators, distinct }
    }

    fn groups_without_table(&self) -> (Vec<Accumulator>, Vec<DistinctSet>) {
        let accumulator = |feed: &Feed| {
            let shape = feed.argument.map(|it| &self.shapes[it]);
            match (feed.kind, shape) {
                (FeedKind::Sum, Some(shape)) => Accumulator::sum(shape),
                (FeedKind::Pick(rule), Some(shape)) => Accumulator::pick(rule, shape),
                _ => Accumulator::count(),
            }
        };
        let sets = self.feeds.iter().filter(|it| it.kind == FeedKind::Distinct);
        let shapes = sets.filter_map(|it| it.argument).map(|it| &self.shapes[it]);
        let distinct = shapes.map(|it| DistinctSet::new(it, self.keyed)).collect();
        (self.feeds.iter().map(accumulator).collect(), distinct)
    }
}

impl Groups {
    fn resize(&mut self) {
        let groups = self.table.len();
        self.accumulators.iter_mut().for_each(|it| it.resize(groups));
    }

    /// Drops the groups that are not there, where numbers are keys.
    fn pack(&mut self) {
        if let Some(places) = self.table.pack() {
            self.accumulators.iter_mut().for_each(|it| *it = it.take(&places));
        }
    }

    /// Takes everything out and begins anew; with `goes_on` keys are expected to go on rising.
    fn set_aside(&mut self, fresh: (Vec<Accumulator>, Vec<DistinctSet>), goes_on: bool) -> Self {
        Self {
            table: if goes_on { self.table.set_runs_aside() } else { self.table.set_aside() },
            accumulators: std::mem::replace(&mut self.accumulators, fresh.0),
            distinct: std::mem::replace(&mut self.distinct, fresh.1),
        }
    }

    /// Whether it is time to begin anew with an empty table.
    fn is_large(&self) -> bool {
        let bytes = self.table.key_bytes()
            + self.distinct.iter().map(DistinctSet::key_bytes).max().unwrap_or(0);
        self.table.is_hashed() && self.table.len() >= LOCAL_GROUPS_MAX
            || self.table.is_rising() && self.table.len() >= RISING_GROUPS_MAX
            || bytes >= LOCAL_KEY_BYTES_MAX
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
        self.whole.is_some() || packed.is_some_and(|it| !it.in_runs || self.plan.having.is_some())
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
        let took = packed.add_runs(block, plan, groups, registers)?;
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
        let parts = merge_all(&self.plan, all, team)?;
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
