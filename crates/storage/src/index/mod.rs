//! The inverted index (IX): from a value to the positions that hold it (P-HANA 4.1; docs/design/01-storage.md,
//! "inverted index").
//!
//! Two bit-packed vectors in placed segments. *Positions* holds every row that is not NULL, in the order of
//! (value, position). *Starts* says where the run of each bucket of values begins. A bucket is one code as long as the
//! codes are dense, and then the index is the paper's: vid -> run of positions. Where the codes of an offset column are
//! far more than its rows, and in columns without codes, a bucket is 2^shift neighbouring keys: there are never more
//! buckets than rows, and the few positions of a bucket are told apart by a binary search over the column itself. So
//! one form serves all encodings, a lookup touches one entry of starts and a handful of positions, and the size is bounded
//! by the rows. Texts without codes are keyed by the eight bytes behind the prefix that all of them share.

mod build;
pub(crate) mod keys;
mod lookup;
pub(crate) mod sort;

use std::ops::Range;

use memory::Segment;
use stdx::sync::Arc;
use types::SqlResult;

use crate::IndexVector;
use crate::dictionary::Move;

/// From values to the positions that hold them. NULL is in no run.
#[derive(Debug)]
pub struct InvertedIndex {
    /// The least key that a row has.
    least: u64,
    /// A bucket is this many bits of keys wide.
    shift: u32,
    /// Bytes that all texts begin with; they are no part of a key.
    prefix: usize,
    /// For each bucket the first slot of its run, and the end of the last.
    starts: IndexVector,
    /// Positions by (value, position).
    positions: IndexVector,
}

impl InvertedIndex {
    /// Positions in all runs: the rows that are not NULL.
    pub fn len(&self) -> usize {
        self.positions.rows()
    }

    /// Whether all rows are NULL.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of both vectors.
    pub fn memory_bytes(&self) -> u64 {
        self.segments().iter().map(|it| it.1.bytes() as u64).sum()
    }

    /// What leads to the vectors: the least key, the bits of a bucket, and the bytes that all texts begin with.
    pub(crate) fn facts(&self) -> (u64, u32, usize) {
        (self.least, self.shift, self.prefix)
    }

    /// Its vectors: starts and positions.
    pub(crate) fn vectors(&self) -> [&IndexVector; 2] {
        [&self.starts, &self.positions]
    }

    /// The index that has these facts and vectors.
    pub(crate) fn of_vectors(
        (least, shift, prefix): (u64, u32, usize),
        starts: IndexVector,
        positions: IndexVector,
    ) -> Self {
        Self { least, shift, prefix, starts, positions }
    }

    /// Its segments with a name for each.
    pub fn segments(&self) -> [(&'static str, &Arc<Segment>); 2] {
        [("ix starts", self.starts.segment()), ("ix positions", self.positions.segment())]
    }

    /// The same index over other segments with the same bytes.
    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        let starts = self.starts.moved("ix starts", body)?;
        let positions = self.positions.moved("ix positions", body)?;
        Ok(Self { starts, positions, ..*self })
    }

    /// The first slot of the bucket of a key for which `before` does not hold; slots in lower buckets come before it.
    fn first(&self, key: u64, before: impl Fn(usize) -> bool) -> usize {
        let Some(distance) = key.checked_sub(self.least) else { return 0 };
        let Ok(bucket) = usize::try_from(distance >> self.shift) else { return self.len() };
        if bucket + 1 >= self.starts.rows() {
            return self.len();
        }
        let mut low = self.starts.get(bucket) as usize;
        let mut high = self.starts.get(bucket + 1) as usize;
        while low < high {
            let middle = low.midpoint(high);
            if before(self.positions.get(middle) as usize) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Appends the positions of some slots, in the order of (value, position).
    pub fn positions(&self, slots: Range<usize>, into: &mut Vec<u32>) {
        let start = into.len();
        into.resize(start + slots.len(), 0);
        let (packed, bits) = (self.positions.packed(), self.positions.bits());
        bitpack::unpack_u32(packed, bits, slots.start, &mut into[start..]);
    }
}
