//! Tables of rows of files.

use arrow_array::{ArrayRef, RecordBatch};
use storage::{BuildContext, ColumnSchema, NoProgress, Table, TableBuilder};
use types::{SqlError, SqlResult};

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

/// Columns of equal length.
pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> SqlResult<RecordBatch> {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|it| (it.0, it.1, true)))
        .map_err(|error| SqlError::internal(format!("rows are malformed: {error}")))
}
