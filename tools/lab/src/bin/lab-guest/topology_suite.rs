//! What the database reads of the guest is what the guest is.

use hardware::{Machine, Topology};
use lab::topology::GuestMachine;

use crate::checks::{Checks, Verdict, same};

/// The kernel keeps some of a node's memory for itself, most on the first node, and more the more CPUs there are.
const KERNEL_BYTES_MAX: u64 = 64 << 20;

/// Runs the suite.
pub fn run(checks: &mut Checks, wanted: &GuestMachine) {
    let machine = hardware_linux::open();
    let found = machine.topology();
    checks.run("topology::nodes_sockets_and_cpus_are_the_machines", || nodes(found, wanted));
    checks.run("topology::distances_are_the_machines", || {
        let distances: Vec<Vec<u32>> = found.distances.clone();
        same("distances", distances, wanted.distances.clone())
    });
    checks.run("topology::nothing_is_refused", || {
        same("restrictions", machine.restrictions(), Vec::new())
    });
    checks.run("topology::cpus_of_a_node_share_a_cache", || caches(found));
    checks.run("topology::memory_free_now_is_less_than_all", || {
        for node in &found.nodes {
            let now = machine.node_memory(node.id).ok_or(format!("node {} is unknown", node.id))?;
            if now.free.0 == 0 || now.free.0 > node.memory_total.0 {
                return Err(format!(
                    "node {}: {} free of {}",
                    node.id, now.free, node.memory_total
                ));
            }
        }
        Ok(())
    });
}

fn nodes(found: &Topology, wanted: &GuestMachine) -> Verdict {
    same("nodes", found.nodes.len(), wanted.nodes.len())?;
    same("CPUs", found.cpus.len(), wanted.cpus())?;
    for (number, (node, model)) in found.nodes.iter().zip(&wanted.nodes).enumerate() {
        same(format!("number of node {number}"), node.id.index(), number)?;
        same(format!("socket of node {number}"), node.socket.index(), model.socket)?;
        same(format!("CPUs of node {number}"), found.cpus_of(node.id).count(), model.cpus)?;
        same(format!("node {number} is open"), node.allowed, true)?;
        let (total, size) = (node.memory_total.0, (model.memory_mib as u64) << 20);
        if total > size || total + KERNEL_BYTES_MAX < size || total == 0 {
            return Err(format!("node {number} has {} of {size} bytes", node.memory_total));
        }
    }
    Ok(())
}

/// No last-level cache spans nodes, because thread groups are made of caches within nodes.
fn caches(found: &Topology) -> Verdict {
    for one in &found.cpus {
        for other in &found.cpus {
            let (near, shared) = (one.node == other.node, one.llc == other.llc);
            same(format!("CPUs {} and {} share a cache", one.id, other.id), shared, near)?;
        }
    }
    Ok(())
}
