//! Aggregates, and the accumulators that they need: a sum, a count and a mean of one argument share theirs.

use plan::AggregateFunction;
use types::DataType;

use super::accumulator::Rule;
use super::state::interface::has_states;
use crate::ColumnShape;

/// An aggregate over compiled expressions.
#[derive(Clone, Debug)]
pub struct AggregateSpec {
    /// Which.
    pub function: AggregateFunction,
    /// Its argument by place among the sink's arguments; `None` for COUNT(*).
    pub argument: Option<usize>,
    /// Its other arguments, likewise.
    pub rest: Vec<usize>,
    /// Only distinct values.
    pub distinct: bool,
    /// The order of its rows: arguments by place, whether greatest first, and whether NULL comes first.
    pub order: Vec<(usize, bool, bool)>,
    /// FILTER by place among the sink's arguments, a Boolean.
    pub filter: Option<usize>,
    /// The type of the result.
    pub data_type: DataType,
}

/// An accumulator and what it takes in; equal ones are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AccumulatorSpec {
    pub(super) kind: AccumulatorKind,
    pub(super) argument: Option<usize>,
    pub(super) filter: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AccumulatorKind {
    Count,
    Sum,
    Pick(Rule),
    /// A set of distinct values stands for it; counts and sums of it are made when the sets are merged.
    Distinct,
    /// What the aggregate of this number keeps by itself.
    States(usize),
}

/// Registers what an aggregate needs: the accumulator of its value and the count that tells an empty group.
pub(super) fn accumulators_of(
    (number, aggregate): (usize, &AggregateSpec),
    shapes: &[ColumnShape],
    is_keyed: bool,
    accumulators: &mut Vec<AccumulatorSpec>,
) -> (usize, Option<usize>) {
    use AccumulatorKind::{Count, Distinct, Pick, States, Sum};
    let AggregateSpec { argument, filter, .. } = *aggregate;
    let mut place = |spec: AccumulatorSpec| {
        accumulators.iter().position(|it| *it == spec).unwrap_or_else(|| {
            accumulators.push(spec);
            accumulators.len() - 1
        })
    };
    // Counting a column without NULL is counting rows.
    let counted = argument.filter(|&it| shapes[it].nullable);
    let count = AccumulatorSpec { kind: Count, argument: counted, filter };
    // A group of a key has a row, so only NULL and FILTER can leave a sum without any.
    let never_empty = is_keyed && counted.is_none() && filter.is_none();
    let (kind, needs_count) = match aggregate.function {
        AggregateFunction::Min => (Pick(Rule::Min), false),
        AggregateFunction::Max => (Pick(Rule::Max), false),
        AggregateFunction::AnyValue => (Pick(Rule::Any), false),
        function if has_states(function, argument.map(|it| shapes[it].data_type)) => {
            (States(number), false)
        }
        _ if aggregate.distinct => (Distinct, false),
        AggregateFunction::Count => return (place(count), None),
        AggregateFunction::Sum => (Sum, !never_empty),
        _ => (Sum, true),
    };
    let value = place(AccumulatorSpec { kind, argument, filter });
    (value, needs_count.then(|| place(count)))
}
