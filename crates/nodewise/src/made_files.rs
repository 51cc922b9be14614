//! Writes generated tables as Parquet files, row groups made and encoded in parallel.
//!
//! A task makes one row group in memory; whoever completes the next one in order appends all that wait. Files get
//! their name when they are whole, so an interrupted run leaves none that only looks finished.
//!
//! - Invariant: at most two row groups per worker are in memory.
//! - Invariant: the same maker and size give the same bytes, however many workers make them.
//! - Invariant: a folder with files that this module did not make is left alone.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use execution::{JobSettings, QueryControl, QueryTeam};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use stdx::sync::{Arc, Mutex};
use storage::Parallel;
use types::{SqlError, SqlResult, SqlState};

use crate::parallel::LoadTeam;
use crate::{CancelToken, Database, Progress};

/// Rows of a row group, about: enough for good dictionaries, few enough to load one file with many workers.
const ROW_GROUP_ROWS: i64 = 128 << 10;

/// Batches of rows, in order.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// A table that is made part by part; each part becomes a row group.
pub struct MadeTable {
    /// The table, and its file without `.parquet`.
    pub name: &'static str,
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows, about.
    pub rows: i64,
    /// Makes part N of M, counted from 1.
    pub part: Box<dyn Fn(i32, i32) -> Batches + Send + Sync>,
}

/// Tables that are made together into a folder.
pub struct MadeData {
    /// What the data are called in messages.
    pub title: &'static str,
    /// A file of the folder that says what it holds.
    pub marker: &'static str,
    /// By what the data are made; changes whenever the same size would give other files.
    pub maker: &'static str,
    /// How large they are: `scale 1`.
    pub size: String,
    /// The tables.
    pub tables: Vec<MadeTable>,
}

impl MadeData {
    /// [`MadeData::generate`] on the workers of a database.
    pub fn generate_on(
        &self,
        database: &Database,
        dir: &Path,
        progress: &dyn Progress,
    ) -> SqlResult<()> {
        let control = QueryControl::alone(database.next_statement(), CancelToken::new());
        let (workspace, accesses) = (database.workspace.clone(), Arc::default());
        let settings = JobSettings { control, pipeline: 0, workspace, accesses };
        let team = LoadTeam(QueryTeam { scheduler: database.scheduler.clone(), settings });
        self.generate(dir, &team, progress)
    }

    /// Makes the Parquet files in a folder; those that are there already from an earlier run stay.
    pub fn generate(
        &self,
        dir: &Path,
        parallel: &dyn Parallel,
        progress: &dyn Progress,
    ) -> SqlResult<()> {
        self.claim(dir)?;
        let mut files = Vec::new();
        let mut tasks = Vec::new();
        for table in &self.tables {
            if dir.join(format!("{}.parquet", table.name)).exists() {
                continue;
            }
            let file = TableFile::create(dir, table)?;
            tasks.extend((1..=file.parts).map(|part| (files.len(), part)));
            files.push(file);
        }
        if tasks.is_empty() {
            return Ok(());
        }
        let rows = files.iter().map(|it| it.table.rows.unsigned_abs()).sum();
        progress.begin(&format!("making {} at {}", self.title, self.size), rows);
        let run = |wave: &[(usize, i32)]| {
            parallel.run(wave.len(), &|task| {
                let (file, part) = wave[task];
                let file: &TableFile<'_> = &files[file];
                let chunks = file.encode(part, progress)?;
                file.append(part, chunks)
            })
        };
        let done = tasks.chunks(2 * parallel.width().max(1)).try_for_each(run);
        progress.end();
        done
    }

    /// Whether a folder has all files, and was not made for another size. A folder of somebody else's files is taken as it is.
    pub fn is_complete(&self, dir: &Path) -> bool {
        let whole = |it: &MadeTable| dir.join(format!("{}.parquet", it.name)).exists();
        let size = size_of(dir, self.marker, self.maker);
        self.tables.iter().all(whole) && size.is_none_or(|it| it == self.size)
    }

    /// Makes the folder ours, or finds that it is already.
    fn claim(&self, dir: &Path) -> SqlResult<()> {
        let other = |what: String| {
            SqlError::new(SqlState::INVALID_PARAMETER, format!("{} holds {what}", dir.display()))
                .with_hint("name another folder, or remove its files")
        };
        let marker = dir.join(self.marker);
        match size_of(dir, self.marker, self.maker) {
            Some(found) if found == self.size => return Ok(()),
            Some(found) => return Err(other(format!("{} of {found}", self.title))),
            None if marker.exists() => {
                return Err(other(format!("{} of another version", self.title)));
            }
            None => {}
        }
        fs::create_dir_all(dir).map_err(|error| failed("create", dir, &error))?;
        for table in &self.tables {
            let file = format!("{}.parquet", table.name);
            if dir.join(&file).exists() {
                return Err(other(format!("a {file} of unknown origin")));
            }
        }
        let text = format!("{}, {}\n", self.maker, self.size);
        fs::write(&marker, text).map_err(|error| failed("write", &marker, &error))
    }
}

