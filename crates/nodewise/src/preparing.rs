//! PREPARE and EXECUTE: statements planned once, with their parameters as constants that are put in place at each execution.
//!
//! A plan is made for any values (a generic plan) and kept until the catalog changes. Where a value has to be known to
//! plan at all (LIMIT $1, LIKE $1), the statement is planned with the values at each execution instead, so every
//! statement may have parameters anywhere an expression may stand.

use arrow_schema::SchemaRef;
use binder::parameters::substitute;
use binder::{Arguments, Statement};
use plan::Plan;
use stdx::stack::Deep;
use stdx::sync::{Arc, Mutex};
use storage::CatalogSnapshot;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use crate::answer::done;
use crate::parameter::convert;
use crate::planning::{plan_change, plan_query};
use crate::prepared::{Generic, GenericPlan, Inner};
use crate::query::Finished;
use crate::result::schema_of;
use crate::statement_catalog::{StatementCatalog, tables_of};
use crate::{Answer, CancelToken, Prepared, Session};

impl Session {
    /// Prepares one statement, a query, an INSERT, an UPDATE or a DELETE. Its parameters are called `$1`, `$2` and so on; they take their
    /// types from where they stand.
    pub fn prepare(&mut self, sql: &str) -> SqlResult<Prepared> {
        let statements = binder::parse::parse(sql)?;
        self.with_levels(statements.levels(), |session| {
            let mut statements = statements.into_tree();
            match (statements.pop(), statements.is_empty()) {
                (Some(statement), true) => session.prepare_statement(statement, &[]),
                _ => Err(SqlError::new(SqlState::SYNTAX, "one statement is prepared at a time")),
            }
        })
    }

    /// Runs a prepared statement with a value for each of its parameters.
    pub fn execute_prepared(&mut self, prepared: &Prepared, values: &[Value]) -> SqlResult<Answer> {
        self.with_levels(prepared.0.levels(), |session| {
            session.guarded("a prepared statement", |session, cancel| {
                session.run_prepared(prepared, values, &cancel)
            })
        })
    }

    fn prepare_statement(
        &self,
        statement: Statement,
        declared: &[DataType],
    ) -> SqlResult<Prepared> {
        let count = binder::parameters::count(&statement)?.max(declared.len());
        let mut types: Vec<Option<DataType>> = declared.iter().map(|it| Some(*it)).collect();
        types.resize(count, None);
        let mut inner =
            Inner { statement, declared: types.clone(), types, generic: Mutex::new(None) };
        if let Statement::Query { .. } | Statement::Change { .. } = &inner.statement {
            let generic = self.plan_generic(&inner)?;
            inner.types.clone_from(&generic.types);
            inner.generic = Mutex::new(Some(generic));
        } else {
            return Err(SqlError::new(
                SqlState::SYNTAX,
                "a query or a statement that changes rows can be prepared",
            ));
        }
        Ok(Prepared(Arc::new(Deep::new(inner, self.levels))))
    }

    /// Plans a statement for any values.
    fn plan_generic(&self, inner: &Inner) -> SqlResult<Generic> {
        let (Statement::Query { query } | Statement::Change { query }) = &inner.statement else {
            return Err(SqlError::internal("only queries and changes have plans"));
        };
        let is_change = matches!(inner.statement, Statement::Change { .. });
        let catalog = StatementCatalog::new(self);
        let options = catalog.planning();
        let planned = match is_change {
            true => plan_change(query, &inner.declared, &catalog).map(|it| {
                let (is_stable, types) = (it.is_stable, it.parameters.clone());
                (GenericPlan::Change(Arc::new(it)), is_stable, types)
            }),
            false => plan_query(query, &inner.declared, &catalog).map(|it| {
                let schema = schema_of(&it.plan.output);
                let plan = GenericPlan::Query(Arc::new(it.plan), schema, it.unknown);
                (plan, it.is_stable, it.parameters)
            }),
        };
        let known = catalog.basis();
        let is_whole = known.is_some();
        let basis = known.unwrap_or_default();
        match planned {
            Ok((plan, is_stable, types)) if is_stable && is_whole => {
                let basis = match &plan {
                    GenericPlan::Change(it) if it.kind.is_new() => {
                        match catalog.changed(&it.table) {
                            Some(table) => basis.into_table(table, &it.plan),
                            None => basis,
                        }
                    }
                    _ => basis,
                };
                Ok(Generic { basis: Arc::new(basis), options, plan, types })
            }
            Ok((_, _, types)) => {
                Ok(Generic { basis: Arc::new(basis), options, plan: GenericPlan::None, types })
            }
            // Some values have to be known, or the statement is wrong whatever they are: NULL tells which.
            Err(error) => {
                let types = inner.declared.clone();
                let nulls: Vec<_> = types.iter().map(|it| (Value::Null, *it)).collect();
                let trial = substitute(query, &nulls).and_then(|it| match is_change {
                    true => plan_change(&it, &[], &catalog).map(|_| ()),
                    false => plan_query(&it, &[], &catalog).map(|_| ()),
                });
                match trial {
                    Err(_) if !binder::files::files_in(query).is_empty() => {}
                    Err(_) if error.state != SqlState::FEATURE_NOT_SUPPORTED => return Err(error),
                    _ => {}
                }
                Ok(Generic { basis: Arc::new(basis), options, plan: GenericPlan::None, types })
            }
        }
    }

