//! Files of Arrow in the place of a table.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use binder::FileOption;
use files::{ArrowFile, GivePart, Part, Parts};
use stdx::sync::Arc;
use storage::{Check, ColumnBounds, ColumnSchema, RowReader, RowStream};
use types::{ColumnId, SqlError, SqlResult, SqlState, UnreadColumn};

use super::extra::{ExtraColumn, extra_columns, extra_options};
use super::parts_rows::{PartsRows, Where};

/// Files of Arrow that are one table.
#[derive(Debug)]
pub(super) struct ArrowFiles {
    paths: Vec<PathBuf>,
    files: Vec<Arc<ArrowFile>>,
    /// The columns of the first file that can be stored, each with its place in it.
    columns: Vec<(usize, ColumnSchema)>,
    extra: Vec<ExtraColumn>,
}

impl ArrowFiles {
    /// Opens files; the columns are those of the first. Those that cannot be stored come back beside.
    pub(super) fn open(
        paths: Vec<PathBuf>,
        options: &[(String, FileOption)],
    ) -> SqlResult<(Self, Vec<UnreadColumn>)> {
        let (name, hive) = extra_options("read_arrow", options)?;
        let open = |it: &PathBuf| ArrowFile::open(it).map(Arc::new);
        let files = paths.iter().map(open).collect::<SqlResult<Vec<_>>>()?;
        let own: Vec<String> =
            files[0].schema().fields().iter().map(|it| it.name().clone()).collect();
        let extra = extra_columns(&paths, &own, name.as_deref(), hive);
        let mut this = Self { paths, files, columns: Vec::new(), extra };
        let mut unread = Vec::new();
        for (place, name) in own.into_iter().enumerate() {
            match this.column(0, place) {
                Ok(it) => this.columns.push((place, it)),
                Err(error) => unread.push(UnreadColumn { name, error }),
            }
        }
        Ok((this, unread))
    }

    /// All columns.
    pub(super) fn schema(&self) -> Vec<ColumnSchema> {
        let own = self.columns.iter().map(|it| it.1.clone());
        own.chain(self.extra.iter().map(ExtraColumn::schema)).collect()
    }

    /// A column of a file as it would be loaded.
    fn column(&self, file: usize, column: usize) -> SqlResult<ColumnSchema> {
        let field = self.files[file].schema().field(column);
        let source = self.paths[file].display().to_string();
        let data_type = storage::schema::sql_type(field, &source)?;
        Ok(ColumnSchema::new(field.name(), data_type, true))
    }

    /// Where a file has a column of the first one.
    fn found(&self, file: usize, (own, wanted): &(usize, ColumnSchema)) -> SqlResult<usize> {
        if file == 0 {
            return Ok(*own);
        }
        let fields = self.files[file].schema().fields();
        let path = self.paths[file].display();
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
    }

    /// What is read of a file for some of its columns: how many rows there are is told by a column that is looked at.
    fn looked_at(&self, file: usize, places: Vec<usize>) -> SqlResult<Vec<usize>> {
        if !places.is_empty() {
            return Ok(places);
        }
        let count = self.files[file].schema().fields().len();
        let any = (0..count).find(|it| self.column(file, *it).is_ok());
        any.map(|it| vec![it]).ok_or_else(|| {
            let path = self.paths[file].display();
            SqlError::unsupported(format!("file {path} has no column that is stored"))
        })
    }
}

impl RowStream for ArrowFiles {
    fn expected_rows(&self) -> u64 {
        // Batches of writers have some thousand rows.
        self.files.iter().map(|it| it.batches() as u64).sum::<u64>() * (16 << 10)
    }

    fn begin(&self, columns: &[ColumnId], _: &[ColumnBounds]) -> SqlResult<Box<dyn RowReader>> {
        let own: Vec<&(usize, ColumnSchema)> =
            columns.iter().filter_map(|it| self.columns.get(it.index())).collect();
        let mut rows = PartsRows::new(columns, &self.schema(), Box::new(|it| it));
        for (number, file) in self.files.iter().enumerate() {
            let places = own.iter().map(|it| self.found(number, it)).collect::<SqlResult<_>>()?;
            // A decoder that is told some columns gives them in the order of the file.
            let mut read: Vec<usize> = self.looked_at(number, places)?;
            let asked = read.clone();
            read.sort_unstable();
            read.dedup();
            let mut next = asked.iter();
            let places =
                Where::of(columns, self.columns.len(), |_| 0).into_iter().map(|it| match it {
                    Where::Batch(_) => {
                        let place = next.next().copied().unwrap_or_default();
                        Where::Batch(read.iter().position(|it| *it == place).unwrap_or_default())
                    }
                    other => other,
                });
            let places = places.collect();
            let parts = Batches { file: file.clone(), columns: read };
            rows.add(Box::new(parts), places, &self.extra, number)?;
        }
        Ok(Box::new(rows))
    }
}

/// The batches of a file, with some of its columns.
struct Batches {
    file: Arc<ArrowFile>,
    columns: Vec<usize>,
}

impl Parts for Batches {
    fn steps(&self) -> u64 {
        self.file.batches() as u64
    }

    fn step(&self, step: u64, check: Check<'_>, give: GivePart<'_>) -> SqlResult<()> {
        check()?;
        let batch: SqlResult<RecordBatch> = self.file.read(step as usize, &self.columns);
        give(step, batch.map(|it| Part::of(0, it)))
    }

    fn progress(&self) -> (u64, u64) {
        (0, 1)
    }
}
