//! How foreign keys hold while others write: who refers to a row locks its key, and looks at what others have committed
//! (docs/design/08-transactions.md, "foreign keys").

use arrow_array::ArrayRef;
use stdx::sync::Arc;
use storage::{CatalogSnapshot, Table, TableDesign};
use types::{ColumnId, ForeignKey, LockMode, SqlResult, SqlState};

use crate::changed_keys::Keys;
use crate::conflict::{concurrent_update, no_transaction};
use crate::index_ddl::column_of;
use crate::locks::{Lock, Locked};
use crate::parallel::LoadProgress;
use crate::row_changes::{Extent, Making};
use crate::writing::MANY_ROWS;
use crate::{CancelToken, Session};

impl Session {
    /// Locks the keys that new rows refer to, so that nobody takes them away.
    pub(crate) fn lock_parents(
        &self,
        key: &ForeignKey,
        keys: &Keys,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        if self.writes_alone() {
            return Ok(());
        }
        let parent = self.existing(&key.parent)?;
        if !parent.keeps_row_ids() {
            return self.write_alone(cancel);
        }
        let locks = locks_of_parents(&parent, key, keys)?;
        match locks.len() > MANY_ROWS {
            true => self.write_alone(cancel),
            false => self.wait_for_locks(cancel, |all, owner| all.take(owner, &locks)),
        }
    }

    /// Whether others may have committed what the statements of the transaction do not see.
    pub(crate) fn sees_less(&self) -> bool {
        self.keeps_picture() && !self.writes_alone()
    }

    /// What the tables would be if the transaction committed now.
    ///
    /// Errors: 40001 where a row that it has changed is gone, and keys that are there: 23505, or 40001 where the transaction
    /// is serializable and has looked for such a key, as no picture without it can be kept any more.
    pub(crate) fn changes_on_newest(&self) -> SqlResult<Arc<CatalogSnapshot>> {
        let (newest, _) = self.database.newest();
        let Some(writing) = self.taken_writing() else { return Ok(newest) };
        let stop = || false;
        let (team, plain) = (self.load_team(&CancelToken::new()), TableDesign::default());
        let progress = LoadProgress::new(&*self.progress, "changes");
        let context = self.build_context(&team, &progress, &stop, &plain);
        let from = (&*writing.began, &*writing.branch);
        let onto = (&newest, &**self.database.head());
        let making = Making { context: &context, asks_keys: true, made: &|_, _| {} };
        match writing.changes.clone().rebased(from, onto, Extent::Flat, &making) {
            Err(error) if error.state == SqlState::UNIQUE_VIOLATION => {
                self.check_reads(&writing, &newest)?;
                Err(error)
            }
            branch => Ok(branch?.snapshot()),
        }
    }

    /// Refuses (40001) to change a table to which others refer that did not when the picture of the transaction was taken.
    pub(crate) fn check_referring(&self, newest: &CatalogSnapshot, table: &Table) -> SqlResult<()> {
        let writing = self.writing.lock();
        let began = writing.as_ref().map(|it| it.began.clone()).ok_or_else(no_transaction)?;
        drop(writing);
        match referring(&began, table) == referring(newest, table) {
            true => Ok(()),
            false => Err(concurrent_update()),
        }
    }
}

fn referring(tables: &CatalogSnapshot, parent: &Table) -> Vec<ForeignKey> {
    let of_all = tables.each_table().flat_map(|it| it.rules().references.clone());
    of_all.filter(|it| it.parent.eq_ignore_ascii_case(&parent.name)).collect()
}

/// Locks of the keys of a table that some values refer to, and of the table, as if a SELECT had locked their rows. What its columns cannot hold is no key of it.
fn locks_of_parents(parent: &Table, key: &ForeignKey, keys: &Keys) -> SqlResult<Vec<Lock>> {
    let columns: Vec<ColumnId> =
        key.parent_columns.iter().map(|it| column_of(parent, it)).collect::<SqlResult<_>>()?;
    let is_of_key = |it: &storage::TableIndex| {
        it.kind.is_unique()
            && it.columns.len() == columns.len()
            && it.columns.iter().all(|it| columns.contains(it))
    };
    let mut locks = vec![((parent.id, Locked::Table, 0), LockMode::RowShare)];
    for (number, rule) in parent.rules().indexes.iter().enumerate().filter(|it| is_of_key(it.1)) {
        let value = |column: &ColumnId| {
            let place = columns.iter().position(|it| it == column)?;
            keys.rows.column_by_name(&format!("n{place}")).cloned()
        };
        let Some(values) = rule.columns.iter().map(value).collect::<Option<Vec<ArrayRef>>>() else {
            continue;
        };
        let Ok(hashes) = parent.hashes_of_rule(number, &values) else { continue };
        let lock = |it: u64| ((parent.id, Locked::Key(number as u32), it), LockMode::ForKeyShare);
        locks.extend(hashes.into_iter().map(lock));
    }
    Ok(locks)
}
