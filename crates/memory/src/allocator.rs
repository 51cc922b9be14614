//! Maps memory through the machine, carves small segments, and keeps what is given back.

use std::ops::Range;
use std::ptr::NonNull;

use hardware::{Machine, MachineError, Mapping, NodeId, PagePolicy};
use stdx::Bytes;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex, MutexGuard};

use crate::segment::Backing;
use crate::{CHUNK_BYTES, PageSocketMap, Segment};

/// Segments start at multiples of a cache line.
const LINE_BYTES: usize = 64;
/// What one list keeps at most, unless [`Allocator::set_retained`] says otherwise.
const RETAINED_MAX: u64 = 512 << 20;

/// A mapping and what is known of its place.
pub(crate) struct Region {
    mapping: Mapping,
    map: PageSocketMap,
    /// The policy of the whole mapping; `None` when its parts differ, which makes it useless to others.
    policy: Option<PagePolicy>,
}

// SAFETY: a region owns its mapping: the pointer is used by its holder only.
unsafe impl Send for Region {}
// SAFETY: a shared region only tells its place.
unsafe impl Sync for Region {}

/// A region that small segments share. It is cut from the front; space comes back when all pieces are dropped.
pub(crate) struct Chunk {
    region: Region,
}

impl Region {
    /// Bytes of the mapping.
    pub(crate) fn bytes(&self) -> usize {
        self.mapping.bytes
    }

    /// The policy of all its pages, if there is one.
    pub(crate) fn policy(&self) -> Option<&PagePolicy> {
        self.policy.as_ref()
    }
}

impl Chunk {
    /// The policy that all pieces live by.
    pub(crate) fn policy(&self) -> Option<&PagePolicy> {
        self.region.policy()
    }
}

/// The chunk that the next small segment is cut from.
struct OpenChunk {
    chunk: Arc<Chunk>,
    used: usize,
    policy: PagePolicy,
}

/// Memory of one node (or of all that is spread over several) that nobody uses.
#[derive(Default)]
struct FreeList {
    regions: Vec<Region>,
    bytes: u64,
    open: Vec<OpenChunk>,
}

pub(crate) struct Inner {
    machine: Arc<dyn Machine>,
    /// One list per node of the topology, in its order, and one for everything else.
    lists: Vec<Mutex<FreeList>>,
    /// Mapped bytes per node, in the same order; the last counts pages whose node is not known.
    mapped: Vec<AtomicU64>,
    mapped_total: AtomicU64,
    limit: AtomicU64,
    retained_max: AtomicU64,
}

/// The one source of segments. Clones share everything.
#[derive(Clone)]
pub struct Allocator(Arc<Inner>);

/// How much memory is mapped, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Bytes per node of the topology, in its order.
    pub nodes: Vec<(NodeId, Bytes)>,
    /// Bytes whose node is not known: first-touch memory.
    pub unplaced: Bytes,
    /// Bytes of all these that no segment uses and the next one may have.
    pub retained: Bytes,
}

impl Usage {
    /// All mapped bytes.
    pub fn total(&self) -> Bytes {
        self.nodes.iter().map(|it| it.1).sum::<Bytes>() + self.unplaced
    }
}

impl Allocator {
    /// An allocator on a machine, without a limit.
    pub fn new(machine: Arc<dyn Machine>) -> Self {
        let nodes = machine.topology().nodes.len();
        Self(Arc::new(Inner {
            lists: (0..=nodes).map(|_| Mutex::default()).collect(),
            mapped: (0..=nodes).map(|_| AtomicU64::new(0)).collect(),
            mapped_total: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            retained_max: AtomicU64::new(RETAINED_MAX),
            machine,
        }))
    }

