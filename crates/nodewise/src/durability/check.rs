//! Looking through a folder without changing it: whether all that it holds is whole, and says what is so.
//!
//! Key decision: it goes on behind damage, so that one look names all files that must come back from a copy. Tables are
//! read, and the log is replayed, as when the folder is opened, into a database in memory.

use std::collections::BTreeSet;
use std::path::Path;

use hardware::{Folder, Machine};
use journal::{JournalError, Lsn, inspect};
use stdx::sync::Arc;
use storage::files::{Source, check, read_table};
use storage::{BuildContext, TableDesign};
use types::{SqlError, SqlResult, SqlState};

use super::checkpoint::{Manifest, manifest};
use super::loads::Loads;
use super::operation::Operation;
use super::refusal::journal_error;
use super::replay::{ReplayedFiles, at};
use super::table_files::{TableFile, is_of_table, opened};
use crate::parallel::LoadProgress;
use crate::{CancelToken, Database, DatabaseOptions, Loading, NoProgress, Progress, Session};

/// What came of looking through a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FolderCheck {
    /// The tables that could be read, in order of name.
    pub tables: Vec<CheckedTable>,
    /// Files that were looked through.
    pub files: usize,
    /// TableFile of them.
    pub bytes: u64,
    /// The last record of the log.
    pub last_record: u64,
    /// What is worth knowing and does no harm, a sentence each.
    pub notes: Vec<String>,
    /// What is damaged, each with its file and place.
    pub damages: Vec<SqlError>,
}

/// A table of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedTable {
    /// Its name.
    pub name: String,
    /// Its rows, with what the log holds.
    pub rows: u64,
    /// Its parts, with those of rows that came later.
    pub parts: usize,
    /// Its files in the last checkpoint; none of a table that is younger.
    pub files: usize,
}

impl Database {
    /// Looks through the folder of a database that nobody has open: all checksums, and whether tables are what they say of
    /// themselves. Nothing in it is changed. Damage is no error, but part of the answer.
    ///
    /// Errors: 55006 when another process has the folder, 58P01 when there is no database in it, 0A000 when its format is
    /// newer, 58030 when the disk refuses, 53200 when the tables do not fit into memory.
    pub fn check_dir(
        machine: Arc<dyn Machine>,
        path: &Path,
        options: DatabaseOptions,
        progress: &dyn Progress,
    ) -> SqlResult<FolderCheck> {
        let folder = machine.inspect_folder(path).map_err(|it| journal_error(&it.into()))?;
        // A check reads everything.
        let options = DatabaseOptions { loading: Loading::Resident, ..options };
        let database = Self::open(machine, options)?;
        let session = database.session();
        let mut check = Check { folder: &*folder, session, found: FolderCheck::default() };
        check.run(progress)?;
        Ok(check.found)
    }
}

struct Check<'a> {
    folder: &'a dyn Folder,
    session: Session,
    found: FolderCheck,
}

