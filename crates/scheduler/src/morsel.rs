//! Morsels and the cursors that cut them (P-HYPER 3.2: the storage area boundaries of each core, cut on demand).
//!
//! A job has one cursor per home node and one for ranges that are at home everywhere. A cursor counts morsels, not
//! rows, so one `fetch_add` cuts and a binary search finds the range. A cursor may begin anywhere and goes on at the first
//! morsel after the last (`sharing` says what for): what it counts is turned into a place among its morsels at the end.

use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Range};

use hardware::NodeId;
use stdx::sync::atomic::{AtomicU64, Ordering};

use crate::report::WorkerId;

/// Rows of a job that live together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MorselRange {
    /// The node that holds them; `None` when there is no such node or it does not matter.
    pub node: Option<NodeId>,
    /// First row.
    pub start: u64,
    /// One past the last row.
    pub end: u64,
}

/// A piece of a range, small enough to react at its end and large enough to be worth picking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Morsel {
    /// The index into the job's ranges.
    pub range: usize,
    /// First row.
    pub start: u64,
    /// One past the last row.
    pub end: u64,
}

/// Who runs a morsel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MorselContext {
    /// The index for state local to a worker, below [`crate::Scheduler::slots`]; no two morsels of a job run in the
    /// same slot at a time.
    pub slot: usize,
    /// The worker; for a job run inline the number after the last worker.
    pub worker: WorkerId,
    /// The node of the running worker.
    pub node: NodeId,
    /// Whether the range has its home on another node.
    pub stolen: bool,
}

/// What a job does with each morsel.
pub trait MorselBody: Send + Sync {
    /// Processes the morsel's rows. `Break` stops the job after the morsels that already run; why is kept by the body.
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()>;
    /// The bytes that a morsel reads, by the node that holds them, when a worker of `reader` runs it. Asked for by the
    /// trace and the adaptive strategy only.
    fn bytes_read(&self, _morsel: Morsel, _reader: NodeId) -> Vec<(NodeId, u64)> {
        Vec::new()
    }
    /// Bytes that the worker of a slot has moved beside these since this was asked last. Asked for by the adaptive
    /// strategy only.
    fn bytes_beside(&self, _slot: usize) -> u64 {
        0
    }
}

/// Cursors of different nodes never share a cache line, nor the pair of lines a prefetcher takes.
struct Cursor {
    next: AtomicU64,
    total: u64,
    /// The place of the morsel that is cut first.
    first: u64,
    spans: Vec<Span>,
    _apart: [MaybeUninit<u8>; 128],
}

/// A range and the place of its first morsel within the cursor.
struct Span {
    first: u64,
    range: usize,
    start: u64,
    end: u64,
}

/// All cursors of a job, by the index of the home node; the last one is at home everywhere.
pub(crate) struct Cursors {
    cursors: Vec<Cursor>,
    morsel_rows: u64,
}

impl Cursors {
    /// Cursors over `ranges`; `home` gives the cursor of a range, below `count`. Empty ranges have no morsels.
    pub(crate) fn new(
        ranges: &[MorselRange],
        morsel_rows: u64,
        count: usize,
        home: impl Fn(&MorselRange) -> usize,
    ) -> Self {
        let empty = || Cursor {
            next: AtomicU64::new(0),
            total: 0,
            first: 0,
            spans: Vec::new(),
            _apart: [const { MaybeUninit::uninit() }; 128],
        };
        let mut cursors: Vec<Cursor> = std::iter::repeat_with(empty).take(count).collect();
        let morsel_rows = morsel_rows.max(1);
        for (range, it) in ranges.iter().enumerate().filter(|(_, it)| it.start < it.end) {
            let cursor = &mut cursors[home(it)];
            let span = Span { first: cursor.total, range, start: it.start, end: it.end };
            cursor.spans.push(span);
            // Half of the numbers stay free for workers that look at a dry cursor.
            let total = cursor.total.checked_add((it.end - it.start).div_ceil(morsel_rows));
            cursor.total = total
                .filter(|&it| it < 1 << 63)
                .expect("invariant: a job has less than 2^63 morsels");
        }
        Self { cursors, morsel_rows }
    }

