//! Opening a folder: lock it, read what is there, go on from it.

use std::path::Path;

use hardware::{Folder, Machine};
use journal::{Journal, JournalError, Lsn};
use stdx::stack;
use stdx::sync::Arc;
use storage::{CatalogSnapshot, TableDesign};
use types::{SqlError, SqlResult};

use super::checkpoint::{self, Written};
use super::loads::Loads;
use super::refusal::journal_error;
use super::replay::{ReplayedFiles, at};
use super::sequence_form::are_logged;
use super::state::Durability;
use super::table_files::PartFile;
use crate::parallel::LoadProgress;
use crate::{CancelToken, Database, DatabaseOptions, NoProgress, Progress};

/// What can go wrong while the log is read.
struct Refusal(SqlError);

impl From<JournalError> for Refusal {
    fn from(error: JournalError) -> Self {
        Self(journal_error(&error))
    }
}

/// Has statements have room for what tables, domains and macros keep.
fn note_kept_texts(tables: &CatalogSnapshot) -> SqlResult<()> {
    for table in tables.tables() {
        let rows = &table.rules().rows;
        rows.defaults.iter().flatten().try_for_each(|it| binder::note_kept(it))?;
        rows.checks.iter().try_for_each(|it| binder::note_kept(&it.condition))?;
    }
    for form in tables.macros().flat_map(|it| &it.forms) {
        binder::note_kept(&form.body)?;
    }
    for domain in tables.user_types().filter_map(|it| it.domain.as_ref()) {
        domain.default.iter().try_for_each(|it| binder::note_kept(it))?;
        domain.checks.iter().try_for_each(|it| binder::note_kept(&it.condition))?;
    }
    Ok(())
}

impl Database {
    /// Opens the database of a folder, which is made if it is not there: its tables are those of all transactions that
    /// committed, and what is committed from now on will outlast this program. One process at a time has a folder.
    ///
    /// Errors: 55006 when another has it, XX001 when a file is damaged, 0A000 when it is of a newer format, 58030 and 53100
    /// when the disk refuses.
    pub fn open_dir(
        machine: Arc<dyn Machine>,
        path: &Path,
        options: DatabaseOptions,
        progress: &dyn Progress,
    ) -> SqlResult<Arc<Self>> {
        let folder = machine.open_folder(path).map_err(|it| journal_error(&it.into()))?;
        let database = Self::open(machine, options)?;
        // Texts that are kept may be as deep as any statement.
        let begin = || database.begin_from(folder.into(), progress);
        database.caught(|| stack::with_levels(stack::LEVELS_MAX, begin))?;
        Ok(database)
    }

    /// Goes on from what is in a folder.
    fn begin_from(
        self: &Arc<Self>,
        folder: Arc<dyn Folder>,
        progress: &dyn Progress,
    ) -> SqlResult<()> {
        let (after, written, kept) = self.read_checkpoint(&*folder, progress)?;
        let mut session = self.session();
        let loads = Loads::new(&*folder, kept)?;
        let seed = self.machine.wall_clock() as u64;
        progress.begin("reading the log", 0);
        let journal = Journal::open(folder.clone(), after, seed, &mut |lsn, record| {
            progress.advance(1);
            let files = ReplayedFiles { folder: &*folder, loads: &loads, lsn };
            session.replay(record, &files).map_err(|it| Refusal(at(lsn, it)))
        });
        progress.end();
        let journal = journal.map_err(|it| it.0)?;
        are_logged(&self.catalog.snapshot(), 0);
        note_kept_texts(&self.catalog.snapshot())?;
        let durability = Durability::new(
            journal,
            folder.clone(),
            (&self.catalog, self.machine.clone()),
            (written, loads),
        );
        drop(session);
        let set = self.durability.set(durability);
        set.map_err(|_| SqlError::internal("a database was opened twice"))
    }

    fn read_checkpoint(
        self: &Arc<Self>,
        folder: &dyn Folder,
        progress: &dyn Progress,
    ) -> SqlResult<(Lsn, Written, Vec<PartFile>)> {
        let (session, cancel) = (self.session(), CancelToken::new());
        let (team, silent) =
            (session.load_team(&cancel), LoadProgress::new(&NoProgress as &dyn Progress, "tables"));
        let (stop, design) = (|| false, TableDesign::default());
        let context = session.build_context(&team, &silent, &stop, &design);
        checkpoint::read(folder, (&self.catalog, self.loading), &context, progress)
    }
}
