//! What all groups of a grouping have in common: keys, arguments, aggregates and their accumulators.

use super::accumulator::{Accumulator, Rule};
use super::distinct::DistinctSet;
use super::key::KeyLayout;
use super::spec::{AccumulatorKind, AccumulatorSpec, AggregateSpec, accumulators_of};
use super::state::{StateSpec, states_of};
use crate::{ColumnShape, Representation, Values};
use scheduler::CancelToken;
use types::SqlResult;

/// What all groups of a grouping have in common.
pub(super) struct GroupPlan {
    pub(super) layout: KeyLayout,
    /// How many key columns there are.
    pub(super) key_columns: usize,
    /// The arguments and filters.
    pub(super) shapes: Vec<ColumnShape>,
    pub(super) aggregates: Vec<AggregateSpec>,
    pub(super) accumulators: Vec<AccumulatorSpec>,
    /// For each aggregate: its accumulators (the value, then the count if it needs one).
    pub(super) parts: Vec<(usize, Option<usize>)>,
    /// For each aggregate what it keeps by itself, if it does.
    pub(super) states: Vec<Option<StateSpec>>,
    /// Groups that are expected.
    pub(super) expected: f64,
    /// Rows that are expected to come to each worker, where that is known.
    pub(super) rows_per_worker: Option<f64>,
    /// Ends the statement.
    pub(super) cancel: CancelToken,
}

impl GroupPlan {
    /// The plan for keys and arguments of these shapes.
    pub(super) fn new(
        keys: &[ColumnShape],
        shapes: Vec<ColumnShape>,
        aggregates: Vec<AggregateSpec>,
    ) -> SqlResult<Self> {
        let mut accumulators = Vec::new();
        let of = |it| accumulators_of(it, &shapes, !keys.is_empty(), &mut accumulators);
        let parts = aggregates.iter().enumerate().map(of).collect();
        let states = aggregates.iter().map(|it| StateSpec::new(it, &shapes));
        let states = states.collect::<SqlResult<_>>()?;
        let (layout, key_columns) = (KeyLayout::new(keys), keys.len());
        Ok(Self {
            layout,
            key_columns,
            shapes,
            aggregates,
            accumulators,
            parts,
            states,
            expected: 0.0,
            rows_per_worker: None,
            cancel: CancelToken::new(),
        })
    }

    /// Fails when the statement has been ended.
    pub(super) fn check(&self) -> SqlResult<()> {
        crate::check(&self.cancel)
    }

    pub(super) fn is_keyed(&self) -> bool {
        self.key_columns > 0
    }

    /// About how many bytes a group has: its key with its place in a directory, and its accumulators.
    pub(super) fn group_bytes(&self) -> u64 {
        16 + 8 * self.accumulators.len() as u64
    }

    /// Whether some accumulator keeps any value of a group.
    pub(super) fn keeps_any(&self) -> bool {
        self.accumulators.iter().any(|it| it.kind == AccumulatorKind::Pick(Rule::Any))
    }

    /// Whether some aggregate is over distinct values.
    pub(super) fn has_distinct(&self) -> bool {
        self.accumulators.iter().any(|it| it.kind == AccumulatorKind::Distinct)
    }

    /// What the aggregate of a number keeps by itself.
    pub(super) fn states_of(&self, aggregate: usize) -> &StateSpec {
        self.states[aggregate].as_ref().expect("invariant: it was found to keep something")
    }

    /// Accumulators of no groups.
    pub(super) fn new_accumulators(&self) -> Vec<Accumulator> {
        let new = |it: &AccumulatorSpec| {
            let shape = it.argument.map(|it| &self.shapes[it]);
            match (it.kind, shape) {
                (AccumulatorKind::Sum, Some(shape)) => Accumulator::sum(shape),
                (AccumulatorKind::Pick(rule), Some(shape)) => Accumulator::pick(rule, shape),
                (AccumulatorKind::States(aggregate), _) => {
                    Accumulator::States(states_of(self.states_of(aggregate)))
                }
                _ => Accumulator::count(),
            }
        };
        self.accumulators.iter().map(new).collect()
    }

    /// Distinct sets of no groups, in the order of the accumulators that they stand for.
    pub(super) fn new_distinct_sets(&self) -> Vec<DistinctSet> {
        let sets = self.accumulators.iter().filter(|it| it.kind == AccumulatorKind::Distinct);
        let shapes = sets.filter_map(|it| it.argument).map(|it| &self.shapes[it]);
        shapes.map(|it| DistinctSet::new(it, self.is_keyed())).collect()
    }
}

/// The shape of an aggregate's column in one part, of which nothing more is known.
pub(super) fn column_shape(plan: &GroupPlan, index: usize, values: &Values) -> ColumnShape {
    let aggregate = &plan.aggregates[index];
    let argument = aggregate.argument.map(|it| &plan.shapes[it]);
    if let Some(states) = &plan.states[index] {
        return ColumnShape { bounds: None, ..states.result().clone() };
    }
    let representation = match (values, argument) {
        (Values::Codes(_), Some(shape)) => shape.representation.clone(),
        (Values::Codes(_) | Values::Text(_), _) => Representation::Text,
        (Values::F64(_), _) => Representation::F64,
        (Values::Bool(_), _) => Representation::Bool,
        (Values::I64(_), _) => Representation::I64,
        (Values::I128(_), _) => Representation::I128,
    };
    ColumnShape { data_type: aggregate.data_type, representation, bounds: None, nullable: true }
}
