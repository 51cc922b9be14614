//! What a query reads in the place of a table: its columns, and then its rows.

use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{Field, Schema};
use binder::{FileOption, FileReference};
use files::{Found, Header, Rows, TextColumn, TextFormat, constant, read_text, sniff};
use stdx::sync::Arc;
use storage::{BuildContext, ColumnSchema, Table, TableBuilder, WantedRows};
use types::{DataType, SqlError, SqlResult, SqlState, UnreadColumn, Zone};

use super::arrow_files::ArrowFiles;
use super::csv_options::{CsvOptions, shown};
use super::extra::{ExtraColumn, divided, extra_columns, with_extra};
use super::json_files::JsonFiles;
use super::json_options::JsonOptions;
use super::kind::{FileKind, is_tbl, known};
use super::parquet_files::ParquetFiles;
use super::tables::{text_table, unread};

/// What a query reads in the place of a table.
pub(crate) enum Opened {
    Parquet(ParquetFiles),
    Text(Box<TextFiles>),
    Json(Box<JsonFiles>),
    Arrow(ArrowFiles),
    /// Rows that are there at once.
    Rows(RecordBatch),
}

/// Files of text.
pub(crate) struct TextFiles {
    paths: Vec<PathBuf>,
    options: CsvOptions,
    found: Found,
    /// What each file is like, where each may have columns of its own; `found` has all of these.
    by_file: Vec<Found>,
    extra: Vec<ExtraColumn>,
}

impl Opened {
    /// Opens what the name of a table in single quotes means.
    pub(crate) fn open(name: &str, zone: &Zone) -> SqlResult<Self> {
        let reference = FileReference::parse(name)?;
        match reference.function.as_deref() {
            None => {
                let paths = files::expand(name)?;
                match known(&paths[0])? {
                    FileKind::Csv => Self::text(
                        paths,
                        CsvOptions { zone: zone.clone(), ..CsvOptions::default() },
                    ),
                    FileKind::Json => Self::json(paths, JsonOptions::new(zone.clone())),
                    FileKind::Arrow => ArrowFiles::open(paths, &[]).map(Self::Arrow),
                    FileKind::Parquet => Ok(Self::Parquet(ParquetFiles::open(paths, &[])?)),
                }
            }
            Some("read_csv" | "read_csv_auto") => Self::text(
                expanded(&reference)?,
                CsvOptions { zone: zone.clone(), ..CsvOptions::of(&reference)? },
            ),
            Some("read_parquet" | "parquet_scan") => {
                let files = ParquetFiles::open(expanded(&reference)?, &reference.options)?;
                Ok(Self::Parquet(files))
            }
            Some(function) if function.contains("json") => Self::json(
                expanded(&reference)?,
                JsonOptions::of(function, &reference, zone.clone())?,
            ),
            Some("read_arrow") => {
                let files = ArrowFiles::open(expanded(&reference)?, &reference.options)?;
                Ok(Self::Arrow(files))
            }
            Some("glob") => listed(&reference).map(Self::Rows),
            Some("sniff_csv") => {
                let paths = expanded(&reference)?;
                let opened = TextFiles::open(
                    paths,
                    CsvOptions { zone: zone.clone(), ..CsvOptions::of(&reference)? },
                )?;
                opened.described(&reference.options).map(Self::Rows)
            }
            Some(function) => {
                Err(SqlError::unsupported(format!("{function} in FROM is not supported")))
            }
        }
    }

    fn text(paths: Vec<PathBuf>, options: CsvOptions) -> SqlResult<Self> {
        TextFiles::open(paths, options).map(|it| Self::Text(Box::new(it)))
    }

    fn json(paths: Vec<PathBuf>, options: JsonOptions) -> SqlResult<Self> {
        JsonFiles::open(paths, options).map(|it| Self::Json(Box::new(it)))
    }

    /// Its columns.
    pub(crate) fn schema(&self) -> SqlResult<Vec<ColumnSchema>> {
        match self {
            Self::Parquet(files) => files.schema(),
            Self::Text(files) => Ok(files.schema()),
            Self::Json(files) => Ok(files.schema()),
            Self::Arrow(files) => files.schema(),
            Self::Rows(batch) => schema_of(batch),
        }
    }

    /// Whether some of its rows can be left out without a look at them.
    pub(crate) fn has_groups(&self) -> SqlResult<bool> {
        match self {
            Self::Parquet(files) => files.has_groups(),
            _ => Ok(false),
        }
    }

    /// A table of its rows, with those columns that are wanted; and the others, which cannot be used. Where rows can be left out,
    /// some are that are not wanted.
    pub(crate) fn load(
        &self,
        name: &str,
        (wanted, rows): (&dyn Fn(&str) -> bool, &WantedRows),
        context: &BuildContext<'_>,
    ) -> SqlResult<(Table, Vec<UnreadColumn>)> {
        match self {
            Self::Parquet(files) => files.load(name, (wanted, rows), context),
            Self::Text(files) => files.load(name, wanted, context),
            Self::Json(files) => files.load(name, wanted, context),
            Self::Arrow(files) => files.load(name, wanted, context),
            Self::Rows(batch) => {
                let builder = TableBuilder::new(name, schema_of(batch)?);
                builder.push(0, batch.clone())?;
                Ok((builder.finish(context)?, Vec::new()))
            }
        }
    }
}

