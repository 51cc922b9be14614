//! [`LinuxMachine`]: the Machine of a real Linux.
//!
//! **Binding.** One node is asked for with `MPOL_PREFERRED`, not `MPOL_BIND`: when a bound node is full, the kernel kills
//! the process though other nodes have room. Whoever needs the truth asks [`Machine::locate`]. On a machine with one
//! memory node nothing is bound at all.
//!
//! **Interleaving.** The kernel deals pages by their address, so a mapping of huge pages starts at an address whose turn
//! it is for the first node (as long as the nodes are given in ascending order, turned at will). Base pages in a short
//! mapping start where the address falls. `place` moves touched pages to what [`mappings::dealt`] says.
//!
//! **Parts of huge pages.** The kernel moves a huge page whole, even if only a part of it is named. `place` therefore has
//! the huge pages at its two edges split first.
//!
//! **Memory that is not there.** Linux promises more than it has and kills later. A mapping is refused when it is larger
//! than the available bytes less what was promised before and not touched yet (mapped less resident); so that small
//! mappings cost no file reads, each look grants a quarter of the rest, and mappings draw on the grant first.

use std::io;
use std::path::Path;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use hardware::topology::{Cpu, Node};
use hardware::{
    Advice, Counters, CpuId, FileError, Folder, FolderError, LlcId, Machine, MachineError, Mapping,
    NodeId, NodeMemory, PagePolicy, Restriction, SocketId, TemporaryFile, Topology, WorkerSpec,
    WorkerTeam,
};
use stdx::sync::{Arc, Mutex};
use stdx::{Bytes, Nanos};

use crate::file_mappings;
use crate::files;
use crate::folder;
use crate::kernel::{self, HUGE_BYTES, Policy, Turn};
use crate::mappings::{self, Mappings};
use crate::marks;
use crate::team::{Spin, Team};
use crate::topology::{self, Root};

/// Pages asked about or moved per system call.
const BATCH_PAGES: usize = 1 << 14;

/// This machine.
pub struct LinuxMachine {
    topology: Topology,
    opened: Instant,
    page: usize,
    allowed: Allowed,
    restrictions: Vec<Restriction>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    mappings: Mappings,
    /// Bytes that may be mapped without looking again.
    granted: u64,
}

/// The calls that work here.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    bind: bool,
    query: bool,
    migrate: bool,
    pin: bool,
    huge: bool,
}

/// What of this machine is used.
#[derive(Clone, Debug)]
pub struct LinuxOptions {
    /// Whether large mappings ask for huge pages. Without them is how the machine would be where they are forbidden.
    pub huge_pages: bool,
    /// The nodes whose CPUs and memory are used, all when empty. Who opens a machine of some of them, and every thread
    /// that it starts later, runs on these; so memory that nobody places is taken from them as long as they have some.
    pub nodes: Vec<NodeId>,
}

impl Default for LinuxOptions {
    fn default() -> Self {
        Self { huge_pages: true, nodes: Vec::new() }
    }
}

/// Opens this machine. It always succeeds: what cannot be read or is forbidden shows in [`Machine::restrictions`].
pub fn open() -> Arc<LinuxMachine> {
    open_with(LinuxOptions::default())
}

/// [`open`], with less than all of the machine.
pub fn open_with(options: LinuxOptions) -> Arc<LinuxMachine> {
    Arc::new(LinuxMachine::open(options))
}

impl LinuxMachine {
    fn open(options: LinuxOptions) -> Self {
        let root = Root::new(Path::new("/"));
        let mut restrictions = Vec::new();
        let mut affinity = kernel::affinity().ok();
        let mut topology = topology::read(&root, affinity.as_deref()).unwrap_or_else(|error| {
            restrictions.push(Restriction {
                call: "topology",
                consequence: format!(
                    "{error}; the machine is taken as one node with the CPUs of the affinity mask"
                ),
            });
            flat(affinity.as_deref().unwrap_or(&[0]), &root)
        });
        if !options.nodes.is_empty() {
            match narrowed(&root, &topology, &options.nodes) {
                Ok((of_nodes, cpus)) => (topology, affinity) = (of_nodes, Some(cpus)),
                Err(why) => restrictions.push(Restriction {
                    call: "nodes",
                    consequence: format!("{why}; all nodes are used"),
                }),
            }
        }
        let mut allowed = probe(&topology, &root, affinity.as_deref(), &mut restrictions);
        allowed.huge &= options.huge_pages;
        Self {
            topology,
            opened: Instant::now(),
            page: kernel::page_bytes(),
            allowed,
            restrictions,
            state: Mutex::new(State::default()),
        }
    }

