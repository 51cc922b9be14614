//! What a query reads in the place of a table: its columns, and what makes its rows.

use std::path::PathBuf;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use binder::FileReference;
use stdx::sync::Arc;
use storage::{
    BuildContext, Check, ColumnBounds, ColumnSchema, Give, HeldColumn, RowBlock, RowReader,
    RowStream, Table, load_stream,
};
use types::{ColumnId, SqlError, SqlResult, UnreadColumn, Zone};

use super::arrow_files::ArrowFiles;
use super::csv_options::CsvOptions;
use super::json_files::JsonFiles;
use super::json_options::JsonOptions;
use super::kind::{FileKind, known};
use super::parquet_files;
use super::tables::batch;
use super::text_files::TextFiles;
use super::watched::Watched;
use crate::Progress;

/// What a query reads in the place of a table.
pub(crate) struct Opened {
    /// Its columns.
    pub(crate) schema: Vec<ColumnSchema>,
    /// Columns that cannot be stored, with the reason.
    pub(crate) unread: Vec<UnreadColumn>,
    /// What makes its rows.
    pub(crate) stream: Arc<dyn RowStream>,
}

impl Opened {
    /// Opens what the name of a table in single quotes means; so many workers will read it.
    pub(crate) fn open(name: &str, zone: &Zone, workers: usize) -> SqlResult<Self> {
        let reference = FileReference::parse(name)?;
        let csv = |paths, options: CsvOptions| {
            let options = CsvOptions { zone: zone.clone(), ..options };
            TextFiles::open(paths, options, workers)
        };
        let text = |paths, options| {
            let files = csv(paths, options)?;
            Ok(Self::of(files.schema(), Vec::new(), files))
        };
        let json = |paths, options| {
            let files = JsonFiles::open(paths, options, workers)?;
            Ok(Self::of(files.schema(), Vec::new(), files))
        };
        let arrow = |paths, options| {
            let (files, unread) = ArrowFiles::open(paths, options)?;
            Ok(Self::of(files.schema(), unread, files))
        };
        let parquet = |paths, options| {
            let (files, unread) = parquet_files::open(paths, options)?;
            Ok(Self::of(files.schema().to_vec(), unread, files))
        };
        match reference.function.as_deref() {
            None => {
                let paths = files::expand(name)?;
                match known(&paths[0])? {
                    FileKind::Csv => text(paths, CsvOptions::default()),
                    FileKind::Json => json(paths, JsonOptions::new(zone.clone())),
                    FileKind::Arrow => arrow(paths, &[]),
                    FileKind::Parquet => parquet(paths, &[]),
                }
            }
            Some("read_csv" | "read_csv_auto") => {
                text(expanded(&reference)?, CsvOptions::of(&reference)?)
            }
            Some("read_parquet" | "parquet_scan") => {
                parquet(expanded(&reference)?, &reference.options)
            }
            Some(function) if function.contains("json") => {
                json(expanded(&reference)?, JsonOptions::of(function, &reference, zone.clone())?)
            }
            Some("read_arrow") => arrow(expanded(&reference)?, &reference.options),
            Some("glob") => Self::rows(listed(&reference)?),
            Some("sniff_csv") => {
                let files = csv(expanded(&reference)?, CsvOptions::of(&reference)?)?;
                Self::rows(files.described(&reference.options)?)
            }
            Some(function) => {
                Err(SqlError::unsupported(format!("{function} in FROM is not supported")))
            }
        }
    }

    fn of(
        schema: Vec<ColumnSchema>,
        unread: Vec<UnreadColumn>,
        stream: impl RowStream + 'static,
    ) -> Self {
        Self { schema, unread, stream: Arc::new(stream) }
    }

