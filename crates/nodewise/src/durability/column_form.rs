//! A change of a column, as the log keeps it.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_select::concat::concat;
use serde::{Deserialize, Serialize};
use storage::{ColumnChange, ColumnSchema};
use types::{ColumnId, DataType, SqlResult};

use super::definition::malformed;

/// A [`ColumnChange`].
#[derive(Serialize, Deserialize)]
pub(crate) enum ColumnForm {
    Add { name: String, data_type: DataType, nullable: bool },
    Retype { column: u16, data_type: DataType },
    Drop { column: u16 },
    Rename { column: u16, name: String },
    Nullable { column: u16, nullable: bool },
    Relabel { column: u16, data_type: DataType },
}

impl ColumnForm {
    pub(crate) fn of(change: &ColumnChange) -> Self {
        match change {
            ColumnChange::Add(ColumnSchema { name, data_type, nullable }) => {
                Self::Add { name: name.clone(), data_type: *data_type, nullable: *nullable }
            }
            ColumnChange::Retype(id, data_type) => {
                Self::Retype { column: id.0, data_type: *data_type }
            }
            ColumnChange::Relabel(id, data_type) => {
                Self::Relabel { column: id.0, data_type: *data_type }
            }
            ColumnChange::Drop(id) => Self::Drop { column: id.0 },
            ColumnChange::Rename(id, name) => Self::Rename { column: id.0, name: name.clone() },
            ColumnChange::Nullable(id, nullable) => {
                Self::Nullable { column: id.0, nullable: *nullable }
            }
        }
    }

    pub(super) fn read(self) -> ColumnChange {
        match self {
            Self::Add { name, data_type, nullable } => {
                ColumnChange::Add(ColumnSchema { name, data_type, nullable })
            }
            Self::Retype { column, data_type } => ColumnChange::Retype(ColumnId(column), data_type),
            Self::Relabel { column, data_type } => {
                ColumnChange::Relabel(ColumnId(column), data_type)
            }
            Self::Drop { column } => ColumnChange::Drop(ColumnId(column)),
            Self::Rename { column, name } => ColumnChange::Rename(ColumnId(column), name),
            Self::Nullable { column, nullable } => {
                ColumnChange::Nullable(ColumnId(column), nullable)
            }
        }
    }
}

/// The values of a column, in one array; nothing where there are none.
pub(crate) fn values_of(rows: &[RecordBatch]) -> SqlResult<Option<ArrayRef>> {
    let arrays: Vec<_> =
        rows.iter().filter_map(|it| Some(it.columns().first()?.as_ref())).collect();
    if arrays.is_empty() {
        return Ok(None);
    }
    concat(&arrays).map(Some).map_err(malformed)
}
