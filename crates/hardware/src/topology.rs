//! What a machine looks like to this process: nodes, sockets, cores, SMT siblings, last-level-cache groups, distances.

use stdx::Bytes;
use stdx::sync::OnceLock;

use crate::ids::{CpuId, LlcId, NodeId, SocketId};
use crate::performance::{Matrix, Performance};

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
    /// What a probe of this machine measured; set once with [`Topology::learn`].
    pub measured: OnceLock<Measured>,
}

/// What a machine has learned of itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    performance: Box<Performance>,
    /// Whether its latencies tell near from far.
    tells: bool,
}

/// Latencies that differ by less than this factor are the same to [`Topology::nearest_first`]: repeated measurements
/// differ by some per cent.
const SAME: f64 = 1.05;

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

    /// Takes in what a probe measured; false when it was another machine's, or something was learned before. To be
    /// called before anything is placed: who asked earlier has gone by the distances.
    pub fn learn(&self, performance: Performance) -> bool {
        let tells = performance.spread(self).is_none_or(|it| !it.is_flat());
        let measured = Measured { performance: Box::new(performance), tells };
        measured.performance.fits(self) && self.measured.set(measured).is_ok()
    }

    /// What a probe measured.
    pub fn performance(&self) -> Option<&Performance> {
        self.measured.get().map(|it| &*it.performance)
    }

    /// How long reading the memory of a node takes from the CPUs of another, local memory being 1: by measured latency,
    /// else by firmware's distance, also where latencies do not tell near from far ([`Spread::is_flat`]). A node without
    /// CPUs is as far from others as they are from it.
    pub fn relative_cost(&self, from: NodeId, to: NodeId) -> f64 {
        if from == to {
            return 1.0;
        }
        let measured = |from, to| {
            let performance = &self.measured.get().filter(|it| it.tells)?.performance;
            let local = performance.latency_ns(from, from).or_else(|| performance.local_ns())?;
            Some(performance.latency_ns(from, to)? / local)
        };
        let firmware = || f64::from(self.distance(from, to)) / 10.0;
        measured(from, to).or_else(|| measured(to, from)).unwrap_or_else(firmware)
    }

    /// All nodes, `from` first, then by [`Topology::relative_cost`], those of about equal cost by distance, then by
    /// number.
    pub fn nearest_first(&self, from: NodeId) -> Vec<NodeId> {
        let cost = |it: NodeId| self.relative_cost(from, it);
        let mut others: Vec<(f64, NodeId)> =
            self.nodes.iter().filter(|it| it.id != from).map(|it| (cost(it.id), it.id)).collect();
        others.sort_by(|one, two| one.0.total_cmp(&two.0));
        let mut rank = 0.0;
        for (cost, _) in &mut others {
            if *cost > rank * SAME {
                rank = *cost;
            }
            *cost = rank;
        }
        others.sort_by(|one, two| {
            let key = |it: &(f64, NodeId)| (self.distance(from, it.1), it.1);
            one.0.total_cmp(&two.0).then_with(|| key(one).cmp(&key(two)))
        });
        let own = self.node_index(from).map(|_| from);
        own.into_iter().chain(others.into_iter().map(|it| it.1)).collect()
    }

    /// A number that tells this machine, as this process sees it, from others: nodes, CPUs, caches, distances.
    pub fn fingerprint(&self) -> u64 {
        // FNV-1a: it has to be the same for ever, and nobody attacks it.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut mix = |bytes: &[u8]| {
            for &byte in bytes {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        mix(self.name.as_bytes());
        mix(&self.llc_bytes.0.to_le_bytes());
        for node in &self.nodes {
            // Whole gibibytes: the kernel keeps a little more or less for itself after each boot.
            mix(format!("n{}:{}:{}", node.id, node.memory_total.0 >> 30, node.allowed).as_bytes());
        }
        for cpu in &self.cpus {
            mix(format!("c{}:{}:{}:{}", cpu.id, cpu.node, cpu.core, cpu.llc).as_bytes());
        }
        for distance in self.distances.iter().flatten() {
            mix(&distance.to_le_bytes());
        }
        hash
    }
}