    /// The machine it maps from.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.0.machine
    }

    /// A segment with unspecified, initialised contents: zero when fresh, old when recycled.
    pub fn allocate(&self, bytes: usize, policy: PagePolicy) -> Result<Segment, MachineError> {
        Inner::allocate(&self.0, bytes, policy)
    }

    /// A segment full of zeros.
    pub fn allocate_zeroed(
        &self,
        bytes: usize,
        policy: PagePolicy,
    ) -> Result<Segment, MachineError> {
        let mut segment = Inner::allocate(&self.0, bytes, policy)?;
        segment.as_bytes_mut().fill(0);
        Ok(segment)
    }

    /// A segment whose byte ranges live in different places (IVP). The ranges ascend and begin at page boundaries of
    /// the segment; what they leave out goes where it is touched first. Contents as for [`Allocator::allocate`].
    pub fn allocate_placed(
        &self,
        bytes: usize,
        places: &[(Range<usize>, PagePolicy)],
    ) -> Result<Segment, MachineError> {
        if let [(range, policy)] = places
            && *range == (0..bytes)
        {
            return self.allocate(bytes, policy.clone());
        }
        // Small pieces would share pages, so such a segment has a mapping of its own whatever its size.
        let page = self.0.machine.page_bytes();
        if bytes == 0 {
            return self.allocate(0, PagePolicy::FirstTouch);
        }
        let mut region = self.0.map(bytes.next_multiple_of(page), PagePolicy::FirstTouch)?;
        for (range, policy) in places {
            assert_eq!(range.start % page, 0, "a placed range begins inside a page");
            let range = range.start..range.end.min(bytes);
            if let Err(error) = self.0.place_untouched(&mut region, range, policy) {
                self.0.unmap(region);
                return Err(error);
            }
        }
        Ok(Inner::whole(&self.0, region, bytes))
    }

    /// Limits the mapped bytes; allocating past it fails with [`MachineError::OutOfMemory`].
    pub fn set_limit(&self, limit: Option<Bytes>) {
        self.0.limit.store(limit.map_or(u64::MAX, |it| it.0), Ordering::Relaxed);
    }

    /// How many unused bytes the list of each node may keep mapped.
    pub fn set_retained(&self, bytes: Bytes) {
        self.0.retained_max.store(bytes.0, Ordering::Relaxed);
    }

    /// Gives all unused memory back to the machine.
    pub fn trim(&self) {
        self.0.trim();
    }

    /// Mapped bytes per node.
    pub fn usage(&self) -> Usage {
        let nodes = &self.0.machine.topology().nodes;
        let mapped = |index: usize| Bytes(self.0.mapped[index].load(Ordering::Relaxed));
        Usage {
            nodes: nodes.iter().enumerate().map(|(index, it)| (it.id, mapped(index))).collect(),
            unplaced: mapped(nodes.len()),
            retained: Bytes(self.0.lists.iter().map(|it| it.lock().bytes).sum()),
        }
    }
}

impl Inner {
    pub(crate) fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    pub(crate) fn allocate(
        self: &Arc<Self>,
        bytes: usize,
        policy: PagePolicy,
    ) -> Result<Segment, MachineError> {
        self.check_nodes(&policy)?;
        if bytes == 0 {
            let base = dangling_line();
            let map = PageSocketMap::new(self.machine.page_bytes());
            // SAFETY: no bytes, and the address is aligned.
            return Ok(unsafe { Segment::new(base, 0, Backing::Nothing, map, self.clone()) });
        }
        // First touch cannot share pages: the first segment to touch one would decide for the others.
        if bytes < CHUNK_BYTES && policy != PagePolicy::FirstTouch {
            return self.carve(bytes, policy);
        }
        let region = self.take_or_map(size_class(bytes, self.machine.page_bytes()), policy)?;
        Ok(Self::whole(self, region, bytes))
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

    fn whole(self: &Arc<Self>, region: Region, bytes: usize) -> Segment {
        let base = region.mapping.base;
        let map = region.map.subset(base.as_ptr() as usize, bytes);
        // SAFETY: the region is ours, longer than `bytes`, aligned to 2 MiB, and mapped memory is initialised.
        unsafe {
            Segment::new(
                base,
                bytes,
                Backing::Whole(Box::new(Mutex::new(region))),
                map,
                self.clone(),
            )
        }
    }

    /// Cuts a small segment from the open chunk of its policy.
    fn carve(self: &Arc<Self>, bytes: usize, policy: PagePolicy) -> Result<Segment, MachineError> {
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
        let map = open.chunk.region.map.subset(base.as_ptr() as usize, bytes);
        let backing = Backing::Piece(open.chunk.clone());
        // SAFETY: no other piece overlaps as `used` only grows while there are pieces, and the chunk is initialised.
        Ok(unsafe { Segment::new(base, bytes, backing, map, self.clone()) })
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

    fn map(&self, bytes: usize, policy: PagePolicy) -> Result<Region, MachineError> {
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
        let mut map = PageSocketMap::new(self.machine.page_bytes());
        map.promise(self.machine(), mapping.base.addr().get(), mapping.bytes, &policy);
        let region = Region { mapping, map, policy: Some(policy) };
        self.account(&region, |counter, bytes| counter.fetch_add(bytes, Ordering::Relaxed));
        Ok(region)
    }

    fn reserve(&self, bytes: u64) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let before = self.mapped_total.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= limit;
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
    fn place_untouched(
        &self,
        region: &mut Region,
        range: Range<usize>,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
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
        let policy = chunk.region.policy.clone().expect("invariant: a chunk has one policy");
        let mut list = self.list(&policy);
        if let Ok(chunk) = Arc::try_unwrap(chunk) {
            self.keep(&mut list, chunk.region);
        }
    }

    fn unmap(&self, region: Region) {
        self.account(&region, |counter, bytes| counter.fetch_sub(bytes, Ordering::Relaxed));
        self.mapped_total.fetch_sub(region.mapping.bytes as u64, Ordering::Relaxed);
        self.machine.unmap(region.mapping);
    }

    fn trim(&self) {
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

impl Drop for Inner {
    fn drop(&mut self) {
        self.trim();
    }
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

#[cfg(test)]
#[path = "allocator_tests.rs"]
mod tests;
