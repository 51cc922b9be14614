//! The rows of a frame, for one row after the other.

use plan::{Exclusion, FrameUnit};

use super::bounds::{Bound, KnownFrame};
use super::reach::RangeCodes;

/// A row among its partition and its peers. Rows are counted in the unit of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) row: usize,
    /// The rows of its partition.
    pub(super) partition: (usize, usize),
    /// The rows of its group of peers.
    pub(super) peers: (usize, usize),
    /// The number of its group, and those of its partition.
    pub(super) group: usize,
    pub(super) groups: (usize, usize),
}

/// Walks over rows with the partitions and groups that they are in; each list ends with the number of rows.
pub(super) struct Walk<'a> {
    partitions: &'a [usize],
    groups: &'a [usize],
    partition: usize,
    group: usize,
    of_partition: (usize, usize),
}

impl<'a> Walk<'a> {
    /// From a row on.
    pub(super) fn from(row: usize, partitions: &'a [usize], groups: &'a [usize]) -> Self {
        let holding = |starts: &[usize]| starts.partition_point(|&it| it <= row) - 1;
        let (partition, group) = (holding(partitions), holding(groups));
        let mut walk = Self { partitions, groups, partition, group, of_partition: (0, 0) };
        walk.enter();
        walk
    }

    fn enter(&mut self) {
        let (start, end) = (self.partitions[self.partition], self.partitions[self.partition + 1]);
        let first = self.groups.partition_point(|&it| it < start);
        let last = first + self.groups[first..].partition_point(|&it| it < end);
        self.of_partition = (first, last);
    }

    /// Where a row is that is not before the last one.
    pub(super) fn at(&mut self, row: usize) -> Position {
        if self.partitions[self.partition + 1] <= row {
            while self.partitions[self.partition + 1] <= row {
                self.partition += 1;
            }
            self.enter();
        }
        while self.groups[self.group + 1] <= row {
            self.group += 1;
        }
        Position {
            row,
            partition: (self.partitions[self.partition], self.partitions[self.partition + 1]),
            peers: (self.groups[self.group], self.groups[self.group + 1]),
            group: self.group,
            groups: self.of_partition,
        }
    }
}

/// The rows of a frame: up to three ranges in order, of which some may be empty. Those before and behind what is left out
/// move forward from row to row within a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ranges {
    pub(super) before: (usize, usize),
    pub(super) current: (usize, usize),
    pub(super) behind: (usize, usize),
}

impl Ranges {
    /// All that have rows.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        [self.before, self.current, self.behind].into_iter().filter(|it| it.0 < it.1)
    }

    /// The rows, if they are one range.
    pub(super) fn whole(&self) -> Option<(usize, usize)> {
        let is_empty = |it: (usize, usize)| it.0 >= it.1;
        (is_empty(self.current) && is_empty(self.behind)).then_some(self.before)
    }
}

/// The frame of a row.
pub(super) fn ranges(
    frame: &KnownFrame,
    at: &Position,
    groups: &[usize],
    values: Option<&RangeCodes>,
) -> Ranges {
    let (first, last) = at.partition;
    let start = match frame.start {
        Bound::Unbounded => first,
        Bound::Value => values.map_or(first, |it| it.start(at.partition, at.row)),
        bound => offset_start(frame.unit, bound, at, groups),
    };
    let end = match frame.end {
        Bound::Unbounded => last,
        Bound::Value => values.map_or(last, |it| it.end(at.partition, at.row)),
        bound => offset_end(frame.unit, bound, at, groups),
    };
    let end = end.max(start);
    let within = |it: usize| it.clamp(start, end);
    let around = |hole: (usize, usize), current: (usize, usize)| Ranges {
        before: (start, within(hole.0)),
        current: (within(current.0), within(current.1)),
        behind: (within(hole.1), end),
    };
    let row = (at.row, at.row + 1);
    match frame.exclusion {
        Exclusion::Nothing => {
            Ranges { before: (start, end), current: (end, end), behind: (end, end) }
        }
        Exclusion::CurrentRow => around(row, (at.row, at.row)),
        Exclusion::Group => around(at.peers, (at.row, at.row)),
        Exclusion::Ties => around(at.peers, row),
    }
}

fn as_rows(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn offset_start(unit: FrameUnit, bound: Bound, at: &Position, groups: &[usize]) -> usize {
    let (first, last) = at.partition;
    match (unit, bound) {
        (FrameUnit::Rows, Bound::Preceding(by)) => at.row.saturating_sub(as_rows(by)).max(first),
        (FrameUnit::Rows, Bound::Following(by)) => at.row.saturating_add(as_rows(by)).min(last),
        (FrameUnit::Rows, _) => at.row,
        (_, Bound::Preceding(by)) => groups[at.group.saturating_sub(as_rows(by)).max(at.groups.0)],
        (_, Bound::Following(by)) => {
            let group = at.group.saturating_add(as_rows(by));
            if group < at.groups.1 { groups[group] } else { last }
        }
        _ => at.peers.0,
    }
}

fn offset_end(unit: FrameUnit, bound: Bound, at: &Position, groups: &[usize]) -> usize {
    let (first, last) = at.partition;
    match (unit, bound) {
        (FrameUnit::Rows, Bound::Preceding(by)) => {
            (at.row + 1).saturating_sub(as_rows(by)).max(first)
        }
        (FrameUnit::Rows, Bound::Following(by)) => {
            at.row.saturating_add(as_rows(by)).saturating_add(1).min(last)
        }
        (FrameUnit::Rows, _) => at.row + 1,
        (_, Bound::Preceding(by)) => match at.group.checked_sub(as_rows(by)) {
            Some(group) if group >= at.groups.0 => groups[group + 1],
            _ => first,
        },
        (_, Bound::Following(by)) => {
            let group = at.group.saturating_add(as_rows(by));
            if group < at.groups.1 { groups[group + 1] } else { last }
        }
        _ => at.peers.1,
    }
}
