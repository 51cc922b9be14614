//! The bits of whole numbers: AND, OR and XOR of all of them.

use std::any::Any;

use plan::AggregateFunction;
use storage::Check;
use types::SqlResult;

use super::interface::{GroupStates, same_kind};
use super::rows::StateRows;
use super::spec::StateSpec;
use crate::aggregate::accumulator::take;
use crate::{Bitmap, Values, Vector};

/// The bits of each group.
pub(super) struct BitSums {
    function: AggregateFunction,
    argument: usize,
    bits: Vec<i64>,
    seen: Vec<bool>,
}

impl BitSums {
    pub(super) fn new(spec: &StateSpec) -> Self {
        let (bits, seen) = (Vec::new(), Vec::new());
        Self { function: spec.function, argument: spec.arguments[0], bits, seen }
    }

    fn add(&mut self, group: usize, value: i64) {
        let bits = &mut self.bits[group];
        *bits = match self.function {
            _ if !self.seen[group] => value,
            AggregateFunction::BitAnd => *bits & value,
            AggregateFunction::BitOr => *bits | value,
            _ => *bits ^ value,
        };
        self.seen[group] = true;
    }
}

impl GroupStates for BitSums {
    fn resize(&mut self, groups: usize) {
        self.bits.resize(groups, 0);
        self.seen.resize(groups, false);
    }

    fn take(&self, places: &[u32]) -> Box<dyn GroupStates> {
        let (bits, seen) = (take(&self.bits, places), take(&self.seen, places));
        Box::new(Self { function: self.function, argument: self.argument, bits, seen })
    }

    fn update(&mut self, rows: &StateRows<'_>) {
        let Values::I64(values) = &rows.arguments[self.argument].values else {
            unreachable!("invariant: whole numbers are held in 64 bits");
        };
        rows.counted().for_each(|(row, group)| self.add(group, values[row]));
    }

    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]) {
        let other: &Self = same_kind(other);
        for (&to, &from) in to.iter().zip(from).filter(|it| other.seen[*it.1 as usize]) {
            self.add(to as usize, other.bits[from as usize]);
        }
    }

    fn finish(&self, _: Check<'_>) -> SqlResult<Vector> {
        let some_empty = self.seen.contains(&false);
        let validity = some_empty.then(|| Bitmap::from_bits(self.seen.iter().copied()));
        Ok(Vector { values: Values::I64(self.bits.clone()), validity })
    }

    fn bytes(&self) -> u64 {
        9 * self.bits.len() as u64
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
