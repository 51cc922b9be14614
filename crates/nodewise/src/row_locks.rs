//! SELECT .. FOR UPDATE and its kin, and LOCK TABLE (docs/design/08-transactions.md, "locks").
//!
//! Key decision: a SELECT that locks runs like a change: first its query, without locks; then it takes all locks of the rows of its
//! result or none; and if one of the rows is not what it was, it runs once more. SKIP LOCKED runs on tables without the rows that
//! others have locked, so that LIMIT counts those that it gets.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{RecordBatch, RecordBatchOptions};
use binder::bind::RowLock;
use execution::PipelineReport;
use plan::Plan;
use stdx::sync::Arc;
use storage::{Table, TableDesign};
use types::{LockMode, LockWait, SqlError, SqlResult, SqlState, TableId};

use crate::answer::done;
use crate::change::shown_batches;
use crate::changed_rows::{malformed, positions};
use crate::conflict::no_transaction;
use crate::key_locks::locks_of_rows;
use crate::locks::{Lock, Locked};
use crate::planned_change::PlannedChange;
use crate::result::held_schema_of;
use crate::statement_catalog::Tables;
use crate::{Answer, CancelToken, Described, QueryProfile, Session};

/// Rows that others have, by table and id.
type Skipped = BTreeMap<TableId, BTreeSet<u64>>;

/// What became of the rows of a result.
enum Outcome {
    /// All are locked.
    Locked,
    /// Others have some of them, that are left out from now on.
    Skipped,
    /// Some are not what they were.
    Changed,
}

impl Session {
    /// Runs a SELECT that locks rows by its plan. Nothing comes of it if it has to be run once more, on newer tables.
    pub(crate) fn run_locking(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Answer>> {
        let machine = &self.database.machine;
        let started = machine.now();
        let Some((batches, pipelines)) = self.locked_rows(change, plan, tables, cancel)? else {
            return Ok(None);
        };
        let Described { schema, types, origins } = self.described(change.returned());
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let batches = shown_batches(&batches, &schema, &types)?;
        let execution = machine.now() - started;
        let profile = QueryProfile { execution, pipelines, ..QueryProfile::default() };
        let tag = change.kind.tag(count);
        Ok(Some(Answer { tag, schema, types, origins, batches, profile }))
    }

    /// The rows of a SELECT that locks them, as they are held, and what its pipelines did. Nothing if it has to be run once more.
    pub(crate) fn locked_rows(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Option<(Vec<RecordBatch>, Vec<PipelineReport>)>> {
        self.note_reads(plan, &change.unknown);
        let mut skipped = BTreeMap::new();
        let (batches, reports) = loop {
            let seen = self.but_locked(&change.locks, plan, &tables, &mut skipped, cancel)?;
            let executed = self.run_plan(plan, seen.clone(), cancel)?;
            let batches = self.record_batches(&executed, &held_schema_of(&plan.output), cancel)?;
            match self.lock_all(&change.locks, &seen, &batches, &mut skipped, cancel)? {
                Outcome::Locked => break (batches, executed.reports),
                Outcome::Skipped => {}
                Outcome::Changed => return Ok(None),
            }
        };
        let schema = held_schema_of(change.returned());
        let answer = |batch: &RecordBatch| {
            let columns = batch.columns()[change.locks.len()..].to_vec();
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(schema.clone(), columns, &options)
                .map_err(|error| malformed(&error))
        };
        let batches = batches.iter().filter(|it| it.num_rows() > 0).map(answer);
        Ok(Some((batches.collect::<SqlResult<_>>()?, reports)))
    }

    /// The tables of a plan, but for the rows that others have locked where it says SKIP LOCKED: these, and what was `skipped` before.
    fn but_locked(
        &self,
        locks: &[RowLock],
        plan: &Plan,
        tables: &Tables,
        skipped: &mut Skipped,
        cancel: &CancelToken,
    ) -> SqlResult<Tables> {
        let mut tables = tables.clone();
        for lock in locks.iter().filter(|it| it.wait == LockWait::Skip) {
            let found = tables.iter().find(|it| it.1.name == lock.table);
            let Some((id, table)) = found.map(|it| (*it.0, it.1.clone())) else { continue };
            let own = skipped.entry(id).or_default();
            own.extend(self.database.locks.rows_of_others(self.lock_owner()?, id, lock.mode));
            let ids: Vec<u64> = own.iter().copied().collect();
            let mut rows: Vec<u64> = table.positions_of(&ids).into_iter().flatten().collect();
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
        Ok(tables)
    }

    /// Locks the rows that a result was made of.
    fn lock_all(
        &self,
        locks: &[RowLock],
        tables: &Tables,
        batches: &[RecordBatch],
        skipped: &mut Skipped,
        cancel: &CancelToken,
    ) -> SqlResult<Outcome> {
        for (place, lock) in locks.iter().enumerate() {
            let Some(table) = tables.values().find(|it| it.name == lock.table) else { continue };
            let rows = batches.iter().flat_map(|it| positions(it.column(place)));
            let rows: Vec<u64> = rows.collect::<BTreeSet<u64>>().into_iter().collect();
            match self.lock_rows(table, &rows, lock, skipped, cancel)? {
                Outcome::Locked => {}
                other => return Ok(other),
            }
        }
        Ok(Outcome::Locked)
    }

    /// Locks rows at some positions of a table, which rise.
    fn lock_rows(
        &self,
        table: &Arc<Table>,
        rows: &[u64],
        lock: &RowLock,
        skipped: &mut Skipped,
        cancel: &CancelToken,
    ) -> SqlResult<Outcome> {
        if rows.is_empty() || self.writes_alone() {
            return Ok(Outcome::Locked);
        }
        if !table.keeps_row_ids() {
            self.write_alone(cancel)?;
            return Ok(Outcome::Changed);
        }
        let ids = table.row_ids(rows);
        let wanted = locks_of_rows(table, rows, &ids, lock.mode)?;
        // Whoever has all of the table is waited for, whatever is said of its rows.
        let whole = [((table.id, Locked::Table, 0), LockMode::RowShare)];
        self.take_locks(&whole, &table.name, LockWait::Wait, cancel)?;
        if !self.take_locks(&wanted, &table.name, lock.wait, cancel)? {
            let (locks, owner) = (&self.database.locks, self.lock_owner()?);
            let others = skipped.entry(table.id).or_default();
            for (row, id) in rows.iter().zip(&ids) {
                let own = locks_of_rows(table, &[*row], &[*id], lock.mode)?;
                if !locks.are_free(owner, &own) {
                    others.insert(*id);
                }
            }
            return Ok(Outcome::Skipped);
        }
        let (newest, _) = self.database.newest();
        let found = self.newest_of(table, rows, &ids, &newest)?;
        Ok(if found.is_some() { Outcome::Locked } else { Outcome::Changed })
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
