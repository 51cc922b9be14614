//! How changes of rows get into the newest tables (docs/design/08-transactions.md, "a commit of rows").
//!
//! Key decision: a change is done to a table as seldom as can be. A statement that is a transaction by itself takes the turn to
//! commit before it changes the newest tables, once. In a block, changes that no key can be in the way of wait until a
//! statement asks for their table, or the commit comes.

use arrow_array::RecordBatch;
use scheduler::Admitted;
use stdx::sync::Arc;
use storage::{BuildContext, Table};
use types::{SqlError, SqlResult, SqlState};

use crate::conflict::no_transaction;
use crate::row_changes::positions_in;
use crate::{CancelToken, Session};

/// A change of rows of a table.
pub(crate) struct RowChange<'a> {
    /// The table as the statement saw it.
    pub(crate) old: &'a Arc<Table>,
    /// Positions of the rows that go, which rise.
    pub(crate) gone: &'a [u64],
    /// Their ids.
    pub(crate) went: &'a [u64],
    /// The rows that come.
    pub(crate) rows: &'a [RecordBatch],
    /// The ids that they get.
    pub(crate) ids: std::ops::Range<u64>,
    /// Whether they have the keys of those that go.
    pub(crate) keeps_keys: bool,
}

impl Session {
    /// The turn to commit: only commits are in the way, and they wait for nothing.
    pub(crate) fn commit_turn(&self) -> SqlResult<Admitted> {
        if let Some(it) = &self.under_way {
            it.leave();
        }
        let (database, cancel) = (&self.database, CancelToken::new());
        let class = self.control(&cancel).policy().class;
        let entered = database.writer.enter(&database.scheduler, class, &cancel, None);
        entered.map_err(|_| SqlError::internal("a commit cannot wait"))
    }

    /// Whether a change can be done under the turn to commit: nothing follows it in its transaction, and it rests on nothing but
    /// the newest tables.
    pub(crate) fn commits_with_statement(&self) -> bool {
        let has_steps = self.writing.lock().as_ref().is_some_and(|it| it.has_steps);
        self.block.is_none() && !self.keeps_picture() && !has_steps
    }

    /// Changes rows of the newest version of a table, and keeps the turn until the statement has committed. Its locks are taken.
    /// False if the statement has to be run once more.
    pub(crate) fn change_newest(
        &self,
        change: &RowChange<'_>,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        let own = self.writing.lock().as_mut().and_then(|it| it.commits.take());
        let turn = own.map_or_else(|| self.commit_turn(), Ok)?;
        self.refresh()?;
        let newest = self.snapshot();
        let Some(table) = newest.by_id(change.old.id) else { return Ok(false) };
        let is_old = Arc::ptr_eq(table, change.old);
        let found = match is_old {
            true => Some(change.gone.to_vec()),
            false if is_alike(table, change.old) => positions_in(table, change.went),
            false => None,
        };
        let Some(gone) = found else { return Ok(false) };
        if !self.make_change(table, (&gone, is_old), change, cancel)? {
            return Ok(false);
        }
        let mut writing = self.writing.lock();
        let writing = writing.as_mut().ok_or_else(no_transaction)?;
        writing.commits = Some(turn);
        Ok(true)
    }

    /// Changes rows of a table of the branch, which are at some positions of it, and notes the change. False where a key is
    /// there that the statement did not see.
    pub(crate) fn make_change(
        &self,
        table: &Arc<Table>,
        (gone, is_old): (&[u64], bool),
        change: &RowChange<'_>,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        let RowChange { went, rows, ids, keeps_keys, .. } = change;
        let all: Vec<u64> = ids.clone().collect();
        let made = |context: &BuildContext<'_>| match keeps_keys {
            true => table.replaced_as(gone, rows, &all, context),
            false => table.changed_as(gone, rows, &all, context),
        };
        match self.replace_with(table, cancel, made) {
            Err(error) if error.state == SqlState::UNIQUE_VIOLATION && !is_old => return Ok(false),
            other => other?,
        };
        if let Some(writing) = &mut *self.writing.lock() {
            writing.changes.add(table.id, went, rows, ids.clone());
        }
        Ok(true)
    }

    /// Notes a change that is done later, if nothing can refuse it but its values, which are looked at now. Its locks are taken.
    pub(crate) fn put_off(&self, change: &RowChange<'_>) -> SqlResult<()> {
        let RowChange { old, went, rows, ids, .. } = change;
        old.check_values(rows)?;
        if let Some(writing) = &mut *self.writing.lock() {
            writing.changes.put_off(old.id, went, rows, ids.clone());
            // Nobody asks for what is not there yet.
            writing.branch.adopt(&writing.began, old.id);
        }
        Ok(())
    }
}

/// Whether rows of one version of a table can be changed in another.
pub(crate) fn is_alike(one: &Table, other: &Table) -> bool {
    let same_rules = Arc::ptr_eq(one.rules(), other.rules()) || one.rules() == other.rules();
    same_rules && one.has_schema_of(other)
}
