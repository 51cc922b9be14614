//! What nobody waits for: records of commits that were answered before they were durable are synced some time later.

use std::ops::ControlFlow;

use journal::Lsn;
use scheduler::{Morsel, MorselBody, MorselContext, PipelineJob, class};
use stdx::sync::{Arc, Weak};

use crate::Database;

/// A sync by a worker: the watchdog itself must not wait for a disk.
struct Sync {
    database: Weak<Database>,
    lsn: Lsn,
}

impl MorselBody for Sync {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        if let Some(database) = self.database.upgrade()
            && let Some(durability) = database.durability.get()
        {
            // A failure is final, and the log keeps it: nodewise.log shows it, and whoever writes next is told.
            let _ = durability.settle(self.lsn, &database.catalog);
        }
        ControlFlow::Continue(())
    }
}

impl Database {
    /// A look of the watchdog: has the log synced if a commit has been waiting for it that nobody waits for.
    pub(crate) fn sync_overdue(self: &Arc<Self>) {
        let Some(durability) = self.durability.get() else { return };
        let Some(lsn) = durability.overdue(self.machine.now()) else { return };
        let body = Sync { database: Arc::downgrade(self), lsn };
        let mut job = PipelineJob::task(None, Arc::new(body));
        job.class = class::INTERACTIVE;
        job.max_workers = Some(1);
        self.scheduler.submit(job);
    }
}
