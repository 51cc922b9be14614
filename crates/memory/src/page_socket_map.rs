//! The page-socket map (PSM) of P-HANA 4.3: which node each page of some address ranges lives on.
//!
//! Reading is optimised, not changing: a sorted vector of ranges, looked up by binary search, and a summary of pages
//! per node. Unlike the paper's, an interleave pattern has a stride, because huge pages are dealt round as a whole.

use std::ptr::NonNull;

use hardware::{Machine, MachineError, NodeId, PagePolicy};

use crate::detect::detect_runs;

/// Where the pages of a range live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    /// All on one node.
    Node(NodeId),
    /// Dealt round nodes, `stride` pages a turn.
    Interleaved {
        /// The nodes in the order of the deal.
        nodes: Vec<NodeId>,
        /// Pages that stay together: 1, or those of a huge page.
        stride: usize,
        /// How many pages of the deal lie before the first page of the range; less than one whole round.
        start: usize,
    },
}

impl Location {
    /// What a policy promises for a range from its beginning on, with `stride` pages a turn; nothing for first touch.
    pub fn planned(policy: &PagePolicy, stride: usize) -> Option<Self> {
        match policy {
            PagePolicy::Node(node) => Some(Self::Node(*node)),
            PagePolicy::Interleave(nodes) if nodes.len() > 1 => {
                Some(Self::Interleaved { nodes: nodes.clone(), stride, start: 0 })
            }
            PagePolicy::Interleave(nodes) => nodes.first().map(|&it| Self::Node(it)),
            PagePolicy::FirstTouch => None,
        }
    }

    /// The node of the range's page `page`.
    pub fn node_of(&self, page: usize) -> NodeId {
        match self {
            Self::Node(node) => *node,
            Self::Interleaved { nodes, stride, start } => {
                nodes[(start + page) / stride % nodes.len()]
            }
        }
    }

    /// The same pattern seen from `pages` pages further on.
    fn advanced(&self, pages: usize) -> Self {
        match self {
            Self::Node(node) => Self::Node(*node),
            Self::Interleaved { nodes, stride, start } => Self::Interleaved {
                nodes: nodes.clone(),
                stride: *stride,
                start: (start + pages) % (stride * nodes.len()),
            },
        }
    }

    /// How many of the first `pages` pages live on each node.
    fn shares(&self, pages: usize) -> Vec<(NodeId, usize)> {
        match self {
            Self::Node(node) => vec![(*node, pages)],
            Self::Interleaved { nodes, stride, start } => {
                let round = stride * nodes.len();
                // Pages of the deal before position `end` that fall on turn `turn`.
                let before = |end: usize, turn: usize| {
                    let in_round = (end % round).saturating_sub(turn * stride).min(*stride);
                    end / round * stride + in_round
                };
                let share = |turn| before(start + pages, turn) - before(*start, turn);
                nodes.iter().enumerate().map(|(turn, &it)| (it, share(turn))).collect()
            }
        }
    }
}

/// Neighbouring pages with one location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageRange {
    /// Address of the first page.
    pub base: usize,
    /// How many pages.
    pub pages: usize,
    /// Where they live.
    pub location: Location,
}

/// Where the pages of some address ranges live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageSocketMap {
    page_bytes: usize,
    /// Sorted by base, disjoint, no two neighbours that could be one.
    ranges: Vec<PageRange>,
    /// Pages per node, ascending, no zero entry.
    summary: Vec<(NodeId, usize)>,
}

impl PageSocketMap {
    /// A map of nothing, for pages of a size.
    pub fn new(page_bytes: usize) -> Self {
        assert!(page_bytes.is_power_of_two(), "pages of {page_bytes} bytes");
        Self { page_bytes, ranges: Vec::new(), summary: Vec::new() }
    }

