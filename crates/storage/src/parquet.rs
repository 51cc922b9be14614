//! Parquet files into tables.

use std::path::Path;

use types::{SqlError, SqlResult};

use crate::{BuildContext, ColumnSchema, Table};

/// The columns of a file as they would be loaded, and its rows.
pub fn parquet_schema(path: &Path) -> SqlResult<(Vec<ColumnSchema>, u64)> {
    Err(SqlError::unsupported(format!("reading {} comes with the next change", path.display())))
}

/// Loads a file as a new table: with the file's columns, or with the declared ones, found by name.
pub fn load_parquet(
    path: &Path,
    name: &str,
    declared: Option<&[ColumnSchema]>,
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let _ = (name, declared, context);
    parquet_schema(path).and(Err(SqlError::internal("")))
}

/// A table with the rows of a file behind its own.
pub fn append_parquet(table: &Table, path: &Path, context: &BuildContext<'_>) -> SqlResult<Table> {
    load_parquet(path, &table.name, Some(&table.schema()), context)
}
