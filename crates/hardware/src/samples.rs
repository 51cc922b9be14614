//! Sample machines as data: what the tests, the simulator and `nodewise topology --sample` run on.
//!
//! The distances are those that such machines report in their SLIT; the memory per node is small enough to fit a test.

use stdx::Bytes;

use crate::topology::{Cpu, Node, Topology};
use crate::{CpuId, LlcId, NodeId, SocketId};

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 8] =
    ["laptop", "four_sockets", "ring", "sub_numa", "eight", "thirty_two", "epyc", "cpuless"];

/// The sample machine of that name.
pub fn by_name(name: &str) -> Option<Topology> {
    Some(match name {
        "laptop" => laptop(),
        "four_sockets" => four_sockets(),
        "ring" => ring(),
        "sub_numa" => sub_numa(),
        "eight" => eight(),
        "thirty_two" => thirty_two(),
        "epyc" => epyc(),
        "cpuless" => cpuless(),
        _ => return None,
    })
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// A regular machine; what differs from it is patched afterwards.
struct Shape {
    name: &'static str,
    sockets: usize,
    nodes_per_socket: usize,
    llcs_per_node: usize,
    cores_per_llc: usize,
    threads_per_core: usize,
    memory_per_node: u64,
    llc_bytes: u64,
}

impl Shape {
    /// The machine with the given distance between two different nodes (by index). Hardware threads are numbered as
    /// Linux does: first one per core over the whole machine, then the siblings.
    fn build(&self, distance: impl Fn(usize, usize) -> u32) -> Topology {
        let nodes = self.sockets * self.nodes_per_socket;
        let cores_per_node = self.llcs_per_node * self.cores_per_llc;
        let cores = nodes * cores_per_node;
        let cpu = |number: usize| {
            let core = number % cores;
            let node = core / cores_per_node;
            Cpu {
                id: CpuId::from_index(number),
                node: NodeId::from_index(node),
                socket: SocketId::from_index(node / self.nodes_per_socket),
                core: core as u32,
                llc: LlcId::from_index(core / self.cores_per_llc),
            }
        };
        let node = |number: usize| Node {
            id: NodeId::from_index(number),
            socket: SocketId::from_index(number / self.nodes_per_socket),
            memory_total: Bytes(self.memory_per_node),
            memory_free: Bytes(self.memory_per_node / 8 * 7),
            allowed: true,
            read_bandwidth_mb_s: None,
            read_latency_ns: None,
        };
        Topology {
            name: self.name.to_owned(),
            nodes: (0..nodes).map(node).collect(),
            cpus: (0..cores * self.threads_per_core).map(cpu).collect(),
            distances: (0..nodes)
                .map(|from| {
                    (0..nodes).map(|to| if from == to { 10 } else { distance(from, to) }).collect()
                })
                .collect(),
            llc_bytes: Bytes(self.llc_bytes),
            cpu_quota: None,
            memory_limit: None,
            cpus_excluded: 0,
            measured: Default::default(),
        }
    }
}

/// One node, four cores.
pub fn laptop() -> Topology {
    let mut machine = Shape {
        name: "laptop",
        sockets: 1,
        nodes_per_socket: 1,
        llcs_per_node: 1,
        cores_per_llc: 4,
        threads_per_core: 1,
        memory_per_node: 16 * GIB,
        llc_bytes: 12 * MIB,
    }
    .build(|_, _| 10);
    machine.nodes[0].read_bandwidth_mb_s = Some(40_000);
    machine.nodes[0].read_latency_ns = Some(80);
    machine
}

/// Four sockets, each linked to each other one.
pub fn four_sockets() -> Topology {
    sockets("four_sockets", 4, 32 * GIB).build(|_, _| 21)
}

/// Four sockets in a ring (Sandy Bridge EP): neighbours are one hop away, the opposite one two.
pub fn ring() -> Topology {
    sockets("ring", 4, 32 * GIB).build(|from, to| if (from + to) % 2 == 1 { 21 } else { 31 })
}

/// Two sockets of two sub-NUMA clusters each (P-SNC).
pub fn sub_numa() -> Topology {
    let mut shape = sockets("sub_numa", 2, 16 * GIB);
    shape.nodes_per_socket = 2;
    shape.build(|from, to| if from / 2 == to / 2 { 12 } else { 21 })
}

/// Eight sockets without a switch: two fully linked groups of four, one link from each socket to the other group.
pub fn eight() -> Topology {
    sockets("eight", 8, 16 * GIB)
        .build(|from, to| if from / 4 == to / 4 || from % 4 == to % 4 { 21 } else { 31 })
}

/// Thirty-two sockets: eight blades of four, the blades the corners of a cube; each link passed adds to the distance.
pub fn thirty_two() -> Topology {
    sockets("thirty_two", 32, 8 * GIB).build(|from, to| {
        match ((from / 4) ^ (to / 4)).count_ones() {
            0 => 21,
            hops => 30 + 10 * hops,
        }
    })
}

/// One socket of four nodes with four chiplets each, two hardware threads per core.
pub fn epyc() -> Topology {
    let mut machine = Shape {
        name: "epyc",
        sockets: 1,
        nodes_per_socket: 4,
        llcs_per_node: 4,
        cores_per_llc: 2,
        threads_per_core: 2,
        memory_per_node: 32 * GIB,
        llc_bytes: 32 * MIB,
    }
    .build(|_, _| 12);
    for node in &mut machine.nodes {
        node.read_bandwidth_mb_s = Some(76_800);
        node.read_latency_ns = Some(96);
    }
    machine
}

/// Two sockets and, behind the first, a memory expander: a node with memory and no CPUs.
pub fn cpuless() -> Topology {
    let mut machine = sockets("cpuless", 2, 32 * GIB).build(|_, _| 21);
    machine.nodes.push(Node {
        id: NodeId(2),
        socket: SocketId(0),
        memory_total: Bytes(64 * GIB),
        memory_free: Bytes(64 * GIB),
        allowed: true,
        read_bandwidth_mb_s: Some(26_000),
        read_latency_ns: Some(250),
    });
    machine.distances = vec![vec![10, 21, 14], vec![21, 10, 24], vec![14, 24, 10]];
    machine
}

/// Sockets of one node and four cores each.
fn sockets(name: &'static str, sockets: usize, memory_per_node: u64) -> Shape {
    Shape {
        name,
        sockets,
        nodes_per_socket: 1,
        llcs_per_node: 1,
        cores_per_llc: 4,
        threads_per_core: 1,
        memory_per_node,
        llc_bytes: 20 * MIB,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_sample_is_consistent() {
        for name in NAMES {
            let machine = by_name(name).unwrap();
            assert_eq!(machine.name, name);
            let ids: BTreeSet<_> = machine.cpus.iter().map(|it| it.id).collect();
            assert_eq!(ids.len(), machine.cpus.len(), "{name}: a hardware thread twice");
            assert_eq!(machine.distances.len(), machine.nodes.len());
            for (from, row) in machine.distances.iter().enumerate() {
                assert_eq!(row.len(), machine.nodes.len());
                assert_eq!(row[from], 10);
                for (to, &distance) in row.iter().enumerate() {
                    assert_eq!(distance, machine.distances[to][from], "{name}: {from} {to}");
                    assert!(from == to || distance > 10);
                }
            }
            for cpu in &machine.cpus {
                let node = &machine.nodes[machine.node_index(cpu.node).unwrap()];
                assert_eq!(node.socket, cpu.socket);
            }
        }
        assert!(by_name("abacus").is_none());
    }

    #[test]
    fn the_samples_have_the_promised_shapes() {
        let spread = |machine: &Topology| {
            machine.distances.iter().flatten().copied().collect::<BTreeSet<_>>()
        };
        let list = |of: &[u32]| of.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!((laptop().nodes.len(), laptop().cpus.len()), (1, 4));
        assert_eq!((four_sockets().nodes.len(), four_sockets().cpus.len()), (4, 16));
        assert_eq!(spread(&four_sockets()), list(&[10, 21]));
        assert_eq!(spread(&ring()), list(&[10, 21, 31]));
        assert_eq!(ring().distances[0], [10, 21, 31, 21]);
        assert_eq!(sub_numa().distances[0], [10, 12, 21, 21]);
        assert_eq!(sub_numa().cpus_of(NodeId(3)).count(), 4);
        assert_eq!(eight().distances[1], [21, 10, 21, 21, 31, 21, 31, 31]);
        assert_eq!(spread(&thirty_two()), list(&[10, 21, 40, 50, 60]));
        let epyc = epyc();
        assert_eq!((epyc.cpus.len(), epyc.cpus_of(NodeId(0)).count()), (64, 16));
        assert_eq!((epyc.cpus[32].core, epyc.cpus[33].llc), (0, LlcId(0)));
        assert_eq!(cpuless().cpus_of(NodeId(2)).count(), 0);
        assert_eq!(cpuless().nearest_first(NodeId(0)), [NodeId(0), NodeId(2), NodeId(1)]);
    }
}
