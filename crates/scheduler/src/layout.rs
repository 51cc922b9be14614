//! Who sits where: which hardware threads get a worker, how workers form groups, and where each worker looks for jobs.
//! Pure functions of the topology.

use std::collections::BTreeMap;

use hardware::topology::Cpu;
use hardware::{CpuId, LlcId, NodeId, SocketId, Topology};

use crate::affinity::StealingScope;

/// Hardware threads of a thread group at most: more would queue for its lock (P-HANA 5.1).
const GROUP_CPUS: usize = 32;

/// The seating plan. A *place* is a node with workers.
pub(crate) struct Layout {
    /// The hardware thread of each worker.
    pub(crate) seats: Vec<Cpu>,
    /// The group of each worker.
    pub(crate) group_of: Vec<usize>,
    pub(crate) places: Vec<Place>,
    /// Place and cache of each group.
    pub(crate) groups: Vec<(usize, LlcId)>,
    /// The node of each hardware thread, by number.
    pub(crate) node_of_cpu: BTreeMap<CpuId, NodeId>,
    /// The place that serves a node, by node number: its own, or the nearest with workers.
    homes: Vec<Option<usize>>,
}

/// A node with workers.
pub(crate) struct Place {
    pub(crate) node: NodeId,
    pub(crate) socket: SocketId,
    pub(crate) groups: Vec<usize>,
    pub(crate) workers: Vec<usize>,
    /// All places in order of distance, itself first.
    pub(crate) nearest: Vec<usize>,
}

/// A group where a worker looks for jobs, and how far it has to go for it: hard jobs are taken at home only, others as
/// far as their scope allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stop {
    pub(crate) group: usize,
    pub(crate) reach: StealingScope,
}

impl Layout {
    /// Seats for `workers`, or for as many as the process has hardware threads and quota. An explicit number is taken
    /// at its word, also past the hardware threads. `None` when there is no hardware thread at all.
    pub(crate) fn new(topology: &Topology, workers: Option<usize>) -> Option<Self> {
        let order = spread(topology);
        if order.is_empty() {
            return None;
        }
        let quota = topology.cpu_quota.map_or(usize::MAX, |it| it.max(0.0).ceil() as usize);
        let count = workers.unwrap_or(order.len().min(quota)).max(1);
        let mut seats: Vec<Cpu> = order.iter().cycle().take(count).copied().cloned().collect();
        seats.sort_by_key(|it| (it.node, it.llc, it.core, it.id));
        let crowds = crowds(&seats);

        let mut places: Vec<Place> = Vec::new();
        let mut groups: Vec<(usize, LlcId)> = Vec::new();
        let mut last_crowd = None;
        let mut group_of = Vec::with_capacity(count);
        for (worker, seat) in seats.iter().enumerate() {
            if places.last().is_none_or(|it| it.node != seat.node) {
                let (node, socket) = (seat.node, seat.socket);
                let empty = Vec::new;
                let place =
                    Place { node, socket, groups: empty(), workers: empty(), nearest: empty() };
                places.push(place);
            }
            let place = places.len() - 1;
            let crowd = Some((place, seat.llc, crowds[worker]));
            if last_crowd != crowd {
                last_crowd = crowd;
                places[place].groups.push(groups.len());
                groups.push((place, seat.llc));
            }
            places[place].workers.push(worker);
            group_of.push(groups.len() - 1);
        }
        let index: BTreeMap<NodeId, usize> =
            places.iter().enumerate().map(|(at, it)| (it.node, at)).collect();
        let serving = |node| -> Vec<usize> {
            let nodes = topology.nearest_first(node);
            nodes.iter().filter_map(|it| index.get(it).copied()).collect()
        };
        for place in &mut places {
            place.nearest = serving(place.node);
        }
        let last = topology.nodes.iter().map(|it| it.id.index()).max().unwrap_or(0);
        let mut homes = vec![None; last + 1];
        for node in &topology.nodes {
            homes[node.id.index()] = serving(node.id).first().copied();
        }
        let node_of_cpu = topology.cpus.iter().map(|it| (it.id, it.node)).collect();
        Some(Self { seats, group_of, places, groups, node_of_cpu, homes })
    }

