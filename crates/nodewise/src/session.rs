//! A client of a database: its settings, its prepared statements, what it runs.

use std::collections::HashMap;

use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex};
use types::{RoleId, SqlError, SqlResult, SqlState};

use crate::activity::Registered;
use crate::asked::Asked;
use crate::broken_keys::BrokenUntilCommit;
use crate::channels::OwnChannels;
use crate::client_settings::ClientSettings;
use crate::ended_statement::Follow;
use crate::followed::Followed;
use crate::frames::Frames;
use crate::given_numbers::GivenNumbers;
use crate::notice::Notice;
use crate::own_database::OwnDatabase;
use crate::reads::Reads;
use crate::search_path::SearchPath;
use crate::session_locks::SessionLocks;
use crate::settings::Settings;
use crate::similar_statements::SimilarStatements;
use crate::sql_cursor::SqlCursors;
use crate::statement_texts::OwnTexts;
use crate::transaction_state::{Block, Writing};
use crate::under_way::UnderWay;
use crate::{CancelToken, Database, NoProgress, Prepared, Progress};

/// Notices kept for a client that does not take them.
pub(crate) const NOTICES_MAX: usize = 100;

/// A client of a database. Statements of one session run one after the other.
pub struct Session {
    /// Behind a count of its own.
    pub(crate) database: OwnDatabase,
    pub(crate) settings: Settings,
    pub(crate) progress: Arc<dyn Progress>,
    /// Prepared statements by name.
    pub(crate) prepared: HashMap<String, Prepared>,
    /// Cursors that DECLARE has opened.
    pub(crate) cursors: SqlCursors,
    /// The channels that it listens to, and what it says to channels.
    pub(crate) channels: OwnChannels,
    /// Statements by their texts without integers.
    pub(crate) similar: SimilarStatements,
    /// Where its statements are counted by their texts.
    pub(crate) texts: OwnTexts,
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
    /// What it and its transaction have locked that they do not write.
    pub(crate) session_locks: Arc<SessionLocks>,
    /// Whether keys are broken that may be until the transaction ends.
    pub(crate) broken_keys: BrokenUntilCommit,
    /// What it was given of sequences.
    pub(crate) numbers: Arc<GivenNumbers>,
    /// What the transaction has read, if it is serializable.
    pub(crate) reads: Mutex<Reads>,
    /// What others may see of it, and end.
    pub(crate) activity: Registered,
    /// What calls of functions have asked of it, and is to be done when its statement ends.
    pub(crate) effects: Arc<Asked>,
    /// The settings as the client knows them.
    told: ClientSettings,
    /// What its client says.
    pub(crate) client: Client,
    /// What was said and not taken yet.
    pub(crate) notices: Mutex<Vec<Notice>>,
    /// What has gone with others in the statement that runs, in words.
    pub(crate) cascade: Mutex<Vec<String>>,
    /// Whether its statements may read and write files of the machine.
    pub(crate) may_use_files: bool,
    /// Rows that a program around it has given names.
    pub(crate) frames: Frames,
    /// Whether it has made temporary relations.
    pub(crate) has_temporary: AtomicBool,
    /// Where it looks for names when nobody has said anything, and there are no other schemas.
    pub(crate) usual_path: SearchPath,
    /// The role that its client came in as.
    pub(crate) login: RoleId,
    /// On whose behalf it does something, instead of its own.
    pub(crate) acting: Option<RoleId>,
    /// Who follows its statements.
    pub(crate) follow: Option<Follow>,
    /// From when to when the text was parsed whose first statement comes next.
    pub(crate) parsed: Mutex<Option<(Nanos, Nanos)>>,
    /// What is followed and is no statement under way.
    pub(crate) beside: Option<Arc<Followed>>,
}

/// What a client says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// What it calls the database: there is one, under any name.
    pub(crate) database: String,
}

