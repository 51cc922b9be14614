//! Commits: each by itself, or those of many sessions in one go (docs/design/08-transactions.md, "a commit of rows").
//!
//! Key decision: transactions that have changed rows hold locks of all that they did, so what they did can be done to the newest
//! tables in any order, and in one step: who commits while another one does leaves that to it ([`scheduler::Combining`]). A new version of a table
//! costs about the same for one change as for many, so that many sessions together commit more than one alone. What was committed in
//! one go is one record of the log, and becomes durable and seen at once.
//!
//! - Invariant: what one transaction is refused with, no other is.

use journal::Lsn;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use crate::Session;
use crate::pending_commit::Commit;
use crate::row_changes::{Extent, RowChanges};
use crate::transaction_state::Writing;

impl Session {
    /// Whether a transaction has done nothing but changes of rows that are to be done to whatever the newest tables are.
    pub(crate) fn commits_with_others(&self, writing: &Writing) -> bool {
        let is_plain = writing.turn.is_none() && !writing.is_serializable;
        is_plain && writing.record.length() == 0 && !self.has_made_temporary()
    }

    /// Commits with those who do at the same time. Returns what must be durable before it is told of.
    pub(crate) fn commit_with_others(&self, writing: Writing) -> SqlResult<Lsn> {
        let database = &self.database;
        if let Some(it) = &self.under_way {
            it.leave();
        }
        let own = Commit { writing, synchronous: self.settings.synchronous_commit };
        let done = database.commits.run(&database.scheduler, own, |all| self.commit_all(all));
        // The locks are let go of, and old tables are given back, while others commit.
        done.map_or_else(|| Err(SqlError::internal("a commit was not done")), |it| it.1)
    }

    /// Commits by itself what a transaction has changed.
    pub(crate) fn commit_alone(&self, mut writing: Writing) -> SqlResult<Lsn> {
        if writing.turn.is_none() {
            let turn = self.commit_turn()?;
            let (newest, _) = self.database.newest();
            self.check_reads(&writing, &newest)?;
            self.make_newest(&mut writing)?;
            writing.turn = Some(turn);
        }
        self.empty_on_commit(&writing)?;
        self.database.commit(&mut writing, self.settings.synchronous_commit)
    }

    /// Commits what several transactions have changed: in one go, or each by itself where that cannot be.
    fn commit_all(&self, mut all: Vec<Commit>) -> Vec<(Writing, SqlResult<Lsn>)> {
        let database = self.database.clone();
        let turn = match self.commit_turn() {
            Ok(turn) => turn,
            Err(error) => {
                return all.into_iter().map(|it| (it.writing, Err(error.clone()))).collect();
            }
        };
        let together = match all.len() {
            0 | 1 => None,
            _ => database
                .caught(|| Ok(self.commit_in_one(&mut all)))
                .unwrap_or_else(|it| Some(Err(it))),
        };
        let each = |mut it: Commit| {
            let done = together.clone().unwrap_or_else(|| {
                database.caught(|| {
                    self.make_newest(&mut it.writing)?;
                    database.commit(&mut it.writing, it.synchronous)
                })
            });
            (it.writing, done)
        };
        let done = all.into_iter().map(each).collect();
        drop(turn);
        done
    }

    /// Commits several in one go, and tells what came of it; nothing where one of them would be refused.
    fn commit_in_one(&self, all: &mut [Commit]) -> Option<SqlResult<Lsn>> {
        let changes = RowChanges::of_all(all.iter().map(|it| &it.writing.changes));
        let synchronous = all.iter().any(|it| it.synchronous);
        let writing = &mut all.first_mut()?.writing;
        let own = std::mem::replace(&mut writing.changes, changes);
        if self.make_newest(writing).is_ok() {
            return Some(self.database.commit(writing, synchronous));
        }
        writing.changes = own;
        writing.changes.put_off_all();
        writing.record.truncate(0);
        writing.branch = Arc::new(self.database.head().branch(writing.began.clone()));
        None
    }

    /// Does what a transaction has changed to the newest tables, and writes its record. Its caller has the writers' turn.
    fn make_newest(&self, writing: &mut Writing) -> SqlResult<()> {
        let (newest, _) = self.database.newest();
        let changes = &writing.changes;
        if !changes.is_flat() || !changes.is_same_in(&newest, &writing.began) {
            self.rebase_on(writing, newest, Extent::Flat)?;
        }
        self.record_changes(writing)
    }
}
