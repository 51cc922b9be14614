//! What is kept per group, as a column over all groups: counts, sums, and picked values (least, greatest, any).
//!
//! [`Accumulator`] dispatches once per batch to the kind that it is: `integer_sums` (counts, too), `float_sums`, `pick`, and
//! what the aggregates of `state` keep.

mod float_sums;
mod gather;
mod integer_kernels;
mod integer_sums;
mod long_sum;
mod pick;
mod wide_sums;

use std::ops::Range;

use storage::Check;
use types::SqlResult;

use super::batch_groups::BatchGroups;
use super::state::interface::GroupStates;
use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

pub use float_sums::FloatSums;
pub use gather::take;
pub use long_sum::LongSum;
pub use pick::Rule;
pub use wide_sums::Wide;

use integer_sums::IntegerSums;
use pick::Pick;

/// One value per group.
pub enum Accumulator {
    /// Rows: sums of ones.
    Count(IntegerSums),
    /// Sums of integers.
    Sum(IntegerSums),
    /// Sums of floats, whatever the order of rows.
    FloatSum(FloatSums),
    /// A chosen value.
    Pick(Pick),
    /// What some aggregate keeps, whose rows are fed to it by itself.
    States(Box<dyn GroupStates>),
}

impl Accumulator {
    /// Counts rows.
    pub fn count() -> Self {
        Self::Count(IntegerSums::narrow(1))
    }

    /// Sums values of a shape.
    pub fn sum(shape: &ColumnShape) -> Self {
        let magnitude = |unknown: u128| {
            shape.bounds.map_or(unknown, |(low, high)| low.unsigned_abs().max(high.unsigned_abs()))
        };
        match shape.representation {
            Representation::F64 => Self::FloatSum(FloatSums::default()),
            Representation::I128 => Self::Sum(IntegerSums::wide(magnitude(u128::MAX))),
            _ => Self::Sum(IntegerSums::narrow(magnitude(1 << 63))),
        }
    }

    /// Keeps a value of a shape.
    pub fn pick(rule: Rule, shape: &ColumnShape) -> Self {
        Self::Pick(Pick::new(rule, shape))
    }

    /// Makes room for groups.
    pub fn resize(&mut self, groups: usize) {
        match self {
            Self::Count(it) | Self::Sum(it) => it.resize(groups),
            Self::FloatSum(it) => it.resize(groups),
            Self::Pick(it) => it.resize(groups),
            Self::States(it) => it.resize(groups),
        }
    }

    /// The groups at some places, in that order.
    pub fn take(&self, places: &[u32]) -> Self {
        match self {
            Self::Count(it) => Self::Count(it.take(places)),
            Self::Sum(it) => Self::Sum(it.take(places)),
            Self::FloatSum(it) => Self::FloatSum(it.take(places.iter().map(|&it| it as usize))),
            Self::Pick(it) => Self::Pick(it.take(places)),
            Self::States(it) => Self::States(it.take(places)),
        }
    }

    /// Groups that follow each other.
    pub fn slice(&self, groups: Range<usize>) -> Self {
        match self {
            Self::Count(it) => Self::Count(it.slice(groups)),
            Self::Sum(it) => Self::Sum(it.slice(groups)),
            Self::FloatSum(it) => Self::FloatSum(it.take(groups)),
            Self::Pick(_) | Self::States(_) => {
                self.take(&(groups.start as u32..groups.end as u32).collect::<Vec<_>>())
            }
        }
    }

    /// Takes in a batch: `column` has the values (`None` to count), and only rows of `valid` count.
    pub fn update(
        &mut self,
        groups: BatchGroups<'_>,
        column: Option<&Vector>,
        valid: Option<&Bitmap>,
    ) {
        match (self, column.map(|it| &it.values)) {
            (Self::Count(it), _) => it.count(groups, valid),
            (Self::Sum(it), Some(values)) => it.update(groups, values, valid),
            (Self::FloatSum(it), Some(Values::F64(values))) => it.update(groups.ids, values, valid),
            (Self::Pick(it), Some(values)) => it.update(groups, values, valid),
            _ => unreachable!("invariant: an accumulator was made for its column"),
        }
    }

    /// Adds the groups `from[i]` of another accumulator of the same kind to the groups `to[i]` of this one.
    pub fn merge(&mut self, to: &[u32], other: &Self, from: &[u32]) {
        let pairs = to.iter().zip(from).map(|(&to, &from)| (to as usize, from as usize));
        match (self, other) {
            (Self::Count(into), Self::Count(more)) | (Self::Sum(into), Self::Sum(more)) => {
                into.merge(pairs, more);
            }
            (Self::FloatSum(into), Self::FloatSum(more)) => {
                pairs.for_each(|(to, from)| into.merge(to, more, from));
            }
            (Self::Pick(into), Self::Pick(more)) => into.merge(pairs, more),
            (Self::States(into), Self::States(more)) => into.merge(to, &**more, from),
            _ => unreachable!("invariant: accumulators of one aggregate are of one kind"),
        }
    }

    /// The sums of integers, or counts.
    pub fn integers(&mut self) -> &mut IntegerSums {
        match self {
            Self::Count(it) | Self::Sum(it) => it,
            _ => unreachable!("invariant: packed columns and their counts are integers"),
        }
    }

    /// The counts.
    pub fn counts(&self) -> &[i64] {
        match self {
            Self::Count(it) => it.as_narrow().expect("invariant: counts fit 64 bits"),
            _ => unreachable!("invariant: only counts are asked for counts"),
        }
    }

    /// The sums of integers when all fit 64 bits anyway.
    pub fn narrow_sums(&self) -> Option<&[i64]> {
        match self {
            Self::Sum(it) => it.as_narrow(),
            _ => None,
        }
    }

    /// The sum of integers of a group.
    pub fn wide_sum(&self, group: usize) -> Wide {
        match self {
            Self::Sum(it) => it.get(group),
            _ => unreachable!("invariant: only sums of integers are asked for wide sums"),
        }
    }

    /// The sums of floats.
    pub fn float_sums(&self) -> Option<&FloatSums> {
        match self {
            Self::FloatSum(it) => Some(it),
            _ => None,
        }
    }

    /// What an aggregate keeps by itself.
    pub fn states(&mut self) -> Option<&mut dyn GroupStates> {
        match self {
            Self::States(it) => Some(&mut **it),
            _ => None,
        }
    }

    /// The finished values of who keeps them by itself.
    pub fn finished(&self, check: Check<'_>) -> Option<SqlResult<Vector>> {
        match self {
            Self::States(it) => Some(it.finish(check)),
            _ => None,
        }
    }

    /// Bytes beyond a few for each group.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::States(it) => it.bytes(),
            _ => 0,
        }
    }

    /// The chosen values as a vector; NULL where a group had none.
    pub fn picked(&self) -> Option<Vector> {
        match self {
            Self::Pick(it) => Some(it.to_vector()),
            _ => None,
        }
    }
}