    /// The next morsels of a cursor, up to `count` of them; each is given out once. Never more than half of what is left,
    /// so that who takes many leaves some to others.
    #[inline]
    pub(crate) fn cut(&self, cursor: usize, count: u64) -> Option<Range<u64>> {
        let cursor = &self.cursors[cursor];
        // Looked at first, so that the counter never runs far past its end.
        let left = cursor.total.saturating_sub(cursor.next.load(Ordering::Relaxed));
        if left == 0 {
            return None;
        }
        let count = count.min(left / 2).max(1);
        let first = cursor.next.fetch_add(count, Ordering::Relaxed);
        let numbers = first..(first + count).min(cursor.total);
        (numbers.start < numbers.end).then_some(numbers)
    }

    /// Lets each cursor begin where that of another job with the same morsels stands.
    pub(crate) fn begin_at(&mut self, other: &Self) {
        debug_assert_eq!(self.morsels(), other.morsels(), "the same morsels");
        for (number, cursor) in self.cursors.iter_mut().enumerate() {
            cursor.first = other.place_of_next(number).unwrap_or(0);
        }
    }

    /// What its morsels are: the rows of each, and the ranges of each cursor.
    pub(crate) fn morsels(&self) -> (u64, Vec<Vec<(u64, u64)>>) {
        let spans = |it: &Cursor| it.spans.iter().map(|it| (it.start, it.end)).collect();
        (self.morsel_rows, self.cursors.iter().map(spans).collect())
    }

    /// The place of a morsel by its number, in the order in which they are cut.
    #[inline]
    pub(crate) fn place(&self, cursor: usize, number: u64) -> u64 {
        let cursor = &self.cursors[cursor];
        let place = cursor.first + number;
        if place < cursor.total { place } else { place - cursor.total }
    }

    /// The place of the morsel that is cut next; `None` for a dry cursor.
    pub(crate) fn place_of_next(&self, cursor: usize) -> Option<u64> {
        let next = self.cursors[cursor].next.load(Ordering::Relaxed);
        (next < self.cursors[cursor].total).then(|| self.place(cursor, next))
    }

    /// Morsels of a cursor, cut or not.
    pub(crate) fn count_of(&self, cursor: usize) -> u64 {
        self.cursors[cursor].total
    }

    /// The rows of a morsel by its number, in the order in which they are cut.
    #[inline]
    pub(crate) fn morsel(&self, cursor: usize, number: u64) -> Morsel {
        let place = self.place(cursor, number);
        let spans = &self.cursors[cursor].spans;
        let span = &spans[spans.partition_point(|it| it.first <= place) - 1];
        // A span's last start lies below its end, so neither product nor sum can overflow; the end could.
        let start = span.start + (place - span.first) * self.morsel_rows;
        let end = start.saturating_add(self.morsel_rows).min(span.end);
        Morsel { range: span.range, start, end }
    }

    /// Whether a cursor has nothing left to cut; morsels may still run.
    pub(crate) fn is_dry(&self, cursor: usize) -> bool {
        self.left(cursor) == 0
    }

    /// Whether all cursors are dry.
    pub(crate) fn all_dry(&self) -> bool {
        (0..self.cursors.len()).all(|it| self.is_dry(it))
    }

    /// Morsels not cut yet.
    pub(crate) fn left(&self, cursor: usize) -> u64 {
        let cursor = &self.cursors[cursor];
        cursor.total.saturating_sub(cursor.next.load(Ordering::Relaxed))
    }

    /// Morsels of all cursors, cut or not.
    pub(crate) fn total(&self) -> u64 {
        self.cursors.iter().map(|it| it.total).sum()
    }

