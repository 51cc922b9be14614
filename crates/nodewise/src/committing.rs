//! How changes of rows get into the newest tables (docs/design/08-transactions.md, "a commit of rows").
//!
//! Key decision: a change is done to a table as seldom as can be. That of a statement which is a transaction by itself waits for its
//! commit; so do, in a block, changes that no key can be in the way of, unless a statement asks for their table before. Keys are
//! asked as soon as they are locked, so that commits, which go one after the other, need not ask.

use std::borrow::Cow;

use arrow_array::RecordBatch;
use scheduler::Admitted;
use stdx::sync::Arc;
use storage::{BuildContext, CatalogSnapshot, Table, TableDesign};
use types::{SqlError, SqlResult, SqlState};

use crate::parallel::LoadProgress;
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

    /// Whether a change can be left to the commit: nothing comes before it or follows it in its transaction, and it rests on nothing
    /// but the newest tables.
    pub(crate) fn commits_with_statement(&self) -> bool {
        let writing = self.writing.lock();
        let is_only = writing.as_ref().is_none_or(|it| !it.has_steps && it.changes.is_empty());
        self.block.is_none() && !self.keeps_picture() && is_only
    }

    /// Notes a change that is a transaction by itself, if it can be done to the newest tables: its commit does it, and nothing can be
    /// in the way of that, as its locks are taken. False if the statement has to be run once more.
    pub(crate) fn leave_to_commit(
        &self,
        change: &RowChange<'_>,
        newest: &CatalogSnapshot,
        is_checked: bool,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        let Some(table) = newest.by_id(change.old.id) else { return Ok(false) };
        let is_old = Arc::ptr_eq(table, change.old);
        let found = match is_old {
            true => Some(Cow::Borrowed(change.gone)),
            false if is_alike(table, change.old) => {
                positions_in(table, change.went).map(Cow::Owned)
            }
            false => None,
        };
        let Some(gone) = found else { return Ok(false) };
        table.check_values(change.rows).map_err(|it| it.in_table(&table.name))?;
        if is_checked {
            let (team, plain) = (self.load_team(cancel), TableDesign::default());
            let (progress, stop) =
                (LoadProgress::new(&*self.progress, &table.name), || execution::is_ended(cancel));
            let context = self.build_context(&team, &progress, &stop, &plain);
            let checked = table.check_arriving(&gone, change.rows, &context);
            let checked = checked.map_err(|it| it.in_table(&table.name));
            match self.cancelled_or(cancel, checked) {
                Err(error) if error.state == SqlState::UNIQUE_VIOLATION && !is_old => {
                    return Ok(false);
                }
                other => other?,
            }
        }
        self.note_for_later(change);
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
            true => table.changed_unasked(gone, rows, &all, context),
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
        let RowChange { old, rows, .. } = change;
        old.check_values(rows).map_err(|it| it.in_table(&old.name))?;
        self.note_for_later(change);
        Ok(())
    }

    fn note_for_later(&self, change: &RowChange<'_>) {
        let RowChange { old, went, rows, ids, .. } = change;
        if let Some(writing) = &mut *self.writing.lock() {
            writing.changes.put_off(old.id, went, rows, ids.clone());
            // Nobody asks for what is not there yet.
            writing.branch.adopt(&writing.began, old.id);
        }
    }
}

/// Whether rows of one version of a table can be changed in another.
pub(crate) fn is_alike(one: &Table, other: &Table) -> bool {
    let same_rules = Arc::ptr_eq(one.rules(), other.rules()) || one.rules() == other.rules();
    same_rules && one.has_schema_of(other)
}
