//! The pointer chase: each line of a region names the next, in one random cycle through all of them, so that an access
//! cannot begin before the one before it has ended.
//!
//! What was touched last lies in a cache. Therefore each chase goes on where the last one ended, and the cycle passes
//! through the first half of the region before the second, whose end is what writing the cycle left in the caches.

use std::hint::black_box;

use hardware::Machine;
use memory::Segment;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use stdx::{Nanos, Prng};

use crate::crew::Task;

/// A line of memory as numbers; the first one is the index of the next line.
pub(crate) type Line = [u64; 8];
/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = size_of::<Line>();
/// Hops per step: long enough for the clock, short enough to end mostly before another process gets the thread.
pub(crate) const STEP_HOPS: usize = 2048;

/// Steps whose median means something.
const STEPS_LEAST: usize = 8;

/// Where a cycle through `lines` lines goes from each: from line 0 at random through the first half, then through the
/// second.
pub(crate) fn cycle(lines: usize) -> Vec<u32> {
    let lines = lines.min(u32::MAX as usize);
    let mut order: Vec<u32> = (0..lines as u32).collect();
    let mut prng = Prng::new(lines as u64);
    let (first, second) = order.split_at_mut(lines / 2);
    for half in [first.get_mut(1..).unwrap_or_default(), second] {
        for last in (1..half.len()).rev() {
            half.swap(last, prng.below(last as u64 + 1) as usize);
        }
    }
    let mut next = vec![0; lines];
    for (at, &line) in order.iter().enumerate() {
        next[line as usize] = order[(at + 1) % lines];
    }
    next
}

/// Writes a cycle into the first lines of a segment.
pub(crate) fn thread_lines(segment: &mut Segment, cycle: &[u32]) {
    let lines = segment.as_mut_slice::<Line>();
    for (line, &next) in lines.iter_mut().zip(cycle) {
        *line = [u64::from(next); 8];
    }
}

/// A region to chase in.
#[derive(Clone)]
pub(crate) struct Chased {
    pub(crate) lines: Arc<Segment>,
    /// The line where the last chase ended.
    pub(crate) at: Arc<AtomicUsize>,
}

/// Follows the cycle, and takes the time of each step. The median step counts: one in which the thread was taken away
/// says nothing of the memory.
pub(crate) struct Chaser {
    region: Chased,
    hops: usize,
    limit: Nanos,
    spent: Nanos,
    /// When the last step began.
    began: Option<Nanos>,
    steps: Vec<u64>,
    median: Arc<AtomicU64>,
}

impl Chaser {
    /// Follows the cycle of a region for some hops, or not so many when they take longer than `limit`; the nanoseconds
    /// of the median step end in `median`.
    pub(crate) fn new(region: Chased, hops: usize, limit: Nanos, median: Arc<AtomicU64>) -> Self {
        let steps = Vec::with_capacity(hops.div_ceil(STEP_HOPS));
        Self { region, hops, limit, spent: Nanos(0), began: None, steps, median }
    }

    fn hop(&mut self, hops: usize) {
        let lines = self.region.lines.as_slice::<Line>();
        let mut at = self.region.at.load(Ordering::Relaxed);
        for _ in 0..hops {
            at = lines[at][0] as usize;
        }
        self.region.at.store(black_box(at), Ordering::Relaxed);
    }
}

impl Task for Chaser {
    fn prepare(&mut self) {
        // Fills the translation caches, and those of the memory that fits.
        self.hop(STEP_HOPS.max(self.hops / 4).min(1 << 16));
    }

    fn run(&mut self, machine: &dyn Machine, _over: bool) -> bool {
        // From step to step, as on a modelled machine time passes between them.
        let now = machine.now();
        if let Some(began) = self.began.replace(now) {
            self.steps.push((now - began).0);
            self.spent += now - began;
        }
        self.hop(STEP_HOPS);
        let late = self.spent > self.limit && self.steps.len() >= STEPS_LEAST;
        if self.steps.len() * STEP_HOPS < self.hops && !late {
            return true;
        }
        self.steps.sort_unstable();
        self.median.store(self.steps[self.steps.len() / 2], Ordering::Relaxed);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_visits_every_line_once() {
        for lines in [1, 2, 3, 64, 1000] {
            let next = cycle(lines);
            let (mut at, mut seen) = (0, vec![false; lines]);
            for _ in 0..lines {
                assert!(!std::mem::replace(&mut seen[at], true), "back too early: {lines} lines");
                at = next[at] as usize;
            }
            assert_eq!((at, seen.iter().all(|it| *it)), (0, true));
        }
        assert!(cycle(0).is_empty());
        let next = cycle(10_000);
        let half: Vec<usize> =
            std::iter::successors(Some(0), |it| Some(next[*it] as usize)).take(5000).collect();
        assert!(half.iter().all(|it| *it < 5000), "the first half comes first");
        // No stride that a prefetcher could learn.
        let near = (0..10_000).filter(|&it| next[it].abs_diff(it as u32) < 16).count();
        assert!(near < 200, "{near} of 10,000 hops are short");
    }
}
