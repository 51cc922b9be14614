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
    /// Whether pages may be put there.
    pub(crate) takes: Vec<bool>,
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
        let takes = nodes.iter().map(|it| memory.contains(it)).collect();
        Self { nodes, takes, local, between }
    }

    pub(crate) fn position(&self, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|it| *it == node)
    }

    /// The share of a node's bandwidth that some bytes per second are.
    pub(crate) fn load(&self, node: usize, bytes_per_second: f64) -> f64 {
        bytes_per_second / self.local[node]
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
}
