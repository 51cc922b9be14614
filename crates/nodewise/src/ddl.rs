//! Statements that make, load and drop tables.

use arrow_array::RecordBatch;
use binder::{ColumnDefinition, Constraints, DesignClause, KeyDefinition, ParsedQuery};
use stdx::sync::Arc;
use storage::{BuildContext, ColumnSchema, Rules, Table, TableBuilder, TableDesign};
use types::{DataType, RowRules, SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::parallel::{LoadProgress, LoadTeam};
use crate::query::Finished;
use crate::{Answer, CancelToken, Session};

/// What CREATE TABLE AS makes.
pub(crate) struct Target {
    pub name: String,
    pub columns: Vec<String>,
    pub if_not_exists: bool,
    pub or_replace: bool,
    pub design: DesignClause,
}

/// What CREATE TABLE makes.
pub(crate) struct NewTable {
    pub name: String,
    pub columns: Vec<ColumnDefinition>,
    pub constraints: Constraints,
    pub if_not_exists: bool,
    pub design: DesignClause,
}

impl Session {
    pub(crate) fn create_table(
        &mut self,
        new: NewTable,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let NewTable { name, columns, constraints, if_not_exists, design } = new;
        self.begin_writing(cancel)?;
        if if_not_exists && self.catalog().get(&name).is_some() {
            let message = format!("relation \"{name}\" already exists, skipping");
            self.notice(Notice::told("42P07", message));
            return Ok(done("CREATE TABLE"));
        }
        let defaults = columns.iter().map(|it| it.default.as_deref().map(Arc::from)).collect();
        let rows = RowRules { defaults, checks: Vec::new() };
        let schema: Vec<ColumnSchema> = columns
            .into_iter()
            .map(|it| {
                let holds = |key: &KeyDefinition| key.primary && key.columns.contains(&it.name);
                let required = constraints.keys.iter().any(holds);
                ColumnSchema::new(it.name, it.data_type, it.nullable && !required)
            })
            .collect();
        check_names(&schema)?;
        let design = self.design_of(&design, &name, &schema, cancel)?;
        let context =
            BuildContext { design: &design, ..BuildContext::serial(&self.database.allocator) };
        let table = Table::empty(&name, &schema, &context)?;
        let mut rules = Rules { rows: Arc::new(rows), ..Rules::default() };
        self.add_constraints(&table, &mut rules, &constraints)?;
        let table = self.catalog().create(table.with_rules(Arc::new(rules), &context)?)?;
        self.check_rules(&table, cancel)?;
        self.note(|| Operation::create(&table, false, &[]))?;
        Ok(done("CREATE TABLE"))
    }

    pub(crate) fn create_table_as(
        &mut self,
        target: &Target,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let Target { name, columns, if_not_exists, or_replace, design } = target;
        self.begin_writing(cancel)?;
        self.wait_for_place()?;
        let old = self.catalog().get(name);
        match &old {
            Some(_) if *if_not_exists => return Ok(done("SELECT 0")),
            Some(_) if !or_replace => {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_TABLE,
                    format!("table \"{name}\" already exists"),
                )
                .with_hint("drop it first, or write CREATE OR REPLACE TABLE"));
            }
            Some(old) => self.release(std::slice::from_ref(&old.name), false, cancel)?,
            None => {}
        }
        // A whole file is loaded as it is, without a detour over the rows of a query.
        let (table, batches) = match binder::files::whole_file(query) {
            Some(path) if columns.is_empty() => {
                let (schema, _) = storage::parquet_schema(path.as_ref())?;
                let design = self.design_of(design, name, &schema, cancel)?;
                (self.load(name, &path, &design, cancel)?, None)
            }
            _ => {
                let (table, batches) = self.table_of_query(target, query, cancel)?;
                (table, Some(batches))
            }
        };
        if cancel.is_cancelled() {
            return Err(execution::cancelled(cancel));
        }
        let rows = table.rows();
        let table = self.catalog().create_or_replace(table);
        let made = || Operation::create(&table, true, batches.as_deref().unwrap_or_default());
        self.note_table(&table, batches.as_deref(), made)?;
        self.activity.changed(rows);
        Ok(done(format!("SELECT {rows}")))
    }

    fn table_of_query(
        &self,
        target: &Target,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<(Table, Vec<RecordBatch>)> {
        let Target { name, columns, design, .. } = target;
        let Finished { mut plan, executed, .. } = self.run_query(query, cancel)?;
        if columns.len() > plan.output.len() {
            return Err(SqlError::new(
                SqlState::SYNTAX,
                format!(
                    "{} columns are named, but the query has {}",
                    columns.len(),
                    plan.output.len()
                ),
            ));
        }
        for (output, name) in plan.output.iter_mut().zip(columns) {
            output.name.clone_from(name);
        }
        let schema: Vec<ColumnSchema> = (plan.output.iter())
            .map(|it| ColumnSchema::new(it.name.clone(), it.data_type, true))
            .collect();
        if let Some(column) = schema.iter().find(|it| it.data_type == DataType::Bpchar) {
            let message = format!("the column \"{}\" is CHAR of no one length", column.name);
            let hint = "cast it to CHAR(n), VARCHAR(n) or TEXT";
            return Err(SqlError::unsupported(message).with_hint(hint));
        }
        check_names(&schema)?;
        let design = self.design_of(design, name, &schema, cancel)?;
        let arrow = crate::result::schema_of(&plan.output);
        let batches = self.record_batches(&executed, &arrow, cancel)?;
        let table = self.build(name, schema, batches.clone(), &design, cancel)?;
        Ok((table, batches))
    }

    /// The rows of a query.
    pub(crate) fn rows_of_query(
        &self,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<RecordBatch>> {
        let Finished { plan, executed, .. } = self.run_query(query, cancel)?;
        self.record_batches(&executed, &crate::result::schema_of(&plan.output), cancel)
    }

    pub(crate) fn drop_tables(
        &mut self,
        names: &[String],
        if_exists: bool,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.begin_writing(cancel)?;
        // All or none: a name that does not exist is found before any table is gone.
        for name in names {
            if self.catalog().get(name).is_none() && !if_exists {
                return Err(SqlError::new(
                    SqlState::UNDEFINED_TABLE,
                    format!("table \"{name}\" does not exist"),
                ));
            }
        }
        self.release(names, cascade, cancel)?;
        for name in names {
            if self.catalog().get(name).is_some() {
                self.catalog().drop_table(name)?;
                self.note(|| Operation::drop_table(name))?;
            } else {
                let message = format!("table \"{name}\" does not exist, skipping");
                self.notice(Notice::told("00000", message));
            }
        }
        Ok(done("DROP TABLE"))
    }

    pub(crate) fn copy_from(
        &mut self,
        table: &str,
        columns: &[String],
        path: &str,
        options: &[(String, String)],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        if !columns.is_empty() {
            return Err(SqlError::unsupported("COPY fills all columns of a table, found by name")
                .with_hint("INSERT INTO t (a, b) SELECT a, b FROM 'file' fills some"));
        }
        for (name, value) in options {
            if !(name == "format" && value.eq_ignore_ascii_case("parquet")) {
                return Err(SqlError::unsupported(format!("COPY has no option {name} {value}"))
                    .with_hint("COPY reads Parquet files"));
            }
        }
        self.check_files()?;
        self.begin_writing(cancel)?;
        self.wait_for_place()?;
        let old = self.existing(table)?;
        if !old.rules().rows.checks.is_empty() || !old.rules().references.is_empty() {
            return self.copy_checked(&old, path, cancel);
        }
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, path);
        let stop = || execution::is_ended(cancel);
        let plain = TableDesign::default();
        let context = self.build_context(&team, &progress, &stop, &plain);
        let loaded = storage::append_parquet(&old, path.as_ref(), &context);
        let new = self.cancelled_or(cancel, loaded)?;
        let rows = new.rows() - old.rows();
        let new = self.catalog().replace(&old, new)?;
        self.note_table(&new, None, || Operation::change(&new.name, &[], &[]))?;
        self.activity.changed(rows);
        Ok(done(format!("COPY {rows}")))
    }

    pub(crate) fn existing(&self, name: &str) -> SqlResult<Arc<Table>> {
        self.catalog().get(name).ok_or_else(|| {
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("table \"{name}\" does not exist"))
        })
    }

    /// Reads a Parquet file into a table that is in no catalog yet.
    pub(crate) fn load(
        &self,
        name: &str,
        path: &str,
        design: &TableDesign,
        cancel: &CancelToken,
    ) -> SqlResult<Table> {
        self.loaded(path, design, cancel, |context| {
            storage::load_parquet(path.as_ref(), name, None, context)
        })
    }

    /// Runs a load of a file with the workers of the session.
    pub(crate) fn loaded<T>(
        &self,
        path: &str,
        design: &TableDesign,
        cancel: &CancelToken,
        load: impl FnOnce(&BuildContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, path);
        let stop = || execution::is_ended(cancel);
        self.cancelled_or(cancel, load(&self.build_context(&team, &progress, &stop, design)))
    }

    pub(crate) fn build(
        &self,
        name: &str,
        schema: Vec<ColumnSchema>,
        batches: Vec<RecordBatch>,
        design: &TableDesign,
        cancel: &CancelToken,
    ) -> SqlResult<Table> {
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, name);
        let stop = || execution::is_ended(cancel);
        let context = self.build_context(&team, &progress, &stop, design);
        let builder = TableBuilder::new(name, schema);
        for (order, batch) in batches.into_iter().enumerate() {
            builder.push(order as u64, batch)?;
        }
        self.cancelled_or(cancel, builder.finish(&context))
    }

    /// Makes a table of Arrow rows that are at hand: what `CREATE TABLE AS` is for rows of a query.
    pub fn import(&mut self, name: &str, rows: Vec<RecordBatch>) -> SqlResult<Answer> {
        self.begin_statement()?;
        let imported = self.imported(name, rows);
        self.end_statement(imported)
    }

    fn imported(&self, name: &str, rows: Vec<RecordBatch>) -> SqlResult<Answer> {
        let Some(first) = rows.first() else {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER, "there is no batch to import"));
        };
        let column = |field: &Arc<arrow_schema::Field>| {
            let data_type = storage::schema::sql_type(field, name)?;
            Ok(ColumnSchema::new(field.name(), data_type, true))
        };
        let schema: Vec<ColumnSchema> =
            first.schema().fields().iter().map(column).collect::<SqlResult<_>>()?;
        check_names(&schema)?;
        let cancel = CancelToken::new();
        self.begin_writing(&cancel)?;
        let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
        let design = TableDesign::placed(self.settings.default_placement.clone());
        let table = self.build(name, schema, rows.clone(), &design, &cancel)?;
        let table = self.catalog().create(table)?;
        self.note_table(&table, Some(&rows), || Operation::create(&table, false, &rows))?;
        Ok(done(format!("SELECT {count}")))
    }

    /// A table of the rows of a system view.
    pub(crate) fn table_of(&self, name: &str, rows: &RecordBatch) -> SqlResult<Table> {
        let schema = (rows.schema().fields().iter())
            .map(|it| Ok(ColumnSchema::new(it.name(), storage::schema::sql_type(it, name)?, true)))
            .collect::<SqlResult<_>>()?;
        let builder = TableBuilder::new(name, schema);
        builder.push(0, rows.clone())?;
        builder.finish(&BuildContext::serial(&self.database.allocator))
    }

    pub(crate) fn build_context<'a>(
        &'a self,
        team: &'a LoadTeam,
        progress: &'a LoadProgress<'a>,
        cancelled: &'a (dyn Fn() -> bool + Sync),
        design: &'a TableDesign,
    ) -> BuildContext<'a> {
        let tables = self.database.tables();
        BuildContext {
            parallel: team,
            allocator: &self.database.allocator,
            turn: tables.iter().map(|it| it.columns.len()).sum(),
            progress,
            cancelled,
            design,
            compress_from: self.settings.text_compression.least_bytes(),
            delta_from: self.database.delta_from,
        }
    }

    /// What a cancelled load failed with is only that it was cancelled.
    pub(crate) fn cancelled_or<T>(
        &self,
        cancel: &CancelToken,
        result: SqlResult<T>,
    ) -> SqlResult<T> {
        match result {
            Err(_) if cancel.is_cancelled() => Err(execution::cancelled(cancel)),
            other => other,
        }
    }
}

fn check_names(schema: &[ColumnSchema]) -> SqlResult<()> {
    for (place, column) in schema.iter().enumerate() {
        if schema[..place].iter().any(|it| it.name.eq_ignore_ascii_case(&column.name)) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_COLUMN,
                format!("column \"{}\" is named twice", column.name),
            )
            .with_hint("give one of them another name with AS"));
        }
    }
    Ok(())
}
