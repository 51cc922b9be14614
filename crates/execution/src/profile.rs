//! Where the time of a pipeline goes, step by step: what its source does, each operator, the sink, the sink's end.
//!
//! Key decision: a worker is in one step at any moment. Whoever begins a step says so and says it again when it is over,
//! and the time between two such calls is charged to the step that was on; so nothing is counted twice though operators
//! call one another. A query that is not profiled keeps no lap, and each call is a look at a flag of its thread.

use std::cell::{Cell, RefCell};

use hardware::{Counters, Machine};
use stdx::Nanos;
use stdx::sync::{Arc, Mutex};

/// A step of a pipeline and what it took.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// What it does, the same word for all steps of its kind: `range`, `decode`, `probe`, `aggregate`.
    pub kind: &'static str,
    /// What sets it apart from others of its kind; may be empty.
    pub detail: String,
    /// Time of all workers. Of the last step, the end of the sink, the time of who waits for it.
    pub time: Nanos,
    /// Rows that it was given.
    pub rows: u64,
    /// Rows that it handed on, where somebody counts them.
    pub rows_out: Option<u64>,
    /// Bytes of columns that it read, as packed; zero where it reads what the step before left in the cache.
    pub bytes: u64,
    /// The processor's counters, where they can be read.
    pub counters: Option<Counters>,
}

/// A step by name, before anything is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepName {
    /// See [`StepReport::kind`].
    pub kind: &'static str,
    /// See [`StepReport::detail`].
    pub detail: String,
}

/// What a step took so far.
#[derive(Clone, Copy, Default)]
struct Tally {
    time: Nanos,
    counters: Counters,
    rows: u64,
    rows_out: u64,
    bytes: u64,
}

/// What a worker does in a morsel.
struct Lap {
    machine: Arc<dyn Machine>,
    current: usize,
    since: (Nanos, Option<Counters>),
    steps: Vec<Tally>,
}

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static LAP: RefCell<Option<Lap>> = const { RefCell::new(None) };
}

/// Whether the morsel that this thread runs is profiled.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.get()
}

/// Begins a step with so many rows and bytes to read. What it returns is for [`leave`].
#[inline]
pub(crate) fn enter(step: usize, rows: usize, bytes: u64) -> usize {
    if !is_on() {
        return 0;
    }
    with_lap(|lap| {
        let tally = &mut lap.steps[step];
        tally.rows += rows as u64;
        tally.bytes += bytes;
        lap.change(step)
    })
}

/// Ends a step that handed on so many rows, and goes on with the one that `enter` returned.
#[inline]
pub(crate) fn leave(before: usize, rows_out: usize) {
    if is_on() {
        with_lap(|lap| {
            let step = lap.change(before);
            lap.steps[step].rows_out += rows_out as u64;
        });
    }
}

fn with_lap<R: Default>(body: impl FnOnce(&mut Lap) -> R) -> R {
    LAP.with_borrow_mut(|lap| lap.as_mut().map(body).unwrap_or_default())
}

impl Lap {
    /// Charges the step that is on, and begins another.
    fn change(&mut self, step: usize) -> usize {
        let now = (self.machine.now(), self.machine.counters());
        let tally = &mut self.steps[self.current];
        tally.time.0 += (now.0 - self.since.0).0;
        if let (Some(now), Some(before)) = (now.1, self.since.1) {
            tally.counters.cycles += now.cycles.saturating_sub(before.cycles);
            tally.counters.instructions += now.instructions.saturating_sub(before.instructions);
        }
        self.since = now;
        std::mem::replace(&mut self.current, step)
    }
}

/// The steps of a pipeline, for all workers: the source and its own steps, the operators, the sink, its end.
pub(crate) struct Meter {
    names: Vec<StepName>,
    /// Steps of the source.
    pub sources: usize,
    sums: Mutex<Vec<Tally>>,
    counts: bool,
}

impl Meter {
    /// Of steps with these names, the first `sources` of which are of the source.
    pub fn new(names: Vec<StepName>, sources: usize, machine: &dyn Machine) -> Self {
        let sums = Mutex::new(vec![Tally::default(); names.len()]);
        Self { names, sources, sums, counts: machine.counters().is_some() }
    }

