//! INSERT, UPDATE, DELETE, MERGE and TRUNCATE: the rows that a statement changes are those of a query, and the table is put
//! together anew without the old and with the new ones.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{Field, Schema};
use arrow_select::filter::filter_record_batch;
use binder::bind::ChangeKind;
use binder::{ParsedQuery, Statement};
use execution::Executed;
use plan::Plan;
use stdx::sync::Arc;
use storage::{CatalogSnapshot, Column, Table, TableDesign};
use types::{SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::changed_rows::{Seen, malformed, positions};
use crate::durability::Operation;
use crate::parallel::LoadProgress;
use crate::planned_change::PlannedChange;
use crate::planning::plan_plain_change;
use crate::result::{schema_of, shown};
use crate::statement_catalog::{StatementCatalog, Tables, tables_of};
use crate::{Answer, CancelToken, QueryProfile, Session};

/// The rows that a statement changes.
struct Changes {
    /// Positions of rows that go, which rise.
    gone: Vec<u64>,
    /// Rows that come.
    rows: Vec<RecordBatch>,
    /// What RETURNING asked.
    returning: Vec<RecordBatch>,
    /// How many rows were changed.
    count: usize,
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
        let old = self.existing(&change.table)?;
        let executed = self.run_plan(plan, tables, cancel)?;
        let Changes { gone, rows, returning, count } =
            self.changes(change, &old, &executed, cancel)?;
        self.activity.changed(count as u64);
        if count > 0 {
            self.replace_rows(&old, &gone, &rows, cancel)?;
        }
        let tag = match change.kind {
            ChangeKind::Insert | ChangeKind::Upsert => format!("INSERT 0 {count}"),
            ChangeKind::Update => format!("UPDATE {count}"),
            ChangeKind::Delete => format!("DELETE {count}"),
            ChangeKind::Merge => format!("MERGE {count}"),
        };
        let schema = match change.returning {
            Some(_) => schema_of(change.returned()),
            None => Arc::new(Schema::empty()),
        };
        let profile = QueryProfile {
            execution: machine.now() - started,
            pipelines: executed.reports,
            ..QueryProfile::default()
        };
        Ok(Answer { tag, schema, batches: returning, profile })
    }

    /// COPY into a table that asks something of its rows: an INSERT of all columns of the file, found by name.
    pub(crate) fn copy_checked(
        &mut self,
        table: &Table,
        path: &str,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let quoted = |it: &str| format!("\"{}\"", it.replace('"', "\"\""));
        let columns: Vec<String> = table.columns.iter().map(|it| quoted(&it.name)).collect();
        let (name, list) = (quoted(&table.name), columns.join(", "));
        let path = path.replace('\'', "''");
        let statement =
            parsed(&format!("INSERT INTO {name} ({list}) SELECT {list} FROM '{path}'"))?;
        let answer = self.change(&statement, cancel)?;
        Ok(Answer { tag: answer.tag.replace("INSERT 0", "COPY"), ..answer })
    }

    /// Whether the defaults and CHECK constraints of a table can be bound.
    pub(crate) fn check_rules(&self, table: &Table) -> SqlResult<()> {
        let name = table.name.replace('"', "\"\"");
        let statement = parsed(&format!("INSERT INTO \"{name}\" DEFAULT VALUES"))?;
        plan_plain_change(&statement, &StatementCatalog::new(self)).map(|_| ())
    }

    /// Empties tables: all or none.
    pub(crate) fn truncate(&mut self, names: &[String], cancel: &CancelToken) -> SqlResult<Answer> {
        self.begin_writing(cancel)?;
        let tables = names.iter().map(|it| self.existing(it)).collect::<SqlResult<Vec<_>>>()?;
        for table in tables {
            // One that is named twice is empty by then.
            let current = self.existing(&table.name)?;
            self.replace_with(&current, cancel, |context| current.emptied(context))?;
            self.note(|| Operation::empty(&current.name))?;
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
        let mut changes =
            Changes { gone: Vec::new(), rows: Vec::new(), returning: Vec::new(), count: 0 };
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
    let stay = BooleanArray::from_iter(goes.as_boolean().iter().map(|it| Some(it != Some(true))));
    filter_record_batch(&rows, &stay).map_err(|error| malformed(&error))
}

/// A statement that changes rows, of a text of ours.
fn parsed(sql: &str) -> SqlResult<ParsedQuery> {
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