impl Default for Client {
    fn default() -> Self {
        Self { database: "nodewise".to_owned() }
    }
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
        let session_locks = SessionLocks::new(&database.locks, number);
        let channels = OwnChannels::new(&database.channels, number);
        let running = Arc::new(Mutex::new(CancelToken::new()));
        Self {
            activity: Registered::new(
                &database.sessions,
                number,
                &writing,
                &session_locks,
                &running,
            ),
            number,
            levels: 0,
            under_way: None,
            database: OwnDatabase::new(database),
            settings: Settings::default(),
            progress: Arc::new(NoProgress),
            prepared: HashMap::new(),
            cursors: SqlCursors::new(),
            channels,
            similar: SimilarStatements::default(),
            texts: OwnTexts::default(),
            running,
            effects: Arc::default(),
            block: None,
            writing,
            broken_keys: BrokenUntilCommit::default(),
            session_locks,
            numbers: Arc::default(),
            told: ClientSettings::default(),
            client: Client::default(),
            notices: Mutex::default(),
            cascade: Mutex::default(),
            may_use_files: true,
            has_temporary: AtomicBool::new(false),
            usual_path: SearchPath::usual(),
            login: RoleId::BOOTSTRAP,
            acting: None,
            follow: None,
            parsed: Mutex::default(),
            beside: None,
            reads: Mutex::default(),
            frames: Frames::default(),
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

    /// Its number among all sessions of the database.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// From now on no statement of it reads or writes files of the machine that it names.
    pub fn forbid_files(&mut self) {
        self.may_use_files = false;
    }

    /// The settings of which a client is told when it connects.
    pub fn reported_settings(&mut self) -> Vec<(&'static str, String)> {
        self.told = self.settings.client.clone();
        self.told.reported()
    }

    /// Those of them that have changed since the client was told.
    pub fn changed_settings(&mut self) -> Vec<(&'static str, String)> {
        if self.settings.client.is_same(&self.told) {
            return Vec::new();
        }
        let before = self.told.reported();
        let mut now = self.reported_settings();
        now.retain(|it| !before.contains(it));
        now
    }

    /// Changes a setting, as SET does outside of a transaction.
    pub fn set_setting(&mut self, name: &str, value: &str) -> SqlResult<()> {
        self.set(name, Some(value), false).map(|_| ())
    }

    /// Says something to the client.
    pub(crate) fn notice(&self, notice: Notice) {
        let mut notices = self.notices.lock();
        if notices.len() < NOTICES_MAX {
            notices.push(notice);
        }
    }

    /// How long the client may send nothing now, and the error that ends its session after that: 25P03 inside of a transaction, 57P05
    /// outside of one. `None` for any time.
    pub fn idle_limit(&self) -> Option<(Nanos, SqlError)> {
        let scheduling = &self.settings.scheduling;
        let (limit, state, what) = match self.is_in_transaction() {
            true => (scheduling.idle_timeout, "25P03", "idle-in-transaction"),
            false => (scheduling.session_timeout, "57P05", "idle-session"),
        };
        let message = format!("terminating connection due to {what} timeout");
        (limit.0 > 0).then(|| (limit, SqlError::new(SqlState(state), message)))
    }

    /// What was said since it was last asked.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices.lock())
    }

    /// What ends its statement when another session asks for that, or, if it is told `true`, the session. Without it only
    /// statements can be ended.
    pub fn end_by(&mut self, end: impl Fn(bool) + Send + Sync + 'static) {
        // Whoever sets it first is who serves the session.
        let _ = self.activity.end.set(Box::new(end));
    }

    /// A handle with which another thread, or a signal, ends the running statement.
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle(self.running.clone())
    }
}

impl Drop for Session {
    /// Temporary relations go with their session.
    fn drop(&mut self) {
        if self.has_temporary.load(Ordering::Relaxed) {
            *self.writing.lock() = None;
            self.database.forget_schema(&self.temporary_schema());
        }
    }
}

impl Database {
    /// Takes out a schema of temporary relations. A transaction that is under way knows nothing of it, or is of its session.
    fn forget_schema(&self, schema: &str) {
        match self.durability.get() {
            Some(durability) => durability.forget(schema, &self.catalog),
            None => self.catalog.forget(schema),
        }
    }

    /// A new session; sessions on different threads run at once on the one pool of workers.
    pub fn session(self: &Arc<Self>) -> Session {
        Session::new(self.clone())
    }
}
