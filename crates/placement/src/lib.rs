//! Decides where columns live: pure functions from shape and topology to a placement (DESIGN 4; P-HANA 4.1, 4.2).
//!
//! Key decision: the unit of placement is the socket, interleaved over its sub-NUMA nodes, because those differ by far
//! less than sockets do; where the distances say otherwise, each node is a unit. Physical partitioning is not here yet.
//!
//! - Invariant: nothing here touches memory or asks a machine; `storage` applies what is decided.
//! - Invariant: only nodes that this process may allocate on are named.
//! - Invariant: the ranges of a split index vector follow each other without a gap and cover it.
#![forbid(unsafe_code)]

mod index_vector;
mod unit;

use std::ops::Range;

use hardware::{NodeId, PagePolicy, Topology};

pub use index_vector::split;
pub use unit::units;

/// How a table's columns are laid over the nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Each column as a whole on one socket, the columns dealt round (RR).
    RoundRobin,
    /// Each index vector in equal contiguous ranges over these nodes, the dictionary interleaved over them (IVP).
    IndexVector(Vec<NodeId>),
    /// All pages dealt round these nodes.
    Interleaved(Vec<NodeId>),
    /// Where the OS puts a page that is touched first: the baseline of the papers.
    Os,
}

/// How large the parts of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnShape {
    /// Bits per code of the index vector.
    pub bits: u32,
    /// Bytes of the index vector.
    pub bytes_iv: usize,
    /// Bytes of the dictionary, zero without one.
    pub bytes_dictionary: usize,
}

/// Where the parts of a column shall live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnPlacement {
    /// Byte ranges of the index vector, ascending, and the policy of each.
    pub iv: Vec<(Range<usize>, PagePolicy)>,
    /// The policy of the dictionary (and of an inverted index).
    pub dictionary: PagePolicy,
}

/// Places the columns of a table: dealt round the sockets, and from `split_threshold` bytes of index vectors on, each
/// large one split over all sockets. `turn` is the unit that the first column goes to; who places many tables passes
/// the number of columns dealt so far.
pub fn place_table(
    topology: &Topology,
    columns: &[ColumnShape],
    split_threshold: usize,
    turn: usize,
) -> Vec<ColumnPlacement> {
    let total = columns.iter().fold(0usize, |sum, it| sum.saturating_add(it.bytes_iv));
    let everywhere = Placement::IndexVector(topology.memory_nodes());
    let placement = if total >= split_threshold { &everywhere } else { &Placement::RoundRobin };
    let place = |(index, shape)| place_column(topology, shape, placement, turn.wrapping_add(index));
    columns.iter().enumerate().map(place).collect()
}

/// Places one column; `turn` counts the columns dealt so far. An index vector too small to be split stays on one
/// socket. Nodes that may not be allocated on are passed over; with none left, the OS decides.
pub fn place_column(
    topology: &Topology,
    shape: &ColumnShape,
    placement: &Placement,
    turn: usize,
) -> ColumnPlacement {
    let chosen = match placement {
        Placement::RoundRobin => topology.memory_nodes(),
        Placement::IndexVector(nodes) | Placement::Interleaved(nodes) => {
            let allowed = topology.memory_nodes();
            nodes.iter().copied().filter(|it| allowed.contains(it)).collect()
        }
        Placement::Os => Vec::new(),
    };
    let units = units(topology, &chosen);
    let whole = |policy: PagePolicy| ColumnPlacement {
        iv: vec![(0..shape.bytes_iv, policy.clone())],
        dictionary: policy,
    };
    if units.is_empty() {
        return whole(PagePolicy::FirstTouch);
    }
    if let Placement::Interleaved(_) = placement {
        return whole(policy(&chosen));
    }
    if let Placement::IndexVector(_) = placement {
        let ranges = split(shape.bytes_iv, shape.bits, units.len());
        if ranges.len() > 1 {
            let place = |(range, unit): (Range<usize>, &Vec<NodeId>)| (range, policy(unit));
            let iv = ranges.into_iter().zip(&units).map(place).collect();
            return ColumnPlacement { iv, dictionary: policy(&units.concat()) };
        }
    }
    whole(policy(&units[turn % units.len()]))
}

