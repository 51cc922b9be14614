//! What the interleaving chose: the clock, the generator and the log that proves a seed repeats.

use hardware::Step;
use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::{Nanos, Prng};

/// Steps kept word for word; the hash goes on beyond.
const LOG_LIMIT: usize = 1 << 20;
/// What one step costs on a machine without a model, and the most that chance adds.
const STEP_NANOS: u64 = 10_000;
const STEP_JITTER_NANOS: u64 = 1_000;
/// What reading the clock costs: two readings never agree, so spans of virtual time are never empty.
const CLOCK_READ_NANOS: u64 = 20;

/// Virtual time, chance and memory of what was chosen; shared by the machine and its teams.
pub(crate) struct Schedule {
    pub(crate) seed: u64,
    clock: AtomicU64,
    chosen: Mutex<Chosen>,
}

struct Chosen {
    prng: Prng,
    log: Vec<(usize, Step)>,
    hash: u64,
}

impl Schedule {
    pub(crate) fn new(seed: u64) -> Self {
        let chosen = Chosen { prng: Prng::new(seed), log: Vec::new(), hash: 0xcbf2_9ce4_8422_2325 };
        Self { seed, clock: AtomicU64::new(0), chosen: Mutex::new(chosen) }
    }

    pub(crate) fn now(&self) -> Nanos {
        Nanos(self.clock.fetch_add(CLOCK_READ_NANOS, Ordering::Relaxed) + CLOCK_READ_NANOS)
    }

    /// The time, without the cost of asking.
    pub(crate) fn clock(&self) -> Nanos {
        Nanos(self.clock.load(Ordering::Relaxed))
    }

    pub(crate) fn advance(&self, span: Nanos) {
        self.clock.fetch_add(span.0, Ordering::Relaxed);
    }

    /// One of `count` runnable workers.
    pub(crate) fn choose(&self, count: usize) -> usize {
        self.chosen.lock().prng.below(count as u64) as usize
    }

    /// Moves the clock on to `time`, if it is not there yet.
    pub(crate) fn reach(&self, time: Nanos) {
        self.clock.fetch_max(time.0, Ordering::Relaxed);
    }

    /// Notes a step and charges what one costs without a model.
    pub(crate) fn record(&self, worker: usize, outcome: Step) {
        let jitter = self.chosen.lock().prng.below(STEP_JITTER_NANOS);
        self.note(worker, outcome);
        self.advance(Nanos(STEP_NANOS + jitter));
    }

    /// Notes a step.
    pub(crate) fn note(&self, worker: usize, outcome: Step) {
        let mut chosen = self.chosen.lock();
        let code = match outcome {
            Step::Worked => 0,
            Step::Idle => 1,
            Step::Stopped => 2,
            Step::Rest(_) => 3,
        };
        let word = (worker as u64) << 2 | code;
        chosen.hash = (chosen.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        if chosen.log.len() < LOG_LIMIT {
            chosen.log.push((worker, outcome));
        }
    }

    pub(crate) fn log(&self) -> Vec<(usize, Step)> {
        self.chosen.lock().log.clone()
    }

    pub(crate) fn hash(&self) -> u64 {
        self.chosen.lock().hash
    }
}
