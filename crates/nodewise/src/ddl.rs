//! Statements that make, load and drop tables.

use arrow_array::RecordBatch;
use binder::{
    ColumnDefinition, Constraints, DesignClause, Generation, KeyDefinition, Numbering, ParsedQuery,
};
use stdx::sync::Arc;
use storage::{BuildContext, ColumnSchema, Rules, Table, TableBuilder, TableDesign};
use types::{
    ColumnId, DataType, Generated, Identity, ObjectKind, OnCommit, RowRules, SqlError, SqlResult,
    SqlState, Styles, names,
};

use crate::answer::done;
use crate::domain_ddl::put_domain;
use crate::durability::Operation;
use crate::parallel::{LoadProgress, LoadTeam};
use crate::query::Finished;
use crate::reading::Opened;
use crate::{Answer, CancelToken, Session};

/// What CREATE TABLE AS makes.
pub(crate) struct Target {
    pub name: String,
    pub columns: Vec<String>,
    pub if_not_exists: bool,
    pub or_replace: bool,
    pub design: DesignClause,
    pub on_commit: OnCommit,
}

/// What CREATE TABLE makes.
pub(crate) struct NewTable {
    pub name: String,
    pub columns: Vec<ColumnDefinition>,
    pub constraints: Constraints,
    pub if_not_exists: bool,
    pub or_replace: bool,
    pub design: DesignClause,
    pub on_commit: OnCommit,
}

impl Session {
    pub(crate) fn create_table(
        &mut self,
        new: NewTable,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let NewTable { name, mut columns, constraints, if_not_exists, or_replace, .. } = new;
        let (design, on_commit) = (new.design, new.on_commit);
        self.write_alone(cancel)?;
        for column in &mut columns {
            column.data_type = self.current_type(column.data_type)?;
        }
        if if_not_exists && self.is_relation(&name) {
            self.skip_existing(&name);
            return Ok(done("CREATE TABLE"));
        }
        self.decide_generated(&mut columns)?;
        let old = self.make_room(&name, or_replace, cancel)?;
        // Those of the table that goes; the new one may get its own under the same name.
        let sequences = self.owned(&name, None);
        let defaults = self.defaults_of(&name, &columns)?;
        let identity = |(place, it): (usize, &ColumnDefinition)| match it.numbering {
            Some(Numbering::Identity { always, .. }) => {
                Some(Identity { column: ColumnId(place as u16), always })
            }
            _ => None,
        };
        let identities = columns.iter().enumerate().filter_map(identity).collect();
        let generated = |(place, it): (usize, &ColumnDefinition)| {
            let is_stored = it.generation? == Generation::Stored;
            Some(Generated { column: ColumnId(place as u16), is_stored })
        };
        let generated = columns.iter().enumerate().filter_map(generated).collect();
        let mut rows = RowRules { defaults, identities, generated, ..RowRules::default() };
        for (place, column) in columns.iter().enumerate() {
            rows.put_fields(ColumnId(place as u16), column.fields);
            if let Some(domain) = &column.domain {
                self.existing_domain(domain)?;
                put_domain(&mut rows, ColumnId(place as u16), Some(domain));
            }
        }
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
        let mut rules = Rules { rows: Arc::new(rows), on_commit, ..Rules::default() };
        self.add_constraints(&table, &mut rules, &constraints)?;
        let table = table.with_rules(Arc::new(rules), &context)?;
        let table = self.catalog().create_or_replace(table);
        self.check_rules(&table, cancel)?;
        self.note(|| Operation::create(&table, old.is_some(), &[]))?;
        sequences.iter().try_for_each(|it| self.remove_sequence(it, false, cancel))?;
        if old.is_none() {
            self.own(ObjectKind::Relation, &table.name)?;
        }
        Ok(done("CREATE TABLE"))
    }

