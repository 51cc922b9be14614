//! The index vector (IV): the bit-packed codes of a column in a placed segment.

use std::ops::Range;

use hardware::NodeId;
use memory::{Location, PageRange, Segment};
use stdx::sync::Arc;
use types::SqlResult;

use crate::dictionary::Move;

/// Codes of one width, one per row.
#[derive(Clone, Debug)]
pub struct IndexVector {
    segment: Arc<Segment>,
    bits: u32,
    rows: usize,
}

impl IndexVector {
    pub(crate) fn new(segment: Segment, bits: u32, rows: usize) -> Self {
        debug_assert!(segment.bytes() >= bitpack::packed_bytes(rows, bits));
        Self { segment: Arc::new(segment), bits, rows }
    }

    /// The same codes in another segment with the same bytes.
    pub(crate) fn moved(&self, name: &'static str, body: &mut Move<'_>) -> SqlResult<Self> {
        Ok(Self { segment: body(name, &self.segment)?, ..*self })
    }

    /// Its bitcase: bits per code, 0 to 32, or 64 for words.
    #[inline]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// How many codes.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The packed codes and the padding behind them.
    #[inline]
    pub fn packed(&self) -> &[u8] {
        self.segment.as_bytes()
    }

    /// One code or word; slow.
    #[inline]
    pub fn get(&self, row: usize) -> u64 {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        bitpack::get_u64(self.packed(), self.bits, row)
    }

    /// The bytes of the codes, without padding.
    pub fn bytes(&self) -> u64 {
        bitpack::byte_range(0, self.rows, self.bits).end as u64
    }

    /// The memory behind it, for its page-socket map.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The node that holds a row; `None` when there is no byte of it or its place is not known.
    pub fn node_of_row(&self, row: usize) -> Option<NodeId> {
        if self.bits == 0 || row >= self.rows {
            return None;
        }
        node_at(&self.segment, bitpack::byte_range(row, 1, self.bits).start)
    }
}

/// The node that holds a byte of a segment.
pub(crate) fn node_at(segment: &Segment, byte: usize) -> Option<NodeId> {
    segment.node_of(byte)
}

/// The share of each node in a segment, where it is about the same for every stretch of it; see [`crate::Column::scan_nodes`].
pub(crate) fn shares(segment: &Segment) -> Option<Vec<(NodeId, f64)>> {
    let map = segment.page_map();
    let (summary, pages) = (map.summary(), map.pages());
    let most = |part: usize| part * MOST.1 >= pages * MOST.0;
    if let Some(it) = summary.iter().find(|it| most(it.1)) {
        return Some(vec![(it.0, 1.0)]);
    }
    // Ranges may be dealt round nodes each has for itself: those of a socket.
    let ranges = map.ranges();
    let everywhere = |it: &&PageRange| match &it.location {
        Location::Interleaved { nodes, .. } => summary.iter().all(|own| nodes.contains(&own.0)),
        Location::Node(_) => false,
    };
    let dealt = ranges.iter().filter(everywhere).map(|it| it.pages).sum();
    let share = |it: (NodeId, usize)| (it.0, it.1 as f64 / pages as f64);
    (pages > 0 && most(dealt)).then(|| summary.into_iter().map(share).collect())
}

/// Of so many pages of so many it is said that they are all.
const MOST: (usize, usize) = (15, 16);

/// Adds the bytes of a range of a segment to the nodes that hold them.
pub(crate) fn bytes_on_nodes(
    segment: &Segment,
    range: Range<usize>,
    nodes: &mut Vec<(NodeId, u64)>,
) {
    if range.is_empty() {
        return;
    }
    let mut add = |node: NodeId, bytes: u64| match nodes.iter_mut().find(|it| it.0 == node) {
        Some(entry) => entry.1 += bytes,
        None => nodes.push((node, bytes)),
    };
    let bytes = range.len() as u64;
    if let Some(node) = segment.node_of_all(range.clone()) {
        add(node, bytes);
        return;
    }
    let map = segment.page_map();
    let address = segment.address() + range.start;
    let under = map.subset(address, range.len());
    // The first and the last page may be read in part only, which is shared out among all.
    let pages = under.pages().max(1) as u64;
    let (mut seen, mut added) = (0, 0);
    for (node, count) in under.summary() {
        seen += count as u64;
        let until = bytes * seen / pages;
        add(node, until - added);
        added = until;
    }
}