    fn check_nodes(&self, policy: &PagePolicy) -> Result<(), MachineError> {
        let open = |node: &NodeId| {
            let known = self.topology.nodes.iter().any(|it| {
                it.id == *node
                    && it.allowed
                    && (it.memory_total.0 > 0 || self.topology.nodes.len() == 1)
            });
            if known { Ok(()) } else { Err(MachineError::NoSuchNode(*node)) }
        };
        match policy {
            PagePolicy::Node(node) => open(node),
            PagePolicy::Interleave(nodes) => nodes.iter().try_for_each(open),
            PagePolicy::FirstTouch => Ok(()),
        }
    }

    /// Binding changes nothing where all memory is on one node.
    fn binds(&self) -> bool {
        self.allowed.bind && self.topology.nodes.len() > 1
    }

    /// Draws `bytes` from the grant, or looks whether the machine has them.
    fn reserve(&self, state: &mut State, bytes: usize) -> bool {
        let wanted = bytes as u64;
        if state.granted < wanted {
            let resident = topology::anonymous_bytes(&Root::new(Path::new("/"))).unwrap_or(0);
            let promised = state.mappings.total_bytes.saturating_sub(resident);
            let left = self.available_bytes().0.saturating_sub(promised);
            if wanted > left {
                return false;
            }
            state.granted = (left / 4).max(wanted);
        }
        state.granted -= wanted;
        true
    }

    fn bind(
        &self,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
        migrate: bool,
    ) -> io::Result<()> {
        match policy {
            PagePolicy::Node(node) => kernel::bind(
                base,
                bytes,
                Policy::Preferred(node.0),
                migrate && self.allowed.migrate,
            ),
            PagePolicy::Interleave(nodes) if !nodes.is_empty() => {
                let mut numbers: Vec<u16> = nodes.iter().map(|it| it.0).collect();
                numbers.sort_unstable();
                numbers.dedup();
                kernel::bind(base, bytes, Policy::Interleave(&numbers), false)?;
                if migrate && self.allowed.migrate && self.allowed.query {
                    self.deal(base, bytes, policy)
                } else {
                    Ok(())
                }
            }
            PagePolicy::Interleave(_) | PagePolicy::FirstTouch => {
                kernel::bind(base, bytes, Policy::Default, false)
            }
        }
    }

    /// Moves touched pages to where the policy deals them: mbind leaves those that are on any node of the set.
    fn deal(&self, base: NonNull<u8>, bytes: usize, policy: &PagePolicy) -> io::Result<()> {
        let count = bytes / self.page;
        for first in (0..count).step_by(BATCH_PAGES) {
            let batch = BATCH_PAGES.min(count - first);
            let start = at(base, first * self.page);
            let status = kernel::query_pages(start, batch, self.page)?;
            let (mut pages, mut nodes) = (Vec::new(), Vec::new());
            for (page, &now) in (first..first + batch).zip(&status) {
                let Some(goal) = mappings::dealt(policy, page * self.page, bytes, self.page) else {
                    continue;
                };
                if now >= 0 && now != i32::from(goal.0) {
                    pages.push(base.addr().get() + page * self.page);
                    nodes.push(i32::from(goal.0));
                }
            }
            if !pages.is_empty() {
                kernel::move_pages(&pages, &nodes)?;
            }
        }
        Ok(())
    }

    /// Asks for huge pages where they help, and for none where pages are dealt one by one. Advice: without it only the size
    /// of pages differs.
    fn advise(&self, base: NonNull<u8>, bytes: usize, policy: &PagePolicy) {
        if mappings::is_dealt_by_pages(policy, bytes, self.page) {
            let _ = kernel::advise_huge(base, bytes, false);
        } else if self.allowed.huge && bytes >= HUGE_BYTES {
            let _ = kernel::advise_huge(base, bytes, true);
        }
    }

    /// Whoever is placed in the middle of a huge page must not take the rest of it along.
    fn split_edges(&self, base: NonNull<u8>, bytes: usize) {
        let start = base.addr().get();
        for (edge, page) in [(start, 0), (start + bytes, bytes - self.page)] {
            if self.allowed.migrate && !edge.is_multiple_of(HUGE_BYTES) {
                kernel::split_huge(at(base, page), self.page);
            }
        }
    }

    fn in_our_mapping(&self, base: NonNull<u8>, bytes: usize) -> Result<(), MachineError> {
        let start = base.addr().get();
        let message = if !start.is_multiple_of(self.page) {
            "the address is not at the start of a page"
        } else if !self.state.lock().mappings.contains(start, bytes) {
            "the range is not inside a mapping of this machine"
        } else {
            return Ok(());
        };
        Err(MachineError::Os { call: "place", message: message.to_owned() })
    }
}

