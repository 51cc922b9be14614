//! PREPARE and EXECUTE: statements planned once, with their parameters as constants that are put in place at each execution.
//!
//! A plan is made for any values (a generic plan) and kept until the catalog changes. Where a value has to be known to
//! plan at all (LIMIT $1, LIKE $1), the statement is planned with the values at each execution instead, so every
//! statement may have parameters anywhere an expression may stand.

use std::borrow::Cow;

use arrow_schema::SchemaRef;
use binder::bind::ParameterTypes;
use binder::parameters::{substitute, without_limits};
use binder::{Arguments, CursorStatement, ParsedQuery, Statement};
use plan::{Function, OutputColumn, Plan};
use stdx::stack::Deep;
use stdx::sync::{Arc, Mutex};
use storage::CatalogSnapshot;
use types::{DataType, SqlError, SqlResult, SqlState, Value, Zone};

use crate::answer::done;
use crate::begun_rows::BegunRows;
use crate::execute::is_roomier;
use crate::parameter::{convert, given};
use crate::planned_change::PlannedChange;
use crate::planning::{plan_change, plan_query};
use crate::prepared::{Generic, GenericPlan, Inner, is_planned};
use crate::query::Finished;
use crate::result::schema_of;
use crate::row_changes::Extent;
use crate::starting::Begun;
use crate::statement_catalog::{StatementCatalog, tables_of};
use crate::{Answer, CancelToken, Described, Prepared, Session};

/// What a prepared statement is made of.
struct Source {
    text: Arc<str>,
    /// Whether PREPARE does it.
    from_sql: bool,
    /// The statement before its PIVOTs had the values that were there.
    over: Option<Statement>,
}

impl Source {
    fn of(sql: &str) -> Self {
        Self { text: sql.into(), from_sql: false, over: None }
    }
}

impl Session {
    /// Prepares one statement. The parameters of a query, an INSERT, an UPDATE or a DELETE are called `$1`, `$2` and so on; they
    /// take their types from where they stand.
    pub fn prepare(&mut self, sql: &str) -> SqlResult<Prepared> {
        self.prepare_typed(sql, &[])
    }

    /// [`Session::prepare`] with the types of the first parameters; `None` for one that takes it from where it stands. A text
    /// without a statement is one that does nothing.
    pub fn prepare_typed(
        &mut self,
        sql: &str,
        declared: &[Option<DataType>],
    ) -> SqlResult<Prepared> {
        self.follow_beside(sql, "prepare", |session| {
            let known = binder::kept_levels();
            match session.prepare_once(sql, declared, true) {
                Err(error) if is_roomier(&error, known) => session.prepare_typed(sql, declared),
                prepared => prepared,
            }
        })
    }

    /// [`Session::prepare_typed`], where PIVOTs over the values that are in tables have those that are there now if `with_pivots`
    /// is true, and are not planned otherwise.
    pub(crate) fn prepare_once(
        &mut self,
        sql: &str,
        declared: &[Option<DataType>],
        with_pivots: bool,
    ) -> SqlResult<Prepared> {
        let statements = self.noted("parse", || binder::parse::parse(sql))?;
        self.with_levels(statements.levels(), |session| {
            let mut statements = statements.into_tree();
            match (statements.pop(), statements.is_empty()) {
                (Some(Statement::OverPivots(it)), true) if with_pivots => {
                    let source = Source { over: Some((*it).clone()), ..Source::of(sql) };
                    let statement = session.with_pivots(sql, *it)?;
                    session.prepare_statement(source, Some(statement), declared)
                }
                (statement, true) => {
                    session.prepare_statement(Source::of(sql), statement, declared)
                }
                _ => Err(SqlError::new(
                    SqlState::SYNTAX,
                    "cannot insert multiple commands into a prepared statement",
                )),
            }
        })
    }

    /// Runs a prepared statement with a value for each of its parameters.
    pub fn execute_prepared(&mut self, prepared: &Prepared, values: &[Value]) -> SqlResult<Answer> {
        let started = self.start_prepared(prepared, values)?;
        self.whole(started)
    }

