//! A query that has run up to its first row.

use arrow_schema::SchemaRef;
use execution::RowStream;
use plan::ColumnOrigin;
use stdx::Nanos;
use types::DataType;

/// A query that runs up to its first row.
pub(crate) struct BegunRows {
    pub(crate) stream: RowStream,
    pub(crate) schema: SchemaRef,
    pub(crate) types: Vec<DataType>,
    pub(crate) origins: Vec<Option<ColumnOrigin>>,
    /// Whether it works on tables, and so needs a place among those that do.
    pub(crate) needs_place: bool,
    pub(crate) started: Nanos,
    pub(crate) planning: Nanos,
}
