//! The rows up to which frames by values reach, by the values of an order key.

use std::cmp::Reverse;

/// A value of the order key: they rise from row to row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum NumberCode {
    /// NULL before all values.
    First,
    Rising(Box<str>),
    Falling(Reverse<Box<str>>),
    /// NULL behind all values.
    Last,
}

/// What frames by values need of the rows of a unit: the values of the order key, which rise, and up to which of them the
/// frame of each row reaches.
pub(super) struct Reach<T> {
    pub(super) codes: Vec<T>,
    pub(super) starts: Vec<T>,
    pub(super) ends: Vec<T>,
}

/// The values as integers, or as numbers of any scale.
pub(super) enum RangeCodes {
    Whole(Reach<i128>),
    AnyScale(Reach<NumberCode>),
}

impl<T: Ord> Reach<T> {
    fn start(&self, (first, last): (usize, usize), row: usize) -> usize {
        let edge = &self.starts[row];
        first + self.codes[first..last].partition_point(|code| code < edge)
    }

    fn end(&self, (first, last): (usize, usize), row: usize) -> usize {
        let edge = &self.ends[row];
        first + self.codes[first..last].partition_point(|code| code <= edge)
    }

    fn extend(&mut self, more: Self) {
        self.codes.extend(more.codes);
        self.starts.extend(more.starts);
        self.ends.extend(more.ends);
    }
}

impl RangeCodes {
    /// The first row of the frame of a row, in a partition.
    pub(super) fn start(&self, partition: (usize, usize), row: usize) -> usize {
        match self {
            Self::Whole(it) => it.start(partition, row),
            Self::AnyScale(it) => it.start(partition, row),
        }
    }

    /// The row behind the frame of a row, in a partition.
    pub(super) fn end(&self, partition: (usize, usize), row: usize) -> usize {
        match self {
            Self::Whole(it) => it.end(partition, row),
            Self::AnyScale(it) => it.end(partition, row),
        }
    }

    /// Adds those of the rows behind, which are held alike.
    pub(super) fn extend(&mut self, more: Self) {
        match (self, more) {
            (Self::Whole(all), Self::Whole(more)) => all.extend(more),
            (Self::AnyScale(all), Self::AnyScale(more)) => all.extend(more),
            (Self::Whole(_), _) | (Self::AnyScale(_), _) => {
                unreachable!("invariant: a frame has one kind of order key")
            }
        }
    }
}