fn schema_of(batch: &RecordBatch) -> SqlResult<Vec<ColumnSchema>> {
    let schema = batch.schema();
    let column = |it: &Arc<arrow_schema::Field>| {
        let data_type = storage::schema::sql_type(it, "a list of files")?;
        Ok(ColumnSchema::new(it.name(), data_type, true))
    };
    schema.fields().iter().map(column).collect()
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

fn batch(columns: Vec<(&str, ArrayRef)>) -> SqlResult<RecordBatch> {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|it| (it.0, it.1, true)))
        .map_err(|error| SqlError::internal(format!("rows are malformed: {error}")))
}

impl TextFiles {
    pub(crate) fn open(paths: Vec<PathBuf>, mut options: CsvOptions) -> SqlResult<Self> {
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
        Ok(Self { paths, options, found, by_file, extra })
    }

    fn schema(&self) -> Vec<ColumnSchema> {
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

    fn load(
        &self,
        name: &str,
        wanted: &dyn Fn(&str) -> bool,
        context: &BuildContext<'_>,
    ) -> SqlResult<(Table, Vec<UnreadColumn>)> {
        let (mut schema, mut unread_columns, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for (name, data_type) in &self.found.columns {
            let wanted = wanted(name);
            columns.push(self.column(name, *data_type, wanted));
            match wanted {
                true => schema.push(ColumnSchema::new(name.clone(), *data_type, true)),
                false => unread_columns.push(unread(name)),
            }
        }
        let (extra, not_read) = divided(&self.extra, wanted);
        unread_columns.extend(not_read);
        schema.extend(extra.iter().map(|it| it.schema()));
        let rows = match self.by_file.is_empty() {
            true => read_text(&self.paths, &columns, &self.format(&self.found), context)
                .map(|Rows { batches, files, .. }| batches.into_iter().zip(files).collect()),
            false => self.by_name(&columns, context),
        };
        let batches: Vec<_> = rows.map_err(|it| self.advised(it))?;
        let batches = batches.into_iter();
        let batches = batches.map(|(batch, file)| with_extra(batch, file, &extra));
        let batches = batches.collect::<SqlResult<_>>()?;
        Ok((text_table(name, schema, batches, context)?, unread_columns))
    }

    fn column(&self, name: &str, data_type: DataType, wanted: bool) -> TextColumn {
        let force_not_null =
            self.options.force_not_null.iter().any(|it| it.eq_ignore_ascii_case(name));
        TextColumn { wanted, force_not_null, ..TextColumn::new(name, data_type) }
    }

    /// The rows of files with columns of their own, each with the number of its file: what a file does not have is NULL in it.
    fn by_name(
        &self,
        columns: &[TextColumn],
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<(RecordBatch, usize)>> {
        let mut all = Vec::new();
        for (file, found) in self.by_file.iter().enumerate() {
            let own = |(name, _): &(String, DataType)| {
                columns
                    .iter()
                    .find(|it| it.name == *name)
                    .cloned()
                    .unwrap_or_else(|| self.column(name, DataType::Text, false))
            };
            let own: Vec<TextColumn> = found.columns.iter().map(own).collect();
            let rows = read_text(&self.paths[file..=file], &own, &self.format(found), context)?;
            for batch in rows.batches {
                let mut arrays = Vec::new();
                for column in columns.iter().filter(|it| it.wanted) {
                    let array = match batch.column_by_name(&column.name) {
                        Some(it) => it.clone(),
                        None => constant(None, column.data_type, batch.num_rows())?,
                    };
                    arrays.push((column.name.as_str(), array));
                }
                let field =
                    |it: &(&str, ArrayRef)| Field::new(it.0, it.1.data_type().clone(), true);
                let schema = Schema::new(arrays.iter().map(field).collect::<Vec<_>>());
                let count = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let arrays = arrays.into_iter().map(|it| it.1).collect();
                let made = RecordBatch::try_new_with_options(Arc::new(schema), arrays, &count);
                let made = made.map_err(|error| {
                    SqlError::internal(format!("rows of a file are malformed: {error}"))
                });
                all.push((made?, file));
            }
        }
        Ok(all)
    }

    /// What can be done about a value that does not fit a type that was guessed.
    fn advised(&self, error: SqlError) -> SqlError {
        let about = |(name, guessed): (&String, &bool)| {
            *guessed && error.message.contains(&format!(", column \"{name}\")"))
        };
        let names = self.found.columns.iter().map(|it| &it.0);
        let Some((name, _)) = names.zip(&self.found.guessed).find(|it| about(*it)) else {
            return error;
        };
        if !error.state.is_data_exception() || error.state == SqlState::BAD_FILE_FORMAT {
            return error;
        }
        let hint = format!(
            "the type was guessed from the first rows: read_csv('..', types = {{'{name}': 'TEXT'}}) says it, \
             sample_size = -1 looks at all rows, ignore_errors = true leaves such rows out"
        );
        error.with_hint(hint)
    }

    /// The answer of `sniff_csv`.
    fn described(&self, options: &[(String, FileOption)]) -> SqlResult<RecordBatch> {
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
