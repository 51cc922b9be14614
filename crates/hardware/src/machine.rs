//! The seam between the database and the machine it runs on (docs/design/00-house.md, "one machine, two kinds").
//!
//! Everything above this trait runs unchanged on two siblings: `hardware-linux` (pinned threads, real pages) and
//! `simulator` (one seeded interleaving in virtual time on a fake topology). Nothing else touches the OS or a clock.

use std::fmt;
use std::path::Path;
use std::ptr::NonNull;

use stdx::parking::Bell;
use stdx::sync::Arc;
use stdx::{Bytes, Nanos};

use crate::demand::Demand;
use crate::files::{FileError, TemporaryFile};
use crate::folder::{Folder, FolderError};
use crate::{CpuId, NodeId, Topology};

/// Where the pages of a mapping shall live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PagePolicy {
    /// All pages on one node.
    Node(NodeId),
    /// Pages dealt round the given nodes, the first page on the first node.
    Interleave(Vec<NodeId>),
    /// A page lives on the node of the thread that touches it first.
    FirstTouch,
}

/// A run of mapped memory. A token, neither copied nor cloned: whoever holds it must give it back to
/// [`Machine::unmap`], and who may touch the bytes is the business of the `memory` crate.
#[derive(PartialEq, Eq, Debug)]
pub struct Mapping {
    /// First byte; aligned to 2 MiB, or to a page where pages are dealt one by one.
    pub base: NonNull<u8>,
    /// Length; a multiple of the page size.
    pub bytes: usize,
}

/// The memory of one node at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeMemory {
    /// Memory installed.
    pub total: Bytes,
    /// Memory that holds nothing.
    pub free: Bytes,
    /// Free memory and what the OS can make free at once, such as cached files: what a move to the node may take.
    pub available: Bytes,
}

/// What a worker did in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It ran a morsel or a task: call again at once.
    Worked,
    /// It found nothing to do: spin briefly, then park until woken.
    Idle,
    /// It has nothing to do for so long: call again then, or when nudged. A wake passes it by.
    Rest(Nanos),
    /// It will never have anything to do again.
    Stopped,
}

/// A worker of the scheduler as a step function. A step is short (one morsel), so that one thread can interleave many.
pub trait Worker: Send {
    /// Does at most one unit of work.
    fn step(&mut self) -> Step;
    /// The steps to come are taken by another thread, which runs wherever it likes until it is confined.
    fn moved(&mut self) {}
}

/// A worker and where it shall run.
pub struct WorkerSpec {
    /// The hardware thread to pin to.
    pub cpu: CpuId,
    /// The name shown by tools (`nw-3`).
    pub name: String,
    /// The step function.
    pub body: Box<dyn Worker>,
}

/// Started workers. Dropping it does not stop them: the scheduler makes their steps return [`Step::Stopped`], wakes
/// them, and then calls [`WorkerTeam::join`].
pub trait WorkerTeam: Send + Sync {
    /// Wakes up to `count` parked workers, those at the given indexes first. Cheap when none is parked.
    fn wake(&self, preferred: &[usize], count: usize);
    /// Ends the rest of one worker, or the next one it begins.
    fn nudge(&self, worker: usize);
    /// Starts one more worker and returns its index: one past the last. Teams have room for as many again as they were
    /// started with, and for one more.
    fn add(&self, worker: WorkerSpec) -> Result<usize, MachineError>;
    /// Whether a worker sleeps in the middle of a step, in a lock or waiting for a device (P-HANA 5.1: inactive), as far
    /// as the machine can tell.
    fn is_blocked(&self, worker: usize) -> bool;
    /// Blocks the calling thread until `done` holds. The linux machine spins, then sleeps until [`WorkerTeam::notify`];
    /// the simulator runs workers, in an order that follows from its seed, until `done` holds. Panics there when
    /// every worker is idle and `done` still does not hold: a lost task.
    fn wait_until(&self, done: &dyn Fn() -> bool);
    /// [`WorkerTeam::wait_until`], where `bell` is rung when `done` may have changed. Many may wait at once, each at a bell
    /// of its own.
    fn wait_on(&self, _bell: &Bell, done: &dyn Fn() -> bool) {
        self.wait_until(done);
    }
    /// Lends one of the first `workers` that does nothing to the calling thread, which takes its steps by
    /// [`WorkerTeam::work_until`]; its own thread sleeps until it is given back. The linux machine prefers that of the hardware
    /// thread that the caller is on. `None` where all do something, and on machines that lend none.
    fn borrow(&self, _workers: usize) -> Option<usize> {
        None
    }
    /// Takes the steps of a borrowed worker until `done` holds, which it then says, or until it has found nothing for so long that
    /// the calling thread had better sleep.
    fn work_until(&self, _worker: usize, done: &dyn Fn() -> bool) -> bool {
        done()
    }
    /// Gives a borrowed worker back. Its own thread sleeps on where `rests` says that it would find nothing.
    fn give_back(&self, _worker: usize, _rests: &dyn Fn() -> bool) {}
    /// Makes the waiters of [`WorkerTeam::wait_until`] look again.
    fn notify(&self);
    /// Waits until every worker has stopped.
    fn join(&self);
}

