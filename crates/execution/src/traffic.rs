//! Bytes read per running node and memory node, from the page-socket map (docs/design/02-memory-and-placement.md,
//! "traffic"): what the views, EXPLAIN ANALYZE and the placer read.

use hardware::{NodeId, Topology};
use stdx::sync::atomic::{AtomicU64, Ordering};
use storage::{ItemBytes, ItemTraffic};

/// What is read of a column of a part in the memory of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItemRead {
    /// The part of the table, by number.
    pub part: usize,
    /// The column of the table, by number.
    pub column: usize,
    /// The node of the memory.
    pub node: NodeId,
    /// How many bytes.
    pub bytes: u64,
}

/// The bytes of some reads by memory node, in the order in which the nodes appear.
pub(crate) fn bytes_by_node(reads: &[ItemRead]) -> Vec<(NodeId, u64)> {
    let mut nodes: Vec<(NodeId, u64)> = Vec::new();
    for read in reads {
        match nodes.iter_mut().find(|it| it.0 == read.node) {
            Some(entry) => entry.1 += read.bytes,
            None => nodes.push((read.node, read.bytes)),
        }
    }
    nodes
}

/// A matrix of counters, running node x memory node.
#[derive(Debug)]
pub struct Traffic {
    nodes: Vec<NodeId>,
    bytes: Vec<AtomicU64>,
}

impl Traffic {
    /// Zero everywhere.
    pub fn new(topology: &Topology) -> Self {
        let nodes: Vec<NodeId> = topology.nodes.iter().map(|it| it.id).collect();
        let bytes = (0..nodes.len() * nodes.len()).map(|_| AtomicU64::new(0)).collect();
        Self { nodes, bytes }
    }

    /// The nodes, in the order of rows and columns.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Counts what a worker on `running` read, in all and in the counters of the table.
    pub(crate) fn count(&self, running: NodeId, reads: &[ItemRead], table: Option<&ItemTraffic>) {
        let width = self.nodes.len();
        let place = |node| self.nodes.iter().position(|&it| it == node);
        let Some(running) = place(running) else { return };
        for &ItemRead { part, column, node, bytes } in reads {
            let Some(memory) = place(node) else { continue };
            self.bytes[running * width + memory].fetch_add(bytes, Ordering::Relaxed);
            if let Some(table) = table {
                table.add(ItemBytes { part, column, running, memory, bytes }, width);
            }
        }
    }

    /// All counters: running node, memory node, bytes.
    pub fn snapshot(&self) -> Vec<(NodeId, NodeId, u64)> {
        let width = self.nodes.len();
        (self.bytes.iter().enumerate())
            .map(|(index, it)| {
                (self.nodes[index / width], self.nodes[index % width], it.load(Ordering::Relaxed))
            })
            .collect()
    }
}
