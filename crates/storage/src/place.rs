//! Which nodes the parts of a column go to: asks `placement`, and allocates as it says (P-HANA 4.2).

use std::ops::Range;

use hardware::{MachineError, PagePolicy, Topology};
use memory::{Allocator, Segment};
use placement::{ColumnPlacement, ColumnShape, Placement, place_column};
use types::{SqlError, SqlResult, SqlState};

/// Memory for the parts of one column.
#[derive(Clone, Copy)]
pub(crate) struct ColumnPlace<'a> {
    allocator: &'a Allocator,
    placement: &'a Placement,
    turn: usize,
}

impl<'a> ColumnPlace<'a> {
    /// The place of a column; `turn` counts the columns (or parts) dealt so far.
    pub(crate) fn new(allocator: &'a Allocator, placement: &'a Placement, turn: usize) -> Self {
        Self { allocator, placement, turn }
    }

    fn topology(&self) -> &Topology {
        self.allocator.machine().topology()
    }

    /// Where a column of some size goes.
    pub(crate) fn decide(&self, shape: &ColumnShape) -> ColumnPlacement {
        place_column(self.topology(), shape, self.placement, self.turn)
    }

    /// Memory for what belongs to rows, `bits` for each: an index vector, texts, or their ends.
    pub(crate) fn rows(&self, bytes: usize, bits: u32) -> SqlResult<Segment> {
        self.allocator
            .allocate_placed(bytes, &self.places_of_rows(bytes, bits))
            .map_err(out_of_memory)
    }

    /// [`ColumnPlace::rows`] for a few rows of a column, some of which lie in a segment: where that is, if it is small.
    pub(crate) fn rows_beside(
        &self,
        known: &Segment,
        bytes: usize,
        bits: u32,
    ) -> SqlResult<Segment> {
        match known.beside(bytes) {
            Some(segment) => segment.map_err(out_of_memory),
            None => self.rows(bytes, bits),
        }
    }

    /// Where such memory lies.
    pub(crate) fn places_of_rows(&self, bytes: usize, bits: u32) -> Places {
        self.decide(&ColumnShape { bits, bytes_iv: bytes, bytes_dictionary: 0 }).iv
    }

    /// Memory for a dictionary beside an index vector of some size.
    pub(crate) fn dictionary(&self, bytes: usize, bytes_iv: usize) -> SqlResult<Segment> {
        let places = self.places_of_dictionary(bytes, bytes_iv);
        self.allocator.allocate_placed(bytes, &places).map_err(out_of_memory)
    }

    /// Where such memory lies.
    pub(crate) fn places_of_dictionary(&self, bytes: usize, bytes_iv: usize) -> Places {
        let shape = ColumnShape { bits: 8, bytes_iv, bytes_dictionary: bytes };
        vec![(0..bytes, self.decide(&shape).dictionary)]
    }
}

/// Ranges of bytes and where they lie.
pub(crate) type Places = Vec<(Range<usize>, PagePolicy)>;

/// What a user hears when no memory is left.
pub(crate) fn out_of_memory(error: MachineError) -> SqlError {
    match error {
        MachineError::OutOfMemory { .. } => {
            SqlError::new(SqlState::OUT_OF_MEMORY, format!("{error} to hold this table"))
                .with_hint("drop tables that are not needed, or load fewer columns")
        }
        other => SqlError::internal(other.to_string()),
    }
}

/// Whether what was read of a segment is what was written; XX001 for one of a mapped file that is damaged.
pub(crate) fn check_file(segment: &Segment) -> SqlResult<()> {
    let damaged = |what| SqlError::new(SqlState::DATA_CORRUPTED, what);
    segment.check_file().map_err(damaged)
}
