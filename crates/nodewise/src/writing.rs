//! How a transaction writes: beside others, with locks of what it changes, or alone (docs/design/08-transactions.md,
//! "locks", "a transaction that writes alone").
//!
//! - Invariant: a row that a branch changes is there in the newest version of its table, and stays so, as it is locked.
//! - Invariant: who has the writers' turn never waits for a lock.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use arrow_array::RecordBatch;
use binder::Isolation;
use journal::Record;
use stdx::sync::{Arc, Mutex};
use storage::{CatalogSnapshot, Table, TableDesign, new_row_ids};
use types::{SqlError, SqlResult, SqlState};

use crate::change::Replaced;
use crate::committing::{RowChange, is_alike};
use crate::conflict::{concurrent_update, no_transaction};
use crate::key_locks::KeysOfChange;
use crate::locks::{HolderKind, Lock, Locks, Other};
use crate::parallel::LoadProgress;
use crate::row_changes::{Extent, Making, Mark, RowChanges, is_same, positions_in};
use crate::transaction_state::Writing;
use crate::{CancelToken, Session};

/// Rows of a statement from which on it writes alone: locks of so many cost more than others lose by waiting.
pub(crate) const MANY_ROWS: usize = 10_000;

impl Session {
    /// Begins to write beside others, if the transaction does not write yet.
    pub(crate) fn begin_writing(&self) -> SqlResult<()> {
        if self.modes().read_only {
            let message = "cannot change tables in a read-only transaction";
            return Err(SqlError::new(SqlState("25006"), message));
        }
        self.begin_locking()
    }

    /// Begins to hold locks, if the transaction does not yet.
    pub(crate) fn begin_locking(&self) -> SqlResult<()> {
        if self.writing.lock().is_some() {
            return Ok(());
        }
        self.database.check_writable()?;
        let (newest, needs) = self.database.newest();
        let began = self.activity.picture.lock().clone().unwrap_or(newest);
        let branch = Arc::new(self.database.head().branch(began.clone()));
        let owner = self.database.locks.owner(self.number, HolderKind::Writer);
        let (turn, asked, deferred) = (None, BTreeSet::new(), Vec::new());
        let changes = RowChanges::default();
        let (record, loads) = (Record::default(), Vec::new());
        let is_serializable = self.is_serializable();
        *self.writing.lock() = Some(Writing {
            turn,
            has_steps: false,
            counts_only: false,
            owner,
            is_serializable,
            began,
            asked,
            branch,
            deferred,
            changes,
            record,
            loads,
            needs,
        });
        Ok(())
    }

