//! What a machine model is made of while it runs: memory controllers, the share of remote reading that a node's CPUs may
//! draw, links with routes; and what a byte of each kind of access takes of each.
//!
//! A link carries a line of 64 bytes as 9 flits of 8 bytes, and a request, a snoop or a response as one.

use hardware::{NodeId, Topology};

use crate::fluid::Use;
use crate::model::{Coherence, MachineModel, Shape};

/// Bytes of a cache line.
pub(crate) const LINE: f64 = 64.0;
/// Bytes on a link per byte of data, and per byte that a request, snoop or response speaks of.
const DATA: f64 = 72.0 / LINE;
const NOTE: f64 = 8.0 / LINE;

/// The kind of traffic of an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Traffic {
    Read,
    /// A line is read before it is written back.
    Write,
}

/// Resources by index: controllers, then draws, then links.
pub(crate) struct Physics {
    pub(crate) model: MachineModel,
    pub(crate) capacities: Vec<f64>,
    sockets: Vec<usize>,
    socket_count: usize,
    /// The index of the link from a socket to another, by their numbers.
    links: Vec<Vec<Option<usize>>>,
}

/// What a byte per second of some access takes, and how much of it depends on who read the lines before.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    pub(crate) uses: Vec<Use>,
    /// Memory nodes and shares that a remote socket reads through a directory.
    pub(crate) directory: Vec<(usize, f64)>,
    /// Memory nodes and shares of the bytes.
    pub(crate) memory: Vec<(usize, f64)>,
    /// Mean idle latency in nanoseconds.
    pub(crate) latency: f64,
    /// The share of the bytes that comes from other nodes than the running one.
    pub(crate) remote: f64,
}

impl Physics {
    pub(crate) fn new(model: MachineModel) -> Self {
        let nodes = model.topology.nodes.len();
        let mut names: Vec<u16> = model.topology.nodes.iter().map(|it| it.socket.0).collect();
        names.dedup();
        let sockets: Vec<usize> = model
            .topology
            .nodes
            .iter()
            .map(|it| names.iter().position(|name| *name == it.socket.0).unwrap_or(0))
            .collect();
        let controller = |k: usize| model.bandwidth.iter().map(|row| row[k]).fold(0.0, f64::max);
        let mut capacities: Vec<f64> = (0..nodes).map(controller).collect();
        capacities.extend((0..nodes).map(|_| 1.0));
        let socket_count = names.len();
        let mut links = vec![vec![None; socket_count]; socket_count];
        if let Some(link) = model.link {
            for (from, row) in links.iter_mut().enumerate() {
                for (to, slot) in row.iter_mut().enumerate() {
                    if linked(model.shape, socket_count, from, to) {
                        *slot = Some(capacities.len());
                        capacities.push(link);
                    }
                }
            }
        }
        Self { model, capacities, sockets, socket_count, links }
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.model.topology
    }

    pub(crate) fn nodes(&self) -> usize {
        self.sockets.len()
    }

    /// The index of a node; unknown ones count as the first.
    pub(crate) fn node(&self, node: NodeId) -> usize {
        self.topology().node_index(node).unwrap_or(0)
    }

    /// The resources that are links.
    #[cfg(test)]
    pub(crate) fn link_resources(&self) -> std::ops::Range<usize> {
        2 * self.nodes()..self.capacities.len()
    }

    /// What CPUs of node `from` take for each byte that is dealt evenly over `targets`.
    pub(crate) fn footprint(&self, from: usize, targets: &[usize], traffic: Traffic) -> Footprint {
        let share = 1.0 / targets.len().max(1) as f64;
        let mut weights = vec![0.0; self.capacities.len()];
        let mut print = Footprint {
            uses: Vec::new(),
            directory: Vec::new(),
            memory: targets.iter().map(|&it| (it, share)).collect(),
            latency: targets.iter().map(|&it| self.model.latency[from][it] * share).sum(),
            remote: targets.iter().filter(|&&it| it != from).count() as f64 * share,
        };
        let copies = if traffic == Traffic::Write { 2.0 } else { 1.0 };
        for &to in targets {
            weights[to] += share * copies;
            let pair = self.model.bandwidth[from][to];
            if pair < 0.97 * self.capacities[to] {
                weights[self.nodes() + from] += share * copies / pair;
            }
            let (here, there) = (self.sockets[from], self.sockets[to]);
            self.cross(there, here, DATA * share, &mut weights);
            self.cross(here, there, NOTE * share, &mut weights);
            if traffic == Traffic::Write {
                self.cross(here, there, DATA * share, &mut weights);
            }
            match self.model.coherence {
                Coherence::Directory if here != there => print.directory.push((to, share)),
                Coherence::Broadcast => self.snoop(here, there, share, &mut weights),
                _ => {}
            }
        }
        let used = weights.into_iter().enumerate().filter(|it| it.1 > 0.0);
        print.uses = used.map(|(resource, weight)| Use { resource, weight }).collect();
        print
    }

