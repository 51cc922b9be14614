//! How much is measured, with which threads, for how long.

use std::collections::{BTreeMap, BTreeSet};

use hardware::topology::Cpu;
use hardware::{Machine, NodeId, Topology};
use stdx::{Bytes, Nanos};

const MIB: u64 = 1 << 20;
/// What an access to memory may take when nothing is known yet.
const GUESS_NS: u64 = 120;
/// A shorter measurement says little.
const SHORTEST: Nanos = Nanos(2_000_000);

/// How to measure.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeOptions {
    /// About a fifth of the time, with smaller regions and fewer threads per latency.
    pub quick: bool,
    /// The region on each node instead of one that follows from the caches.
    pub bytes: Option<Bytes>,
}

/// What follows from options and machine.
pub(crate) struct Plan {
    /// Bytes of the region on each node.
    pub(crate) bytes: usize,
    /// Nodes with usable CPUs: how they are ordered is how their threads are used.
    pub(crate) crews: Vec<(NodeId, Vec<Cpu>)>,
    /// Nodes whose memory is measured.
    pub(crate) memory: Vec<NodeId>,
    /// Threads whose latency is measured, per node.
    pub(crate) samples: usize,
    /// Accesses of a chase.
    pub(crate) hops: usize,
    /// The time for one bandwidth.
    pub(crate) slot: Nanos,
    /// Factor between the regions of the staircase of caches.
    pub(crate) stair: usize,
}

impl Plan {
    pub(crate) fn new(machine: &dyn Machine, options: &ProbeOptions) -> Self {
        let topology = machine.topology();
        let memory = topology.memory_nodes();
        let crews: Vec<(NodeId, Vec<Cpu>)> = topology
            .nodes
            .iter()
            .map(|it| (it.id, crew(topology, it.id)))
            .filter(|it| !it.1.is_empty())
            .collect();
        let budget = Nanos(if options.quick { 1_600_000_000 } else { 8_000_000_000 });
        let pairs = (crews.len() * memory.len()).max(1) as u64;
        // Each pair has four measurements: two latencies, two bandwidths.
        let slot = Nanos(budget.0 / pairs / 4).max(SHORTEST);
        let samples = if options.quick { 1 } else { 4 };
        let hops = slot.0 / (samples as u64 * GUESS_NS);
        let asked = options.bytes.unwrap_or_else(|| region(topology, options.quick));
        Self {
            bytes: fitting(machine, asked, memory.first().copied()),
            crews,
            memory,
            samples,
            hops: hops.clamp(1 << 14, 1 << 21) as usize,
            slot,
            stair: if options.quick { 4 } else { 2 },
        }
    }

    pub(crate) fn crew(&self, node: NodeId) -> &[Cpu] {
        self.crews.iter().find(|it| it.0 == node).map_or(&[], |it| &it.1)
    }
}

/// The threads of a node that work at once: one of each core first, and no more than the CPU time of the process.
fn crew(topology: &Topology, node: NodeId) -> Vec<Cpu> {
    let mut cores = BTreeSet::new();
    let (first, siblings): (Vec<&Cpu>, Vec<&Cpu>) =
        topology.cpus_of(node).partition(|it| cores.insert((it.socket, it.core)));
    let most = topology.cpu_quota.map_or(usize::MAX, |it| it.ceil().max(1.0) as usize);
    first.into_iter().chain(siblings).take(most).cloned().collect()
}

/// A region that the caches of a node do not hold.
fn region(topology: &Topology, quick: bool) -> Bytes {
    let mut caches: BTreeMap<NodeId, BTreeSet<_>> = BTreeMap::new();
    for cpu in &topology.cpus {
        caches.entry(cpu.node).or_default().insert(cpu.llc);
    }
    let most = caches.values().map(|it| it.len() as u64).max().unwrap_or(1);
    let cached = topology.llc_bytes.0 * most;
    Bytes(match quick {
        true => (2 * cached).clamp(32 * MIB, 256 * MIB),
        false => (4 * cached).clamp(64 * MIB, 1024 * MIB),
    })
}

/// No more than a sixth of what there is, here and on the node: three regions are needed at once.
fn fitting(machine: &dyn Machine, asked: Bytes, node: Option<NodeId>) -> usize {
    let there = node.and_then(|it| machine.node_memory(it)).map_or(u64::MAX, |it| it.available.0);
    let most = machine.available_bytes().0.min(there) / 6;
    let bytes = asked.0.min(most).max(MIB);
    (bytes & !(MIB - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::samples;
    use simulator::SimulatedMachine;

    fn plan(topology: Topology, quick: bool) -> Plan {
        let options = ProbeOptions { quick, bytes: None };
        Plan::new(&*SimulatedMachine::new(topology, 1), &options)
    }

    #[test]
    fn regions_are_larger_than_the_caches_and_fit_the_machine() {
        assert_eq!(plan(samples::four_sockets(), false).bytes, 80 << 20);
        assert_eq!(plan(samples::four_sockets(), true).bytes, 40 << 20);
        // Four chiplets of 32 MiB each on a node.
        assert_eq!(plan(samples::epyc(), false).bytes, 512 << 20);
        let mut small = samples::laptop();
        small.nodes[0].memory_total = Bytes(100 << 20);
        assert_eq!(plan(small, false).bytes, 16 << 20);
        let mut unknown = samples::laptop();
        unknown.llc_bytes = Bytes(0);
        assert_eq!(plan(unknown, false).bytes, 64 << 20);
    }

    #[test]
    fn cores_come_before_siblings_and_a_quota_holds() {
        let crew_of =
            |plan: &Plan| plan.crew(NodeId(1)).iter().map(|it| it.id.0).collect::<Vec<_>>();
        let whole = plan(samples::epyc(), false);
        assert_eq!(crew_of(&whole), (8..16).chain(40..48).collect::<Vec<_>>());
        let mut limited = samples::epyc();
        limited.cpu_quota = Some(2.5);
        assert_eq!(crew_of(&plan(limited, true)), [8, 9, 10]);
        let cpuless = plan(samples::cpuless(), true);
        assert_eq!((cpuless.crews.len(), cpuless.memory.len()), (2, 3));
        assert!(cpuless.crew(NodeId(2)).is_empty());
    }

    #[test]
    fn many_nodes_share_the_time() {
        let (few, many) = (plan(samples::laptop(), false), plan(samples::thirty_two(), false));
        assert!(few.slot > many.slot && many.slot >= SHORTEST && many.hops >= 1 << 14);
    }
}
