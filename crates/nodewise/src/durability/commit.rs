//! How changes get into the log, and how a commit waits for it (docs/design/09-durability.md, "a commit").

use arrow_array::RecordBatch;
use journal::Lsn;
use stdx::Bytes;
use storage::{Catalog, CatalogSnapshot, Table};
use types::{SqlError, SqlResult, SqlState, names};

use super::loads::Load;
use super::operation::Operation;
use super::refusal::journal_error;
use super::sequence_form::{are_logged, lasting};
use crate::transaction_state::Writing;
use crate::{Database, Session};

impl Session {
    /// Notes what the transaction has done; the log gets it when it commits. Without a log nothing is made.
    pub(crate) fn note(&self, operation: impl FnOnce() -> Operation) -> SqlResult<()> {
        if self.database.durability.get().is_none() {
            return Ok(());
        }
        let operation = operation();
        if operation.is_temporary() {
            return Ok(());
        }
        match &mut *self.writing.lock() {
            Some(writing) => operation.write(&mut writing.record),
            None => Err(SqlError::internal("a change outside of a transaction")),
        }
    }

    /// Whether rows that come are written to files that the log names.
    pub(crate) fn is_load(&self, rows: &[RecordBatch]) -> bool {
        self.database.durability.get().is_some() && bytes(rows) >= self.database.files_from
    }

    /// Notes a change after which a table is this one: by its rows, if they are few; else the table is written to files.
    pub(crate) fn note_table(
        &self,
        table: &Table,
        rows: Option<&[RecordBatch]>,
        operation: impl FnOnce() -> Operation,
    ) -> SqlResult<()> {
        if names::is_temporary(&table.name) {
            return Ok(());
        }
        let Some(durability) = self.database.durability.get() else { return Ok(()) };
        if rows.is_some_and(|it| !self.is_load(it)) {
            return self.note(operation);
        }
        let (load, names) = Load::write(&durability.folder, &durability.loads, table)?;
        match &mut *self.writing.lock() {
            Some(writing) => {
                writing.loads.push(load);
                Operation::load(&table.name, names).write(&mut writing.record)
            }
            None => Err(SqlError::internal("a change outside of a transaction")),
        }
    }
}

fn bytes(rows: &[RecordBatch]) -> Bytes {
    Bytes(rows.iter().map(|it| it.get_array_memory_size() as u64).sum())
}

impl Database {
    /// Whether tables can be changed: not once the log could not be written. Errors: 25006.
    pub(crate) fn check_writable(&self) -> SqlResult<()> {
        let failure = self.durability.get().and_then(|it| it.journal.failure());
        match failure {
            Some(cause) => {
                Err(journal_error(&journal::JournalError::Stopped { cause: Box::new(cause) }))
            }
            None => Ok(()),
        }
    }

    /// Returns when what a transaction began with is durable.
    pub(crate) fn wait_for(&self, lsn: Lsn) -> SqlResult<()> {
        let Some(durability) = self.durability.get() else { return Ok(()) };
        durability.settle(lsn, &self.catalog).map_err(|it| journal_error(&it))
    }

    /// Puts what a transaction has changed into the newest tables, and its record into the log. Its caller has the writers' turn, gives
    /// it back, and waits for what this returns ([`Database::wait_for_commit`]). On an error nothing of it is seen.
    pub(crate) fn commit(&self, writing: &mut Writing, synchronous: bool) -> SqlResult<Lsn> {
        let Writing { began, branch, record, loads, .. } = writing;
        let (began, branch): (&CatalogSnapshot, &Catalog) = (began, branch);
        let Some(durability) = self.durability.get() else {
            self.catalog.publish(began, branch);
            return Ok(Lsn(0));
        };
        let snapshot = branch.snapshot();
        if record.length() == 0 {
            let changed = snapshot.changes_since(began);
            if !changed.iter().all(|it| CatalogSnapshot::is_temporary(it)) {
                // It would be gone after a restart.
                return Err(SqlError::internal("a change was not logged"));
            }
            return Ok(match changed.is_empty() {
                true => Lsn(0),
                false => durability.committed(None, (began, branch)),
            });
        }
        // What was asked of new sequences is none of what a rollback to a savepoint takes back.
        for sequence in lasting(&snapshot) {
            let counted = *sequence.counter.lock();
            if counted.logged.is_none() {
                Operation::count(sequence.counter.id, counted.position).write(record)?;
            }
        }
        let record = std::mem::take(record);
        // Nothing of it is seen if it cannot be written.
        let lsn = durability.journal.append(record).map_err(|it| journal_error(&it))?;
        loads.drain(..).for_each(|it| it.commit(lsn));
        are_logged(&snapshot, lsn.0);
        // Who goes on now sees it in the head, and tells of it when it is durable.
        Ok(durability.committed(Some((lsn, synchronous)), (began, branch)))
    }

    /// Returns when a commit is durable and can be seen.
    pub(crate) fn wait_for_commit(&self, needs: Lsn) -> SqlResult<()> {
        let Some(durability) = self.durability.get() else { return Ok(()) };
        durability.settle(needs, &self.catalog).map_err(|error| {
            let cause = match &error {
                journal::JournalError::Stopped { cause } => &**cause,
                other => other,
            };
            let state = journal_error(cause).state;
            let message =
                "it is not known whether the transaction is durable: the log could not be synced";
            let state = if state == SqlState::DISK_FULL { state } else { SqlState::IO_ERROR };
            SqlError::new(state, message)
                .with_hint(format!("{cause}; a restart tells, until then nothing can be changed"))
        })
    }
}