    /// Keeps a statement under a name, as PREPARE does.
    pub fn keep_prepared(&mut self, name: &str, prepared: Prepared) -> SqlResult<()> {
        self.check_free(name)?;
        self.prepared.insert(name.to_owned(), prepared);
        Ok(())
    }

    /// The statement that is kept under a name.
    pub fn prepared(&self, name: &str) -> Option<&Prepared> {
        self.prepared.get(name)
    }

    /// Forgets the statement that is kept under a name, if one is.
    pub fn forget_prepared(&mut self, name: &str) {
        self.prepared.remove(name);
    }

    /// The rows that a prepared statement gives, as far as that is known before it runs; nothing of one without rows.
    pub fn describe(&mut self, prepared: &Prepared) -> SqlResult<Option<Described>> {
        let inner: &Inner = &prepared.0;
        let text = |name: &str| OutputColumn::computed(name, DataType::Text);
        match &inner.statement {
            Some(
                Statement::Query { .. } | Statement::Change { .. } | Statement::InSteps { .. },
            ) => self.with_levels(prepared.0.levels(), |session| {
                let generic = session.generic(inner, &session.snapshot())?;
                Ok(generic.described())
            }),
            Some(Statement::Show { name }) => {
                Ok(Some(Described::of(&[text(&self.shown_as(name))])))
            }
            Some(Statement::Describe { .. }) => {
                Ok(Some(Described::of(&crate::describe::DESCRIBED.map(text))))
            }
            Some(Statement::Cursor(CursorStatement::Fetch { name, is_move: false, .. })) => {
                Ok(self.cursor_described(name))
            }
            Some(Statement::Explain { .. } | Statement::ExplainPrepared { .. }) => {
                Ok(Some(Described::of(&[text("QUERY PLAN")])))
            }
            Some(Statement::Execute { name, .. }) => {
                let found = self.prepared.get(name).cloned().ok_or_else(|| no_such(name))?;
                self.describe(&found)
            }
            _ => Ok(None),
        }
    }

    fn prepare_statement(
        &self,
        source: Source,
        statement: Option<Statement>,
        declared: &[Option<DataType>],
    ) -> SqlResult<Prepared> {
        let count = statement.as_ref().map_or(Ok(0), binder::parameters::count)?;
        let mut parameters = ParameterTypes::of(declared);
        parameters.types.resize(count.max(declared.len()), None);
        let generic = Mutex::new(None);
        let made = self.database.machine.wall_clock();
        let declared = parameters.types.clone();
        let styles = self.settings.client.styles();
        let Source { text, from_sql, over } = source;
        let mut inner =
            Inner { statement, over, text, made, styles, from_sql, declared, parameters, generic };
        if inner.statement.as_ref().is_some_and(has_types) {
            let generic = self.plan_generic(&inner, false)?;
            inner.parameters.clone_from(&generic.parameters);
            inner.generic = Mutex::new(Some(Arc::new(generic)));
        }
        Ok(Prepared(Arc::new(Deep::new(inner, self.levels))))
    }

