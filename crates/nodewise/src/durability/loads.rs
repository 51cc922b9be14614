//! Tables that got many rows at once: they are written as files, and the log names these (docs/design/09-durability.md, "a
//! load").
//!
//! Key decision: the files are those that a checkpoint would write, so that the next one keeps them, and nothing of a load is
//! ever put together as one record.
//!
//! - Invariant: files of a round stay as long as its transaction may commit, or a record of the log names them.

use hardware::Folder;
use journal::Lsn;
use stdx::Bytes;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use storage::Table;
use types::SqlResult;

use super::history::Tally;
use super::table_files::{self, PartFile, failed, of_round, round_of, write_names, write_parts};

/// Bytes of rows from which on they are written to files, unless somebody says it. A file costs two syncs of the disk
/// more than a record, and writing rows as a record takes them once more in memory.
pub(crate) const FILES_FROM: Bytes = Bytes(16 << 20);

/// Which files have which parts, and which of them are in no checkpoint yet.
pub(crate) struct Loads {
    rounds: AtomicU64,
    /// The parts that the last checkpoint has.
    kept: Mutex<Vec<PartFile>>,
    known: Mutex<Vec<Known>>,
}

struct Known {
    round: u64,
    /// The record that names them; `None` of a transaction that has not ended.
    lsn: Option<Lsn>,
    parts: Vec<PartFile>,
}

impl Loads {
    /// Those of a checkpoint, in a folder.
    pub(super) fn new(folder: &dyn Folder, kept: Vec<PartFile>) -> SqlResult<Self> {
        let rounds = AtomicU64::new(table_files::next_round(folder)?);
        Ok(Self { rounds, kept: Mutex::new(kept), known: Mutex::default() })
    }

    /// The number of a round that writes files.
    pub(super) fn next_round(&self) -> u64 {
        self.rounds.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes files that a record of the log names.
    pub(super) fn replayed(&self, lsn: Lsn, names: &[String], parts: Vec<PartFile>) {
        let round = names.first().and_then(|it| round_of(it)).unwrap_or(0);
        self.known.lock().push(Known { round, lsn: Some(lsn), parts });
    }

    /// The parts that there are files of.
    pub(super) fn parts(&self) -> Vec<PartFile> {
        let known = self.known.lock();
        let new = known.iter().flat_map(|it| &it.parts);
        self.kept.lock().iter().chain(new).cloned().collect()
    }

    /// Whether a file is one of them.
    pub(super) fn has(&self, name: &str) -> bool {
        round_of(name).is_some_and(|round| self.known.lock().iter().any(|it| it.round == round))
    }

    /// A checkpoint holds all records up to one, and these parts.
    pub(super) fn checkpointed(&self, lsn: Lsn, parts: Vec<PartFile>) {
        let mut known = self.known.lock();
        *self.kept.lock() = parts;
        known.retain(|it| it.lsn.is_none_or(|it| it > lsn));
    }
}

/// Files that a transaction has written. They go when it does not commit.
pub(crate) struct Load {
    folder: Arc<dyn Folder>,
    loads: Arc<Loads>,
    round: u64,
    is_committed: bool,
}

impl Load {
    /// Writes what there is no file of yet of a table: the files, and the names of all.
    pub(super) fn write(
        folder: &Arc<dyn Folder>,
        loads: &Arc<Loads>,
        table: &Table,
    ) -> SqlResult<(Self, Vec<String>)> {
        let round = loads.next_round();
        loads.known.lock().push(Known { round, lsn: None, parts: Vec::new() });
        let (folder, loads) = (folder.clone(), loads.clone());
        let load = Self { folder, loads, round, is_committed: false };
        let known = load.loads.parts();
        let (name, mut tally) = (format!("{}0", of_round(round)), Tally::default());
        let parts = write_parts(&*load.folder, table, &name, &known, &mut tally)?;
        let names = write_names(&*load.folder, table, name, &parts, &mut tally)?;
        load.folder.sync().map_err(failed)?;
        load.change(|it| it.parts = parts);
        Ok((load, names))
    }

    /// Keeps the files for a record that names them.
    pub(super) fn commit(mut self, lsn: Lsn) {
        self.is_committed = true;
        self.change(|it| it.lsn = Some(lsn));
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        let mut known = self.loads.known.lock();
        if let Some(it) = known.iter_mut().find(|it| it.round == self.round) {
            change(it);
        }
    }
}

impl Drop for Load {
    /// What cannot be removed now, the next checkpoint removes.
    fn drop(&mut self) {
        if self.is_committed {
            return;
        }
        let begin = of_round(self.round);
        let names = self.folder.list().unwrap_or_default();
        for name in names.iter().filter(|it| it.starts_with(&begin)) {
            let _ = self.folder.remove(name);
        }
        let _ = self.folder.sync();
        self.loads.known.lock().retain(|it| it.round != self.round);
    }
}