/// What a thread has done since some moment, by the counters of its processor. Work in the kernel is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Clock cycles.
    pub cycles: u64,
    /// Instructions that were completed.
    pub instructions: u64,
}

/// A call that the OS or the container refuses. The database runs on without it and says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Restriction {
    /// What is missing, as a settings name: `mbind`, `move_pages`, `set_affinity`, `huge_pages`, ...
    pub call: &'static str,
    /// What follows from it and what to do, in a sentence.
    pub consequence: String,
}

/// A setting of the machine that works against placement, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Advice {
    /// What it is about: a setting's name, or `cpuset`, `memory`.
    pub subject: &'static str,
    /// What was found and what follows from it, in a sentence.
    pub finding: String,
    /// What to do.
    pub remedy: String,
}

/// Why a Machine could not do what was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MachineError {
    /// The OS has no memory (or the limit of the process is reached).
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// A node that this machine or this process does not have.
    NoSuchNode(NodeId),
    /// Any other refusal of the OS.
    Os {
        /// The call.
        call: &'static str,
        /// What the OS said.
        message: String,
    },
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { bytes } => {
                write!(f, "the machine has no {} left", Bytes(*bytes as u64))
            }
            Self::NoSuchNode(node) => write!(f, "there is no NUMA node {node} to allocate on"),
            Self::Os { call, message } => write!(f, "{call} failed: {message}"),
        }
    }
}

impl std::error::Error for MachineError {}