    pub(crate) fn count(&self) -> usize {
        self.cursors.len()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> MorselRange {
        MorselRange { node: None, start, end }
    }

    fn cut_all(ranges: &[MorselRange], rows: u64) -> Vec<(usize, u64, u64)> {
        let cursors = Cursors::new(ranges, rows, 1, |_| 0);
        std::iter::from_fn(|| cursors.cut(0, 1).map(|it| cursors.morsel(0, it.start)))
            .map(|it| (it.range, it.start, it.end))
            .collect()
    }

    #[test]
    fn morsels_cover_each_range_and_never_cross_one() {
        let ranges = [range(0, 0), range(5, 6), range(10, 20), range(7, 3), range(20, 24)];
        let morsels = [(1, 5, 6), (2, 10, 14), (2, 14, 18), (2, 18, 20), (4, 20, 24)];
        assert_eq!(cut_all(&ranges, 4), morsels);
        assert_eq!(cut_all(&ranges, 1000), [(1, 5, 6), (2, 10, 20), (4, 20, 24)]);
        assert_eq!(cut_all(&[], 4), []);
        assert_eq!(cut_all(&[range(0, 2)], 0), [(0, 0, 1), (0, 1, 2)], "no rows count as one");
    }

    #[test]
    fn the_last_rows_of_the_number_range_do_not_overflow() {
        let top = u64::MAX;
        assert_eq!(cut_all(&[range(top - 3, top)], 2), [(0, top - 3, top - 1), (0, top - 1, top)]);
        assert_eq!(cut_all(&[range(0, top)], top), [(0, 0, top)]);
        assert_eq!(cut_all(&[range(1, top)], top - 2).len(), 2);
    }

    #[test]
    fn each_home_has_a_cursor_of_its_own() {
        let cursors = Cursors::new(&[range(0, 2), range(2, 3)], 1, 3, |it| it.start as usize);
        assert_eq!((cursors.total(), cursors.left(0), cursors.is_dry(1)), (3, 2, true));
        let cut = |cursor| cursors.cut(cursor, 1).is_some();
        assert!(cut(2) && !cut(2) && !cut(1));
        assert!(!cursors.all_dry());
        assert!(cut(0) && cut(0));
        assert!(cursors.all_dry());
    }

    #[test]
    fn who_begins_where_another_stands_cuts_the_same_morsels() {
        let ranges = [range(0, 7), range(10, 12), range(20, 20)];
        let morsels = |cursors: &Cursors| -> Vec<(usize, u64, u64)> {
            let numbers = std::iter::from_fn(|| cursors.cut(0, 2)).flatten();
            let cut = numbers.map(|it| cursors.morsel(0, it));
            cut.map(|it| (it.range, it.start, it.end)).collect()
        };
        let all = cut_all(&ranges, 2);
        for ahead in 0..all.len() as u64 {
            let first = Cursors::new(&ranges, 2, 2, |_| 0);
            (0..ahead).for_each(|_| assert!(first.cut(0, 1).is_some()));
            let mut second = Cursors::new(&ranges, 2, 2, |_| 0);
            second.begin_at(&first);
            assert_eq!(second.place_of_next(0), Some(ahead));
            assert_eq!(second.place_of_next(1), None, "no morsel at all");
            let mut cut = morsels(&second);
            assert_eq!(cut[0], all[ahead as usize]);
            cut.rotate_right(ahead as usize);
            assert_eq!(cut, all);
        }
        let dry = Cursors::new(&ranges, 2, 2, |_| 0);
        assert_eq!(morsels(&dry), all);
        let mut late = Cursors::new(&ranges, 2, 2, |_| 0);
        late.begin_at(&dry);
        assert_eq!(late.place_of_next(0), Some(0), "nobody to join any more");
    }

    #[test]
    fn many_at_a_time_are_at_most_half_of_the_rest() {
        let cursors = Cursors::new(&[range(0, 21)], 1, 1, |_| 0);
        let cuts: Vec<_> = std::iter::from_fn(|| cursors.cut(0, 6)).collect();
        assert_eq!(cuts, [0..6, 6..12, 12..16, 16..18, 18..19, 19..20, 20..21]);
        assert!(cursors.all_dry());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use stdx::sync::{Arc, thread};

    #[test]
    fn loom_every_morsel_is_cut_once() {
        crate::loom_tests::check(|| {
            let ranges = [0, 2].map(|it| MorselRange { node: None, start: it, end: it + 2 });
            let cursors = Arc::new(Cursors::new(&ranges, 1, 1, |_| 0));
            let cut = |cursors: &Cursors, bulk: u64| -> Vec<u64> {
                std::iter::from_fn(|| cursors.cut(0, bulk)).flatten().collect()
            };
            let others: Vec<_> = (0..2)
                .map(|it| {
                    let cursors = Arc::clone(&cursors);
                    thread::spawn(move || cut(&cursors, 1 + it))
                })
                .collect();
            let mut rows = cut(&cursors, 1);
            for other in others {
                rows.extend(other.join().unwrap());
            }
            rows.sort_unstable();
            assert_eq!(rows, [0, 1, 2, 3]);
        });
    }
}
