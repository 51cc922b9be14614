//! Files of Arrow in the place of a table.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use binder::FileOption;
use files::ArrowFile;
use storage::{BuildContext, ColumnSchema, Table};
use types::{SqlError, SqlResult, SqlState, UnreadColumn};

use super::extra::{ExtraColumn, divided, extra_columns, extra_options, with_extra};
use super::tables::{text_table, unread};

/// Files of Arrow that are one table.
pub(crate) struct ArrowFiles {
    paths: Vec<PathBuf>,
    files: Vec<ArrowFile>,
    extra: Vec<ExtraColumn>,
}

impl ArrowFiles {
    /// Opens files; the columns are those of the first.
    pub(crate) fn open(paths: Vec<PathBuf>, options: &[(String, FileOption)]) -> SqlResult<Self> {
        let (name, hive) = extra_options("read_arrow", options)?;
        let files = paths.iter().map(|it| ArrowFile::open(it)).collect::<SqlResult<Vec<_>>>()?;
        let own = files[0].schema().fields().iter().map(|it| it.name().clone());
        let extra = extra_columns(&paths, &own.collect::<Vec<_>>(), name.as_deref(), hive);
        Ok(Self { paths, files, extra })
    }

    /// All columns. Errors: 0A000 for one that cannot be stored.
    pub(crate) fn schema(&self) -> SqlResult<Vec<ColumnSchema>> {
        let count = self.files[0].schema().fields().len();
        let mut schema = (0..count).map(|it| self.column(0, it)).collect::<SqlResult<Vec<_>>>()?;
        schema.extend(self.extra.iter().map(ExtraColumn::schema));
        Ok(schema)
    }

    /// A column of a file as it would be loaded.
    fn column(&self, file: usize, column: usize) -> SqlResult<ColumnSchema> {
        let field = self.files[file].schema().field(column);
        let source = self.paths[file].display().to_string();
        let data_type = storage::schema::sql_type(field, &source)?;
        Ok(ColumnSchema::new(field.name(), data_type, true))
    }

    /// A table of those columns that are wanted; and the others, which cannot be used.
    pub(crate) fn load(
        &self,
        name: &str,
        wanted: &dyn Fn(&str) -> bool,
        context: &BuildContext<'_>,
    ) -> SqlResult<(Table, Vec<UnreadColumn>)> {
        let (mut schema, mut columns, mut unread_columns) = (Vec::new(), Vec::new(), Vec::new());
        for (place, field) in self.files[0].schema().fields().iter().enumerate() {
            if !wanted(field.name()) {
                unread_columns.push(unread(field.name()));
                continue;
            }
            match self.column(0, place) {
                Ok(it) => {
                    schema.push(it);
                    columns.push(place);
                }
                Err(error) => {
                    unread_columns.push(UnreadColumn { name: field.name().clone(), error });
                }
            }
        }
        let mut batches = Vec::new();
        let (extra, not_read) = divided(&self.extra, wanted);
        unread_columns.extend(not_read);
        for file in 0..self.files.len() {
            let places = if file == 0 { columns.clone() } else { self.found(file, &schema)? };
            for batch in self.rows(file, &places, context)? {
                batches.push(with_extra(batch, file, &extra)?);
            }
        }
        schema.extend(extra.iter().map(|it| it.schema()));
        Ok((text_table(name, schema, batches, context)?, unread_columns))
    }

    /// The rows of a file with some of its columns, or none.
    fn rows(
        &self,
        file: usize,
        places: &[usize],
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<RecordBatch>> {
        let rows = match places {
            // How many rows there are is told by a column that is looked at.
            [] => {
                let count = self.files[file].schema().fields().len();
                let any = (0..count).find(|it| self.column(file, *it).is_ok());
                let any = any.ok_or_else(|| {
                    let path = self.paths[file].display();
                    SqlError::unsupported(format!("file {path} has no column that is stored"))
                })?;
                self.files[file].read(&[any], context)?
            }
            _ => self.files[file].read(places, context)?,
        };
        let kept: Vec<usize> = (0..places.len()).collect();
        let malformed =
            |error| SqlError::internal(format!("rows of a file are malformed: {error}"));
        rows.iter().map(|it| it.project(&kept).map_err(malformed)).collect()
    }

    /// Where a file has the columns of the first one.
    fn found(&self, file: usize, schema: &[ColumnSchema]) -> SqlResult<Vec<usize>> {
        let fields = self.files[file].schema().fields();
        let path = self.paths[file].display();
        let place = |wanted: &ColumnSchema| {
            let name = &wanted.name;
            let exact = fields.iter().position(|it| it.name() == name);
            let found = exact.or_else(|| {
                fields.iter().position(|it| it.name().to_lowercase() == name.to_lowercase())
            });
            let missing = || {
                let message = format!("file {path} has no column \"{name}\"");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            };
            let place = found.ok_or_else(missing)?;
            let other = self.column(file, place)?.data_type;
            if other != wanted.data_type {
                let first = self.paths[0].display();
                let message = format!(
                    "column \"{name}\" is of type {} in file {first} and of type {other} in file {path}",
                    wanted.data_type
                );
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            }
            Ok(place)
        };
        schema.iter().map(place).collect()
    }
}
