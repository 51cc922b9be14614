//! Prints a machine as a tree: sockets, nodes, last-level-cache groups, cores; then distances, limits and exclusions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use stdx::Bytes;

use crate::topology::{Cpu, Node, Topology};
use crate::{LlcId, SocketId};

const BRANCH: &str = "\u{251c}\u{2500} ";
const LAST: &str = "\u{2514}\u{2500} ";
const PIPE: &str = "\u{2502}  ";
const BLANK: &str = "   ";

impl Topology {
    /// The machine as a tree for a terminal, each line ended by a line feed.
    pub fn to_tree(&self) -> String {
        let mut out = String::new();
        self.write_head(&mut out);
        let sockets: BTreeSet<SocketId> = self
            .nodes
            .iter()
            .map(|it| it.socket)
            .chain(self.cpus.iter().map(|it| it.socket))
            .collect();
        for (at, &socket) in sockets.iter().enumerate() {
            self.write_socket(&mut out, socket, at + 1 == sockets.len());
        }
        if self.nodes.len() > 1 {
            self.write_distances(&mut out);
        }
        self.write_limits(&mut out);
        out
    }

    fn write_head(&self, out: &mut String) {
        let sockets: BTreeSet<_> = self.nodes.iter().map(|it| it.socket).collect();
        let cores: BTreeSet<_> = self.cpus.iter().map(|it| (it.socket, it.core)).collect();
        let memory: Bytes = self.nodes.iter().map(|it| it.memory_total).sum();
        let _ = writeln!(out, "{}", self.name);
        let _ = writeln!(
            out,
            "{}, {}, {}, {}, {memory} of memory",
            counted(sockets.len(), "socket"),
            counted(self.nodes.len(), "node"),
            counted(cores.len(), "core"),
            counted(self.cpus.len(), "hardware thread"),
        );
    }

    fn write_socket(&self, out: &mut String, socket: SocketId, last: bool) {
        let _ = writeln!(out, "{}socket {socket}", if last { LAST } else { BRANCH });
        let indent = if last { BLANK } else { PIPE };
        let nodes: Vec<&Node> = self.nodes.iter().filter(|it| it.socket == socket).collect();
        for (at, node) in nodes.iter().enumerate() {
            self.write_node(out, node, indent, at + 1 == nodes.len());
        }
    }

    fn write_node(&self, out: &mut String, node: &Node, indent: &str, last: bool) {
        let mut line = format!("{indent}{}node {:<3}", if last { LAST } else { BRANCH }, node.id.0);
        if node.memory_total.0 == 0 {
            line.push_str(" no memory");
        } else {
            let _ = write!(line, " {}, {} free", node.memory_total, node.memory_free);
        }
        let measured = self.performance();
        let bandwidth = measured.and_then(|it| it.read_mb_s(node.id, node.id));
        if let Some(bandwidth) = bandwidth.or(node.read_bandwidth_mb_s) {
            let _ = write!(line, ", {:.1} GB/s", bandwidth as f64 / 1000.0);
        }
        let latency = measured.and_then(|it| it.latency_ns(node.id, node.id));
        if let Some(latency) = latency.or(node.read_latency_ns.map(|it| it as f64)) {
            let _ = write!(line, ", {latency:.0} ns");
        }
        if self.cpus_of(node.id).next().is_none() {
            line.push_str(", no CPUs to use");
        }
        if !node.allowed {
            line.push_str(", closed to this process");
        }
        let _ = writeln!(out, "{line}");
        let mut groups: BTreeMap<LlcId, Vec<&Cpu>> = BTreeMap::new();
        for cpu in self.cpus_of(node.id) {
            groups.entry(cpu.llc).or_default().push(cpu);
        }
        let indent = format!("{indent}{}", if last { BLANK } else { PIPE });
        for (at, (llc, cpus)) in groups.iter().enumerate() {
            let mark = if at + 1 == groups.len() { LAST } else { BRANCH };
            let _ = writeln!(out, "{indent}{mark}{}", self.llc_line(*llc, cpus));
        }
    }

