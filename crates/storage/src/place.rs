//! Which nodes the parts of a column go to: asks `placement`, and allocates as it says (P-HANA 4.2).

use hardware::{MachineError, Topology};
use memory::{Allocator, Segment};
use placement::{ColumnShape, Placement, place_column};
use types::{SqlError, SqlResult, SqlState};

/// An index vector of at least this size is split over the nodes (IVP); a smaller one stays whole (RR).
const SPLIT_BYTES: usize = 2 << 20;

/// Memory for the parts of one column.
#[derive(Clone, Copy)]
pub(crate) struct ColumnPlace<'a> {
    allocator: &'a Allocator,
    turn: usize,
}

impl<'a> ColumnPlace<'a> {
    /// The place of a column; `turn` counts the columns dealt so far.
    pub(crate) fn new(allocator: &'a Allocator, turn: usize) -> Self {
        Self { allocator, turn }
    }

    fn topology(&self) -> &Topology {
        self.allocator.machine().topology()
    }

    fn decide(&self, shape: &ColumnShape) -> placement::ColumnPlacement {
        let placement = if shape.bytes_iv >= SPLIT_BYTES {
            Placement::IndexVector(self.topology().memory_nodes())
        } else {
            Placement::RoundRobin
        };
        place_column(self.topology(), shape, &placement, self.turn)
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
            SqlError::new(SqlState::OUT_OF_MEMORY, format!("{error} to load this table"))
                .with_hint("drop tables that are not needed, or load fewer columns")
        }
        other => SqlError::internal(other.to_string()),
    }
}