    /// Plans a statement for any values; for tables whose bounds change, where that is known of them. Rights are asked when it
    /// runs.
    fn plan_generic(&self, inner: &Inner, is_loose: bool) -> SqlResult<Generic> {
        if let Some(Statement::InSteps { first, last }) = &inner.statement {
            return self.plan_steps(first, last, &inner.declared);
        }
        let query = inner.statement.as_ref().and_then(binder::parameters::query_of);
        let query =
            query.ok_or_else(|| SqlError::internal("only queries and changes have plans"))?;
        let is_change = inner.statement.as_ref().is_some_and(is_change);
        let catalog =
            StatementCatalog::new(self).loosened(is_loose).unchecked().reading(inner.styles);
        let (options, mut moments) = (catalog.planning(), None);
        let planned = match is_change {
            true => self.plan_generic_change(inner, query, &catalog, &mut moments).map(|it| {
                let output = asked_of(&it).to_vec();
                let it = Arc::new(it);
                let (parameters, asked) = (it.parameters.clone(), it.asked.clone());
                (GenericPlan::Change(it.clone()), it.is_stable, parameters, output, asked)
            }),
            false => plan_query(query, &inner.declared, &catalog).map(|it| {
                let (schema, output) = (schema_of(&it.plan.output), it.plan.output.clone());
                let plan = GenericPlan::Query(Arc::new(it.plan), schema, it.unknown);
                (plan, it.is_stable, it.parameters, output, it.asked)
            }),
        };
        let known = catalog.basis();
        let is_whole = known.is_some();
        let basis = known.unwrap_or_default();
        match planned {
            Ok((plan, is_stable, parameters, output, asked)) if is_stable && is_whole => {
                let basis = match &plan {
                    GenericPlan::Change(it) if it.kind.is_new() => {
                        match catalog.changed(&it.table) {
                            Some(table) => basis.into_table(catalog.snapshot(), table, &it.plan),
                            None => basis,
                        }
                    }
                    GenericPlan::Change(it) => catalog.of_scan(basis, &it.plan, &it.unknown),
                    GenericPlan::Query(plan, _, unknown) => catalog.of_scan(basis, plan, unknown),
                    GenericPlan::None => basis,
                };
                let (basis, output) = (Arc::new(basis), Some(output));
                Ok(Generic::new((basis, options), moments, plan, (parameters, output, asked)))
            }
            Ok((_, _, parameters, output, asked)) => {
                let (basis, plan, output) = (Arc::new(basis), GenericPlan::None, Some(output));
                Ok(Generic::new((basis, options), None, plan, (parameters, output, asked)))
            }
            Err(error) => {
                let mut parameters = ParameterTypes::of(&inner.declared);
                let output = match self.beside_limits(query, is_change, &mut parameters, &catalog) {
                    Some(output) if error.state == SqlState::FEATURE_NOT_SUPPORTED => Some(output),
                    _ => asked_of_nulls(query, is_change, &parameters.types, &catalog, error)?,
                };
                let (basis, plan) = (Arc::new(basis), GenericPlan::None);
                // It is planned anew when it runs, and asks then.
                let asked = Arc::default();
                Ok(Generic::new((basis, options), None, plan, (parameters, output, asked)))
            }
        }
    }

    /// Plans a change for any values, and any time unless its scans ask for that: these are better off with what it is.
    fn plan_generic_change(
        &self,
        inner: &Inner,
        query: &ParsedQuery,
        catalog: &StatementCatalog<'_>,
        moments: &mut Option<usize>,
    ) -> SqlResult<PlannedChange> {
        let first = inner.parameters.types.len();
        if let Ok(planned) = plan_change(query, (&inner.declared, Some(first)), catalog) {
            let (is_asked, in_scans) = planned.plan.has_parameters_from(first);
            if !in_scans {
                *moments = is_asked.then_some(first);
                return Ok(planned);
            }
        }
        plan_change(query, (&inner.declared, None), catalog)
    }

    /// The types of the parameters of a statement that cannot be planned without knowing how many rows it gives, and its columns;
    /// `None` where that is not the reason.
    fn beside_limits(
        &self,
        query: &ParsedQuery,
        is_change: bool,
        known: &mut ParameterTypes,
        catalog: &StatementCatalog<'_>,
    ) -> Option<Vec<OutputColumn>> {
        let (query, limits) = without_limits(query);
        if limits.is_empty() {
            return None;
        }
        learn_of_limits(&limits, known, catalog);
        let (found, output) = match is_change {
            true => {
                let planned = plan_change(&query, (&known.types, None), catalog).ok()?;
                let output = asked_of(&planned).to_vec();
                (planned.parameters, output)
            }
            false => {
                let planned = plan_query(&query, &known.types, catalog).ok()?;
                (planned.parameters, planned.plan.output)
            }
        };
        known.learn(found);
        Some(output)
    }

    /// What planning for any values comes to on the tables that are there.
    fn generic(&self, inner: &Inner, snapshot: &CatalogSnapshot) -> SqlResult<Arc<Generic>> {
        let options = self.settings.planning();
        let (known, mut is_loose) = (inner.generic.lock().clone(), false);
        if let Some(known) = known
            && known.options == options
        {
            if known.basis.holds(snapshot, &self.search_path(snapshot)) {
                return Ok(known);
            }
            is_loose = true;
        }
        let generic = Arc::new(self.plan_generic(inner, is_loose)?);
        *inner.generic.lock() = Some(generic.clone());
        Ok(generic)
    }

