//! The ranges of a page-socket map in few bits: 192 a range, and each deal stored once however many ranges follow it.
//!
//! The paper gives a range 360 bits, 256 of them a mask of sockets, and 8192 bits to the summary (256 counters). Here a
//! deal is a list of runs of consecutive nodes (one run for all nodes of a machine, or of a socket), and the summary is
//! added up when it is asked for, so that it cannot disagree with the ranges.

use hardware::NodeId;

use crate::location::{Location, PageRange};

/// How many deals more than ranges are kept, before those that no range follows any more are dropped.
const DEALS_KEPT: usize = 8;

/// Where a range's pages live: a node, or one of the deals and the position in it of the range's first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// A node's number, or with [`DEAL`] set the number of a deal.
    code: u32,
    /// Pages of the deal before the first one, less than a round; zero for a node.
    start: u32,
}

/// Marks the number of a deal.
const DEAL: u32 = 1 << 31;

/// One range: neighbouring pages with one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    base: usize,
    pages: u32,
    place: Place,
}

/// Nodes that pages are dealt round, the lowest first.
#[derive(Clone, Copy, Debug)]
struct Deal {
    /// The first of its runs among those of all deals.
    first: u32,
    /// How many runs.
    runs: u16,
    /// How many nodes.
    count: u16,
    /// Pages per turn.
    stride: u32,
}

/// A deal with its runs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Turns<'a> {
    runs: &'a [Run],
    count: u32,
    stride: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    first: NodeId,
    /// Nodes of the deal before this run.
    before: u16,
}

/// A range of addresses that gets a new place, or none.
pub(crate) struct Change {
    pub(crate) base: usize,
    pub(crate) end: usize,
    pub(crate) place: Option<Place>,
}

/// Sorted, disjoint ranges.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    page_bytes: usize,
    entries: Vec<Entry>,
    deals: Vec<Deal>,
    runs: Vec<Run>,
}

/// Nodes as runs of consecutive numbers, in their order.
fn runs_of(nodes: &[NodeId]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (before, &node) in nodes.iter().enumerate() {
        let next = runs.last().map(|it| it.first.index() + before - usize::from(it.before));
        if next != Some(node.index()) {
            runs.push(Run { first: node, before: before as u16 });
        }
    }
    runs
}

impl Turns<'_> {
    /// Pages of a whole round.
    fn round(self) -> u32 {
        self.count * self.stride
    }

    /// The node whose turn it is at a position of the deal.
    fn node(self, position: u64) -> NodeId {
        let turn = (position / u64::from(self.stride) % u64::from(self.count)) as u16;
        let index = match self.runs.len() {
            1 => 0,
            _ => self.runs.partition_point(|it| it.before <= turn) - 1,
        };
        let run = self.runs[index];
        NodeId(run.first.0 + (turn - run.before))
    }

    fn nodes(self) -> Vec<NodeId> {
        (0..self.count).map(|it| self.node(u64::from(it) * u64::from(self.stride))).collect()
    }

    /// Pages that each turn of a round has among `pages` from position `start` on.
    fn share(self, start: u32, pages: u32, turn: u32) -> usize {
        let (round, stride) = (u64::from(self.round()), u64::from(self.stride));
        let before = |end: u64| {
            end / round * stride
                + (end % round).saturating_sub(u64::from(turn) * stride).min(stride)
        };
        (before(u64::from(start) + u64::from(pages)) - before(u64::from(start))) as usize
    }
}

impl Ranges {
    pub(crate) fn new(page_bytes: usize) -> Self {
        assert!(page_bytes.is_power_of_two(), "pages of {page_bytes} bytes");
        Self { page_bytes, entries: Vec::new(), deals: Vec::new(), runs: Vec::new() }
    }

    pub(crate) fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Bits that all this takes.
    pub(crate) fn size_bits(&self) -> usize {
        let bytes = size_of::<Self>()
            + self.entries.len() * size_of::<Entry>()
            + self.deals.len() * size_of::<Deal>()
            + self.runs.len() * size_of::<Run>();
        bytes * 8
    }

    /// The compact form of a location.
    pub(crate) fn place(&mut self, location: &Location) -> Place {
        let on = |node: NodeId| Place { code: u32::from(node.0), start: 0 };
        match location {
            Location::Node(node) => on(*node),
            Location::Interleaved { nodes, .. } if nodes.iter().all(|it| *it == nodes[0]) => {
                on(nodes[0])
            }
            Location::Interleaved { nodes, stride, start } => {
                // Rotated so that the lowest node comes first: the same deal is then stored once.
                let lowest = (0..nodes.len()).min_by_key(|&it| nodes[it]).unwrap_or(0);
                let mut nodes = nodes.clone();
                nodes.rotate_left(lowest);
                let turns = Turns {
                    runs: &runs_of(&nodes),
                    count: nodes.len() as u32,
                    stride: *stride as u32,
                };
                let round = turns.round() as usize;
                let start = (start + round - lowest * stride) % round;
                Place { code: self.intern(turns), start: start as u32 }
            }
        }
    }

