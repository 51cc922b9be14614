//! Files of text in the place of a table.

use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use binder::FileOption;
use files::{Found, Header, TextColumn, TextFormat, TextReader, sniff};
use stdx::sync::Arc;
use storage::{ColumnBounds, ColumnSchema, RowReader, RowStream};
use types::{ColumnId, DataType, SqlError, SqlResult, SqlState};

use super::csv_options::{CsvOptions, shown};
use super::extra::{ExtraColumn, extra_columns};
use super::kind::is_tbl;
use super::parts_rows::{Advice, PartsRows, Where, rows_of};
use super::tables::batch;

/// Files of text that are one table.
#[derive(Debug)]
pub(crate) struct TextFiles {
    paths: Vec<PathBuf>,
    options: CsvOptions,
    found: Found,
    /// What each file is like, where each may have columns of its own; `found` has all of these.
    by_file: Vec<Found>,
    extra: Vec<ExtraColumn>,
    workers: usize,
}

impl TextFiles {
    /// Looks at files, which so many workers will read.
    pub(crate) fn open(
        paths: Vec<PathBuf>,
        mut options: CsvOptions,
        workers: usize,
    ) -> SqlResult<Self> {
        let first = &paths[0];
        by_name(first, &mut options);
        let mut found = sniff(first, &options.known)?;
        let mut by_file = Vec::new();
        if options.by_name && paths.len() > 1 {
            for path in &paths {
                by_file.push(sniff(path, &options.known)?);
            }
            found.columns = united(&by_file);
            found.guessed = vec![true; found.columns.len()];
        }
        if options.normalized {
            let mut names = Vec::new();
            for (name, _) in &mut found.columns {
                *name = normalized(name, &names);
                names.push(name.clone());
            }
        }
        let own: Vec<String> = found.columns.iter().map(|it| it.0.clone()).collect();
        let extra = extra_columns(&paths, &own, options.filename.as_deref(), options.hive);
        Ok(Self { paths, options, found, by_file, extra, workers })
    }

    /// All columns.
    pub(crate) fn schema(&self) -> Vec<ColumnSchema> {
        let column = |(name, of): &(String, _)| ColumnSchema::new(name.clone(), *of, true);
        let extra = self.extra.iter().map(ExtraColumn::schema);
        self.found.columns.iter().map(column).chain(extra).collect()
    }

    fn format(&self, found: &Found) -> TextFormat {
        let options = &self.options;
        let header = match &found.header {
            None => Header::Absent,
            // Where there are several files, their columns have to stand alike.
            Some(names) if self.paths.len() > 1 && self.by_file.is_empty() => {
                Header::Matched(names.clone())
            }
            Some(_) => Header::Skipped,
        };
        TextFormat {
            dialect: found.dialect,
            nulls: options.known.nulls.clone(),
            default: None,
            header,
            skip: options.known.skip,
            compression: options.known.compression,
            encoding: options.known.encoding,
            on_error: options.on_error,
            strict: false,
            trailing: found.trailing,
            padded: options.padded,
            zone: options.zone.clone(),
        }
    }

    fn column(&self, name: &str, data_type: DataType, wanted: bool) -> TextColumn {
        let force_not_null =
            self.options.force_not_null.iter().any(|it| it.eq_ignore_ascii_case(name));
        TextColumn { wanted, force_not_null, ..TextColumn::new(name, data_type) }
    }

    /// What can be done about a value that does not fit a type that was guessed.
    fn advice(&self) -> Advice {
        let names = self.found.columns.iter().zip(&self.found.guessed);
        let guessed: Vec<String> = names.filter(|it| *it.1).map(|it| it.0.0.clone()).collect();
        Box::new(move |error: SqlError| {
            let about = |name: &&String| error.message.contains(&format!(", column \"{name}\")"));
            let Some(name) = guessed.iter().find(about) else { return error };
            if !error.state.is_data_exception() || error.state == SqlState::BAD_FILE_FORMAT {
                return error;
            }
            let hint = format!(
                "the type was guessed from the first rows: read_csv('..', types = {{'{name}': 'TEXT'}}) says it, \
                 sample_size = -1 looks at all rows, ignore_errors = true leaves such rows out"
            );
            error.with_hint(hint)
        })
    }

