//! A session as its connection, its statements and the rows of these share it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use adbc_core::CancelHandle;
use adbc_core::error::{Result, Status};
use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use nodewise::{Answer, Session, SqlError, SqlResult, SqlState, Value};
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};

use super::errors::{refused, told};
use crate::errors::closed;
use crate::shared::Shared;

/// A session, and who uses it.
pub struct Client {
    /// The session, as the rows of its statements share it.
    pub shared: Arc<Shared>,
    /// Held by what runs in several steps, between which rows of others are read.
    pub turn: Mutex<()>,
    autocommit: AtomicBool,
    /// The number of the statement that uses the session now; 0 for none.
    running: AtomicU64,
    last: AtomicU64,
}

/// A statement, as far as it can be ended.
#[derive(Clone)]
pub struct Runner {
    /// In whose session it runs.
    pub client: Arc<Client>,
    number: u64,
    stopped: Arc<AtomicBool>,
}

impl Client {
    /// A session of which each statement is a transaction by itself.
    pub fn new(session: Session) -> Arc<Self> {
        Arc::new(Self {
            shared: Shared::new(session),
            turn: Mutex::new(()),
            autocommit: AtomicBool::new(true),
            running: AtomicU64::new(0),
            last: AtomicU64::new(0),
        })
    }

    /// A new statement.
    pub fn runner(self: &Arc<Self>) -> Runner {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        Runner { client: self.clone(), number, stopped: Arc::default() }
    }

    /// Does something with the session. What panics is an error.
    fn with<T>(&self, work: impl FnOnce(&mut Session) -> SqlResult<T>) -> SqlResult<T> {
        let mut session = self.shared.session.lock();
        let session = session.as_mut().ok_or_else(closed)?;
        let done = catch_unwind(AssertUnwindSafe(|| work(session)));
        // Nobody takes what was said beside answers.
        session.take_notices();
        done.unwrap_or_else(|_| Err(SqlError::internal("the call panicked")))
    }

    /// Looks something up; a failure is none of the transaction that is open.
    pub fn look<T>(&self, work: impl FnOnce(&mut Session) -> SqlResult<T>) -> Result<T> {
        told(self.with(work))
    }

    /// Whether each statement is a transaction by itself.
    pub fn is_autocommit(&self) -> bool {
        self.autocommit.load(Ordering::Acquire)
    }

    /// Opens the transaction of a statement, where it is not one by itself.
    pub fn begin(&self, session: &mut Session) -> SqlResult<()> {
        match self.is_autocommit() || session.open_transaction().is_some() {
            true => Ok(()),
            false => ask(session, "BEGIN", &[]).map(|_| ()),
        }
    }

    /// From now on each statement is a transaction by itself, or not; what is open is committed.
    pub fn set_autocommit(&self, is_on: bool) -> Result<()> {
        let _turn = self.turn.lock();
        if is_on && !self.is_autocommit() {
            self.look(commit)?;
        }
        self.autocommit.store(is_on, Ordering::Release);
        Ok(())
    }

    /// Ends the transaction that is open.
    pub fn end(&self, commits: bool) -> Result<()> {
        if self.is_autocommit() {
            let message = "each statement is a transaction by itself: autocommit is on";
            return Err(refused(Status::InvalidState, message));
        }
        let _turn = self.turn.lock();
        self.look(|session| match commits {
            true => commit(session),
            false if session.open_transaction().is_none() => Ok(()),
            false => ask(session, "ROLLBACK", &[]).map(|_| ()),
        })
    }

    /// What ends whatever the session runs.
    pub fn cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(CancelsAll(self.shared.clone()))
    }
}

impl Runner {
    /// The statement begins to run: what was to end it before is forgotten.
    pub fn start(&self) {
        self.stopped.store(false, Ordering::Release);
    }

    /// Does something with the session on behalf of the statement. An error fails the transaction that is open.
    pub fn run<T>(&self, work: impl FnOnce(&mut Session) -> SqlResult<T>) -> SqlResult<T> {
        self.client.with(|session| {
            self.client.running.store(self.number, Ordering::Release);
            let done = self.check().and_then(|()| work(session));
            self.client.running.store(0, Ordering::Release);
            if done.is_err() {
                session.fail_transaction();
            }
            done
        })
    }

    /// An error once somebody has ended the statement.
    pub fn check(&self) -> SqlResult<()> {
        match self.stopped.load(Ordering::Acquire) {
            true => {
                let message = "canceling statement due to user request";
                Err(SqlError::new(SqlState::QUERY_CANCELED, message))
            }
            false => Ok(()),
        }
    }
}

impl CancelHandle for Runner {
    /// What it runs is told; what it has not begun, and rows that nobody fetches now, look themselves.
    fn try_cancel(&self) -> Result<()> {
        self.stopped.store(true, Ordering::Release);
        if self.client.running.load(Ordering::Acquire) == self.number {
            self.client.shared.cancel.cancel();
        }
        Ok(())
    }
}

/// Ends whatever a session runs.
struct CancelsAll(Arc<Shared>);

impl CancelHandle for CancelsAll {
    fn try_cancel(&self) -> Result<()> {
        self.0.cancel.cancel();
        Ok(())
    }
}

/// Commits what is open. One that has failed is rolled back, which is an error here.
fn commit(session: &mut Session) -> SqlResult<()> {
    let Some(has_failed) = session.open_transaction() else { return Ok(()) };
    ask(session, "COMMIT", &[])?;
    match has_failed {
        true => {
            let message = "the transaction was rolled back, as a statement of it had failed";
            Err(SqlError::new(SqlState("25P02"), message))
        }
        false => Ok(()),
    }
}

/// Runs one statement to its end.
pub fn ask(session: &mut Session, sql: &str, values: &[Value]) -> SqlResult<Answer> {
    let prepared = session.prepare_typed(sql, &[])?;
    session.execute_prepared(&prepared, values)
}

/// The rows of an answer as one batch.
pub fn whole(answer: &Answer) -> SqlResult<RecordBatch> {
    let malformed = |it| SqlError::internal(format!("rows of the catalog: {it}"));
    concat_batches(&answer.schema, &answer.batches).map_err(malformed)
}