    /// What planning for any values comes to on the tables that are there.
    fn generic(&self, inner: &Inner, snapshot: &CatalogSnapshot) -> SqlResult<Generic> {
        let options = self.settings.planning();
        let known = inner.generic.lock().clone();
        if let Some(known) = known
            && known.options == options
            && known.basis.holds(snapshot)
        {
            return Ok(known);
        }
        let generic = self.plan_generic(inner)?;
        *inner.generic.lock() = Some(generic.clone());
        Ok(generic)
    }

    fn run_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[Value],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let inner: &Inner = &prepared.0;
        if values.len() != inner.types.len() {
            let message = format!(
                "the prepared statement has {} parameters, but {} values are given",
                inner.types.len(),
                values.len()
            );
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        if let Statement::Change { .. } = &inner.statement {
            self.begin_writing()?;
        }
        loop {
            let snapshot = self.snapshot();
            let generic = self.generic(inner, &snapshot)?;
            // Checked against the types, but each value stands as it is where it is finer than its type.
            let Some(values) = converted(values, &generic.types)? else { break };
            match &generic.plan {
                GenericPlan::None => break,
                GenericPlan::Query(plan, schema, unknown) => {
                    let plan = plan.with_parameters(&values);
                    self.note_reads(&plan, unknown);
                    return self.run_plan_on(&plan, &snapshot, schema, cancel);
                }
                GenericPlan::Change(change) => {
                    let plan = change.plan.with_parameters(&values);
                    if let Some(it) = self.change_planned(change, &plan, &snapshot, cancel)? {
                        return Ok(it);
                    }
                    self.refresh()?;
                }
            }
        }
        let declared = values.iter().cloned().zip(inner.declared.iter().copied());
        let values: Vec<_> = declared.collect();
        self.run_statement(self.with_values(&inner.statement, &values)?, cancel.clone())
    }

    /// The statement with values in the place of its parameters.
    fn with_values(
        &self,
        statement: &Statement,
        values: &[(Value, Option<DataType>)],
    ) -> SqlResult<Statement> {
        let mut statement = statement.clone();
        match &mut statement {
            Statement::Query { query } | Statement::Change { query } => {
                *query = substitute(query, values)?;
            }
            _ => {}
        }
        Ok(statement)
    }

    /// Runs a plan on a snapshot of the catalog.
    pub(crate) fn run_plan_on(
        &self,
        plan: &Plan,
        snapshot: &CatalogSnapshot,
        schema: &SchemaRef,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let machine = &self.database.machine;
        let started = machine.now();
        let tables = tables_of(plan, |id| snapshot.by_id(id).cloned());
        let executed = self.run_plan(plan, tables, cancel)?;
        let batches = self.shown_batches(&executed, schema, cancel)?;
        let rows: usize = batches.iter().map(arrow_array::RecordBatch::num_rows).sum();
        let mut answer =
            Answer { batches, schema: schema.clone(), ..done(format!("SELECT {rows}")) };
        answer.profile.pipelines = executed.reports;
        answer.profile.execution = machine.now() - started;
        Ok(answer)
    }

    pub(crate) fn prepare_named(
        &mut self,
        name: String,
        types: &[DataType],
        statement: Statement,
    ) -> SqlResult<Answer> {
        if self.prepared.contains_key(&name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_PREPARED, message)
                .with_hint(format!("DEALLOCATE {name} first")));
        }
        let prepared = self.prepare_statement(statement, types)?;
        self.prepared.insert(name, prepared);
        Ok(done("PREPARE"))
    }

    pub(crate) fn execute_named(
        &mut self,
        name: &str,
        arguments: &Arguments,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let prepared = self.prepared.get(name).cloned().ok_or_else(|| no_such(name))?;
        let levels = self.levels.max(prepared.0.levels());
        // Places in the text of PREPARE are none in that of EXECUTE.
        self.with_levels(levels, |session| session.execute_found(&prepared, arguments, cancel))
            .map_err(|error| SqlError { position: None, ..error })
    }

    fn execute_found(
        &mut self,
        prepared: &Prepared,
        arguments: &Arguments,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        match arguments {
            Arguments::Values(values) => self.run_prepared(prepared, values, cancel),
            Arguments::Query(query) => {
                let Finished { executed, .. } = self.run_query(query, cancel)?;
                let rows = &executed.rows;
                let batch = rows.batches.iter().find(|it| it.rows() == 1);
                let batch = batch.map(|it| it.batch()).transpose()?;
                let columns = batch.as_ref().map_or(&[][..], |it| &it.columns);
                let values = columns.iter().zip(&rows.layout);
                let values: Vec<Value> = values.map(|(it, shape)| it.value(shape, 0)).collect();
                self.run_prepared(prepared, &values, cancel)
            }
        }
    }

    pub(crate) fn deallocate(&mut self, name: Option<&str>) -> SqlResult<Answer> {
        match name {
            None => self.prepared.clear(),
            Some(name) => {
                self.prepared.remove(name).ok_or_else(|| no_such(name))?;
            }
        }
        Ok(done("DEALLOCATE"))
    }
}

/// The values in the types of their parameters; `None` when one cannot be held exactly.
fn converted(values: &[Value], types: &[Option<DataType>]) -> SqlResult<Option<Vec<Value>>> {
    let each = values.iter().zip(types).enumerate();
    each.map(|(number, (value, data_type))| match data_type {
        Some(data_type) => convert(number, value, *data_type),
        None => Ok(Some(value.clone())),
    })
    .collect()
}

fn no_such(name: &str) -> SqlError {
    let message = format!("prepared statement \"{name}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_PREPARED, message)
}
