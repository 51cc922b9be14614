//! Parquet files in the place of a table.

use std::path::PathBuf;

use binder::FileOption;
use files::constant;
use storage::{FileColumn, ParquetFiles};
use types::{SqlResult, UnreadColumn};

use super::extra::{ExtraColumn, extra_columns, extra_options};

/// Opens files; the columns are those of the first. Those that cannot be stored come back beside.
pub(super) fn open(
    paths: Vec<PathBuf>,
    options: &[(String, FileOption)],
) -> SqlResult<(ParquetFiles, Vec<UnreadColumn>)> {
    let (name, hive) = extra_options("read_parquet", options)?;
    let names = storage::parquet_names(&paths[0])?;
    let extra = extra_columns(&paths, &names, name.as_deref(), hive);
    let column = |it: &ExtraColumn| {
        let value = |text: &Option<String>| constant(text.as_deref(), it.data_type, 1);
        let values = it.values.iter().map(value).collect::<SqlResult<_>>()?;
        Ok(FileColumn { schema: it.schema(), values })
    };
    let constants = extra.iter().map(column).collect::<SqlResult<Vec<_>>>()?;
    ParquetFiles::open(&paths, constants)
}
