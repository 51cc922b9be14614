//! Bytes read per running node and memory node, from the page-socket map (docs/design/02-memory-and-placement.md,
//! "traffic"): what the views, EXPLAIN ANALYZE and the placer read.

use std::mem::MaybeUninit;

use hardware::{NodeId, Topology};
use memory::Segment;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, OnceLock, lane};
use storage::{ItemBytes, ItemTraffic};

/// What is read of a column of a part in the memory of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItemRead {
    /// The part of the table, by number.
    pub part: usize,
    /// The column of the table, by number.
    pub column: usize,
    /// The node of the memory.
    pub node: NodeId,
    /// How many bytes.
    pub bytes: u64,
}

/// The bytes of some reads by memory node, in the order in which the nodes appear.
pub(crate) fn bytes_by_node(reads: &[ItemRead]) -> Vec<(NodeId, u64)> {
    let mut nodes: Vec<(NodeId, u64)> = Vec::new();
    for read in reads {
        match nodes.iter_mut().find(|it| it.0 == read.node) {
            Some(entry) => entry.1 += read.bytes,
            None => nodes.push((read.node, read.bytes)),
        }
    }
    nodes
}

/// What bytes were of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// Columns of tables, as scans and lookups of indexes read them.
    Columns,
    /// Rows and hash tables of joins, written and looked up.
    Joins,
    /// Groups, written and merged.
    Groups,
    /// Rows and keys of sorts, written and merged.
    Sorts,
    /// Bits of rows and of codes that tests leave and read.
    Bitmaps,
    /// Values and texts of codes, and codes that stand for those of a part.
    Dictionaries,
    /// Rows that are kept for another pipeline or as the answer, and the answer's form for clients.
    Results,
}

impl Item {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Columns,
        Self::Joins,
        Self::Groups,
        Self::Sorts,
        Self::Bitmaps,
        Self::Dictionaries,
        Self::Results,
    ];

    /// Its name in views.
    pub fn name(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Joins => "joins",
            Self::Groups => "groups",
            Self::Sorts => "sorts",
            Self::Bitmaps => "bitmaps",
            Self::Dictionaries => "dictionaries",
            Self::Results => "results",
        }
    }
}

/// Lanes of counters.
const LANES: usize = 8;

/// Counters of a lane begin a pair of cache lines.
const APART: usize = 16;

/// Matrices of counters, running node x memory node, one for each kind of item.
#[derive(Debug)]
#[repr(align(128))]
pub struct Traffic {
    shape: Arc<Shape>,
    /// In several lanes, that threads at once write, each on cache lines of its own.
    bytes: Vec<AtomicU64>,
    lane: usize,
}

/// What counters are for.
#[derive(Debug, Default)]
struct Shape {
    nodes: Vec<NodeId>,
    /// The positions of those that intermediates are dealt round.
    dealt: Vec<usize>,
    cache_bytes: u64,
}

impl Traffic {
    /// Zero everywhere.
    pub fn new(topology: &Topology) -> Self {
        let nodes: Vec<NodeId> = topology.nodes.iter().map(|it| it.id).collect();
        let counters = nodes.len() * nodes.len() * Item::ALL.len();
        let memory = topology.memory_nodes();
        let is_dealt = |it: &NodeId| memory.contains(it) && topology.cpus_of(*it).count() > 0;
        let dealt = (0..nodes.len()).filter(|&it| is_dealt(&nodes[it])).collect();
        let shape = Arc::new(Shape { nodes, dealt, cache_bytes: topology.llc_bytes.0 });
        let lane = counters.next_multiple_of(APART);
        let bytes = (0..lane * LANES).map(|_| AtomicU64::new(0)).collect();
        Self { shape, bytes, lane }
    }

    /// The nodes, in the order of rows and columns.
    pub fn nodes(&self) -> &[NodeId] {
        &self.shape.nodes
    }

    fn place(&self, item: Item, running: usize, memory: usize) -> usize {
        let width = self.shape.nodes.len();
        (item as usize * width + running) * width + memory
    }

    fn counter(&self, item: Item, running: usize, memory: usize) -> &AtomicU64 {
        &self.bytes[lane(LANES) * self.lane + self.place(item, running, memory)]
    }

