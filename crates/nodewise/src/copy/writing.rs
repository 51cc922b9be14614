//! Rows into a file. It has another name until it is whole, so that what was cut short never looks finished.
//!
//! Row groups of Parquet are encoded by all workers, each one by one of them, and appended in their order; at most two per
//! worker are in memory.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use files::{Compression as Compressed, Output};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use stdx::sync::{Arc, Mutex};
use storage::Parallel;
use types::{SqlError, SqlResult, SqlState};

use super::format::{ArrowCompression, CopyFormat};
use super::parquet_style::ParquetStyle;
use super::style::LineStyle;
use crate::text::Cells;

/// Writes rows into a file, in the place of one that is there.
pub(crate) fn write_file(
    path: &Path,
    format: &CopyFormat,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    parallel: &dyn Parallel,
) -> SqlResult<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    let temporary = PathBuf::from(name);
    let write = || {
        let file = File::create(&temporary).map_err(|error| io_failed(path, &error))?;
        match format {
            CopyFormat::Parquet(parquet) => {
                let (schema, batches) = without_intervals(schema, batches)?;
                write_parquet(file, *parquet, &schema, &batches, parallel)
            }
            CopyFormat::Lines(style) => output(file, path, style.compression())
                .and_then(|out| write_lines(out, style, schema, batches))
                .map_err(|it| io_failed(path, &it)),
            CopyFormat::Arrow { is_stream, compression } => {
                write_arrow(file, *is_stream, *compression, schema, batches)
                    .map_err(|it| arrow_failed(path, it))
            }
            CopyFormat::Json { is_array, compression } => output(file, path, *compression)
                .and_then(|out| write_json(out, *is_array, batches))
                .map_err(|it| io_failed(path, &it)),
            CopyFormat::Binary => {
                Err(SqlError::unsupported("COPY TO a file of format binary is not supported"))
            }
        }
        .map_err(|error| SqlError { message: named(path, error.message), ..error })?;
        fs::rename(&temporary, path).map_err(|error| io_failed(path, &error))
    };
    let written = write();
    if written.is_err() {
        // Where it could not be made there is nothing to remove.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Rows as Parquet holds them: its intervals have neither microseconds nor signs, so they are texts, which tables read again.
fn without_intervals(
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> SqlResult<(SchemaRef, Vec<RecordBatch>)> {
    let is_interval = |it: &Field| matches!(it.data_type(), DataType::Interval(_));
    if !schema.fields().iter().any(|it| is_interval(it)) {
        return Ok((schema.clone(), batches.to_vec()));
    }
    let field = |it: &Arc<Field>| match is_interval(it) {
        true => Arc::new(Field::clone(it).with_data_type(DataType::Utf8)),
        false => it.clone(),
    };
    let texts: SchemaRef =
        Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()));
    let column = |array: &ArrayRef| -> ArrayRef {
        match array.data_type() {
            DataType::Interval(_) => {
                let cells = Cells::new(array);
                Arc::new((0..array.len()).map(|row| cells.text(row)).collect::<StringArray>())
            }
            _ => array.clone(),
        }
    };
    let batch = |it: &RecordBatch| {
        let columns = it.columns().iter().map(column).collect();
        RecordBatch::try_new(texts.clone(), columns)
            .map_err(|error| SqlError::internal(format!("texts do not fit: {error}")))
    };
    let batches = batches.iter().map(batch).collect::<SqlResult<Vec<_>>>()?;
    Ok((texts.clone(), batches))
}

fn named(path: &Path, message: String) -> String {
    let name = path.display().to_string();
    if message.contains(&name) { message } else { format!("cannot write {name}: {message}") }
}

/// What a user hears when a file cannot be written.
pub(crate) fn io_failed(path: &Path, error: &std::io::Error) -> SqlError {
    let state = match error.kind() {
        std::io::ErrorKind::NotFound => SqlState::UNDEFINED_FILE,
        std::io::ErrorKind::PermissionDenied => SqlState("42501"),
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => SqlState::DISK_FULL,
        _ => SqlState::IO_ERROR,
    };
    SqlError::new(state, format!("cannot write {}: {error}", path.display()))
}

/// A file that is compressed as is said, or as its name tells.
fn output(file: File, path: &Path, compression: Option<Compressed>) -> std::io::Result<Output> {
    Output::new(file, compression.unwrap_or_else(|| Compressed::of_name(path)))
}

