//! Files of JSON in the place of a table.

use std::path::PathBuf;

use files::{JsonFormat, JsonFound, JsonReader, OnError, TextColumn, sniff_json};
use storage::{ColumnBounds, ColumnSchema, RowReader, RowStream};
use types::{ColumnId, DataType, SqlError, SqlResult, SqlState};

use super::extra::{ExtraColumn, extra_columns};
use super::json_options::JsonOptions;
use super::parts_rows::{Advice, PartsRows, Where, rows_of};

/// Files of JSON that are one table.
#[derive(Debug)]
pub(crate) struct JsonFiles {
    paths: Vec<PathBuf>,
    options: JsonOptions,
    found: JsonFound,
    extra: Vec<ExtraColumn>,
    workers: usize,
}

impl JsonFiles {
    /// Looks at files, which so many workers will read.
    pub(crate) fn open(
        paths: Vec<PathBuf>,
        options: JsonOptions,
        workers: usize,
    ) -> SqlResult<Self> {
        let found = sniff_json(&paths, &options.known)?;
        let own: Vec<String> = found.columns.iter().map(|it| it.0.clone()).collect();
        let extra = extra_columns(&paths, &own, options.filename.as_deref(), options.hive);
        Ok(Self { paths, options, found, extra, workers })
    }

    /// All columns.
    pub(crate) fn schema(&self) -> Vec<ColumnSchema> {
        let column = |(name, of): &(String, _)| ColumnSchema::new(name.clone(), *of, true);
        let extra = self.extra.iter().map(ExtraColumn::schema);
        self.found.columns.iter().map(column).chain(extra).collect()
    }

    fn format(&self) -> JsonFormat {
        let known = &self.options.known;
        JsonFormat {
            layouts: self.found.layouts.clone(),
            is_records: self.found.is_records,
            is_closed: known.columns.is_none(),
            compression: known.compression,
            on_error: OnError::Stop,
            is_lenient: known.is_lenient,
            zone: self.options.zone.clone(),
        }
    }

    /// What can be done about a value that does not fit what was found.
    fn advice(&self) -> Advice {
        let are_told = self.options.known.columns.is_some();
        Box::new(move |error: SqlError| {
            let is_key = error.message.starts_with("unknown key");
            let is_malformed = error.state == SqlState::BAD_FILE_FORMAT && !is_key;
            if are_told || is_malformed || !error.state.is_data_exception() && !is_key {
                return error;
            }
            error.with_hint(
                "columns and types were found in the first values: read_json('..', sample_size = -1) looks at all, columns = {..} \
                 says them, union_by_name = true looks into all files, ignore_errors = true makes what does not fit NULL",
            )
        })
    }
}

impl RowStream for JsonFiles {
    fn expected_rows(&self) -> u64 {
        // Each value has its name beside it.
        rows_of(&self.paths, 3 * self.found.columns.len())
    }

    fn begin(&self, columns: &[ColumnId], _: &[ColumnBounds]) -> SqlResult<Box<dyn RowReader>> {
        let wanted = |place: usize| columns.iter().any(|it| it.index() == place);
        let column = |(place, (name, of)): (usize, &(String, DataType))| TextColumn {
            wanted: wanted(place),
            ..TextColumn::new(name.clone(), *of)
        };
        let all: Vec<TextColumn> = self.found.columns.iter().enumerate().map(column).collect();
        let before = |it: usize| all[..it].iter().filter(|it| it.wanted).count();
        let places = Where::of(columns, all.len(), before);
        let mut rows = PartsRows::new(columns, &self.schema(), self.advice());
        let reader = JsonReader::new(&self.paths, all, self.format(), self.workers);
        rows.add(Box::new(reader), places, &self.extra, 0)?;
        Ok(Box::new(rows))
    }
}