    /// A reader on socket `here` asks all sockets but the home `there`, which has the request anyway; they answer it.
    fn snoop(&self, here: usize, there: usize, share: f64, weights: &mut [f64]) {
        for asked in (0..self.socket_count).filter(|&it| it != here && it != there) {
            self.cross(here, asked, NOTE * share, weights);
            self.cross(asked, there, NOTE * share, weights);
        }
    }

    /// Adds a weight to each link on the way from a socket to another.
    fn cross(&self, from: usize, to: usize, weight: f64, weights: &mut [f64]) {
        let mut at = from;
        while at != to {
            let next = self.step(at, to);
            if let Some(link) = self.links[at][next] {
                weights[link] += weight;
            }
            at = next;
        }
    }

    /// The next socket on the way: one way round a ring (the even sockets turn right when both ways are as long), first
    /// to the other half among twins.
    fn step(&self, at: usize, to: usize) -> usize {
        let count = self.socket_count;
        match self.model.shape {
            Shape::Full | Shape::Blades(_) => to,
            Shape::Ring => {
                let right = (to + count - at) % count;
                let turn_right = 2 * right < count || (2 * right == count && at.is_multiple_of(2));
                (at + if turn_right { 1 } else { count - 1 }) % count
            }
            Shape::Twins => {
                let half = (count / 2).max(1);
                if at / half == to / half { to } else { (at + half) % count }
            }
        }
    }
}

fn linked(shape: Shape, count: usize, from: usize, to: usize) -> bool {
    let apart = from.abs_diff(to);
    from != to
        && match shape {
            Shape::Full => true,
            Shape::Ring => apart == 1 || apart == count - 1,
            Shape::Twins => {
                from / (count / 2).max(1) == to / (count / 2).max(1) || 2 * apart == count
            }
            Shape::Blades(size) => from / size == to / size,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn physics(name: &str) -> Physics {
        Physics::new(MachineModel::by_name(name).unwrap())
    }

    fn weight(print: &Footprint, resource: usize) -> f64 {
        print.uses.iter().find(|it| it.resource == resource).map_or(0.0, |it| it.weight)
    }

    #[test]
    fn local_reads_cross_links_only_where_coherence_is_broadcast() {
        let directory = physics("4x-ivybridge-ex").footprint(1, &[1], Traffic::Read);
        assert_eq!(directory.uses, [Use { resource: 1, weight: 1.0 }]);
        let machine = physics("nehalem-ex");
        let broadcast = machine.footprint(1, &[1], Traffic::Read);
        let links = machine.link_resources();
        // One snoop out to each of three sockets and one answer back: an eighth of a byte each per byte read.
        let notes: f64 = links.map(|it| weight(&broadcast, it)).sum();
        assert!((notes - 6.0 * NOTE).abs() < 1e-12);
    }

    #[test]
    fn routes_are_shortest_and_stay_on_links() {
        for (name, hops) in [("sandy-bridge-ep", 2), ("8x-westmere-ex", 2), ("4x-ivybridge-ex", 1)]
        {
            let machine = physics(name);
            let count = machine.socket_count;
            for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
                let (mut at, mut steps) = (from, 0);
                while at != to {
                    let next = machine.step(at, to);
                    assert!(machine.links[at][next].is_some(), "{name}: {at} to {next}");
                    (at, steps) = (next, steps + 1);
                }
                assert!(steps <= hops);
            }
        }
    }

    #[test]
    fn dealt_bytes_use_each_node_by_its_share() {
        let machine = physics("4x-ivybridge-ex");
        let print = machine.footprint(0, &[0, 1, 2, 3], Traffic::Read);
        assert_eq!((0..4).map(|it| weight(&print, it)).collect::<Vec<_>>(), [0.25; 4]);
        assert_eq!((print.remote, print.directory.len()), (0.75, 3));
        assert_eq!(print.latency, (150.0 + 3.0 * 240.0) / 4.0);
        let write = machine.footprint(0, &[0], Traffic::Write);
        assert_eq!(weight(&write, 0), 2.0);
    }
}