    /// The place that serves a node; `None` for a node that the machine does not have.
    pub(crate) fn home(&self, node: NodeId) -> Option<usize> {
        self.homes.get(node.index()).copied().flatten()
    }

    /// The nearest place to another one among those that are allowed; itself when none is.
    pub(crate) fn nearest_allowed(&self, place: usize, allowed: &[bool]) -> usize {
        self.places[place].nearest.iter().copied().find(|&it| allowed[it]).unwrap_or(place)
    }

    /// Where a worker of a group looks, in order: its group, the others of its node, then places by distance. `turn`
    /// numbers the workers, so that they start at different groups of a place and do not queue for the same lock.
    pub(crate) fn stops(&self, own: usize, turn: usize) -> Vec<Stop> {
        let home = self.groups[own].0;
        let socket = self.places[home].socket;
        let mut stops = Vec::with_capacity(self.groups.len());
        for &place in &self.places[home].nearest {
            let reach = match place {
                _ if place == home => StealingScope::None,
                _ if self.places[place].socket == socket => StealingScope::Socket,
                _ => StealingScope::All,
            };
            let groups = &self.places[place].groups;
            let first = groups.iter().position(|&it| it == own).unwrap_or(turn % groups.len());
            let around = groups.iter().cycle().skip(first).take(groups.len());
            stops.extend(around.map(|&group| Stop { group, reach }));
        }
        stops
    }
}

/// For each seat the part of its cache's seats it belongs to: caches with more than [`GROUP_CPUS`] seats are divided
/// evenly, and seats of one core stay together.
fn crowds(seats: &[Cpu]) -> Vec<usize> {
    let mut crowds = vec![0; seats.len()];
    let mut start = 0;
    for cache in seats.chunk_by(|a, b| (a.node, a.llc) == (b.node, b.llc)) {
        let each = cache.len().div_ceil(cache.len().div_ceil(GROUP_CPUS));
        let (mut crowd, mut first) = (0, 0);
        for at in 0..cache.len() {
            let new_core = at > 0 && cache[at].core != cache[at - 1].core;
            if at - first >= each && new_core {
                (crowd, first) = (crowd + 1, at);
            }
            crowds[start + at] = crowd;
        }
        start += cache.len();
    }
    crowds
}

