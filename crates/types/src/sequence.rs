//! Sequences as plain data: what they count, and where they are.

use serde::{Deserialize, Serialize};

use crate::DataType;

/// How a sequence counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SequenceDefinition {
    /// SMALLINT, INTEGER or BIGINT: the type whose values its bounds are by themselves.
    pub data_type: DataType,
    /// The first number.
    pub start: i64,
    /// What is added; never 0.
    pub increment: i64,
    /// The least number.
    pub min: i64,
    /// The greatest number.
    pub max: i64,
    /// How many numbers a session takes at once. It is kept and shown, and means nothing here.
    pub cache: i64,
    /// Whether it begins anew behind the last number.
    pub cycles: bool,
}

/// Where a sequence is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SequencePosition {
    /// The last number, or the next one.
    pub number: i64,
    /// Whether the number has been given out.
    pub is_called: bool,
}

/// A column that a sequence belongs to: it goes with the column.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SequenceOwner {
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
    /// Whether the sequence is the column's identity.
    pub is_identity: bool,
}

impl SequenceDefinition {
    /// The least and the greatest number of a sequence of a type that says nothing of them.
    pub fn bounds(data_type: DataType, increment: i64) -> (i64, i64) {
        let (least, greatest) = match data_type {
            DataType::SmallInt => (i64::from(i16::MIN), i64::from(i16::MAX)),
            DataType::Integer => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        if increment > 0 { (1, greatest) } else { (least, -1) }
    }

    /// Where it begins.
    pub fn beginning(&self) -> SequencePosition {
        SequencePosition { number: self.start, is_called: false }
    }

    /// Where it is after one more number; `None` behind the last.
    pub fn after(&self, position: SequencePosition) -> Option<SequencePosition> {
        let SequencePosition { number, is_called } = position;
        let next = if is_called { number.checked_add(self.increment) } else { Some(number) };
        let within = next.filter(|it| (self.min..=self.max).contains(it));
        let again = if self.increment > 0 { self.min } else { self.max };
        let number = within.or_else(|| self.cycles.then_some(again))?;
        Some(SequencePosition { number, is_called: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(definition: &SequenceDefinition, count: usize) -> Vec<Option<i64>> {
        let mut position = Some(definition.beginning());
        let mut next = || {
            position = position.and_then(|it| definition.after(it));
            position.map(|it| it.number)
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn numbers_rise_or_fall_to_the_bound_and_begin_anew_where_they_cycle() {
        let mut definition = SequenceDefinition {
            data_type: DataType::BigInt,
            start: 3,
            increment: 2,
            min: 1,
            max: 6,
            cache: 1,
            cycles: false,
        };
        assert_eq!(numbers(&definition, 3), [Some(3), Some(5), None]);
        definition.cycles = true;
        assert_eq!(numbers(&definition, 4), [Some(3), Some(5), Some(1), Some(3)]);
        definition.increment = -2;
        assert_eq!(numbers(&definition, 4), [Some(3), Some(1), Some(6), Some(4)]);
        let ends =
            SequenceDefinition { start: i64::MAX, max: i64::MAX, increment: 1, ..definition };
        assert_eq!(numbers(&ends, 2), [Some(i64::MAX), Some(1)]);
        assert_eq!(SequenceDefinition::bounds(DataType::SmallInt, -1), (-32768, -1));
        assert_eq!(SequenceDefinition::bounds(DataType::Integer, 7), (1, i64::from(i32::MAX)));
    }
}
