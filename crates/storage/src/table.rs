//! A table: columns of equal length.

use arrow_array::RecordBatch;
use stdx::sync::Arc;
use types::{ColumnId, SqlResult, TableId, TableInfo};

use crate::build::{BatchRows, Chained, TableRows, build_table};
use crate::{BuildContext, Column, ColumnSchema, Rules};

/// An immutable table; an append makes a new one.
#[derive(Debug)]
pub struct Table {
    /// Its id, given by the catalog.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<Arc<Column>>,
    pub(crate) rows: u64,
    /// Its keys and indexes.
    pub(crate) rules: Arc<Rules>,
}

impl Table {
    /// A table without rows.
    pub fn empty(
        name: &str,
        schema: &[ColumnSchema],
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        build_table(name, schema, &BatchRows::new(Vec::new()), context)
    }

    /// Its rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// A column by id.
    pub fn column(&self, id: ColumnId) -> &Arc<Column> {
        &self.columns[id.index()]
    }

    /// The names and types of its columns.
    pub fn schema(&self) -> Vec<ColumnSchema> {
        self.columns.iter().map(|it| it.schema()).collect()
    }

    /// The table as the planner sees it.
    pub fn info(&self) -> TableInfo {
        TableInfo {
            id: self.id,
            name: self.name.clone(),
            columns: self.column_infos(),
            rows: self.rows,
        }
    }

    /// Bytes of all its columns.
    pub fn memory_bytes(&self) -> u64 {
        self.columns.iter().map(|it| it.memory_bytes()).sum()
    }

    /// This table with more rows, under the same id. Columns of the batches go by place. The limit of a main without a
    /// delta: all columns are decoded and encoded anew, so the cost is that of the whole table.
    pub fn append(&self, batches: &[RecordBatch], context: &BuildContext<'_>) -> SqlResult<Self> {
        let old = TableRows::new(self);
        let new = BatchRows::new(batches.to_vec());
        let rows = Chained::new(vec![&old, &new]);
        let table = build_table(&self.name, &self.schema(), &rows, context)?;
        Self { id: self.id, ..table }.with_rules(self.rules.clone(), context)
    }
}
