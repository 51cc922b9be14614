//! Checkpoints: the tables as files, so that the log before them is needed no more (docs/design/09-durability.md, "a
//! checkpoint").
//!
//! Key decision: tables do not change, so that a checkpoint needs the writers' turn only to go on in a new file of the log; it
//! writes the tables of that moment while others commit. A part that is as it was at the last checkpoint keeps its file.
//!
//! - Invariant: a file that the manifest names is never written again; files have new names each time.
//! - Invariant: the log is cut only up to the record that a durable manifest names.

use hardware::{Folder, FolderError, LastingFile};
use journal::{Journal, JournalError, JournalResult, Lsn, read_sealed, write_sealed};
use serde::{Deserialize, Serialize};
use stdx::sync::{Arc, Weak};
use storage::files::{PartStamp, Sink, Source, part_stamp, read_table, write_part, write_table};
use storage::{Catalog, CatalogSnapshot, Column, Part, Table};
use types::{SqlError, SqlResult, SqlState};

use super::definition::malformed;
use super::history::Tally;
use super::refusal::journal_error;

const MANIFEST: &str = "manifest";
/// How files of tables are called.
const PREFIX: &str = "table-";

/// What the manifest says.
#[derive(Serialize, Deserialize, Default)]
pub(super) struct Manifest {
    /// The last record that is in the tables.
    pub(super) lsn: u64,
    /// The files of each table: its own, then those of its parts.
    pub(super) tables: Vec<Vec<String>>,
}

/// The files of the last checkpoint, with the tables and the parts that they hold.
#[derive(Default)]
pub(crate) struct Written {
    tables: Vec<(Weak<Table>, Vec<String>)>,
    parts: Vec<PartFile>,
}

/// The file of a part. As long as it is known here no other columns are where its columns were.
struct PartFile {
    columns: Vec<Weak<Column>>,
    name: String,
    stamp: PartStamp,
}

impl PartFile {
    fn new(part: &Part, name: String, stamp: PartStamp) -> Self {
        Self { columns: part.columns.iter().map(Arc::downgrade).collect(), name, stamp }
    }

    /// Whether it is that of a part, of which only marks, codes and names may have changed since.
    fn is_of(&self, part: &Part) -> bool {
        let same =
            |it: (&Weak<Column>, &Arc<Column>)| std::ptr::eq(it.0.as_ptr(), Arc::as_ptr(it.1));
        self.columns.len() == part.columns.len() && self.columns.iter().zip(&part.columns).all(same)
    }
}

/// A file that a table is written to or read from.
pub(super) struct Bytes {
    name: String,
    file: Arc<dyn LastingFile>,
    length: u64,
}

fn failed(error: FolderError) -> types::SqlError {
    journal_error(&error.into())
}

impl Sink for Bytes {
    fn put(&mut self, offset: u64, bytes: &[u8]) -> SqlResult<()> {
        self.file.write_at(offset, bytes).map_err(failed)
    }
}

impl Source for Bytes {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn bytes(&self) -> u64 {
        self.length
    }

    fn get(&self, offset: u64, into: &mut [u8]) -> SqlResult<()> {
        self.file.read_at(offset, into).map_err(failed)
    }
}

/// What the last checkpoint says; nothing where there is none.
pub(super) fn manifest(folder: &dyn Folder) -> SqlResult<Manifest> {
    match read_sealed(folder, MANIFEST).map_err(|it| journal_error(&it))? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(malformed),
        None => Ok(Manifest::default()),
    }
}

/// Refuses a folder with files of tables that neither a manifest nor a log knows of: a backup, or a copy, that was not
/// finished.
fn check_whole(folder: &dyn Folder, manifest: &Manifest) -> SqlResult<()> {
    let names = folder.list().map_err(failed)?;
    let is_known = !manifest.tables.is_empty() || names.iter().any(|it| it.starts_with("log-"));
    match is_known || !names.iter().any(|it| is_of_table(it)) {
        true => Ok(()),
        false => {
            let path = folder.path().display();
            let message = format!("{path} has tables and no manifest: it was never whole");
            Err(SqlError::new(SqlState::DATA_CORRUPTED, message)
                .with_hint("if a backup was cut short, remove the folder and make it again"))
        }
    }
}

/// A file of a checkpoint.
pub(super) fn opened(folder: &dyn Folder, name: &str) -> SqlResult<Bytes> {
    let file = folder.open(name).map_err(failed)?;
    let length = file.length().map_err(failed)?;
    Ok(Bytes { name: folder.path().join(name).display().to_string(), file, length })
}

