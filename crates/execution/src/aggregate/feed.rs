//! Aggregates, and what their accumulators are fed with.

use plan::AggregateFunction;
use types::DataType;

use super::pick::Rule;
use crate::ColumnShape;

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
pub(super) struct Feed {
    pub(super) kind: FeedKind,
    pub(super) argument: Option<usize>,
    pub(super) filter: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FeedKind {
    Count,
    Sum,
    Pick(Rule),
    /// An index into the distinct sets; counts and sums of it are made when the sets are merged.
    Distinct,
}

/// Registers what an aggregate needs: the accumulator of its value and the count that tells an empty group.
pub(super) fn feeds_of(
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
