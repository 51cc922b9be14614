//! The newest checkpoints, and what came of them.

use std::collections::VecDeque;

use journal::Lsn;
use stdx::Nanos;

/// Checkpoints that are kept.
const KEPT: usize = 100;

/// A checkpoint.
#[derive(Clone)]
pub(crate) struct CheckpointEntry {
    number: u64,
    /// Whether it was made because the log was long, and not because somebody said so.
    pub(crate) is_automatic: bool,
    pub(crate) started: Nanos,
    /// `None` while it is being made.
    pub(crate) finished: Option<Nanos>,
    /// The last record that is in its tables, once that is known.
    pub(crate) position: Option<Lsn>,
    pub(crate) tally: Tally,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}

/// What a checkpoint wrote.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) bytes: u64,
    pub(crate) written: u64,
    /// Files of the checkpoint before it that are its, too.
    pub(crate) kept: u64,
}

/// The newest checkpoints, oldest first.
#[derive(Default)]
pub(crate) struct History {
    entries: VecDeque<CheckpointEntry>,
    count: u64,
}

impl History {
    /// A checkpoint begins; its number tells it from others.
    pub(super) fn begin(&mut self, is_automatic: bool, started: Nanos) -> u64 {
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.count += 1;
        let (finished, position, error) = (None, None, None);
        let (number, tally) = (self.count, Tally::default());
        let entry =
            CheckpointEntry { number, is_automatic, started, finished, position, tally, error };
        self.entries.push_back(entry);
        number
    }

    /// Notes something of a checkpoint, if it is still kept.
    pub(super) fn note(&mut self, number: u64, note: impl FnOnce(&mut CheckpointEntry)) {
        if let Some(entry) = self.entries.iter_mut().find(|it| it.number == number) {
            note(entry);
        }
    }

    /// All that were begun.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// All that are kept.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &CheckpointEntry> {
        self.entries.iter()
    }
}
