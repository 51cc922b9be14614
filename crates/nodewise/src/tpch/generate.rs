//! Writes the eight tables as Parquet files, row groups made and encoded in parallel.
//!
//! A task makes one row group in memory; whoever completes the next one in order appends all that wait. Files get
//! their name when they are whole, so an interrupted run leaves none that only looks finished.
//!
//! - Invariant: at most two row groups per worker are in memory.
//! - Invariant: the same scale gives the same bytes, however many workers make them.
//! - Invariant: a folder with files that this function did not make is left alone.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;
use execution::{JobSettings, QueryControl, QueryTeam};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use stdx::sync::{Arc, Mutex};
use storage::Parallel;
use tpchgen::generators::{
    CustomerGenerator, OrderGenerator, PartGenerator, PartSuppGenerator, SupplierGenerator,
};
use types::{SqlError, SqlResult, SqlState};

use super::TABLES;
use super::columns::reader;
use crate::parallel::LoadTeam;
use crate::{CancelToken, Database, Progress};

/// Rows of a row group, about: enough for good dictionaries, few enough to load one file with many workers.
const ROW_GROUP_ROWS: i64 = 128 << 10;
/// Rows that are made at a time.
const BATCH_ROWS: usize = 8 << 10;
/// What the folder was made by and for.
const MARKER: &str = "nodewise-tpch.txt";
/// Changes whenever the same scale would give other files.
const MADE_BY: &str = "tpchgen 4, layout 1, scale ";

/// [`generate`] on the workers of a database.
pub fn generate_on(
    database: &Database,
    dir: &Path,
    scale: f64,
    progress: &dyn Progress,
) -> SqlResult<()> {
    let control = QueryControl::alone(database.next_statement(), CancelToken::new());
    let (workspace, accesses) = (database.workspace.clone(), Arc::default());
    let settings = JobSettings { control, pipeline: 0, workspace, accesses };
    let team = LoadTeam(QueryTeam { scheduler: database.scheduler.clone(), settings });
    generate(dir, scale, &team, progress)
}

/// Makes the Parquet files of a scale in a folder; those that are there already from an earlier run stay.
pub fn generate(
    dir: &Path,
    scale: f64,
    parallel: &dyn Parallel,
    progress: &dyn Progress,
) -> SqlResult<()> {
    if !(0.001..=100_000.0).contains(&scale) {
        let error =
            SqlError::new(SqlState::INVALID_PARAMETER, format!("no TPC-H of scale {scale}"));
        return Err(error.with_hint("scales go from 0.001 to 100000"));
    }
    claim(dir, scale)?;
    let mut files = Vec::new();
    let mut tasks = Vec::new();
    for name in TABLES {
        if dir.join(format!("{name}.parquet")).exists() {
            continue;
        }
        let file = TableFile::create(dir, name, scale)?;
        tasks.extend((1..=file.parts).map(|part| (files.len(), part)));
        files.push(file);
    }
    if tasks.is_empty() {
        return Ok(());
    }
    let rows = files.iter().map(|it| it.rows.unsigned_abs()).sum();
    progress.begin(&format!("making TPC-H at scale {scale}"), rows);
    let run = |wave: &[(usize, i32)]| {
        parallel.run(wave.len(), &|task| {
            let (file, part) = wave[task];
            let file: &TableFile = &files[file];
            let chunks = file.encode(part, scale, progress)?;
            file.append(part, chunks)
        })
    };
    let done = tasks.chunks(2 * parallel.width().max(1)).try_for_each(run);
    progress.end();
    done
}

/// The scale that a folder was made for; `None` when [`generate`] has not made it.
pub fn scale_of(dir: &Path) -> Option<f64> {
    fs::read_to_string(dir.join(MARKER)).ok()?.trim().strip_prefix(MADE_BY)?.parse().ok()
}