/// A machine with less than its nodes, and their CPUs, to which the calling thread is confined.
fn narrowed(root: &Root, all: &Topology, nodes: &[NodeId]) -> Result<(Topology, Vec<u32>), String> {
    let own = all.cpus.iter().filter(|it| nodes.contains(&it.node));
    let cpus: Vec<u32> = own.map(|it| it.id.0).collect();
    if cpus.is_empty() {
        return Err("the nodes that are asked for have no CPU for this process".to_owned());
    }
    kernel::set_affinity(&cpus).map_err(|it| format!("threads cannot be confined: {it}"))?;
    let mut topology = topology::read(root, Some(&cpus)).map_err(|it| it.to_string())?;
    topology.nodes.iter_mut().for_each(|it| it.allowed &= nodes.contains(&it.id));
    Ok((topology, cpus))
}

impl Machine for LinuxMachine {
    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn now(&self) -> Nanos {
        // std reads CLOCK_MONOTONIC without entering the kernel.
        Nanos(self.opened.elapsed().as_nanos() as u64)
    }

    fn wall_clock(&self) -> i64 {
        let now = std::time::SystemTime::now();
        match now.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => since.as_micros() as i64,
            Err(before) => -(before.duration().as_micros() as i64),
        }
    }

    fn counters(&self) -> Option<Counters> {
        crate::counters::read()
    }

    fn sleep(&self, span: Nanos) {
        stdx::sync::thread::sleep(Duration::from_nanos(span.0));
    }

    fn page_bytes(&self) -> usize {
        self.page
    }

    fn map(&self, bytes: usize, policy: &PagePolicy) -> Result<Mapping, MachineError> {
        self.check_nodes(policy)?;
        let out_of_memory = MachineError::OutOfMemory { bytes };
        let Some(length) = bytes.max(1).checked_next_multiple_of(self.page) else {
            return Err(out_of_memory);
        };
        if !self.reserve(&mut self.state.lock(), length) {
            return Err(out_of_memory);
        }
        let base =
            kernel::map(length, turn(policy, length, self.page)).map_err(|error| {
                match error.raw_os_error().is_none() || error.raw_os_error() == Some(libc::ENOMEM) {
                    true => out_of_memory,
                    false => os_error("mmap", &error),
                }
            })?;
        self.advise(base, length, policy);
        if self.binds()
            && *policy != PagePolicy::FirstTouch
            && let Err(error) = self.bind(base, length, policy, false)
        {
            kernel::unmap(base, length);
            return Err(os_error("mbind", &error));
        }
        self.state.lock().mappings.insert(base.addr().get(), length, policy);
        Ok(Mapping { base, bytes: length })
    }

    fn extend(&self, mapping: &Mapping, bytes: usize, policy: &PagePolicy) -> Option<Mapping> {
        // What is dealt over nodes is dealt by address, which changes.
        let PagePolicy::Node(_) = policy else { return None };
        let length = bytes.checked_next_multiple_of(self.page)?;
        let Mapping { base: old, bytes: before } = *mapping;
        let more = length.checked_sub(before)?;
        let mut state = self.state.lock();
        if !self.reserve(&mut state, more) || !state.mappings.remove(old.addr().get(), before) {
            return None;
        }
        let moved = kernel::map(length, Turn::HUGE)
            .and_then(|room| kernel::move_mapping(old, before, room, length));
        let (base, bytes) = moved.map_or((old, before), |base| (base, length));
        state.mappings.insert(base.addr().get(), bytes, policy);
        (base != old).then_some(Mapping { base, bytes })
    }

    fn unmap(&self, mapping: Mapping) {
        // Removed before the kernel may hand the address out again.
        let known = self.state.lock().mappings.remove(mapping.base.addr().get(), mapping.bytes);
        assert!(known, "unmap of {mapping:?}, which this machine did not map");
        kernel::unmap(mapping.base, mapping.bytes);
    }

    fn place(
        &self,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        self.check_nodes(policy)?;
        let length = bytes.checked_next_multiple_of(self.page).unwrap_or(usize::MAX);
        self.in_our_mapping(base, length)?;
        if length == 0 {
            return Ok(());
        }
        if self.binds() {
            self.split_edges(base, length);
            self.advise(base, length, policy);
            if mappings::is_dealt_by_pages(policy, length, self.page) {
                for offset in (0..length).step_by(HUGE_BYTES) {
                    kernel::split_huge(at(base, offset), self.page);
                }
            }
            self.bind(base, length, policy, true).map_err(|error| os_error("mbind", &error))?;
        }
        self.state.lock().mappings.ask(base.addr().get(), length, policy);
        Ok(())
    }

    fn locate(&self, base: NonNull<u8>, pages: usize) -> Result<Vec<Option<NodeId>>, MachineError> {
        if !file_mappings::contains(base.addr().get(), pages.saturating_mul(self.page)) {
            self.in_our_mapping(base, pages.saturating_mul(self.page))?;
        }
        if !self.allowed.query {
            let asked = self.state.lock().mappings.asked(base.addr().get(), pages, self.page);
            let only = match &self.topology.nodes[..] {
                [node] => Some(node.id),
                _ => None,
            };
            return Ok(asked.into_iter().map(|it| it.or(only)).collect());
        }
        let mut nodes = Vec::with_capacity(pages);
        for first in (0..pages).step_by(BATCH_PAGES) {
            let start = at(base, first * self.page);
            let status = kernel::query_pages(start, BATCH_PAGES.min(pages - first), self.page)
                .map_err(|error| os_error("move_pages", &error))?;
            nodes.extend(status.iter().map(|&it| u16::try_from(it).ok().map(NodeId)));
        }
        Ok(nodes)
    }

    fn start(&self, workers: Vec<WorkerSpec>) -> Result<Arc<dyn WorkerTeam>, MachineError> {
        let cpus = self.topology.cpus.len() as f64;
        let threads = self.topology.cpu_quota.map_or(cpus, |it| it.min(cpus));
        let spin = Spin::for_team(workers.len(), threads);
        Ok(Team::start(workers, self.allowed.pin, spin)?)
    }

    fn confine(&self, cpus: &[CpuId]) {
        if self.allowed.pin {
            let all = self.topology.cpus.iter().map(|it| it.id.0);
            let some: Vec<u32> = cpus.iter().map(|it| it.0).collect();
            let set = if some.is_empty() { all.collect() } else { some };
            // A hardware thread may have gone offline since it was listed: then the worker stays where it is.
            let _ = kernel::set_affinity(&set);
        }
    }

    fn running_cpu(&self) -> Option<CpuId> {
        kernel::running_cpu().map(CpuId)
    }

    fn count_accesses(&self, on: bool) {
        marks::count(on);
    }

    fn restrictions(&self) -> Vec<Restriction> {
        self.restrictions.clone()
    }

    fn advice(&self) -> Vec<Advice> {
        let mut advice = topology::read_advice(Path::new("/"), &self.topology);
        // Said as a restriction already.
        advice.retain(|it| !self.restrictions.iter().any(|other| other.call == it.subject));
        advice
    }

    fn temporary_file(&self, folder: Option<&Path>) -> Result<Box<dyn TemporaryFile>, FileError> {
        match folder {
            Some(folder) => files::create(folder),
            None => files::create(&files::default_folder()),
        }
    }

    fn open_folder(&self, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
        folder::open(path)
    }

    fn inspect_folder(&self, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
        folder::inspect(path)
    }

    fn remove_folder(&self, path: &Path) -> Result<(), FolderError> {
        folder::remove(path)
    }

    fn failed_file_reads(&self) -> u64 {
        file_mappings::failures()
    }

    fn resident_bytes(&self) -> (Bytes, Bytes) {
        let (peak, now) = topology::resident_bytes(&Root::new(Path::new("/"))).unwrap_or((0, 0));
        (Bytes(peak), Bytes(now))
    }

    fn available_bytes(&self) -> Bytes {
        let open: Vec<u16> = self.topology.memory_nodes().iter().map(|it| it.0).collect();
        // All nodes together are what the system counts anyway.
        let some = self.topology.nodes.iter().any(|it| !it.allowed).then_some(&open[..]);
        let left = topology::available_bytes(&Root::new(Path::new("/")), some);
        // Where /proc is hidden nothing is known: let mmap decide.
        Bytes(left.unwrap_or(u64::MAX / 2))
    }

    fn node_memory(&self, node: NodeId) -> Option<NodeMemory> {
        self.topology.node_index(node)?;
        topology::node_memory(&Root::new(Path::new("/")), node, self.topology.nodes.len())
    }

    fn interleave_bytes(&self, bytes: usize, nodes: usize) -> usize {
        mappings::interleave_unit(bytes, nodes, self.page)
    }
}

