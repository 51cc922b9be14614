//! What counts as one place.

use hardware::{NodeId, Topology};

/// Up to this cost (1 is local) the nodes of a socket are one place. Sub-NUMA clusters report distances of 11 to 13 and
/// measure 1.1 (P-SNC table 6); the dies of a first-generation EPYC, 16 and really apart, do not pass, nor do the
/// clusters of a Broadwell, which measure 2.1 (P-SNC table 2).
const NEAR: f64 = 1.4;

/// The nodes among `nodes` grouped into units of placement, in ascending order: the near nodes of each socket that has
/// CPUs of ours. Nodes without such CPUs hold data only when nothing else can, or when they alone are named.
pub fn units(topology: &Topology, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.iter().any(|&it| topology.cpus_of(it).next().is_some()) {
        nodes.retain(|&it| topology.cpus_of(it).next().is_some());
    }
    let socket = |node| topology.node_index(node).map(|it| topology.nodes[it].socket);
    let mut units: Vec<Vec<NodeId>> = Vec::new();
    for node in nodes {
        let near = |unit: &&mut Vec<NodeId>| {
            unit.iter().all(|&it| {
                let there = topology.relative_cost(it, node);
                socket(it) == socket(node) && there.max(topology.relative_cost(node, it)) <= NEAR
            })
        };
        match units.iter_mut().find(near) {
            Some(unit) => unit.push(node),
            None => units.push(vec![node]),
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::samples;

    #[test]
    fn near_nodes_of_a_socket_are_one_place() {
        let counts = |machine: &Topology| -> Vec<usize> {
            units(machine, &machine.memory_nodes()).iter().map(Vec::len).collect()
        };
        assert_eq!(counts(&samples::laptop()), [1]);
        assert_eq!(counts(&samples::ring()), [1; 4]);
        assert_eq!(counts(&samples::sub_numa()), [2, 2]);
        assert_eq!(counts(&samples::thirty_two()), [1; 32]);
        let mut apart = samples::sub_numa();
        apart.distances.iter_mut().flatten().for_each(|it| *it = (*it).max(16));
        assert_eq!(counts(&apart), [1; 4]);
        // P-SNC table 2: firmware may say 12 where the neighbour is twice as far as local memory.
        let clusters = |neighbour: f64| {
            let machine = samples::sub_numa();
            let mut performance = hardware::Performance::unknown(&machine);
            for (from, row) in performance.idle_ns.iter_mut().enumerate() {
                for (to, cell) in row.iter_mut().enumerate() {
                    let far = if from / 2 == to / 2 { neighbour } else { 200.0 };
                    let mean = if from == to { 75.0 } else { far };
                    *cell = Some(hardware::Latency { least: mean, mean, greatest: mean });
                }
            }
            assert!(machine.learn(performance));
            counts(&machine)
        };
        assert_eq!(clusters(82.0), [2, 2]);
        assert_eq!(clusters(156.0), [1; 4]);
        // The node without CPUs comes last, not first.
        let machine = samples::cpuless();
        let without = machine.nodes.iter().find(|it| machine.cpus_of(it.id).next().is_none());
        let without = without.unwrap().id;
        assert!(units(&machine, &machine.memory_nodes()).iter().all(|it| !it.contains(&without)));
        assert_eq!(units(&machine, &[without]), [[without]]);
        assert!(units(&machine, &[]).is_empty());
    }
}