impl Check<'_> {
    fn run(&mut self, progress: &dyn Progress) -> SqlResult<()> {
        let names = self.folder.list().map_err(|it| journal_error(&it.into()))?;
        if !names.iter().any(|it| it.starts_with("log-") || it == "manifest") {
            let message =
                format!("{} is not the folder of a database", self.folder.path().display());
            return Err(SqlError::new(SqlState::UNDEFINED_FILE, message));
        }
        let mut manifest = match manifest(self.folder) {
            Err(error) if error.state == SqlState::DATA_CORRUPTED => {
                self.found.damages.push(error);
                without_manifest(&names)
            }
            other => other?,
        };
        let is_known = self.found.damages.is_empty();
        progress.begin("reading the tables", manifest.tables.len() as u64);
        let (team, listener) = (
            self.session.load_team(&CancelToken::new()),
            LoadProgress::new(&NoProgress as &dyn Progress, "tables"),
        );
        let (stop, design) = (|| false, TableDesign::default());
        let own = self.session.database.session();
        let context = own.build_context(&team, &listener, &stop, &design);
        let mut files = Vec::new();
        for names in &manifest.tables {
            let sources = self.whole_files(names, &context);
            if let Some(sources) = sources.filter(|_| is_known) {
                let read = self.table(&sources, &context)?;
                files.extend(read.map(|table| (table, names.len())));
            }
            progress.advance(1);
        }
        progress.end();
        for sequence in std::mem::take(&mut manifest.sequences) {
            sequence.put(&self.session.database.catalog);
        }
        let loaded = self.log(Lsn(manifest.lsn), progress)?;
        if is_known {
            self.named_files(&loaded, &context);
        }
        self.note_left_over(&names, &manifest, &loaded);
        for table in self.session.database.tables() {
            let name = table.name.clone();
            let wrong = table.contradictions(&context)?;
            self.found.damages.extend(wrong.into_iter().map(|it| contradiction(&name, &it)));
            let (rows, parts) = (table.rows(), table.parts().len());
            let files = files.iter().find(|it| it.0 == name).map_or(0, |it| it.1);
            self.found.tables.push(CheckedTable { name, rows, parts, files });
        }
        Ok(())
    }

    /// Compares the checksums of the files of a table, which are returned if they are whole.
    fn whole_files(
        &mut self,
        names: &[String],
        context: &BuildContext<'_>,
    ) -> Option<Vec<TableFile>> {
        let damages = self.found.damages.len();
        let mut sources: Vec<TableFile> = Vec::new();
        for name in names {
            self.found.files += 1;
            match opened(self.folder, name) {
                Ok(file) => {
                    self.found.bytes += file.bytes();
                    self.found.damages.extend(check(&file, context.parallel));
                    sources.push(file);
                }
                Err(error) => self.found.damages.push(error),
            }
        }
        (self.found.damages.len() == damages).then_some(sources)
    }

    /// Reads a table; its name, if that can be done.
    fn table(
        &mut self,
        sources: &[TableFile],
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<String>> {
        let Some((table, parts)) = sources.split_first() else { return Ok(None) };
        let parts: Vec<&dyn Source> = parts.iter().map(|it| it as &dyn Source).collect();
        match read_table(table, &parts, context) {
            Ok(table) => {
                let name = table.name.clone();
                self.session.database.catalog.create(table)?;
                Ok(Some(name))
            }
            Err(error) if error.state == SqlState::OUT_OF_MEMORY => Err(error),
            Err(error) => {
                self.found.damages.push(error);
                Ok(None)
            }
        }
    }

    /// Reads the log, and does what it holds if all tables are there to which it was done. Tells which files it names that no
    /// checkpoint does.
    fn log(&mut self, after: Lsn, progress: &dyn Progress) -> SqlResult<NamedFiles> {
        struct Refusal(SqlError);
        impl From<JournalError> for Refusal {
            fn from(error: JournalError) -> Self {
                Self(journal_error(&error))
            }
        }
        progress.begin("reading the log", 0);
        let (folder, loads) = (self.folder, Loads::new(self.folder, Vec::new())?);
        let (session, mut can_replay) = (&mut self.session, self.found.damages.is_empty());
        let (mut failed, mut named) = (None, NamedFiles::default());
        let inspected = inspect::<Refusal>(self.folder, after, &mut |lsn, record| {
            progress.advance(1);
            let files = ReplayedFiles { folder, loads: &loads, lsn };
            match can_replay.then(|| session.replay(record, &files)) {
                Some(Err(error)) if error.state == SqlState::OUT_OF_MEMORY => {
                    return Err(Refusal(error));
                }
                Some(Err(error)) => {
                    can_replay = false;
                    failed = Some(at(lsn, error));
                }
                Some(Ok(())) | None => {}
            }
            let names = if can_replay { &mut named.read } else { &mut named.unread };
            // A record that cannot be read was said to be damaged.
            names.extend(Operation::files_of(record).unwrap_or_default());
            Ok(())
        });
        progress.end();
        let log = inspected.map_err(|it| it.0)?;
        let damages = log.damages.iter().map(journal_error).chain(failed);
        self.found.damages.extend(damages);
        self.found.files += log.files;
        self.found.bytes += log.bytes;
        self.found.last_record = log.last.0;
        self.found.notes.extend(log.torn.map(|(name, place)| {
            let path = self.folder.path().join(name);
            let path = path.display();
            format!("{path} ends at byte {place}; what stands behind it was never acknowledged")
        }));
        Ok(named)
    }

    /// Looks through the files that the log names and that were not read when its records were redone.
    fn named_files(&mut self, named: &NamedFiles, context: &BuildContext<'_>) {
        let unread: Vec<String> = named.unread.difference(&named.read).cloned().collect();
        self.whole_files(&unread, context);
        for file in named.read.iter().filter_map(|it| opened(self.folder, it).ok()) {
            self.found.files += 1;
            self.found.bytes += file.bytes();
        }
    }

    fn note_left_over(&mut self, names: &[String], manifest: &Manifest, loaded: &NamedFiles) {
        let is_named = |it: &String| {
            let mut tables = manifest.tables.iter().flatten();
            tables.any(|name| name == it) || loaded.read.contains(it) || loaded.unread.contains(it)
        };
        let left = names.iter().filter(|it| is_of_table(it) && !is_named(it)).count();
        if left > 0 && self.found.damages.is_empty() {
            let message = format!(
                "{left} files belong to no checkpoint and no record; the next checkpoint removes them"
            );
            self.found.notes.push(message);
        }
    }
}

/// The files that records of the log name: of those that were redone, and of the rest.
#[derive(Default)]
struct NamedFiles {
    read: BTreeSet<String>,
    unread: BTreeSet<String>,
}

/// What is looked through where no manifest says which file belongs to what: each file by itself.
fn without_manifest(names: &[String]) -> Manifest {
    let tables = names.iter().filter(|it| is_of_table(it)).map(|it| vec![it.clone()]).collect();
    let number = |it: &String| u64::from_str_radix(it.strip_prefix("log-")?, 16).ok();
    let first = names.iter().filter_map(number).min().unwrap_or(1);
    Manifest { lsn: first.saturating_sub(1), tables, ..Manifest::default() }
}

fn contradiction(table: &str, what: &str) -> SqlError {
    let message = format!("table \"{table}\" contradicts itself: {what}");
    SqlError::new(SqlState::DATA_CORRUPTED, message)
}
