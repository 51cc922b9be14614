//! Which nodes the parts of a column go to: asks `placement`, and allocates as it says.

use std::ops::Range;

use hardware::{MachineError, NodeId, PagePolicy, Topology};
use memory::{Allocator, Segment};
use types::{SqlError, SqlResult, SqlState};

/// An index vector of at least this size is split over the nodes (IVP); a smaller one stays whole (RR).
const SPLIT_BYTES: usize = 8 << 20;

/// Where the parts of one column go.
#[derive(Clone, Debug)]
pub(crate) struct ColumnPlace {
    nodes: Vec<NodeId>,
    /// Which node comes first, so that the columns of a table are dealt round.
    turn: usize,
}

impl ColumnPlace {
    /// The place of a table's column by its number.
    pub(crate) fn new(topology: &Topology, column: usize) -> Self {
        let mut nodes = topology.memory_nodes();
        if nodes.is_empty() {
            nodes = topology.nodes.iter().take(1).map(|it| it.id).collect();
        }
        Self { nodes, turn: column }
    }

    fn home(&self) -> PagePolicy {
        match self.nodes.get(self.turn % self.nodes.len().max(1)) {
            Some(&node) => PagePolicy::Node(node),
            None => PagePolicy::FirstTouch,
        }
    }

    /// Memory for what rows are stored in: on one node, or cut into equal ranges of rows over all. `per_cut` bytes
    /// belong to one block of rows, so that cuts fall between blocks where pages allow.
    pub(crate) fn rows_segment(&self, allocator: &Allocator, bytes: usize) -> SqlResult<Segment> {
        if self.nodes.len() < 2 || bytes < SPLIT_BYTES {
            return allocator.allocate(bytes, self.home()).map_err(out_of_memory);
        }
        let page = allocator.machine().page_bytes();
        let share = bytes.div_ceil(self.nodes.len()).next_multiple_of(page);
        let places: Vec<(Range<usize>, PagePolicy)> = (self.nodes.iter().enumerate())
            .map(|(index, &node)| {
                let range = (index * share).min(bytes)..((index + 1) * share).min(bytes);
                (range, PagePolicy::Node(node))
            })
            .filter(|it| !it.0.is_empty())
            .collect();
        allocator.allocate_placed(bytes, &places).map_err(out_of_memory)
    }

    /// Memory for a dictionary: beside a small column, dealt round the nodes for a large one (P-HANA 4.2, IVP).
    pub(crate) fn shared_segment(
        &self,
        allocator: &Allocator,
        bytes: usize,
        iv_bytes: usize,
    ) -> SqlResult<Segment> {
        let split = self.nodes.len() > 1 && iv_bytes >= SPLIT_BYTES;
        let page = allocator.machine().page_bytes();
        let policy = if split && bytes >= page {
            PagePolicy::Interleave(self.nodes.clone())
        } else {
            self.home()
        };
        allocator.allocate(bytes, policy).map_err(out_of_memory)
    }
}

/// What a user hears when no memory is left.
fn out_of_memory(error: MachineError) -> SqlError {
    match error {
        MachineError::OutOfMemory { .. } => {
            SqlError::new(SqlState::OUT_OF_MEMORY, format!("{error} to load this table"))
                .with_hint("drop tables that are not needed, or load fewer columns")
        }
        other => SqlError::internal(other.to_string()),
    }
}
