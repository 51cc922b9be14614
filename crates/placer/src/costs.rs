//! What the nodes can do: bandwidths, from the probe, else the firmware, else assumed.

use hardware::{NodeId, Topology};
use stdx::Nanos;

use crate::constants::{ASSUMED_MB_S, COPY_SHARE};

/// Bytes of a second at one MB/s.
const MB: f64 = 1e6;

/// Bandwidths between nodes, by their positions in the topology.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bandwidths {
    pub(crate) nodes: Vec<NodeId>,
    /// Whether what is read may be put there: it has memory and CPUs. All that have memory, if no CPUs are known.
    pub(crate) takes: Vec<bool>,
    /// Bytes of memory, 0 where nothing may be put.
    pub(crate) capacity: Vec<f64>,
    /// Bytes per second that a node's CPUs read of its own memory.
    local: Vec<f64>,
    /// Bytes per second from the memory of a node (row) to that of another.
    between: Vec<Vec<f64>>,
}

impl Bandwidths {
    pub(crate) fn new(topology: &Topology) -> Self {
        let measured = topology.performance();
        let nodes: Vec<NodeId> = topology.nodes.iter().map(|it| it.id).collect();
        let local: Vec<f64> = (topology.nodes.iter())
            .map(|it| {
                let probed = measured.and_then(|known| known.read_mb_s(it.id, it.id));
                let known = probed.or(it.read_bandwidth_mb_s).filter(|it| *it > 0);
                known.unwrap_or(ASSUMED_MB_S) as f64 * MB
            })
            .collect();
        let path = |from: usize, to: usize| {
            let (source, target) = (nodes[from], nodes[to]);
            let probed = measured.and_then(|known| known.read_mb_s(target, source));
            match probed.filter(|it| *it > 0) {
                Some(mb) => mb as f64 * MB,
                None => {
                    local[from].min(local[to]) / topology.relative_cost(target, source).max(1.0)
                }
            }
        };
        let width = nodes.len();
        let between =
            (0..width).map(|from| (0..width).map(|to| path(from, to)).collect()).collect();
        let memory = topology.memory_nodes();
        let no_cpus = memory.iter().all(|it| topology.cpus_of(*it).next().is_none());
        let has_cpus = |it: NodeId| no_cpus || topology.cpus_of(it).next().is_some();
        let takes = nodes.iter().map(|it| memory.contains(it) && has_cpus(*it)).collect();
        let room = |it: &hardware::topology::Node| match memory.contains(&it.id) {
            true => it.memory_total.0 as f64,
            false => 0.0,
        };
        let capacity = topology.nodes.iter().map(room).collect();
        Self { nodes, takes, capacity, local, between }
    }

    pub(crate) fn position(&self, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|it| *it == node)
    }

    /// The share of a node's bandwidth that some bytes per second are.
    pub(crate) fn load(&self, node: usize, bytes_per_second: f64) -> f64 {
        bytes_per_second / self.local[node]
    }

    /// Bytes per second from the memory of a node to that of another.
    pub(crate) fn between(&self, from: usize, to: usize) -> f64 {
        self.between[from][to]
    }

    /// Seconds by which CPUs of a node read a byte sooner of its own memory than of another node's.
    pub(crate) fn saved_per_byte(&self, other: usize, own: usize) -> f64 {
        (1.0 / self.between[other][own] - 1.0 / self.local[own]).max(0.0)
    }

    /// The same in the mean over all pairs of nodes that what is read may lie on.
    pub(crate) fn saved_per_remote_byte(&self) -> f64 {
        let nodes = || (0..self.nodes.len()).filter(|it| self.takes[*it]);
        let pairs =
            nodes().flat_map(|own| nodes().filter(move |it| *it != own).map(move |it| (it, own)));
        let saved: Vec<f64> = pairs.map(|it| self.saved_per_byte(it.0, it.1)).collect();
        saved.iter().sum::<f64>() / saved.len().max(1) as f64
    }

    /// The least memory of a node that what is read may lie on.
    pub(crate) fn least_memory(&self) -> f64 {
        let nodes = (0..self.nodes.len()).filter(|it| self.takes[*it]);
        nodes.map(|it| self.capacity[it]).fold(f64::INFINITY, f64::min)
    }

    /// How long copies keep the memory of nodes busy: from, to, bytes.
    pub(crate) fn copy_cost(&self, copies: &[(usize, usize, f64)]) -> Nanos {
        let seconds: f64 = copies.iter().map(|it| it.2 / self.between[it.0][it.1]).sum();
        Nanos((seconds * 1e9) as u64)
    }

    /// How long copies of that cost take under their share of the bandwidth.
    pub(crate) fn copy_time(cost: Nanos) -> Nanos {
        Nanos((cost.0 as f64 / COPY_SHARE) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::samples;

    #[test]
    fn far_copies_cost_more_and_a_share_takes_longer() {
        let costs = Bandwidths::new(&samples::four_sockets());
        let near = costs.copy_cost(&[(0, 0, 1e9)]);
        let far = costs.copy_cost(&[(0, 1, 1e9)]);
        assert!(near.0 > 0 && far > near, "{near:?} {far:?}");
        assert_eq!(costs.copy_cost(&[(0, 1, 1e9), (0, 1, 1e9)]).0, 2 * far.0);
        assert_eq!(Bandwidths::copy_time(Nanos(100)), Nanos(400));
        assert_eq!(costs.position(NodeId(3)), Some(3));
        assert_eq!(costs.position(NodeId(9)), None);
    }

    #[test]
    fn a_node_without_cpus_takes_nothing_that_is_read() {
        let costs = Bandwidths::new(&samples::cpuless());
        assert_eq!(costs.takes, [true, true, false]);
        assert!(costs.saved_per_byte(2, 0) > 0.0 && costs.capacity[2] > costs.capacity[0]);
    }
}
