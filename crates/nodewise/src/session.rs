//! A client of a database: its settings, its prepared statements, what it runs.

use std::collections::HashMap;

use stdx::sync::{Arc, Mutex};

use crate::activity::Registered;
use crate::given_numbers::GivenNumbers;
use crate::settings::Settings;
use crate::transaction_state::{Block, Writing};
use crate::under_way::UnderWay;
use crate::{CancelToken, Database, NoProgress, Prepared, Progress};

/// A client of a database. Statements of one session run one after the other.
pub struct Session {
    pub(crate) database: Arc<Database>,
    pub(crate) settings: Settings,
    pub(crate) progress: Arc<dyn Progress>,
    /// Prepared statements by name.
    pub(crate) prepared: HashMap<String, Prepared>,
    /// Its number among all sessions.
    pub(crate) number: u64,
    /// How deep the trees of the statement that runs can be.
    pub(crate) levels: usize,
    /// The statement that runs.
    pub(crate) under_way: Option<Arc<UnderWay>>,
    pub(crate) running: Arc<Mutex<CancelToken>>,
    /// The transaction that BEGIN opened.
    pub(crate) block: Option<Block>,
    /// What the transaction, or the statement outside of one, has changed.
    pub(crate) writing: Arc<Mutex<Option<Writing>>>,
    /// What it was given of sequences.
    pub(crate) numbers: Arc<GivenNumbers>,
    /// What others may see of it, and end.
    pub(crate) activity: Registered,
}

/// Ends whatever its session is running.
#[derive(Clone)]
pub struct CancelHandle(Arc<Mutex<CancelToken>>);

impl CancelHandle {
    /// Ends the running statement at the next morsel boundary; nothing happens when none is running.
    pub fn cancel(&self) {
        self.0.lock().cancel();
    }
}

impl Session {
    fn new(database: Arc<Database>) -> Self {
        let number = database.statements.next_session();
        let writing = Arc::default();
        Self {
            activity: Registered::new(&database.sessions, number, &writing),
            number,
            levels: 0,
            under_way: None,
            database,
            settings: Settings::default(),
            progress: Arc::new(NoProgress),
            prepared: HashMap::new(),
            running: Arc::new(Mutex::new(CancelToken::new())),
            block: None,
            writing,
            numbers: Arc::default(),
        }
    }

    /// The database of the session.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Who is told how far long work is.
    pub fn set_progress(&mut self, progress: Arc<dyn Progress>) {
        self.progress = progress;
    }

    /// A handle with which another thread, or a signal, ends the running statement.
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle(self.running.clone())
    }
}

impl Database {
    /// A new session; sessions on different threads run at once on the one pool of workers.
    pub fn session(self: &Arc<Self>) -> Session {
        Session::new(self.clone())
    }
}
