//! A database: tables in the memory of a machine, one pool of workers, any number of sessions.

use execution::Traffic;
use hardware::{Machine, MachineError, Performance, Topology};
use journal::Lsn;
use memory::{Allocator, Workspace};
use scheduler::{Admission, Scheduler, SchedulerOptions, StealingScope};
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Apart, Arc, OnceLock, Weak};
use stdx::{Bytes, Nanos};
use storage::{Catalog, CatalogSnapshot, Table};
use types::{SqlError, SqlResult, SqlState};

use crate::activity::Sessions;
use crate::channels::Channels;
use crate::durability::{Durability, FILES_FROM};
use crate::loading::Loading;
use crate::locks::Locks;
use crate::memory_reading::MemoryReading;
use crate::merges::Merges;
use crate::pending_commit::Commits;
use crate::placer::PlacerService;
use crate::plan_cache::PlanCache;
use crate::roles::VerifierMaker;
use crate::statements::Statements;

/// How a database is set up.
#[derive(Clone, Debug, Default)]
pub struct DatabaseOptions {
    /// Workers; one per hardware thread that the process may use when not given.
    pub workers: Option<usize>,
    /// How far workers steal.
    pub stealing: StealingScope,
    /// Bytes that tables and queries may take; what the machine has when not given.
    pub memory_limit: Option<Bytes>,
    /// What a probe of this machine measured: placement and stealing go by it. Another machine's is ignored.
    pub performance: Option<Arc<Performance>>,
    /// Rows from which on a table keeps what changes beside it; what is best when not given.
    pub delta_from: Option<usize>,
    /// Bytes of rows from which on a statement writes them to files that the log names; what is best when not given.
    pub files_from: Option<Bytes>,
    /// How the files of a folder come into memory.
    pub loading: Loading,
}

/// For how long who closes a database waits for others that have it, and how often it looks.
const LEAVE: Nanos = Nanos(1_000_000_000);
const LOOK: Nanos = Nanos(1_000_000);

/// A database: tables in memory and, when it was opened on a folder, a log there by which they last.
#[repr(align(128))]
pub struct Database {
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) allocator: Allocator,
    /// Memory for what queries keep.
    pub(crate) workspace: Arc<Workspace>,
    /// The tables as sessions see them.
    pub(crate) catalog: Arc<Catalog>,
    /// What makes them last; none in memory.
    pub(crate) durability: OnceLock<Durability>,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) placer: PlacerService,
    /// A place for one: the writers' turn, held while a transaction commits, and by one that writes alone. Who waits for it can
    /// be ended.
    pub(crate) writer: Admission,
    /// Transactions that are about to commit.
    pub(crate) commits: Commits,
    /// Rows and keys that transactions have changed that have not ended.
    pub(crate) locks: Arc<Locks>,
    /// Plans of statements by text.
    pub(crate) plans: PlanCache,
    /// What the nodes had free when a view asked last.
    pub(crate) memory: MemoryReading,
    pub(crate) statements: Statements,
    pub(crate) sessions: Arc<Sessions>,
    /// Who listens to what.
    pub(crate) channels: Arc<Channels>,
    pub(crate) merges: Merges,
    /// Rows from which on a table keeps what changes beside it.
    pub(crate) delta_from: usize,
    /// Bytes of rows from which on they are logged as files.
    pub(crate) files_from: Bytes,
    pub(crate) loading: Loading,
    /// Who makes what checks passwords.
    pub(crate) verifiers: OnceLock<VerifierMaker>,
    statement_numbers: Apart<AtomicU64>,
}

