//! INSERT, UPDATE, DELETE, MERGE and TRUNCATE: the rows that a statement changes are those of a query, and the table is put
//! together anew without the old and with the new ones.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{Field, Schema};
use arrow_select::filter::{filter, filter_record_batch};
use binder::bind::ChangeKind;
use binder::{ParsedQuery, Statement};
use execution::{Executed, PipelineReport};
use plan::Plan;
use stdx::sync::Arc;
use storage::{CatalogSnapshot, Column, Table, TableDesign};
use types::{SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::changed_rows::{Seen, malformed, positions};
use crate::constraints::quoted;
use crate::durability::Operation;
use crate::parallel::LoadProgress;
use crate::planned_change::PlannedChange;
use crate::planning::plan_plain_change;
use crate::result::{schema_of, shown, types_of};
use crate::statement_catalog::{StatementCatalog, Tables, tables_of};
use crate::{Answer, CancelToken, QueryProfile, Session};

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
    /// What RETURNING asked.
    pub returning: Vec<RecordBatch>,
    /// How many rows were changed.
    pub count: usize,
}

impl Session {
    /// Runs a statement that changes rows.
    pub(crate) fn change(
        &mut self,
        statement: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let database = self.database.clone();
        self.begin_writing(cancel)?;
        self.wait_for_place()?;
        let started = database.machine.now();
        let catalog = StatementCatalog::new(self);
        self.load_files(statement, &catalog, cancel)?;
        let change = plan_plain_change(statement, &catalog)?;
        let planning = database.machine.now() - started;
        let tables = catalog.tables(&change.plan);
        drop(catalog);
        let mut answer = self.run_change(&change, &change.plan, tables, cancel)?;
        answer.profile.planning = planning;
        Ok(answer)
    }

    /// Runs a statement that changes rows by a plan for its values; the transaction writes already.
    pub(crate) fn change_planned(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        snapshot: &CatalogSnapshot,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
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
    ) -> SqlResult<Answer> {
        let machine = &self.database.machine;
        let started = machine.now();
        let (old, reports, mut changes) = self.change_rows(change, plan, tables, cancel)?;
        let (count, returning) = (changes.count, std::mem::take(&mut changes.returning));
        self.keep_references(old, changes, cancel)?;
        let tag = match change.kind {
            ChangeKind::Insert | ChangeKind::Upsert => format!("INSERT 0 {count}"),
            ChangeKind::Update => format!("UPDATE {count}"),
            ChangeKind::Delete => format!("DELETE {count}"),
            ChangeKind::Merge => format!("MERGE {count}"),
        };
        let returned = if change.returning.is_some() { change.returned() } else { &[] };
        let (schema, types) = (schema_of(returned), types_of(returned));
        let profile = QueryProfile {
            execution: machine.now() - started,
            pipelines: reports,
            ..QueryProfile::default()
        };
        Ok(Answer { tag, schema, types, batches: returning, profile })
    }