/// A machine: tells time, maps / queries / moves pages, runs workers.
pub trait Machine: Send + Sync {
    /// Nodes, cores, caches, distances; only what this process may use.
    fn topology(&self) -> &Topology;
    /// Time since the machine was opened; virtual on the simulator.
    fn now(&self) -> Nanos;
    /// The time of day: microseconds from 1970-01-01, UTC. On a machine without a calendar time began in 2000.
    fn wall_clock(&self) -> i64 {
        946_684_800_000_000 + (self.now().0 / 1_000) as i64
    }
    /// Sleeps or, on the simulator, lets virtual time pass.
    fn sleep(&self, span: Nanos);
    /// Bytes of the base page, 4096 on every machine so far.
    fn page_bytes(&self) -> usize;
    /// Maps zeroed memory, 2 MiB aligned, with huge-page advice when `bytes` is at least 2 MiB.
    fn map(&self, bytes: usize, policy: &PagePolicy) -> Result<Mapping, MachineError>;
    /// Makes a mapping longer, at another address: with the pages that it has, and without a copy. What is added follows the
    /// policy, which must be that of the whole mapping. `None` leaves all as it was: the machine, or this policy, has no
    /// such way. Every reference into the mapping must be gone, as for [`Machine::unmap`].
    fn extend(&self, mapping: &Mapping, bytes: usize, policy: &PagePolicy) -> Option<Mapping> {
        let _ = (mapping, bytes, policy);
        None
    }
    /// Gives memory back. Every reference into it must be gone: whoever turned the base into a reference answers for
    /// that. A machine remembers its mappings and panics on one that it did not make.
    fn unmap(&self, mapping: Mapping);
    /// Sets the policy of pages that are not touched yet, and moves those that are. `base` is page aligned.
    fn place(
        &self,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<(), MachineError>;
    /// The node of each page from `base` on; `None` for a page never touched. Where the OS forbids the question, all
    /// pages are answered with the node that was asked for at map time.
    fn locate(&self, base: NonNull<u8>, pages: usize) -> Result<Vec<Option<NodeId>>, MachineError>;
    /// Starts workers, pinned where the OS allows it.
    fn start(&self, workers: Vec<WorkerSpec>) -> Result<Arc<dyn WorkerTeam>, MachineError>;
    /// Confines the calling worker to these hardware threads from now on; all that the process may use when the list is
    /// empty. Nothing happens where the OS does not let us, or where there is nobody to confine.
    fn confine(&self, _cpus: &[CpuId]) {}
    /// The hardware thread that the calling worker is on at this moment; `None` where that is the one it was started on.
    fn running_cpu(&self) -> Option<CpuId> {
        None
    }
    /// The counters of the calling thread; `None` where they cannot be read, as in most virtual machines.
    fn counters(&self) -> Option<Counters> {
        None
    }
    /// Tells whoever watches the machine from outside that a phase to count accesses in begins or ends. Nothing happens
    /// where nobody can watch.
    fn count_accesses(&self, _on: bool) {}
    /// A new temporary file in a folder, or where the machine keeps such files when none is named.
    fn temporary_file(&self, folder: Option<&Path>) -> Result<Box<dyn TemporaryFile>, FileError> {
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let message = "this machine has no files".to_owned();
        Err(FileError::Failed { folder, what: "create", message })
    }
    /// A folder of files that last, made if it is not there, and locked: nobody else has it until the handle and all files of
    /// it are dropped.
    fn open_folder(&self, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
        let (path, message) = (path.to_owned(), "this machine has no files".to_owned());
        Err(FolderError::Failed { path, what: "open", message })
    }
    /// A folder that is there, locked likewise, to be read: nothing is made in it, and what would change it or a file of it is
    /// refused.
    fn inspect_folder(&self, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
        let (path, message) = (path.to_owned(), "this machine has no files".to_owned());
        Err(FolderError::Failed { path, what: "open", message })
    }
    /// Removes a folder that was opened and closed again, and in which no file is left.
    fn remove_folder(&self, path: &Path) -> Result<(), FolderError> {
        let (path, message) = (path.to_owned(), "this machine has no files".to_owned());
        Err(FolderError::Failed { path, what: "remove", message })
    }
    /// How often something of a mapped file could not be read, of all files ever ([`crate::FileMapping`]).
    fn failed_file_reads(&self) -> u64 {
        0
    }
    /// Tells a modelled machine what the step that is running costs; it adds up until the step ends. Where work takes the
    /// time it takes, which is everywhere else, nobody asks for the demand and this is nothing.
    fn charge(&self, _demand: &dyn Fn() -> Demand) {}
    /// What the OS forbids here.
    fn restrictions(&self) -> Vec<Restriction>;
    /// What an administrator should change.
    fn advice(&self) -> Vec<Advice> {
        Vec::new()
    }
    /// Peak and current resident bytes of this process; zero where it is not known.
    fn resident_bytes(&self) -> (Bytes, Bytes);
    /// The bytes this process may still take: free memory or the cgroup's limit, whichever is less.
    fn available_bytes(&self) -> Bytes;
    /// The memory of a node now, unlike the figures of [`Topology`]; `None` for a node that the machine does not have.
    fn node_memory(&self, node: NodeId) -> Option<NodeMemory>;
    /// The bytes that stay together when a range of `bytes` is dealt round as many nodes: a huge page where there are so
    /// many that the nodes get about equally much, else a page.
    fn interleave_bytes(&self, bytes: usize, nodes: usize) -> usize {
        let _ = (bytes, nodes);
        self.page_bytes()
    }
}
