//! SELECT .. FOR UPDATE and its kin, and LOCK TABLE (docs/design/08-transactions.md, "locks").
//!
//! Key decision: a SELECT that locks runs like a change: first its query, without locks; then it takes all locks of the rows of its
//! result or none; and if one of the rows is not what it was, it runs once more. SKIP LOCKED runs on tables without the rows that
//! others have locked, so that LIMIT counts those that it gets.

use arrow_array::RecordBatch;
use binder::bind::RowLock;
use plan::Plan;
use stdx::sync::Arc;
use storage::{Table, TableDesign};
use types::{LockMode, LockWait, SqlError, SqlResult, SqlState, TableId};

use crate::answer::done;
use crate::changed_rows::{malformed, positions};
use crate::conflict::{concurrent_update, no_transaction};
use crate::key_locks::locks_of_rows;
use crate::locks::{Lock, Locked};
use crate::planned_change::PlannedChange;
use crate::result::{held_schema_of, schema_of, shown, types_of};
use crate::statement_catalog::Tables;
use crate::{Answer, CancelToken, QueryProfile, Session};

impl Session {
    /// Runs a SELECT that locks rows by its plan. Nothing comes of it if it has to be run once more, on newer tables.
    pub(crate) fn run_locking(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        mut tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Answer>> {
        let machine = &self.database.machine;
        let started = machine.now();
        self.skip_locked(&change.locks, plan, &mut tables, cancel)?;
        self.note_reads(plan, &change.unknown);
        let executed = self.run_plan(plan, tables.clone(), cancel)?;
        let batches = self.record_batches(&executed, &held_schema_of(&plan.output), cancel)?;
        for (place, lock) in change.locks.iter().enumerate() {
            let Some(table) = tables.values().find(|it| it.name == lock.table) else { continue };
            let mut rows: Vec<u64> =
                batches.iter().flat_map(|it| positions(it.column(place))).collect();
            rows.sort_unstable();
            rows.dedup();
            if !self.lock_rows(table, &rows, lock, cancel)? {
                return Ok(None);
            }
        }
        let returned = self.zoned(&schema_of(change.returned()));
        let types = types_of(change.returned());
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let answer = |batch: &RecordBatch| {
            let columns = batch.columns()[change.locks.len()..].iter();
            let columns = columns.zip(&types).zip(returned.fields());
            let columns = columns.map(|((it, of), field)| shown(it.clone(), *of, field)).collect();
            let options =
                arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(returned.clone(), columns, &options)
                .map_err(|error| malformed(&error))
        };
        let batches = batches.iter().filter(|it| it.num_rows() > 0).map(answer);
        let batches = batches.collect::<SqlResult<_>>()?;
        let profile = QueryProfile {
            execution: machine.now() - started,
            pipelines: executed.reports,
            ..QueryProfile::default()
        };
        let (tag, schema) = (format!("SELECT {count}"), returned);
        Ok(Some(Answer { tag, schema, types, batches, profile }))
    }

    /// Takes the rows that others have locked out of the tables of a plan, where it says SKIP LOCKED.
    fn skip_locked(
        &self,
        locks: &[RowLock],
        plan: &Plan,
        tables: &mut Tables,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        for lock in locks.iter().filter(|it| it.wait == LockWait::Skip) {
            let found = tables.iter().find(|it| it.1.name == lock.table);
            let Some((id, table)) = found.map(|it| (*it.0, it.1.clone())) else { continue };
            let others = self.database.locks.rows_of_others(self.lock_owner()?, id, lock.mode);
            let mut rows: Vec<u64> = table.positions_of(&others).into_iter().flatten().collect();
            if rows.is_empty() {
                continue;
            }
            if plan.scans().iter().filter(|it| it.table == id).count() > 1 {
                let what = "SKIP LOCKED of a table that the query reads several times";
                return Err(SqlError::unsupported(format!("{what} is not supported")));
            }
            rows.sort_unstable();
            let mut left =
                self.loaded(&table.name, &TableDesign::default(), cancel, |context| {
                    table.changed(&rows, &[], context)
                })?;
            left.id = id;
            tables.insert(id, Arc::new(left));
        }
        Ok(())
    }

    /// Locks rows at some positions of a table, which rise. False if one of them is not what it was.
    fn lock_rows(
        &self,
        table: &Arc<Table>,
        rows: &[u64],
        lock: &RowLock,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        if rows.is_empty() || self.writes_alone() {
            return Ok(true);
        }
        let ids = table.row_ids(rows);
        if !table.keeps_row_ids() {
            self.write_alone(cancel)?;
            return Ok(false);
        }
        let mut wanted = locks_of_rows(table, rows, &ids, lock.mode)?;
        wanted.push(((table.id, Locked::Table, 0), LockMode::RowShare));
        if !self.take_locks(&wanted, &table.name, lock.wait, cancel)? {
            return Ok(false);
        }
        let (newest, _) = self.database.newest();
        match self.newest_of(table, rows, &ids, &newest) {
            // Who skips what is locked does not fail where it was changed.
            Err(_) if lock.wait == LockWait::Skip && self.keeps_picture() => {
                Err(concurrent_update())
            }
            found => Ok(found?.is_some()),
        }
    }

    /// Takes locks. False where others have one of them, and it is not waited for.
    ///
    /// Errors: 55P03 by NOWAIT and after `lock_timeout`, 40P01.
    pub(crate) fn take_locks(
        &self,
        wanted: &[Lock],
        table: &str,
        wait: LockWait,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        match wait {
            LockWait::Wait => {
                self.wait_for_locks(cancel, |locks, owner| locks.take(owner, wanted))?;
                Ok(true)
            }
            LockWait::Skip => Ok(self.database.locks.take(self.lock_owner()?, wanted).is_ok()),
            LockWait::NoWait => match self.database.locks.take(self.lock_owner()?, wanted) {
                Ok(()) => Ok(true),
                Err(_) => {
                    let is_row = wanted.iter().any(|it| it.0.1 != Locked::Table);
                    let what = if is_row { "row in relation" } else { "relation" };
                    Err(not_available(&format!("{what} \"{table}\"")))
                }
            },
        }
    }

    /// The number of the transaction among those that may hold locks.
    pub(crate) fn lock_owner(&self) -> SqlResult<u64> {
        let owner = self.writing.lock().as_ref().map(|it| it.owner.number());
        owner.ok_or_else(no_transaction)
    }

    /// LOCK TABLE.
    pub(crate) fn lock_tables(
        &mut self,
        names: &[String],
        mode: LockMode,
        wait: LockWait,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        if self.open_transaction().is_none() {
            let message = "LOCK TABLE can only be used in transaction blocks";
            return Err(SqlError::new(SqlState("25P01"), message));
        }
        let is_weak =
            matches!(mode, LockMode::AccessShare | LockMode::RowShare | LockMode::RowExclusive);
        if self.modes().read_only && !is_weak {
            let message = "cannot execute LOCK TABLE during a read-only transaction";
            return Err(SqlError::new(SqlState("25006"), message));
        }
        let tables: Vec<(TableId, String)> = names
            .iter()
            .map(|it| self.existing(it).map(|it| (it.id, it.name.clone())))
            .collect::<SqlResult<_>>()?;
        self.begin_locking()?;
        for (id, name) in tables {
            self.take_locks(&[((id, Locked::Table, 0), mode)], &name, wait, cancel)?;
        }
        Ok(done("LOCK TABLE"))
    }
}

/// 55P03.
pub(crate) fn not_available(what: &str) -> SqlError {
    SqlError::new(SqlState("55P03"), format!("could not obtain lock on {what}"))
}
