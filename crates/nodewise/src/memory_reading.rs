//! The memory of the nodes as views show it.

use hardware::{Machine, NodeId, NodeMemory};
use stdx::Nanos;
use stdx::sync::Mutex;

/// How old a reading of the nodes' memory may be.
const READING_AGE: Nanos = Nanos(1_000_000_000);

/// The memory of the nodes as it was read last: to read it costs a call to the OS per node, and views shall cost none
/// however often they are asked.
#[derive(Default)]
pub(crate) struct MemoryReading(Mutex<Option<Reading>>);

struct Reading {
    time: Nanos,
    nodes: Vec<(NodeId, Option<NodeMemory>)>,
}

impl MemoryReading {
    /// The memory of each node, at most a second old.
    pub(crate) fn of(&self, machine: &dyn Machine) -> Vec<(NodeId, Option<NodeMemory>)> {
        let mut last = self.0.lock();
        let now = machine.now();
        match &*last {
            Some(it) if now.0.saturating_sub(it.time.0) < READING_AGE.0 => it.nodes.clone(),
            _ => {
                let nodes: Vec<_> = (machine.topology().nodes.iter())
                    .map(|it| (it.id, machine.node_memory(it.id)))
                    .collect();
                *last = Some(Reading { time: now, nodes: nodes.clone() });
                nodes
            }
        }
    }
}
