//! The page-socket map (PSM) of P-HANA 4.3: which node each page of some address ranges lives on.
//!
//! Reading is optimised, not changing: a sorted vector of ranges, looked up by binary search. Changes come in batches:
//! each operation, also one with thousands of ranges, is one pass over those it touches. Unlike the paper's, an
//! interleave pattern has a stride, because huge pages are dealt round as a whole.
//!
//! **Size.** The paper counts `360 r + 8192` bits for `r` ranges and up to 256 nodes. [`PageSocketMap::size_bits`] counts
//! all we take, the head of the structure too: `640 + 192 r` bits, and once per distinct deal 96 bits and 32 per run of
//! consecutive nodes in it. A deal over all nodes of a machine, or of a socket, is one run, so the formula holds also on
//! 1,024 nodes; only a map that deals hundreds of scattered nodes in one or two ranges is larger.

use std::cmp::Reverse;
use std::ptr::NonNull;

use hardware::{Machine, MachineError, NodeId, PagePolicy};

use crate::detect::detect_runs;
use crate::location::{Location, Misplaced, PageRange};
use crate::ranges::{Change, Ranges};

/// Where the pages of some address ranges live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageSocketMap {
    ranges: Ranges,
}

impl PageSocketMap {
    /// A map of nothing, for pages of a size.
    pub fn new(page_bytes: usize) -> Self {
        Self { ranges: Ranges::new(page_bytes) }
    }

    /// Adds the pages under `bytes` bytes from `base` on that are not in the map, asking the machine where they are.
    /// Pages that were never touched live nowhere and stay out.
    pub fn add(
        &mut self,
        machine: &dyn Machine,
        base: NonNull<u8>,
        bytes: usize,
    ) -> Result<(), MachineError> {
        let (mut at, end) = self.pages_under(base.addr().get(), bytes);
        let known = self.ranges.entries()[self.ranges.first_past(at)..].iter();
        let known = known.map(|it| (self.ranges.base(it), self.ranges.end(it)));
        let mut gaps = Vec::new();
        for (from, to) in known.take_while(|it| it.0 < end) {
            if at < from {
                gaps.push((at, from));
            }
            at = to;
        }
        if at < end {
            gaps.push((at, end));
        }
        let mut changes = Vec::new();
        for (from, to) in gaps {
            let nodes = machine.locate(page_at(base, from), (to - from) / self.page_bytes())?;
            changes.extend(self.learned(from, &nodes));
        }
        self.ranges.change(&changes);
        Ok(())
    }

    /// Records where pages are, in place of what was recorded. `base` is page aligned.
    pub fn insert(&mut self, base: usize, pages: usize, location: Location) {
        self.insert_all([PageRange { base, pages, location }]);
    }

    /// Records where many ranges are, in place of what was recorded. They ascend and do not overlap.
    pub fn insert_all(&mut self, ranges: impl IntoIterator<Item = PageRange>) {
        let mut changes: Vec<Change> = Vec::new();
        for range in ranges.into_iter().filter(|it| it.pages > 0) {
            let end = range.base + range.pages * self.page_bytes();
            assert_eq!(range.base % self.page_bytes(), 0, "a range begins inside a page");
            assert!(changes.last().is_none_or(|it| it.end <= range.base), "ranges ascend");
            let place = Some(self.ranges.place(&range.location));
            changes.push(Change { base: range.base, end, place });
        }
        self.ranges.change(&changes);
    }

    /// Forgets the pages under `bytes` bytes from `address` on.
    pub fn remove(&mut self, address: usize, bytes: usize) {
        let (base, end) = self.pages_under(address, bytes);
        if base < end {
            self.ranges.change(&[Change { base, end, place: None }]);
        }
    }

    /// Records everything that another map knows.
    pub fn add_map(&mut self, other: &Self) {
        let changes = self.ranges.changes_of(&other.ranges, 0, usize::MAX);
        self.ranges.change(&changes);
    }

    /// Forgets every page that another map knows.
    pub fn subtract_map(&mut self, other: &Self) {
        let entries = other.ranges.entries().iter();
        let forget =
            |it| Change { base: other.ranges.base(it), end: other.ranges.end(it), place: None };
        self.ranges.change(&entries.map(forget).collect::<Vec<_>>());
    }

    /// What is known about the pages under `bytes` bytes from `address` on.
    pub fn subset(&self, address: usize, bytes: usize) -> Self {
        let (base, end) = self.pages_under(address, bytes);
        let mut subset = Self::new(self.page_bytes());
        let changes = subset.ranges.changes_of(&self.ranges, base, end);
        subset.ranges.change(&changes);
        subset
    }

    /// The node that the byte at `address` lives on, when the map knows.
    #[inline]
    pub fn node_of(&self, address: usize) -> Option<NodeId> {
        self.ranges.node_of(address)
    }

    /// The node of all pages under `bytes` bytes from `address` on; `None` where they live on several, are dealt round some, or where
    /// one is not known. Makes no map of them, as [`PageSocketMap::subset`] does.
    pub fn node_of_all(&self, address: usize, bytes: usize) -> Option<NodeId> {
        let (base, end) = self.pages_under(address, bytes);
        self.ranges.node_of_all(base, end)
    }

