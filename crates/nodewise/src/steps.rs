//! Statements with others inside: changes in WITH, and inner queries that lock rows (docs/design/08-transactions.md, "statements in
//! steps").
//!
//! Key decision: what a change does is known before it is done, as the rows of its query. So all queries of the statement run on one
//! picture of the tables, each on the rows of those before it; what they change is done when the last of them has run.

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use binder::bind::ParameterTypes;
use binder::parameters::without_limits;
use binder::{ParsedQuery, Statement, Step};
use plan::OutputColumn;
use stdx::sync::Arc;
use storage::{ColumnSchema, Table, TableDesign};
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::change::{Changes, shown_batches};
use crate::planned_change::PlannedChange;
use crate::planning::{plan_change, plan_plain_change, plan_query};
use crate::prepared::{Generic, GenericPlan};
use crate::preparing::learn_of_limits;
use crate::query::Planned;
use crate::result::held_schema_of;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, CancelToken, Described, QueryProfile, Session};

/// What is to be done to tables, as they are.
type Pending = Vec<(Arc<Table>, Changes)>;

impl Session {
    /// Runs a statement in steps.
    pub(crate) fn run_in_steps(
        &self,
        first: &[Step],
        last: &Statement,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.begin_writing()?;
        loop {
            let before = self.writing_mark();
            if let Some(answer) = self.try_steps(first, last, cancel)? {
                return Ok(answer);
            }
            self.back_to(&before)?;
            self.refresh()?;
        }
    }

