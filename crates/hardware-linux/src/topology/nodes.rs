//! The NUMA nodes: CPUs, memory, distances, and what firmware says about speed (HMAT).

use std::collections::BTreeMap;

use hardware::NodeId;
use hardware::topology::Node;
use hardware::{NodeMemory, SocketId};
use stdx::Bytes;

use super::cgroup::node_available;
use super::cpus::FoundCpu;
use super::files::kilobytes;
use super::{Root, TopologyError};

/// Where the kernel shows the nodes.
pub const FOLDER: &str = "sys/devices/system/node";
const LOCAL: u32 = 10;
const REMOTE: u32 = 20;

/// The nodes and the distances between them, in the same order.
pub struct FoundNodes {
    /// Ascending by number.
    pub nodes: Vec<Node>,
    /// Row from, column to.
    pub distances: Vec<Vec<u32>>,
}

/// Reads the nodes and enters each CPU's node.
pub fn read(root: &Root, cpus: &mut [FoundCpu]) -> Result<FoundNodes, TopologyError> {
    let numbers = numbers(root)?;
    let allowed = root.status_list("Mems_allowed_list")?.filter(|it| !it.is_empty());
    assign(root, &numbers, cpus)?;
    let distances = distances(root, &numbers)?;
    let mut nodes = Vec::new();
    for &number in &numbers {
        let (total, free) = memory(root, number, numbers.len())?;
        let initiators = format!("{FOLDER}/node{}/access0/initiators", number.0);
        let open = |it: &Vec<u32>| it.contains(&u32::from(number.0));
        nodes.push(Node {
            id: number,
            socket: SocketId(0),
            memory_total: Bytes(total),
            memory_free: Bytes(free),
            allowed: allowed.as_ref().is_none_or(open),
            // Zero: the kernel has the table but no value.
            read_bandwidth_mb_s: root
                .number(&format!("{initiators}/read_bandwidth"))?
                .filter(|it| *it > 0),
            read_latency_ns: root
                .number(&format!("{initiators}/read_latency"))?
                .filter(|it| *it > 0),
        });
    }
    place_in_sockets(&mut nodes, &distances, cpus);
    Ok(FoundNodes { nodes, distances })
}

/// The node numbers; node 0 alone where there is nothing to read.
fn numbers(root: &Root) -> Result<Vec<NodeId>, TopologyError> {
    let path = format!("{FOLDER}/online");
    let online = root.list(&path)?.filter(|it| !it.is_empty());
    let mut numbers = root.numbered(FOLDER, "node");
    if let Some(online) = online {
        numbers.retain(|it| online.contains(it));
    }
    let ids: Result<Vec<NodeId>, _> =
        numbers.iter().map(|&it| u16::try_from(it).map(NodeId)).collect();
    match ids {
        Ok(ids) if ids.is_empty() => Ok(vec![NodeId(0)]),
        Ok(ids) => Ok(ids),
        Err(_) => Err(root.malformed(FOLDER, "a node's number is past 65535")),
    }
}

/// Enters the node of each CPU. One that no node lists belongs to the first node.
fn assign(root: &Root, nodes: &[NodeId], cpus: &mut [FoundCpu]) -> Result<(), TopologyError> {
    let mut node_of: BTreeMap<u32, NodeId> = BTreeMap::new();
    for &node in nodes {
        let folder = format!("{FOLDER}/node{}", node.0);
        let listed = match root.list(&format!("{folder}/cpulist"))? {
            Some(list) => list,
            None => root.mask(&format!("{folder}/cpumap"))?.unwrap_or_default(),
        };
        for cpu in listed {
            if let Some(other) = node_of.insert(cpu, node) {
                let problem = format!("CPU {cpu} is also in node {other}");
                return Err(root.malformed(&format!("{folder}/cpulist"), problem));
            }
        }
    }
    for cpu in cpus {
        cpu.node = node_of.get(&cpu.number).copied().unwrap_or(nodes[0]);
    }
    Ok(())
}

/// Total and free bytes of a node. A single node has what `/proc/meminfo` says: it counts hot-plugged memory, too.
fn memory(root: &Root, node: NodeId, count: usize) -> Result<(u64, u64), TopologyError> {
    let whole = root.text("proc/meminfo");
    let pair = |text: &str, prefix: &str| {
        let total = kilobytes(text, &format!("{prefix}MemTotal"))?;
        Some((total, kilobytes(text, &format!("{prefix}MemFree")).unwrap_or(0)))
    };
    if count == 1
        && let Some(both) = whole.as_deref().and_then(|it| pair(it, ""))
    {
        return Ok(both);
    }
    let path = format!("{FOLDER}/node{}/meminfo", node.0);
    let Some(text) = root.text(&path) else { return Ok((0, 0)) };
    pair(&text, &format!("Node {} ", node.0))
        .ok_or_else(|| root.malformed(&path, "there is no MemTotal in kB"))
}

/// The memory of a node now, on a machine of `count` nodes.
pub fn node_memory(root: &Root, node: NodeId, count: usize) -> Option<NodeMemory> {
    let (total, free) = memory(root, node, count).ok()?;
    let whole = || kilobytes(&root.text("proc/meminfo")?, "MemAvailable");
    let available = if count == 1 { whole() } else { node_available(root, node.0) };
    Some(NodeMemory {
        total: Bytes(total),
        free: Bytes(free),
        available: Bytes(available.unwrap_or(free)),
    })
}

/// One row per node. A row lists the online nodes in ascending order.
fn distances(root: &Root, nodes: &[NodeId]) -> Result<Vec<Vec<u32>>, TopologyError> {
    let mut rows = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let path = format!("{FOLDER}/node{}/distance", node.0);
        let row = match root.text(&path) {
            None => (0..nodes.len()).map(|it| if it == at { LOCAL } else { REMOTE }).collect(),
            Some(text) => {
                let row: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
                let row = row.map_err(|_| root.malformed(&path, "not a row of numbers"))?;
                if row.len() != nodes.len() {
                    let problem = format!("{} distances for {} nodes", row.len(), nodes.len());
                    return Err(root.malformed(&path, problem));
                }
                row
            }
        };
        rows.push(row);
    }
    Ok(rows)
}

/// A node belongs to the socket of its CPUs; one without CPUs to the nearest node's that has some.
fn place_in_sockets(nodes: &mut [Node], distances: &[Vec<u32>], cpus: &[FoundCpu]) {
    let own = |node: NodeId| cpus.iter().find(|it| it.node == node).map(|it| it.socket);
    let sockets: Vec<Option<SocketId>> = nodes.iter().map(|it| own(it.id)).collect();
    for (at, node) in nodes.iter_mut().enumerate() {
        let nearest = (0..sockets.len()).filter(|&it| sockets[it].is_some()).min_by_key(|&it| {
            // Firmware may write the distance one way only: take the shorter.
            distances[at][it].min(distances[it][at])
        });
        node.socket = sockets[at].or(nearest.and_then(|it| sockets[it])).unwrap_or_default();
    }
}