    /// The answer of `sniff_csv`.
    pub(super) fn described(&self, options: &[(String, FileOption)]) -> SqlResult<RecordBatch> {
        let found = &self.found;
        let delimiter = char::from(found.dialect.delimiter).to_string().replace('\t', "\\t");
        let (quote, escape) = shown(found.dialect.quoting);
        let columns = found
            .columns
            .iter()
            .map(|(name, of)| format!("'{}': '{of}'", name.replace('\'', "''")));
        let columns = format!("{{{}}}", columns.collect::<Vec<_>>().join(", "));
        let path = self.paths[0].display().to_string().replace('\'', "''");
        let header = found.header.is_some();
        let skip = options.iter().find(|it| it.0 == "skip");
        let skip =
            skip.map(|_| format!(", skip = {}", self.options.known.skip)).unwrap_or_default();
        let prompt = format!(
            "FROM read_csv('{path}', delim = '{delimiter}', quote = '{}', escape = '{}', header = {header}{skip}, \
             columns = {columns})",
            quote.replace('\'', "''"),
            escape.replace('\'', "''"),
        );
        let text = |it: &str| Arc::new(StringArray::from(vec![it])) as ArrayRef;
        batch(vec![
            ("delimiter", text(&delimiter)),
            ("quote", text(&quote)),
            ("escape", text(&escape)),
            ("new_line", text(found.line_end)),
            ("has_header", Arc::new(BooleanArray::from(vec![header])) as ArrayRef),
            ("columns", text(&columns)),
            ("prompt", text(&prompt)),
        ])
    }
}

impl RowStream for TextFiles {
    fn expected_rows(&self) -> u64 {
        rows_of(&self.paths, self.found.columns.len())
    }

    fn begin(&self, columns: &[ColumnId], _: &[ColumnBounds]) -> SqlResult<Box<dyn RowReader>> {
        let schema = self.schema();
        let wanted = |place: usize| columns.iter().any(|it| it.index() == place);
        let all = self.found.columns.iter().enumerate();
        let all = all.map(|(place, (name, of))| self.column(name, *of, wanted(place)));
        let all: Vec<TextColumn> = all.collect();
        let mut rows = PartsRows::new(columns, &schema, self.advice());
        let count = self.found.columns.len();
        if self.by_file.is_empty() {
            let places =
                Where::of(columns, count, |it| all[..it].iter().filter(|it| it.wanted).count());
            let format = self.format(&self.found);
            let reader = TextReader::new(&self.paths, all, format, self.workers);
            rows.add(Box::new(reader), places, &self.extra, 0)?;
            return Ok(Box::new(rows));
        }
        for (file, found) in self.by_file.iter().enumerate() {
            let own = |(name, _): &(String, DataType)| {
                let known = all.iter().find(|it| it.name == *name).cloned();
                known.unwrap_or_else(|| self.column(name, DataType::Text, false))
            };
            let own: Vec<TextColumn> = found.columns.iter().map(own).collect();
            let read: Vec<&TextColumn> = own.iter().filter(|it| it.wanted).collect();
            let mut places = Where::of(columns, count, |_| 0);
            for (column, place) in columns.iter().zip(&mut places) {
                if let Some((name, _)) = self.found.columns.get(column.index()) {
                    let found = read.iter().position(|it| it.name == *name);
                    *place = found.map_or(Where::Absent, Where::Batch);
                }
            }
            let paths = &self.paths[file..=file];
            let reader = TextReader::new(paths, own, self.format(found), self.workers);
            rows.add(Box::new(reader), places, &self.extra, file)?;
        }
        Ok(Box::new(rows))
    }
}

/// The columns of all files, each with a type of all its values.
fn united(files: &[Found]) -> Vec<(String, DataType)> {
    let mut columns: Vec<(String, DataType)> = Vec::new();
    for (name, data_type) in files.iter().flat_map(|it| &it.columns) {
        match columns.iter_mut().find(|it| it.0 == *name) {
            Some((_, own)) => *own = wider(*own, *data_type),
            None => columns.push((name.clone(), *data_type)),
        }
    }
    columns
}

/// A type of the values of both.
fn wider(one: DataType, other: DataType) -> DataType {
    let any = |wanted: &dyn Fn(DataType) -> bool| wanted(one) || wanted(other);
    let is_number = |it: DataType| it.is_exact() || it.is_float();
    let is_day = |it: DataType| matches!(it, DataType::Date | DataType::Timestamp);
    match () {
        () if one == other => one,
        () if is_number(one) && is_number(other) => match any(&DataType::is_float) {
            true => DataType::Double,
            false => DataType::Decimal { precision: 38, scale: one.scale().max(other.scale()) },
        },
        () if is_day(one) && is_day(other) => DataType::Timestamp,
        () => DataType::Text,
    }
}

/// What the name of a file says that nobody has said.
fn by_name(path: &Path, options: &mut CsvOptions) {
    let known = &mut options.known;
    if is_tbl(path) {
        known.delimiter.get_or_insert(b'|');
        known.quote.get_or_insert(None);
        known.header.get_or_insert(false);
        known.trailing = true;
    }
}

/// A name that needs no quotes, and is none of others.
fn normalized(name: &str, others: &[String]) -> String {
    let letter = |it: char| if it.is_alphanumeric() { it } else { '_' };
    let mut word: String = name.trim().to_lowercase().chars().map(letter).collect();
    if word.starts_with(|it: char| it.is_ascii_digit()) || word.is_empty() {
        word.insert(0, '_');
    }
    let numbered = (1..).map(|it| format!("{word}_{it}"));
    let mut free = std::iter::once(word.clone()).chain(numbered);
    free.find(|it| !others.contains(it)).unwrap_or(word)
}