    /// `LLC 0   32.0 MiB   2 cores: cpus 0,1 + 32,33`: the first hardware thread of each core, then the siblings.
    fn llc_line(&self, llc: LlcId, cpus: &[&Cpu]) -> String {
        let mut threads: Vec<Vec<u32>> = Vec::new();
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        for cpu in cpus {
            let sibling = seen.entry(cpu.core).or_insert(0);
            if threads.len() == *sibling {
                threads.push(Vec::new());
            }
            threads[*sibling].push(cpu.id.0);
            *sibling += 1;
        }
        let threads: Vec<String> = threads.iter().map(|it| ranges(it)).collect();
        let cache =
            if self.llc_bytes.0 == 0 { String::new() } else { format!(" {}", self.llc_bytes) };
        let noun = if cpus.len() == 1 { "cpu" } else { "cpus" };
        format!(
            "LLC {:<3}{cache}, {}: {noun} {}",
            llc.0,
            counted(seen.len(), "core"),
            threads.join(" + ")
        )
    }

    fn write_distances(&self, out: &mut String) {
        let _ = write!(out, "distance");
        for node in &self.nodes {
            let _ = write!(out, "{:>4}", node.id.0);
        }
        let _ = writeln!(out);
        for (node, row) in self.nodes.iter().zip(&self.distances) {
            let _ = write!(out, "{:>8}", node.id.0);
            for distance in row {
                let _ = write!(out, "{distance:>4}");
            }
            let _ = writeln!(out);
        }
    }

    fn write_limits(&self, out: &mut String) {
        if let Some(quota) = self.cpu_quota {
            let threads = counted(self.cpus.len(), "hardware thread");
            let _ = writeln!(out, "limit    CPU time of {quota:.2} of {threads} (cgroup quota)");
        }
        if let Some(limit) = self.memory_limit {
            let _ = writeln!(out, "limit    {limit} of memory (cgroup)");
        }
        if self.cpus_excluded > 0 {
            let threads = counted(self.cpus_excluded as usize, "hardware thread");
            let _ = writeln!(out, "excluded {threads} (affinity mask or cpuset)");
        }
        let closed: Vec<u32> =
            self.nodes.iter().filter(|it| !it.allowed).map(|it| u32::from(it.id.0)).collect();
        if !closed.is_empty() {
            let noun = if closed.len() == 1 { "node" } else { "nodes" };
            let _ = writeln!(out, "excluded memory of {noun} {} (cpuset)", ranges(&closed));
        }
    }
}

/// `1 core`, `2 cores`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Ascending numbers as the kernel's list format: `0-3,8`.
fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(number) => *end = number,
            _ => runs.push((number, number)),
        }
    }
    let runs: Vec<String> = runs
        .iter()
        .map(
            |&(start, end)| if start == end { start.to_string() } else { format!("{start}-{end}") },
        )
        .collect();
    runs.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_small_tree_looks_as_drawn() {
        let mut machine = samples::cpuless();
        machine.nodes[1].allowed = false;
        machine.cpu_quota = Some(1.5);
        machine.memory_limit = Some(Bytes(1 << 30));
        machine.cpus_excluded = 2;
        let drawn = "\
cpuless
2 sockets, 3 nodes, 8 cores, 8 hardware threads, 128.0 GiB of memory
+- socket 0
|  +- node 0   32.0 GiB, 28.0 GiB free
|  |  `- LLC 0   20.0 MiB, 4 cores: cpus 0-3
|  `- node 2   64.0 GiB, 64.0 GiB free, 26.0 GB/s, 250 ns, no CPUs to use
`- socket 1
   `- node 1   32.0 GiB, 28.0 GiB free, closed to this process
      `- LLC 1   20.0 MiB, 4 cores: cpus 4-7
distance   0   1   2
       0  10  21  14
       1  21  10  24
       2  14  24  10
limit    CPU time of 1.50 of 8 hardware threads (cgroup quota)
limit    1.0 GiB of memory (cgroup)
excluded 2 hardware threads (affinity mask or cpuset)
excluded memory of node 1 (cpuset)
";
        let ascii = machine
            .to_tree()
            .replace('\u{251c}', "+")
            .replace('\u{2514}', "`")
            .replace('\u{2502}', "|")
            .replace('\u{2500}', "-");
        assert_eq!(ascii, drawn);
    }

    #[test]
    fn siblings_are_shown_beside_their_cores() {
        let tree = samples::epyc().to_tree();
        assert!(tree.contains("LLC 0   32.0 MiB, 2 cores: cpus 0-1 + 32-33"), "{tree}");
        assert!(tree.contains("1 socket, 4 nodes, 32 cores, 64 hardware threads"));
        assert!(!samples::laptop().to_tree().contains("distance"));
    }

    #[test]
    fn ranges_fold_runs() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranges(&[u32::MAX]), u32::MAX.to_string());
    }
}