    /// What the transaction writes, to work on; views do not see it meanwhile.
    pub(crate) fn taken_writing(&self) -> Option<TakenWriting<'_>> {
        let writing = self.writing.lock().take();
        writing.map(|it| TakenWriting { place: &self.writing, writing: Some(it) })
    }

    /// Waits until nobody else has changed rows, and has the writers' turn from then on to the end of the transaction. Asked
    /// again it has it already.
    pub(crate) fn write_alone(&self, cancel: &CancelToken) -> SqlResult<()> {
        let is_first = self.writing.lock().is_none();
        self.begin_writing()?;
        if self.writes_alone() {
            return Ok(());
        }
        self.wait_for_locks(cancel, |locks, owner| locks.take_alone(owner))?;
        let turn = self.writers_turn(cancel)?;
        // What it has seen stays as it was, if it saw something.
        if !self.keeps_picture() || is_first && self.block.is_none() {
            self.rebase(Extent::Flat)?;
        } else if let Some(mut writing) = self.taken_writing() {
            let onto = writing.began.clone();
            self.rebase_on(&mut writing, onto, Extent::Flat)?;
        }
        let mut writing = self.taken_writing().ok_or_else(no_transaction)?;
        self.record_changes(&mut writing)?;
        writing.turn = Some(turn);
        Ok(())
    }

    pub(crate) fn writes_alone(&self) -> bool {
        self.writing.lock().as_ref().is_some_and(|it| it.turn.is_some())
    }

    pub(crate) fn is_serializable(&self) -> bool {
        self.isolation() == Isolation::Serializable
    }

    /// Whether all statements of the transaction see the same picture.
    pub(crate) fn keeps_picture(&self) -> bool {
        self.isolation().keeps_picture()
    }

    /// Lets a statement see what was committed before it, beside what its transaction has changed.
    pub(crate) fn refresh(&self) -> SqlResult<()> {
        self.refresh_for(Extent::All)
    }

    /// [`Session::refresh`] for a statement that asks for some tables only.
    pub(crate) fn refresh_for(&self, extent: Extent<'_>) -> SqlResult<()> {
        if self.keeps_picture() || self.writes_alone() {
            return Ok(());
        }
        self.rebase(extent)
    }

    /// Makes the branch begin with the newest tables.
    fn rebase(&self, extent: Extent<'_>) -> SqlResult<()> {
        let Some(mut writing) = self.taken_writing() else { return Ok(()) };
        let (newest, needs) = self.database.newest();
        self.rebase_on(&mut writing, newest, extent)?;
        writing.needs = needs;
        Ok(())
    }

    /// Makes the branch begin with these tables.
    pub(crate) fn rebase_on(
        &self,
        writing: &mut Writing,
        onto: Arc<CatalogSnapshot>,
        extent: Extent<'_>,
    ) -> SqlResult<()> {
        let is_newest = onto.version() == writing.began.version();
        if is_newest && writing.changes.is_made(extent) {
            return Ok(());
        }
        let Writing { began, branch, changes, .. } = &mut *writing;
        let stop = || false;
        let (team, plain) = (self.load_team(&CancelToken::new()), TableDesign::default());
        let progress = LoadProgress::new(&*self.progress, "changes");
        let context = self.build_context(&team, &progress, &stop, &plain);
        let (machine, merges) = (&self.database.machine, &self.database.merges);
        let started = machine.now();
        let made = |old: &Table, new: &Table| merges.note(old, new, started, machine.now());
        let branch = changes.rebased(
            (&**began, &**branch),
            (&onto, self.database.head()),
            extent,
            // Tests ask once more.
            &Making { context: &context, asks_keys: cfg!(debug_assertions), made: &made },
        )?;
        (writing.began, writing.branch) = (onto, Arc::new(branch));
        Ok(())
    }

    /// Goes back to what had been done to rows when a savepoint was set, before the transaction wrote alone if it does.
    pub(crate) fn undo(&self, writing: &mut Writing, changes: &Mark) -> SqlResult<()> {
        writing.changes.truncate(changes);
        writing.branch = Arc::new(self.database.head().branch(writing.began.clone()));
        self.rebase_on(writing, writing.began.clone(), Extent::Flat)?;
        if writing.turn.is_some() { self.record_changes(writing) } else { Ok(()) }
    }

    /// Writes the record of what was done to rows.
    pub(crate) fn record_changes(&self, writing: &mut Writing) -> SqlResult<()> {
        if self.database.durability.get().is_none() {
            return Ok(());
        }
        let operations = writing.changes.operations(&writing.began)?;
        let lasting = operations.into_iter().filter(|it| !it.is_temporary());
        lasting.into_iter().try_for_each(|it| it.write(&mut writing.record))
    }

    /// Waits for the transactions that are in the way of some locks, one after the other, for `lock_timeout` at most. Holds no
    /// place meanwhile that others could use.
    ///
    /// Errors: 40P01 where one of them waits for this, 55P03, and what the statement was ended by.
    pub(crate) fn wait_for_locks(
        &self,
        cancel: &CancelToken,
        take: impl Fn(&Locks, u64) -> Result<(), Other>,
    ) -> SqlResult<()> {
        self.wait_for((self.lock_owner()?, None), cancel, take)
    }

    /// The same for any holder of the session, perhaps for a lock that people know.
    pub(crate) fn wait_for(
        &self,
        (owner, wanted): (u64, Option<Lock>),
        cancel: &CancelToken,
        take: impl Fn(&Locks, u64) -> Result<(), Other>,
    ) -> SqlResult<()> {
        let locks = &self.database.locks;
        let Err(mut other) = take(locks, owner) else { return Ok(()) };
        self.waiting(|| {
            let (database, class) = (&self.database, self.control(cancel).policy().class);
            let timeout = self.settings.scheduling.lock_timeout;
            let deadline = (timeout.0 > 0).then(|| database.machine.now() + timeout);
            let waited = loop {
                let (gate, pass) = match locks.wait(owner, other, wanted) {
                    Ok(Some(end)) => {
                        let pass = end.enter(&database.scheduler, class, cancel, deadline);
                        (end, pass)
                    }
                    Ok(None) => match take(locks, owner) {
                        Ok(()) => break Ok(()),
                        Err(next) => {
                            other = next;
                            continue;
                        }
                    },
                    Err(deadlock) => break Err(deadlock),
                };
                // Who waits behind this one looks only when it has its locks, or waits for it.
                match pass.map(|pass| (take(locks, owner), pass)) {
                    Ok((Ok(()), pass)) => {
                        locks.hand_over(owner, &gate, pass);
                        break Ok(());
                    }
                    Ok((Err(next), _)) => other = next,
                    Err(refused) => break Err(self.not_waited(refused, cancel)),
                }
            };
            locks.stop_waiting(owner, waited.is_err());
            waited
        })
    }

    /// Whether foreign keys ask for rows of a table, or for those that its rows refer to.
    fn is_referential(tables: &CatalogSnapshot, table: &Table) -> bool {
        !table.rules().references.is_empty() || tables.is_referred(&table.name)
    }

    /// Whether a statement that changes such rows writes alone: it would take too many locks, or writes files.
    pub(crate) fn is_much(&self, table: &Table, gone: &[u64], rows: &[RecordBatch]) -> bool {
        let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
        let keys = table.rules().indexes.iter().filter(|it| it.kind.is_unique()).count();
        gone.len() + keys * (gone.len() + count) > MANY_ROWS || self.is_load(rows)
    }

    /// Changes rows of a table of the branch beside other writers. False if the statement has to be run once more, on newer
    /// tables: one of the rows has been changed meanwhile, or there is one with the key of a new one.
    pub(crate) fn change_beside(
        &self,
        old: &Arc<Table>,
        gone: &[u64],
        rows: &[RecordBatch],
        replaced: Replaced<'_>,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        let went = old.row_ids(gone);
        let keys = KeysOfChange::of(old, gone, rows, replaced)?;
        let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
        let wanted = keys.locks(old, &went);
        self.wait_for_locks(cancel, |locks, owner| locks.take(owner, &wanted))?;
        let (newest, _) = self.database.newest();
        let (ids, keeps_keys) = (new_row_ids(count), matches!(replaced, Replaced::Alike));
        let change = RowChange { old, gone, went: &went, rows, ids, keeps_keys };
        // What refers to it, and what it refers to, is asked when it is changed.
        let is_referential = Self::is_referential(&newest, old);
        if is_referential && self.keeps_picture() {
            self.check_referring(&newest, old)?;
        }
        if self.commits_with_statement() && !is_referential {
            let is_checked = !keys.cannot_break(old, count);
            return self.leave_to_commit(&change, &newest, is_checked, cancel);
        }
        if keys.cannot_break(old, count) && !self.keeps_picture() && !is_referential {
            let is_there = self.newest_of(old, gone, &went, &newest)?.is_some();
            return if is_there { self.put_off(&change).map(|()| true) } else { Ok(false) };
        }
        let Some((table, gone)) = self.newest_of(old, gone, &went, &newest)? else {
            return Ok(false);
        };
        if !self.make_change(&table, (&gone, Arc::ptr_eq(&table, old)), &change, cancel)? {
            return Ok(false);
        }
        if self.keeps_picture() {
            self.check_keys(&newest)?;
        }
        Ok(true)
    }

    /// Refuses new rows with keys that others have committed since the picture of the transaction, who does not see them
    /// ([`Session::changes_on_newest`]).
    fn check_keys(&self, newest: &Arc<CatalogSnapshot>) -> SqlResult<()> {
        let Some(writing) = self.taken_writing() else { return Ok(()) };
        if writing.changes.is_same_in(newest, &writing.began) {
            return Ok(());
        }
        drop(writing);
        self.changes_on_newest().map(|_| ())
    }

    /// The version of a table that rows are to be changed in, and where they are there; nothing if one of them is not there
    /// any more, or the table is not what it was. Its locks are taken.
    ///
    /// Errors: 40001 where that is so and the transaction keeps its picture.
    pub(crate) fn newest_of(
        &self,
        old: &Arc<Table>,
        gone: &[u64],
        went: &[u64],
        newest: &CatalogSnapshot,
    ) -> SqlResult<Option<(Arc<Table>, Vec<u64>)>> {
        let is_known = {
            let writing = self.writing.lock();
            let began = writing.as_ref().and_then(|it| it.began.by_id(old.id));
            is_same(newest.by_id(old.id), began)
        };
        if is_known {
            return Ok(Some((old.clone(), gone.to_vec())));
        }
        if self.keeps_picture() {
            let writing = self.writing.lock();
            let is_own =
                |id: &u64| writing.as_ref().is_some_and(|it| it.changes.is_own(old.id, *id));
            let others: Vec<u64> = went.iter().copied().filter(|it| !is_own(it)).collect();
            let table = newest.by_id(old.id).filter(|it| is_alike(it, old));
            return match table.and_then(|it| positions_in(it, &others)) {
                Some(_) => Ok(Some((old.clone(), gone.to_vec()))),
                None => Err(concurrent_update()),
            };
        }
        self.refresh_for(Extent::Of(&[old.id]))?;
        let table = self.snapshot().by_id(old.id).filter(|it| is_alike(it, old)).cloned();
        Ok(table.and_then(|it| positions_in(&it, went).map(|positions| (it, positions))))
    }
}

/// What a transaction writes, taken out of its session; it comes back whatever happens.
pub(crate) struct TakenWriting<'a> {
    place: &'a Mutex<Option<Writing>>,
    writing: Option<Writing>,
}

impl Deref for TakenWriting<'_> {
    type Target = Writing;

    fn deref(&self) -> &Writing {
        self.writing.as_ref().expect("invariant: it is there until it is put back")
    }
}

impl DerefMut for TakenWriting<'_> {
    fn deref_mut(&mut self) -> &mut Writing {
        self.writing.as_mut().expect("invariant: it is there until it is put back")
    }
}

impl Drop for TakenWriting<'_> {
    fn drop(&mut self) {
        *self.place.lock() = self.writing.take();
    }
}
