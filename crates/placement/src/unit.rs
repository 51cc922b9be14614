//! What counts as one place.

use hardware::{NodeId, Topology};

/// Up to this distance (10 is local) the nodes of a socket are one place: sub-NUMA clusters report 11 to 13, the
/// dies of a first-generation EPYC, 16 and really apart, do not pass.
const NEAR: u32 = 14;

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
            unit.iter().all(|&it| socket(it) == socket(node) && topology.distance(it, node) <= NEAR)
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
        // The node without CPUs comes last, not first.
        let machine = samples::cpuless();
        let without = machine.nodes.iter().find(|it| machine.cpus_of(it.id).next().is_none());
        let without = without.unwrap().id;
        assert!(units(&machine, &machine.memory_nodes()).iter().all(|it| !it.contains(&without)));
        assert_eq!(units(&machine, &[without]), [[without]]);
        assert!(units(&machine, &[]).is_empty());
    }
}