    fn intern(&mut self, turns: Turns<'_>) -> u32 {
        let known = self.deals.iter().position(|it| self.turns(it) == turns);
        let index = known.unwrap_or_else(|| {
            let deal = Deal {
                first: self.runs.len() as u32,
                runs: turns.runs.len() as u16,
                count: turns.count as u16,
                stride: turns.stride,
            };
            self.runs.extend_from_slice(turns.runs);
            self.deals.push(deal);
            self.deals.len() - 1
        });
        DEAL | index as u32
    }

    fn turns(&self, deal: &Deal) -> Turns<'_> {
        let first = deal.first as usize;
        let runs = &self.runs[first..first + usize::from(deal.runs)];
        Turns { runs, count: u32::from(deal.count), stride: deal.stride }
    }

    /// The place of another map's range in this map's words.
    fn adopt(&mut self, other: &Self, place: Place) -> Place {
        match other.deal(place) {
            Some(turns) => Place { code: self.intern(turns), ..place },
            None => place,
        }
    }

    fn deal(&self, place: Place) -> Option<Turns<'_>> {
        (place.code & DEAL != 0).then(|| self.turns(&self.deals[(place.code ^ DEAL) as usize]))
    }

    /// The address of a range's first page.
    pub(crate) fn base(&self, entry: &Entry) -> usize {
        entry.base
    }

    pub(crate) fn pages(&self) -> usize {
        self.entries.iter().map(|it| it.pages as usize).sum()
    }

    /// The address past a range's last page.
    pub(crate) fn end(&self, entry: &Entry) -> usize {
        entry.base + entry.pages as usize * self.page_bytes
    }

    /// The first range that ends past an address.
    pub(crate) fn first_past(&self, address: usize) -> usize {
        self.entries.partition_point(|it| self.end(it) <= address)
    }

    pub(crate) fn node_of(&self, address: usize) -> Option<NodeId> {
        let index = self.entries.partition_point(|it| it.base <= address);
        let entry = &self.entries[index.checked_sub(1)?];
        let page = (address - entry.base) / self.page_bytes;
        (page < entry.pages as usize).then(|| self.node_at(entry.place, page))
    }

    /// The node of one range that has all pages from an address up to another.
    pub(crate) fn node_of_all(&self, base: usize, end: usize) -> Option<NodeId> {
        let entry = self.entries.get(self.first_past(base))?;
        let has_all = base < end && entry.base <= base && end <= self.end(entry);
        (has_all && self.deal(entry.place).is_none()).then(|| self.node_at(entry.place, 0))
    }

    fn node_at(&self, place: Place, page: usize) -> NodeId {
        match self.deal(place) {
            Some(deal) => deal.node(u64::from(place.start) + page as u64),
            None => NodeId(place.code as u16),
        }
    }

    /// The same place seen from `pages` pages further on.
    fn advanced(&self, place: Place, pages: usize) -> Place {
        let Some(deal) = self.deal(place) else { return place };
        let start = (place.start as usize + pages) % deal.round() as usize;
        Place { start: start as u32, ..place }
    }

    /// A range as callers read it.
    pub(crate) fn range(&self, entry: &Entry) -> PageRange {
        let location = match self.deal(entry.place) {
            None => Location::Node(NodeId(entry.place.code as u16)),
            Some(deal) => Location::Interleaved {
                nodes: deal.nodes(),
                stride: deal.stride as usize,
                start: entry.place.start as usize,
            },
        };
        PageRange { base: entry.base, pages: entry.pages as usize, location }
    }

    /// Pages per node, by the node's number.
    pub(crate) fn shares(&self) -> Vec<usize> {
        let mut shares = Vec::new();
        let mut count = |node: NodeId, pages: usize| {
            if shares.len() <= node.index() {
                shares.resize(node.index() + 1, 0);
            }
            shares[node.index()] += pages;
        };
        for entry in &self.entries {
            match self.deal(entry.place) {
                None => count(NodeId(entry.place.code as u16), entry.pages as usize),
                Some(deal) => {
                    for (turn, node) in deal.nodes().into_iter().enumerate() {
                        count(node, deal.share(entry.place.start, entry.pages, turn as u32));
                    }
                }
            }
        }
        shares
    }

    /// Makes changes, which ascend and do not overlap, in one pass over the ranges between the first and the last.
    pub(crate) fn change(&mut self, changes: &[Change]) {
        let (Some(from), Some(to)) = (changes.first(), changes.last()) else { return };
        // The neighbours may become one with what comes in, or with the rest of a deal that is cut down to one turn.
        let first = self.first_past(from.base).saturating_sub(1);
        let last = self.entries.partition_point(|it| it.base < to.end) + 1;
        let last = last.min(self.entries.len());
        let mut built = Builder { ranges: self, entries: Vec::new() };
        let (mut at, mut done) = (first, 0);
        for change in changes {
            at = built.keep(at..last, done, change.base);
            if let Some(place) = change.place {
                built.push(change.base, (change.end - change.base) / self.page_bytes, place);
            }
            done = change.end;
        }
        built.keep(at..last, done, usize::MAX);
        let entries = built.entries;
        self.entries.splice(first..last, entries);
        self.forget_deals();
    }

    /// Every range of another map that lies between two addresses, cut to them, as changes of this map.
    pub(crate) fn changes_of(&mut self, other: &Self, from: usize, to: usize) -> Vec<Change> {
        let first = other.first_past(from);
        let inside = other.entries[first..].iter().take_while(|it| it.base < to);
        let mut changes = Vec::new();
        for entry in inside {
            let (base, end) = (entry.base.max(from), other.end(entry).min(to));
            let place = other.advanced(entry.place, (base - entry.base) / other.page_bytes);
            changes.push(Change { base, end, place: Some(self.adopt(other, place)) });
        }
        changes
    }

    fn forget_deals(&mut self) {
        if self.deals.len() <= self.entries.len() + DEALS_KEPT {
            return;
        }
        let mut kept = Self::new(self.page_bytes);
        let mut entries = std::mem::take(&mut self.entries);
        for entry in &mut entries {
            entry.place = kept.adopt(self, entry.place);
        }
        kept.entries = entries;
        *self = kept;
    }
}

