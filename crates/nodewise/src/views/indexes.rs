//! The view `nodewise.indexes`: the keys and indexes of all tables.

use arrow_array::{BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use stdx::sync::Arc;
use storage::{Table, TableIndex};
use types::{SqlError, SqlResult};

use crate::Database;
use crate::index_text::sql_of;

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
    let text = |values: Vec<String>| Arc::new(StringArray::from(values)) as _;
    let schema = Schema::new(vec![
        Field::new("table_name", DataType::Utf8, false),
        Field::new("index_name", DataType::Utf8, false),
        Field::new("columns", DataType::Utf8, false),
        Field::new("kind", DataType::Utf8, false),
        Field::new("is_unique", DataType::Boolean, false),
        Field::new("bytes", DataType::Int64, false),
    ]);
    let unique: BooleanArray = rules.iter().map(|it| Some(it.1.kind.is_unique())).collect();
    let bytes = rules.iter().map(|it| bytes(it.0, it.1) as i64);
    RecordBatch::try_new(
        Arc::new(schema),
        vec![
            text(rules.iter().map(|it| it.0.name.clone()).collect()),
            text(rules.iter().map(|it| it.1.name.to_string()).collect()),
            text(rules.iter().map(columns).collect()),
            text(rules.iter().map(|it| it.1.kind.name().to_owned()).collect()),
            Arc::new(unique),
            Arc::new(Int64Array::from_iter_values(bytes)),
        ],
    )
    .map_err(|error| SqlError::internal(format!("a view is malformed: {error}")))
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
