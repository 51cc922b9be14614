//! Cutting a table into parts by its key (PP), and putting it together again: it is built anew beside the one that queries
//! read, and committed and logged as if a user had said it, when nobody else writes.

use std::collections::BTreeSet;

use journal::Record;
use placer::constants::HORIZON;
use placer::{Action, Decision};
use scheduler::Admitted;
use stdx::sync::Arc;
use storage::{BuildContext, Partitioning, Table};
use types::SqlResult;

use super::cut::{can_be_cut, parts_of};
use super::log::Outcome;
use crate::Database;
use crate::durability::Operation;
use crate::locks::{HolderKind, Owner};
use crate::reshape::{Reshape, reshaped};
use crate::row_changes::RowChanges;
use crate::transaction_state::Writing;

impl Database {
    /// Cuts the table of a decision into parts, or makes one piece of what was cut so.
    pub(super) fn recut(&self, decision: &Decision) -> Outcome {
        let snapshot = self.catalog.snapshot();
        let Some(old) = snapshot.by_id(decision.item.table) else {
            return Outcome::failed("the table is gone");
        };
        let topology = self.machine.topology();
        let places = storage::units(topology, &topology.memory_nodes()).len();
        let own = parts_of(old, places);
        let is_merge = decision.action == Action::Merge;
        let (is_ready, partitioning) = match is_merge {
            true => (own.as_ref() == Some(old.partitioning()), Some(Partitioning::None)),
            false => (can_be_cut(old), own),
        };
        let Some(partitioning) = partitioning.filter(|_| is_ready) else {
            return Outcome::failed("a user has placed or cut it");
        };
        let steps = [Reshape::Partition { partitioning, nodes: Vec::new() }];
        match self.reshaped_alone(old, &steps) {
            Ok(true) => Outcome::Done,
            Ok(false) if self.machine.now() - decision.at < HORIZON => Outcome::Waiting,
            // Nothing else is decided meanwhile.
            Ok(false) => Outcome::failed("others have been writing for a minute"),
            Err(error) => Outcome::failed(&error.message),
        }
    }

    /// The locks and the turn of one that writes alone, if nobody else writes.
    fn alone(&self) -> Option<(Owner, Admitted)> {
        let owner = self.locks.owner(0, HolderKind::Writer);
        self.locks.take_alone(owner.number()).ok()?;
        self.writer.try_enter().map(|turn| (owner, turn))
    }

    /// Builds what steps make of a table and commits it; not while others write.
    fn reshaped_alone(&self, old: &Arc<Table>, steps: &[Reshape]) -> SqlResult<bool> {
        self.check_writable()?;
        // Before it is built: while others write it would be built in vain.
        if self.alone().is_none() {
            return Ok(false);
        }
        let context = BuildContext::serial(&self.allocator);
        let Some(new) = reshaped(old, steps, &context)? else { return Ok(true) };
        let Some((owner, turn)) = self.alone() else { return Ok(false) };
        let turn = Some(turn);
        let (began, needs) = self.newest();
        let branch = Arc::new(self.head().branch(began.clone()));
        branch.replace(old, new)?;
        let mut record = Record::default();
        if self.durability.get().is_some() {
            Operation::reshape(&old.name, steps).write(&mut record)?;
        }
        let (asked, changes, loads) = (BTreeSet::new(), RowChanges::default(), Vec::new());
        let is_serializable = false;
        let mut writing = Writing {
            deferred: Vec::new(),
            has_steps: false,
            counts_only: false,
            turn,
            owner,
            is_serializable,
            began,
            asked,
            branch,
            changes,
            record,
            loads,
            needs,
        };
        let needs = self.commit(&mut writing, false)?;
        drop(writing);
        self.wait_for_commit(needs).map(|()| true)
    }
}
