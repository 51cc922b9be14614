//! Rows into a folder of files, by the values of some of their columns: `PARTITION_BY (a, b)` makes `folder/a=1/b=x/data_0.parquet`.
//!
//! Key decision: a folder that is new has another name until all of its files are whole. Into one that is there files are
//! put one by one, and only where that was asked for.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::{RecordBatch, UInt32Array};
use arrow_schema::SchemaRef;
use stdx::sync::Arc;
use storage::Parallel;
use types::{SqlError, SqlResult, SqlState};

use super::format::CopyFormat;
use super::writing::{io_failed, write_file};
use crate::reading::{NULL_FOLDER, is_on};
use crate::text::Cells;

/// The most folders that one COPY makes.
const FOLDERS_MAX: usize = 100_000;

/// How rows are laid out in folders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Partitioning {
    columns: Vec<String>,
    /// Whether the files have these columns, too.
    is_kept: bool,
    existing: Existing,
    /// How files are called, without their end; `{i}` is a number.
    pattern: String,
}

/// What becomes of a folder that has files already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Existing {
    Refused,
    /// They go.
    Removed,
    /// They stay, but for those whose names are written.
    Kept,
}

/// What options say, and those that say other things.
type Options = Vec<(String, String)>;

impl Partitioning {
    /// Takes what options say of folders.
    pub(super) fn take(options: &[(String, String)]) -> SqlResult<(Option<Self>, Options)> {
        let mut found = Self {
            columns: Vec::new(),
            is_kept: false,
            existing: Existing::Refused,
            pattern: "data_{i}".to_owned(),
        };
        let (mut rest, mut only) = (Options::new(), None);
        for (name, value) in options {
            let truth = || {
                let message = format!("option \"{name}\" takes true or false");
                is_on(value).ok_or_else(|| SqlError::new(SqlState::INVALID_PARAMETER, message))
            };
            match name.as_str() {
                "partition_by" => found.columns.push(value.clone()),
                "write_partition_columns" => found.is_kept = truth()?,
                "overwrite" if truth()? => found.existing = Existing::Removed,
                "overwrite_or_ignore" if truth()? => found.existing = Existing::Kept,
                "overwrite" | "overwrite_or_ignore" => {}
                "filename_pattern" => found.pattern = pattern(value)?,
                _ => {
                    rest.push((name.clone(), value.clone()));
                    continue;
                }
            }
            // A file that is there is overwritten in any case.
            if !name.starts_with("overwrite") && name != "partition_by" {
                only = Some(name);
            }
        }
        match (found.columns.is_empty(), only) {
            (false, _) => Ok((Some(found), rest)),
            (true, None) => Ok((None, rest)),
            (true, Some(name)) => {
                let message = format!("COPY {} needs PARTITION_BY", name.to_uppercase());
                Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
            }
        }
    }

    /// Writes rows into a folder.
    pub(super) fn write(
        &self,
        folder: &Path,
        format: &CopyFormat,
        (schema, batches): (&SchemaRef, &[RecordBatch]),
        parallel: &dyn Parallel,
    ) -> SqlResult<()> {
        if let CopyFormat::Json { .. } = format {
            return Err(SqlError::unsupported("COPY TO of format json with PARTITION_BY"));
        }
        let (keys, kept) = self.places(schema)?;
        let is_new = self.make_room(folder)?;
        let target = if is_new { beside(folder, ".tmp") } else { folder.to_path_buf() };
        let written = self.write_all(&target, format, (schema, batches), (&keys, &kept), parallel);
        let placed =
            written.and_then(|()| if is_new { self.place(&target, folder) } else { Ok(()) });
        if placed.is_err() && is_new {
            // Where it could not be made there is nothing to remove.
            let _ = fs::remove_dir_all(&target);
        }
        placed
    }