    /// Adds what the workers of a pipeline have touched; the bytes of their own nodes, and of others.
    pub fn settle(&self, accesses: &Accesses) -> (u64, u64) {
        let (mut local, mut remote) = (0, 0);
        let mut add = |item, running: usize, memory: usize, bytes: u64| {
            self.counter(item, running, memory).fetch_add(bytes, Ordering::Relaxed);
            *(if running == memory { &mut local } else { &mut remote }) += bytes;
        };
        for (item, running, memory, bytes) in accesses.take() {
            if memory < self.shape.nodes.len() {
                add(item, running, memory, bytes);
            } else {
                let share = bytes / self.shape.dealt.len().max(1) as u64;
                self.shape.dealt.iter().for_each(|&it| add(item, running, it, share));
            }
        }
        (local, remote)
    }

    /// Counts what a worker on `running` read, in all and in the counters of the table.
    pub(crate) fn count(&self, running: NodeId, reads: &[ItemRead], table: Option<&ItemTraffic>) {
        let nodes = &self.shape.nodes;
        let width = nodes.len();
        let place = |node| nodes.iter().position(|&it| it == node);
        let Some(running) = place(running) else { return };
        for &ItemRead { part, column, node, bytes } in reads {
            let Some(memory) = place(node) else { continue };
            self.counter(Item::Columns, running, memory).fetch_add(bytes, Ordering::Relaxed);
            if let Some(table) = table {
                let is_lookup = false;
                table.add(ItemBytes { part, column, running, memory, is_lookup, bytes }, width);
            }
        }
    }

    /// All counters: running node, memory node, bytes.
    pub fn snapshot(&self, item: Item) -> Vec<(NodeId, NodeId, u64)> {
        let nodes = &self.shape.nodes;
        let width = nodes.len();
        let entry = |(running, memory)| {
            let counters = self.bytes.iter().skip(self.place(item, running, memory));
            let counters = counters.step_by(self.lane).take(LANES);
            let bytes = counters.map(|it| it.load(Ordering::Relaxed)).sum();
            (nodes[running], nodes[memory], bytes)
        };
        (0..width).flat_map(|it| (0..width).map(move |to| (it, to))).map(entry).collect()
    }
}

/// Where a piece of an intermediate is.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// On the node of the worker that touches it.
    Own,
    /// On this node.
    Node(NodeId),
    /// Dealt round the nodes.
    Dealt,
}

impl Place {
    /// On its home, else dealt round.
    pub(crate) fn of(home: Option<NodeId>) -> Self {
        home.map_or(Self::Dealt, Self::Node)
    }

    /// Of a segment that lies on one node, else dealt round.
    pub(crate) fn of_segment(segment: &Segment) -> Self {
        match segment.page_map().summary()[..] {
            [(node, _)] => Self::Node(node),
            _ => Self::Dealt,
        }
    }
}

/// What the workers of one pipeline touch beside columns. Each counts by itself, a batch or block at a time, and what they have
/// counted goes to the [`Traffic`] when the pipeline ends.
///
/// Counted is what goes to memory: rows that are written once and read once in full, and a cache line for each look into
/// what is larger than the last-level cache. Looks at what is smaller stay in the cache.
#[derive(Debug, Default)]
pub struct Accesses {
    shape: Arc<Shape>,
    slots: Vec<OnceLock<SlotAccesses>>,
}

/// Those of a slot: its node, and bytes by item and memory node, what is dealt round at last.
#[derive(Debug)]
struct SlotAccesses {
    running: usize,
    /// All bytes, and those that [`Accesses::since_asked`] has told of.
    all: AtomicU64,
    asked: AtomicU64,
    bytes: Box<[AtomicU64]>,
    /// Room between this and the next, of which another worker has the cache lines.
    _apart: [MaybeUninit<u8>; 128],
}

/// Bytes of a cache line.
const LINE_BYTES: u64 = 64;

impl Accesses {
    /// Nothing touched yet by the workers of so many slots.
    pub fn new(traffic: &Traffic, slots: usize) -> Self {
        let slots = (0..slots).map(|_| OnceLock::new()).collect();
        Self { shape: traffic.shape.clone(), slots }
    }

    /// Looks that reach memory, of so many at a structure of so many bytes.
    pub(crate) fn missed(&self, looks: usize, structure: u64) -> u64 {
        if structure > self.shape.cache_bytes { looks as u64 * LINE_BYTES } else { 0 }
    }