impl PartialEq for Ranges {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, two): (&Entry, &Entry)| {
            (one.base, one.pages, one.place.start) == (two.base, two.pages, two.place.start)
                && match (self.deal(one.place), other.deal(two.place)) {
                    (None, None) => one.place.code == two.place.code,
                    (one, two) => one == two,
                }
        };
        self.page_bytes == other.page_bytes
            && self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(same)
    }
}

impl Eq for Ranges {}

/// Ranges in the making: what continues the one before becomes one with it.
struct Builder<'a> {
    ranges: &'a Ranges,
    entries: Vec<Entry>,
}

impl Builder<'_> {
    /// Takes over the old ranges between two addresses; the number of the first that ends later.
    fn keep(&mut self, old: std::ops::Range<usize>, from: usize, to: usize) -> usize {
        let ranges = self.ranges;
        for index in old.clone() {
            let entry = &ranges.entries[index];
            let (base, end) = (entry.base.max(from), ranges.end(entry).min(to));
            if base < end {
                let place = ranges.advanced(entry.place, (base - entry.base) / ranges.page_bytes);
                self.push(base, (end - base) / ranges.page_bytes, place);
            }
            if ranges.end(entry) > to {
                return index;
            }
        }
        old.end
    }

    fn push(&mut self, mut base: usize, mut pages: usize, mut place: Place) {
        while pages > 0 {
            // A counter has 32 bits; nobody has so many pages in one piece yet.
            let some = pages.min(u32::MAX as usize);
            self.push_entry(Entry { base, pages: some as u32, place });
            base += some * self.ranges.page_bytes;
            pages -= some;
            place = self.ranges.advanced(place, some);
        }
    }

    fn push_entry(&mut self, mut entry: Entry) {
        // Pages within one turn of a deal are pages of one node.
        if let Some(deal) = self.ranges.deal(entry.place)
            && entry.place.start % deal.stride + entry.pages <= deal.stride
        {
            let node = deal.node(u64::from(entry.place.start));
            entry.place = Place { code: u32::from(node.0), start: 0 };
        }
        // One that grows may meet the one before it.
        while let Some(last) = self.entries.last() {
            let pages = last.pages.checked_add(entry.pages);
            let pages = pages.filter(|_| self.ranges.end(last) == entry.base);
            let Some((pages, place)) = pages.zip(joined(self.ranges, last, &entry)) else { break };
            entry = Entry { base: last.base, pages, place };
            self.entries.pop();
        }
        self.entries.push(entry);
    }
}

/// The place of two neighbours as one range, when they can be one.
fn joined(ranges: &Ranges, before: &Entry, after: &Entry) -> Option<Place> {
    let next = ranges.advanced(before.place, before.pages as usize);
    if next == after.place {
        return Some(before.place);
    }
    match (ranges.deal(before.place), ranges.deal(after.place)) {
        // The second is part of the deal's next turn.
        (Some(deal), None) => {
            let fits = next.start % deal.stride + after.pages <= deal.stride;
            let node = deal.node(u64::from(next.start)).0;
            (fits && u32::from(node) == after.place.code).then_some(before.place)
        }
        // The first is the end of the deal's turn before.
        (None, Some(deal)) => {
            let last = (after.place.start + deal.round() - 1) % deal.round();
            let fits = before.pages <= last % deal.stride + 1;
            let node = deal.node(u64::from(last)).0;
            let start = || (after.place.start + deal.round() - before.pages) % deal.round();
            (fits && u32::from(node) == before.place.code)
                .then(|| Place { start: start(), ..after.place })
        }
        _ => None,
    }
}
