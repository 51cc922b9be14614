//! Aggregation in two phases (P-HYPER 4.4): each worker groups what it sees in a table of its own that it empties by
//! partitions of the key's hash when it outgrows the cache; then each partition is merged by one task.
//!
//! Sums, counts and averages of one argument share their accumulators.

mod accumulator;
mod distinct;
mod key;
mod result;
mod table;

use plan::AggregateFunction;
use stdx::sync::{Arc, Mutex};
use types::{DataType, SqlResult};

use crate::expression::Compiled;
use crate::{Batch, Bitmap, ColumnShape, PerSlot, Rows, Sink, State, Team, Vector, WorkContext};

pub use accumulator::{compare_codes, compare_floats};

use accumulator::{Accumulator, Rule};
use distinct::DistinctSet;
use key::KeyLayout;
use result::result_batches;
use table::GroupTable;

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
    plan: Arc<GroupPlan>,
    locals: PerSlot<Local>,
}

/// Everything that phase two needs to know.
struct GroupPlan {
    layout: KeyLayout,
    keyed: bool,
    shapes: Vec<ColumnShape>,
    specs: Vec<AggregateSpec>,
    feeds: Vec<Feed>,
    /// For each aggregate: its accumulators among the feeds (the value, then the count).
    parts: Vec<(usize, usize)>,
}

/// Groups of one worker, and those that it has set aside.
struct Local {
    groups: Groups,
    aside: Vec<Groups>,
    ids: Vec<u32>,
}

/// Some groups with their accumulators.
struct Groups {
    table: GroupTable,
    accumulators: Vec<Accumulator>,
    distinct: Vec<DistinctSet>,
}

/// Groups that a hashed local table may hold before it is set aside: about what the L2 cache holds.
const LOCAL_GROUPS_MAX: usize = 1 << 15;
/// Partitions of the second phase when there are many groups.
const PARTITIONS: usize = 64;
/// Groups up to which one task merges everything.
const SERIAL_GROUPS_MAX: usize = 4096;

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
        let parts = specs.iter().map(|spec| feeds_of(spec, &shapes, &mut feeds)).collect();
        let layout = KeyLayout::new(&key_shapes);
        let plan = GroupPlan { layout, keyed: !keys.is_empty(), shapes, specs, feeds, parts };
        Ok(Self { keys, arguments, plan: Arc::new(plan), locals: PerSlot::new(slots) })
    }
}

/// Registers what an aggregate needs: the accumulator of its value and the count that tells an empty group.
fn feeds_of(spec: &AggregateSpec, shapes: &[ColumnShape], feeds: &mut Vec<Feed>) -> (usize, usize) {
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
    let kind = match spec.function {
        AggregateFunction::Min => FeedKind::Pick(Rule::Min),
        AggregateFunction::Max => FeedKind::Pick(Rule::Max),
        AggregateFunction::AnyValue => FeedKind::Pick(Rule::Any),
        _ if spec.distinct => FeedKind::Distinct,
        AggregateFunction::Count => {
            let count = place(Feed { kind: FeedKind::Count, argument: counted, filter });
            return (count, count);
        }
        AggregateFunction::Sum | AggregateFunction::Average => FeedKind::Sum,
    };
    let value = place(Feed { kind, argument, filter });
    let count = place(Feed { kind: FeedKind::Count, argument: counted, filter });
    (value, count)
}

impl GroupPlan {
    fn groups(&self) -> Groups {
        let accumulator = |feed: &Feed| {
            let shape = feed.argument.map(|it| &self.shapes[it]);
            match (feed.kind, shape) {
                (FeedKind::Sum, Some(shape)) => Accumulator::sum(shape),
                (FeedKind::Pick(rule), Some(shape)) => Accumulator::pick(rule, shape),
                _ => Accumulator::count(),
            }
        };
        let distinct = self.feeds.iter().filter(|it| it.kind == FeedKind::Distinct);
        Groups {
            table: GroupTable::new(&self.layout),
            accumulators: self.feeds.iter().map(accumulator).collect(),
            distinct: distinct.map(|_| DistinctSet::default()).collect(),
        }
    }
}

impl Groups {
    fn resize(&mut self) {
        let groups = self.table.len();
        self.accumulators.iter_mut().for_each(|it| it.resize(groups));
    }

