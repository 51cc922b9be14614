//! A machine for tests: nodes are numbers beside pages, and memory comes from the heap.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::path::Path;
use std::ptr::NonNull;

use hardware::topology::Node;
use hardware::{
    FileError, Machine, MachineError, Mapping, NodeId, NodeMemory, PagePolicy, Restriction,
    SocketId, TemporaryFile, Topology, WorkerSpec, WorkerTeam,
};
use stdx::sync::{Arc, Mutex};
use stdx::{Bytes, Nanos};

/// Larger under Miri, which takes long over many pages.
pub(crate) const PAGE: usize = if cfg!(miri) { 64 << 10 } else { 4096 };

#[derive(Default)]
struct State {
    mappings: BTreeMap<usize, usize>,
    pages: BTreeMap<usize, NodeId>,
    /// How many pages a move places before it stops, and whether it says so.
    stop: Option<(usize, bool)>,
    /// Pages per turn of a deal, less one.
    turn: usize,
}

pub(crate) struct FakeMachine {
    topology: Topology,
    state: Mutex<State>,
}

impl FakeMachine {
    pub(crate) fn with_nodes(count: u16) -> Arc<Self> {
        let node = |id| Node {
            id: NodeId(id),
            socket: SocketId(id),
            memory_total: Bytes(1 << 30),
            memory_free: Bytes(1 << 30),
            allowed: true,
            read_bandwidth_mb_s: None,
            read_latency_ns: None,
        };
        let distance = |i, j| if i == j { 10 } else { 20 };
        let topology = Topology {
            name: "fake".to_owned(),
            nodes: (0..count).map(node).collect(),
            cpus: Vec::new(),
            cpus_excluded: 0,
            measured: Default::default(),
            distances: (0..count).map(|i| (0..count).map(|j| distance(i, j)).collect()).collect(),
            llc_bytes: Bytes(0),
            cpu_quota: None,
            memory_limit: None,
        };
        Arc::new(Self { topology, state: Mutex::default() })
    }

    /// Bytes mapped now.
    pub(crate) fn mapped(&self) -> usize {
        self.state.lock().mappings.values().sum()
    }

    /// Lets moves stop after some pages, with an error or in silence.
    pub(crate) fn stop_moves_after(&self, pages: Option<usize>, error: bool) {
        self.state.lock().stop = pages.map(|it| (it, error));
    }

    /// Deals as many pages at a time from now on, as huge pages are.
    pub(crate) fn set_turn(&self, pages: usize) {
        self.state.lock().turn = pages - 1;
    }

    /// Puts single pages somewhere, as the OS would behind our back.
    pub(crate) fn put(&self, base: usize, nodes: &[Option<NodeId>]) {
        let mut state = self.state.lock();
        for (page, node) in nodes.iter().enumerate() {
            match node {
                Some(node) => state.pages.insert(base + page * PAGE, *node),
                None => state.pages.remove(&(base + page * PAGE)),
            };
        }
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 2 << 20).unwrap()
}

