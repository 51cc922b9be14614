//! The view `nodewise.constraints`: what tables ask of their rows.

use arrow_array::RecordBatch;
use storage::{IndexKind, Table};
use types::{ColumnId, SqlResult};

use super::{Columns, ViewBuilder};
use crate::Database;
use crate::index_text::nulls_clause;

/// The columns of [`rows`].
pub(super) const COLUMNS: Columns =
    &[("table_name", 't'), ("constraint_name", 't'), ("kind", 't'), ("definition", 't')];

/// A row for each key, CHECK and FOREIGN KEY.
pub fn rows(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMNS);
    for table in database.tables() {
        for (name, kind, definition) in constraints(&table) {
            view.row([table.name.clone().into(), name.into(), kind.into(), definition.into()]);
        }
    }
    view.finish()
}

/// Name, kind and SQL of each.
fn constraints(table: &Table) -> Vec<(String, &'static str, String)> {
    let rules = table.rules();
    let columns = |ids: &[ColumnId]| {
        let names: Vec<&str> = ids.iter().map(|it| &*table.column(*it).name).collect();
        names.join(", ")
    };
    let keys = rules.indexes.iter().filter(|it| it.kind.is_constraint()).map(|it| {
        let what = if it.kind == IndexKind::PrimaryKey { "PRIMARY KEY" } else { "UNIQUE" };
        let nulls = nulls_clause(it);
        (it.name.to_string(), it.kind.name(), format!("{what}{nulls} ({})", columns(&it.columns)))
    });
    let checks = (rules.rows.checks.iter())
        .map(|it| (it.name.to_string(), "check", format!("CHECK ({})", it.condition)));
    let references = rules.references.iter().map(|it| {
        let definition = format!(
            "FOREIGN KEY ({}) REFERENCES {} ({}){} ON DELETE {} ON UPDATE {}{}",
            columns(&it.columns),
            it.parent,
            it.parent_columns.join(", "),
            it.match_clause(),
            it.on_delete.name(),
            it.on_update.name(),
            it.last_clauses()
        );
        (it.name.to_string(), "foreign key", definition)
    });
    keys.chain(checks).chain(references).collect()
}
