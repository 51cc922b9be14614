//! The keys that a change of rows brought or took, as a table that questions of foreign keys are asked of.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use stdx::sync::Arc;
use storage::ColumnSchema;
use types::SqlResult;

use crate::changed_rows::malformed;

/// The table of the keys that changed: `o0`, `o1`, .. before and `n0`, `n1`, .. after.
pub(crate) const KEYS: &str = "nodewise.changed_keys";

/// Rows of [`KEYS`].
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) schema: Vec<ColumnSchema>,
    pub(crate) rows: RecordBatch,
}

/// Columns of [`KEYS`] with their values.
pub(crate) type KeyColumns = Vec<(ColumnSchema, ArrayRef)>;

impl Keys {
    /// Rows of columns of the same length.
    pub(crate) fn of(columns: KeyColumns) -> SqlResult<Self> {
        let field = |(column, array): &(ColumnSchema, ArrayRef)| {
            Field::new(&column.name, array.data_type().clone(), true)
        };
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let (schema, arrays) = columns.into_iter().unzip();
        let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        Ok(Self { schema, rows: rows.map_err(|error| malformed(&error))? })
    }
}
