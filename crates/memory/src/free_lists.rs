//! Maps memory through the machine, carves small pieces, and keeps what is given back.

use std::ops::Range;
use std::path::PathBuf;
use std::ptr::NonNull;

use hardware::{Machine, MachineError, Mapping, NodeId, PagePolicy, Topology};
use stdx::Bytes;
use stdx::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use stdx::sync::{Apart, Arc, Mutex, MutexGuard, RwLock};

use crate::counting::{self, Total};
use crate::mapped::Damage;
use crate::region::{Backing, Chunk, Region};
use crate::shelf::Shelf;
use crate::{CHUNK_BYTES, PageSocketMap};

/// Segments start at multiples of a cache line.
pub(crate) const LINE_BYTES: usize = 64;

/// What one list keeps at most, unless [`crate::Allocator::set_retained`] says otherwise.
const RETAINED_MAX: u64 = 512 << 20;

/// The chunk that the next small segment is cut from.
struct OpenChunk {
    chunk: Arc<Chunk>,
    used: usize,
    policy: PagePolicy,
}

/// Memory of one node (or of all that is spread over several) that nobody uses.
#[derive(Default)]
pub(crate) struct FreeList {
    regions: Vec<Region>,
    pub(crate) bytes: u64,
    open: Vec<OpenChunk>,
}

/// All memory that is mapped: what segments use, and what the next ones may have.
#[repr(align(128))]
pub(crate) struct Memory {
    pub(crate) machine: Arc<dyn Machine>,
    /// One list per node of the topology, in its order, and one for everything else.
    pub(crate) lists: Vec<Mutex<FreeList>>,
    /// Mapped bytes per node, in the same order; the last counts pages whose node is not known.
    pub(crate) mapped: Vec<AtomicU64>,
    pub(crate) mapped_total: AtomicU64,
    pub(crate) limit: AtomicU64,
    pub(crate) retained_max: AtomicU64,
    /// What the accounts of all statements hold, and how many of these work on rows.
    pub(crate) held: Arc<Total>,
    pub(crate) working: Apart<AtomicI64>,
    /// Where statements put what they have no memory for; where the machine does when not given.
    pub(crate) temporary_folder: RwLock<Option<PathBuf>>,
    /// Blocks of queries: one shelf per node of the topology, in its order, and one for what is spread over them.
    pub(crate) shelves: Vec<Mutex<Shelf>>,
    /// What of mapped files could not be used.
    pub(crate) damage: Damage,
}

/// Bytes for a segment: where they are, what backs them, and the map of their pages, unless their chunk has it. They are
/// initialised, aligned to 64, and nobody else's as long as the backing lives.
pub(crate) struct Extent {
    pub(crate) base: NonNull<u8>,
    pub(crate) bytes: usize,
    pub(crate) backing: Backing,
    pub(crate) map: Option<PageSocketMap>,
}

impl Memory {
    /// Nothing mapped yet, and no limit.
    pub(crate) fn new(machine: Arc<dyn Machine>) -> Self {
        let topology = machine.topology();
        let nodes = topology.nodes.len();
        let own = topology.nodes.iter().map(|it| (PagePolicy::Node(it.id), it.memory_total));
        let all = topology.nodes.iter().map(|it| it.memory_total).sum();
        let shelf = |(policy, memory)| Mutex::new(Shelf::new(policy, memory));
        let shelves = own.chain([(spread(topology), all)]).map(shelf).collect();
        Self {
            shelves,
            lists: (0..=nodes).map(|_| Mutex::default()).collect(),
            mapped: (0..=nodes).map(|_| AtomicU64::new(0)).collect(),
            mapped_total: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            retained_max: AtomicU64::new(RETAINED_MAX),
            held: Arc::default(),
            working: Apart(AtomicI64::new(0)),
            temporary_folder: RwLock::new(None),
            damage: Damage::default(),
            machine,
        }
    }

    pub(crate) fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    /// Bytes of a policy, mapped or taken from what was given back.
    pub(crate) fn take(&self, bytes: usize, policy: PagePolicy) -> Result<Extent, MachineError> {
        let _mapping = counting::Mapping::begin();
        self.check_nodes(&policy)?;
        if bytes == 0 {
            let base = dangling_line();
            let map = Some(PageSocketMap::new(self.machine.page_bytes()));
            return Ok(Extent { base, bytes, backing: Backing::Nothing, map });
        }
        let policy = self.settled(bytes, policy);
        // First touch cannot share pages: the first segment to touch one would decide for the others.
        if bytes < CHUNK_BYTES && policy != PagePolicy::FirstTouch {
            return self.carve(bytes, policy);
        }
        let region = self.take_or_map(size_class(bytes, self.machine.page_bytes()), policy)?;
        Ok(whole(region, bytes))
    }

