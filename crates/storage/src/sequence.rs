//! Sequences: a name and a definition in the catalog, and a counter that all pictures of the catalog share.
//!
//! Key decision: what a sequence is, is as transactional as a table; where it is, is not: a number that was given out is never
//! taken back. So a new picture of a sequence shares the counter, and RESTART makes another counter, which is forgotten when its
//! transaction is rolled back.

use stdx::sync::{Arc, Mutex, MutexGuard};
use types::{SequenceDefinition, SequenceOwner, SequencePosition};

/// A sequence, as one picture of the catalog has it.
#[derive(Debug)]
pub struct Sequence {
    /// Tells it from all others, whatever it is called; unique over the life of a database.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// How it counts.
    pub definition: SequenceDefinition,
    /// The column that it goes with.
    pub owner: Option<SequenceOwner>,
    /// Where it is.
    pub counter: Arc<Counter>,
}

/// Where a sequence is.
#[derive(Debug)]
pub struct Counter {
    /// Tells it from all others, as the log names it; unique over the life of a database.
    pub id: u64,
    state: Mutex<Counted>,
}

/// What a [`Counter`] holds.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The last number.
    pub position: SequencePosition,
    /// What the log knows; `None` of a counter that no transaction has committed, or that lasts in memory only.
    pub logged: Option<Logged>,
}

/// What the log knows of a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Logged {
    /// How many numbers more it takes for given out.
    pub ahead: u64,
    /// The record that says so, by number.
    pub record: u64,
}

impl Counter {
    /// One that nobody has committed yet.
    pub fn new(id: u64, position: SequencePosition) -> Arc<Self> {
        Arc::new(Self { id, state: Mutex::new(Counted { position, logged: None }) })
    }

    /// What it holds; nobody counts while it is looked at.
    pub fn lock(&self) -> MutexGuard<'_, Counted> {
        self.state.lock()
    }
}
