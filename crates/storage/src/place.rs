//! Which nodes the parts of a column go to: asks `placement`, and allocates as it says (P-HANA 4.2).

use hardware::{MachineError, Topology};
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
        let shape = ColumnShape { bits, bytes_iv: bytes, bytes_dictionary: 0 };
        let placed = self.decide(&shape);
        self.allocator.allocate_placed(bytes, &placed.iv).map_err(out_of_memory)
    }

    /// Memory for a dictionary beside an index vector of some size.
    pub(crate) fn dictionary(&self, bytes: usize, bytes_iv: usize) -> SqlResult<Segment> {
        let shape = ColumnShape { bits: 8, bytes_iv, bytes_dictionary: bytes };
        let placed = self.decide(&shape);
        self.allocator.allocate(bytes, placed.dictionary).map_err(out_of_memory)
    }
}

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