    /// A policy for a few bytes: with one node, who touches first decides nothing, and pages can be shared.
    fn settled(&self, bytes: usize, policy: PagePolicy) -> PagePolicy {
        match (&policy, &self.machine.topology().nodes[..]) {
            (PagePolicy::FirstTouch, [only]) if bytes < CHUNK_BYTES => PagePolicy::Node(only.id),
            _ => policy,
        }
    }

    fn check_nodes(&self, policy: &PagePolicy) -> Result<(), MachineError> {
        let nodes = match policy {
            PagePolicy::Node(node) => std::slice::from_ref(node),
            PagePolicy::Interleave(nodes) => nodes.as_slice(),
            PagePolicy::FirstTouch => &[],
        };
        let topology = self.machine.topology();
        match nodes.iter().find(|&&it| topology.node_index(it).is_none()) {
            Some(&node) => Err(MachineError::NoSuchNode(node)),
            None => Ok(()),
        }
    }

    /// Cuts a small segment from the open chunk of its policy.
    fn carve(&self, bytes: usize, policy: PagePolicy) -> Result<Extent, MachineError> {
        let page = self.machine.page_bytes();
        let align = if bytes >= page { page } else { LINE_BYTES };
        let mut list = self.list(&policy);
        let open = list.open.iter_mut().position(|it| it.policy == policy);
        let fits = open.filter(|&index| {
            let open = &mut list.open[index];
            // All pieces were given back: start over.
            if Arc::get_mut(&mut open.chunk).is_some() {
                open.used = 0;
            }
            open.used.next_multiple_of(align) + bytes <= CHUNK_BYTES
        });
        let index = match fits {
            Some(index) => index,
            None => {
                // Mapping may trim the lists, so that no lock is held meanwhile.
                drop(list);
                let region = self.take_or_map(CHUNK_BYTES, policy.clone())?;
                list = self.list(&policy);
                let fresh = OpenChunk { chunk: Arc::new(Chunk { region }), used: 0, policy };
                // The old chunk lives on in its pieces; one without any goes back to the list.
                if let Some(old) = list.open.iter().position(|it| it.policy == fresh.policy) {
                    let old = list.open.swap_remove(old);
                    if let Ok(chunk) = Arc::try_unwrap(old.chunk) {
                        self.keep(&mut list, chunk.region);
                    }
                }
                list.open.push(fresh);
                list.open.len() - 1
            }
        };
        let open = &mut list.open[index];
        let at = open.used.next_multiple_of(align);
        // A piece of whole pages keeps them for itself.
        open.used = if align == page { (at + bytes).next_multiple_of(page) } else { at + bytes };
        // SAFETY: the piece ends inside the chunk.
        let base = unsafe { open.chunk.region.mapping.base.add(at) };
        let backing = Backing::Piece(open.chunk.clone());
        // No other piece overlaps as `used` only grows while there are pieces, and the chunk is initialised.
        Ok(Extent { base, bytes, backing, map: None })
    }

    fn take_or_map(&self, bytes: usize, policy: PagePolicy) -> Result<Region, MachineError> {
        let mut list = self.list(&policy);
        let found = list.regions.iter().rposition(|it| {
            it.mapping.bytes == bytes && it.policy.as_ref().is_some_and(|it| *it == policy)
        });
        if let Some(index) = found {
            list.bytes -= bytes as u64;
            return Ok(list.regions.swap_remove(index));
        }
        drop(list);
        self.map(bytes, policy)
    }

    pub(crate) fn map(&self, bytes: usize, policy: PagePolicy) -> Result<Region, MachineError> {
        let _mapping = counting::Mapping::begin();
        let size = bytes as u64;
        if !self.reserve(size) {
            self.trim();
            if !self.reserve(size) {
                return Err(MachineError::OutOfMemory { bytes });
            }
        }
        let mapped = match self.machine.map(bytes, &policy) {
            Err(MachineError::OutOfMemory { .. }) => {
                self.trim();
                self.machine.map(bytes, &policy)
            }
            mapped => mapped,
        };
        let mapping = mapped.inspect_err(|_| {
            self.mapped_total.fetch_sub(size, Ordering::Relaxed);
        })?;
        Ok(self.enter(mapping, policy))
    }

