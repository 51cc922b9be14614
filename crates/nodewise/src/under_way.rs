//! A statement that its session runs: while it is there the statement is listed, and has its place.

use scheduler::{Admitted, AlarmGuard};
use stdx::sync::atomic::Ordering;
use stdx::sync::{Arc, Mutex};

use crate::own_database::OwnDatabase;
use crate::statements::StatementRecord;

/// A statement from its beginning to its end, for its session.
pub(crate) struct UnderWay {
    pub(crate) record: Arc<StatementRecord>,
    pub(crate) place: Mutex<Option<Admitted>>,
    pub(crate) database: OwnDatabase,
    pub(crate) _alarm: Option<AlarmGuard>,
}

impl UnderWay {
    /// Gives its place back; tells whether it had one.
    pub(crate) fn leave(&self) -> bool {
        self.record.workspace.account().set_working(false);
        if self.record.placed.swap(false, Ordering::Relaxed) {
            self.database.statements.placed.fetch_sub(1, Ordering::Relaxed);
        }
        self.place.lock().take().is_some()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.leave();
        let statements = &self.database.statements;
        statements.under_way.remove(self.record.control.statement);
    }
}
