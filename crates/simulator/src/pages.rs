//! The page table of the virtual machine: buffers from the heap, and for each page the node it is said to live on.
//!
//! The machine cannot see a first touch, so first-touch pages go to the first memory node with room, at once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::NonNull;

use hardware::{MachineError, Mapping, NodeId, PagePolicy, Topology};

/// The base page.
pub(crate) const PAGE_BYTES: usize = 4096;
/// Alignment of every mapping, as the trait asks.
const ALIGN_BYTES: usize = 2 << 20;

/// One mapping: its memory and its pages.
struct Region {
    /// Over-allocated by the alignment. Zeroed by the allocator, so untouched pages cost address space only.
    buffer: Vec<u8>,
    nodes: Vec<NodeId>,
}

/// All mappings, by address, and what they take from each node.
pub(crate) struct PageTable {
    regions: BTreeMap<usize, Region>,
    /// Pages of each node that may hold data, and how many are taken.
    memory: Vec<NodeMemory>,
    limit_pages: u64,
    used_pages: u64,
    peak_pages: u64,
    /// Mappings that still go well, and how many are refused after them.
    pub(crate) refusals: Refusals,
}

/// Which mappings are refused.
#[derive(Clone, Copy, Default)]
pub(crate) struct Refusals {
    pub(crate) good: u64,
    pub(crate) refused: u64,
}

impl Refusals {
    /// Whether the mapping that is asked for now is refused.
    fn take(&mut self) -> bool {
        if self.refused == 0 {
            return false;
        }
        let now = self.good == 0;
        self.refused -= u64::from(now);
        self.good = self.good.saturating_sub(1);
        now
    }
}

struct NodeMemory {
    node: NodeId,
    total: u64,
    used: u64,
}

impl PageTable {
    pub(crate) fn new(topology: &Topology) -> Self {
        let pages = |bytes: u64| bytes / PAGE_BYTES as u64;
        let usable = topology.nodes.iter().filter(|it| it.allowed && it.memory_total.0 > 0);
        let memory: Vec<_> = usable
            .map(|it| NodeMemory { node: it.id, total: pages(it.memory_total.0), used: 0 })
            .collect();
        Self {
            regions: BTreeMap::new(),
            memory,
            limit_pages: topology.memory_limit.map_or(u64::MAX, |it| pages(it.0)),
            used_pages: 0,
            peak_pages: 0,
            refusals: Refusals::default(),
        }
    }

