//! AND, OR and XOR of all strings of bits.

use std::any::Any;

use plan::AggregateFunction;
use storage::Check;
use types::SqlResult;
use types::numeric::bit_text::{self, Combination};

use super::fold::optional;
use super::interface::{GroupStates, same_kind};
use super::rows::{StateRows, text_at};
use super::spec::StateSpec;
use crate::aggregate::accumulator::take;
use crate::{TextVector, Values, Vector};

/// What is kept of a group.
#[derive(Clone, Default)]
enum Kept {
    #[default]
    Nothing,
    Bits(String),
    /// There were bits of several lengths.
    Unequal,
}

/// The bits of each group.
pub(super) struct BitStrings {
    spec: StateSpec,
    combination: Combination,
    groups: Vec<Kept>,
}

impl BitStrings {
    pub(super) fn new(spec: &StateSpec) -> Self {
        let combination = match spec.function {
            AggregateFunction::BitAnd => Combination::And,
            AggregateFunction::BitOr => Combination::Or,
            _ => Combination::Xor,
        };
        Self { spec: spec.clone(), combination, groups: Vec::new() }
    }

    fn add(&mut self, group: usize, more: &str) {
        let kept = &mut self.groups[group];
        match kept {
            Kept::Nothing => *kept = Kept::Bits(more.to_owned()),
            Kept::Bits(bits) => match bit_text::combined(self.combination, bits, more) {
                Ok(both) => *bits = both,
                Err(_) => *kept = Kept::Unequal,
            },
            Kept::Unequal => {}
        }
    }
}

impl GroupStates for BitStrings {
    fn resize(&mut self, groups: usize) {
        self.groups.resize(groups, Kept::Nothing);
    }

    fn take(&self, places: &[u32]) -> Box<dyn GroupStates> {
        let groups = take(&self.groups, places);
        Box::new(Self { spec: self.spec.clone(), combination: self.combination, groups })
    }

    fn update(&mut self, rows: &StateRows<'_>) {
        let place = self.spec.arguments[0];
        let shape = self.spec.shapes[0].clone();
        for (row, group) in rows.counted() {
            self.add(group, &text_at(&rows.arguments[place], &shape, row));
        }
    }

    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]) {
        let other: &Self = same_kind(other);
        for (&to, &from) in to.iter().zip(from) {
            match &other.groups[from as usize] {
                Kept::Nothing => {}
                Kept::Bits(bits) => self.add(to as usize, bits),
                Kept::Unequal => self.groups[to as usize] = Kept::Unequal,
            }
        }
    }

    fn finish(&self, _: Check<'_>) -> SqlResult<Vector> {
        let (mut texts, mut valid) = (TextVector::default(), Vec::with_capacity(self.groups.len()));
        for group in &self.groups {
            let bits = match group {
                Kept::Nothing => "",
                Kept::Bits(bits) => bits,
                Kept::Unequal => return Err(bit_text::unequal(self.combination)),
            };
            valid.push(!matches!(group, Kept::Nothing));
            texts.push(bits);
        }
        Ok(optional(Values::Text(texts), &valid))
    }

    fn bytes(&self) -> u64 {
        let of = |it: &Kept| match it {
            Kept::Bits(bits) => bits.len(),
            Kept::Nothing | Kept::Unequal => 0,
        };
        self.groups.iter().map(|it| (size_of::<Kept>() + of(it)) as u64).sum()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
