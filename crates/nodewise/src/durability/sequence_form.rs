//! Sequences, as the log and checkpoints keep them.

use serde::{Deserialize, Serialize};
use storage::{Catalog, CatalogSnapshot, Counter, Logged, Sequence};
use types::{SequenceDefinition, SequenceOwner, SequencePosition};

/// A sequence.
#[derive(Serialize, Deserialize)]
pub(crate) struct SequenceForm {
    id: u64,
    pub(crate) name: String,
    definition: SequenceDefinition,
    owner: Option<SequenceOwner>,
    counter: u64,
    position: SequencePosition,
}

impl SequenceForm {
    pub(crate) fn of(sequence: &Sequence) -> Self {
        Self {
            id: sequence.id,
            name: sequence.name.clone(),
            definition: sequence.definition.clone(),
            owner: sequence.owner.clone(),
            counter: sequence.counter.id,
            position: sequence.counter.lock().position,
        }
    }

    /// Puts the sequence into a catalog. One that shares its counter with what is there goes on from there.
    pub(crate) fn put(self, catalog: &Catalog) {
        let Self { id, name, definition, owner, counter, position } = self;
        let snapshot = catalog.snapshot();
        let known = snapshot.sequences().find(|it| it.counter.id == counter);
        let known = known.map(|it| it.counter.clone());
        let counter = known.unwrap_or_else(|| Counter::new(counter, position));
        catalog.put_sequence(Sequence { id, name, definition, owner, counter });
    }
}

/// The sequences that outlast their sessions.
pub(super) fn lasting(tables: &CatalogSnapshot) -> impl Iterator<Item = &std::sync::Arc<Sequence>> {
    tables.sequences().filter(|it| !types::names::is_temporary(&it.name))
}

/// All sequences, for a checkpoint. `cuts`: whether the log before it goes, so that the next number of each is logged.
pub(super) fn forms(tables: &CatalogSnapshot, cuts: bool) -> Vec<SequenceForm> {
    let form = |it: &std::sync::Arc<Sequence>| {
        if cuts && let Some(logged) = &mut it.counter.lock().logged {
            logged.ahead = 0;
        }
        SequenceForm::of(it)
    };
    lasting(tables).map(form).collect()
}

/// Takes the counters of all sequences for logged as they are.
pub(super) fn are_logged(tables: &CatalogSnapshot, record: u64) {
    for sequence in lasting(tables) {
        sequence.counter.lock().logged.get_or_insert(Logged { ahead: 0, record });
    }
}

/// Puts the counter of a number where it was; one that went meanwhile is nowhere.
pub(super) fn count(tables: &CatalogSnapshot, counter: u64, position: SequencePosition) {
    if let Some(sequence) = tables.sequences().find(|it| it.counter.id == counter) {
        sequence.counter.lock().position = position;
    }
}
