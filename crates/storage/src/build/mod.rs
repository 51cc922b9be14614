//! Builds tables, column by column, in parallel over chunks of rows.

use arrow_array::RecordBatch;
use memory::Allocator;
use stdx::sync::Mutex;
use types::{SqlError, SqlResult};

use crate::{ColumnSchema, NoProgress, Parallel, Progress, Serial, Table};

/// What a build needs from the layers above and below.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// Workers.
    pub parallel: &'a dyn Parallel,
    /// Placed memory; its machine tells the topology.
    pub allocator: &'a Allocator,
    /// Hears how far the build is.
    pub progress: &'a dyn Progress,
    /// Asked often; `true` ends the build with 57014.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> BuildContext<'a> {
    /// A build on the calling thread that nobody watches or stops.
    pub fn serial(allocator: &'a Allocator) -> Self {
        Self { parallel: &Serial, allocator, progress: &NoProgress, cancelled: &|| false }
    }
}

/// Collects batches from any number of producers and builds a table of them.
pub struct TableBuilder {
    name: String,
    schema: Vec<ColumnSchema>,
    chunks: Mutex<Vec<(u64, RecordBatch)>>,
}

impl TableBuilder {
    /// A builder of a table with these columns.
    pub fn new(name: impl Into<String>, schema: Vec<ColumnSchema>) -> Self {
        Self { name: name.into(), schema, chunks: Mutex::new(Vec::new()) }
    }

    /// Adds rows; those of lower `order` come first in the table, those of equal order as they were pushed.
    pub fn push(&self, order: u64, batch: RecordBatch) -> SqlResult<()> {
        self.chunks.lock().push((order, batch));
        Ok(())
    }

    /// Builds the table. Columns of the batches go by place.
    pub fn finish(self, context: &BuildContext<'_>) -> SqlResult<Table> {
        let mut chunks = self.chunks.into_inner();
        chunks.sort_by_key(|it| it.0);
        let rows = BatchRows::new(chunks.into_iter().map(|it| it.1).collect());
        build_table(&self.name, &self.schema, &rows, context)
    }
}

pub(crate) struct BatchRows(Vec<RecordBatch>);
impl BatchRows {
    pub(crate) fn new(batches: Vec<RecordBatch>) -> Self {
        Self(batches)
    }
}
pub(crate) trait RowSource: Sync {}
impl RowSource for BatchRows {}
pub(crate) struct TableRows<'a>(&'a Table);
impl<'a> TableRows<'a> {
    pub(crate) fn new(table: &'a Table) -> Self {
        Self(table)
    }
}
impl RowSource for TableRows<'_> {}
pub(crate) struct Chained<'a>(Vec<&'a dyn RowSource>);
impl<'a> Chained<'a> {
    pub(crate) fn new(parts: Vec<&'a dyn RowSource>) -> Self {
        Self(parts)
    }
}
impl RowSource for Chained<'_> {}

pub(crate) fn build_table(
    _: &str,
    _: &[ColumnSchema],
    _: &dyn RowSource,
    _: &BuildContext<'_>,
) -> SqlResult<Table> {
    Err(SqlError::unsupported("building comes with the next change"))
}
