//! What all groups of a grouping have in common: keys, arguments, aggregates and their accumulators.

use super::accumulator::Accumulator;
use super::distinct::DistinctSet;
use super::feed::{AggregateSpec, Feed, FeedKind};
use super::groups::Groups;
use super::key::KeyLayout;
use super::table::GroupTable;
use crate::{ColumnShape, Representation, Values};

/// What all groups of a grouping have in common.
pub(super) struct GroupPlan {
    pub(super) layout: KeyLayout,
    pub(super) keyed: bool,
    pub(super) shapes: Vec<ColumnShape>,
    pub(super) specs: Vec<AggregateSpec>,
    pub(super) feeds: Vec<Feed>,
    /// For each aggregate: its accumulators among the feeds (the value, then the count if it needs one).
    pub(super) parts: Vec<(usize, Option<usize>)>,
    /// Whether some feed keeps any value of a group.
    pub(super) any: bool,
    /// Groups that are expected.
    pub(super) expected: f64,
}

impl GroupPlan {
    /// No groups yet, for a worker that sees some of the rows.
    pub(super) fn groups_of_worker(&self) -> Groups {
        let (accumulators, distinct) = self.groups_without_table();
        // Distinct values name their groups by number, so that a key should have one.
        let table = if distinct.is_empty() {
            GroupTable::for_parts(&self.layout, self.expected)
        } else {
            GroupTable::new(&self.layout)
        };
        Groups { table, accumulators, distinct }
    }

    pub(super) fn groups(&self) -> Groups {
        let (accumulators, distinct) = self.groups_without_table();
        Groups { table: GroupTable::new(&self.layout), accumulators, distinct }
    }

    pub(super) fn groups_without_table(&self) -> (Vec<Accumulator>, Vec<DistinctSet>) {
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

/// The shape of an aggregate's column in one part, of which nothing more is known.
pub(super) fn column_shape(plan: &GroupPlan, index: usize, values: &Values) -> ColumnShape {
    let argument = plan.specs[index].argument.map(|it| &plan.shapes[it]);
    let representation = match (values, argument) {
        (Values::Codes(_), Some(shape)) => shape.representation.clone(),
        (Values::Codes(_) | Values::Text(_), _) => Representation::Text,
        (Values::F64(_), _) => Representation::F64,
        (Values::Bool(_), _) => Representation::Bool,
        (Values::I64(_), _) => Representation::I64,
        (Values::I128(_), _) => Representation::I128,
    };
    let data_type = plan.specs[index].data_type;
    ColumnShape { data_type, representation, bounds: None, nullable: true }
}
