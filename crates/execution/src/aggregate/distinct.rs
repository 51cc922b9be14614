//! The distinct values of each group, for COUNT, SUM and AVG over DISTINCT.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use crate::aggregate::key::{append, empty_values, push_value};
use crate::{Bitmap, ColumnShape, Values, Vector};

/// Values by group: a set of (group number, value as bytes).
#[derive(Default)]
pub struct DistinctSet {
    values: HashSet<Box<[u8]>, FixedState>,
    bytes: Vec<u8>,
}

const GROUP_BYTES: usize = 4;

impl DistinctSet {
    /// Adds the values of a batch; only rows of `valid` count.
    pub fn add(
        &mut self,
        shape: &ColumnShape,
        column: &Vector,
        groups: &[u32],
        valid: Option<&Bitmap>,
    ) {
        for (row, group) in groups.iter().enumerate() {
            if valid.is_some_and(|it| !it.get(row)) {
                continue;
            }
            self.bytes.clear();
            self.bytes.extend_from_slice(&group.to_le_bytes());
            append(shape, column, row, &mut self.bytes);
            if !self.values.contains(&*self.bytes) {
                self.values.insert(self.bytes.as_slice().into());
            }
        }
    }

    /// Adds the values of the groups `from[i]` of another set to the groups `to[i]`.
    pub fn merge(&mut self, to: &[u32], other: &Self, from: &[u32]) {
        let Some(&last) = from.iter().max() else { return };
        let mut target = vec![u32::MAX; last as usize + 1];
        from.iter().zip(to).for_each(|(&from, &to)| target[from as usize] = to);
        for value in &other.values {
            let (group, rest) = split(value);
            if let Some(&to) = target.get(group as usize).filter(|&&to| to != u32::MAX) {
                self.bytes.clear();
                self.bytes.extend_from_slice(&to.to_le_bytes());
                self.bytes.extend_from_slice(rest);
                if !self.values.contains(&*self.bytes) {
                    self.values.insert(self.bytes.as_slice().into());
                }
            }
        }
    }

    /// The distinct values as rows: group numbers and a vector, ready for an ordinary accumulator.
    pub fn rows(&self, shape: &ColumnShape) -> (Vec<u32>, Vector) {
        let mut groups = Vec::with_capacity(self.values.len());
        let mut values: Values = empty_values(shape);
        for value in &self.values {
            let (group, mut rest) = split(value);
            groups.push(group);
            rest = &rest[1..];
            push_value(&mut values, true, &mut rest);
        }
        (groups, Vector::new(values))
    }
}

fn split(value: &[u8]) -> (u32, &[u8]) {
    let (group, rest) = value.split_at(GROUP_BYTES);
    (u32::from_le_bytes(group.try_into().expect("invariant: a value begins with its group")), rest)
}