    /// Adds the pages under `bytes` bytes from `base` on that are not in the map, asking the machine where they are.
    /// Pages that were never touched live nowhere and stay out.
    pub fn add(
        &mut self,
        machine: &dyn Machine,
        base: NonNull<u8>,
        bytes: usize,
    ) -> Result<(), MachineError> {
        let (first, pages) = self.pages_under(base.as_ptr() as usize, bytes);
        let mut at = first;
        let end = first + pages * self.page_bytes;
        while at < end {
            let index = self.ranges.partition_point(|it| self.end_of(it) <= at);
            let known = self.ranges.get(index);
            if let Some(known) = known.filter(|it| it.base <= at) {
                at = self.end_of(known);
                continue;
            }
            let gap = known.map_or(end, |it| it.base.min(end)) - at;
            // The address is kept in the pointer that came in, so that it stays one the machine knows.
            let page = base.map_addr(|_| at.try_into().expect("invariant: no page at zero"));
            let nodes = machine.locate(page, gap / self.page_bytes)?;
            for run in detect_runs(&nodes) {
                self.insert(at + run.first * self.page_bytes, run.pages, run.location);
            }
            at += gap;
        }
        Ok(())
    }

    /// Records where pages are, in place of what was recorded. `base` is page aligned.
    pub fn insert(&mut self, base: usize, pages: usize, location: Location) {
        if pages == 0 {
            return;
        }
        self.remove(base, pages * self.page_bytes);
        let index = self.ranges.partition_point(|it| it.base < base);
        self.ranges.insert(index, PageRange { base, pages, location });
        self.join(index + 1);
        self.join(index);
        self.summarise();
    }

    /// Forgets the pages under `bytes` bytes from `address` on.
    pub fn remove(&mut self, address: usize, bytes: usize) {
        let (base, pages) = self.pages_under(address, bytes);
        let end = base + pages * self.page_bytes;
        let first = self.ranges.partition_point(|it| self.end_of(it) <= base);
        let last = self.ranges.partition_point(|it| it.base < end);
        if first >= last {
            return;
        }
        let mut kept = Vec::new();
        for range in &self.ranges[first..last] {
            kept.extend(self.cut(range, range.base, base));
            kept.extend(self.cut(range, end, self.end_of(range)));
        }
        self.ranges.splice(first..last, kept);
        self.summarise();
    }

    /// Records everything that another map knows.
    pub fn add_map(&mut self, other: &Self) {
        for range in &other.ranges {
            self.insert(range.base, range.pages, range.location.clone());
        }
    }

    /// Forgets every page that another map knows.
    pub fn subtract_map(&mut self, other: &Self) {
        for range in &other.ranges {
            self.remove(range.base, range.pages * self.page_bytes);
        }
    }

    /// What is known about the pages under `bytes` bytes from `address` on.
    pub fn subset(&self, address: usize, bytes: usize) -> Self {
        let (base, pages) = self.pages_under(address, bytes);
        let end = base + pages * self.page_bytes;
        let first = self.ranges.partition_point(|it| self.end_of(it) <= base);
        let inside = self.ranges[first..].iter().take_while(|it| it.base < end);
        let ranges = inside.filter_map(|it| self.cut(it, base, end)).collect();
        let mut subset = Self { page_bytes: self.page_bytes, ranges, summary: Vec::new() };
        subset.summarise();
        subset
    }

    /// The node that the byte at `address` lives on, when the map knows.
    pub fn node_of(&self, address: usize) -> Option<NodeId> {
        let index = self.ranges.partition_point(|it| self.end_of(it) <= address);
        let range = self.ranges.get(index).filter(|it| it.base <= address)?;
        Some(range.location.node_of((address - range.base) / self.page_bytes))
    }

    /// The node with the most pages, the lowest among equals.
    pub fn majority(&self) -> Option<NodeId> {
        let best =
            self.summary.iter().max_by_key(|&&(node, pages)| (pages, std::cmp::Reverse(node)));
        best.map(|it| it.0)
    }

    /// Moves the pages under `bytes` bytes from `base` on to a node.
    pub fn move_to(
        &mut self,
        machine: &dyn Machine,
        base: NonNull<u8>,
        bytes: usize,
        node: NodeId,
    ) -> Result<(), MachineError> {
        self.place(machine, base, bytes, &PagePolicy::Node(node))
    }

    /// Deals the pages under `bytes` bytes from `base` on round some nodes.
    pub fn interleave(
        &mut self,
        machine: &dyn Machine,
        base: NonNull<u8>,
        bytes: usize,
        nodes: &[NodeId],
    ) -> Result<(), MachineError> {
        self.place(machine, base, bytes, &PagePolicy::Interleave(nodes.to_vec()))
    }

