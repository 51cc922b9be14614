//! The index vector (IV): the bit-packed codes of a column in a placed segment.

use hardware::NodeId;
use memory::Segment;

/// Codes of one width, one per row.
#[derive(Debug)]
pub struct IndexVector {
    segment: Segment,
    bits: u32,
    rows: usize,
}

impl IndexVector {
    pub(crate) fn new(segment: Segment, bits: u32, rows: usize) -> Self {
        debug_assert!(segment.bytes() >= bitpack::packed_bytes(rows, bits));
        Self { segment, bits, rows }
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
    pub fn segment(&self) -> &Segment {
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
