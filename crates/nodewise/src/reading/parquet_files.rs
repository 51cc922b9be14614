//! Parquet files in the place of a table.

use std::path::PathBuf;

use binder::FileOption;
use files::constant;
use storage::{BuildContext, ColumnSchema, FileColumn, Table, WantedRows};
use types::{SqlResult, UnreadColumn};

use super::extra::{ExtraColumn, extra_columns, extra_options};

/// Parquet files that are one table.
pub(crate) struct ParquetFiles {
    paths: Vec<PathBuf>,
    extra: Vec<ExtraColumn>,
}

impl ParquetFiles {
    /// Opens files; the columns are those of the first.
    pub(crate) fn open(paths: Vec<PathBuf>, options: &[(String, FileOption)]) -> SqlResult<Self> {
        let (name, hive) = extra_options("read_parquet", options)?;
        let names = storage::parquet_names(&paths[0])?;
        let extra = extra_columns(&paths, &names, name.as_deref(), hive);
        Ok(Self { paths, extra })
    }

    /// All columns. Errors: 0A000 for one that cannot be stored.
    pub(crate) fn schema(&self) -> SqlResult<Vec<ColumnSchema>> {
        let mut schema = storage::parquet_schema(&self.paths[0])?.0;
        schema.extend(self.extra.iter().map(ExtraColumn::schema));
        Ok(schema)
    }

    /// Whether some of the rows can be left out without a look at them.
    pub(crate) fn has_groups(&self) -> SqlResult<bool> {
        Ok(self.paths.len() > 1 || storage::parquet_groups(&self.paths[0])? > 1)
    }

    /// A table of those columns and rows that are wanted, perhaps of others; and the other columns, which cannot be used.
    pub(crate) fn load(
        &self,
        name: &str,
        wanted: (&dyn Fn(&str) -> bool, &WantedRows),
        context: &BuildContext<'_>,
    ) -> SqlResult<(Table, Vec<UnreadColumn>)> {
        let column = |it: &ExtraColumn| {
            let value = |text: &Option<String>| constant(text.as_deref(), it.data_type, 1);
            let values = it.values.iter().map(value).collect::<SqlResult<_>>()?;
            Ok(FileColumn { schema: it.schema(), values })
        };
        let constants = self.extra.iter().map(column).collect::<SqlResult<Vec<_>>>()?;
        storage::load_parquet_columns(&self.paths, name, wanted, &constants, context)
    }
}
