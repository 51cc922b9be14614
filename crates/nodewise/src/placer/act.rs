//! Carrying decisions out: a task on a worker of the node that the rows go to.

use std::ops::ControlFlow;

use hardware::{Demand, Machine, Pattern};
use placer::{Action, Decision, Item};
use scheduler::{Morsel, MorselBody, MorselContext, PipelineJob, class};
use stdx::sync::{Arc, Mutex, Weak};
use storage::{BuildContext, PlaceTarget, Placement, Table};
use types::SqlResult;

use super::log::Outcome;
use super::measure::place_of;
use crate::Database;

/// The move of one item.
struct Move {
    database: Weak<Database>,
    number: u64,
    decision: Mutex<Option<Decision>>,
}

impl MorselBody for Move {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        let decision = self.decision.lock().take();
        if let (Some(database), Some(decision)) = (self.database.upgrade(), decision) {
            let outcome = database.rebalance(&decision);
            database.placer.ended(self.number, decision, outcome, database.machine.now());
        }
        ControlFlow::Continue(())
    }
}

impl Database {
    /// Hands the move in. It goes before queries: it is short, and who waits for the hottest node waits for it.
    pub(super) fn begin_move(self: &Arc<Self>, number: u64, decision: Decision) {
        let node = decision.coldest;
        let (database, decision) = (Arc::downgrade(self), Mutex::new(Some(decision)));
        let mut job = PipelineJob::task(Some(node), Arc::new(Move { database, number, decision }));
        job.class = class::INTERACTIVE;
        job.max_workers = Some(1);
        self.scheduler.submit(job);
    }

    /// Moves an item and puts the table that came of it in the place of the one that it was.
    fn rebalance(&self, decision: &Decision) -> Outcome {
        if matches!(decision.action, Action::Partition | Action::Merge) {
            charge(&*self.machine, decision);
            return self.recut(decision);
        }
        let Item { table: id, part, column } = decision.item;
        // Before the table is looked up: one that a writer is about to replace would be moved in vain.
        let Some(turn) = self.writer.try_enter() else { return Outcome::Waiting };
        // What is committed and not shown yet would be lost.
        if self.durability.get().is_some_and(|it| !it.is_settled()) {
            return Outcome::Waiting;
        }
        let snapshot = self.catalog.snapshot();
        let Some(old) = snapshot.by_id(id) else { return Outcome::failed("the table is gone") };
        if part >= old.partitioning().parts() {
            return Outcome::failed("the table was cut in another way");
        }
        let place = column.map_or(0, |it| it.index());
        // A user may have spoken since the window.
        let mut columns = column.map_or(0..old.columns.len(), |_| place..place + 1);
        if columns.any(|it| old.preference().is_demanded(it, part)) {
            return Outcome::failed("a user has placed it");
        }
        if column.is_some() && place_of(old, part, place).0 != decision.from {
            return Outcome::failed("it lies elsewhere by now");
        }
        charge(&*self.machine, decision);
        let moved = self.moved(old, decision);
        let replaced = moved.and_then(|it| self.head().replace(old, it));
        if self.durability.get().is_some() && replaced.is_ok() {
            self.catalog.restore(self.head().snapshot());
        }
        drop(turn);
        match replaced {
            Err(error) => Outcome::failed(&error.message),
            Ok(table) if decision.action == Action::Replicate => {
                match table.parts()[part].replicas().is_empty() {
                    true => Outcome::failed("there is one place for all of it"),
                    false => Outcome::Done,
                }
            }
            Ok(table) if column.is_some() && place_of(&table, part, place).0 != decision.to => {
                Outcome::failed("it is too small to be split so")
            }
            Ok(_) => Outcome::Done,
        }
    }

    fn moved(&self, old: &Arc<Table>, decision: &Decision) -> SqlResult<Table> {
        let Item { part, column, .. } = decision.item;
        let target = column.map_or(PlaceTarget::Part(part), PlaceTarget::Column);
        let placement = match decision.action {
            Action::Replicate => Placement::Replicated(Vec::new()),
            _ => Placement::IndexVector(decision.to.clone()),
        };
        old.rebalanced(&target, &placement, &BuildContext::serial(&self.allocator))
    }
}

/// What a modelled machine is told of a copy.
fn charge(machine: &dyn Machine, decision: &Decision) {
    let is_remade = matches!(decision.action, Action::Partition | Action::Replicate);
    let (from, to) = match is_remade {
        true => (decision.from.clone(), decision.to.clone()),
        false => (vec![decision.hottest], vec![decision.coldest]),
    };
    machine.charge(&|| {
        let read = Demand::default().access(from.clone(), decision.copy_bytes, Pattern::Stream);
        read.access(to.clone(), decision.copy_bytes, Pattern::Write)
    });
}