    /// Nothing if it has to be run once more, on newer tables.
    fn try_steps(
        &self,
        first: &[Step],
        last: &Statement,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Answer>> {
        self.wait_for_place()?;
        let started = self.database.machine.now();
        let catalog = StatementCatalog::new(self);
        let mut pending = Vec::new();
        for Step { rows: name, query } in first {
            let (columns, rows) = match query.changes_rows() || query.locks_rows() {
                true => {
                    self.open_files(query, &catalog, cancel)?;
                    let change = plan_plain_change(query, &catalog)?;
                    let Some(rows) = self.step(&change, &catalog, &mut pending, cancel)? else {
                        return Ok(None);
                    };
                    (change.returned().to_vec(), rows)
                }
                false => {
                    let Planned { plan, .. } = self.planned(&catalog, query, cancel, |_| Ok(()))?;
                    let executed = self.run_plan(&plan, catalog.tables(&plan), cancel)?;
                    let schema = held_schema_of(&plan.output);
                    let rows = self.record_batches(&executed, &schema, cancel)?;
                    (plan.output, rows)
                }
            };
            if let Some(name) = name {
                let table = self.table_of_step(name, &columns, rows, cancel)?;
                catalog.add_step(name, table, &columns);
            }
        }
        let answer = match last {
            Statement::Query { query } => {
                let Planned { plan, .. } = self.planned(&catalog, query, cancel, |_| Ok(()))?;
                let mut rows = self.begin_plan(&plan, catalog.tables(&plan), cancel)?;
                self.rest_of(&mut rows, cancel)?
            }
            Statement::Change { query } => {
                self.open_files(query, &catalog, cancel)?;
                let change = plan_plain_change(query, &catalog)?;
                let Some(rows) = self.step(&change, &catalog, &mut pending, cancel)? else {
                    return Ok(None);
                };
                let count: usize = match change.kind.is_lock() {
                    true => rows.iter().map(RecordBatch::num_rows).sum(),
                    false => pending.last().map_or(0, |it| it.1.count),
                };
                let returned = if change.returning.is_some() { change.returned() } else { &[] };
                let Described { schema, types, origins } = self.described(returned);
                let batches = shown_batches(&rows, &schema, &types)?;
                let tag = change.kind.tag(count);
                Answer { schema, types, origins, batches, ..done(tag) }
            }
            _ => {
                return Err(SqlError::internal("a last step that is neither a query nor a change"));
            }
        };
        drop(catalog);
        if !self.store_all(pending, cancel)? {
            return Ok(None);
        }
        let execution = self.database.machine.now() - started;
        Ok(Some(Answer { profile: QueryProfile { execution, ..answer.profile }, ..answer }))
    }

    /// Runs the query of a step: the rows that it gives, and what it is to change.
    fn step(
        &self,
        change: &PlannedChange,
        catalog: &StatementCatalog<'_>,
        pending: &mut Pending,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Vec<RecordBatch>>> {
        let tables = catalog.tables(&change.plan);
        if change.kind.is_lock() {
            let locked = self.locked_rows(change, &change.plan, tables, cancel)?;
            return Ok(locked.map(|it| it.0));
        }
        let old = catalog.changed(&change.table).cloned();
        let old = old.ok_or_else(|| SqlError::internal("a change of no table"))?;
        if !self.writes_alone() && !old.keeps_row_ids() {
            self.write_alone(cancel)?;
            return Ok(None);
        }
        self.note_reads(&change.plan, &change.unknown);
        let executed = self.run_plan(&change.plan, tables, cancel)?;
        let mut changes = self.changes(change, &old, &executed, cancel)?;
        let rows = std::mem::take(&mut changes.returning);
        pending.push((old, changes));
        Ok(Some(rows))
    }

    /// Does what all steps are to change, and what follows from it. False if the statement has to be run once more.
    fn store_all(&self, pending: Pending, cancel: &CancelToken) -> SqlResult<bool> {
        let pending = by_table(pending)?;
        if pending.len() > 1
            && let Some(writing) = &mut *self.writing.lock()
        {
            writing.has_steps = true;
        }
        for (old, changes) in &pending {
            if !self.store(old, changes, cancel)? {
                return Ok(false);
            }
        }
        for (old, changes) in pending {
            self.keep_references(old, changes, cancel)?;
        }
        Ok(true)
    }

    /// The rows of a step as a table.
    fn table_of_step(
        &self,
        name: &str,
        columns: &[OutputColumn],
        rows: Vec<RecordBatch>,
        cancel: &CancelToken,
    ) -> SqlResult<Table> {
        let names = binder::names_of_step(columns.iter().map(|it| &*it.name));
        let column =
            |(it, name): (&OutputColumn, String)| ColumnSchema::new(name, it.data_type, true);
        let schema = columns.iter().zip(names).map(column).collect();
        self.build(name, schema, rows, &TableDesign::default(), cancel)
    }

    /// What can be told of a prepared statement in steps before it runs: the types of its parameters, and its columns.
    pub(crate) fn plan_steps(
        &self,
        first: &[Step],
        last: &Statement,
        declared: &[Option<DataType>],
    ) -> SqlResult<Generic> {
        // Rights are asked when it runs.
        let catalog = StatementCatalog::new(self).unchecked();
        let mut parameters = ParameterTypes::of(declared);
        let planned = self.plan_each(first, last, &catalog, &mut parameters);
        let output = match planned {
            Ok(output) => Some(output),
            // Some values have to be known.
            Err(error) if error.state == SqlState::FEATURE_NOT_SUPPORTED => {
                let (first, last, limits) = steps_without_limits(first, last);
                learn_of_limits(&limits, &mut parameters, &catalog);
                self.plan_each(&first, &last, &catalog, &mut parameters).ok()
            }
            Err(error) => return Err(error),
        };
        let (basis, asked, options) = (Arc::default(), Arc::default(), catalog.planning());
        let of = (parameters, output, asked);
        Ok(Generic::new((basis, options), None, GenericPlan::None, of))
    }

    fn plan_each(
        &self,
        first: &[Step],
        last: &Statement,
        catalog: &StatementCatalog<'_>,
        known: &mut ParameterTypes,
    ) -> SqlResult<Vec<OutputColumn>> {
        for Step { rows: name, query } in first {
            let (columns, found) = match query.changes_rows() || query.locks_rows() {
                true => {
                    let change = plan_change(query, (&known.types, None), catalog)?;
                    (change.returned().to_vec(), change.parameters)
                }
                false => {
                    let planned = plan_query(query, &known.types, catalog)?;
                    (planned.plan.output, planned.parameters)
                }
            };
            if let Some(name) = name {
                let never = CancelToken::new();
                let table = self.table_of_step(name, &columns, Vec::new(), &never)?;
                catalog.add_step(name, table, &columns);
            }
            known.learn(found);
        }
        match last {
            Statement::Query { query } => {
                let planned = plan_query(query, &known.types, catalog)?;
                known.learn(planned.parameters);
                Ok(planned.plan.output)
            }
            Statement::Change { query } => {
                let change = plan_change(query, (&known.types, None), catalog)?;
                let returned = if change.returning.is_some() { change.returned() } else { &[] };
                let returned = returned.to_vec();
                known.learn(change.parameters);
                Ok(returned)
            }
            _ => Err(SqlError::internal("a last step that is neither a query nor a change")),
        }
    }
}

/// The steps without the parameters that say how many rows there are, and these ([`without_limits`]).
fn steps_without_limits(
    first: &[Step],
    last: &Statement,
) -> (Vec<Step>, Statement, Vec<ParsedQuery>) {
    let mut all = Vec::new();
    let mut stripped = |query: &ParsedQuery| {
        let (query, limits) = without_limits(query);
        all.extend(limits);
        query
    };
    let first = first.iter().map(|it| Step { rows: it.rows.clone(), query: stripped(&it.query) });
    let first = first.collect();
    let last = match last {
        Statement::Query { query } => Statement::Query { query: stripped(query) },
        Statement::Change { query } => Statement::Change { query: stripped(query) },
        other => other.clone(),
    };
    (first, last, all)
}

/// All that is to be done to each table.
///
/// Errors: 21000 where a row is changed by several steps, of which PostgreSQL does one that it does not tell.
fn by_table(pending: Pending) -> SqlResult<Pending> {
    let mut all: Pending = Vec::new();
    for (table, new) in pending {
        match all.iter_mut().find(|it| it.0.id == table.id) {
            Some((_, known)) => join(known, new),
            None => all.push((table, new)),
        }
    }
    for (table, changes) in &mut all {
        changes.gone.sort_unstable();
        if changes.gone.windows(2).any(|it| it[0] == it[1]) {
            let message =
                format!("a row of table \"{}\" is changed twice by one statement", table.name);
            return Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, message));
        }
    }
    Ok(all)
}

fn join(known: &mut Changes, new: Changes) {
    let places = |it: &Changes| -> Vec<ArrayRef> {
        match it.replaced.is_empty() {
            true => {
                let none = |it: &RecordBatch| -> ArrayRef {
                    Arc::new(Int64Array::new_null(it.num_rows()))
                };
                it.rows.iter().map(none).collect()
            }
            false => it.replaced.clone(),
        }
    };
    let mut replaced = places(known);
    replaced.extend(places(&new));
    known.replaced = replaced;
    known.gone.extend(new.gone);
    known.rows.extend(new.rows);
    known.count += new.count;
    known.looks |= new.looks;
    known.refused = known.refused.take().or(new.refused);
}
