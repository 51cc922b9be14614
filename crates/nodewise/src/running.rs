//! Statements on their way: how they begin and wait for their place, and how they are steered and ended.

use execution::{QueryControl, cancelled};
use memory::Workspace;
use scheduler::{Admitted, CancelReason, Policy, Refused};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex};
use types::{Interrupt, SqlError, SqlResult, SqlState};

use crate::scheduling::Scheduling;
use crate::slow_statements::SlowStatements;
use crate::statements::{StatementRecord, Work};
use crate::under_way::UnderWay;
use crate::{CancelToken, Database, Session};

/// Text of a statement that is kept.
const TEXT_CHARS: usize = 1000;

impl Database {
    /// Tells slow statements from now on. Once only; whether it was the first call.
    pub fn tell_slow_statements(&self, to: SlowStatements) -> bool {
        self.statements.slow.set(to).is_ok()
    }

    /// Ends a statement of any session.
    pub fn kill(&self, statement: u64) -> SqlResult<()> {
        self.statements.find(statement)?.control.cancel.cancel_because(CancelReason::Killed);
        Ok(())
    }

    /// Changes how a statement that is under way is run: `priority`, `workers`, or a setting of the scheduling.
    pub fn steer(&self, statement: u64, name: &str, value: &str) -> SqlResult<()> {
        let record = self.statements.find(statement)?;
        let name = name.to_ascii_lowercase();
        let wrong = |wanted: &str| {
            let message = format!("{name} of a statement cannot be \"{value}\"");
            SqlError::new(SqlState::INVALID_PARAMETER, message)
                .with_hint(format!("it takes {wanted}"))
        };
        let mut policy = record.control.policy();
        match name.as_str() {
            "priority" => {
                policy.class = value.parse().map_err(|_| wrong("a number from 0 to 255"))?;
            }
            "workers" => {
                let default = value.eq_ignore_ascii_case("default");
                let count = value.parse().ok().filter(|it| *it >= 1);
                policy.max_workers = match (default, count) {
                    (true, _) => None,
                    (false, Some(count)) => Some(count),
                    (false, None) => return Err(wrong("a number from 1 on, or DEFAULT for all")),
                };
            }
            _ if Scheduling::knows(&name) => Scheduling::change(&mut policy, &name, value)?,
            _ => {
                let message = format!("there is no setting {name} of a statement");
                return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
            }
        }
        record.control.change_policy(&self.scheduler, |it| *it = policy);
        Ok(())
    }
}

impl Session {
    /// Puts a statement among those under way, until what is returned is dropped.
    pub(crate) fn begin(&self, text: &str, cancel: &CancelToken) -> Arc<UnderWay> {
        let database = &self.database;
        let statements = &database.statements;
        let number = database.next_statement();
        let mut policy = self.policy();
        let followed = self.begin_followed(text);
        policy.times = followed.as_ref().map(|it| it.jobs.clone());
        let text = kept_text(text);
        if policy.traced {
            statements.traced.lock().insert(number, text.clone());
        }
        let started = database.machine.now();
        let record = Arc::new(StatementRecord {
            control: QueryControl::new(number, cancel.clone(), policy, statements.placed.clone()),
            session: self.number,
            text,
            started,
            waiting: AtomicBool::new(false),
            placed: AtomicBool::new(false),
            workspace: self.new_workspace(),
            work: Work { followed, ..Work::default() },
        });
        statements.under_way.insert(number, record.clone());
        let timeout = self.settings.scheduling.statement_timeout;
        let alarm = (timeout.0 > 0).then(|| {
            database.scheduler.cancel_at(started + timeout, cancel, CancelReason::Timeout)
        });
        let place = Mutex::new(None);
        Arc::new(UnderWay { record, place, database: database.clone(), _alarm: alarm })
    }

    /// The policy of the next statement.
    fn policy(&self) -> Policy {
        let settings = &self.settings;
        let mut policy = settings.scheduling.policy(settings.priority, settings.workers);
        if !self.database.statements.has_class_nodes.load(Ordering::Relaxed) {
            return policy;
        }
        let classes = self.database.statements.class_nodes.lock();
        if let Some((_, nodes)) = classes.iter().find(|it| it.0 == policy.class)
            && policy.nodes.is_empty()
        {
            policy.nodes.clone_from(nodes);
        }
        policy
    }

    /// Memory for the next statement.
    fn new_workspace(&self) -> Arc<Workspace> {
        let workspace = Workspace::new(&self.database.allocator);
        workspace.account().set_limit(self.settings.memory_limit);
        Arc::new(workspace)
    }

