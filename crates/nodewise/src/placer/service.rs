//! What the database keeps for the placer: its mode, what it has seen, what it wrote down.

use placer::constants::WINDOW;
use placer::{Decision, Placer};
use stdx::Nanos;
use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::log::{Log, Outcome};
use super::measure::Measured;

/// `SET placer`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PlacerMode {
    /// Nothing is measured.
    #[default]
    Off,
    /// Decisions are written down and not carried out.
    Advise,
    /// Decisions are carried out.
    On,
}

impl PlacerMode {
    const ALL: [Self; 3] = [Self::Off, Self::Advise, Self::On];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Advise => "advise",
            Self::On => "on",
        }
    }

    /// The mode of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name().eq_ignore_ascii_case(name))
    }
}

/// Why a decision was given up.
const CHANGED: &str = "the placer was set to something else";

/// The placer of a database.
#[derive(Default)]
pub(crate) struct PlacerService {
    mode: AtomicU8,
    /// Made when it is switched on, and gone when it is switched off.
    pub(super) running: Mutex<Option<Running>>,
    /// Whether something moves, whoever decided it.
    pub(super) under_way: AtomicBool,
    /// Every decision, the newest thousand.
    pub(crate) log: Mutex<Log>,
}

/// What it has seen, and what it still has to do.
pub(super) struct Running {
    pub(super) placer: Placer,
    /// The number in the log of the first decision that can be its.
    pub(super) first: u64,
    /// The counters at the last window.
    pub(super) measured: Measured,
    /// Decisions that wait for their turn, by their numbers in the log, the next one last.
    pub(super) waiting: Vec<(u64, Decision)>,
    /// Before that no copy begins.
    pub(super) next_copy: Nanos,
}

impl PlacerService {
    /// What it may do.
    pub(crate) fn mode(&self) -> PlacerMode {
        PlacerMode::ALL[usize::from(self.mode.load(Ordering::Relaxed))]
    }

    /// Lets it do more or less from its next look on. What it has seen under another mode is forgotten.
    pub(crate) fn set_mode(&self, mode: PlacerMode) {
        if mode != self.mode() {
            self.mode.store(mode as u8, Ordering::Relaxed);
            let before = self.running.lock().take();
            for (number, _) in before.into_iter().flat_map(|it| it.waiting) {
                let outcome = Outcome::Failed(CHANGED.into());
                self.log.lock().end(number, outcome);
            }
        }
    }

    /// The outcome of a decision. An item that could not be moved is left alone for a time; what has to wait for a writer
    /// is tried again.
    pub(super) fn ended(&self, number: u64, decision: Decision, outcome: Outcome, now: Nanos) {
        self.under_way.store(false, Ordering::Release);
        let mut locked = self.running.lock();
        let outcome = match (&mut *locked, outcome) {
            (Some(running), Outcome::Waiting) if number >= running.first => {
                running.next_copy = now + WINDOW;
                running.waiting.push((number, decision));
                Outcome::Waiting
            }
            // It was decided under another mode, and nobody is left who would try it again.
            (_, Outcome::Waiting) => Outcome::Failed(CHANGED.into()),
            (Some(running), Outcome::Failed(why)) => {
                running.placer.refused(&decision);
                Outcome::Failed(why)
            }
            (_, outcome) => outcome,
        };
        drop(locked);
        self.log.lock().end(number, outcome);
    }
}
