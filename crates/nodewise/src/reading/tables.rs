//! Tables of rows of files.

use arrow_array::RecordBatch;
use storage::{BuildContext, ColumnSchema, NoProgress, Table, TableBuilder};
use types::{SqlError, SqlResult, UnreadColumn};

/// The answer of a column that is not read.
pub(super) fn unread(name: &str) -> UnreadColumn {
    let error = SqlError::internal(format!("column {name:?} of a file was not read"));
    UnreadColumn { name: name.to_owned(), error }
}

/// A table of rows of files.
pub(crate) fn text_table(
    name: &str,
    schema: Vec<ColumnSchema>,
    batches: Vec<RecordBatch>,
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let builder = TableBuilder::new(name, schema);
    for (order, batch) in batches.into_iter().enumerate() {
        builder.push(order as u64, batch)?;
    }
    builder.finish(&BuildContext { progress: &NoProgress, ..*context })
}
