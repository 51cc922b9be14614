//! The machines that can be emulated: the sample machines of `hardware`, made small.
//!
//! Sockets, nodes and distances are the samples'. A guest has one or two CPUs per node, because every one of them is a
//! thread on the host, and little memory per node, all of it below the hole that a PC has under 4 GiB, so that a
//! physical address alone tells the node.

use hardware::samples;

/// A machine to emulate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuestMachine {
    /// Its name on the command line.
    pub name: &'static str,
    /// The sample machine of `hardware` that it is made after.
    pub sample: &'static str,
    /// Its nodes, in order of their number.
    pub nodes: Vec<GuestNode>,
    /// `distances[from][to]`, 10 for a node and itself.
    pub distances: Vec<Vec<u32>>,
}

/// A node of a machine to emulate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GuestNode {
    /// The socket it is part of.
    pub socket: usize,
    /// Its place among the nodes of its socket, which is the die that its CPUs report.
    pub die: usize,
    /// CPUs of one core each.
    pub cpus: usize,
    /// Its memory in MiB.
    pub memory_mib: usize,
}

/// Name, sample, CPUs per node, MiB per node, and what it is.
type Row = (&'static str, &'static str, usize, usize, &'static str);

/// The guests by name. A guest of few nodes has more memory on each: the programs alone are some 100 MiB.
const MACHINES: &[Row] = &[
    ("1", "laptop", 2, 1024, "one node"),
    ("4-mesh", "four_sockets", 1, 512, "four sockets, each linked to each other one"),
    ("4-ring", "ring", 1, 512, "four sockets in a ring"),
    ("2x2-snc", "sub_numa", 1, 512, "two sockets of two sub-NUMA clusters each"),
    ("8", "eight", 1, 256, "eight sockets without a switch"),
    ("32", "thirty_two", 1, 64, "thirty-two sockets on eight blades"),
    ("cpuless", "cpuless", 2, 512, "two sockets and a node with memory and no CPUs"),
];

/// The topology that is taken when none is named.
pub const DEFAULT: &str = "4-mesh";

/// Names and descriptions of all machines.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    MACHINES.iter().map(|&(name, .., about)| (name, about))
}

/// The machine of that name.
pub fn by_name(wanted: &str) -> Option<GuestMachine> {
    let &(name, sample, cpus, memory_mib, _) = MACHINES.iter().find(|it| it.0 == wanted)?;
    let model = samples::by_name(sample)?;
    let mut nodes: Vec<GuestNode> = Vec::new();
    for node in &model.nodes {
        let socket = node.socket.index();
        let has_cpus = model.cpus_of(node.id).next().is_some();
        let die = nodes.iter().filter(|it| it.socket == socket && it.cpus > 0).count();
        let (die, cpus) = if has_cpus { (die, cpus) } else { (0, 0) };
        nodes.push(GuestNode { socket, die, cpus, memory_mib });
    }
    Some(GuestMachine { name, sample, nodes, distances: model.distances })
}

impl GuestMachine {
    /// All CPUs.
    pub fn cpus(&self) -> usize {
        self.nodes.iter().map(|it| it.cpus).sum()
    }

    /// All memory, in MiB.
    pub fn memory_mib(&self) -> usize {
        self.nodes.iter().map(|it| it.memory_mib).sum()
    }

    /// Sockets with CPUs.
    pub fn sockets(&self) -> usize {
        self.nodes.iter().map(|it| it.socket + 1).max().unwrap_or(0)
    }

    /// The part of QEMU's command line that describes this machine.
    pub fn arguments(&self) -> Vec<String> {
        let mut words = Words::default();
        words.add("-m", format!("{}M", self.memory_mib()));
        let sockets = self.sockets();
        let dies = self.nodes.iter().map(|it| it.die + 1).max().unwrap_or(1);
        let cores = self.cpus() / (sockets * dies);
        words.add(
            "-smp",
            format!("{},sockets={sockets},dies={dies},cores={cores},threads=1", self.cpus()),
        );
        for (number, node) in self.nodes.iter().enumerate() {
            let die = if dies > 1 { format!("die-id={},", node.die) } else { String::new() };
            let memory = format!("memory-backend-ram,id=memory{number},size={}M", node.memory_mib);
            words.add("-object", memory);
            words.add("-numa", format!("node,nodeid={number},memdev=memory{number}"));
            for core in 0..node.cpus {
                words.add(
                    "-numa",
                    format!(
                        "cpu,node-id={number},socket-id={},{die}core-id={core},thread-id=0",
                        node.socket
                    ),
                );
            }
        }
        for (from, row) in self.distances.iter().enumerate() {
            for (to, distance) in row.iter().enumerate() {
                words.add("-numa", format!("dist,src={from},dst={to},val={distance}"));
            }
        }
        words.0
    }
}

#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, option: &str, value: String) {
        self.0.push(option.to_owned());
        self.0.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the hole for devices begins in the emulated PC.
    const HOLE_MIB: usize = 3 * 1024;

    #[test]
    fn every_machine_is_a_sample_made_small() {
        for (name, _) in list() {
            let machine = by_name(name).unwrap();
            let model = samples::by_name(machine.sample).unwrap();
            assert_eq!(machine.distances, model.distances, "{name}");
            assert_eq!(machine.nodes.len(), model.nodes.len(), "{name}");
            assert!(machine.memory_mib() <= HOLE_MIB, "{name}");
            assert!(machine.cpus() >= 1 && machine.cpus() <= 32, "{name}");
        }
        assert!(by_name("abacus").is_none());
        assert!(by_name(DEFAULT).is_some());
    }

    #[test]
    fn clusters_of_one_socket_are_its_dies() {
        let machine = by_name("2x2-snc").unwrap();
        let places: Vec<_> = machine.nodes.iter().map(|it| (it.socket, it.die)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        let line = machine.arguments().join(" ");
        assert!(line.contains("-smp 4,sockets=2,dies=2,cores=1,threads=1"), "{line}");
        assert!(line.contains("-numa cpu,node-id=3,socket-id=1,die-id=1,core-id=0,thread-id=0"));
        assert!(line.contains("-numa dist,src=0,dst=1,val=12"), "{line}");
    }

    #[test]
    fn a_node_without_cpus_has_memory_only() {
        let machine = by_name("cpuless").unwrap();
        assert_eq!(machine.nodes[2].cpus, 0);
        assert_eq!((machine.sockets(), machine.cpus()), (2, 4));
        let line = machine.arguments().join(" ");
        assert!(line.contains("-smp 4,sockets=2,dies=1,cores=2,threads=1"), "{line}");
        assert!(line.contains("-numa node,nodeid=2,memdev=memory2"));
        assert!(!line.contains("cpu,node-id=2"), "{line}");
        assert!(line.contains("-numa dist,src=0,dst=2,val=14"), "{line}");
    }
}
