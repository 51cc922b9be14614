//! The log of an open database, and the commits that are in it and not yet shown.

use std::collections::VecDeque;

use hardware::{Folder, Machine};
use journal::{Journal, JournalResult, Lsn, Record};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use storage::{Catalog, CatalogSnapshot};

use super::checkpoint::Written;
use super::history::History;
use super::loads::Loads;
use super::operation::Operation;
use super::sequence_form::lasting;

/// What a database with a folder has beside its tables.
pub(crate) struct Durability {
    pub(crate) journal: Journal,
    /// The tables as they are after all commits, durable or not: what the next transaction that writes begins with.
    pub(crate) head: Arc<Catalog>,
    pub(crate) folder: Arc<dyn Folder>,
    /// Files of tables that are in no checkpoint yet.
    pub(crate) loads: Arc<Loads>,
    /// The files of the last checkpoint; held while another is made.
    pub(crate) written: Mutex<Written>,
    /// Whether somebody makes one as the log is long.
    pub(crate) is_cutting: AtomicBool,
    /// Bytes of the log from which on a checkpoint is made.
    pub(crate) cut_from: AtomicU64,
    /// Bytes from which on it is tried again after one that failed.
    retry_from: AtomicU64,
    queue: Mutex<Queue>,
    /// Checkpoints, with what came of them.
    pub(crate) history: Mutex<History>,
    machine: Arc<dyn Machine>,
}

/// Bytes of the log from which on a checkpoint is made, unless it is said otherwise.
pub(crate) const CUT_FROM: u64 = 64 << 20;

/// Commits that are not shown yet.
#[derive(Default)]
struct Queue {
    /// In the order of the log.
    pending: VecDeque<Pending>,
    /// The last record that somebody is told of only when it is durable.
    wanted: Lsn,
    /// The last record that nobody waits for, and when it was first seen not to be durable.
    unawaited: (Lsn, Option<Nanos>),
}

/// How long a record stays that nobody waits for before it is synced, as PostgreSQL's wal_writer_delay.
const SYNC_DELAY: Nanos = Nanos(200_000_000);

struct Pending {
    /// What must be durable before it is shown.
    needs: Lsn,
    tables: Arc<CatalogSnapshot>,
}

impl Durability {
    /// Beside tables that are all durable.
    pub(crate) fn new(
        journal: Journal,
        folder: Arc<dyn Folder>,
        (tables, machine): (&Catalog, Arc<dyn Machine>),
        (written, loads): (Written, Loads),
    ) -> Self {
        let head = Arc::new(tables.branch(tables.snapshot()));
        let (is_cutting, cut_from) = (AtomicBool::new(false), AtomicU64::new(CUT_FROM));
        let (written, queue) = (Mutex::new(written), Mutex::default());
        let (retry_from, history) = (AtomicU64::new(0), Mutex::default());
        let loads = Arc::new(loads);
        Self {
            loads,
            journal,
            head,
            folder,
            written,
            is_cutting,
            cut_from,
            retry_from,
            queue,
            history,
            machine,
        }
    }

    /// Puts the tables of a commit into the head, and returns what must be durable before it is shown or told of: its
    /// record, where it has one and is to be answered then, and what others were told of. Only who has the writers' turn commits.
    pub(crate) fn committed(
        &self,
        logged: Option<(Lsn, bool)>,
        (began, branch): (&CatalogSnapshot, &Catalog),
    ) -> Lsn {
        // Under the lock, so that nobody sees the tables and not what they need.
        let mut queue = self.queue.lock();
        self.head.publish(began, branch);
        match logged {
            Some((lsn, true)) => queue.wanted = lsn,
            Some((lsn, false)) => queue.unawaited.0 = lsn,
            None => {}
        }
        let needs = queue.wanted;
        queue.pending.push_back(Pending { needs, tables: self.head.snapshot() });
        needs
    }

    /// Takes the relations of a schema out, of which the log knows nothing.
    pub(crate) fn forget(&self, schema: &str, shown: &Catalog) {
        let mut queue = self.queue.lock();
        self.head.forget(schema);
        match queue.pending.is_empty() {
            true => shown.restore(self.head.snapshot()),
            false => {
                let needs = queue.wanted;
                queue.pending.push_back(Pending { needs, tables: self.head.snapshot() });
            }
        }
    }

    /// The head, and what must be durable before anybody is told what it holds.
    pub(crate) fn newest(&self) -> (Arc<CatalogSnapshot>, Lsn) {
        let queue = self.queue.lock();
        (self.head.snapshot(), queue.wanted)
    }

    /// Bytes of the log from which on a checkpoint is tried again.
    pub(crate) fn retry_from(&self) -> u64 {
        self.retry_from.load(Ordering::Relaxed)
    }

    pub(crate) fn set_retry(&self, bytes: u64) {
        self.retry_from.store(bytes, Ordering::Relaxed);
    }

    /// Whether all commits are shown.
    pub(crate) fn is_settled(&self) -> bool {
        self.queue.lock().pending.is_empty()
    }

    /// The last of the records that nobody waits for, when it is time to sync them. It is told once.
    pub(crate) fn overdue(&self, now: Nanos) -> Option<Lsn> {
        let mut queue = self.queue.lock();
        let (last, since) = &mut queue.unawaited;
        if *last <= self.journal.durable() || self.journal.failure().is_some() {
            *since = None;
            return None;
        }
        let first = *since.get_or_insert(now);
        let is_due = now - first >= SYNC_DELAY;
        is_due.then(|| {
            *since = None;
            *last
        })
    }

    /// Waits for a record to be durable, and shows all commits that need no later one.
    pub(crate) fn settle(&self, needs: Lsn, shown: &Catalog) -> JournalResult<()> {
        self.journal.sync_timed(needs, &|| self.machine.now())?;
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
        // Numbers that the log takes for given out and that were not come next time, where this can be written.
        let mut record = Record::default();
        for sequence in lasting(&self.head.snapshot()) {
            let counted = *sequence.counter.lock();
            if counted.logged.is_some_and(|it| it.ahead > 0) {
                let _ = Operation::count(sequence.counter.id, counted.position).write(&mut record);
            }
        }
        if record.length() > 0 {
            let _ = self.journal.append(record);
        }
        let _ = self.journal.mark();
    }
}