impl Performance {
    /// Nothing measured yet on a machine.
    pub fn unknown(topology: &Topology) -> Self {
        fn empty<T: Clone>(count: usize) -> Matrix<T> {
            vec![vec![None; count]; count]
        }
        let count = topology.nodes.len();
        Self {
            fingerprint: topology.fingerprint(),
            nodes: topology.nodes.iter().map(|it| it.id).collect(),
            idle_ns: empty(count),
            loaded_ns: empty(count),
            read_mb_s: empty(count),
            write_mb_s: empty(count),
            caches: Vec::new(),
        }
    }

    /// Whether it was measured on this machine, as this process sees it.
    pub fn fits(&self, topology: &Topology) -> bool {
        self.fingerprint == topology.fingerprint()
            && self.nodes.iter().eq(topology.nodes.iter().map(|it| &it.id))
    }
}

/// What memory of other nodes costs more than a node's own, in shares of that: 0.7 is 70 % more.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// As measured, between the nodes that are farthest from each other.
    pub measured: f64,
    /// As the firmware's distances have it.
    pub told: f64,
    /// By how much threads of one node differ from their mean when they read its own memory.
    pub noise: f64,
}

/// Bounds of [`Spread::noise`]: repeated measurements differ by some per cent, and no more noise hides another socket.
const NOISE: (f64, f64) = (SAME - 1.0, 0.25);

impl Spread {
    /// Whether the latencies do not tell near from far although the distances do: they are those of an emulated machine, or
    /// of one whose memory is interleaved below the operating system.
    pub fn is_flat(&self) -> bool {
        self.told > 0.0 && self.measured < self.noise
    }
}

impl Performance {
    /// By how much far memory costs more than near; `None` where no two nodes were measured that differ in distance.
    pub fn spread(&self, topology: &Topology) -> Option<Spread> {
        let mut farthest = 0;
        let (mut ratios, mut noise) = (Vec::new(), Vec::new());
        for &from in &self.nodes {
            let Some(local) = self.latency_ns(from, from) else { continue };
            for &to in self.nodes.iter().filter(|it| **it != from) {
                let distance = topology.distance(from, to);
                let Some(far) = self.latency_ns(from, to) else { continue };
                if distance > farthest {
                    farthest = distance;
                    ratios.clear();
                }
                if distance == farthest {
                    ratios.push(far / local);
                }
            }
            let own = topology.node_index(from)?;
            let latency = (*self.idle_ns.get(own)?.get(own)?)?;
            noise.push((latency.greatest - latency.least) / (2.0 * latency.mean));
        }
        let mean = |it: &[f64]| it.iter().sum::<f64>() / it.len().max(1) as f64;
        (farthest > LOCAL_DISTANCE).then(|| Spread {
            measured: mean(&ratios) - 1.0,
            told: f64::from(farthest) / f64::from(LOCAL_DISTANCE) - 1.0,
            noise: mean(&noise).clamp(NOISE.0, NOISE.1),
        })
    }
}