    /// Memory of the statement that runs, or for work beside one.
    pub(crate) fn workspace(&self) -> Arc<Workspace> {
        match &self.under_way {
            Some(it) => it.record.workspace.clone(),
            None => self.database.workspace.clone(),
        }
    }

    /// The statement that runs, or work beside one.
    pub(crate) fn control(&self, cancel: &CancelToken) -> Arc<QueryControl> {
        match &self.under_way {
            Some(it) => it.record.control.clone(),
            None => QueryControl::alone(self.database.next_statement(), cancel.clone()),
        }
    }

    /// What binding and planning ask whether the statement that runs may go on.
    pub(crate) fn interrupt(&self) -> Interrupt {
        let Some(under_way) = &self.under_way else { return Interrupt::default() };
        let cancel = under_way.record.control.cancel.clone();
        Interrupt::new(move || execution::check(&cancel))
    }

    /// Waits until the statement may work on tables. Asked again it has its place already.
    pub(crate) fn wait_for_place(&self) -> SqlResult<()> {
        let Some(under_way) = &self.under_way else { return Ok(()) };
        let mut place = under_way.place.lock();
        if place.is_some() {
            return Ok(());
        }
        let record = &under_way.record;
        let database = &self.database;
        let cancel = &record.control.cancel;
        let timeout = self.settings.scheduling.queue_timeout;
        let deadline = (timeout.0 > 0).then(|| database.machine.now() + timeout);
        record.waiting.store(true, Ordering::Relaxed);
        let class = record.control.policy().class;
        let entered =
            database.statements.admission.enter(&database.scheduler, class, cancel, deadline);
        record.waiting.store(false, Ordering::Relaxed);
        let admitted = entered.map_err(|refused| match refused {
            Refused::Cancelled => cancelled(cancel),
            Refused::TimedOut { running, waiting } => too_many(timeout, running, waiting),
        })?;
        database.statements.placed.fetch_add(1, Ordering::Relaxed);
        record.placed.store(true, Ordering::Relaxed);
        record.workspace.account().set_working(true);
        *place = Some(admitted);
        Ok(())
    }

    /// The writers' turn: nobody else commits until it is dropped. Who waits for it ends as soon as it is cancelled.
    pub(crate) fn writers_turn(&self, cancel: &CancelToken) -> SqlResult<Admitted> {
        self.waiting(|| {
            let class = self.control(cancel).policy().class;
            let database = &self.database;
            let timeout = self.settings.scheduling.lock_timeout;
            let deadline = (timeout.0 > 0).then(|| database.machine.now() + timeout);
            let entered = database.writer.enter(&database.scheduler, class, cancel, deadline);
            entered.map_err(|refused| self.not_waited(refused, cancel))
        })
    }

    /// Why a statement does not wait any more for another transaction.
    pub(crate) fn not_waited(&self, refused: Refused, cancel: &CancelToken) -> SqlError {
        match refused {
            Refused::Cancelled => cancelled(cancel),
            Refused::TimedOut { .. } => {
                let message = format!(
                    "another transaction is in the way for {} and has not ended",
                    self.settings.scheduling.lock_timeout
                );
                SqlError::new(SqlState("55P03"), message)
                    .with_hint("try again later, or wait longer with lock_timeout")
            }
        }
    }

    /// Runs what waits for other transactions: meanwhile the statement holds no place that others could use, and is shown to
    /// wait.
    pub(crate) fn waiting<T>(&self, wait: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        let had_place = self.under_way.as_ref().is_some_and(|it| it.leave());
        let show = |value| {
            self.activity.waits.store(value, Ordering::Relaxed);
            if let Some(it) = &self.under_way {
                it.record.waiting.store(value, Ordering::Relaxed);
            }
        };
        show(true);
        let waited = wait();
        show(false);
        let waited = waited?;
        // Who waits for a place may hold the turn, and nobody with a place waits for the turn.
        if had_place {
            self.wait_for_place()?;
        }
        Ok(waited)
    }
}

/// The text of a statement as it is kept.
pub(crate) fn kept_text(text: &str) -> String {
    let text = text.trim();
    match text.len() <= TEXT_CHARS {
        true => text.to_owned(),
        false => text.chars().take(TEXT_CHARS).collect(),
    }
}

fn too_many(timeout: Nanos, running: usize, waiting: usize) -> SqlError {
    let message =
        format!("no place for the query within {timeout}: {running} run and {waiting} more wait");
    SqlError::new(SqlState::TOO_MANY_CONNECTIONS, message)
        .with_hint("try again later, raise max_running_queries, or wait longer with queue_timeout")
}