/// Pages on a node, or dealt round several.
fn policy(nodes: &[NodeId]) -> PagePolicy {
    match nodes {
        [node] => PagePolicy::Node(*node),
        nodes => PagePolicy::Interleave(nodes.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::samples;

    const MIB: usize = 1 << 20;

    fn shape(mib: usize) -> ColumnShape {
        ColumnShape { bits: 8, bytes_iv: mib * MIB, bytes_dictionary: 1000 }
    }

    fn on(node: u16) -> PagePolicy {
        PagePolicy::Node(NodeId(node))
    }

    fn over(nodes: &[u16]) -> PagePolicy {
        PagePolicy::Interleave(nodes.iter().map(|&it| NodeId(it)).collect())
    }

    #[test]
    fn with_one_node_everything_is_there() {
        for threshold in [0, usize::MAX] {
            let placed = place_table(&samples::laptop(), &[shape(64), shape(0)], threshold, 3);
            assert_eq!(placed[0].iv, [(0..64 * MIB, on(0))]);
            assert_eq!((&placed[1].iv[0].1, &placed[1].dictionary), (&on(0), &on(0)));
        }
    }

    #[test]
    fn columns_are_dealt_round_the_sockets() {
        let placed = place_table(&samples::four_sockets(), &[shape(1); 6], usize::MAX, 2);
        let policies: Vec<_> = placed.iter().map(|it| it.iv[0].1.clone()).collect();
        assert_eq!(policies, [2, 3, 0, 1, 2, 3].map(on));
        assert!(placed.iter().all(|it| it.dictionary == it.iv[0].1));
        let placed = place_table(&samples::sub_numa(), &[shape(1); 3], usize::MAX, 0);
        let policies: Vec<_> = placed.iter().map(|it| it.iv[0].1.clone()).collect();
        assert_eq!(policies, [over(&[0, 1]), over(&[2, 3]), over(&[0, 1])]);
    }

    #[test]
    fn a_big_table_is_split_and_its_small_columns_are_not() {
        let placed = place_table(&samples::four_sockets(), &[shape(64), shape(1)], 60 * MIB, 0);
        let quarter = 16 * MIB;
        let range = |it: usize| (it * quarter..(it + 1) * quarter, on(it as u16));
        assert_eq!(placed[0].iv, [0, 1, 2, 3].map(range));
        assert_eq!(placed[0].dictionary, over(&[0, 1, 2, 3]));
        assert_eq!(placed[1].iv, [(0..MIB, on(1))]);
        let placed = place_table(&samples::sub_numa(), &[shape(8)], 0, 0);
        let halves = [(0..4 * MIB, over(&[0, 1])), (4 * MIB..8 * MIB, over(&[2, 3]))];
        assert_eq!(placed[0].iv, halves);
    }

    #[test]
    fn named_nodes_and_forbidden_ones() {
        let mut machine = samples::four_sockets();
        machine.nodes[1].allowed = false;
        let nodes = vec![NodeId(0), NodeId(1), NodeId(3)];
        let split = place_column(&machine, &shape(8), &Placement::IndexVector(nodes.clone()), 0);
        assert_eq!(split.iv, [(0..4 * MIB, on(0)), (4 * MIB..8 * MIB, on(3))]);
        let dealt = place_column(&machine, &shape(8), &Placement::Interleaved(nodes), 0);
        assert_eq!((&dealt.iv[0].1, &dealt.dictionary), (&over(&[0, 3]), &over(&[0, 3])));
        let os = place_column(&machine, &shape(8), &Placement::Os, 0);
        assert_eq!(os.iv, [(0..8 * MIB, PagePolicy::FirstTouch)]);
        let none = place_column(&machine, &shape(8), &Placement::Interleaved(vec![NodeId(9)]), 0);
        assert_eq!(none.dictionary, PagePolicy::FirstTouch);
        let cpuless = place_table(&samples::cpuless(), &[shape(1); 4], usize::MAX, 0);
        assert!(cpuless.iter().all(|it| it.iv.len() == 1));
    }
}