    /// Lets the machine place pages, then asks where they are: it may move some and not others without an error, and
    /// with one, too. Pages not touched yet are recorded as promised; first touch promises nothing.
    pub fn place(
        &mut self,
        machine: &dyn Machine,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        let (first, pages) = self.pages_under(base.as_ptr() as usize, bytes);
        if pages == 0 {
            return Ok(());
        }
        let page = base.map_addr(|_| first.try_into().expect("invariant: no page at zero"));
        let placed = machine.place(page, pages * self.page_bytes, policy);
        let promised = match &placed {
            Ok(()) => self.promised(machine, pages, policy),
            Err(_) => None,
        };
        let kept = self.subset(first, pages * self.page_bytes);
        self.remove(first, pages * self.page_bytes);
        let mut nodes = machine.locate(page, pages)?;
        for (index, node) in nodes.iter_mut().enumerate().filter(|it| it.1.is_none()) {
            *node = match &promised {
                Some(promised) => Some(promised.node_of(index)),
                None => kept.node_of(first + index * self.page_bytes),
            };
        }
        for run in detect_runs(&nodes) {
            self.insert(first + run.first * self.page_bytes, run.pages, run.location);
        }
        placed
    }

    /// Records what a policy promises for pages that nobody has touched yet and the machine has placed.
    pub(crate) fn promise(
        &mut self,
        machine: &dyn Machine,
        base: usize,
        bytes: usize,
        policy: &PagePolicy,
    ) {
        let (first, pages) = self.pages_under(base, bytes);
        if let Some(location) = self.promised(machine, pages, policy) {
            self.insert(first, pages, location);
        }
    }

    fn promised(
        &self,
        machine: &dyn Machine,
        pages: usize,
        policy: &PagePolicy,
    ) -> Option<Location> {
        let stride = machine.interleave_bytes(pages * self.page_bytes) / self.page_bytes;
        Location::planned(policy, stride.max(1))
    }

    /// The ranges, ascending.
    pub fn ranges(&self) -> &[PageRange] {
        &self.ranges
    }

    /// Pages per node, ascending by node; nodes without pages are not listed.
    pub fn summary(&self) -> &[(NodeId, usize)] {
        &self.summary
    }

    /// Pages in the map.
    pub fn pages(&self) -> usize {
        self.summary.iter().map(|it| it.1).sum()
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The base of the first page and the number of pages under some bytes; none under no bytes.
    fn pages_under(&self, address: usize, bytes: usize) -> (usize, usize) {
        let base = address & !(self.page_bytes - 1);
        let pages = if bytes == 0 { 0 } else { (address + bytes - base).div_ceil(self.page_bytes) };
        (base, pages)
    }

    fn end_of(&self, range: &PageRange) -> usize {
        range.base + range.pages * self.page_bytes
    }

    /// The piece of a range between two page addresses.
    fn cut(&self, range: &PageRange, from: usize, to: usize) -> Option<PageRange> {
        let (from, to) = (from.max(range.base), to.min(self.end_of(range)));
        (from < to).then(|| PageRange {
            base: from,
            pages: (to - from) / self.page_bytes,
            location: range.location.advanced((from - range.base) / self.page_bytes),
        })
    }

    /// Makes one range of the one at `index` and the one before it, when the second continues the first.
    fn join(&mut self, index: usize) {
        if index == 0 || index >= self.ranges.len() {
            return;
        }
        let (before, after) = (&self.ranges[index - 1], &self.ranges[index]);
        let continues = before.location.advanced(before.pages) == after.location;
        if self.end_of(before) == after.base && continues {
            self.ranges[index - 1].pages += after.pages;
            self.ranges.remove(index);
        }
    }

    fn summarise(&mut self) {
        let mut summary: Vec<(NodeId, usize)> = Vec::new();
        for range in &self.ranges {
            for (node, pages) in range.location.shares(range.pages) {
                match summary.binary_search_by_key(&node, |it| it.0) {
                    Ok(index) => summary[index].1 += pages,
                    Err(index) => summary.insert(index, (node, pages)),
                }
            }
        }
        summary.retain(|it| it.1 > 0);
        self.summary = summary;
    }
}

#[cfg(test)]
#[path = "page_socket_map_tests.rs"]
mod tests;
