//! INSERT, UPDATE, DELETE, MERGE and TRUNCATE: the rows that a statement changes are those of a query, and the table is put
//! together anew without the old and with the new ones.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use arrow_select::filter::{filter, filter_record_batch};
use binder::bind::{ChangeKind, RowCheck};
use binder::{ParsedQuery, Statement};
use execution::{Executed, PipelineReport};
use plan::{OutputColumn, Plan};
use stdx::sync::{Arc, OnceLock};
use storage::{CatalogSnapshot, Column, Table, TableDesign};
use types::{DataType, SqlError, SqlResult, SqlState, Styles};

use crate::answer::done;
use crate::changed_rows::{Seen, malformed, positions};
use crate::conflict::concurrent_update;
use crate::durability::Operation;
use crate::parallel::LoadProgress;
use crate::planned_change::PlannedChange;
use crate::planning::plan_plain_change;
use crate::result::{held_schema_of, shown};
use crate::sql_names::sql_path;
use crate::statement_catalog::{StatementCatalog, Tables, tables_of};
use crate::{Answer, CancelToken, Described, QueryProfile, Session};

/// The rows that a statement changes.
#[derive(Default)]
pub(crate) struct Changes {
    /// Positions of rows that go, which rise.
    pub gone: Vec<u64>,
    /// Rows that come.
    pub rows: Vec<RecordBatch>,
    /// For each batch of them the positions of the rows in whose place they come, NULL for a new one; nothing where all are
    /// new.
    pub replaced: Vec<ArrayRef>,
    /// What RETURNING asked, as it is held.
    pub returning: Vec<RecordBatch>,
    /// How many rows were changed.
    pub count: usize,
    /// Whether it looks at rows that have the keys of new ones.
    pub looks: bool,
    /// Whether the rows that come have the keys of those in whose place they come, whatever `replaced` tells.
    pub keeps_keys: bool,
    /// What the check option of a view says of them: they are refused when all that the table asks has been asked.
    pub refused: Option<SqlError>,
}

/// In whose place rows come.
#[derive(Clone, Copy)]
pub(crate) enum Replaced<'a> {
    /// In that of the rows at these positions ([`Changes::replaced`]).
    At(&'a [ArrayRef]),
    /// In that of rows that have their keys.
    Alike,
}

/// A table as it was, what the query of a change did, and what was changed.
pub(crate) type Changed = (Arc<Table>, Vec<PipelineReport>, Changes);

impl Session {
    /// Runs a statement that changes rows.
    pub(crate) fn change(
        &mut self,
        statement: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.change_with(statement, None, cancel).map(|it| it.0)
    }

    /// [`Session::change`] with a table beside those of the catalog, by the name that the statement has for it as for a file;
    /// tells how it was planned, too.
    pub(crate) fn change_with(
        &mut self,
        statement: &ParsedQuery,
        mut beside: Option<(String, Table)>,
        cancel: &CancelToken,
    ) -> SqlResult<(Answer, PlannedChange)> {
        let database = self.database.clone();
        self.begin_writing()?;
        let mut added: Option<(String, Arc<Table>)> = None;
        loop {
            self.wait_for_place()?;
            let started = database.machine.now();
            let mut catalog = StatementCatalog::new(self);
            if let Some((name, table)) = beside.take() {
                added = Some((name.clone(), catalog.add(name, table)));
            } else if let Some((name, table)) = &added {
                catalog.add_again(name.clone(), table.clone());
            }
            if added.is_some() {
                // What stands in the statement beside the rows of the file are kept texts.
                catalog = catalog.reading(Styles::default());
            }
            self.open_files(statement, &catalog, cancel)?;
            let change = plan_plain_change(statement, &catalog)?;
            // Tables that it changes or locks rows of it locks itself.
            let mut read = catalog.asked_tables();
            let own = || change.locks.iter().map(|it| &it.table).chain([&change.table]);
            read.retain(|it| !own().any(|name| catalog.is_called(*it, name)));
            if self.wait_to_read(&read, cancel)? {
                drop(catalog);
                self.refresh()?;
                continue;
            }
            let planning = database.machine.now() - started;
            let tables = catalog.tables(&change.plan);
            drop(catalog);
            if let Some(mut answer) = self.run_change(&change, &change.plan, tables, cancel)? {
                answer.profile.planning = planning;
                return Ok((answer, change));
            }
            self.refresh()?;
        }
    }

