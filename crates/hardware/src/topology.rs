//! What a machine looks like to this process: nodes, sockets, cores, SMT siblings, last-level-cache groups, distances.

use stdx::{Bytes, id};

id! {
    /// A NUMA node as the OS numbers it: a socket, or a sub-NUMA cluster of one. Numbers may have gaps.
    NodeId(u16)
}
id! {
    /// A processor socket.
    SocketId(u16)
}
id! {
    /// A hardware thread as the OS numbers it.
    CpuId(u32)
}
id! {
    /// A group of cores that share a last-level cache (a chiplet, or the whole socket).
    LlcId(u16)
}

/// One hardware thread that this process may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cpu {
    /// Its number.
    pub id: CpuId,
    /// The node whose memory is nearest.
    pub node: NodeId,
    /// The socket it sits in.
    pub socket: SocketId,
    /// The physical core; SMT siblings share it.
    pub core: u32,
    /// Its last-level-cache group.
    pub llc: LlcId,
}

/// One NUMA node.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its number.
    pub id: NodeId,
    /// The socket it belongs to; a node without CPUs belongs to the nearest one that has some.
    pub socket: SocketId,
    /// Memory installed, zero for a node without memory.
    pub memory_total: Bytes,
    /// Memory free when the topology was read.
    pub memory_free: Bytes,
    /// Whether this process may allocate here (`Mems_allowed`).
    pub allowed: bool,
    /// Read bandwidth in MB/s and latency in ns from the node's own CPUs, where the kernel tells (HMAT).
    pub read_bandwidth_mb_s: Option<u64>,
    /// Read latency in ns, where the kernel tells.
    pub read_latency_ns: Option<u64>,
}

/// A machine as this process may use it.
#[derive(Clone, PartialEq, Debug)]
pub struct Topology {
    /// What kind of machine, for people: the CPU's model name or the sample's name.
    pub name: String,
    /// All nodes in ascending number, allowed or not.
    pub nodes: Vec<Node>,
    /// The hardware threads this process may use, ascending.
    pub cpus: Vec<Cpu>,
    /// `distances[i][j]`: relative cost (10 = local) from `nodes[i]` to `nodes[j]`.
    pub distances: Vec<Vec<u32>>,
    /// Bytes of one last-level cache; zero when not known.
    pub llc_bytes: Bytes,
    /// CPU time this process may take, in hardware threads (a cgroup quota), when less than `cpus`.
    pub cpu_quota: Option<f64>,
    /// Memory limit of the process (a cgroup limit), when there is one.
    pub memory_limit: Option<Bytes>,
    /// Hardware threads that are online but closed to this process (affinity mask, cpuset).
    pub cpus_excluded: u32,
}

impl Topology {
    /// The nodes that may hold data: allowed, with memory.
    pub fn memory_nodes(&self) -> Vec<NodeId> {
        self.nodes.iter().filter(|it| it.allowed && it.memory_total.0 > 0).map(|it| it.id).collect()
    }

    /// The position of a node in [`Topology::nodes`].
    pub fn node_index(&self, node: NodeId) -> Option<usize> {
        self.nodes.iter().position(|it| it.id == node)
    }

    /// The distance between two nodes; 10 for a node and itself, 255 for a node that does not exist.
    pub fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        match (self.node_index(from), self.node_index(to)) {
            (Some(from), Some(to)) => self.distances[from][to],
            _ => 255,
        }
    }

    /// The hardware threads of a node.
    pub fn cpus_of(&self, node: NodeId) -> impl Iterator<Item = &Cpu> {
        self.cpus.iter().filter(move |it| it.node == node)
    }

    /// All nodes, `from` first, then by distance, then by number.
    pub fn nearest_first(&self, from: NodeId) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.nodes.iter().map(|it| it.id).collect();
        nodes.sort_by_key(|&it| (it != from, self.distance(from, it), it));
        nodes
    }
}