    /// The node with the most pages, the lowest among equals.
    pub fn majority(&self) -> Option<NodeId> {
        let summary = self.summary();
        summary.iter().max_by_key(|it| (it.1, Reverse(it.0))).map(|it| it.0)
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
        let (first, end) = self.pages_under(base.addr().get(), bytes);
        let pages = (end - first) / self.page_bytes();
        if pages == 0 {
            return Ok(());
        }
        let page = page_at(base, first);
        let placed = machine.place(page, end - first, policy);
        let promised = self.promised(machine, pages, policy).filter(|_| placed.is_ok());
        let kept = self.clone();
        self.remove(first, end - first);
        let mut nodes = machine.locate(page, pages)?;
        for (index, node) in nodes.iter_mut().enumerate().filter(|it| it.1.is_none()) {
            *node = match &promised {
                Some(promised) => Some(promised.node_of(index)),
                None => kept.node_of(first + index * self.page_bytes()),
            };
        }
        let keeps = |it: &Location| (0..pages).all(|page| nodes[page] == Some(it.node_of(page)));
        match promised.filter(keeps) {
            // Also a deal too short to be detected is one.
            Some(promised) => self.insert(first, pages, promised),
            None => {
                let changes = self.learned(first, &nodes);
                self.ranges.change(&changes);
            }
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
        let (first, end) = self.pages_under(base, bytes);
        let pages = (end - first) / self.page_bytes();
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
        let nodes = if let PagePolicy::Interleave(nodes) = policy { nodes.len() } else { 1 };
        let unit = machine.interleave_bytes(pages * self.page_bytes(), nodes);
        Location::planned(policy, (unit / self.page_bytes()).max(1))
    }

    /// The pages under `bytes` bytes from `address` on that are elsewhere than this map says, by a map of where they
    /// were found.
    pub fn differences(&self, found: &Self, address: usize, bytes: usize) -> Vec<Misplaced> {
        let (base, end) = self.pages_under(address, bytes);
        let mut differences: Vec<Misplaced> = Vec::new();
        for base in (base..end).step_by(self.page_bytes()) {
            let (recorded, found) = (self.node_of(base), found.node_of(base));
            if recorded == found {
                continue;
            }
            let continues = |it: &&mut Misplaced| {
                it.base + it.pages * self.page_bytes() == base
                    && (it.recorded, it.found) == (recorded, found)
            };
            match differences.last_mut().filter(continues) {
                Some(last) => last.pages += 1,
                None => differences.push(Misplaced { base, pages: 1, recorded, found }),
            }
        }
        differences
    }

    /// The ranges, ascending.
    pub fn ranges(&self) -> Vec<PageRange> {
        self.ranges.entries().iter().map(|it| self.ranges.range(it)).collect()
    }

    /// Pages per node, ascending by node; nodes without pages are not listed.
    pub fn summary(&self) -> Vec<(NodeId, usize)> {
        let shares = self.ranges.shares().into_iter().enumerate();
        shares.filter(|it| it.1 > 0).map(|it| (NodeId::from_index(it.0), it.1)).collect()
    }

    /// Pages in the map.
    pub fn pages(&self) -> usize {
        self.ranges.pages()
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.ranges.page_bytes()
    }

    /// What the map itself takes, in bits; see the head of the module.
    pub fn size_bits(&self) -> usize {
        self.ranges.size_bits()
    }

    /// The pages of an answer of the machine as changes: runs and patterns, and in between what lives nowhere.
    fn learned(&mut self, base: usize, nodes: &[Option<NodeId>]) -> Vec<Change> {
        let address = |page: usize| base + page * self.page_bytes();
        let end = address(nodes.len());
        let runs: Vec<_> = detect_runs(nodes)
            .into_iter()
            .map(|it| (address(it.first), address(it.first + it.pages), it.location))
            .collect();
        let (mut changes, mut at) = (Vec::new(), base);
        for (from, to, location) in runs {
            if at < from {
                changes.push(Change { base: at, end: from, place: None });
            }
            changes.push(Change { base: from, end: to, place: Some(self.ranges.place(&location)) });
            at = to;
        }
        if at < end {
            changes.push(Change { base: at, end, place: None });
        }
        changes
    }

    /// The addresses of the first page under some bytes and of the end of the last; the same under no bytes.
    fn pages_under(&self, address: usize, bytes: usize) -> (usize, usize) {
        let mask = self.page_bytes() - 1;
        let base = address & !mask;
        if bytes == 0 {
            return (base, base);
        }
        let end = address.saturating_add(bytes);
        (base, end.checked_next_multiple_of(mask + 1).unwrap_or(!mask))
    }
}

/// A page of the mapping that `base` points into: the address is kept in the pointer that came in, so that it stays one
/// the machine knows.
fn page_at(base: NonNull<u8>, address: usize) -> NonNull<u8> {
    base.map_addr(|_| address.try_into().expect("invariant: no page at zero"))
}

#[cfg(test)]
#[path = "page_socket_map_tests.rs"]
mod tests;
