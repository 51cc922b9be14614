//! Transactions: BEGIN to COMMIT, savepoints, isolation levels (docs/design/08-transactions.md).
//!
//! Key decision: tables do not change, so a transaction's picture of them is a snapshot of the catalog, its own changes are a
//! branch of it that nobody else sees, and a commit puts the changed tables of the branch in the place of those that they were
//! made from. A statement outside of a block is a transaction by itself.
//!
//! Key decision: transactions that change rows do so at once, each on its branch, and lock the rows ([`crate::locks`]). The
//! writers' turn is held for a commit only, which does the changes to the newest tables; what changes more than rows
//! has it to its end, and writes alone.
//!
//! - Invariant: what is published was made of the newest version of each table that it replaces.

use binder::{Isolation, TransactionModes, TransactionStatement};
use functions::Began;
use stdx::sync::Arc;
use storage::{Catalog, CatalogSnapshot};
use types::{SqlError, SqlResult, SqlState};

use crate::activity::Limits;
use crate::answer::done;
use crate::conflict::concurrent_update;
use crate::notice::Notice;
use crate::transaction_state::{Block, ConstraintModes, Modes, Savepoint, WritingMark};
use crate::{Answer, CancelToken, Session};

impl Session {
    /// The tables as the statement that runs sees them.
    pub(crate) fn snapshot(&self) -> Arc<CatalogSnapshot> {
        if let Some(writing) = &*self.writing.lock() {
            return writing.branch.snapshot();
        }
        let kept = self.activity.picture.lock().clone();
        kept.unwrap_or_else(|| {
            self.database.catalog.snapshot_after(&mut self.activity.latest.lock())
        })
    }