/// Makes the folder ours, or finds that it is already.
fn claim(dir: &Path, scale: f64) -> SqlResult<()> {
    let other = |what: String| {
        SqlError::new(SqlState::INVALID_PARAMETER, format!("{} holds {what}", dir.display()))
            .with_hint("name another folder, or remove its files")
    };
    let marker = dir.join(MARKER);
    match scale_of(dir) {
        Some(found) if found == scale => return Ok(()),
        Some(found) => return Err(other(format!("TPC-H of scale {found}"))),
        None if marker.exists() => return Err(other("TPC-H of another version".into())),
        None => {}
    }
    fs::create_dir_all(dir).map_err(|error| failed("create", dir, &error))?;
    for name in TABLES {
        let file = format!("{name}.parquet");
        if dir.join(&file).exists() {
            return Err(other(format!("a {file} of unknown origin")));
        }
    }
    fs::write(&marker, format!("{MADE_BY}{scale}\n"))
        .map_err(|error| failed("write", &marker, &error))
}

fn failed(verb: &str, path: &Path, error: &dyn Display) -> SqlError {
    SqlError::new(SqlState::IO_ERROR, format!("cannot {verb} {}: {error}", path.display()))
}

/// A Parquet file in the making.
struct TableFile {
    name: &'static str,
    rows: i64,
    parts: i32,
    schema: SchemaRef,
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

impl TableFile {
    fn create(dir: &Path, name: &'static str, scale: f64) -> SqlResult<Self> {
        let path = dir.join(format!("{name}.parquet"));
        let temporary = dir.join(format!("{name}.parquet.tmp"));
        let schema = reader(name, 0.001, 1, 1, BATCH_ROWS).schema;
        let rows = row_count(name, scale);
        let parts = if rows < 100 { 1 } else { (rows + ROW_GROUP_ROWS - 1) / ROW_GROUP_ROWS };
        let parts = i32::try_from(parts).unwrap_or(i32::MAX);
        let open = || -> Result<_, ParquetError> {
            let properties = Arc::new(
                WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_created_by("nodewise".into())
                    .build(),
            );
            let root = ArrowSchemaConverter::new().convert(&schema)?.root_schema_ptr();
            SerializedFileWriter::new(File::create(&temporary)?, root, properties)
        };
        let writer = open().map_err(|error| failed("write", &temporary, &error))?;
        let encoders = ArrowRowGroupWriterFactory::new(&writer, schema.clone());
        let state = FileState { writer: Some(writer), next: 1, waiting: BTreeMap::new() };
        let state = Mutex::new(state);
        Ok(Self { name, rows, parts, schema, encoders, path, temporary, state })
    }