/// The size that a folder was made for; `None` when it was not made by this maker.
pub fn size_of(dir: &Path, marker: &str, maker: &str) -> Option<String> {
    let text = fs::read_to_string(dir.join(marker)).ok()?;
    Some(text.trim().strip_prefix(maker)?.strip_prefix(", ")?.to_owned())
}

fn failed(verb: &str, path: &Path, error: &dyn Display) -> SqlError {
    SqlError::new(SqlState::IO_ERROR, format!("cannot {verb} {}: {error}", path.display()))
}

/// A Parquet file in the making.
struct TableFile<'a> {
    table: &'a MadeTable,
    parts: i32,
    encoders: ArrowRowGroupWriterFactory,
    path: PathBuf,
    temporary: PathBuf,
    state: Mutex<FileState>,
}

struct FileState {
    /// `None` once the file is whole.
    writer: Option<SerializedFileWriter<File>>,
    /// The part that comes next in the file.
    next: i32,
    /// Row groups that were made before their turn.
    waiting: BTreeMap<i32, Vec<ArrowColumnChunk>>,
}

impl<'a> TableFile<'a> {
    fn create(dir: &Path, table: &'a MadeTable) -> SqlResult<Self> {
        let path = dir.join(format!("{}.parquet", table.name));
        let temporary = dir.join(format!("{}.parquet.tmp", table.name));
        let rows = table.rows;
        let parts = if rows < 100 { 1 } else { (rows + ROW_GROUP_ROWS - 1) / ROW_GROUP_ROWS };
        let parts = i32::try_from(parts).unwrap_or(i32::MAX);
        let open = || -> Result<_, ParquetError> {
            let properties = Arc::new(
                WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_created_by("nodewise".into())
                    .build(),
            );
            let root = ArrowSchemaConverter::new().convert(&table.schema)?.root_schema_ptr();
            SerializedFileWriter::new(File::create(&temporary)?, root, properties)
        };
        let writer = open().map_err(|error| failed("write", &temporary, &error))?;
        let encoders = ArrowRowGroupWriterFactory::new(&writer, table.schema.clone());
        let state = FileState { writer: Some(writer), next: 1, waiting: BTreeMap::new() };
        let state = Mutex::new(state);
        Ok(Self { table, parts, encoders, path, temporary, state })
    }

    /// Makes a row group in memory.
    fn encode(&self, part: i32, progress: &dyn Progress) -> SqlResult<Vec<ArrowColumnChunk>> {
        let encode = || -> Result<_, ParquetError> {
            let mut writers = self.encoders.create_column_writers(part as usize - 1)?;
            for batch in (self.table.part)(part, self.parts) {
                let batch = batch?;
                let columns = self.table.schema.fields().iter().zip(batch.columns());
                for (writer, (field, column)) in writers.iter_mut().zip(columns) {
                    // No table has nested columns, so each column has one leaf.
                    for leaf in compute_leaves(field, column)? {
                        writer.write(&leaf)?;
                    }
                }
                progress.advance(batch.num_rows() as u64);
            }
            writers.into_iter().map(|it| it.close()).collect()
        };
        encode().map_err(|error| failed("write", &self.temporary, &error))
    }

    /// Appends a row group when its turn has come, and those that waited for it; ends the file after the last.
    fn append(&self, part: i32, chunks: Vec<ArrowColumnChunk>) -> SqlResult<()> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        state.waiting.insert(part, chunks);
        let mut append = || -> Result<(), ParquetError> {
            let Some(writer) = &mut state.writer else { return Ok(()) };
            while let Some(chunks) = state.waiting.remove(&state.next) {
                let mut group = writer.next_row_group()?;
                for chunk in chunks {
                    chunk.append_to_row_group(&mut group)?;
                }
                group.close()?;
                state.next += 1;
            }
            if state.next > self.parts {
                let writer = state.writer.take().expect("invariant: a file ends once");
                writer.into_inner()?.sync_all()?;
                fs::rename(&self.temporary, &self.path)?;
            }
            Ok(())
        };
        append().map_err(|error| failed("write", &self.path, &error))
    }
}

impl Drop for TableFile<'_> {
    fn drop(&mut self) {
        if self.state.lock().writer.take().is_some() {
            // What was begun is of no use; that it stays when it cannot be removed does no harm either.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
