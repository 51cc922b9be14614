//! The statements of a database that are under way: who they are, how far they are, and how to steer or end them.

use std::collections::BTreeMap;

use execution::{QueryControl, cancelled};
use hardware::NodeId;
use scheduler::{Admission, Admitted, AlarmGuard, CancelReason, Policy, Refused};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, Weak};
use types::{Interrupt, SqlError, SqlResult, SqlState};

use crate::scheduling::Scheduling;
use crate::{CancelToken, Database, Session};

/// Text of a statement that is kept.
const TEXT_CHARS: usize = 1000;

/// All statements under way, and the gate through which they go.
#[derive(Default)]
pub(crate) struct Statements {
    pub(crate) admission: Admission,
    /// Query classes that run on certain nodes only.
    pub(crate) class_nodes: Mutex<Vec<(u8, Vec<NodeId>)>>,
    under_way: Mutex<BTreeMap<u64, Arc<StatementRecord>>>,
    /// Statements that have a place, for the concurrency hint.
    placed: Arc<AtomicUsize>,
    /// Texts of traced statements, by number.
    traced: Mutex<BTreeMap<u64, String>>,
    sessions: AtomicU64,
}

/// One statement under way.
pub(crate) struct StatementRecord {
    pub(crate) control: Arc<QueryControl>,
    pub(crate) session: u64,
    pub(crate) text: String,
    pub(crate) started: Nanos,
    waiting: AtomicBool,
    placed: AtomicBool,
}

/// A statement from its beginning to its end, for its session.
pub(crate) struct UnderWay {
    pub(crate) record: Arc<StatementRecord>,
    place: Mutex<Option<Admitted>>,
    database: Arc<Database>,
    _alarm: Option<AlarmGuard>,
}

impl StatementRecord {
    /// What it is doing, in a word.
    pub(crate) fn state(&self) -> &'static str {
        let (waiting, placed) =
            (self.waiting.load(Ordering::Relaxed), self.placed.load(Ordering::Relaxed));
        match (waiting, placed) {
            _ if self.control.cancel.is_cancelled() => "ending",
            (true, _) => "waiting",
            (false, true) => "running",
            (false, false) => "planning",
        }
    }
}

impl Statements {
    /// A number for a session.
    pub(crate) fn next_session(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// All under way, by age.
    pub(crate) fn list(&self) -> Vec<Arc<StatementRecord>> {
        self.under_way.lock().values().cloned().collect()
    }

    /// The texts of traced statements, by number.
    pub(crate) fn traced_texts(&self) -> BTreeMap<u64, String> {
        self.traced.lock().clone()
    }

    pub(crate) fn clear_traced(&self) {
        self.traced.lock().clear();
    }

    fn find(&self, number: u64) -> SqlResult<Arc<StatementRecord>> {
        self.under_way.lock().get(&number).cloned().ok_or_else(|| {
            let message = format!("there is no statement {number} under way");
            SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                .with_hint("SELECT id, text FROM nodewise.queries lists them")
        })
    }

    /// Marks the youngest statement of the least urgent class for its end because memory ran out; false when there is none.
    pub(crate) fn end_for_memory(&self) -> bool {
        let list = self.list();
        let alive = list.iter().filter(|it| !it.control.cancel.is_cancelled());
        let placed = alive.filter(|it| it.placed.load(Ordering::Relaxed));
        let last = placed.max_by_key(|it| (it.control.policy().class, it.control.statement));
        last.is_some_and(|it| {
            it.control.cancel.cancel_because(CancelReason::Memory);
            true
        })
    }
}

impl Database {
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

    /// Lets the watchdog end statements when the process takes more memory than it may.
    pub(crate) fn guard_memory(self: &Arc<Self>, limit: Option<stdx::Bytes>) {
        // Some room to the limit: the kernel ends the process that reaches it.
        let Some(limit) = limit.map(|it| stdx::Bytes(it.0 - it.0 / 16)) else { return };
        let database: Weak<Self> = Arc::downgrade(self);
        let last = Mutex::new(Nanos(0));
        self.scheduler.set_guard(move || {
            let Some(database) = database.upgrade() else { return };
            let now = database.machine.now();
            // A statement needs time to end and to give its memory back before another one has to.
            if (now - *last.lock()).0 >= MEMORY_PERIOD.0 {
                *last.lock() = now;
                let taken = database.machine.resident_bytes().1;
                stdx::memory::set_headroom(stdx::Bytes(limit.0.saturating_sub(taken.0)));
                if taken > limit {
                    database.statements.end_for_memory();
                }
            }
        });
    }
}

/// Between two looks at the memory.
const MEMORY_PERIOD: Nanos = Nanos(100_000_000);

impl Session {
    /// Puts a statement among those under way, until what is returned is dropped.
    pub(crate) fn begin(&self, text: &str, cancel: &CancelToken) -> Arc<UnderWay> {
        let database = &self.database;
        let statements = &database.statements;
        let number = database.next_statement();
        let policy = self.policy();
        let text: String = text.trim().chars().take(TEXT_CHARS).collect();
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
        });
        statements.under_way.lock().insert(number, record.clone());
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
        let classes = self.database.statements.class_nodes.lock();
        if let Some((_, nodes)) = classes.iter().find(|it| it.0 == policy.class)
            && policy.nodes.is_empty()
        {
            policy.nodes.clone_from(nodes);
        }
        policy
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
        *place = Some(admitted);
        Ok(())
    }

    /// The turn of a statement that changes tables: nobody else does until it is dropped. While it waits it holds no place
    /// that others could use, and it ends as soon as it is cancelled.
    pub(crate) fn writers_turn(&self, cancel: &CancelToken) -> SqlResult<Admitted> {
        let had_place = self.under_way.as_ref().is_some_and(|it| it.leave());
        let waiting = |value| {
            if let Some(it) = &self.under_way {
                it.record.waiting.store(value, Ordering::Relaxed);
            }
        };
        waiting(true);
        let class = self.control(cancel).policy().class;
        let database = &self.database;
        let entered = database.writer.enter(&database.scheduler, class, cancel, None);
        waiting(false);
        let turn = entered.map_err(|_| cancelled(cancel))?;
        // Who waits for a place holds the turn, and nobody with a place waits for the turn.
        if had_place {
            self.wait_for_place()?;
        }
        Ok(turn)
    }
}

fn too_many(timeout: Nanos, running: usize, waiting: usize) -> SqlError {
    let message =
        format!("no place for the query within {timeout}: {running} run and {waiting} more wait");
    SqlError::new(SqlState::TOO_MANY_CONNECTIONS, message)
        .with_hint("try again later, raise max_running_queries, or wait longer with queue_timeout")
}

impl UnderWay {
    /// Gives its place back; tells whether it had one.
    fn leave(&self) -> bool {
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
        statements.under_way.lock().remove(&self.record.control.statement);
    }
}