    /// Counts bytes that the worker of a slot reads or writes, running on a node.
    pub(crate) fn add(&self, slot: usize, running: NodeId, item: Item, place: Place, bytes: u64) {
        let Some(counters) = self.slots.get(slot).filter(|_| bytes > 0) else { return };
        let nodes = &self.shape.nodes;
        let position = |node| nodes.iter().position(|&it| it == node);
        let width = nodes.len() + 1;
        let counters = counters.get_or_init(|| SlotAccesses {
            running: position(running).unwrap_or_default(),
            all: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            bytes: (0..width * Item::ALL.len()).map(|_| AtomicU64::new(0)).collect(),
            _apart: [const { MaybeUninit::uninit() }; 128],
        });
        counters.all.fetch_add(bytes, Ordering::Relaxed);
        let memory = match place {
            Place::Own => counters.running,
            Place::Node(node) => position(node).unwrap_or(width - 1),
            Place::Dealt => width - 1,
        };
        counters.bytes[item as usize * width + memory].fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that a worker running on a node looks up of an item, in the counters of its table.
    pub(crate) fn add_item(
        &self,
        table: &ItemTraffic,
        (part, column): (usize, usize),
        running: NodeId,
        place: Place,
        bytes: u64,
    ) {
        let Shape { nodes, dealt, .. } = &*self.shape;
        let position = |node| nodes.iter().position(|&it| it == node);
        let Some(running) = position(running).filter(|_| bytes > 0) else { return };
        let add = |memory: usize, bytes: u64| {
            let read = ItemBytes { part, column, running, memory, is_lookup: true, bytes };
            table.add(read, nodes.len());
        };
        match place {
            Place::Own => add(running, bytes),
            Place::Node(node) => add(position(node).unwrap_or(running), bytes),
            Place::Dealt => {
                let share = bytes / dealt.len().max(1) as u64;
                dealt.iter().for_each(|&it| add(it, share));
            }
        }
    }

    /// Bytes that a slot has counted since this was asked last.
    pub(crate) fn since_asked(&self, slot: usize) -> u64 {
        let Some(counters) = self.slots.get(slot).and_then(OnceLock::get) else { return 0 };
        let all = counters.all.load(Ordering::Relaxed);
        all - counters.asked.swap(all, Ordering::Relaxed)
    }

    /// Takes out what was counted: item, running node, memory node (past the last one for what is dealt round), bytes.
    fn take(&self) -> Vec<(Item, usize, usize, u64)> {
        let width = self.shape.nodes.len() + 1;
        let of_slot = |it: &SlotAccesses| {
            let entry = |(at, counter): (usize, &AtomicU64)| {
                let bytes = counter.swap(0, Ordering::Relaxed);
                (Item::ALL[at / width], it.running, at % width, bytes)
            };
            it.bytes.iter().enumerate().map(entry).filter(|it| it.3 > 0).collect::<Vec<_>>()
        };
        self.slots.iter().filter_map(OnceLock::get).flat_map(of_slot).collect()
    }
}

#[cfg(test)]
mod tests {
    use hardware::samples;

    use super::*;

    #[test]
    fn what_workers_touch_is_told_by_slot_and_settled_by_node() {
        let topology = samples::four_sockets();
        let traffic = Traffic::new(&topology);
        let accesses = Accesses::new(&traffic, 2);
        let (first, third) = (NodeId(0), NodeId(2));
        accesses.add(0, first, Item::Joins, Place::Own, 100);
        accesses.add(0, first, Item::Joins, Place::Dealt, 400);
        accesses.add(1, third, Item::Sorts, Place::Node(first), 7);
        accesses.add(9, third, Item::Sorts, Place::Own, 1);
        assert_eq!((accesses.since_asked(0), accesses.since_asked(1)), (500, 7));
        accesses.add(0, first, Item::Groups, Place::Own, 3);
        assert_eq!((accesses.since_asked(0), accesses.since_asked(0)), (3, 0));
        assert_eq!(traffic.settle(&accesses), (203, 307));
        assert_eq!(traffic.settle(&accesses), (0, 0), "once");
        let of = |item, from: NodeId, to: NodeId| {
            let all = traffic.snapshot(item);
            all.into_iter().find(|it| (it.0, it.1) == (from, to)).map(|it| it.2)
        };
        assert_eq!(of(Item::Joins, first, first), Some(200));
        assert_eq!(of(Item::Joins, first, third), Some(100));
        assert_eq!(of(Item::Sorts, third, first), Some(7));
        assert_eq!(of(Item::Columns, first, first), Some(0));
    }

    #[test]
    fn looks_into_what_a_cache_holds_reach_no_memory() {
        let accesses = Accesses::new(&Traffic::new(&samples::four_sockets()), 1);
        let cache = samples::four_sockets().llc_bytes.0;
        assert_eq!((accesses.missed(10, cache), accesses.missed(10, cache + 1)), (0, 640));
    }
}