    /// The places of the columns that make folders, and of those that the files have.
    fn places(&self, schema: &SchemaRef) -> SqlResult<(Vec<usize>, Vec<usize>)> {
        let place = |name: &String| {
            schema.fields().iter().position(|it| it.name() == name).ok_or_else(|| {
                let message = format!("column \"{name}\" of PARTITION_BY does not exist");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            })
        };
        let keys = self.columns.iter().map(place).collect::<SqlResult<Vec<_>>>()?;
        let is_kept = |it: &usize| self.is_kept || !keys.contains(it);
        let kept: Vec<usize> = (0..schema.fields().len()).filter(is_kept).collect();
        if kept.is_empty() {
            let message = "PARTITION_BY of all columns leaves none for the files";
            return Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
                .with_hint("WRITE_PARTITION_COLUMNS true writes them into the files, too"));
        }
        Ok((keys, kept))
    }

    /// Whether the folder is to take the place of what there is, or of nothing.
    fn make_room(&self, folder: &Path) -> SqlResult<bool> {
        let Ok(mut entries) = fs::read_dir(folder) else {
            return match folder.exists() {
                true => {
                    let message = format!("{} is not a folder", folder.display());
                    Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
                }
                false => Ok(true),
            };
        };
        match self.existing {
            _ if entries.next().is_none() => Ok(true),
            Existing::Removed => Ok(true),
            Existing::Kept => Ok(false),
            Existing::Refused => {
                let message = format!("folder {} is not empty", folder.display());
                Err(SqlError::new(SqlState("58P02"), message).with_hint(
                    "OVERWRITE removes what it holds, OVERWRITE_OR_IGNORE leaves other files",
                ))
            }
        }
    }

    fn place(&self, made: &Path, folder: &Path) -> SqlResult<()> {
        let failed = |error: std::io::Error| io_failed(folder, &error);
        if !folder.exists() {
            return fs::rename(made, folder).map_err(failed);
        }
        let old = beside(folder, ".old");
        fs::rename(folder, &old).map_err(failed)?;
        if let Err(error) = fs::rename(made, folder) {
            fs::rename(&old, folder).map_err(failed)?;
            return Err(failed(error));
        }
        fs::remove_dir_all(&old).map_err(failed)
    }

    fn write_all(
        &self,
        folder: &Path,
        format: &CopyFormat,
        (schema, batches): (&SchemaRef, &[RecordBatch]),
        (keys, kept): (&[usize], &[usize]),
        parallel: &dyn Parallel,
    ) -> SqlResult<()> {
        fs::create_dir_all(folder).map_err(|error| io_failed(folder, &error))?;
        let malformed = |error| SqlError::internal(format!("rows are malformed: {error}"));
        let own = Arc::new(schema.project(kept).map_err(malformed)?);
        // By folder: batches and the rows of each.
        let mut parts: HashMap<String, usize> = HashMap::new();
        let mut rows: Vec<(String, Vec<RecordBatch>)> = Vec::new();
        for batch in batches {
            let mut of_batch: HashMap<usize, Vec<u32>> = HashMap::new();
            let cells: Vec<Cells<'_>> =
                keys.iter().map(|it| Cells::new(batch.column(*it))).collect();
            let (mut name, mut text) = (String::new(), String::new());
            for row in 0..batch.num_rows() {
                name.clear();
                for (cells, column) in cells.iter().zip(&self.columns) {
                    text.clear();
                    let is_there = cells.write(row, &mut text);
                    push_encoded(column, &mut name);
                    name.push('=');
                    push_encoded(if is_there { &text } else { NULL_FOLDER }, &mut name);
                    name.push('/');
                }
                let next = rows.len();
                let part = match parts.get(&name) {
                    Some(part) => *part,
                    None if next == FOLDERS_MAX => {
                        let message = format!("PARTITION_BY makes more than {FOLDERS_MAX} folders");
                        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
                    }
                    None => {
                        parts.insert(name.clone(), next);
                        rows.push((name.clone(), Vec::new()));
                        next
                    }
                };
                of_batch.entry(part).or_default().push(row as u32);
            }
            let batch = batch.project(kept).map_err(malformed)?;
            for (part, places) in of_batch {
                let places = UInt32Array::from(places);
                let taken = arrow_select::take::take_record_batch(&batch, &places);
                rows[part].1.push(taken.map_err(malformed)?);
            }
        }
        let file = self.pattern.replace("{i}", "0") + "." + format.extension();
        for (name, batches) in rows {
            let folder = folder.join(&name);
            fs::create_dir_all(&folder).map_err(|error| io_failed(&folder, &error))?;
            write_file(&folder.join(&file), format, &own, &batches, parallel)?;
        }
        Ok(())
    }
}

/// A name of files. Errors: 22023 for one of another folder.
fn pattern(value: &str) -> SqlResult<String> {
    if value.is_empty() || value.contains(['/', '\0']) || value.starts_with('.') {
        let message = "FILENAME_PATTERN takes a name of files, in which {i} is a number";
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    }
    Ok(match value.contains("{i}") {
        true => value.to_owned(),
        false => format!("{value}{{i}}"),
    })
}

/// The name of a folder that stands beside another one.
fn beside(folder: &Path, end: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default();
    let mut name = name.to_owned();
    name.push(end);
    folder.with_file_name(name)
}

/// Appends a name in which `%XX` stands for each byte that a folder should not have.
fn push_encoded(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b' ' => {
                out.push(char::from(byte));
            }
            _ => {
                // Nothing fails to be written to a string.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}
