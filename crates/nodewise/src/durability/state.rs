//! The log of an open database, and the commits that are in it and not yet shown.

use std::collections::VecDeque;

use hardware::FolderError;
use journal::{Journal, JournalError, JournalResult, Lsn};
use stdx::sync::{Arc, Mutex};
use storage::{Catalog, CatalogSnapshot};
use types::{SqlError, SqlState};

/// What a database with a folder has beside its tables.
pub(crate) struct Durability {
    pub(crate) journal: Journal,
    /// The tables as they are after all commits, durable or not: what the next transaction that writes begins with.
    pub(crate) head: Arc<Catalog>,
    queue: Mutex<Queue>,
}

/// Commits that are not shown yet.
#[derive(Default)]
struct Queue {
    /// In the order of the log.
    pending: VecDeque<Pending>,
    /// The last record that somebody is told of only when it is durable.
    wanted: Lsn,
}

struct Pending {
    /// What must be durable before it is shown.
    needs: Lsn,
    tables: Arc<CatalogSnapshot>,
}

impl Durability {
    /// Beside tables that are all durable.
    pub(crate) fn new(journal: Journal, tables: &Catalog) -> Self {
        let head = Arc::new(tables.branch(tables.snapshot()));
        Self { journal, head, queue: Mutex::default() }
    }

    /// Notes a commit, whose tables are the head's now, and returns what must be durable before it is shown or told of. Only
    /// who has the writers' turn commits.
    pub(crate) fn committed(&self, lsn: Lsn, synchronous: bool) -> Lsn {
        let mut queue = self.queue.lock();
        if synchronous {
            queue.wanted = lsn;
        }
        let needs = queue.wanted;
        queue.pending.push_back(Pending { needs, tables: self.head.snapshot() });
        needs
    }

    /// What must be durable before anybody is told what the head holds.
    pub(crate) fn wanted(&self) -> Lsn {
        self.queue.lock().wanted
    }

    /// Whether all commits are shown.
    pub(crate) fn is_settled(&self) -> bool {
        self.queue.lock().pending.is_empty()
    }

    /// Waits for a record to be durable, and shows all commits that need no later one.
    pub(crate) fn settle(&self, needs: Lsn, shown: &Catalog) -> JournalResult<()> {
        self.journal.sync_to(needs)?;
        let durable = self.journal.durable();
        let mut queue = self.queue.lock();
        let mut tables = None;
        while queue.pending.front().is_some_and(|it| it.needs <= durable) {
            tables = queue.pending.pop_front().map(|it| it.tables);
        }
        // Under the lock, so that no later commit is taken back.
        if let Some(tables) = tables {
            shown.restore(tables);
        }
        Ok(())
    }
}

impl Drop for Durability {
    /// Who closes leaves a mark, by which later damage is told from a crash. One that cannot be written is none.
    fn drop(&mut self) {
        let _ = self.journal.mark();
    }
}

/// A refusal of the log as a statement's error.
pub(crate) fn journal_error(error: &JournalError) -> SqlError {
    let state = match error {
        JournalError::Disk(FolderError::Full { .. }) => SqlState::DISK_FULL,
        JournalError::Disk(FolderError::Locked { .. }) => SqlState("55006"),
        JournalError::Disk(FolderError::Failed { .. }) => SqlState::IO_ERROR,
        JournalError::Damaged { .. } => SqlState::DATA_CORRUPTED,
        JournalError::Newer { .. } => SqlState::FEATURE_NOT_SUPPORTED,
        JournalError::Stopped { cause } => {
            let message = "cannot change tables: the database is read-only";
            let hint = format!("{cause}; what is in the log is there again after a restart");
            return SqlError::new(SqlState("25006"), message).with_hint(hint);
        }
    };
    let hint = match error {
        JournalError::Disk(FolderError::Locked { .. }) => "one process at a time opens a database",
        JournalError::Damaged { .. } => "bring the folder back from a copy",
        JournalError::Newer { .. } => "open it with the Nodewise that wrote it, or a later one",
        _ => return SqlError::new(state, error.to_string()),
    };
    SqlError::new(state, error.to_string()).with_hint(hint)
}
