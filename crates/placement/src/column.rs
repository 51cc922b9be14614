//! Where the index vector and the dictionary of one column go.

use std::ops::Range;

use hardware::{NodeId, PagePolicy, Topology};

use crate::{Placement, places, split, split_blocks};

/// An index vector of at least this size is split over the nodes when nobody said otherwise; a smaller one stays whole.
pub const SPLIT_BYTES: usize = 2 << 20;

/// An index vector of at most this size is copied as a whole by [`Placement::Replicated`]; of a larger one only the
/// dictionary.
pub const COPIED_IV_BYTES: usize = 4 << 20;

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
    /// The places that get a copy of the dictionary besides; none unless replicated.
    pub copies: Vec<Vec<NodeId>>,
    /// Whether the copies have the index vector too.
    pub copies_iv: bool,
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
    let round = Placement::RoundRobin(Vec::new());
    let placement = if total >= split_threshold { &Placement::Auto } else { &round };
    let place = |(index, shape)| place_column(topology, shape, placement, turn.wrapping_add(index));
    columns.iter().enumerate().map(place).collect()
}

/// Places one column; `turn` counts the columns dealt so far. An index vector too small to be split stays on one
/// place. Nodes that may not be allocated on are passed over; with none left, the OS decides.
pub fn place_column(
    topology: &Topology,
    shape: &ColumnShape,
    placement: &Placement,
    turn: usize,
) -> ColumnPlacement {
    let whole = |policy: PagePolicy| ColumnPlacement {
        iv: vec![(0..shape.bytes_iv, policy.clone())],
        dictionary: policy,
        copies: Vec::new(),
        copies_iv: false,
    };
    let places = places(topology, placement.nodes());
    if places.is_empty() || *placement == Placement::Os {
        return whole(PagePolicy::FirstTouch);
    }
    let dealt = || whole(policy(&places[turn % places.len()]));
    match placement {
        Placement::Interleaved(_) => whole(policy(&places.concat())),
        Placement::Auto if shape.bytes_iv >= SPLIT_BYTES => {
            let cuts = split(shape.bytes_iv, shape.bits, places.len());
            over(&places, cuts).unwrap_or_else(dealt)
        }
        Placement::IndexVector(_) => {
            let cuts = split_blocks(shape.bytes_iv, shape.bits, places.len());
            over(&places, cuts).unwrap_or_else(dealt)
        }
        Placement::Replicated(_) => {
            let copies_iv = shape.bytes_iv <= COPIED_IV_BYTES;
            let own = if copies_iv {
                whole(policy(&places[0]))
            } else {
                let nodes = placement.nodes().to_vec();
                place_column(topology, shape, &Placement::IndexVector(nodes), turn)
            };
            // One place has the column itself.
            let copies = if copies_iv { places[1..].to_vec() } else { places };
            ColumnPlacement { copies, copies_iv, ..own }
        }
        _ => dealt(),
    }
}

/// A range for each place; `None` when there is only one.
fn over(places: &[Vec<NodeId>], cuts: Vec<Range<usize>>) -> Option<ColumnPlacement> {
    if cuts.len() < 2 {
        return None;
    }
    let iv = cuts.into_iter().zip(places).map(|(cut, place)| (cut, policy(place))).collect();
    let dictionary = policy(&places.concat());
    Some(ColumnPlacement { iv, dictionary, copies: Vec::new(), copies_iv: false })
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
        // The near nodes of a socket are split between when they are named.
        let named = Placement::IndexVector(vec![NodeId(0), NodeId(1)]);
        let split = place_column(&samples::sub_numa(), &shape(8), &named, 0);
        assert_eq!(split.iv, [(0..4 * MIB, on(0)), (4 * MIB..8 * MIB, on(1))]);
    }

    #[test]
    fn a_demand_splits_what_is_small() {
        let small = ColumnShape { bits: 8, bytes_iv: 300_000, bytes_dictionary: 0 };
        let machine = samples::four_sockets();
        let split = place_column(&machine, &small, &Placement::IndexVector(Vec::new()), 0);
        assert_eq!(split.iv.len(), 4);
        assert_eq!(split.iv[1].0.start % 65536, 0);
        let auto = place_column(&machine, &small, &Placement::Auto, 2);
        assert_eq!(auto.iv, [(0..300_000, on(2))]);
    }

    #[test]
    fn small_columns_are_copied_as_a_whole_and_large_ones_share_their_codes() {
        let machine = samples::four_sockets();
        let everywhere = Placement::Replicated(Vec::new());
        let small = place_column(&machine, &shape(1), &everywhere, 3);
        assert_eq!((small.iv[0].1.clone(), small.copies.len(), small.copies_iv), (on(0), 3, true));
        let large = place_column(&machine, &shape(64), &everywhere, 3);
        assert_eq!((large.iv.len(), large.copies.len(), large.copies_iv), (4, 4, false));
    }
}