    /// Makes room for a table: gives the one of its name that is to go, which nothing depends on any more.
    fn make_room(
        &mut self,
        name: &str,
        or_replace: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Option<Arc<Table>>> {
        let Some(old) = self.catalog().get(name).filter(|_| or_replace) else {
            self.snapshot().check_free_relation(name)?;
            return Ok(None);
        };
        let names = std::slice::from_ref(&old.name);
        self.release_relations("table", names, false, cancel)?;
        self.forget_column_rights(&old.name)?;
        Ok(Some(old))
    }

    pub(crate) fn create_table_as(
        &mut self,
        target: &Target,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let Target { name, columns, if_not_exists, or_replace, design, on_commit } = target;
        self.write_alone(cancel)?;
        self.wait_for_place()?;
        if *if_not_exists && self.is_relation(name) {
            self.skip_existing(name);
            return Ok(done("CREATE TABLE AS"));
        }
        if !or_replace && self.catalog().get(name).is_some() {
            let message = format!("table \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, message)
                .with_hint("drop it first, or write CREATE OR REPLACE TABLE"));
        }
        let old = self.make_room(name, *or_replace, cancel)?;
        // A whole file is loaded as it is, without a detour over the rows of a query.
        let (table, batches) = match binder::files::whole_file(query) {
            Some(path) if columns.is_empty() => {
                self.check_files(false)?;
                let opened = Opened::open(&path, &self.zone(), self.database.workers())?;
                // All columns are wanted, and those that are not there cannot be stored.
                if let Some(column) = opened.unread.first() {
                    return Err(column.error.clone());
                }
                check_names(&opened.schema)?;
                let design = self.design_of(design, name, &opened.schema, cancel)?;
                let load = |context: &BuildContext<'_>| opened.load(name, &|_| true, context);
                (self.loaded(&path, &design, cancel, load)?.0, None)
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
        let table = self.catalog().create_or_replace(self.kept_until(table, *on_commit)?);
        if let Some(old) = &old {
            self.drop_owned(&old.name, false, cancel)?;
        }
        let made = || Operation::create(&table, true, batches.as_deref().unwrap_or_default());
        self.note_table(&table, batches.as_deref(), made)?;
        if old.is_none() {
            self.own(ObjectKind::Relation, &table.name)?;
        }
        self.activity.changed(rows);
        Ok(done(format!("SELECT {rows}")))
    }

    /// A table with what a commit does to it.
    fn kept_until(&self, table: Table, on_commit: OnCommit) -> SqlResult<Table> {
        if on_commit == OnCommit::PreserveRows {
            return Ok(table);
        }
        let context = BuildContext::serial(&self.database.allocator);
        table.with_rules(Arc::new(Rules { on_commit, ..Rules::default() }), &context)
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
        let arrow = crate::result::held_schema_of(&plan.output);
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
        self.record_batches(&executed, &crate::result::held_schema_of(&plan.output), cancel)
    }

    /// The rows of the query of a kept text.
    pub(crate) fn rows_of_kept(
        &self,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<RecordBatch>> {
        let styles = Styles::default();
        let (catalog, planned) = self.planned_in_styles(query, styles, cancel, |_| Ok(()))?;
        let Finished { plan, executed, .. } = self.run_planned(&catalog, planned, cancel)?;
        self.record_batches(&executed, &crate::result::held_schema_of(&plan.output), cancel)
    }

    pub(crate) fn drop_tables(
        &mut self,
        names: &[String],
        if_exists: bool,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        // All or none: a name that does not exist is found before any table is gone.
        for name in names {
            let is_other = self.snapshot().kind_of(name).is_some_and(|it| it != "table");
            if self.catalog().get(name).is_none() && (is_other || !if_exists) {
                self.existing(name)?;
            }
        }
        self.release_relations("table", names, cascade, cancel)?;
        for name in names {
            if self.catalog().get(name).is_some() {
                let table = self.catalog().drop_table(name)?;
                self.note(|| Operation::drop_table(name))?;
                self.drop_owned(&table.name, cascade, cancel)?;
            } else {
                self.skip_missing("table", name);
            }
        }
        Ok(done("DROP TABLE"))
    }

    pub(crate) fn existing(&self, name: &str) -> SqlResult<Arc<Table>> {
        self.catalog().get(name).ok_or_else(|| match self.snapshot().kind_of(name) {
            Some(_) => {
                let message = format!("\"{name}\" is not a table");
                SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
            }
            None => {
                let message = format!("table \"{name}\" does not exist");
                SqlError::new(SqlState::UNDEFINED_TABLE, message)
            }
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
        let name = &self.new_name(&names::written(&[name]))?;
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
        self.write_alone(&cancel)?;
        self.authority().check_create(name)?;
        let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
        let design = TableDesign::placed(self.settings.default_placement.clone());
        let table = self.build(name, schema, rows.clone(), &design, &cancel)?;
        let table = self.catalog().create(table)?;
        self.note_table(&table, Some(&rows), || Operation::create(&table, false, &rows))?;
        self.own(ObjectKind::Relation, &table.name)?;
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
        progress: &'a LoadProgress<&'a (dyn crate::Progress + 'static)>,
        cancelled: &'a (dyn Fn() -> bool + Sync),
        design: &'a TableDesign,
    ) -> BuildContext<'a> {
        BuildContext {
            parallel: team,
            allocator: &self.database.allocator,
            turn: self.database.catalog.snapshot().column_count(),
            progress,
            cancelled,
            design,
            compress_from: self.settings.text_compression.least_bytes(),
            delta_from: self.database.delta_from,
            broken: self.broken_keys.of(self.block.as_ref().map(|it| &it.constraints)),
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

/// Errors: 42701 where two columns have one name.
pub(crate) fn check_names(schema: &[ColumnSchema]) -> SqlResult<()> {
    for (place, column) in schema.iter().enumerate() {
        if schema[..place].iter().any(|it| it.name.eq_ignore_ascii_case(&column.name)) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_COLUMN,
                format!("column \"{}\" is named twice", column.name),
            )
            .with_hint("give one of them another name with AS"));
        }
        if types::structs::has_row(column.data_type) {
            let message = format!("column \"{}\" has pseudo-type record", column.name);
            return Err(SqlError::new(SqlState("42P16"), message)
                .with_hint("give its fields names: struct_pack(a := 1)"));
        }
    }
    Ok(())
}
