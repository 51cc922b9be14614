//! Settings of the kernel and of the cpuset that work against placement.

use hardware::{Advice, Topology};
use stdx::Bytes;

use super::Root;
use super::cgroup::node_available;
use super::nodes::FOLDER;

/// A node with less than this share of its memory to give has none.
const FULL_PERCENT: u64 = 1;

/// What an administrator should change, most harmful first. What cannot be read is taken as harmless.
pub fn advice(root: &Root, topology: &Topology) -> Vec<Advice> {
    let mut list = Vec::new();
    // These two matter only where memory has more than one place.
    if topology.nodes.len() > 1 {
        list.extend(balancing(root));
        list.extend(reclaim(root));
    }
    list.extend(huge_pages(root));
    list.extend(cpuset(root, topology));
    list.extend(full_nodes(root, topology));
    list
}

fn balancing(root: &Root) -> Option<Advice> {
    let mode = root.text("proc/sys/kernel/numa_balancing").filter(|it| it != "0")?;
    Some(Advice {
        subject: "numa_balancing",
        finding: format!(
            "kernel.numa_balancing is {mode}: the kernel moves pages and threads on its own, away from where they \
             were placed, and takes page faults to find out"
        ),
        remedy: "sysctl kernel.numa_balancing=0".to_owned(),
    })
}

fn reclaim(root: &Root) -> Option<Advice> {
    let mode = root.text("proc/sys/vm/zone_reclaim_mode").filter(|it| it != "0")?;
    Some(Advice {
        subject: "zone_reclaim_mode",
        finding: format!(
            "vm.zone_reclaim_mode is {mode}: the kernel empties the file cache of a full node before it uses another, \
             so loading stalls"
        ),
        remedy: "sysctl vm.zone_reclaim_mode=0".to_owned(),
    })
}

fn huge_pages(root: &Root) -> Option<Advice> {
    let text = root.text("sys/kernel/mm/transparent_hugepage/enabled")?;
    text.contains("[never]").then(|| Advice {
        subject: "huge_pages",
        finding: "transparent huge pages are off: random accesses miss the TLB, and pages are dealt round the nodes \
             one by one"
            .to_owned(),
        remedy: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
    })
}

/// CPUs without the memory beside them, and the other way round.
fn cpuset(root: &Root, topology: &Topology) -> Vec<Advice> {
    let (mut no_memory, mut no_cpus) = (Vec::new(), Vec::new());
    for node in &topology.nodes {
        let usable = topology.cpus_of(node.id).next().is_some();
        let open = node.allowed && node.memory_total.0 > 0;
        let listed = root.list(&format!("{FOLDER}/node{}/cpulist", node.id.0));
        // A node that has no CPUs at all (a memory expander) is as it should be.
        let has_cpus = listed.ok().flatten().is_some_and(|it| !it.is_empty());
        if usable && !open {
            no_memory.push(node.id.0.to_string());
        } else if open && !usable && has_cpus {
            no_cpus.push(node.id.0.to_string());
        }
    }
    let split = |nodes: Vec<String>, what: &str, follows: &str| {
        let noun = if nodes.len() == 1 { "node" } else { "nodes" };
        (!nodes.is_empty()).then(|| Advice {
            subject: "cpuset",
            finding: format!("of {noun} {} this process may use {what}: {follows}", nodes.join(", ")),
            remedy: "give it the CPUs and the memory of the same nodes (cpuset.cpus and cpuset.mems, or \
                numactl --cpunodebind and --membind)"
                .to_owned(),
        })
    };
    let memory = split(no_memory, "the CPUs and not the memory", "all their data is remote");
    let cpus =
        split(no_cpus, "the memory and not the CPUs", "what lies there is remote to everyone");
    memory.into_iter().chain(cpus).collect()
}

fn full_nodes(root: &Root, topology: &Topology) -> Vec<Advice> {
    let single = topology.nodes.len() == 1;
    let nodes = topology.nodes.iter().filter(|it| it.allowed && it.memory_total.0 > 0 && !single);
    nodes
        .filter_map(|node| {
            let left = node_available(root, node.id.0)?;
            (left < node.memory_total.0 / 100 * FULL_PERCENT).then(|| Advice {
                subject: "memory",
                finding: format!(
                    "node {} has {} of {} left: pages meant for it go to other nodes",
                    node.id,
                    Bytes(left),
                    node.memory_total
                ),
                remedy: "end what fills it, or place data on other nodes (numastat -m tells)"
                    .to_owned(),
            })
        })
        .collect()
}
