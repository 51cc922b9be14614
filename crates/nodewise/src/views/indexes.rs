//! The view `nodewise.indexes`: the keys and indexes of all tables.

use arrow_array::RecordBatch;
use storage::{Table, TableIndex};
use types::SqlResult;

use super::{Columns, ViewBuilder};
use crate::Database;
use crate::index_text::sql_of;

/// The columns of [`rows`].
pub(super) const COLUMNS: Columns = &[
    ("table_name", 't'),
    ("index_name", 't'),
    ("columns", 't'),
    ("kind", 't'),
    ("is_unique", 'b'),
    ("bytes", 'i'),
];

/// A row for each key and each index.
pub fn rows(database: &Database) -> SqlResult<RecordBatch> {
    let tables = database.tables();
    let rules: Vec<(&Table, &TableIndex)> = (tables.iter())
        .flat_map(|table| table.rules().indexes.iter().map(|rule| (&**table, rule)))
        .collect();
    let columns = |(table, rule): &(&Table, &TableIndex)| {
        let (items, condition) = sql_of(table, rule, str::to_owned);
        items + &condition
    };
    let mut view = ViewBuilder::new(COLUMNS);
    for it in &rules {
        let (table, rule) = it;
        view.row([
            table.name.as_str().into(),
            rule.name.to_string().into(),
            columns(it).into(),
            rule.kind.name().into(),
            rule.kind.is_unique().into(),
            bytes(table, rule).into(),
        ]);
    }
    view.finish()
}

/// Bytes of the inverted indexes of its columns in all parts; none for a key of several columns, which is only checked.
fn bytes(table: &Table, rule: &TableIndex) -> u64 {
    let mut columns = rule.inverted_columns().to_vec();
    columns.sort_unstable();
    columns.dedup();
    let parts = table.parts().iter();
    let all = parts.flat_map(|part| columns.iter().map(|it| &part.columns[it.index()]));
    all.filter_map(|it| it.index.as_ref()).map(|it| it.memory_bytes()).sum()
}