    /// Makes a row group in memory.
    fn encode(
        &self,
        part: i32,
        scale: f64,
        progress: &dyn Progress,
    ) -> SqlResult<Vec<ArrowColumnChunk>> {
        let encode = || -> Result<_, ParquetError> {
            let mut writers = self.encoders.create_column_writers(part as usize - 1)?;
            for batch in reader(self.name, scale, part, self.parts, BATCH_ROWS).batches {
                let batch = batch?;
                let columns = self.schema.fields().iter().zip(batch.columns());
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

impl Drop for TableFile {
    fn drop(&mut self) {
        if self.state.lock().writer.take().is_some() {
            // What was begun is of no use; that it stays when it cannot be removed does no harm either.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// The rows of a table; of `lineitem`, whose orders have one to seven lines, about.
fn row_count(name: &str, scale: f64) -> i64 {
    match name {
        "region" => 5,
        "nation" => 25,
        "supplier" => SupplierGenerator::calculate_row_count(scale, 1, 1),
        "customer" => CustomerGenerator::calculate_row_count(scale, 1, 1),
        "part" => PartGenerator::calculate_row_count(scale, 1, 1),
        "partsupp" => PartSuppGenerator::calculate_row_count(scale, 1, 1),
        "orders" => OrderGenerator::calculate_row_count(scale, 1, 1),
        _ => 4 * OrderGenerator::calculate_row_count(scale, 1, 1),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use storage::Serial;

    use super::*;
    use crate::NoProgress;

    /// A folder that is removed again.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("nodewise-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Runs tasks backwards, as workers never promise an order.
    struct Backwards;

    impl Parallel for Backwards {
        fn run(
            &self,
            tasks: usize,
            body: &(dyn Fn(usize) -> SqlResult<()> + Sync),
        ) -> SqlResult<()> {
            (0..tasks).rev().try_for_each(body)
        }

        fn width(&self) -> usize {
            3
        }
    }

    fn rows(dir: &Path, table: &str) -> (i64, usize) {
        let file = File::open(dir.join(format!("{table}.parquet"))).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        (reader.metadata().file_metadata().num_rows(), reader.num_row_groups())
    }

    #[test]
    fn files_are_whole_equal_and_made_once() {
        let (forwards, backwards) = (Folder::new("forwards"), Folder::new("backwards"));
        generate(&forwards.0, 0.05, &Serial, &NoProgress).unwrap();
        generate(&backwards.0, 0.05, &Backwards, &NoProgress).unwrap();
        for table in TABLES {
            let name = format!("{table}.parquet");
            let bytes = fs::read(forwards.0.join(&name)).unwrap();
            assert!(
                bytes == fs::read(backwards.0.join(&name)).unwrap(),
                "{table} depends on the order"
            );
            assert!(!forwards.0.join(format!("{name}.tmp")).exists());
        }
        assert_eq!(rows(&forwards.0, "region"), (5, 1));
        assert_eq!(rows(&forwards.0, "nation"), (25, 1));
        assert_eq!(rows(&forwards.0, "orders"), (75_000, 1));
        let (lines, groups) = rows(&forwards.0, "lineitem");
        assert!((299_000..302_000).contains(&lines) && groups == 3, "{lines} in {groups}");
        assert_eq!(scale_of(&forwards.0), Some(0.05));

        let lineitem = forwards.0.join("lineitem.parquet");
        let before = fs::metadata(&lineitem).unwrap().ino();
        fs::remove_file(forwards.0.join("nation.parquet")).unwrap();
        generate(&forwards.0, 0.05, &Serial, &NoProgress).unwrap();
        assert_eq!(fs::metadata(&lineitem).unwrap().ino(), before);
        assert_eq!(rows(&forwards.0, "nation"), (25, 1));
        let error = generate(&forwards.0, 0.01, &Serial, &NoProgress).unwrap_err();
        assert!(error.message.contains("TPC-H of scale 0.05"), "{error}");
    }

    #[test]
    fn a_folder_of_others_is_left_alone() {
        let folder = Folder::new("others");
        fs::create_dir_all(&folder.0).unwrap();
        fs::write(folder.0.join("orders.parquet"), "mine").unwrap();
        let error = generate(&folder.0, 0.01, &Serial, &NoProgress).unwrap_err();
        assert!(error.message.contains("orders.parquet of unknown origin"), "{error}");
        assert_eq!(fs::read(folder.0.join("orders.parquet")).unwrap(), b"mine");
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = generate(&folder.0, scale, &Serial, &NoProgress).unwrap_err();
            assert_eq!(error.state, SqlState::INVALID_PARAMETER);
        }
    }

    #[test]
    fn a_failure_leaves_no_half_file() {
        struct Failing;
        impl Parallel for Failing {
            fn run(
                &self,
                tasks: usize,
                body: &(dyn Fn(usize) -> SqlResult<()> + Sync),
            ) -> SqlResult<()> {
                body(tasks - 1)?;
                Err(SqlError::new(SqlState::QUERY_CANCELED, "stopped"))
            }
            fn width(&self) -> usize {
                1
            }
        }
        let folder = Folder::new("failing");
        generate(&folder.0, 0.01, &Failing, &NoProgress).unwrap_err();
        let files = fs::read_dir(&folder.0).unwrap().map(|it| it.unwrap().file_name());
        let left: Vec<_> = files.filter(|it| it.to_string_lossy().ends_with(".tmp")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
