//! From the rows of a finished query to Arrow.

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use execution::Rows;
use plan::OutputColumn;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

/// The schema of a result.
pub fn schema_of(output: &[OutputColumn]) -> SchemaRef {
    let field = |it: &OutputColumn| Field::new(&it.name, storage::arrow_type(it.data_type), true);
    Arc::new(Schema::new(output.iter().map(field).collect::<Vec<_>>()))
}

/// The rows as Arrow batches.
pub fn to_record_batches(rows: &Rows, schema: &SchemaRef) -> SqlResult<Vec<RecordBatch>> {
    let convert = |batch: &execution::Batch| {
        let columns: Vec<ArrayRef> = (batch.columns.iter().zip(&rows.layout))
            .map(|(vector, shape)| execution::arrow::to_arrow(vector, shape))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
        RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(|error| {
            SqlError::internal(format!("a result does not fit its schema: {error}"))
        })
    };
    rows.batches.iter().filter(|it| it.rows > 0).map(convert).collect()
}
