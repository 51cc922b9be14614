//! Aggregates that are neither counts, sums nor picked values: what each keeps of a group, behind one interface. Who adds
//! an aggregate writes a [`GroupStates`], or a way to `fold` ordered rows, and names it in [`states_of`]; phases,
//! merging, spilling and windows go by the interface.
//!
//! Reading order: `interface`, `rows` (what states are fed), `spec`, `collected` (all rows of a group in an order, for `fold`), `chosen` (one row
//! of an order), `moments` (variances and the like), `numbers` (the same of numbers of any scale), `bits`, `bit_strings`, `sketch` (distinct values, about).
//!
//! - Invariant: what a group comes to does not depend on how its rows were dealt or merged. Rows that an order leaves alike
//!   go by their place in the source.

mod bit_strings;
mod bits;
mod chosen;
mod collected;
mod exact;
mod fold;
pub(super) mod interface;
mod moments;
mod numbers;
mod rows;
mod sketch;
mod spec;

use plan::AggregateFunction;
use types::DataType;

use self::bit_strings::BitStrings;
use self::bits::BitSums;
use self::chosen::Chosen;
use self::collected::Collected;
use self::moments::Moments;
use self::numbers::Numbers;
use self::sketch::Sketches;
use crate::sort::BytesKey;

pub(crate) use interface::GroupStates;
pub(crate) use rows::StateRows;
pub(crate) use spec::StateSpec;

/// States of no groups.
pub(crate) fn states_of(spec: &StateSpec) -> Box<dyn GroupStates> {
    use AggregateFunction::{
        ApproximateDistinct, ArrayAggregate, BitAnd, BitOr, BitXor, First, Last, Mode,
        PercentileContinuous, PercentileDiscrete, StringAggregate,
    };
    let is_of_strings =
        spec.shapes.first().is_some_and(|it| matches!(it.data_type, DataType::Bits(_)));
    match spec.function {
        First | Last => match spec.order.bits() {
            Some(0..=64) => Box::new(Chosen::<u64>::new(spec)),
            Some(_) => Box::new(Chosen::<u128>::new(spec)),
            None => Box::new(Chosen::<BytesKey>::new(spec)),
        },
        ArrayAggregate | StringAggregate | PercentileContinuous | PercentileDiscrete | Mode => {
            collected(spec)
        }
        // What is seen twice changes nothing.
        BitAnd | BitOr if is_of_strings => Box::new(BitStrings::new(spec)),
        BitAnd | BitOr => Box::new(BitSums::new(spec)),
        ApproximateDistinct => Box::new(Sketches::new(spec)),
        _ if spec.distinct => collected(spec),
        BitXor if is_of_strings => Box::new(BitStrings::new(spec)),
        BitXor => Box::new(BitSums::new(spec)),
        _ if spec.shapes[0].data_type == DataType::Numeric => Box::new(Numbers::new(spec)),
        _ => Box::new(Moments::new(spec)),
    }
}

fn collected(spec: &StateSpec) -> Box<dyn GroupStates> {
    match spec.order.bits() {
        Some(0..=64) => Box::new(Collected::<u64>::new(spec, states_of)),
        Some(_) => Box::new(Collected::<u128>::new(spec, states_of)),
        None => Box::new(Collected::<BytesKey>::new(spec, states_of)),
    }
}
