//! CREATE and REFRESH MATERIALIZED VIEW.
//!
//! Key decision: a materialized view is a view that is read from a table which keeps its rows. So it is named, renamed, dropped and
//! depended on as a view, and its rows are stored, placed, logged and counted as those of any table.

use binder::bind::BoundView;
use storage::{BuildContext, ColumnSchema, Table, TableDesign, TableIndex};
use types::{
    Materialized, ObjectKind, SqlError, SqlResult, SqlState, TableId, ViewDefinition, names,
};

use crate::answer::done;
use crate::durability::Operation;
use crate::foreign_keys::queried;
use crate::index_ddl::NewIndex;
use crate::index_text::told_of;
use crate::view_ddl::NewView;
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn create_materialized(
        &mut self,
        new: NewView,
        with_data: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let NewView { name, columns, query, or_replace, if_not_exists, check } = new;
        self.write_alone(cancel)?;
        self.wait_for_place()?;
        if or_replace || check.is_some() || names::is_temporary(&name) {
            let message = "syntax error: a materialized view is neither replaced nor temporary, and has no CHECK OPTION";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        if if_not_exists && self.is_relation(&name) {
            self.skip_existing(&name);
            return Ok(done("CREATE MATERIALIZED VIEW"));
        }
        self.snapshot().check_free_relation(&name)?;
        let BoundView { query, levels, columns, uses, .. } =
            self.bound_view(&query, &columns, cancel)?;
        if uses.iter().any(|it| names::is_temporary(&it.name)) {
            let message = "materialized views must not use temporary tables or views";
            return Err(SqlError::unsupported(message));
        }
        if !self.snapshot().has_schema(names::MATERIALIZED) {
            self.catalog().put_schema(names::MATERIALIZED);
            self.note(|| Operation::schema(names::MATERIALIZED))?;
        }
        let table = self.free_table(&name);
        let materialized = Some(Materialized { table: table.clone(), is_populated: with_data });
        let view = ViewDefinition {
            id: TableId(0),
            name,
            columns,
            query,
            levels,
            uses,
            materialized,
            check: None,
        };
        let schema = schema_of(&view);
        let design = TableDesign::placed(self.settings.default_placement.clone());
        let count = match with_data {
            true => self.fill(&view, &design, None, cancel)?,
            false => {
                let context = BuildContext {
                    design: &design,
                    ..BuildContext::serial(&self.database.allocator)
                };
                let made = self.catalog().create(Table::empty(&table, &schema, &context)?)?;
                self.note(|| Operation::create(&made, false, &[]))?;
                0
            }
        };
        self.put_own_view(view)?;
        Ok(done(match with_data {
            true => format!("SELECT {count}"),
            false => "CREATE MATERIALIZED VIEW".to_owned(),
        }))
    }

    /// A name that no table of the rows of a materialized view has.
    fn free_table(&self, view: &str) -> String {
        let snapshot = self.snapshot();
        let numbered = (1..).map(|it: u32| format!("{view} {it}"));
        let wished = std::iter::once(view.to_owned()).chain(numbered);
        let mut all = wished.map(|it| names::joined(names::MATERIALIZED, &it));
        all.find(|it| snapshot.kind_of(it).is_none()).unwrap_or_default()
    }

    /// Puts the rows of the query of a view into its table, in the place of those of `old`.
    fn fill(
        &self,
        view: &ViewDefinition,
        design: &TableDesign,
        old: Option<&Table>,
        cancel: &CancelToken,
    ) -> SqlResult<u64> {
        let Some(rows) = &view.materialized else {
            return Err(SqlError::internal("a view without rows is filled"));
        };
        let query = queried(&view.query)?;
        let batches = self.rows_of_kept(&query, cancel)?;
        let table = self.build(&rows.table, schema_of(view), batches.clone(), design, cancel)?;
        let table = match old {
            Some(old) => {
                let context = BuildContext::serial(&self.database.allocator);
                let ruled = table.with_rules(old.rules().clone(), &context);
                ruled.map_err(|it| told_of(it, &old.name, &view.name))?
            }
            None => table,
        };
        let count = table.rows();
        let table = self.catalog().create_or_replace(table);
        self.note_table(&table, Some(&batches), || Operation::create(&table, true, &batches))?;
        self.activity.changed(count);
        Ok(count)
    }

    pub(crate) fn refresh_view(
        &mut self,
        name: &str,
        (with_data, concurrently): (bool, bool),
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        self.wait_for_place()?;
        let view = self.existing_view(name)?;
        let Some(rows) = &view.materialized else {
            let message = format!("\"{}\" is not a materialized view", names::bare(name));
            return Err(SqlError::unsupported(message));
        };
        let old = self.existing(&rows.table)?;
        if concurrently {
            check_concurrent(&view, &old, with_data)?;
        }
        match with_data {
            true => {
                // Rows of the query have no expressions of indexes.
                let indexes = self.drop_indexes_of_expressions(&old, cancel)?;
                let old = self.existing(&rows.table)?;
                // Its query is the owner's, whoever asks for its rows anew.
                let owner = self.rights_snapshot().rights(ObjectKind::Relation, name).owner;
                self.acting_as(owner, |session| {
                    session.fill(&view, &old.design().clone(), Some(&*old), cancel)
                })?;
                for it in indexes {
                    let table = view.name.clone();
                    self.create_index(&NewIndex { table, ..it }, cancel)?;
                }
            }
            false => {
                self.replace_with(&old, cancel, |context| old.emptied(context))?;
                self.note(|| Operation::empty(&old.name))?;
            }
        }
        if rows.is_populated != with_data {
            let materialized =
                Some(Materialized { table: rows.table.clone(), is_populated: with_data });
            self.put_view(ViewDefinition { materialized, ..ViewDefinition::clone(&view) })?;
        }
        Ok(done("REFRESH MATERIALIZED VIEW"))
    }
}

/// What REFRESH .. CONCURRENTLY asks as in PostgreSQL, where it finds rows by a unique index; here readers see the old rows anyhow.
fn check_concurrent(view: &ViewDefinition, rows: &Table, with_data: bool) -> SqlResult<()> {
    if !view.materialized.as_ref().is_some_and(|it| it.is_populated) {
        let message = "CONCURRENTLY cannot be used when the materialized view is not populated";
        return Err(SqlError::unsupported(message));
    }
    if !with_data {
        let message = "REFRESH options CONCURRENTLY and WITH NO DATA cannot be used together";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    let is_plain =
        |it: &TableIndex| it.columns.iter().all(|it| !names::is_hidden(&rows.column(*it).name));
    if rows.rules().indexes.iter().any(|it| it.kind.is_unique() && is_plain(it)) {
        return Ok(());
    }
    let (schema, name) = names::split(&view.name);
    let message = format!("cannot refresh materialized view \"{schema}.{name}\" concurrently");
    Err(SqlError::new(SqlState::NOT_IN_STATE, message).with_hint(
        "Create a unique index with no WHERE clause on one or more columns of the materialized view.",
    ))
}

fn schema_of(view: &ViewDefinition) -> Vec<ColumnSchema> {
    view.columns.iter().map(|it| ColumnSchema::new(&it.0, it.1, true)).collect()
}