    /// The tables that the statement changes, once it has begun to write.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let writing = self.writing.lock();
        writing.as_ref().map_or_else(|| self.database.catalog.clone(), |it| it.branch.clone())
    }

    /// What comes before a statement: whether it may run, and on which tables.
    pub(crate) fn begin_statement(&mut self) -> SqlResult<()> {
        self.enter()?;
        // What a statement that failed inside has left.
        self.acting = None;
        let Some(block) = &mut self.block else {
            self.reads.lock().clear();
            return Ok(());
        };
        if let Err(error) = block.check() {
            self.leave();
            return Err(error);
        }
        block.has_begun = true;
        self.writing.lock().iter_mut().for_each(|it| it.counts_only = false);
        if block.modes.isolation.keeps_picture() {
            let mut picture = self.activity.picture.lock();
            picture.get_or_insert_with(|| self.database.catalog.snapshot());
        }
        Ok(())
    }

    /// From now on the session does something, unless a timeout has rolled its transaction back, which is told once.
    pub(crate) fn enter(&mut self) -> SqlResult<()> {
        let Err(expired) = self.activity.enter(self.database.machine.now()) else { return Ok(()) };
        if let Some(block) = &mut self.block {
            block.failed = true;
            block.savepoints.clear();
        }
        Err(expired.error())
    }

    /// From now on the session does nothing.
    pub(crate) fn leave(&self) {
        let block = self.block.as_ref().map(|it| (it.modes, it.failed));
        self.activity.leave(self.database.machine.now(), block, self.limits());
    }

    /// How long its transactions may hold what others need.
    fn limits(&self) -> Limits {
        let settings = &self.settings.scheduling;
        Limits { idle: settings.idle_timeout, picture: settings.snapshot_timeout }
    }

    /// What comes after a statement: outside of a block its changes are committed, or dropped when it failed; inside, a
    /// failure fails the block.
    pub(crate) fn end_statement<T>(&mut self, ended: SqlResult<T>) -> SqlResult<T> {
        let ended = ended.and_then(|it| self.check_conflicts().map(|()| it));
        let ended = ended.and_then(|it| match self.block {
            None => self.publish().map(|()| it),
            Some(_) => self.wait_for_beginning().map(|()| it),
        });
        let ended = match self.block {
            None => ended.and_then(|it| self.wait_for_numbers().map(|()| it)),
            Some(_) => ended,
        };
        if self.block.is_none() {
            self.channels.end(ended.is_ok());
        }
        match (&mut self.block, &ended) {
            (None, Err(_)) => self.let_go(),
            (None, Ok(_)) => self.session_locks.end_transaction(),
            (Some(block), Err(_)) => {
                block.failed = true;
                // Nothing brings it back, so that nobody has to wait for ROLLBACK.
                if block.savepoints.is_empty() {
                    self.let_go();
                }
            }
            (Some(_), Ok(_)) => {}
        }
        self.leave();
        ended
    }

    /// Forgets what the transaction has written, and lets go of what it has locked.
    fn let_go(&self) {
        *self.writing.lock() = None;
        self.session_locks.end_transaction();
    }

    /// First committer wins. Rows are looked after as they are changed; of one that writes alone, a table that it has changed,
    /// or that a foreign key was asked of, must not have been changed by one that committed after its snapshot; nor may
    /// another table refer to what it has changed since.
    fn check_conflicts(&self) -> SqlResult<()> {
        let Some(writing) = self.taken_writing() else { return Ok(()) };
        let (committed, _) = self.database.newest();
        if committed.version() == writing.began.version() {
            return Ok(());
        }
        self.check_reads(&writing, &committed)?;
        if writing.turn.is_none() {
            return Ok(());
        }
        let changed = writing.branch.snapshot();
        let changed = changed.changes_since(&writing.began);
        let differs = |name: &str| committed.differs(&writing.began, name);
        let refers = |name: &str| {
            let keys = |it: &Arc<CatalogSnapshot>| -> Vec<_> {
                let of_all = it.tables().into_iter();
                let of_all = of_all.flat_map(|it| it.rules().references.clone());
                of_all.filter(|it| it.parent.eq_ignore_ascii_case(name)).collect()
            };
            keys(&committed) != keys(&writing.began)
        };
        let asked = writing.asked.iter().any(|it| differs(it));
        match asked || changed.into_iter().any(|it| differs(it) || refers(it)) {
            true => Err(concurrent_update()),
            false => Ok(()),
        }
    }

    /// Commits what was changed. Returns when it is durable, where that is asked for.
    fn publish(&self) -> SqlResult<()> {
        self.drop_on_commit()?;
        let Some(writing) = self.writing.lock().take() else { return Ok(()) };
        if writing.turn.is_none() && writing.changes.is_empty() {
            return self.database.wait_for(writing.needs);
        }
        // What it has seen is none of the newest tables any more.
        *self.activity.latest.lock() = Arc::default();
        let needs = match self.commits_with_others(&writing) {
            true => self.commit_with_others(writing)?,
            false => self.commit_alone(writing)?,
        };
        self.database.wait_for_commit(needs)?;
        self.cut_if_long();
        Ok(())
    }

    /// A statement inside of a block that tells of rows answers when what the block began to write with is durable. One that tells
    /// how many it changed need not: its transaction ends later, and only then is anything of it known to be so.
    fn wait_for_beginning(&self) -> SqlResult<()> {
        let needs = match &*self.writing.lock() {
            Some(writing) if !writing.counts_only => writing.needs,
            _ => return Ok(()),
        };
        self.database.wait_for(needs)
    }

    /// Runs BEGIN, COMMIT and the like.
    pub(crate) fn run_transaction(&mut self, statement: TransactionStatement) -> SqlResult<Answer> {
        use TransactionStatement as Statement;
        let ends = matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. });
        if !ends && self.block.is_some() {
            // It runs for no time.
            self.enter()?;
            self.leave();
        }
        match statement {
            Statement::Begin { modes, is_start } => {
                self.begin_block(modes)?;
                Ok(done(if is_start { "START TRANSACTION" } else { "BEGIN" }))
            }
            Statement::Commit { chain } => self.end_block(true, chain),
            Statement::Rollback { chain } => self.end_block(false, chain),
            Statement::Savepoint { name } => self.savepoint(name),
            Statement::Release { name } => {
                self.block()?.check()?;
                let place = self.find_savepoint(&name)?;
                self.release_savepoint(place);
                Ok(done("RELEASE"))
            }
            Statement::RollbackTo { name } => self.rollback_to(&name),
            Statement::SetModes { modes, for_session } => self.set_modes(modes, for_session),
        }
    }

    /// BEGIN; inside of a block it changes nothing, as in PostgreSQL, where it warns.
    fn begin_block(&mut self, modes: TransactionModes) -> SqlResult<()> {
        if let Some(block) = &mut self.block {
            block.check()?;
            if std::mem::take(&mut block.is_implicit) {
                // What was done before belongs to it.
                self.set_modes(modes, false)?;
            } else {
                let message = "there is already a transaction in progress";
                self.notice(Notice::warning("25001", message));
            }
            return Ok(());
        }
        self.open_block(self.usual_modes().with(modes));
        Ok(())
    }

    /// When the statement that runs now began, and its transaction.
    pub(crate) fn began(&self) -> Began {
        let statement = self.database.machine.wall_clock();
        Began { transaction: self.block.as_ref().map_or(statement, |it| it.began), statement }
    }

    fn open_block(&mut self, modes: Modes) {
        let settings = self.settings.clone();
        let (is_implicit, failed, has_begun, savepoints) = (false, false, false, Vec::new());
        let lasting = None;
        self.activity.open(modes, self.database.machine.now(), self.limits());
        self.reads.lock().clear();
        self.broken_keys.forget();
        let constraints = ConstraintModes::default();
        let block = Block {
            modes,
            began: self.database.machine.wall_clock(),
            is_implicit,
            failed,
            has_begun,
            savepoints,
            settings,
            lasting,
            constraints,
        };
        self.block = Some(block);
    }

    /// COMMIT or ROLLBACK; outside of a block it does nothing. COMMIT of a block that failed is ROLLBACK.
    fn end_block(&mut self, commit: bool, chain: bool) -> SqlResult<Answer> {
        if self.block.as_ref().is_none_or(|it| it.is_implicit) {
            if chain {
                return Err(no_block("AND CHAIN"));
            }
            let message = "there is no transaction in progress";
            self.notice(Notice::warning("25P01", message));
        }
        self.end_opened(commit, chain)
    }

    /// Ends what is open, if anything.
    fn end_opened(&mut self, commit: bool, chain: bool) -> SqlResult<Answer> {
        if commit && self.block.as_ref().is_some_and(|it| !it.failed) {
            let database = self.database.clone();
            let asked = database.caught(|| self.check_deferred(true, &CancelToken::new()));
            if let Err(broken) = asked {
                self.end_opened(false, false)?;
                return Err(broken);
            }
        }
        let Some(block) = self.block.take() else {
            return Ok(done(if commit { "COMMIT" } else { "ROLLBACK" }));
        };
        let expired = self.activity.close(self.database.machine.now());
        let wanted = commit;
        let commit = commit && !block.failed && expired.is_none();
        let published = if commit { self.publish() } else { Ok(()) };
        if !commit || published.is_err() {
            *self.writing.lock() = None;
            self.settings = block.settings;
        } else if let Some(lasting) = block.lasting {
            self.settings = *lasting;
        }
        self.session_locks.end_transaction();
        let is_committed = commit && published.is_ok();
        self.channels.end(is_committed);
        self.end_cursors_of_transaction(is_committed);
        published?;
        self.wait_for_numbers()?;
        if let Some(expired) = expired.filter(|_| wanted && !block.failed) {
            return Err(expired.error());
        }
        if chain {
            self.open_block(block.modes);
        }
        Ok(done(if commit { "COMMIT" } else { "ROLLBACK" }))
    }

    fn savepoint(&mut self, name: String) -> SqlResult<Answer> {
        if self.block.as_ref().is_none_or(|it| it.is_implicit) {
            return Err(no_block("SAVEPOINT"));
        }
        self.push_savepoint(name).map(|_| done("SAVEPOINT"))
    }

    /// A new savepoint of the transaction, and its place among them.
    pub(crate) fn push_savepoint(&mut self, name: String) -> SqlResult<usize> {
        let written = self.writing_mark();
        let (settings, said) = (self.settings.clone(), self.channels.mark());
        let block = self.block.as_mut().ok_or_else(|| no_block("SAVEPOINT"))?;
        block.check()?;
        let (lasting, constraints) = (block.lasting.clone(), block.constraints.clone());
        let read_only = block.modes.read_only;
        let savepoint =
            Savepoint { name, written, settings, lasting, constraints, read_only, said };
        block.savepoints.push(savepoint);
        Ok(block.savepoints.len() - 1)
    }

    /// Forgets a savepoint and those behind it.
    pub(crate) fn release_savepoint(&mut self, place: usize) {
        let Some(block) = &mut self.block else { return };
        if let Some(savepoint) = block.savepoints.get(place) {
            block.modes.read_only = savepoint.read_only;
        }
        block.savepoints.truncate(place);
        self.release_cursors(place);
    }

    fn rollback_to(&mut self, name: &str) -> SqlResult<Answer> {
        let place = self.find_savepoint(name)?;
        self.back_to_savepoint(place)?;
        Ok(done("ROLLBACK"))
    }

    /// Undoes all since a savepoint, which itself stays.
    pub(crate) fn back_to_savepoint(&mut self, place: usize) -> SqlResult<()> {
        let block = self.block.as_mut().ok_or_else(|| no_block("a savepoint"))?;
        block.failed = false;
        block.savepoints.truncate(place + 1);
        let Savepoint { written, settings, lasting, constraints, read_only, said, name: _ } =
            &block.savepoints[place];
        block.modes.read_only = *read_only;
        let (written, said) = (written.clone(), *said);
        block.lasting = lasting.clone();
        block.constraints = constraints.clone();
        self.settings = settings.clone();
        self.channels.go_back(said);
        self.back_to(&written)?;
        self.release_behind(&written);
        self.end_cursors_behind(place + 1);
        Ok(())
    }

    /// How far the transaction has come with what it writes.
    pub(crate) fn writing_mark(&self) -> WritingMark {
        let (writing, advisory) = (self.writing.lock(), self.session_locks.mark());
        let Some(it) = &*writing else {
            return WritingMark { advisory, ..WritingMark::default() };
        };
        let tables = it.turn.is_some().then(|| it.branch.snapshot());
        let (changes, recorded) = (it.changes.mark(), it.record.length());
        let (deferred, locked) = (it.deferred.len(), self.database.locks.mark(it.owner.number()));
        WritingMark { tables, changes, recorded, deferred, locked, advisory }
    }

    /// Lets go of what the transaction has locked since.
    fn release_behind(&self, mark: &WritingMark) {
        if let Ok(owner) = self.lock_owner() {
            self.database.locks.release_behind(owner, mark.locked);
        }
        self.session_locks.release_behind(mark.advisory);
    }

    /// Undoes what the transaction has written since.
    pub(crate) fn back_to(&self, mark: &WritingMark) -> SqlResult<()> {
        let Some(mut writing) = self.taken_writing() else { return Ok(()) };
        writing.record.truncate(mark.recorded);
        writing.deferred.truncate(mark.deferred);
        match &mark.tables {
            Some(tables) => writing.branch.restore(tables.clone()),
            None => self.undo(&mut writing, &mark.changes)?,
        }
        Ok(())
    }

    /// SET TRANSACTION, or SET SESSION CHARACTERISTICS AS TRANSACTION.
    pub(crate) fn set_modes(
        &mut self,
        modes: TransactionModes,
        for_session: bool,
    ) -> SqlResult<Answer> {
        if for_session {
            self.set_usual_modes(modes)?;
            return Ok(done("SET"));
        }
        // Outside of a block it says something of a transaction that ends with it.
        let Some(block) = &mut self.block else { return Ok(done("SET")) };
        block.check()?;
        if block.has_begun && modes.isolation.is_some_and(|it| it != block.modes.isolation) {
            let message = "SET TRANSACTION ISOLATION LEVEL must be called before any query";
            return Err(SqlError::new(SqlState("25001"), message));
        }
        if block.has_begun && block.modes.read_only && modes.read_only == Some(false) {
            let message = "transaction read-write mode must be set before any query";
            return Err(SqlError::new(SqlState("25001"), message));
        }
        block.modes = block.modes.with(modes);
        Ok(done("SET"))
    }

    fn block(&mut self) -> SqlResult<&mut Block> {
        let said = self.block.as_mut().filter(|it| !it.is_implicit);
        said.ok_or_else(|| no_block("a savepoint"))
    }

    fn find_savepoint(&mut self, name: &str) -> SqlResult<usize> {
        let savepoints = &self.block()?.savepoints;
        savepoints.iter().rposition(|it| it.name == name).ok_or_else(|| {
            SqlError::new(SqlState("3B001"), format!("savepoint \"{name}\" does not exist"))
        })
    }

    /// The isolation level of the transaction that is open, or of the next.
    pub(crate) fn isolation(&self) -> Isolation {
        self.modes().isolation
    }

    /// Whether BEGIN has opened a transaction (`Some`), and whether a statement of it has failed.
    pub fn open_transaction(&self) -> Option<bool> {
        self.block.as_ref().filter(|it| !it.is_implicit).map(|it| it.failed)
    }

    /// Whether a transaction is open, whoever opened it: others may wait for what it holds.
    pub fn is_in_transaction(&self) -> bool {
        self.block.is_some()
    }

    /// From now on statements are one transaction until [`Session::end_implicit`], if none is open: so PostgreSQL has it of
    /// statements that are sent together.
    pub fn begin_implicit(&mut self) {
        if self.block.is_none() {
            self.open_block(self.usual_modes());
            self.block.as_mut().into_iter().for_each(|it| it.is_implicit = true);
        }
    }

    /// Commits what [`Session::begin_implicit`] began, or rolls it back when a statement of it failed. A transaction that
    /// BEGIN opened stays.
    pub fn end_implicit(&mut self) -> SqlResult<()> {
        match &self.block {
            Some(block) if block.is_implicit => self.end_opened(!block.failed, false).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// An error outside of a statement, as of a client that does not keep to the protocol: what is open has failed.
    pub fn fail_transaction(&mut self) {
        self.block.iter_mut().for_each(|it| it.failed = true);
    }
}

fn no_block(what: &str) -> SqlError {
    let message = format!("{what} can only be used in transaction blocks");
    SqlError::new(SqlState("25P01"), message).with_hint("BEGIN opens one")
}