/// The start that makes the first node's turn come first, because the kernel deals by address.
fn turn(policy: &PagePolicy, bytes: usize, page: usize) -> Turn {
    let PagePolicy::Interleave(nodes) = policy else { return Turn::HUGE };
    let mut sorted = nodes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let skew = nodes.first().and_then(|first| sorted.iter().position(|it| it == first));
    let unit = mappings::interleave_unit(bytes, nodes.len(), page);
    Turn { unit, period: sorted.len().max(1), skew: skew.unwrap_or(0) }
}

fn at(base: NonNull<u8>, offset: usize) -> NonNull<u8> {
    NonNull::new(base.as_ptr().wrapping_add(offset)).expect("invariant: inside a mapping")
}

fn os_error(call: &'static str, error: &io::Error) -> MachineError {
    MachineError::Os { call, message: error.to_string() }
}

/// One node with all memory and the given CPUs: what is left when the machine cannot be read.
fn flat(cpus: &[u32], root: &Root) -> Topology {
    let memory = Bytes(topology::available_bytes(root, None).unwrap_or(1 << 30));
    let cpu = |&number: &u32| Cpu {
        id: CpuId(number),
        node: NodeId(0),
        socket: SocketId(0),
        core: number,
        llc: LlcId(0),
    };
    Topology {
        name: "unknown machine".to_owned(),
        nodes: vec![Node {
            id: NodeId(0),
            socket: SocketId(0),
            memory_total: memory,
            memory_free: memory,
            allowed: true,
            read_bandwidth_mb_s: None,
            read_latency_ns: None,
        }],
        cpus: cpus.iter().map(cpu).collect(),
        distances: vec![vec![10]],
        llc_bytes: Bytes(0),
        cpu_quota: None,
        memory_limit: None,
        cpus_excluded: 0,
        measured: Default::default(),
    }
}

