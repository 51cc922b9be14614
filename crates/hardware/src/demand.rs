//! What a piece of work asks of a machine: how a task without data tells a modelled machine what it would have cost
//! (docs/design/06-proof-without-hardware.md, "modelled machines"). The real machine never looks: work costs there what
//! it costs.

use stdx::Bytes;

use crate::NodeId;

/// Computing and memory traffic of one step of a worker. Computing overlaps with the accesses; these follow one
/// another in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Demand {
    /// Core cycles of computing.
    pub cycles: u64,
    /// Memory accesses, in the order in which they happen.
    pub accesses: Vec<Access>,
}

/// Bytes from or to memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The node of the bytes; several when they are dealt round them evenly.
    pub nodes: Vec<NodeId>,
    /// How many bytes; of random accesses, 64 for each line.
    pub bytes: Bytes,
    /// In which manner.
    pub pattern: Pattern,
}

/// How bytes are accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Read one after the other, so that the hardware fetches ahead.
    Stream,
    /// Lines read all over the place.
    Random {
        /// Lines that the program has under way at a time; one when each address depends on the line before.
        in_flight: u32,
        /// The bytes among which it chooses: what of them fits into the last-level cache is not read from memory.
        working_set: Bytes,
    },
    /// Written one after the other; a line is read before it is written.
    Write,
}

impl Demand {
    /// Adds an access; nothing when it has no bytes.
    pub fn access(mut self, nodes: Vec<NodeId>, bytes: u64, pattern: Pattern) -> Self {
        if bytes > 0 && !nodes.is_empty() {
            self.accesses.push(Access { nodes, bytes: Bytes(bytes), pattern });
        }
        self
    }
}
