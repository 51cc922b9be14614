//! Streams: threads that read one region together, or each write one of their own, piece by piece.

use std::hint::black_box;

use hardware::Machine;
use memory::Segment;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicUsize, Ordering};

use crate::crew::Task;

/// Words per step: 256 KiB.
const STEP_WORDS: usize = 32 << 10;

/// Steps of one pass over a segment.
fn steps(segment: &Segment) -> usize {
    segment.as_slice::<u64>().len().div_ceil(STEP_WORDS).max(1)
}

/// Reads pieces of a segment in turns with other readers.
pub(crate) struct Reader {
    words: Arc<Segment>,
    next: Arc<AtomicUsize>,
    end: usize,
}

impl Reader {
    /// Readers that pass over a segment together; for as long as others work when no number of passes is given.
    pub(crate) fn crew(words: &Arc<Segment>, passes: Option<usize>, readers: usize) -> Vec<Self> {
        let next = Arc::new(AtomicUsize::new(0));
        let end = passes.map_or(usize::MAX, |it| it * steps(words));
        (0..readers).map(|_| Self { words: words.clone(), next: next.clone(), end }).collect()
    }
}

impl Task for Reader {
    fn run(&mut self, _machine: &dyn Machine, over: bool) -> bool {
        let step = self.next.fetch_add(1, Ordering::Relaxed);
        if step >= self.end || (over && self.end == usize::MAX) {
            return false;
        }
        let words = self.words.as_slice::<u64>();
        let from = step % steps(&self.words) * STEP_WORDS;
        let piece = &words[from..words.len().min(from + STEP_WORDS)];
        black_box(piece.iter().fold(0, |sum: u64, it| sum.wrapping_add(*it)));
        true
    }
}

/// Writes a segment of its own.
pub(crate) struct Writer {
    words: Segment,
    step: usize,
    end: usize,
}

impl Writer {
    /// Passes over a segment.
    pub(crate) fn new(words: Segment, passes: usize) -> Self {
        let end = passes * steps(&words);
        Self { words, step: 0, end }
    }
}

impl Task for Writer {
    fn prepare(&mut self) {
        self.words.as_bytes_mut().fill(1);
    }

    fn run(&mut self, _machine: &dyn Machine, _over: bool) -> bool {
        if self.step >= self.end {
            return false;
        }
        let from = self.step % steps(&self.words) * STEP_WORDS;
        let words = self.words.as_mut_slice::<u64>();
        let to = words.len().min(from + STEP_WORDS);
        black_box(&mut words[from..to]).fill(self.step as u64);
        self.step += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::{Seat, run};
    use hardware::{NodeId, PagePolicy, samples};
    use memory::Allocator;
    use simulator::SimulatedMachine;

    #[test]
    fn readers_share_the_steps_of_all_passes() {
        let machine: Arc<dyn Machine> = SimulatedMachine::new(samples::laptop(), 7);
        let allocator = Allocator::new(machine.clone());
        let segment = allocator.allocate(600 << 10, PagePolicy::Node(NodeId(0))).unwrap();
        let segment = Arc::new(segment);
        let readers = Reader::crew(&segment, Some(2), 3);
        let next = readers[0].next.clone();
        let cpus = machine.topology().cpus.clone();
        let background = Reader::crew(&segment, None, 1).into_iter().map(|it| (it, true));
        let seats = readers.into_iter().map(|it| (it, false)).chain(background).zip(cpus);
        let seat = |((task, background), cpu)| Seat { cpu, task: Box::new(task), background };
        run(&machine, seats.map(seat).collect()).unwrap();
        // Three steps a pass, and each reader looked once more to find that it was over.
        assert_eq!(next.load(Ordering::Relaxed), 2 * 3 + 3);
    }
}