    /// Runs a morsel of `rows` rows with its steps measured.
    pub fn morsel<R>(&self, machine: &Arc<dyn Machine>, rows: u64, run: impl FnOnce() -> R) -> R {
        let mut steps = vec![Tally::default(); self.names.len()];
        steps[0].rows = rows;
        let since = (machine.now(), machine.counters());
        let lap = Lap { machine: machine.clone(), current: 0, since, steps };
        LAP.set(Some(lap));
        ON.set(true);
        let _off = Off;
        let result = run();
        if let Some(mut lap) = LAP.take() {
            lap.change(0);
            let mut sums = self.sums.lock();
            sums.iter_mut().zip(&lap.steps).for_each(|(sum, step)| sum.add(step));
        }
        result
    }

    /// What the steps took, given what the end of the sink took.
    pub fn reports(&self, finish: Nanos) -> Vec<StepReport> {
        let sums = self.sums.lock();
        let last = sums.len() - 1;
        let report = |(step, name): (usize, &StepName)| {
            let tally = &sums[step];
            // What a step hands on is what the next one is given; the steps of a source count for themselves.
            let rows_out = match step {
                0 => Some(sums[self.sources].rows),
                _ if step < self.sources => Some(tally.rows_out),
                _ if step + 1 < last => Some(sums[step + 1].rows),
                _ => None,
            };
            let counters = (self.counts && step < last).then_some(tally.counters);
            let time = if step == last { finish } else { tally.time };
            let (kind, detail) = (name.kind, name.detail.clone());
            let (rows, bytes) = (tally.rows, tally.bytes);
            StepReport { kind, detail, time, rows, rows_out, bytes, counters }
        };
        self.names.iter().enumerate().map(report).collect()
    }
}

/// Takes the lap away even from a morsel that panics.
struct Off;

impl Drop for Off {
    fn drop(&mut self) {
        ON.set(false);
        LAP.set(None);
    }
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.time.0 += other.time.0;
        self.counters.cycles += other.counters.cycles;
        self.counters.instructions += other.counters.instructions;
        self.rows += other.rows;
        self.rows_out += other.rows_out;
        self.bytes += other.bytes;
    }
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use simulator::SimulatedMachine;

    use super::*;

    #[test]
    fn steps_nest_and_are_counted_once() {
        let machine: Arc<dyn Machine> =
            SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let name = |kind| StepName { kind, detail: String::new() };
        let names = ["scan", "range", "probe", "result", "finish"].map(name).to_vec();
        let sums = Mutex::new(vec![Tally::default(); names.len()]);
        let meter = Meter { names, sources: 2, sums, counts: false };
        let pass = |nanos| machine.sleep(Nanos(nanos));
        // What looking at the simulated clock takes, once per change of steps.
        let look = {
            let before = machine.now();
            (machine.now() - before).0
        };
        for _ in 0..2 {
            meter.morsel(&machine, 100, || {
                assert!(is_on());
                pass(1);
                let scan = enter(1, 100, 25);
                pass(10);
                leave(scan, 40);
                let scan = enter(2, 40, 0);
                pass(100);
                let probe = enter(3, 7, 0);
                pass(1000);
                leave(probe, 0);
                pass(100);
                leave(scan, 0);
                pass(1);
            });
        }
        assert!(!is_on());
        let reports = meter.reports(Nanos(5));
        let found: Vec<_> =
            reports.iter().map(|it| (it.kind, it.time.0, it.rows, it.rows_out, it.bytes)).collect();
        let wanted = [
            ("scan", 4 + 6 * look, 200, Some(80), 0),
            ("range", 20 + 2 * look, 200, Some(80), 50),
            ("probe", 400 + 4 * look, 80, Some(14), 0),
            ("result", 2000 + 2 * look, 14, None, 0),
            ("finish", 5, 0, None, 0),
        ];
        assert_eq!(found, wanted);
        assert!(reports.iter().all(|it| it.counters.is_none()));
    }

    #[test]
    fn without_a_lap_nothing_is_kept() {
        assert_eq!(enter(17, 1, 1), 0);
        leave(3, 1);
        assert!(!is_on());
    }
}