/// The hardware threads in the order in which they get workers: distinct cores before SMT siblings, then round the
/// nodes (sockets before the sub-nodes of one), then round the last-level caches of a node.
fn spread(topology: &Topology) -> Vec<&Cpu> {
    /// Numbers things that share a key in order of appearance.
    struct Counter<K>(BTreeMap<K, usize>);
    impl<K: Ord> Counter<K> {
        fn next(&mut self, key: K) -> usize {
            let slot = self.0.entry(key).or_insert(0);
            *slot += 1;
            *slot - 1
        }
    }
    let mut cpus: Vec<&Cpu> = topology.cpus.iter().collect();
    cpus.sort_by_key(|it| it.id);
    let (mut siblings, mut in_cache) = (Counter(BTreeMap::new()), Counter(BTreeMap::new()));
    let mut ranked: Vec<_> = cpus
        .into_iter()
        .map(|it| {
            let sibling = siblings.next((it.node, it.core));
            (sibling, in_cache.next((it.node, it.llc, sibling)), it)
        })
        .collect();
    ranked.sort_by_key(|&(sibling, rank, it)| (sibling, rank, it.llc, it.id));

    let mut sub_nodes = Counter(BTreeMap::new());
    let mut sub_node = BTreeMap::new();
    for node in &topology.nodes {
        if topology.cpus_of(node.id).next().is_some() {
            sub_node.insert(node.id, sub_nodes.next(node.socket));
        }
    }
    let mut in_node = Counter(BTreeMap::new());
    let mut seated: Vec<_> = ranked
        .into_iter()
        .map(|(sibling, _, it)| (sibling, in_node.next((it.node, sibling)), it))
        .collect();
    seated.sort_by_key(|&(sibling, rank, it)| {
        let sub = sub_node.get(&it.node).copied().unwrap_or(usize::MAX);
        (sibling, rank, sub, it.socket, it.node, it.id)
    });
    seated.into_iter().map(|it| it.2).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use hardware::samples;

    fn layout(name: &str, workers: Option<usize>) -> Layout {
        Layout::new(&samples::by_name(name).unwrap(), workers).unwrap()
    }

    #[test]
    fn few_workers_sit_on_distant_cores() {
        let cores = |workers| {
            let layout = layout("epyc", Some(workers));
            layout.seats.iter().map(|it| (it.node.0, it.llc.0, it.core)).collect::<Vec<_>>()
        };
        assert_eq!(cores(2), [(0, 0, 0), (1, 4, 8)]);
        let mut eight = cores(8);
        eight.dedup_by_key(|it| it.1);
        assert_eq!(eight.len(), 8, "no two share a cache: {eight:?}");
        let mut all = cores(32);
        all.sort_by_key(|it| it.2);
        all.dedup_by_key(|it| it.2);
        assert_eq!(all.len(), 32, "no two share a core");
        let nodes =
            layout("sub_numa", Some(2)).seats.iter().map(|it| it.node.0).collect::<Vec<_>>();
        assert_eq!(nodes, [0, 2], "sockets before sub-nodes");
        assert_eq!(layout("laptop", Some(6)).places[0].workers.len(), 6, "more than cores");
    }

    #[test]
    fn each_node_has_a_home_and_each_cache_a_group() {
        let epyc = layout("epyc", None);
        assert_eq!((epyc.seats.len(), epyc.groups.len(), epyc.places.len()), (64, 16, 4));
        let cpuless = layout("cpuless", None);
        assert_eq!(cpuless.home(NodeId(2)), Some(0));
        assert_eq!(cpuless.home(NodeId(1)), Some(1));
        assert_eq!((cpuless.home(NodeId(3)), cpuless.home(NodeId(u16::MAX))), (None, None));
        let ring = layout("ring", Some(2));
        assert_eq!(ring.places.iter().map(|it| it.node.0).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(ring.home(NodeId(2)), Some(1), "the neighbour, not the opposite one");
    }

    #[test]
    fn stops_go_outward_and_tell_how_far() {
        let epyc = layout("epyc", None);
        let worker = epyc.places[2].workers[5];
        let own = epyc.group_of[worker];
        let stops = epyc.stops(own, worker);
        assert_eq!(stops.len(), 16);
        assert_eq!(stops[0], Stop { group: own, reach: StealingScope::None });
        let groups = &epyc.places[2].groups;
        let near = |it: &Stop| it.reach == StealingScope::None && groups.contains(&it.group);
        assert!(stops[..4].iter().all(near) && !stops[4..].iter().any(near));
        let sub = layout("sub_numa", None);
        let reaches: Vec<_> = sub.stops(0, 0).iter().map(|it| it.reach).collect();
        assert!(reaches.is_sorted());
        assert_eq!(reaches[..2], [StealingScope::None, StealingScope::Socket]);
    }

    #[test]
    fn large_caches_are_divided_and_siblings_stay_together() {
        let mut large = samples::by_name("laptop").unwrap();
        let like = large.cpus[0].clone();
        large.cpus =
            (0..140).map(|it| Cpu { id: CpuId(it), core: it % 70, ..like.clone() }).collect();
        let layout = Layout::new(&large, None).unwrap();
        assert_eq!((layout.groups.len(), layout.places.len()), (5, 1));
        let mut group_of_core = BTreeMap::new();
        let mut sizes = vec![0; 5];
        for (seat, &group) in layout.seats.iter().zip(&layout.group_of) {
            assert_eq!(*group_of_core.entry(seat.core).or_insert(group), group);
            sizes[group] += 1;
        }
        assert!(sizes.iter().all(|it| (20..=GROUP_CPUS).contains(it)), "{sizes:?}");
        assert_eq!(layout.nearest_allowed(0, &[false]), 0);
    }
}