    /// Changes the rows that the query of a plan tells, and nothing that refers to them. Tells how the table was before.
    pub(crate) fn change_rows(
        &self,
        change: &PlannedChange,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<(Arc<Table>, Vec<PipelineReport>, Changes)> {
        let old = self.existing(&change.table)?;
        let executed = self.run_plan(plan, tables, cancel)?;
        let changes = self.changes(change, &old, &executed, cancel)?;
        self.activity.changed(changes.count as u64);
        if changes.count > 0 {
            self.replace_rows(&old, &changes.gone, &changes.rows, cancel)?;
        }
        Ok((old, executed.reports, changes))
    }

    /// COPY into a table that asks something of its rows: an INSERT of all columns of the file, found by name.
    pub(crate) fn copy_checked(
        &mut self,
        table: &Table,
        path: &str,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let columns: Vec<String> = table.columns.iter().map(|it| quoted(&it.name)).collect();
        let (name, list) = (quoted(&table.name), columns.join(", "));
        let path = path.replace('\'', "''");
        let statement =
            parsed(&format!("INSERT INTO {name} ({list}) SELECT {list} FROM '{path}'"))?;
        let answer = self.change(&statement, cancel)?;
        Ok(Answer { tag: answer.tag.replace("INSERT 0", "COPY"), ..answer })
    }

    /// Whether the defaults and CHECK constraints of a table can be bound.
    pub(crate) fn check_row_rules(&self, table: &Table) -> SqlResult<()> {
        let statement = parsed(&format!("INSERT INTO {} DEFAULT VALUES", quoted(&table.name)))?;
        plan_plain_change(&statement, &StatementCatalog::new(self)).map(|_| ())
    }

    /// Empties tables: all or none.
    pub(crate) fn truncate(
        &mut self,
        names: &[String],
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.begin_writing(cancel)?;
        for table in self.with_referring(names, cascade)? {
            self.replace_with(&table, cancel, |context| table.emptied(context))?;
            self.note(|| Operation::empty(&table.name))?;
        }
        Ok(done("TRUNCATE TABLE"))
    }

    fn changes(
        &self,
        change: &PlannedChange,
        table: &Table,
        executed: &Executed,
        cancel: &CancelToken,
    ) -> SqlResult<Changes> {
        let batches = self.record_batches(executed, &schema_of(&change.plan.output), cancel)?;
        let returned = schema_of(change.returned());
        let mut changes = Changes::default();
        let mut seen = Seen::default();
        for batch in batches {
            let batch = seen.wanted(change, batch)?;
            let columns = batch.columns();
            let (position, columns) = columns.split_at(usize::from(change.kind.has_positions()));
            changes.gone.extend(position.iter().flat_map(positions));
            let (goes, columns) = columns.split_at(usize::from(change.kind == ChangeKind::Merge));
            let width = if change.kind.has_rows() { table.columns.len() } else { 0 };
            let (row, asked) = columns.split_at(width);
            let keys: usize = change.keys.iter().sum();
            let (asked, _) = asked.split_at(asked.len() - keys);
            let (asked, checks) = asked.split_at(asked.len() - change.checks.len());
            for (name, truth) in change.checks.iter().zip(checks) {
                check(&table.name, name, truth)?;
            }
            changes.count += batch.num_rows();
            if width > 0 {
                changes.rows.push(staying(stored_rows(table, row)?, goes.first())?);
                if let Some(position) = position.first() {
                    changes.replaced.push(staying_of(position, goes.first())?);
                }
            }
            if !asked.is_empty() && batch.num_rows() > 0 {
                let types = change.returned().iter().map(|it| it.data_type);
                let asked = asked.iter().zip(types).map(|(it, of)| shown(it.clone(), of)).collect();
                let asked = RecordBatch::try_new(returned.clone(), asked);
                changes.returning.push(asked.map_err(|it| malformed(&it))?);
            }
        }
        changes.gone.sort_unstable();
        Ok(changes)
    }

    fn replace_rows(
        &self,
        old: &Arc<Table>,
        gone: &[u64],
        rows: &[RecordBatch],
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let new = self.replace_with(old, cancel, |context| old.changed(gone, rows, context))?;
        self.note_table(&new, Some(rows), || Operation::change(&old.name, gone, rows))
    }

    /// Puts a table that is built of another one in its place.
    fn replace_with(
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
        let new = self.cancelled_or(cancel, build(&context))?;
        let new = self.catalog().replace(old, new)?;
        self.database.merges.note(old, &new, started, self.database.machine.now());
        Ok(new)
    }
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

/// A CHECK constraint that is false of a row.
fn check(table: &str, name: &str, truth: &ArrayRef) -> SqlResult<()> {
    if truth.as_boolean().iter().any(|it| it == Some(false)) {
        let message =
            format!("new row for relation \"{table}\" violates check constraint \"{name}\"");
        return Err(SqlError::new(SqlState("23514"), message));
    }
    Ok(())
}

/// Rows for a table; a column may have another type than the table's, from which it is converted when it is stored.
fn stored_rows(table: &Table, columns: &[ArrayRef]) -> SqlResult<RecordBatch> {
    let field = |(of, array): (&Arc<Column>, &ArrayRef)| {
        Field::new(&of.name, array.data_type().clone(), true)
    };
    let fields: Vec<Field> = table.columns.iter().zip(columns).map(field).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.to_vec())
        .map_err(|error| malformed(&error))
}
