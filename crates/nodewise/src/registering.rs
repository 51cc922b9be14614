//! Giving names to rows of Arrow, for the statements of a session.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use stdx::sync::Arc;
use storage::{ColumnSchema, TableDesign};
use types::{CatalogView, SqlError, SqlResult, SqlState};

use crate::statement_catalog::StatementCatalog;
use crate::{CancelToken, Session};

impl Session {
    /// From now on statements of this session read rows under a name that no table and no view has; others of the same name
    /// are forgotten. The rows are encoded here, and are not changed by what becomes of the batches.
    ///
    /// Errors: 42P07 where a table or a view has the name, 42701 where two columns have one, 0A000 for a type that is not
    /// stored, 57014 when it is ended by a [`crate::CancelHandle`].
    pub fn register(
        &mut self,
        name: &str,
        schema: &SchemaRef,
        rows: Vec<RecordBatch>,
    ) -> SqlResult<()> {
        if self.has_relation(name) {
            let message = format!("relation \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, message)
                .with_hint("register the rows under another name"));
        }
        let column = |field: &Arc<arrow_schema::Field>| {
            let data_type = storage::schema::sql_type(field, name)?;
            Ok(ColumnSchema::new(field.name(), data_type, true))
        };
        let columns: Vec<ColumnSchema> =
            schema.fields().iter().map(column).collect::<SqlResult<_>>()?;
        crate::ddl::check_names(&columns)?;
        let cancel = CancelToken::new();
        *self.running.lock() = cancel.clone();
        let database = self.database.clone();
        let design = TableDesign::placed(self.settings.default_placement.clone());
        let table = database.caught(|| self.build(name, columns, rows, &design, &cancel));
        *self.running.lock() = CancelToken::new();
        self.frames.put(table?);
        Ok(())
    }

    /// Forgets the rows of a name; tells whether there were any.
    pub fn unregister(&mut self, name: &str) -> bool {
        self.frames.remove(name)
    }

    /// The names in the place of tables, in the text, that nothing has: what a program around it may know. None of a text that
    /// cannot be read. A name that WITH gives may be among them.
    pub fn unknown_tables(&self, sql: &str) -> Vec<String> {
        if self.database.plans.knows(sql) {
            return Vec::new();
        }
        let mut names = binder::files::names_in(sql);
        names.retain(|it| !self.has_relation(it) && self.frames.get(it).is_none());
        names
    }

    /// Whether a table, a view or a sequence has a name.
    fn has_relation(&self, name: &str) -> bool {
        let catalog = StatementCatalog::stored(self);
        catalog.table(None, name).is_some() || CatalogView::view(&catalog, None, name).is_some()
    }
}
