//! The files of tables in a folder: of each table one for what its parts share, and one for each part.
//!
//! - Invariant: files have new names each time, which begin with the number of the round that wrote them.

use hardware::{Folder, FolderError, LastingFile};
use memory::MappedFile;
use stdx::sync::{Arc, Weak};
use storage::files::{PartStamp, Sink, Source, part_stamp, read_table, write_part, write_table};
use storage::{BuildContext, Column, Part, Table};
use types::SqlResult;

use super::definition::malformed;
use super::history::Tally;
use super::refusal::journal_error;
use crate::{Loading, Progress};

/// How files of tables are called.
const PREFIX: &str = "table-";

/// The file of a part. As long as it is known here no other columns are where its columns were.
#[derive(Clone)]
pub(super) struct PartFile {
    columns: Vec<Weak<Column>>,
    name: String,
    stamp: PartStamp,
}

impl PartFile {
    pub(super) fn new(part: &Part, name: String, stamp: PartStamp) -> Self {
        Self { columns: part.columns.iter().map(Arc::downgrade).collect(), name, stamp }
    }

    /// Whether it is that of a part, of which only marks, codes and names may have changed since.
    fn is_of(&self, part: &Part) -> bool {
        let same =
            |it: (&Weak<Column>, &Arc<Column>)| std::ptr::eq(it.0.as_ptr(), Arc::as_ptr(it.1));
        self.columns.len() == part.columns.len()
            && self.columns.iter().zip(part.columns.iter()).all(same)
    }
}

/// A file that a table is written to or read from.
pub(super) struct TableFile {
    name: String,
    file: Arc<dyn LastingFile>,
    length: u64,
    /// Where its bytes are in memory.
    mapped: Option<Arc<MappedFile>>,
}

pub(super) fn failed(error: FolderError) -> types::SqlError {
    journal_error(&error.into())
}

impl Sink for TableFile {
    fn put(&mut self, offset: u64, bytes: &[u8]) -> SqlResult<()> {
        self.file.write_at(offset, bytes).map_err(failed)
    }
}

impl Source for TableFile {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn bytes(&self) -> u64 {
        self.length
    }

    fn get(&self, offset: u64, into: &mut [u8]) -> SqlResult<()> {
        self.file.read_at(offset, into).map_err(failed)
    }

    fn mapped(&self) -> Option<&Arc<MappedFile>> {
        self.mapped.as_ref()
    }
}

/// A file that tells how much of it was read.
struct Watched<'a> {
    file: &'a TableFile,
    progress: &'a dyn Progress,
}

impl Source for Watched<'_> {
    fn name(&self) -> String {
        self.file.name()
    }

    fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn get(&self, offset: u64, into: &mut [u8]) -> SqlResult<()> {
        self.file.get(offset, into)?;
        self.progress.advance(into.len() as u64);
        Ok(())
    }

    fn mapped(&self) -> Option<&Arc<MappedFile>> {
        self.file.mapped()
    }
}

/// A file of a checkpoint.
pub(super) fn opened(folder: &dyn Folder, name: &str) -> SqlResult<TableFile> {
    let file = folder.open(name).map_err(failed)?;
    let length = file.length().map_err(failed)?;
    let name = folder.path().join(name).display().to_string();
    Ok(TableFile { name, file, length, mapped: None })
}

/// Whether a file is called as those of tables are.
pub(super) fn is_of_table(name: &str) -> bool {
    name.starts_with(PREFIX)
}

fn create(folder: &dyn Folder, name: &str) -> SqlResult<TableFile> {
    let file = folder.create(name).map_err(failed)?;
    Ok(TableFile { name: name.to_owned(), file, length: 0, mapped: None })
}

/// Makes a file that was written last.
fn end(sink: &TableFile, tally: &mut Tally) -> SqlResult<()> {
    sink.file.sync().map_err(failed)?;
    tally.written += 1;
    tally.bytes += sink.file.length().map_err(failed)?;
    Ok(())
}

/// The files of the parts of a table, of which those are written that there are none of.
pub(super) fn write_parts(
    folder: &dyn Folder,
    table: &Table,
    name: &str,
    known: &[PartFile],
    tally: &mut Tally,
) -> SqlResult<Vec<PartFile>> {
    let file = |(place, part): (usize, &Part)| {
        if let Some(known) = known.iter().find(|it| it.is_of(part)) {
            tally.kept += 1;
            return Ok(PartFile::new(part, known.name.clone(), known.stamp));
        }
        let name = format!("{name}-{place}");
        let mut sink = create(folder, &name)?;
        let stamp = write_part(table, place, &mut sink)?;
        end(&sink, tally)?;
        Ok(PartFile::new(part, name, stamp))
    };
    table.parts().iter().enumerate().map(file).collect()
}

/// Writes the file of a table: the names of all its files.
pub(super) fn write_names(
    folder: &dyn Folder,
    table: &Table,
    name: String,
    parts: &[PartFile],
    tally: &mut Tally,
) -> SqlResult<Vec<String>> {
    let stamps: Vec<PartStamp> = parts.iter().map(|it| it.stamp).collect();
    let mut sink = create(folder, &name)?;
    write_table(table, &stamps, &mut sink)?;
    end(&sink, tally)?;
    Ok([name].into_iter().chain(parts.iter().map(|it| it.name.clone())).collect())
}

/// How the files of a round begin.
pub(super) fn of_round(round: u64) -> String {
    format!("{PREFIX}{round}-")
}

/// The round of a file, if it is one of a table.
pub(super) fn round_of(name: &str) -> Option<u64> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// The first round whose names are free.
pub(super) fn next_round(folder: &dyn Folder) -> SqlResult<u64> {
    let names = folder.list().map_err(failed)?;
    Ok(names.iter().filter_map(|it| round_of(it)).max().unwrap_or(0) + 1)
}

/// The bytes of all files of some tables.
pub(super) fn bytes(folder: &dyn Folder, tables: &[Vec<String>]) -> SqlResult<u64> {
    let bytes = |it: &String| folder.open(it).and_then(|it| it.length()).map_err(failed);
    tables.iter().flatten().map(bytes).sum()
}

/// Reads a table of its files, of which its own is the first, and tells which file has which part. Those of parts may be
/// mapped.
pub(super) fn read(
    folder: &dyn Folder,
    names: &[String],
    loading: Loading,
    (context, progress): (&BuildContext<'_>, &dyn Progress),
) -> SqlResult<(Table, Vec<PartFile>)> {
    let mut files = names.iter().map(|it| opened(folder, it)).collect::<SqlResult<Vec<_>>>()?;
    for file in files.iter_mut().skip(1).filter(|_| loading == Loading::Mapped) {
        let mapping = file.file.map().map_err(failed)?;
        file.mapped = Some(context.allocator.mapped_file(mapping, file.name.clone()));
    }
    let (table, files) = files.split_first().ok_or_else(|| malformed("a table of no file"))?;
    let watched = |file| Watched { file, progress };
    let parts: Vec<Watched<'_>> = files.iter().map(watched).collect();
    let parts: Vec<&dyn Source> = parts.iter().map(|it| it as &dyn Source).collect();
    let table = read_table(&watched(table), &parts, context)?;
    let file = |((part, file), name): ((&Part, &TableFile), &String)| {
        Ok(PartFile::new(part, name.clone(), part_stamp(file)?))
    };
    let files =
        table.parts().iter().zip(files).zip(&names[1..]).map(file).collect::<SqlResult<_>>()?;
    Ok((table, files))
}