/// Writes batches as they are.
fn write_arrow(
    file: File,
    is_stream: bool,
    compression: Option<ArrowCompression>,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<(), ArrowError> {
    let compression = compression.map(|it| match it {
        ArrowCompression::Lz4 => CompressionType::LZ4_FRAME,
        ArrowCompression::Zstd => CompressionType::ZSTD,
    });
    let options = IpcWriteOptions::default().try_with_compression(compression)?;
    let file = BufWriter::new(file);
    let file = if is_stream {
        let mut writer = StreamWriter::try_new_with_options(file, schema, options)?;
        batches.iter().try_for_each(|it| writer.write(it))?;
        writer.finish()?;
        writer.into_inner()?
    } else {
        let mut writer = FileWriter::try_new_with_options(file, schema, options)?;
        batches.iter().try_for_each(|it| writer.write(it))?;
        writer.finish()?;
        writer.into_inner()?
    };
    let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    Ok(file.sync_all()?)
}

fn arrow_failed(path: &Path, error: ArrowError) -> SqlError {
    match error {
        ArrowError::IoError(_, error) => io_failed(path, &error),
        other => SqlError::internal(format!("rows cannot be written as Arrow: {other}")),
    }
}

/// Writes rows that are JSON, each on a line, or all within an array.
fn write_json(mut out: Output, is_array: bool, batches: &[RecordBatch]) -> std::io::Result<()> {
    let (before, between, behind) =
        if is_array { ("[\n\t", ",\n\t", "\n]\n") } else { ("", "\n", "\n") };
    let (mut text, mut is_first) = (String::new(), true);
    for batch in batches {
        let cells = Cells::new(batch.column(0));
        for row in 0..batch.num_rows() {
            text.push_str(if std::mem::take(&mut is_first) { before } else { between });
            cells.write(row, &mut text);
            if text.len() >= 1 << 16 {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
    }
    text.push_str(match (is_first, is_array) {
        (false, _) => behind,
        (true, true) => "[]\n",
        (true, false) => "",
    });
    out.write_all(text.as_bytes())?;
    out.finish()
}

fn write_lines(
    mut out: Output,
    style: &LineStyle,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> std::io::Result<()> {
    let mut lines = style.header(schema);
    for batch in batches {
        let mut writer = style.lines(batch);
        for row in 0..batch.num_rows() {
            writer.push(row, &mut lines);
            if lines.len() >= 1 << 16 {
                out.write_all(lines.as_bytes())?;
                lines.clear();
            }
        }
    }
    out.write_all(lines.as_bytes())?;
    out.finish()
}

fn write_parquet(
    file: File,
    style: ParquetStyle,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    parallel: &dyn Parallel,
) -> SqlResult<()> {
    let open = || -> Result<_, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(style.compression)
            .set_created_by("nodewise".into())
            .build();
        let root = ArrowSchemaConverter::new().convert(schema)?.root_schema_ptr();
        SerializedFileWriter::new(file, root, Arc::new(properties))
    };
    let mut writer = open().map_err(|it| failed(&it))?;
    let encoders = ArrowRowGroupWriterFactory::new(&writer, schema.clone());
    let batches = cut(batches, style.group_rows);
    let groups = row_groups(&batches, style.group_rows);
    let mut first = 0;
    for wave in groups.chunks(2 * parallel.width().max(1)) {
        let made: Vec<Mutex<Vec<ArrowColumnChunk>>> =
            wave.iter().map(|_| Mutex::default()).collect();
        parallel.run(wave.len(), &|task| {
            let chunks = encode(&encoders, first + task, schema, wave[task]);
            *made[task].lock() = chunks.map_err(|it| failed(&it))?;
            Ok(())
        })?;
        first += wave.len();
        for chunks in made {
            append(&mut writer, chunks.into_inner()).map_err(|it| failed(&it))?;
        }
    }
    let file = writer.into_inner().map_err(|it| failed(&it))?;
    file.sync_all().map_err(|it| failed(&it.into()))
}

fn failed(error: &ParquetError) -> SqlError {
    let io = match error {
        ParquetError::External(it) => it.downcast_ref::<std::io::Error>(),
        _ => None,
    };
    match io.map(std::io::Error::kind) {
        Some(std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded) => {
            SqlError::new(SqlState::DISK_FULL, error.to_string())
        }
        _ => SqlError::new(SqlState::IO_ERROR, shown(error)),
    }
}

fn shown(error: &dyn Display) -> String {
    error.to_string()
}

/// Batches of which neighbours make groups of so many rows.
fn cut(batches: &[RecordBatch], group_rows: usize) -> Vec<RecordBatch> {
    let (mut pieces, mut room) = (Vec::with_capacity(batches.len()), group_rows);
    for batch in batches {
        let mut from = 0;
        while from < batch.num_rows() {
            let rows = room.min(batch.num_rows() - from);
            pieces.push(batch.slice(from, rows));
            from += rows;
            room = if rows == room { group_rows } else { room - rows };
        }
    }
    pieces
}

/// Neighbouring batches that make a row group together.
fn row_groups(batches: &[RecordBatch], group_rows: usize) -> Vec<&[RecordBatch]> {
    let (mut groups, mut start, mut rows) = (Vec::new(), 0, 0);
    for (at, batch) in batches.iter().enumerate() {
        rows += batch.num_rows();
        if rows >= group_rows || at + 1 == batches.len() {
            groups.push(&batches[start..=at]);
            (start, rows) = (at + 1, 0);
        }
    }
    groups
}

fn encode(
    encoders: &ArrowRowGroupWriterFactory,
    group: usize,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
    let mut writers = encoders.create_column_writers(group)?;
    for batch in batches {
        // A nested column has a leaf, and a writer, for each of its parts.
        let mut leaf_writers = writers.iter_mut();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, column)? {
                let missing = || ParquetError::General("a leaf has no writer".to_owned());
                leaf_writers.next().ok_or_else(missing)?.write(&leaf)?;
            }
        }
    }
    writers.into_iter().map(|it| it.close()).collect()
}

fn append(
    writer: &mut SerializedFileWriter<File>,
    chunks: Vec<ArrowColumnChunk>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for chunk in chunks {
        chunk.append_to_row_group(&mut group)?;
    }
    group.close()?;
    Ok(())
}
