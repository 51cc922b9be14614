//! Aggregates that are neither counts, sums nor picked values: what each keeps of a group, behind one interface. Who adds
//! an aggregate writes a [`GroupStates`], or a way to [`fold`] ordered rows, and names it in [`StateSpec::states`]; phases,
//! merging, spilling and windows go by the interface.
//!
//! Reading order: `rows` (what states are fed), `collected` (all rows of a group in an order, for `fold`), `chosen` (one row
//! of an order), `moments` (variances and the like), `bits`, `sketch` (distinct values, about).
//!
//! - Invariant: what a group comes to does not depend on how its rows were dealt or merged. Rows that an order leaves alike
//!   go by their place in the source.

mod bits;
mod chosen;
mod collected;
mod exact;
mod fold;
mod moments;
mod rows;
mod sketch;

use std::any::Any;

use plan::{AggregateFunction, Expr};
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use self::bits::BitSums;
use self::chosen::Chosen;
use self::collected::Collected;
use self::moments::Moments;
use self::sketch::Sketches;
use super::spec::AggregateSpec;
use crate::expression::Compiled;
use crate::sort::{BytesKey, CompiledSortKey, KeyEncoder, RowKey};
use crate::{ColumnShape, Layout, Vector};

pub(crate) use rows::StateRows;

/// What an aggregate keeps of each of some groups.
pub(crate) trait GroupStates: Send + Sync {
    /// Makes room for groups.
    fn resize(&mut self, groups: usize);
    /// The groups at some places, in that order.
    fn take(&self, places: &[u32]) -> Box<dyn GroupStates>;
    /// Takes in the rows of a batch.
    fn update(&mut self, rows: &StateRows<'_>);
    /// Adds the groups `from[i]` of other states of the same aggregate to the groups `to[i]`.
    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]);
    /// The value of each group.
    fn finish(&self) -> SqlResult<Vector>;
    /// About how many bytes it holds.
    fn bytes(&self) -> u64;
    /// Itself, for who merges it.
    fn as_any(&self) -> &dyn Any;
}

/// The states of another worker as what they are: those of one aggregate are of one kind.
fn same_kind<T: 'static>(other: &dyn GroupStates) -> &T {
    other.as_any().downcast_ref().expect("invariant: states of one aggregate are of one kind")
}

/// An aggregate that has states of its own.
#[derive(Clone)]
pub(crate) struct StateSpec {
    function: AggregateFunction,
    /// Its arguments by place among those of all aggregates.
    arguments: Vec<usize>,
    /// What they are held as.
    shapes: Vec<ColumnShape>,
    filter: Option<usize>,
    distinct: bool,
    /// The order of the rows, encoded from the arguments of all aggregates.
    order: Arc<KeyEncoder>,
    /// The result.
    result: ColumnShape,
}

impl StateSpec {
    /// What an aggregate needs of a layout of arguments; `None` of one that has no states of its own.
    pub(crate) fn new(spec: &AggregateSpec, layout: &Layout) -> SqlResult<Option<Self>> {
        if !has_states(spec.function) {
            return Ok(None);
        }
        let arguments: Vec<usize> = spec.argument.iter().chain(&spec.rest).copied().collect();
        let shapes: Vec<ColumnShape> = arguments.iter().map(|&it| layout[it].clone()).collect();
        let mut order = spec.order.clone();
        let ranks = matches!(
            spec.function,
            AggregateFunction::PercentileContinuous
                | AggregateFunction::PercentileDiscrete
                | AggregateFunction::Mode
        );
        if let (true, true, Some(&value)) = (ranks, order.is_empty(), arguments.first()) {
            order.push((value, false, false));
        }
        if spec.distinct {
            // Equal rows come one after the other: the order is one of the arguments.
            order.extend(arguments.iter().map(|&it| (it, false, false)));
        }
        let key = |&(place, descending, nulls_first): &(usize, bool, bool)| {
            let none = |_| Err(SqlError::internal("a column asks for a subquery"));
            let column = Expr::column(place, layout[place].data_type);
            let key = Compiled::new(&column, layout, &none)?;
            Ok(CompiledSortKey { key, descending, nulls_first })
        };
        let order = order.iter().map(key).collect::<SqlResult<_>>()?;
        let order = Arc::new(KeyEncoder::new(order));
        let result = match (spec.function.is_choice(), shapes.first()) {
            (true, Some(shape)) => {
                ColumnShape { data_type: spec.data_type, nullable: true, ..shape.clone() }
            }
            _ => ColumnShape::computed(spec.data_type, true),
        };
        let (function, distinct, filter) = (spec.function, spec.distinct, spec.filter);
        Ok(Some(Self { function, arguments, shapes, filter, distinct, order, result }))
    }

    /// What its values are held as.
    pub(crate) fn result(&self) -> &ColumnShape {
        &self.result
    }

    /// FILTER and the arguments that must not be NULL, by place.
    pub(super) fn filter(&self) -> (Option<usize>, &[usize]) {
        (self.filter, &self.arguments[..self.function.strict_arguments().min(self.arguments.len())])
    }

    /// States of no groups.
    pub(crate) fn states(&self) -> Box<dyn GroupStates> {
        use AggregateFunction::{
            ApproximateDistinct, BitAnd, BitOr, BitXor, First, Last, Mode, PercentileContinuous,
            PercentileDiscrete, StringAggregate,
        };
        match self.function {
            First | Last => match self.order.bits() {
                Some(0..=64) => Box::new(Chosen::<u64>::new(self)),
                Some(_) => Box::new(Chosen::<u128>::new(self)),
                None => Box::new(Chosen::<BytesKey>::new(self)),
            },
            StringAggregate | PercentileContinuous | PercentileDiscrete | Mode => self.collected(),
            // What is seen twice changes nothing.
            BitAnd | BitOr => Box::new(BitSums::new(self)),
            ApproximateDistinct => Box::new(Sketches::new(self)),
            _ if self.distinct => self.collected(),
            BitXor => Box::new(BitSums::new(self)),
            _ => Box::new(Moments::new(self)),
        }
    }

    fn collected(&self) -> Box<dyn GroupStates> {
        match self.order.bits() {
            Some(0..=64) => Box::new(Collected::<u64>::new(self)),
            Some(_) => Box::new(Collected::<u128>::new(self)),
            None => Box::new(Collected::<BytesKey>::new(self)),
        }
    }

    /// The keys of rows in the order.
    fn keys<K: RowKey>(&self, rows: &StateRows<'_>) -> Vec<K> {
        K::encode(&self.order, &rows.batch()).expect("invariant: columns raise no errors")
    }
}

/// Whether a function keeps states of its own.
pub(super) fn has_states(function: AggregateFunction) -> bool {
    use AggregateFunction::{AnyValue, Average, Count, Max, Min, Sum};
    !matches!(function, Count | Sum | Average | Min | Max | AnyValue)
}