    /// Bytes that no segment and no query uses.
    pub(crate) fn retained(&self) -> Bytes {
        let _mapping = counting::Mapping::begin();
        let lists = self.lists.iter().map(|it| it.lock().bytes).sum::<u64>();
        Bytes(lists + self.shelves.iter().map(|it| it.lock().kept()).sum::<u64>())
    }

    /// A region with more bytes behind, or as it was.
    pub(crate) fn extend(
        &self,
        region: Region,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<Region, Region> {
        let _mapping = counting::Mapping::begin();
        let more = bytes.saturating_sub(region.bytes());
        if !self.reserve(more as u64) {
            return Err(region);
        }
        Self::disown(region.mapping.base);
        let Some(mapping) = self.machine.extend(&region.mapping, bytes, policy) else {
            self.mapped_total.fetch_sub(more as u64, Ordering::Relaxed);
            return Err(region);
        };
        self.account(&region, |counter, bytes| counter.fetch_sub(bytes, Ordering::Relaxed));
        Ok(self.enter(mapping, policy.clone()))
    }

    /// Counts a mapping whose pages follow a policy.
    fn enter(&self, mapping: Mapping, policy: PagePolicy) -> Region {
        let mut map = PageSocketMap::new(self.machine.page_bytes());
        map.promise(self.machine(), mapping.base.addr().get(), mapping.bytes, &policy);
        let region = Region { mapping, map, policy: Some(policy) };
        self.account(&region, |counter, bytes| counter.fetch_add(bytes, Ordering::Relaxed));
        region
    }

    fn reserve(&self, bytes: u64) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let before = self.mapped_total.fetch_add(bytes, Ordering::Relaxed);
        let heap = counting::heap_bytes().0;
        let fits = before.saturating_add(heap).saturating_add(bytes) <= limit;
        if !fits {
            self.mapped_total.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }

    /// Adds or takes a region's bytes to or from the counters of its nodes.
    fn account(&self, region: &Region, change: impl Fn(&AtomicU64, u64) -> u64) {
        let page = region.map.page_bytes() as u64;
        let mut unplaced = region.mapping.bytes as u64;
        for (node, pages) in region.map.summary() {
            if let Some(index) = self.machine.topology().node_index(node) {
                change(&self.mapped[index], pages as u64 * page);
                unplaced -= pages as u64 * page;
            }
        }
        change(&self.mapped[self.mapped.len() - 1], unplaced);
    }

    /// Places pages of a fresh region.
    pub(crate) fn place_untouched(
        &self,
        region: &mut Region,
        range: Range<usize>,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        let _mapping = counting::Mapping::begin();
        if range.is_empty() {
            return Ok(());
        }
        let page = region.map.page_bytes();
        let bytes = range.len().next_multiple_of(page);
        assert!(range.start + bytes <= region.mapping.bytes, "{range:?} is past the region");
        // SAFETY: the range lies inside the mapping.
        let base = unsafe { region.mapping.base.add(range.start) };
        self.machine.place(base, bytes, policy)?;
        self.account(region, |counter, bytes| counter.fetch_sub(bytes, Ordering::Relaxed));
        region.policy = None;
        region.map.promise(self.machine(), base.addr().get(), bytes, policy);
        self.account(region, |counter, bytes| counter.fetch_add(bytes, Ordering::Relaxed));
        Ok(())
    }

    /// Notes where the first `bytes` bytes of a region are now. It is kept for the policy's next segment only when they
    /// are where that says. The pages past the segment's end keep the old place, untouched as they are.
    pub(crate) fn relocated(
        &self,
        region: &mut Region,
        bytes: usize,
        map: &PageSocketMap,
        policy: Option<PagePolicy>,
    ) {
        let _mapping = counting::Mapping::begin();
        self.account(region, |counter, bytes| counter.fetch_sub(bytes, Ordering::Relaxed));
        region.map.remove(region.mapping.base.addr().get(), bytes);
        region.map.add_map(map);
        region.policy = policy.filter(|it| keeps(it, &region.map));
        self.account(region, |counter, bytes| counter.fetch_add(bytes, Ordering::Relaxed));
    }

    fn list(&self, policy: &PagePolicy) -> MutexGuard<'_, FreeList> {
        let index = match policy {
            PagePolicy::Node(node) => self.machine.topology().node_index(*node),
            PagePolicy::Interleave(_) | PagePolicy::FirstTouch => None,
        };
        self.lists[index.unwrap_or(self.lists.len() - 1)].lock()
    }

