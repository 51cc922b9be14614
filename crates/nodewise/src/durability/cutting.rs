//! When checkpoints are made: when somebody says so, and when the log is long.

use journal::Lsn;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;
use storage::CatalogSnapshot;
use types::{SqlError, SqlResult, SqlState};

use super::checkpoint;
use super::history::Tally;
use super::refusal::journal_error;
use super::state::Durability;
use crate::answer::done;
use crate::{Answer, CancelToken, Session};

impl Session {
    /// CHECKPOINT: writes all tables to files and cuts the log. Others may change tables meanwhile. Without a folder there is
    /// nothing to do.
    pub(crate) fn checkpoint(&self, cancel: &CancelToken) -> SqlResult<Answer> {
        if self.writing.lock().is_some() {
            let message = "CHECKPOINT cannot run in a transaction that has changed tables";
            return Err(SqlError::new(SqlState("25001"), message));
        }
        self.database.check_writable()?;
        if let Some(durability) = self.database.durability.get() {
            self.cut(durability, false, cancel)?;
        }
        Ok(done("CHECKPOINT"))
    }

    /// Makes a checkpoint if the log has become long. One that fails is none of the statement's before: the log is only longer,
    /// and the next is tried when it is twice as long.
    pub(crate) fn cut_if_long(&self) {
        let Some(durability) = self.database.durability.get() else { return };
        let bytes = durability.journal.bytes();
        if bytes < durability.cut_from.load(Ordering::Relaxed).max(durability.retry_from())
            || durability.is_cutting.swap(true, Ordering::Acquire)
        {
            return;
        }
        let cut = self.cut(durability, true, &CancelToken::new());
        durability.set_retry(if cut.is_ok() { 0 } else { bytes.saturating_mul(2) });
        durability.is_cutting.store(false, Ordering::Release);
    }

    fn cut(
        &self,
        durability: &Durability,
        is_automatic: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        // One at a time, and in the order of their records. Who has the turn never waits for this.
        let mut written = durability.written.lock();
        let now = || self.database.machine.now();
        let number = durability.history.lock().begin(is_automatic, now());
        let mut tally = Tally::default();
        let cut = self.begin_cut(durability, cancel).and_then(|(tables, lsn)| {
            durability.history.lock().note(number, |it| it.position = Some(lsn));
            self.database.wait_for(lsn)?;
            let (folder, files) = (&*durability.folder, (&durability.journal, &*durability.loads));
            checkpoint::write(folder, files, (&tables, lsn), &mut written, &mut tally)
        });
        durability.history.lock().note(number, |it| {
            (it.finished, it.tally) = (Some(now()), tally);
            it.error = cut.as_ref().err().map(|error| error.message.clone());
        });
        cut
    }

    /// The tables with all records up to one, behind which the log goes on in a new file.
    fn begin_cut(
        &self,
        durability: &Durability,
        cancel: &CancelToken,
    ) -> SqlResult<(Arc<CatalogSnapshot>, Lsn)> {
        let _turn = self.writers_turn(cancel)?;
        let seed = self.database.machine.wall_clock() as u64;
        let lsn = durability.journal.rotate(seed).map_err(|it| journal_error(&it))?;
        Ok((durability.head.snapshot(), lsn))
    }
}
