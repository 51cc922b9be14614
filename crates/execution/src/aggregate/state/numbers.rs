//! Sums, means, variances and deviations of numbers of any scale: exact sums of the numbers, and where they are asked for of
//! their squares.

use std::any::Any;

use plan::AggregateFunction;
use storage::Check;
use types::SqlResult;
use types::numeric::Arithmetic;
use types::numeric::number::{self, Number};

use super::fold::optional;
use super::interface::{GroupStates, same_kind};
use super::rows::{StateRows, text_at};
use super::spec::StateSpec;
use crate::aggregate::accumulator::take;
use crate::{TextVector, Values, Vector};

/// What is kept of a group.
#[derive(Clone)]
struct Kept {
    count: i64,
    sum: Number,
    squares: Number,
}

/// The sums of each group.
pub(super) struct Numbers {
    spec: StateSpec,
    squares: bool,
    groups: Vec<Kept>,
}

/// A sum, which no division is part of: it has no errors.
fn sum(a: &Number, b: &Number) -> Number {
    a.arithmetic(Arithmetic::Add, b).unwrap_or(Number::NaN)
}

impl Numbers {
    pub(super) fn new(spec: &StateSpec) -> Self {
        let squares = !matches!(spec.function, AggregateFunction::Sum | AggregateFunction::Average);
        Self { spec: spec.clone(), squares, groups: Vec::new() }
    }

    /// The value of a group; `None` of too few rows.
    fn value(&self, of: &Kept) -> SqlResult<Option<Number>> {
        use AggregateFunction::{
            Average, DeviationPopulation, DeviationSample, Sum, VarianceSample,
        };
        let function = self.spec.function;
        let sample = matches!(function, VarianceSample | DeviationSample);
        if of.count <= i64::from(sample) {
            return Ok(None);
        }
        Ok(Some(match function {
            Sum => of.sum.clone(),
            Average => of.sum.mean(of.count)?,
            _ => {
                let root = matches!(function, DeviationPopulation | DeviationSample);
                Number::spread(of.count, (&of.sum, &of.squares), sample, root)?
            }
        }))
    }
}

impl GroupStates for Numbers {
    fn resize(&mut self, groups: usize) {
        let nothing = Kept { count: 0, sum: Number::zero(), squares: Number::zero() };
        self.groups.resize(groups, nothing);
    }

    fn take(&self, places: &[u32]) -> Box<dyn GroupStates> {
        let groups = take(&self.groups, places);
        Box::new(Self { spec: self.spec.clone(), squares: self.squares, groups })
    }

    fn update(&mut self, rows: &StateRows<'_>) {
        let (vector, shape) = (&rows.arguments[self.spec.arguments[0]], &self.spec.shapes[0]);
        for (row, group) in rows.counted() {
            // A column holds numbers; one that is damaged is none.
            let number = number::of_held(&text_at(vector, shape, row)).unwrap_or(Number::NaN);
            let kept = &mut self.groups[group];
            kept.count += 1;
            kept.sum = sum(&kept.sum, &number);
            if self.squares {
                let square = number.arithmetic(Arithmetic::Multiply, &number);
                kept.squares = sum(&kept.squares, &square.unwrap_or(Number::NaN));
            }
        }
    }

    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]) {
        let other: &Self = same_kind(other);
        for (&to, &from) in to.iter().zip(from) {
            let (kept, more) = (&mut self.groups[to as usize], &other.groups[from as usize]);
            kept.count += more.count;
            kept.sum = sum(&kept.sum, &more.sum);
            kept.squares = sum(&kept.squares, &more.squares);
        }
    }

    fn finish(&self, _: Check<'_>) -> SqlResult<Vector> {
        let (mut texts, mut valid) = (TextVector::default(), Vec::with_capacity(self.groups.len()));
        for group in &self.groups {
            let value = self.value(group)?;
            valid.push(value.is_some());
            match value {
                Some(it) => texts.push(&it.held()?),
                None => texts.push(""),
            }
        }
        Ok(optional(Values::Text(texts), &valid))
    }

    fn bytes(&self) -> u64 {
        // Few numbers have more digits than two words hold.
        (self.groups.len() * (size_of::<Kept>() + 32)) as u64
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