    /// Keeps a region for the next segment, or unmaps it when its place is mixed, accidental, or the list is full.
    pub(crate) fn give_back(&self, region: Region) {
        let _mapping = counting::Mapping::begin();
        match region.policy.clone() {
            Some(policy) if policy != PagePolicy::FirstTouch => {
                let mut list = self.list(&policy);
                self.keep(&mut list, region);
            }
            _ => self.unmap(region),
        }
    }

    fn keep(&self, list: &mut FreeList, region: Region) {
        let bytes = region.mapping.bytes as u64;
        if list.bytes + bytes > self.retained_max.load(Ordering::Relaxed) {
            self.unmap(region);
        } else {
            list.bytes += bytes;
            list.regions.push(region);
        }
    }

    /// Drops a piece of a chunk, and keeps the chunk when it was the last. All pieces of a chunk come and go under the
    /// lock of its list, so that exactly one of them sees itself as the last.
    pub(crate) fn give_back_piece(&self, chunk: Arc<Chunk>) {
        let _mapping = counting::Mapping::begin();
        let policy = chunk.region.policy.clone().expect("invariant: a chunk has one policy");
        let mut list = self.list(&policy);
        if let Ok(chunk) = Arc::try_unwrap(chunk) {
            self.keep(&mut list, chunk.region);
        }
    }

    pub(crate) fn unmap(&self, region: Region) {
        let _mapping = counting::Mapping::begin();
        self.account(&region, |counter, bytes| counter.fetch_sub(bytes, Ordering::Relaxed));
        self.mapped_total.fetch_sub(region.mapping.bytes as u64, Ordering::Relaxed);
        Self::disown(region.mapping.base);
        self.machine.unmap(region.mapping);
    }

    pub(crate) fn trim(&self) {
        let _mapping = counting::Mapping::begin();
        for shelf in &self.shelves {
            let unused = shelf.lock().trim();
            unused.into_iter().for_each(|it| self.unmap(it));
        }
        for list in &self.lists {
            let mut list = list.lock();
            list.bytes = 0;
            for region in std::mem::take(&mut list.regions) {
                self.unmap(region);
            }
            for open in std::mem::take(&mut list.open) {
                match Arc::try_unwrap(open.chunk) {
                    Ok(chunk) => self.unmap(chunk.region),
                    Err(chunk) => list.open.push(OpenChunk { chunk, ..open }),
                }
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.trim();
    }
}

/// Over all nodes that have memory and processors.
fn spread(topology: &Topology) -> PagePolicy {
    let has_cpus = |node: &NodeId| topology.cpus.iter().any(|it| it.node == *node);
    let all = topology.memory_nodes();
    let near: Vec<NodeId> = all.iter().copied().filter(has_cpus).collect();
    match near.as_slice() {
        [] => PagePolicy::Interleave(all),
        [single] => PagePolicy::Node(*single),
        _ => PagePolicy::Interleave(near),
    }
}

/// The front of a region of its own, which is mapped, so initialised, and aligned to a page at least.
pub(crate) fn whole(region: Region, bytes: usize) -> Extent {
    let base = region.mapping.base;
    let map = Some(region.map.subset(base.as_ptr() as usize, bytes));
    Extent { base, bytes, backing: Backing::Whole(Box::new(Mutex::new(region))), map }
}

/// Whether all pages of a map are where a policy may put them.
fn keeps(policy: &PagePolicy, map: &PageSocketMap) -> bool {
    let mut nodes = map.summary().into_iter().map(|it| it.0);
    match policy {
        PagePolicy::Node(node) => nodes.all(|it| it == *node),
        PagePolicy::Interleave(dealt) => nodes.all(|it| dealt.contains(&it)),
        PagePolicy::FirstTouch => true,
    }
}

/// An aligned address that no memory is at.
fn dangling_line() -> NonNull<u8> {
    #[repr(align(64))]
    struct Line;
    NonNull::<Line>::dangling().cast()
}

/// Sizes that segments are rounded up to, so that given-back memory fits again: steps of 64 KiB, later of about 3 %.
fn size_class(bytes: usize, page_bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 32).max(64 << 10).max(page_bytes);
    bytes.next_multiple_of(step)
}