impl Database {
    /// Opens an empty database on a machine.
    pub fn open(machine: Arc<dyn Machine>, options: DatabaseOptions) -> SqlResult<Arc<Self>> {
        let DatabaseOptions {
            workers,
            stealing,
            memory_limit,
            performance,
            delta_from,
            files_from,
            loading,
        } = options;
        // Before the scheduler decides who is near whom.
        if let Some(performance) = performance {
            machine.topology().learn((*performance).clone());
        }
        let scheduler = Scheduler::start(machine.clone(), SchedulerOptions { workers, stealing })
            .map_err(|error| machine_error(&error))?;
        let allocator = Allocator::new(machine.clone());
        allocator.set_limit(memory_limit.or_else(|| usable(machine.topology())));
        let traffic = Arc::new(Traffic::new(machine.topology()));
        let writer = Admission::brisk();
        let database = Arc::new(Self {
            scheduler,
            workspace: Arc::new(Workspace::new(&allocator)),
            allocator,
            catalog: Arc::new(Catalog::new()),
            durability: OnceLock::new(),
            traffic,
            placer: PlacerService::default(),
            writer,
            commits: Commits::default(),
            locks: Arc::default(),
            plans: PlanCache::default(),
            memory: Default::default(),
            statements: Statements::default(),
            sessions: Arc::default(),
            channels: Arc::default(),
            merges: Merges::default(),
            delta_from: delta_from.unwrap_or(storage::DELTA_FROM),
            files_from: files_from.unwrap_or(FILES_FROM),
            loading,
            verifiers: OnceLock::new(),
            statement_numbers: Apart(AtomicU64::new(0)),
            machine,
        });
        let means = database.allocator.clone();
        database.statements.admission.set_means(move || means.has_room());
        database.watch();
        Ok(database)
    }

    /// What the watchdog does at each of its looks: it ends transactions whose time is up, syncs what
    /// nobody waits for, and runs the placer.
    fn watch(self: &Arc<Self>) {
        let database: Weak<Self> = Arc::downgrade(self);
        self.scheduler.set_guard(move || {
            if let Some(database) = database.upgrade() {
                let newest = database.catalog.snapshot().version();
                database.sessions.look(database.machine.now(), newest);
                database.sync_overdue();
                database.run_placer();
            }
        });
    }

    /// Closes it, and returns when its files are written. Work of its own may hold it a moment longer than its users do, and a
    /// program that ends meanwhile would cut that off. While sessions have it, it stays open, after a second.
    pub fn close(self: Arc<Self>) {
        let begun = self.machine.now();
        let mut left = self;
        while let Err(held) = Arc::try_unwrap(left) {
            if held.machine.now() - begun > LEAVE {
                return;
            }
            held.machine.sleep(LOOK);
            left = held;
        }
    }

    /// Whether changes can be made to last: not any more once the log has failed.
    pub fn is_writable(&self) -> bool {
        self.durability.get().is_none_or(|it| it.journal.failure().is_none())
    }

    /// The machine it runs on.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.machine
    }

    /// What a probe measured between the nodes, where one was handed in.
    pub fn performance(&self) -> Option<&Performance> {
        self.machine.topology().performance()
    }

    /// Workers of the pool.
    pub fn workers(&self) -> usize {
        self.scheduler.workers()
    }

    /// All tables in order of name.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.catalog.snapshot().tables()
    }

    /// The tables with all commits, those included that nobody may see yet: what who writes begins with.
    pub(crate) fn head(&self) -> &Arc<Catalog> {
        self.durability.get().map_or(&self.catalog, |it| &it.head)
    }

    /// The tables with all commits, and what must be durable before anybody is told of them.
    pub(crate) fn newest(&self) -> (Arc<CatalogSnapshot>, Lsn) {
        self.durability.get().map_or_else(|| (self.catalog.snapshot(), Lsn(0)), |it| it.newest())
    }

    /// Bytes of all tables in memory.
    pub fn table_bytes(&self) -> Bytes {
        Bytes(self.tables().iter().map(|it| it.memory_bytes()).sum())
    }

    /// The number of the next statement: its age when queues decide who goes first.
    pub(crate) fn next_statement(&self) -> u64 {
        self.statement_numbers.fetch_add(1, Ordering::Relaxed)
    }
}

/// What a database may take of a machine unless it is told: all but a sixteenth, which is for the program itself and for
/// whatever else runs.
pub(crate) fn usable(topology: &Topology) -> Option<Bytes> {
    let nodes: u64 =
        topology.nodes.iter().filter(|it| it.allowed).map(|it| it.memory_total.0).sum();
    let all = topology.memory_limit.map_or(nodes, |it| it.0.min(nodes));
    (all > 0).then_some(Bytes(all - all / 16))
}

/// A refusal of the machine as a statement's error.
pub(crate) fn machine_error(error: &MachineError) -> SqlError {
    match error {
        MachineError::OutOfMemory { .. } => {
            SqlError::new(SqlState::OUT_OF_MEMORY, error.to_string())
                .with_hint("drop tables, or run with more memory")
        }
        MachineError::NoSuchNode(_) => {
            SqlError::new(SqlState::INVALID_PARAMETER, error.to_string())
        }
        MachineError::Os { .. } => SqlError::new(SqlState::IO_ERROR, error.to_string()),
    }
}