    /// [`Session::generic`] on the newest tables; of those that the transaction has changed, the ones that it asks for.
    fn refreshed_generic(&self, inner: &Inner) -> SqlResult<(Arc<Generic>, Arc<CatalogSnapshot>)> {
        let known = inner.generic.lock().clone();
        if let Some(known) = known.filter(|it| it.options == self.settings.planning()) {
            let tables: Vec<_> = known.basis.tables().collect();
            self.refresh_for(Extent::Of(&tables))?;
            let snapshot = self.snapshot();
            if known.basis.holds(&snapshot, &self.search_path(&snapshot)) {
                return Ok((known, snapshot));
            }
        }
        self.refresh()?;
        let snapshot = self.snapshot();
        Ok((self.generic(inner, &snapshot)?, snapshot))
    }

    /// Begins a prepared statement.
    pub(crate) fn begin_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[Value],
        cancel: &CancelToken,
    ) -> SqlResult<Begun> {
        let inner: &Inner = &prepared.0;
        check_count(inner, values)?;
        self.check_pivots(inner, cancel)?;
        match &inner.statement {
            Some(it) if is_planned(it) => {}
            Some(Statement::Explain { .. }) => {
                let filled = self.filled(inner, values)?;
                return filled.map_or_else(
                    || Ok(Begun::Answer(done(""))),
                    |it| self.begin_parsed(it, None, cancel),
                );
            }
            Some(other) => return self.begin_parsed(other.clone(), None, cancel),
            None => return Ok(Begun::Answer(done(""))),
        }
        if inner.statement.as_ref().is_some_and(is_change) {
            self.begin_writing()?;
        }
        loop {
            let (generic, snapshot) = self.refreshed_generic(inner)?;
            self.check_asked(&generic.asked)?;
            if let GenericPlan::Query(..) = &generic.plan {
                let tables: Vec<_> = generic.basis.tables().collect();
                if self.wait_to_read(&tables, cancel)? {
                    continue;
                }
            }
            // Checked against the types, but each value stands as it is where it is finer than its type.
            let zone = self.zone();
            let Some(mut values) = converted(values, &generic.parameters.types, &zone)? else {
                break;
            };
            if let Some(first) = generic.moments {
                let now = self.began();
                values.resize(first, Value::Null);
                let moment = |it: &Function| functions::statement_constant(*it, now, &zone);
                let moments = functions::STABLE.iter().map(moment);
                values.extend(moments.map(|it| it.map_or(Value::Null, |it| it.0)));
            }
            match &generic.plan {
                GenericPlan::None => break,
                GenericPlan::Query(plan, schema, unknown) => {
                    return generic.with_values(plan, &values, |plan| {
                        self.note_reads(plan, unknown);
                        self.begin_plan_on(plan, &snapshot, schema, cancel)
                    });
                }
                GenericPlan::Change(change) => {
                    let changed = generic.with_values(&change.plan, &values, |plan| {
                        self.change_planned(change, plan, &snapshot, cancel)
                    });
                    if let Some(it) = changed? {
                        return Ok(Begun::Answer(it));
                    }
                }
            }
        }
        self.refresh()?;
        match self.filled(inner, values)? {
            Some(statement) => self.begin_parsed(statement, None, cancel),
            None => Ok(Begun::Answer(done(""))),
        }
    }

    /// A prepared statement with values in the place of its parameters, to be planned for them alone; `None` of an empty one.
    fn filled(&self, inner: &Inner, values: &[Value]) -> SqlResult<Option<Statement>> {
        let inferred = |at: usize| inner.parameters.types.get(at).copied().flatten();
        let typed =
            values.iter().zip(&inner.declared).enumerate().map(|(at, (value, declared))| {
                // Without its type a moment would be a time of no zone.
                let moment = inferred(at).filter(|it| {
                    *it == DataType::TimestampTz && matches!(value, Value::Timestamp(_))
                });
                (value.clone(), declared.or(moment))
            });
        let values: Vec<_> = typed.collect();
        inner.statement.as_ref().map(|it| self.with_values(it, &values)).transpose()
    }

    /// The query or change that EXPLAIN EXECUTE names, with its values.
    ///
    /// Errors: 26000, 0A000 of a statement that has no plan.
    pub(crate) fn named_query(
        &mut self,
        name: &str,
        arguments: &Arguments,
        cancel: &CancelToken,
    ) -> SqlResult<ParsedQuery> {
        let prepared = self.prepared.get(name).cloned().ok_or_else(|| no_such(name))?;
        let inner: &Inner = &prepared.0;
        let values = self.given_values(arguments, cancel)?;
        check_count(inner, &values)?;
        match self.filled(inner, &values)? {
            Some(Statement::Query { query } | Statement::Change { query }) => Ok(query),
            _ => Err(SqlError::unsupported("EXPLAIN of anything but a query is not supported")),
        }
    }

    /// The statement with values in the place of its parameters.
    fn with_values(
        &self,
        statement: &Statement,
        values: &[(Value, Option<DataType>)],
    ) -> SqlResult<Statement> {
        let mut statement = statement.clone();
        match &mut statement {
            Statement::Cursor(CursorStatement::Declare { query, .. }) => {
                let query = substitute(query, values)?;
                return Ok(match query.locks_rows() {
                    true => Statement::Change { query },
                    false => Statement::Query { query },
                });
            }
            Statement::Query { query }
            | Statement::Change { query }
            | Statement::Explain { query, .. } => {
                *query = substitute(query, values)?;
            }
            Statement::InSteps { first, last } => {
                for step in first {
                    step.query = substitute(&step.query, values)?;
                }
                **last = self.with_values(last, values)?;
            }
            _ => {}
        }
        Ok(statement)
    }

    /// Begins a plan on a snapshot of the catalog.
    pub(crate) fn begin_plan_on(
        &self,
        plan: &Plan,
        snapshot: &CatalogSnapshot,
        schema: &SchemaRef,
        cancel: &CancelToken,
    ) -> SqlResult<Begun> {
        let tables = tables_of(plan, |id| snapshot.by_id(id).cloned());
        let rows = self.begin_plan(plan, tables, cancel)?;
        Ok(Begun::Rows(Box::new(BegunRows { schema: self.zoned(schema), ..rows })))
    }

    pub(crate) fn prepare_named(
        &mut self,
        name: String,
        types: &[DataType],
        statement: Statement,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.check_free(&name)?;
        let types: Vec<_> = types.iter().map(|it| Some(*it)).collect();
        // As in PostgreSQL, the text of PREPARE itself.
        let running = self.under_way.as_ref().map(|it| it.record.text.trim().to_owned());
        let text = Arc::from(running.unwrap_or_default());
        let (statement, over) = match statement {
            Statement::OverPivots(it) => {
                let over = (*it).clone();
                (self.filled_pivots(*it, cancel)?, Some(over))
            }
            other => (other, None),
        };
        let source = Source { text, from_sql: true, over };
        let prepared = self.prepare_statement(source, Some(statement), &types)?;
        self.prepared.insert(name, prepared);
        Ok(done("PREPARE"))
    }

    fn check_free(&self, name: &str) -> SqlResult<()> {
        if self.prepared.contains_key(name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_PREPARED, message)
                .with_hint(format!("DEALLOCATE {name} first")));
        }
        Ok(())
    }

    pub(crate) fn begin_named(
        &mut self,
        name: &str,
        arguments: &Arguments,
        cancel: &CancelToken,
    ) -> SqlResult<Begun> {
        let prepared = self.prepared.get(name).cloned().ok_or_else(|| no_such(name))?;
        let levels = self.levels.max(prepared.0.levels());
        // Places in the text of PREPARE are none in that of EXECUTE.
        self.with_levels(levels, |session| session.begin_found(&prepared, arguments, cancel))
            .map_err(|error| SqlError { position: None, ..error })
    }

    fn begin_found(
        &mut self,
        prepared: &Prepared,
        arguments: &Arguments,
        cancel: &CancelToken,
    ) -> SqlResult<Begun> {
        let values = self.given_values(arguments, cancel)?;
        self.begin_prepared(prepared, &values, cancel)
    }

    /// The values that EXECUTE gives.
    fn given_values<'a>(
        &mut self,
        arguments: &'a Arguments,
        cancel: &CancelToken,
    ) -> SqlResult<Cow<'a, [Value]>> {
        let query = match arguments {
            Arguments::Values(values) => return Ok(Cow::Borrowed(values)),
            Arguments::Query(query) => query,
        };
        let Finished { executed, .. } = self.run_query(query, cancel)?;
        let rows = &executed.rows;
        let batch = rows.batches.iter().find(|it| it.rows() == 1);
        let batch = batch.map(|it| it.batch()).transpose()?;
        let columns = batch.as_ref().map_or(&[][..], |it| &it.columns);
        let values = columns.iter().zip(&rows.layout);
        let zone = self.zone();
        let values = values.map(|(it, shape)| given(it.value(shape, 0), shape.data_type, &zone));
        values.collect::<SqlResult<_>>().map(Cow::Owned)
    }

    pub(crate) fn deallocate(&mut self, name: Option<&str>) -> SqlResult<Answer> {
        match name {
            None => {
                self.prepared.clear();
                // Clients that keep statements forget theirs when they hear it.
                Ok(done("DEALLOCATE ALL"))
            }
            Some(name) => {
                self.prepared.remove(name).ok_or_else(|| no_such(name))?;
                Ok(done("DEALLOCATE"))
            }
        }
    }
}