    pub(crate) fn map(
        &mut self,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<Mapping, MachineError> {
        self.map_at(bytes, policy, ALIGN_BYTES)
    }

    /// The same at a multiple of some bytes.
    fn map_at(
        &mut self,
        bytes: usize,
        policy: &PagePolicy,
        align: usize,
    ) -> Result<Mapping, MachineError> {
        let out = MachineError::OutOfMemory { bytes };
        if self.refusals.take() {
            return Err(out);
        }
        let pages = bytes.div_ceil(PAGE_BYTES).max(1);
        let room = pages.checked_mul(PAGE_BYTES).and_then(|it| it.checked_add(align));
        let room = room.filter(|&it| it <= isize::MAX as usize).ok_or(out.clone())?;
        if pages as u64 > self.limit_pages.saturating_sub(self.used_pages) {
            return Err(out);
        }
        let nodes = self.deal(pages, policy).map_err(|it| with_bytes(it, bytes))?;
        let mut buffer = vec![0_u8; room];
        let offset = buffer.as_ptr().align_offset(align);
        let base = NonNull::from(&mut buffer[offset..offset + pages * PAGE_BYTES]).cast::<u8>();
        self.regions.insert(base.addr().get(), Region { buffer, nodes });
        self.used_pages += pages as u64;
        self.peak_pages = self.peak_pages.max(self.used_pages);
        Ok(Mapping { base, bytes: pages * PAGE_BYTES })
    }

    /// A mapping of some bytes, of which there is at least one, as of a file: at any page.
    pub(crate) fn map_copy(&mut self, bytes: &[u8]) -> Result<Mapping, MachineError> {
        let mapping = self.map_at(bytes.len(), &PagePolicy::FirstTouch, PAGE_BYTES)?;
        let region = self.regions.get_mut(&mapping.base.addr().get());
        let region = region.expect("invariant: just mapped");
        let offset = mapping.base.addr().get() - region.buffer.as_ptr().addr();
        let pages = &mut region.buffer[offset..offset + mapping.bytes];
        pages[..bytes.len()].copy_from_slice(bytes);
        let base = NonNull::from(pages).cast();
        Ok(Mapping { base, ..mapping })
    }

    /// Puts pages of a mapping, given by bytes, on a node, as long as it has room.
    pub(crate) fn touch(&mut self, base: NonNull<u8>, bytes: Range<usize>, node: NodeId) {
        let first = bytes.start / PAGE_BYTES * PAGE_BYTES;
        let Some(at) = base.addr().checked_add(first) else { return };
        // What has no room stays where it is, as it would on Linux.
        let _ = self.place(base.with_addr(at), bytes.end - first, &PagePolicy::Node(node));
    }

    pub(crate) fn unmap(&mut self, mapping: Mapping) {
        let address = mapping.base.addr().get();
        let region = self.regions.remove(&address).expect("invariant: unmap of a known mapping");
        assert_eq!(
            region.nodes.len() * PAGE_BYTES,
            mapping.bytes,
            "the mapping has another length"
        );
        self.release(&region.nodes);
        self.used_pages -= region.nodes.len() as u64;
    }

    pub(crate) fn place(
        &mut self,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        let pages = bytes.div_ceil(PAGE_BYTES);
        let (address, first) = self.find("mbind", base, pages)?;
        if *policy == PagePolicy::FirstTouch {
            return Ok(()); // Pages that are touched stay, and here all of them are.
        }
        let region = self.regions.get_mut(&address).expect("invariant: just found");
        let old = region.nodes[first..first + pages].to_vec();
        self.release(&old);
        let dealt = self.deal(pages, policy).map_err(|it| with_bytes(it, bytes));
        let nodes = match dealt {
            Ok(nodes) => nodes,
            Err(error) => {
                self.take(&old);
                return Err(error);
            }
        };
        let region = self.regions.get_mut(&address).expect("invariant: just found");
        region.nodes[first..first + pages].copy_from_slice(&nodes);
        Ok(())
    }

    pub(crate) fn locate(
        &self,
        base: NonNull<u8>,
        pages: usize,
    ) -> Result<Vec<Option<NodeId>>, MachineError> {
        let (address, first) = self.find("move_pages", base, pages)?;
        Ok(self.regions[&address].nodes[first..first + pages].iter().map(|&it| Some(it)).collect())
    }

    /// Peak and current bytes.
    pub(crate) fn resident(&self) -> (u64, u64) {
        (self.peak_pages * PAGE_BYTES as u64, self.used_pages * PAGE_BYTES as u64)
    }

    pub(crate) fn available(&self) -> u64 {
        let free: u64 = self.memory.iter().map(|it| it.total - it.used).sum();
        free.min(self.limit_pages.saturating_sub(self.used_pages)) * PAGE_BYTES as u64
    }

    /// Bytes of a node that no mapping holds; `None` for a node without memory to map.
    pub(crate) fn free(&self, node: NodeId) -> Option<u64> {
        let memory = self.memory.iter().find(|it| it.node == node)?;
        Some((memory.total - memory.used) * PAGE_BYTES as u64)
    }

    /// The region around `base` and the index of its first page, when `pages` from there on are mapped.
    fn find(
        &self,
        call: &'static str,
        base: NonNull<u8>,
        pages: usize,
    ) -> Result<(usize, usize), MachineError> {
        let refuse = |message: &str| Err(MachineError::Os { call, message: message.to_owned() });
        let at = base.addr().get();
        if !at.is_multiple_of(PAGE_BYTES) {
            return refuse("the address is not page aligned");
        }
        let Some((&address, region)) = self.regions.range(..=at).next_back() else {
            return refuse("the pages are not mapped");
        };
        let first = (at - address) / PAGE_BYTES;
        match first.checked_add(pages) {
            Some(end) if end <= region.nodes.len() => Ok((address, first)),
            _ => refuse("the pages are not mapped"),
        }
    }

    /// Chooses and charges a node for each of `pages`; charges nothing when there is not enough room.
    fn deal(&mut self, pages: usize, policy: &PagePolicy) -> Result<Vec<NodeId>, MachineError> {
        let nodes = match policy {
            PagePolicy::Node(node) => {
                self.index(*node)?;
                vec![*node; self.checked(pages)?]
            }
            PagePolicy::Interleave(nodes) => {
                for &node in nodes {
                    self.index(node)?;
                }
                if nodes.is_empty() {
                    let message = "an interleave needs at least one node".to_owned();
                    return Err(MachineError::Os { call: "mbind", message });
                }
                nodes.iter().copied().cycle().take(self.checked(pages)?).collect()
            }
            PagePolicy::FirstTouch => self.first_fit(self.checked(pages)?),
        };
        let mut wanted = vec![0_u64; self.memory.len()];
        for node in &nodes {
            wanted[self.index(*node)?] += 1;
        }
        let fits = |(memory, pages): (&NodeMemory, &u64)| memory.total - memory.used >= *pages;
        if !self.memory.iter().zip(&wanted).all(fits) {
            return Err(MachineError::OutOfMemory { bytes: 0 });
        }
        self.take(&nodes);
        Ok(nodes)
    }

    /// Refuses what the whole machine cannot hold before a vector of that length is built.
    fn checked(&self, pages: usize) -> Result<usize, MachineError> {
        let free: u64 = self.memory.iter().map(|it| it.total - it.used).sum();
        if pages as u64 > free { Err(MachineError::OutOfMemory { bytes: 0 }) } else { Ok(pages) }
    }

    /// Nodes with room in ascending number. `pages` fit on all of them together.
    fn first_fit(&self, pages: usize) -> Vec<NodeId> {
        let mut nodes = Vec::with_capacity(pages);
        for memory in &self.memory {
            let count = (memory.total - memory.used).min((pages - nodes.len()) as u64);
            nodes.extend(std::iter::repeat_n(memory.node, count as usize));
        }
        nodes
    }

    fn index(&self, node: NodeId) -> Result<usize, MachineError> {
        let found = self.memory.iter().position(|it| it.node == node);
        found.ok_or(MachineError::NoSuchNode(node))
    }

    fn take(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            let index = self.index(node).expect("invariant: pages live on memory nodes");
            self.memory[index].used += 1;
        }
    }

    fn release(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            let index = self.index(node).expect("invariant: pages live on memory nodes");
            self.memory[index].used -= 1;
        }
    }
}

fn with_bytes(error: MachineError, bytes: usize) -> MachineError {
    match error {
        MachineError::OutOfMemory { .. } => MachineError::OutOfMemory { bytes },
        other => other,
    }
}