    /// Runs a statement that changes rows by a plan for its values; the transaction writes already. Nothing comes of it if it
    /// has to be run once more, on newer tables.
    pub(crate) fn change_planned(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        snapshot: &CatalogSnapshot,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Answer>> {
        self.wait_for_place()?;
        let tables = tables_of(plan, |id| snapshot.by_id(id).cloned());
        self.run_change(change, plan, tables, cancel)
    }

    /// Runs the query of the rows that are changed, and changes them.
    fn run_change(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Answer>> {
        if change.kind.is_lock() {
            return self.run_locking(change, plan, tables, cancel);
        }
        let machine = &self.database.machine;
        let started = machine.now();
        let changed = self.change_rows(change, plan, tables, cancel)?;
        let Some((old, reports, mut changes)) = changed else { return Ok(None) };
        let (count, returning) = (changes.count, std::mem::take(&mut changes.returning));
        self.keep_references(old, changes, cancel)?;
        let tag = change.kind.tag(count);
        if change.returning.is_none()
            && let Some(writing) = &mut *self.writing.lock()
        {
            writing.counts_only = true;
        }
        let returned = if change.returning.is_some() { change.returned() } else { &[] };
        let Described { schema, types, origins } = self.described(returned);
        let profile = QueryProfile {
            execution: machine.now() - started,
            pipelines: reports,
            ..QueryProfile::default()
        };
        let batches = shown_batches(&returning, &schema, &types)?;
        Ok(Some(Answer { tag, schema, types, origins, batches, profile }))
    }

    /// Changes the rows that the query of a plan tells, and nothing that refers to them. Tells how the table was before;
    /// nothing if the statement has to be run once more.
    pub(crate) fn change_rows(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Changed>> {
        let old = self.existing(&change.table)?;
        if !self.writes_alone() && !old.keeps_row_ids() {
            self.write_alone(cancel)?;
            if !Arc::ptr_eq(&old, &self.existing(&change.table)?) {
                return Ok(None);
            }
        }
        self.note_reads(plan, &change.unknown);
        let executed = self.run_plan(plan, tables, cancel)?;
        let changes = self.changes(change, &old, &executed, cancel)?;
        match self.store(&old, &changes, cancel)? {
            true => Ok(Some((old, executed.reports, changes))),
            false => Ok(None),
        }
    }

    /// Does changes to their table. False if the statement has to be run once more.
    pub(crate) fn store(
        &self,
        old: &Arc<Table>,
        changes: &Changes,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        let Changes { gone, rows, replaced, count, looks, keeps_keys, .. } = changes;
        if *count > 0 {
            let replaced = if *keeps_keys { Replaced::Alike } else { Replaced::At(replaced) };
            let stored = self.replace_rows(old, gone, rows, replaced, cancel);
            let is_hidden = |it: &SqlError| {
                *looks && self.keeps_picture() && it.state == SqlState::UNIQUE_VIOLATION
            };
            match stored {
                // Who would have looked at the row with that key cannot see it.
                Err(error) if is_hidden(&error) => return Err(concurrent_update()),
                Ok(false) => return Ok(false),
                other => other?,
            };
        }
        if let Some(error) = &changes.refused {
            return Err(error.clone());
        }
        self.activity.changed(*count as u64);
        Ok(true)
    }

    /// Whether the defaults and CHECK constraints of a table can be bound.
    pub(crate) fn check_row_rules(&self, table: &Table) -> SqlResult<()> {
        let statement = parsed(&format!("INSERT INTO {} DEFAULT VALUES", sql_path(&table.name)))?;
        plan_plain_change(&statement, &StatementCatalog::new(self).unchecked().keeping())
            .map(|_| ())
    }

    /// Empties tables: all or none.
    pub(crate) fn truncate(
        &mut self,
        names: &[String],
        (cascade, restart): (bool, bool),
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        for table in self.with_referring(names, cascade)? {
            self.nothing_is_deferred(&table)?;
            self.replace_with(&table, cancel, |context| table.emptied(context))?;
            self.note(|| Operation::empty(&table.name))?;
            if restart {
                self.restart_owned(&table.name)?;
            }
        }
        Ok(done("TRUNCATE TABLE"))
    }

    /// The rows that the query of a change has told.
    pub(crate) fn changes(
        &self,
        change: &PlannedChange,
        table: &Table,
        executed: &Executed,
        cancel: &CancelToken,
    ) -> SqlResult<Changes> {
        let batches = self.record_batches(executed, &change.held, cancel)?;
        let looks = match change.kind {
            ChangeKind::Insert => !change.keys.is_empty(),
            ChangeKind::Upsert | ChangeKind::Merge => true,
            ChangeKind::Update | ChangeKind::Delete | ChangeKind::Lock => false,
        };
        let keeps_keys = change.keeps_keys(table);
        let mut changes = Changes { looks, keeps_keys, ..Changes::default() };
        let mut seen = Seen::default();
        for batch in batches {
            let batch = seen.wanted(change, batch)?;
            let columns = batch.columns();
            let (position, columns) = columns.split_at(usize::from(change.kind.has_positions()));
            changes.gone.extend(position.iter().flat_map(positions));
            let (goes, columns) = columns.split_at(usize::from(change.kind == ChangeKind::Merge));
            let width = if change.kind.has_rows() { table.columns.len() } else { 0 };
            let (row, asked) = columns.split_at(width);
            let keys: usize = change.keys.iter().map(|it| it.columns).sum();
            let (asked, _) = asked.split_at(asked.len() - keys);
            let (asked, checks) = asked.split_at(asked.len() - change.checks.len());
            let before = position.len() + goes.len();
            let of = &change.plan.output[before..before + width];
            let broken = self.broken_rule(change, table, (row, of), (goes.first(), checks))?;
            changes.refused = changes.refused.or(broken);
            changes.count += batch.num_rows();
            if width > 0 {
                let stored = stored_rows(table, row, &change.stored)?;
                changes.rows.push(staying(stored, goes.first())?);
                if let Some(position) = position.first() {
                    changes.replaced.push(staying_of(position, goes.first())?);
                }
            }
            if !asked.is_empty() && batch.num_rows() > 0 {
                let returned = held_schema_of(change.returned());
                let asked = RecordBatch::try_new(returned, asked.to_vec());
                changes.returning.push(asked.map_err(|it| malformed(&it))?);
            }
        }
        changes.gone.sort_unstable();
        Ok(changes)
    }

    /// Looks at the rules that rows for a table break. That of a view is told and not an error yet: those of the table come
    /// first.
    fn broken_rule(
        &self,
        change: &PlannedChange,
        table: &Table,
        rows: (&[ArrayRef], &[OutputColumn]),
        (goes, checks): (Option<&ArrayRef>, &[ArrayRef]),
    ) -> SqlResult<Option<SqlError>> {
        let of_row = |error: SqlError, row| -> SqlResult<SqlError> {
            Ok(match self.failing_row(table, rows, row)? {
                Some(detail) => error.with_detail(detail),
                None => error,
            })
        };
        if let Some((row, error)) = null_found(table, rows.0, goes) {
            return Err(of_row(error, row)?);
        }
        let mut refused = None;
        for (of, truth) in change.checks.iter().zip(checks) {
            let is_false = |it: Option<bool>| it == Some(false);
            let Some(row) = truth.as_boolean().iter().position(is_false) else { continue };
            match (of, broken(&table.name, of)) {
                (RowCheck::View(_), error) if refused.is_none() => {
                    refused = Some(of_row(error, row)?);
                }
                (RowCheck::View(_), _) => {}
                (RowCheck::Table(_), error) => return Err(of_row(error, row)?),
                (RowCheck::Domain { .. } | RowCheck::NotNull { .. }, error) => return Err(error),
            }
        }
        Ok(refused)
    }

    /// Changes rows; `replaced` as in [`Changes`]. False if the statement has to be run once more, on newer tables.
    pub(crate) fn replace_rows(
        &self,
        old: &Arc<Table>,
        gone: &[u64],
        rows: &[RecordBatch],
        replaced: Replaced<'_>,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        if !self.writes_alone() {
            if !self.is_much(old, gone, rows) {
                return self.change_beside(old, gone, rows, replaced, cancel);
            }
            self.write_alone(cancel)?;
            if !Arc::ptr_eq(old, &self.existing(&old.name)?) {
                return Ok(false);
            }
        }
        let new = self.replace_with(old, cancel, |context| old.changed(gone, rows, context))?;
        self.note_table(&new, Some(rows), || Operation::change(&old.name, gone, rows))?;
        Ok(true)
    }

    /// Puts a table that is built of another one in its place.
    pub(crate) fn replace_with(
        &self,
        old: &Arc<Table>,
        cancel: &CancelToken,
        build: impl FnOnce(&storage::BuildContext<'_>) -> SqlResult<Table>,
    ) -> SqlResult<Arc<Table>> {
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, &old.name);
        let stop = || execution::is_ended(cancel);
        let plain = TableDesign::default();
        let context = self.build_context(&team, &progress, &stop, &plain);
        let started = self.database.machine.now();
        let built = build(&context).map_err(|it| it.in_table(&old.name));
        let new = self.cancelled_or(cancel, built)?;
        let new = self.catalog().replace(old, new)?;
        self.database.merges.note(old, &new, started, self.database.machine.now());
        Ok(new)
    }
}

/// Rows as a client sees them.
pub(crate) fn shown_batches(
    batches: &[RecordBatch],
    schema: &SchemaRef,
    types: &[DataType],
) -> SqlResult<Vec<RecordBatch>> {
    let batch = |batch: &RecordBatch| {
        let columns = batch.columns().iter().zip(types).zip(schema.fields());
        let columns = columns.map(|((it, of), field)| shown(it.clone(), *of, field)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema.clone(), columns, &options)
            .map_err(|error| malformed(&error))
    };
    batches.iter().map(batch).collect()
}

/// The rows that do not go.
fn staying(rows: RecordBatch, goes: Option<&ArrayRef>) -> SqlResult<RecordBatch> {
    let Some(goes) = goes else { return Ok(rows) };
    filter_record_batch(&rows, &stay(goes)).map_err(|error| malformed(&error))
}

/// The positions of the rows that do not go.
fn staying_of(positions: &ArrayRef, goes: Option<&ArrayRef>) -> SqlResult<ArrayRef> {
    let Some(goes) = goes else { return Ok(positions.clone()) };
    filter(positions, &stay(goes)).map_err(|error| malformed(&error))
}

fn stay(goes: &ArrayRef) -> BooleanArray {
    goes.as_boolean().iter().map(|it| Some(it != Some(true))).collect()
}

/// A statement that changes rows, of a text of ours.
pub(crate) fn parsed(sql: &str) -> SqlResult<ParsedQuery> {
    match binder::parse::parse(sql)?.into_tree().pop() {
        Some(Statement::Change { query }) => Ok(query),
        _ => Err(SqlError::internal(format!("{sql} is not what it was"))),
    }
}

/// A row with NULL in a column that has none, which is told before CHECK constraints are asked.
fn null_found(
    table: &Table,
    row: &[ArrayRef],
    goes: Option<&ArrayRef>,
) -> Option<(usize, SqlError)> {
    let stays = |row: usize| goes.is_none_or(|it| !it.is_valid(row) || !it.as_boolean().value(row));
    let found = |(column, values): (&Arc<Column>, &ArrayRef)| {
        let nulls = (!column.nullable).then(|| values.logical_nulls()).flatten()?;
        let place = (0..nulls.len()).find(|&it| nulls.is_null(it) && stays(it))?;
        Some((place, SqlError::null_in(&column.name, Some(&table.name))))
    };
    table.columns.iter().zip(row).find_map(found)
}

/// What a rule that is broken ends with.
fn broken(table: &str, of: &RowCheck) -> SqlError {
    match of {
        RowCheck::Table(name) => SqlError::broken_check(table, name),
        RowCheck::View(name) => {
            let message = format!("new row violates check option for view \"{name}\"");
            SqlError::new(SqlState("44000"), message)
        }
        RowCheck::Domain { domain, constraint } => SqlError::outside_domain(domain, constraint),
        RowCheck::NotNull { domain } => SqlError::null_of_domain(domain),
    }
}

/// Rows for a table; a column may have another type than the table's, from which it is converted when it is stored.
fn stored_rows(
    table: &Table,
    columns: &[ArrayRef],
    known: &OnceLock<SchemaRef>,
) -> SqlResult<RecordBatch> {
    let field = |(of, array): (&Arc<Column>, &ArrayRef)| {
        Field::new(&of.name, array.data_type().clone(), true)
    };
    let new = || {
        let fields: Vec<Field> = table.columns.iter().zip(columns).map(field).collect();
        Arc::new(Schema::new(fields))
    };
    let schema = known.get_or_init(new);
    let of_table = table.columns.iter().zip(columns);
    let is_same = schema.fields().len() == table.columns.len()
        && schema.fields().iter().zip(of_table).all(|(field, (of, array))| {
            *field.name() == of.name && field.data_type() == array.data_type()
        });
    let schema = if is_same { schema.clone() } else { new() };
    RecordBatch::try_new(schema, columns.to_vec()).map_err(|error| malformed(&error))
}
