//! Bytes read per running node and memory node, from the page-socket map (docs/design/02-memory-and-placement.md,
//! "traffic"): what the views, EXPLAIN ANALYZE and the placer read.

use hardware::{NodeId, Topology};
use stdx::sync::atomic::{AtomicU64, Ordering};

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

    /// Counts bytes that a worker on `running` read from `memory`.
    pub fn add(&self, running: NodeId, memory: NodeId, bytes: u64) {
        let place = |node| self.nodes.iter().position(|&it| it == node);
        if let (Some(running), Some(memory)) = (place(running), place(memory)) {
            self.bytes[running * self.nodes.len() + memory].fetch_add(bytes, Ordering::Relaxed);
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