/// The firmware's distance of a node to itself.
const LOCAL_DISTANCE: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::Latency;
    use crate::samples;

    /// The machine after a probe that found these latencies.
    fn measured(machine: Topology, latency: impl Fn(usize, usize) -> Option<f64>) -> Topology {
        let mut performance = Performance::unknown(&machine);
        for (from, row) in performance.idle_ns.iter_mut().enumerate() {
            for (to, cell) in row.iter_mut().enumerate() {
                let all = |it| Latency { least: it, mean: it, greatest: it };
                *cell = latency(from, to).map(all);
            }
        }
        assert!(machine.learn(performance));
        machine
    }

    fn order(machine: &Topology, from: u16) -> Vec<u16> {
        machine.nearest_first(NodeId(from)).iter().map(|it| it.0).collect()
    }

    #[test]
    fn measured_latencies_go_before_distances() {
        // Firmware says that all others are equally far; in truth it is a ring.
        let flat = samples::four_sockets();
        assert_eq!(order(&flat, 1), [1, 0, 2, 3]);
        let ring = [[80.0, 130.0, 190.0, 133.0], [130.0, 82.0, 131.0, 188.0]];
        let machine = measured(flat, |from, to| ring.get(from).map(|it| it[to]));
        assert_eq!(order(&machine, 0), [0, 1, 3, 2], "three per cent are noise");
        assert_eq!(order(&machine, 1), [1, 0, 2, 3]);
        // Rows that are missing are taken from the columns: as far as from there, as far from here.
        assert_eq!(order(&machine, 2), [2, 1, 3, 0]);
        assert!((machine.relative_cost(NodeId(0), NodeId(2)) - 190.0 / 80.0).abs() < 1e-9);
        assert_eq!(machine.relative_cost(NodeId(2), NodeId(2)), 1.0);
    }

    #[test]
    fn a_node_without_cpus_is_as_far_as_it_is_from_others() {
        let latencies = [[Some(90.0), Some(150.0), Some(140.0)], [None, None, Some(300.0)]];
        let machine =
            measured(samples::cpuless(), |from, to| latencies.get(from)?.get(to).copied()?);
        assert_eq!(order(&machine, 2), [2, 0, 1]);
        assert_eq!(order(&machine, 0), [0, 2, 1]);
        assert!((machine.relative_cost(NodeId(2), NodeId(1)) - 300.0 / 90.0).abs() < 1e-9);
    }

    #[test]
    fn what_another_machine_measured_is_not_learned() {
        let machine = samples::ring();
        assert!(!machine.learn(Performance::unknown(&samples::four_sockets())));
        assert!(machine.performance().is_none());
        assert!(machine.learn(Performance::unknown(&machine)));
        assert!(!machine.learn(Performance::unknown(&machine)), "once");
        // Nothing was measured, so the distances decide.
        assert_eq!(order(&machine, 0), [0, 1, 3, 2]);
        assert_eq!(machine.nearest_first(NodeId(9)).len(), 4);
    }

    #[test]
    fn machines_have_fingerprints() {
        let mut all: Vec<u64> =
            samples::NAMES.iter().map(|it| samples::by_name(it).unwrap().fingerprint()).collect();
        assert_eq!(samples::ring().fingerprint(), samples::ring().fingerprint());
        let mut other = samples::ring();
        other.nodes[0].memory_free = Bytes(0);
        assert_eq!(other.fingerprint(), samples::ring().fingerprint());
        other.cpus.pop();
        all.push(other.fingerprint());
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), samples::NAMES.len() + 1);
    }

    #[test]
    fn latencies_that_do_not_tell_near_from_far_are_passed_over() {
        let emulated = measured(samples::four_sockets(), |from, to| {
            Some(300.0 + ((from * 7 + to * 3) % 5) as f64)
        });
        let spread = emulated.performance().unwrap().spread(&emulated).unwrap();
        assert!(
            spread.is_flat() && spread.measured.abs() < 0.02 && spread.told > 0.5,
            "{spread:?}"
        );
        let distance = f64::from(emulated.distance(NodeId(0), NodeId(1))) / 10.0;
        assert_eq!(emulated.relative_cost(NodeId(0), NodeId(1)), distance);
        let real = measured(samples::four_sockets(), |from, to| {
            Some(if from == to { 80.0 } else { 140.0 })
        });
        assert!(!real.performance().unwrap().spread(&real).unwrap().is_flat());
        assert_eq!(real.relative_cost(NodeId(0), NodeId(1)), 1.75);
        let alone = measured(samples::laptop(), |_, _| Some(90.0));
        assert_eq!(alone.performance().unwrap().spread(&alone), None, "nothing is far");
    }

    #[test]
    fn what_threads_of_a_node_differ_by_is_noise() {
        let machine = samples::four_sockets();
        let mut performance = Performance::unknown(&machine);
        for (from, row) in performance.idle_ns.iter_mut().enumerate() {
            for (to, cell) in row.iter_mut().enumerate() {
                let mean = if from == to { 300.0 } else { 330.0 };
                *cell = Some(Latency { least: mean - 60.0, mean, greatest: mean + 60.0 });
            }
        }
        let spread = performance.spread(&machine).unwrap();
        assert!((spread.noise - 0.2).abs() < 1e-9 && spread.is_flat(), "{spread:?}");
        performance.idle_ns.iter_mut().flatten().flatten().for_each(|it| it.least = it.mean);
        performance.idle_ns.iter_mut().flatten().flatten().for_each(|it| it.greatest = it.mean);
        assert!(!performance.spread(&machine).unwrap().is_flat(), "10 % are enough then");
    }
}