/// Whether a statement changes or locks rows.
fn is_change(statement: &Statement) -> bool {
    match statement {
        Statement::Change { .. } => true,
        Statement::Explain { query, .. } => query.changes_rows() || query.locks_rows(),
        Statement::Cursor(CursorStatement::Declare { query, .. }) => query.locks_rows(),
        _ => false,
    }
}

/// Whether planning a statement tells the types of its parameters.
fn has_types(statement: &Statement) -> bool {
    is_planned(statement) || matches!(statement, Statement::Explain { .. })
}

fn check_count(inner: &Inner, values: &[Value]) -> SqlResult<()> {
    let (wanted, found) = (inner.parameters.types.len(), values.len());
    if wanted == found {
        return Ok(());
    }
    let message =
        format!("the prepared statement has {wanted} parameters, but {found} values are given");
    Err(SqlError::new(SqlState::SYNTAX, message))
}

/// The values in the types of their parameters; `None` when one cannot be held exactly.
fn converted(
    values: &[Value],
    types: &[Option<DataType>],
    zone: &Zone,
) -> SqlResult<Option<Vec<Value>>> {
    let each = values.iter().zip(types).enumerate();
    each.map(|(number, (value, data_type))| match data_type {
        Some(data_type) => convert(number, value, *data_type, zone),
        None => Ok(Some(value.clone())),
    })
    .collect()
}

