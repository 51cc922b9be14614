//! The statements of a database that are under way: who they are, and how far they are.

use std::collections::BTreeMap;

use execution::QueryControl;
use hardware::NodeId;
use memory::Workspace;
use scheduler::Admission;
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Apart, Arc, Mutex, OnceLock};
use types::{SqlError, SqlResult, SqlState};

use crate::followed::Followed;
use crate::slow_statements::{SlowStatement, SlowStatements};
use crate::statement_counts::{Kind, StatementCounts};
use crate::statement_texts::StatementTexts;

/// All statements under way, and the gate through which they go.
#[derive(Default)]
pub(crate) struct Statements {
    pub(crate) admission: Admission,
    /// Query classes that run on certain nodes only.
    pub(crate) class_nodes: Mutex<Vec<(u8, Vec<NodeId>)>>,
    /// Whether there are any.
    pub(crate) has_class_nodes: AtomicBool,
    pub(crate) under_way: UnderWayByNumber,
    /// Statements that have a place, for the concurrency hint.
    pub(crate) placed: Arc<Apart<AtomicUsize>>,
    /// Texts of traced statements, by number.
    pub(crate) traced: Mutex<BTreeMap<u64, String>>,
    /// Those that have ended.
    pub(crate) counts: StatementCounts,
    /// Those that have ended well, by their texts.
    pub(crate) texts: StatementTexts,
    /// Who is told of slow ones.
    pub(crate) slow: OnceLock<SlowStatements>,
    sessions: Apart<AtomicU64>,
}

/// Lists of statements, so that sessions at once are seldom at the same.
const LISTS: usize = 64;

/// Statements under way by their numbers, dealt to several lists.
pub(crate) struct UnderWayByNumber([List; LISTS]);

type List = Apart<Mutex<BTreeMap<u64, Arc<StatementRecord>>>>;

impl Default for UnderWayByNumber {
    fn default() -> Self {
        Self(std::array::from_fn(|_| List::default()))
    }
}

impl UnderWayByNumber {
    fn list(&self, number: u64) -> &Mutex<BTreeMap<u64, Arc<StatementRecord>>> {
        &self.0[number as usize % LISTS].0
    }

    pub(crate) fn insert(&self, number: u64, record: Arc<StatementRecord>) {
        self.list(number).lock().insert(number, record);
    }

    pub(crate) fn remove(&self, number: u64) {
        let removed = self.list(number).lock().remove(&number);
        // Its memory is given back without the lock.
        drop(removed);
    }

    fn get(&self, number: u64) -> Option<Arc<StatementRecord>> {
        self.list(number).lock().get(&number).cloned()
    }

    /// All, by age.
    fn all(&self) -> Vec<Arc<StatementRecord>> {
        let mut all = Vec::new();
        for list in &self.0 {
            all.extend(list.0.lock().iter().map(|it| (*it.0, it.1.clone())));
        }
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|it| it.1).collect()
    }
}

/// One statement under way.
pub(crate) struct StatementRecord {
    pub(crate) control: Arc<QueryControl>,
    pub(crate) session: u64,
    pub(crate) text: String,
    pub(crate) started: Nanos,
    pub(crate) waiting: AtomicBool,
    pub(crate) placed: AtomicBool,
    /// Its memory, and what it holds.
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) work: Work,
}

/// What a statement has done so far.
#[derive(Default)]
pub(crate) struct Work {
    /// Told by its outcome; its text tells as long as there is none.
    pub(crate) kind: OnceLock<Kind>,
    /// Rows that it gave or changed.
    pub(crate) rows: AtomicU64,
    /// What it is counted as, where that is known.
    pub(crate) normalized: OnceLock<Arc<str>>,
    /// Its plan, where slow statements are told with plans.
    pub(crate) plan: OnceLock<String>,
    /// What is noted of it for who follows it.
    pub(crate) followed: Option<Arc<Followed>>,
    /// Nanoseconds in which its session did something for it.
    pub(crate) nanos: AtomicU64,
}

impl Work {
    /// It has given, or changed, so many rows more.
    pub(crate) fn add_rows(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// It is such a statement.
    pub(crate) fn is(&self, kind: Kind) {
        self.kind.get_or_init(|| kind);
    }
}

impl StatementRecord {
    /// What is told of it when it was slow.
    pub(crate) fn slow(&self, took: Nanos, rows: u64, error: Option<SqlState>) -> SlowStatement {
        let text = shown_text(&self.text, false);
        let plan = self.work.plan.get().cloned();
        SlowStatement { text, session: self.session, took, rows, error, plan }
    }

    /// What it is doing, in a word.
    pub(crate) fn state(&self) -> &'static str {
        let (waiting, placed) =
            (self.waiting.load(Ordering::Relaxed), self.placed.load(Ordering::Relaxed));
        match (waiting, placed) {
            _ if self.control.cancel.is_cancelled() => "ending",
            (true, _) => "waiting",
            (false, true) => "running",
            // What reads no table is let in without asking.
            (false, false) if self.control.pipelines().1 > 0 => "running",
            (false, false) => "planning",
        }
    }
}

/// A text as it is told outside of the database: one that has a password in it, or that is said to be bare, without its constants.
pub(crate) fn shown_text(text: &str, is_bare: bool) -> String {
    match is_bare || text.to_ascii_lowercase().contains("password") {
        true => binder::normalized(text),
        false => text.to_owned(),
    }
}

impl Statements {
    /// A number for a session.
    pub(crate) fn next_session(&self) -> u64 {
        self.sessions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// All under way, by age.
    pub(crate) fn list(&self) -> Vec<Arc<StatementRecord>> {
        self.under_way.all()
    }

    /// The texts of traced statements, by number.
    pub(crate) fn traced_texts(&self) -> BTreeMap<u64, String> {
        self.traced.lock().clone()
    }

    pub(crate) fn clear_traced(&self) {
        self.traced.lock().clear();
    }

    /// One by its number. Errors: 42704.
    pub(crate) fn find(&self, number: u64) -> SqlResult<Arc<StatementRecord>> {
        self.under_way.get(number).ok_or_else(|| {
            let message = format!("there is no statement {number} under way");
            SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                .with_hint("SELECT id, text FROM nodewise.queries lists them")
        })
    }
}
