//! Parquet files into tables: row groups and columns are decoded in parallel.
//!
//! A column chunk whose pages are all dictionary-encoded is read as codes and their texts, so that the texts of a row
//! group are looked at once per distinct value; decimals of up to 18 digits are read as 64-bit integers.

use std::error::Error;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::{ConvertedType, Encoding as PageEncoding, LogicalType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::schema::types::ColumnDescriptor;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

use crate::build::{Chained, Piece, RowSource, build_table, piece_of};
use crate::regular::{failed_by_system, guard, open};
use crate::schema::sql_type;
use crate::{BLOCK_ROWS, BuildContext, Check, ColumnSchema, Table};

/// The columns of a file as they would be loaded, and its rows.
pub fn parquet_schema(path: &Path) -> SqlResult<(Vec<ColumnSchema>, u64)> {
    let file = ParquetRows::open(path)?;
    Ok((file.schema()?, file.metadata().file_metadata().num_rows().max(0) as u64))
}

/// The names of the columns of a file.
pub fn parquet_names(path: &Path) -> SqlResult<Vec<String>> {
    let file = ParquetRows::open(path)?;
    Ok(file.plain.schema().fields().iter().map(|it| it.name().clone()).collect())
}

/// Loads a file as a new table: with the file's columns, or with the declared ones, which are found by name ignoring
/// case (and in order, if none of the names is found and there are equally many). After an error nothing remains.
pub fn load_parquet(
    path: &Path,
    name: &str,
    declared: Option<&[ColumnSchema]>,
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let mut file = ParquetRows::open(path)?;
    let schema = match declared {
        Some(declared) => {
            file.find_columns(declared)?;
            declared.to_vec()
        }
        None => file.schema()?,
    };
    build_table(name, &schema, &file, context)
}

/// A table with the rows of files behind its own, under the same id.
pub fn append_parquet(
    table: &Table,
    paths: &[PathBuf],
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let mut files = paths.iter().map(|it| ParquetRows::open(it)).collect::<SqlResult<Vec<_>>>()?;
    files.iter_mut().try_for_each(|it| it.find_columns(&table.schema()))?;
    let rows = Chained::new(files.iter().map(|it| it as &dyn RowSource).collect());
    table.append_rows(&rows, context)
}

/// The rows of a file; a chunk is a row group.
#[derive(Debug)]
pub(crate) struct ParquetRows {
    pub(crate) path: PathBuf,
    /// Texts come as texts.
    pub(crate) plain: ArrowReaderMetadata,
    /// Texts come as codes and a dictionary.
    coded: ArrowReaderMetadata,
    /// The file's column for each column of the table.
    columns: Vec<usize>,
}

impl ParquetRows {
    pub(crate) fn open(path: &Path) -> SqlResult<Self> {
        let failed = |error: ParquetError| reader_failed(path, "its footer", &error);
        let file = open(path)?;
        check_magic(path, &file)?;
        let found = guard(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()))
            .map_err(|what| corrupt(path, "its footer", &what))?
            .map_err(failed)?;
        let hinted = |coded: bool| {
            let descriptor = found.metadata().file_metadata().schema_descr();
            let mut leaves = descriptor.columns().iter().map(|it| is_enum(it));
            let texts = found.schema().fields().iter().map(|it| with_texts(it, &mut leaves));
            let fields: Vec<Field> = texts.map(|it| hint(&it, coded)).collect();
            let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
            ArrowReaderMetadata::try_new(found.metadata().clone(), options)
                // A file that cannot be read so is read as it says itself.
                .unwrap_or_else(|_| found.clone())
        };
        let (plain, coded) = (hinted(false), hinted(true));
        let columns = (0..found.schema().fields().len()).collect();
        Ok(Self { path: path.to_path_buf(), plain, coded, columns })
    }

    pub(crate) fn metadata(&self) -> &::parquet::file::metadata::ParquetMetaData {
        self.plain.metadata()
    }

    fn schema(&self) -> SqlResult<Vec<ColumnSchema>> {
        (0..self.plain.schema().fields().len()).map(|it| self.column_schema(it)).collect()
    }

    /// A column of the file as it would be loaded.
    pub(crate) fn column_schema(&self, column: usize) -> SqlResult<ColumnSchema> {
        let field = self.plain.schema().field(column);
        let data_type = sql_type(field, &self.path.display().to_string())?;
        Ok(ColumnSchema::new(field.name(), data_type, field.is_nullable()))
    }

    /// Finds the file's column for each declared one; by place where no name is found.
    fn find_columns(&mut self, declared: &[ColumnSchema]) -> SqlResult<()> {
        let found: Vec<Option<usize>> = declared.iter().map(|it| self.place_of(&it.name)).collect();
        let count = self.plain.schema().fields().len();
        if found.iter().all(Option::is_none) && declared.len() == count {
            return Ok(());
        }
        if let Some(missing) = found.iter().position(Option::is_none) {
            return Err(self.has_no_column(&declared[missing].name));
        }
        self.columns = found.into_iter().flatten().collect();
        Ok(())
    }

    /// The column of a name, whatever its case where none has it as it is written.
    pub(crate) fn place_of(&self, name: &str) -> Option<usize> {
        let fields = self.plain.schema().fields();
        let exact = fields.iter().position(|it| it.name() == name);
        exact.or_else(|| {
            fields.iter().position(|it| it.name().to_lowercase() == name.to_lowercase())
        })
    }

    /// 42703.
    pub(crate) fn has_no_column(&self, name: &str) -> SqlError {
        let fields = self.plain.schema().fields();
        let names: Vec<&str> = fields.iter().map(|it| it.name().as_str()).collect();
        let message = format!("file {} has no column \"{name}\"", self.path.display());
        SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            .with_hint(format!("its columns are {}", names.join(", ")))
    }

    pub(crate) fn group_rows(&self, group: usize) -> usize {
        self.metadata().row_group(group).num_rows().max(0) as usize
    }

    /// The chunk of a column that is no list and no struct: those have one for each of their leaves.
    fn chunk(&self, group: usize, column: usize) -> Option<&ColumnChunkMetaData> {
        let leaves = self.metadata().file_metadata().schema_descr();
        let mut own =
            (0..leaves.num_columns()).filter(|leaf| leaves.get_column_root_idx(*leaf) == column);
        let leaf = own.next().filter(|_| own.next().is_none())?;
        self.metadata().row_group(group).columns().get(leaf)
    }

    /// A column of a row group, by its place in the file.
    pub(crate) fn read_group(
        &self,
        group: usize,
        column: usize,
        schema: &ColumnSchema,
        check: Check<'_>,
    ) -> SqlResult<Vec<Piece>> {
        if self.group_rows(group) == 0 {
            return Ok(Vec::new());
        }
        // The decoder may panic on bytes that no writer makes; for the user that is a corrupt file as any other.
        guard(|| self.decode(group, column, schema, check)).unwrap_or_else(|what| {
            let place = format!("row group {group}, column \"{}\"", schema.name);
            Err(corrupt(&self.path, &place, &what))
        })
    }

    /// Decodes a column of a row group.
    fn decode(
        &self,
        group: usize,
        column: usize,
        schema: &ColumnSchema,
        check: Check<'_>,
    ) -> SqlResult<Vec<Piece>> {
        let rows = self.group_rows(group);
        let place = || format!("row group {group}, column \"{}\"", schema.name);
        let failed = |error: &(dyn Error + 'static)| reader_failed(&self.path, &place(), error);
        let is_text = matches!(self.plain.schema().field(column).data_type(), ArrowType::Utf8);
        let coded = is_text && self.chunk(group, column).is_some_and(is_all_dictionary);
        // One batch has one dictionary; without one, what a batch holds should stay in the cache.
        let batch_rows = if coded { rows } else { rows.min(BLOCK_ROWS) };
        let metadata = if coded { &self.coded } else { &self.plain };
        // Each reader has a file of its own: the clones of a file share one cursor.
        let file = open(&self.path)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
        let projection = ProjectionMask::roots(builder.parquet_schema(), [column]);
        let reader = builder
            .with_projection(projection)
            .with_row_groups(vec![group])
            .with_batch_size(batch_rows.max(1))
            .build()
            .map_err(|error| failed(&error))?;
        let mut pieces = Vec::new();
        for batch in reader {
            check()?;
            let batch = batch.map_err(|error| failed(&error))?;
            let piece = piece_of(batch.column(0), schema).map_err(|error| {
                let message =
                    format!("{} (file {}, row group {group})", error.message, self.path.display());
                SqlError { message, ..error }
            })?;
            pieces.push(piece);
        }
        let found: usize = pieces.iter().map(|it| it.rows).sum();
        if found != rows {
            let what = format!("{found} rows where the footer says {rows}");
            return Err(corrupt(&self.path, &place(), &what));
        }
        Ok(pieces)
    }
}

impl RowSource for ParquetRows {
    fn chunks(&self) -> usize {
        self.metadata().num_row_groups()
    }

    fn rows(&self, chunk: usize) -> usize {
        self.group_rows(chunk)
    }

    fn read(
        &self,
        chunk: usize,
        column: usize,
        schema: &ColumnSchema,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<Piece>> {
        self.read_group(chunk, self.columns[column], schema, &|| context.check_cancelled())
    }
}

/// Whether a column holds labels, which are texts though Arrow tells their bytes only.
fn is_enum(leaf: &ColumnDescriptor) -> bool {
    leaf.logical_type_ref() == Some(&LogicalType::Enum)
        || leaf.converted_type() == ConvertedType::ENUM
}

/// A field whose bytes are texts where they are labels: `labels` tells it of each leaf, in their order.
fn with_texts(field: &Field, labels: &mut dyn Iterator<Item = bool>) -> Field {
    let mut inner = |it: &Arc<Field>| Arc::new(with_texts(it, labels));
    let data_type = match field.data_type() {
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(inner).collect()),
        ArrowType::List(item) => ArrowType::List(inner(item)),
        ArrowType::LargeList(item) => ArrowType::LargeList(inner(item)),
        ArrowType::Map(entries, sorted) => ArrowType::Map(inner(entries), *sorted),
        leaf => match (labels.next(), leaf) {
            (Some(true), ArrowType::Binary) => ArrowType::Utf8,
            _ => leaf.clone(),
        },
    };
    field.clone().with_data_type(data_type)
}

/// How a field should be read: fewer bytes per value than what the file asks for.
fn hint(field: &Field, coded: bool) -> Field {
    let data_type = match field.data_type() {
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => text(coded),
        ArrowType::Dictionary(_, values)
            if matches!(**values, ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View) =>
        {
            text(coded)
        }
        ArrowType::Decimal128(precision, scale) if *precision <= 18 => {
            ArrowType::Decimal64(*precision, *scale)
        }
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

fn text(coded: bool) -> ArrowType {
    if coded {
        ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(ArrowType::Utf8))
    } else {
        ArrowType::Utf8
    }
}

/// Whether all data pages of a column chunk hold codes of its dictionary page.
fn is_all_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    if chunk.dictionary_page_offset().is_none() {
        return false;
    }
    match chunk.page_encoding_stats_mask() {
        Some(mask) => {
            mask.is_only(PageEncoding::PLAIN_DICTIONARY)
                || mask.is_only(PageEncoding::RLE_DICTIONARY)
        }
        // Writers that do not tell: codes take at most some 20 bits, texts nearly always more.
        None => {
            let coded =
                |it| matches!(it, PageEncoding::PLAIN_DICTIONARY | PageEncoding::RLE_DICTIONARY);
            chunk.encodings().any(coded)
                && chunk.uncompressed_size() < chunk.num_values().saturating_mul(3)
        }
    }
}

/// Refuses a file that does not begin as Parquet does.
fn check_magic(path: &Path, mut file: &File) -> SqlResult<()> {
    let mut magic = [0; 4];
    let not_parquet = || {
        let message = format!("file {} is not a Parquet file", path.display());
        SqlError::new(SqlState::BAD_FILE_FORMAT, message)
            .with_hint("a Parquet file begins with the letters PAR1")
    };
    match file.read_exact(&mut magic) {
        Ok(()) if matches!(&magic, b"PAR1" | b"PARE") => Ok(()),
        Ok(()) => Err(not_parquet()),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(not_parquet()),
        Err(error) => {
            Err(failed_by_system(format!("could not read file {}: {error}", path.display())))
        }
    }
}

/// What the reader of Parquet says: that the file is not sound, or that the system refused.
fn reader_failed(path: &Path, place: &str, error: &(dyn Error + 'static)) -> SqlError {
    let mut cause = Some(error);
    while let Some(it) = cause {
        if let Some(io) = it.downcast_ref::<std::io::Error>()
            && io.raw_os_error().is_some()
        {
            return failed_by_system(format!("could not read file {}: {io}", path.display()));
        }
        cause = it.source();
    }
    corrupt(path, place, &error.to_string())
}

fn corrupt(path: &Path, place: &str, what: &str) -> SqlError {
    let message =
        format!("file {} is not a sound Parquet file, at {place}: {what}", path.display());
    SqlError::new(SqlState::DATA_CORRUPTED, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_says_nothing_of_the_file() {
        let path = Path::new("f.parquet");
        // Linux's number for too many open files.
        let refused = || std::io::Error::from_raw_os_error(24);
        let wrapped = ParquetError::External(Box::new(refused()));
        for error in [
            crate::regular::unopened(path, &refused()),
            reader_failed(path, "its footer", &wrapped),
        ] {
            assert_eq!(error.state, SqlState::IO_ERROR, "{error}");
            assert!(error.message.contains("Too many open files"), "{error}");
            assert!(!error.message.contains("sound"), "{error}");
        }
        let damaged = ParquetError::General("a page has no end".into());
        assert_eq!(reader_failed(path, "its footer", &damaged).state, SqlState::DATA_CORRUPTED);
    }
}
