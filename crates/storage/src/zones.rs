//! Zone maps: what is known of each block of rows, in a placed segment as all else of a column
//! (docs/design/01-storage.md, "blocks and zones").

use memory::Segment;
use stdx::sync::Arc;
use types::SqlResult;

use crate::dictionary::Move;

/// What is known of a block of rows. Plain and raw columns have zones whose codes mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Zone {
    /// Least code of a value; greater than `max_code` when all rows are NULL.
    pub min_code: u32,
    /// Greatest code of a value.
    pub max_code: u32,
    /// NULLs.
    pub nulls: u32,
    /// Whether values never fall from row to row, and none is NULL.
    pub sorted: bool,
}

impl Zone {
    /// The zone of no rows.
    pub const EMPTY: Self = Self { min_code: u32::MAX, max_code: 0, nulls: 0, sorted: true };

    /// Whether no row has a value.
    pub fn is_all_null(&self) -> bool {
        self.min_code > self.max_code
    }
}

/// The zones of a column, a [`Zone`] per block.
#[derive(Clone, Debug)]
pub struct Zones {
    /// Four words a zone, in the order of its fields.
    segment: Arc<Segment>,
    len: usize,
}

/// Bytes that a zone takes.
pub(crate) const ZONE_BYTES: usize = 16;

impl Zones {
    /// Writes zones into a segment that has room for them.
    pub(crate) fn store(mut segment: Segment, zones: &[Zone]) -> Self {
        for (out, zone) in segment.as_mut_slice::<[u32; 4]>().iter_mut().zip(zones) {
            *out = [zone.min_code, zone.max_code, zone.nulls, u32::from(zone.sorted)];
        }
        Self { segment: Arc::new(segment), len: zones.len() }
    }

    /// The zones that a segment holds already.
    pub(crate) fn of_segment(segment: Segment, len: usize) -> Self {
        Self { segment: Arc::new(segment), len }
    }

    /// How many blocks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The zone of a block; `None` past the end.
    #[inline]
    pub fn get(&self, block: usize) -> Option<Zone> {
        let words = &self.segment.as_slice::<[u32; 4]>()[..self.len];
        words.get(block).map(|&[min_code, max_code, nulls, sorted]| Zone {
            min_code,
            max_code,
            nulls,
            sorted: sorted != 0,
        })
    }

    /// All zones, block by block.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Zone> + '_ {
        (0..self.len).map(|it| self.get(it).expect("invariant: a block below the number of blocks"))
    }

    /// All zones at once, to compare.
    pub fn to_vec(&self) -> Vec<Zone> {
        self.iter().collect()
    }

    /// The memory behind them.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The same zones in another segment with the same bytes.
    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        Ok(Self { segment: body("zones", &self.segment)?, ..*self })
    }
}
