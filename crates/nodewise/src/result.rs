//! From the rows of a finished query to Arrow: the output's last step, by tasks near the rows (P-HANA 5.2).

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use execution::{Batch, Executed, map_batches};
use plan::OutputColumn;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

/// The schema of a result.
pub fn schema_of(output: &[OutputColumn]) -> SchemaRef {
    let field = |it: &OutputColumn| Field::new(&it.name, storage::arrow_type(it.data_type), true);
    Arc::new(Schema::new(output.iter().map(field).collect::<Vec<_>>()))
}

use crate::{CancelToken, Session};

impl Session {
    /// The rows of a finished query as Arrow batches.
    pub(crate) fn record_batches(
        &self,
        executed: &Executed,
        schema: &SchemaRef,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<RecordBatch>> {
        let team = self.team(cancel, executed.reports.len().saturating_sub(1));
        let convert = |batch: &Batch| to_record_batch(batch, executed, schema);
        let mut batches = map_batches(&executed.rows, &team, &convert)?;
        batches.retain(|it| it.num_rows() > 0);
        Ok(batches)
    }
}

fn to_record_batch(
    batch: &Batch,
    executed: &Executed,
    schema: &SchemaRef,
) -> SqlResult<RecordBatch> {
    let columns: Vec<ArrayRef> = (batch.columns.iter().zip(&executed.rows.layout))
        .map(|(vector, shape)| execution::arrow::to_arrow(vector, shape))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|error| SqlError::internal(format!("a result does not fit its schema: {error}")))
}
