//! Temporary relations: what a commit does to them, and how they go.
//!
//! Key decision: they are relations as all others, in a schema of their session, so that everything can be done with them. The log
//! and checkpoints leave them out, other sessions do not look for names there, and the schema goes when its session does.

use binder::Discarded;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;
use storage::{BuildContext, CatalogSnapshot, Table};
use types::{OnCommit, SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::channels::Said;
use crate::transaction_state::Writing;
use crate::{Answer, CancelToken, Session};

impl Session {
    /// Drops the temporary tables that ask for it when a transaction commits. It has made them, so that it writes alone.
    pub(crate) fn drop_on_commit(&self) -> SqlResult<()> {
        if !self.has_made_temporary() || !self.writes_alone() {
            return Ok(());
        }
        let cancel = CancelToken::new();
        for table in self.asking_on_commit(&self.snapshot(), OnCommit::Drop) {
            let names = std::slice::from_ref(&table.name);
            self.release_relations("table", names, true, &cancel)?;
            self.catalog().drop_table(&table.name)?;
            self.drop_owned(&table.name, true, &cancel)?;
        }
        // What is temporary goes silently.
        self.tell_cascade(false);
        Ok(())
    }

    /// Empties the temporary tables that ask for it when a transaction commits, which has the turn to do so.
    pub(crate) fn empty_on_commit(&self, writing: &Writing) -> SqlResult<()> {
        if !self.has_made_temporary() {
            return Ok(());
        }
        let context = BuildContext::serial(&self.database.allocator);
        for table in self.asking_on_commit(&writing.branch.snapshot(), OnCommit::DeleteRows) {
            writing.branch.replace(&table, table.emptied(&context)?)?;
        }
        Ok(())
    }

    /// Whether it has made temporary relations, which a commit may do something to.
    pub(crate) fn has_made_temporary(&self) -> bool {
        self.has_temporary.load(Ordering::Relaxed)
    }

    fn asking_on_commit(&self, tables: &CatalogSnapshot, what: OnCommit) -> Vec<Arc<Table>> {
        let of_schema = tables.relations_of(&self.temporary_schema());
        let own = of_schema.iter().filter_map(|it| tables.get(&it.1));
        own.filter(|it| it.rules().on_commit == what).cloned().collect()
    }

    pub(crate) fn discard(&mut self, what: Discarded, cancel: &CancelToken) -> SqlResult<Answer> {
        if what == Discarded::All && self.block.as_ref().is_some_and(|it| !it.is_implicit) {
            let message = "DISCARD ALL cannot run inside a transaction block";
            return Err(SqlError::new(SqlState("25001"), message));
        }
        if matches!(what, Discarded::All | Discarded::Temporary) {
            self.drop_temporary(cancel)?;
        }
        if matches!(what, Discarded::All | Discarded::Sequences) {
            *self.numbers.given.lock() = Default::default();
        }
        if what == Discarded::All {
            self.prepared.clear();
            self.end_cursors(|_| true);
            self.channels.say(Said::Unlisten(None));
            self.session_locks.unlock_all();
            self.settings.roles = Default::default();
            self.reset_all()?;
        }
        Ok(done(match what {
            Discarded::All => "DISCARD ALL",
            Discarded::Plans => "DISCARD PLANS",
            Discarded::Sequences => "DISCARD SEQUENCES",
            Discarded::Temporary => "DISCARD TEMP",
        }))
    }

    fn drop_temporary(&mut self, cancel: &CancelToken) -> SqlResult<()> {
        let schema = self.temporary_schema();
        if !self.snapshot().has_schema(&schema) {
            return Ok(());
        }
        self.write_alone(cancel)?;
        self.empty_schema(&schema, true, cancel)?;
        // What is temporary goes silently.
        self.tell_cascade(false);
        Ok(())
    }
}