/// Tries each call once on a page of its own and writes down what is refused.
fn probe(
    topology: &Topology,
    root: &Root,
    affinity: Option<&[u32]>,
    restrictions: &mut Vec<Restriction>,
) -> Allowed {
    let single = topology.nodes.len() == 1;
    let mut tried = |call: &'static str, result: io::Result<()>, numa: bool, consequence: &str| {
        let Err(error) = result else { return true };
        let consequence = match numa && single {
            true => {
                format!("refused ({error}); without effect, as this machine has one memory node")
            }
            false => format!("refused ({error}); {consequence}"),
        };
        restrictions.push(Restriction { call, consequence });
        false
    };
    let pinned =
        affinity.map_or_else(|| Err(io::ErrorKind::PermissionDenied.into()), kernel::set_affinity);
    let pin = tried(
        "set_affinity",
        pinned,
        false,
        "workers are not pinned, so the kernel may move them away from their data",
    );
    let page = kernel::page_bytes();
    let length = 2 * HUGE_BYTES;
    let Ok(base) = kernel::map(length, Turn::HUGE) else {
        tried("mmap", Err(io::ErrorKind::OutOfMemory.into()), false, "there is hardly any memory");
        return Allowed { bind: false, query: false, migrate: false, pin, huge: false };
    };
    let node = topology.memory_nodes().first().copied().unwrap_or_default();
    let bound = kernel::bind(base, page, Policy::Preferred(node.0), false);
    let bind = tried(
        "mbind",
        bound,
        true,
        "data lives on the node of the thread that touches it first; allow mbind or CAP_SYS_NICE",
    );
    let asked = kernel::query_pages(base, 1, page).map(|_| ());
    let query = tried(
        "move_pages (query)",
        asked,
        true,
        "the views show where data was asked to be, not where it is; allow move_pages",
    );
    let moved = kernel::move_pages(&[base.addr().get()], &[i32::from(node.0)]);
    let migrate = tried(
        "move_pages",
        // ENOENT: no page of the list was there to be moved.
        moved.or_else(|it| if it.raw_os_error() == Some(libc::ENOENT) { Ok(()) } else { Err(it) }),
        true,
        "data that was loaded once cannot be moved to another node; allow move_pages",
    );
    let advised = kernel::advise_huge(base, length, true).and_then(|()| huge_pages_on(root));
    let huge = tried(
        "huge_pages",
        advised,
        false,
        "scans and joins miss the TLB more often; set transparent_hugepage/enabled to madvise",
    );
    kernel::unmap(base, length);
    Allowed { bind, query, migrate, pin, huge }
}

/// The kernel takes the advice even where an administrator has switched huge pages off.
fn huge_pages_on(root: &Root) -> io::Result<()> {
    match root.text("sys/kernel/mm/transparent_hugepage/enabled") {
        Some(text) if text.contains("[never]") => {
            Err(io::Error::other("transparent_hugepage/enabled is never"))
        }
        _ => Ok(()),
    }
}
