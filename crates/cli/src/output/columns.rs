//! The columns of a batch as texts.

use arrow_array::RecordBatch;
use nodewise::text::Cells;

/// The cells of each column.
pub(super) fn columns(batch: &RecordBatch) -> Vec<Cells<'_>> {
    batch.columns().iter().map(Cells::new).collect()
}