impl Machine for FakeMachine {
    fn topology(&self) -> &Topology {
        &self.topology
    }
    fn now(&self) -> Nanos {
        Nanos(0)
    }
    fn sleep(&self, _: Nanos) {}
    fn page_bytes(&self) -> usize {
        PAGE
    }
    fn map(&self, bytes: usize, policy: &PagePolicy) -> Result<Mapping, MachineError> {
        assert_eq!(bytes % PAGE, 0);
        // SAFETY: the layout is not empty.
        let base = NonNull::new(unsafe { alloc_zeroed(layout(bytes)) }).unwrap();
        self.state.lock().mappings.insert(base.as_ptr() as usize, bytes);
        self.place(base, bytes, policy)?;
        Ok(Mapping { base, bytes })
    }
    fn extend(&self, mapping: &Mapping, bytes: usize, policy: &PagePolicy) -> Option<Mapping> {
        let PagePolicy::Node(_) = policy else { return None };
        let Mapping { base, bytes: before } = *mapping;
        let longer = self.map(bytes, policy).unwrap();
        // SAFETY: both are mapped, and apart.
        unsafe { longer.base.copy_from_nonoverlapping(base, before) };
        self.unmap(Mapping { base, bytes: before });
        Some(longer)
    }
    fn unmap(&self, mapping: Mapping) {
        let base = mapping.base.as_ptr() as usize;
        let mut state = self.state.lock();
        assert_eq!(state.mappings.remove(&base), Some(mapping.bytes));
        state.pages.retain(|it, _| !(base..base + mapping.bytes).contains(it));
        drop(state);
        // SAFETY: made by `map` with the same layout, and removed once.
        unsafe { dealloc(mapping.base.as_ptr(), layout(mapping.bytes)) };
    }
    fn place(
        &self,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        let base = base.as_ptr() as usize;
        assert_eq!((base % PAGE, bytes % PAGE), (0, 0));
        let nodes: Vec<Option<NodeId>> = match policy {
            PagePolicy::Node(node) => vec![Some(*node)],
            PagePolicy::Interleave(nodes) => nodes.iter().map(|&it| Some(it)).collect(),
            PagePolicy::FirstTouch => return Ok(()),
        };
        if let Some(node) =
            nodes.iter().flatten().find(|it| it.index() >= self.topology.nodes.len())
        {
            return Err(MachineError::NoSuchNode(*node));
        }
        let stop = self.state.lock().stop;
        let turn = self.interleave_bytes(bytes, nodes.len()) / PAGE;
        let nodes: Vec<_> =
            nodes.into_iter().flat_map(|it| std::iter::repeat_n(it, turn)).collect();
        let (most, error) = stop.unwrap_or((usize::MAX, false));
        let pages: Vec<_> = nodes.into_iter().cycle().take((bytes / PAGE).min(most)).collect();
        self.put(base, &pages);
        match error {
            true => Err(MachineError::Os { call: "place", message: "stopped".to_owned() }),
            false => Ok(()),
        }
    }
    fn locate(&self, base: NonNull<u8>, pages: usize) -> Result<Vec<Option<NodeId>>, MachineError> {
        let base = base.as_ptr() as usize;
        assert_eq!(base % PAGE, 0);
        let state = self.state.lock();
        Ok((0..pages).map(|it| state.pages.get(&(base + it * PAGE)).copied()).collect())
    }
    fn temporary_file(&self, _: Option<&Path>) -> Result<Box<dyn TemporaryFile>, FileError> {
        Ok(Box::new(Forgetful))
    }
    fn start(&self, _: Vec<WorkerSpec>) -> Result<Arc<dyn WorkerTeam>, MachineError> {
        Err(MachineError::Os { call: "start", message: "no workers here".to_owned() })
    }
    fn restrictions(&self) -> Vec<Restriction> {
        Vec::new()
    }
    fn resident_bytes(&self) -> (Bytes, Bytes) {
        (Bytes(0), Bytes(0))
    }
    fn available_bytes(&self) -> Bytes {
        Bytes(1 << 40)
    }
    fn interleave_bytes(&self, _: usize, _: usize) -> usize {
        (self.state.lock().turn + 1) * PAGE
    }
    fn node_memory(&self, node: NodeId) -> Option<NodeMemory> {
        let all = Bytes(1 << 30);
        self.topology.node_index(node)?;
        Some(NodeMemory { total: all, free: all, available: all })
    }
}

/// A file that forgets what is written to it.
struct Forgetful;

impl TemporaryFile for Forgetful {
    fn write_at(&self, _: u64, _: &[u8]) -> Result<(), FileError> {
        Ok(())
    }
    fn read_at(&self, _: u64, _: &mut [u8]) -> Result<(), FileError> {
        Ok(())
    }
}