/// The columns that a change gives back.
/// The types of parameters in numbers of rows ([`without_limits`]).
pub(crate) fn learn_of_limits(
    limits: &[ParsedQuery],
    known: &mut ParameterTypes,
    catalog: &StatementCatalog<'_>,
) {
    for limit in limits {
        if let Ok(planned) = plan_query(limit, &known.types, catalog) {
            known.learn(planned.parameters);
        }
    }
}

/// The columns of a statement of which some values have to be known, or that is wrong whatever they are: NULL tells which.
fn asked_of_nulls(
    query: &ParsedQuery,
    is_change: bool,
    types: &[Option<DataType>],
    catalog: &StatementCatalog<'_>,
    error: SqlError,
) -> SqlResult<Option<Vec<OutputColumn>>> {
    let nulls: Vec<_> = types.iter().map(|it| (Value::Null, *it)).collect();
    let trial = substitute(query, &nulls).and_then(|it| match is_change {
        true => plan_change(&it, (&[], None), catalog).map(|it| asked_of(&it).to_vec()),
        false => plan_query(&it, &[], catalog).map(|it| it.plan.output),
    });
    match &trial {
        Err(_) if !binder::files::files_under(query, catalog)?.is_empty() => {}
        Err(_) if error.state != SqlState::FEATURE_NOT_SUPPORTED => return Err(error),
        _ => {}
    }
    Ok(trial.ok())
}

fn asked_of(change: &PlannedChange) -> &[OutputColumn] {
    if change.returning.is_some() { change.returned() } else { &[] }
}

fn no_such(name: &str) -> SqlError {
    let message = format!("prepared statement \"{name}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_PREPARED, message)
}