/// Whether a file is called as those of tables are.
pub(super) fn is_of_table(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Reads the tables of the last checkpoint into an empty catalog, and tells which record is the last in them.
pub(super) fn read(
    folder: &dyn Folder,
    catalog: &Catalog,
    context: &storage::BuildContext<'_>,
) -> SqlResult<(Lsn, Written)> {
    let manifest = manifest(folder)?;
    check_whole(folder, &manifest)?;
    let mut written = Written::default();
    for names in manifest.tables {
        let files = names.iter().map(|it| opened(folder, it)).collect::<SqlResult<Vec<_>>>()?;
        let (table, files) = files.split_first().ok_or_else(|| malformed("a table of no file"))?;
        let parts: Vec<&dyn Source> = files.iter().map(|it| it as &dyn Source).collect();
        let table = catalog.create(read_table(table, &parts, context)?)?;
        for ((part, file), name) in table.parts().iter().zip(files).zip(&names[1..]) {
            written.parts.push(PartFile::new(part, name.clone(), part_stamp(file)?));
        }
        written.tables.push((Arc::downgrade(&table), names));
    }
    Ok((Lsn(manifest.lsn), written))
}

/// Writes tables that hold all records up to one, and cuts the log. `written` are those of the last checkpoint, then of this.
pub(super) fn write(
    folder: &dyn Folder,
    journal: &Journal,
    (tables, lsn): (&CatalogSnapshot, Lsn),
    written: &mut Written,
    tally: &mut Tally,
) -> SqlResult<()> {
    let names = folder.list().map_err(failed)?;
    let number = |it: &String| it.strip_prefix(PREFIX)?.split('-').next()?.parse::<u64>().ok();
    let round = names.iter().filter_map(number).max().unwrap_or(0) + 1;
    let new = write_tables(folder, (tables, round), written, tally, &|| Ok(()));
    // What it has written would take the room that the log needs.
    let new = new.inspect_err(|_| discard(folder, round))?;
    let tables = new.tables.iter().map(|it| it.1.clone()).collect();
    let manifest = Manifest { lsn: lsn.0, tables };
    let bytes = serde_json::to_vec(&manifest).map_err(malformed)?;
    let sealed = folder.sync().map_err(JournalError::from);
    let sealed = sealed.and_then(|()| write_sealed(folder, MANIFEST, &bytes));
    sealed.and_then(|()| journal.remove_up_to(lsn)).map_err(|it| journal_error(&it))?;
    *written = new;
    clean(folder, &manifest).map_err(|it| journal_error(&it))
}

/// Writes what is not as it was at the last checkpoint. `may_go_on` is asked before each table.
fn write_tables(
    folder: &dyn Folder,
    (tables, round): (&CatalogSnapshot, u64),
    written: &Written,
    tally: &mut Tally,
    may_go_on: &dyn Fn() -> SqlResult<()>,
) -> SqlResult<Written> {
    let mut new = Written::default();
    for (place, table) in tables.tables().into_iter().enumerate() {
        may_go_on()?;
        let known = written.tables.iter().find(|it| std::ptr::eq(it.0.as_ptr(), &*table));
        let name = format!("{PREFIX}{round}-{place}");
        let files = write_parts(folder, &table, &name, &written.parts, tally)?;
        let names = match known {
            Some((_, names)) => {
                tally.kept += 1;
                names.clone()
            }
            None => write_names(folder, &table, name, &files, tally)?,
        };
        new.tables.push((Arc::downgrade(&table), names));
        new.parts.extend(files);
    }
    Ok(new)
}

/// Removes the files of a checkpoint that failed, before any manifest named them. What stays is removed by the next.
fn discard(folder: &dyn Folder, round: u64) {
    let begin = format!("{PREFIX}{round}-");
    let names = folder.list().unwrap_or_default().into_iter().filter(|it| it.starts_with(&begin));
    names.for_each(|it| _ = folder.remove(&it));
}

/// Writes all tables to a folder that has nothing yet, as a checkpoint before any record. `may_go_on` is asked before
/// each.
pub(super) fn write_anew(
    folder: &dyn Folder,
    tables: &CatalogSnapshot,
    may_go_on: &dyn Fn() -> SqlResult<()>,
) -> SqlResult<()> {
    let (none, mut tally) = (Written::default(), Tally::default());
    let new = write_tables(folder, (tables, 1), &none, &mut tally, may_go_on)?;
    let tables = new.tables.into_iter().map(|it| it.1).collect();
    folder.sync().map_err(failed)?;
    let bytes = serde_json::to_vec(&Manifest { lsn: 0, tables }).map_err(malformed)?;
    write_sealed(folder, MANIFEST, &bytes).map_err(|it| journal_error(&it))
}

fn create(folder: &dyn Folder, name: &str) -> SqlResult<Bytes> {
    let file = folder.create(name).map_err(failed)?;
    Ok(Bytes { name: name.to_owned(), file, length: 0 })
}

/// Makes a file that was written last.
fn end(sink: &Bytes, tally: &mut Tally) -> SqlResult<()> {
    sink.file.sync().map_err(failed)?;
    tally.written += 1;
    tally.bytes += sink.file.length().map_err(failed)?;
    Ok(())
}

/// The files of the parts of a table, of which those are written that there are none of.
fn write_parts(
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
fn write_names(
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

/// Removes the files of tables that are in no checkpoint any more.
fn clean(folder: &dyn Folder, manifest: &Manifest) -> JournalResult<()> {
    for name in folder.list()? {
        let is_named = manifest.tables.iter().flatten().any(|it| *it == name);
        if is_of_table(&name) && !is_named {
            folder.remove(&name)?;
        }
    }
    Ok(())
}