    /// Group numbers by partition of the hash.
    fn by_partition(&self, partitions: usize) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); partitions];
        for group in 0..self.table.len() {
            // The low bits: tables are probed by the high ones.
            lists[self.table.hash(group) as usize & (partitions - 1)].push(group as u32);
        }
        lists
    }
}

impl Sink for AggregateSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        let keys: Vec<Arc<Vector>> =
            self.keys.iter().map(|it| it.evaluate(&batch)).collect::<SqlResult<_>>()?;
        let arguments: Vec<Arc<Vector>> =
            self.arguments.iter().map(|it| it.evaluate(&batch)).collect::<SqlResult<_>>()?;
        let plan = &*self.plan;
        let mut guard = self.locals.lock(context.slot);
        let local = guard.get_or_insert_with(|| Local {
            groups: plan.groups(),
            aside: Vec::new(),
            ids: Vec::new(),
        });
        let Local { groups, aside, ids } = local;
        let keys = plan.layout.encode(&keys, batch.rows);
        groups.table.find_or_insert(&keys, batch.rows, ids);
        groups.resize();
        let mut sets = 0;
        for (feed, accumulator) in plan.feeds.iter().zip(&mut groups.accumulators) {
            let column = feed.argument.map(|it| &*arguments[it]);
            let valid = effective(column, feed.filter.map(|it| &*arguments[it]), batch.rows);
            if let (FeedKind::Distinct, Some(place)) = (feed.kind, feed.argument) {
                groups.distinct[sets].add(
                    &plan.shapes[place],
                    &arguments[place],
                    ids,
                    valid.as_ref(),
                );
                sets += 1;
            } else {
                accumulator.update(ids, column, valid.as_ref());
            }
        }
        if groups.table.is_hashed() && groups.table.len() >= LOCAL_GROUPS_MAX {
            aside.push(std::mem::replace(groups, plan.groups()));
        }
        Ok(())
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let mut all: Vec<Groups> = Vec::new();
        for local in self.locals.take_all() {
            all.extend(local.aside);
            all.push(local.groups);
        }
        let plan = &*self.plan;
        let count: usize = all.iter().map(|it| it.table.len()).sum();
        let partitions = if count <= SERIAL_GROUPS_MAX { 1 } else { PARTITIONS };
        let lists: Vec<Vec<Vec<u32>>> = all.iter().map(|it| it.by_partition(partitions)).collect();
        let merged: Vec<Mutex<Option<Groups>>> =
            (0..partitions).map(|_| Mutex::new(None)).collect();
        team.run(partitions, &|partition, _| {
            *merged[partition].lock() = Some(merge(plan, &all, &lists, partition));
            Ok(())
        })?;
        let mut merged: Vec<Groups> = merged.into_iter().filter_map(Mutex::into_inner).collect();
        if !plan.keyed && merged[0].table.len() == 0 {
            // Without keys there is a group even over nothing.
            merged[0].table.find_or_insert(&key::Keys::Packed(vec![0]), 1, &mut Vec::new());
            merged[0].resize();
        }
        let (layout, batches) = result_batches(plan, &merged)?;
        Ok(State::Rows(Arc::new(Rows { layout, batches, ordered: false })))
    }
}

/// The rows that count for an aggregate: not NULL, and TRUE under its filter.
fn effective(column: Option<&Vector>, filter: Option<&Vector>, rows: usize) -> Option<Bitmap> {
    let validity = column.and_then(|it| it.validity.as_ref());
    let Some(filter) = filter else { return validity.cloned() };
    let crate::Values::Bool(values) = &filter.values else { return validity.cloned() };
    Some(Bitmap::from_bits(
        (0..rows).map(|row| {
            values[row] && filter.is_valid(row) && validity.is_none_or(|it| it.get(row))
        }),
    ))
}

/// Puts the groups of one partition together.
fn merge(plan: &GroupPlan, all: &[Groups], lists: &[Vec<Vec<u32>>], partition: usize) -> Groups {
    let mut merged = plan.groups();
    let mut to = Vec::new();
    for (groups, lists) in all.iter().zip(lists) {
        let from = &lists[partition];
        if from.is_empty() {
            continue;
        }
        let keys = groups.table.keys().take(from);
        merged.table.find_or_insert(&keys, from.len(), &mut to);
        merged.resize();
        for (into, more) in merged.accumulators.iter_mut().zip(&groups.accumulators) {
            into.merge(&to, more, from);
        }
        for (into, more) in merged.distinct.iter_mut().zip(&groups.distinct) {
            into.merge(&to, more, from);
        }
    }
    merged
}
