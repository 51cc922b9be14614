//! Reads the machine from sysfs, procfs and the cgroup files below any root folder.
//!
//! What is missing is replaced, because containers hide much; what is there but cannot be understood is an error, because
//! a wrong guess would place data wrongly without a word:
//!
//! | missing | taken instead |
//! |---|---|
//! | `node` folders | one node with all memory of `/proc/meminfo` |
//! | list of online CPUs | the `cpuN` folders, `/proc/cpuinfo`, then the affinity mask |
//! | a CPU's socket, core | socket 0, a core of its own |
//! | last-level cache, or it is private to a core below level 3 | one group for all CPUs of the node |
//! | distances | 10 to itself, 20 to others |
//! | masks of the process, cgroup files | no restriction |

mod advice;
mod cgroup;
mod cpus;
mod error;
mod files;
mod lists;
mod nodes;

use std::path::Path;

use hardware::CpuId;
use hardware::topology::Cpu;
use hardware::{Advice, Topology};
use stdx::Bytes;

pub(crate) use cgroup::{anonymous_bytes, available_bytes, resident_bytes};
pub use error::TopologyError;
pub(crate) use files::Root;
pub(crate) use nodes::node_memory;

/// The machine below `root`: `/`, or a captured tree. The affinity mask is the one in `proc/self/status`.
pub fn read_topology(root: &Path) -> Result<Topology, TopologyError> {
    read(&Root::new(root), None)
}

/// What an administrator should change on the machine below `root`, which was read as `topology`.
pub fn read_advice(root: &Path, topology: &Topology) -> Vec<Advice> {
    advice::advice(&Root::new(root), topology)
}

/// As [`read_topology`], with the affinity mask given.
pub(crate) fn read(root: &Root, affinity: Option<&[u32]>) -> Result<Topology, TopologyError> {
    let allowed = match affinity {
        Some(cpus) => Some(cpus.to_vec()),
        None => root.status_list("Cpus_allowed_list")?,
    };
    let mut found = cpus::read(root, allowed.as_deref())?;
    let nodes = nodes::read(root, &mut found)?;
    let online = found.len();
    found.retain(|it| allowed.as_ref().is_none_or(|allowed| allowed.contains(&it.number)));
    if found.is_empty() {
        return Err(TopologyError::NoCpus { root: root.path().to_owned() });
    }
    let cpus = finish(&found);
    let memory: u64 = nodes.nodes.iter().map(|it| it.memory_total.0).sum();
    let limits = cgroup::limits(root)?;
    Ok(Topology {
        name: cpus::model_name(root).unwrap_or_else(|| "unknown CPU".to_owned()),
        nodes: nodes.nodes,
        distances: nodes.distances,
        llc_bytes: Bytes(found.iter().map(|it| it.llc_bytes).max().unwrap_or(0)),
        cpu_quota: limits.cpus.filter(|&it| it < cpus.len() as f64),
        memory_limit: limits.memory.filter(|&it| it < memory).map(Bytes),
        cpus_excluded: (online - cpus.len()) as u32,
        measured: Default::default(),
        cpus,
    })
}

/// Numbers the last-level-cache groups of the usable CPUs, without gaps, by node and first CPU. A cache that spans two
/// sub-NUMA nodes makes a group in each: groups are where work is queued, and work belongs to a node.
fn finish(found: &[cpus::FoundCpu]) -> Vec<Cpu> {
    let mut groups: Vec<_> = found.iter().map(|it| (it.node, it.llc)).collect();
    groups.sort_unstable();
    groups.dedup();
    let cpu = |it: &cpus::FoundCpu| Cpu {
        id: CpuId(it.number),
        node: it.node,
        socket: it.socket,
        core: it.core,
        llc: hardware::LlcId::from_index(
            groups.binary_search(&(it.node, it.llc)).expect("invariant: the group was listed"),
        ),
    };
    found.iter().map(cpu).collect()
}
