//! Views of transactions and of what makes them last: `transactions`, `log`, `checkpoints`, `merges`.

use arrow_array::RecordBatch;
use stdx::sync::atomic::Ordering;
use types::SqlResult;

use super::{Columns, ViewBuilder};
use crate::Database;

/// The columns of [`transactions`].
pub(super) const TRANSACTIONS: Columns = &[
    ("session", 'i'),
    ("state", 't'),
    ("isolation", 't'),
    ("read_only", 'b'),
    ("age_ns", 'i'),
    ("state_age_ns", 'i'),
    ("snapshot", 'i'),
    ("snapshot_age_ns", 'i'),
    ("writes", 'b'),
    ("rows_changed", 'i'),
];

/// A row for each session that is in a transaction or runs a statement.
pub(super) fn transactions(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(TRANSACTIONS);
    let now = database.machine.now();
    for activity in database.sessions.list() {
        let Some(seen) = activity.seen(now) else { continue };
        let picture = activity.picture.lock().as_ref().map(|it| it.version());
        let began = activity.writing.lock().as_ref().map(|it| it.began.version());
        view.row([
            activity.session.into(),
            seen.state.into(),
            seen.modes.map(|it| it.isolation.name().to_owned()).into(),
            seen.modes.is_some_and(|it| it.read_only).into(),
            seen.age.0.into(),
            seen.state_age.0.into(),
            picture.or(began).into(),
            seen.picture_age.map(|it| it.0).into(),
            began.is_some().into(),
            activity.rows.load(Ordering::Relaxed).into(),
        ]);
    }
    view.finish()
}

/// The columns of [`log`].
pub(super) const LOG: Columns = &[
    ("appended", 'i'),
    ("durable", 'i'),
    ("bytes", 'i'),
    ("records", 'i'),
    ("syncs", 'i'),
    ("waiting", 'i'),
    ("last_sync_ns", 'i'),
    ("state", 't'),
    ("cause", 't'),
];

/// The log: a row, or none in memory.
pub(super) fn log(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(LOG);
    if let Some(durability) = database.durability.get() {
        let (journal, done) = (&durability.journal, durability.journal.activity());
        let failure = journal.failure();
        view.row([
            journal.last().0.into(),
            journal.durable().0.into(),
            journal.bytes().into(),
            done.records.into(),
            done.syncs.into(),
            done.waiting.into(),
            done.last_sync.0.into(),
            if failure.is_some() { "read-only" } else { "on" }.into(),
            failure.map(|it| it.to_string()).into(),
        ]);
    }
    view.finish()
}

/// The columns of [`checkpoints`].
pub(super) const CHECKPOINTS: Columns = &[
    ("reason", 't'),
    ("started_ns", 'i'),
    ("finished_ns", 'i'),
    ("position", 'i'),
    ("bytes", 'i'),
    ("files_written", 'i'),
    ("files_kept", 'i'),
    ("outcome", 't'),
    ("error", 't'),
];

/// The newest checkpoints since the folder was opened, oldest first.
pub(super) fn checkpoints(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(CHECKPOINTS);
    let Some(durability) = database.durability.get() else { return view.finish() };
    for entry in durability.history.lock().entries() {
        let outcome = match (entry.finished, &entry.error) {
            (None, _) => "under way",
            (Some(_), None) => "done",
            (Some(_), Some(_)) => "failed",
        };
        view.row([
            if entry.is_automatic { "log size" } else { "CHECKPOINT" }.into(),
            entry.started.0.into(),
            entry.finished.map(|it| it.0).into(),
            entry.position.map(|it| it.0).into(),
            entry.tally.bytes.into(),
            entry.tally.written.into(),
            entry.tally.kept.into(),
            outcome.into(),
            entry.error.clone().into(),
        ]);
    }
    view.finish()
}

/// The columns of [`merges`].
pub(super) const MERGES: Columns = &[
    ("table_name", 't'),
    ("parts", 'i'),
    ("rows", 'i'),
    ("started_ns", 'i'),
    ("duration_ns", 'i'),
];

/// The newest merges of rows that came later, oldest first.
pub(super) fn merges(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(MERGES);
    for merge in database.merges.list() {
        view.row([
            merge.table.into(),
            merge.parts.into(),
            merge.rows.into(),
            merge.started.0.into(),
            merge.duration.0.into(),
        ]);
    }
    view.finish()
}