    /// Rows that are there at once.
    fn rows(batch: RecordBatch) -> SqlResult<Self> {
        let schema = batch.schema();
        let column = |it: &Arc<arrow_schema::Field>| {
            let data_type = storage::schema::sql_type(it, "a list of files")?;
            Ok(ColumnSchema::new(it.name(), data_type, true))
        };
        let schema = schema.fields().iter().map(column).collect::<SqlResult<Vec<_>>>()?;
        Ok(Self::of(schema.clone(), Vec::new(), BatchRows { schema, batch }))
    }

    /// A table that lives as long as a statement, whose rows are made when it is scanned, which a listener hears of.
    pub(crate) fn streamed(
        &self,
        name: &str,
        listener: &Arc<dyn Progress>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Table> {
        let (stream, listener) = (self.stream.clone(), listener.clone());
        let watched = Watched { name: name.to_owned(), stream, listener };
        Table::streamed(name, &self.schema, Arc::new(watched), context)
    }

    /// A table of the rows, with those columns that are wanted; and the others, which cannot be used.
    pub(crate) fn load(
        &self,
        name: &str,
        wanted: &dyn Fn(&str) -> bool,
        context: &BuildContext<'_>,
    ) -> SqlResult<(Table, Vec<UnreadColumn>)> {
        let places = self.schema.iter().enumerate();
        let (taken, others): (Vec<_>, Vec<_>) = places.partition(|it| wanted(&it.1.name));
        let ids: Vec<ColumnId> = taken.iter().map(|it| ColumnId(it.0 as u16)).collect();
        let schema: Vec<ColumnSchema> = taken.into_iter().map(|it| it.1.clone()).collect();
        let table = load_stream(&*self.stream, name, (&ids, &schema), context)?;
        let mut unread = self.unread.clone();
        unread.extend(others.into_iter().map(|(_, it)| not_read(&it.name)));
        Ok((table, unread))
    }
}

/// The answer of a column that is not read.
fn not_read(name: &str) -> UnreadColumn {
    let error = SqlError::internal(format!("column {name:?} of a file was not read"));
    UnreadColumn { name: name.to_owned(), error }
}

/// All files that a call names.
fn expanded(reference: &FileReference) -> SqlResult<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for path in &reference.paths {
        paths.extend(files::expand(path)?);
    }
    Ok(paths)
}

/// The answer of `glob`.
fn listed(reference: &FileReference) -> SqlResult<RecordBatch> {
    let mut names = Vec::new();
    for pattern in &reference.paths {
        names.extend(files::matching(pattern)?.iter().map(|it| it.display().to_string()));
    }
    batch(vec![("file", Arc::new(StringArray::from(names)) as ArrayRef)])
}

/// Rows that are there at once.
#[derive(Debug)]
struct BatchRows {
    schema: Vec<ColumnSchema>,
    batch: RecordBatch,
}

impl RowStream for BatchRows {
    fn expected_rows(&self) -> u64 {
        self.batch.num_rows() as u64
    }

    fn begin(&self, columns: &[ColumnId], _: &[ColumnBounds]) -> SqlResult<Box<dyn RowReader>> {
        let column = |it: &ColumnId| {
            (self.schema[it.index()].clone(), self.batch.column(it.index()).clone())
        };
        let columns = columns.iter().map(column).collect();
        Ok(Box::new(OneBatch { rows: self.batch.num_rows(), columns }))
    }
}

struct OneBatch {
    rows: usize,
    columns: Vec<(ColumnSchema, ArrayRef)>,
}

impl RowReader for OneBatch {
    fn steps(&self) -> u64 {
        1
    }

    fn step(&self, _: u64, _: Check<'_>, give: Give<'_>) -> SqlResult<()> {
        give(0, Ok(self))
    }
}

impl RowBlock for OneBatch {
    fn rows(&self) -> usize {
        self.rows
    }

    fn column(&self, place: usize, _: Check<'_>) -> SqlResult<Vec<HeldColumn>> {
        let (schema, array) = &self.columns[place];
        Ok(vec![HeldColumn::of(array, schema)?])
    }
}
