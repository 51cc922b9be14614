//! The tables that a plan was made on: it is right as long as they are the same.

use plan::Plan;
use stdx::sync::{Arc, Weak};
use storage::{CatalogSnapshot, ColumnSchema, Rules, Table};
use types::{TableId, ViewDefinition};

/// Tables as planning saw them. It keeps their names in memory, and none of their rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basis {
    /// The version of the catalog.
    version: u64,
    /// Tables of whose rows something is known to the plan.
    whole: Vec<(TableId, Weak<Table>)>,
    /// Views that the plan was made through.
    views: Vec<(TableId, Weak<ViewDefinition>)>,
    /// A table of which the plan knows its columns and what it asks of its rows.
    shape: Option<Shape>,
}

#[derive(Clone, Debug)]
struct Shape {
    id: TableId,
    name: String,
    columns: Vec<ColumnSchema>,
    rules: Weak<Rules>,
}

impl Basis {
    /// Tables of a catalog that planning asked for.
    pub fn new(tables: &CatalogSnapshot, asked: &[TableId]) -> Self {
        let of = |id: &TableId| Some((*id, Arc::downgrade(tables.by_id(*id)?)));
        let whole = asked.iter().filter_map(of).collect();
        let of = |id: &TableId| Some((*id, Arc::downgrade(tables.view_by_id(*id)?)));
        let views = asked.iter().filter_map(of).collect();
        Self { version: tables.version(), whole, views, shape: None }
    }

    /// The same for a plan of new rows for a table, which may change as long as it asks for the same rows, if the plan does
    /// not read it.
    pub fn into_table(mut self, table: &Table, plan: &Plan) -> Self {
        if plan.scans().iter().any(|it| it.table == table.id) {
            return self;
        }
        self.whole.retain(|it| it.0 != table.id);
        let (id, name) = (table.id, table.name.clone());
        let rules = Arc::downgrade(table.rules());
        self.shape = Some(Shape { id, name, columns: table.schema(), rules });
        self
    }

    /// Whether they are there.
    pub fn holds(&self, tables: &CatalogSnapshot) -> bool {
        let is_same = |(id, known): &(TableId, Weak<Table>)| {
            tables.by_id(*id).is_some_and(|it| std::ptr::eq(Arc::as_ptr(it), known.as_ptr()))
        };
        let is_view = |(id, known): &(TableId, Weak<ViewDefinition>)| {
            tables.view_by_id(*id).is_some_and(|it| std::ptr::eq(Arc::as_ptr(it), known.as_ptr()))
        };
        let is_alike = |it: &Shape| tables.by_id(it.id).is_some_and(|table| it.is_of(table));
        tables.version() == self.version
            || self.whole.iter().all(is_same)
                && self.views.iter().all(is_view)
                && self.shape.iter().all(is_alike)
    }
}

impl Shape {
    fn is_of(&self, table: &Table) -> bool {
        std::ptr::eq(Arc::as_ptr(table.rules()), self.rules.as_ptr())
            && self.name == table.name
            && self.columns == table.schema()
    }
}
