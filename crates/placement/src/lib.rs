//! Decides where columns live: pure functions from shape and topology to a placement
//! (docs/design/02-memory-and-placement.md, "who decides"; P-HANA 4.1, 4.2).
//!
//! Key decision: the unit of default placement is the socket, interleaved over its sub-NUMA nodes, because those differ
//! by far less than sockets do; where the distances say otherwise, each node is a unit. Nodes that someone names are
//! taken one by one.
//!
//! - Invariant: nothing here touches memory or asks a machine; `storage` applies what is decided.
//! - Invariant: only nodes that this process may allocate on are named.
//! - Invariant: the ranges of a split index vector follow each other without a gap and cover it.
#![forbid(unsafe_code)]

mod column;
mod index_vector;
mod unit;

use hardware::{NodeId, Topology};

pub use column::{
    COPIED_IV_BYTES, ColumnPlacement, ColumnShape, SPLIT_BYTES, place_column, place_table,
};
pub use index_vector::{split, split_blocks};
pub use unit::units;

/// How a table's columns are laid over the nodes. An empty list of nodes means all that may be allocated on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Placement {
    /// As the database finds best: small columns dealt (RR), large ones split (IVP), parts on a node each.
    #[default]
    Auto,
    /// Each column as a whole on one place, the columns dealt round; of a table with parts, the parts (RR).
    RoundRobin(Vec<NodeId>),
    /// Each index vector in equal contiguous ranges over these nodes, the dictionary interleaved over them (IVP).
    IndexVector(Vec<NodeId>),
    /// The table cut into parts of equal size, each with its own dictionaries on its own place (PP).
    Parts(Vec<NodeId>),
    /// All pages dealt round these nodes.
    Interleaved(Vec<NodeId>),
    /// A copy of each dictionary on each of these places, and of small columns as a whole.
    Replicated(Vec<NodeId>),
    /// Where the OS puts a page that is touched first: the baseline of the papers.
    Os,
}

impl Placement {
    /// The nodes that it names; none when it means all, or leaves it to the OS.
    pub fn nodes(&self) -> &[NodeId] {
        match self {
            Self::Auto | Self::Os => &[],
            Self::RoundRobin(nodes)
            | Self::IndexVector(nodes)
            | Self::Parts(nodes)
            | Self::Interleaved(nodes)
            | Self::Replicated(nodes) => nodes,
        }
    }

    /// Its name, as the views and `default_placement` spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::RoundRobin(_) => "rr",
            Self::IndexVector(_) => "ivp",
            Self::Parts(_) => "pp",
            Self::Interleaved(_) => "interleave",
            Self::Replicated(_) => "replicate",
            Self::Os => "os",
        }
    }
}

/// The places that some nodes make: each named node is one; without names, each unit of [`units`]. Nodes that may not
/// be allocated on are passed over.
pub fn places(topology: &Topology, named: &[NodeId]) -> Vec<Vec<NodeId>> {
    let allowed = topology.memory_nodes();
    if named.is_empty() {
        return units(topology, &allowed);
    }
    let mut places: Vec<Vec<NodeId>> = Vec::new();
    for &node in named.iter().filter(|it| allowed.contains(it)) {
        if !places.iter().any(|it| it[0] == node) {
            places.push(vec![node]);
        }
    }
    places
}

/// The place of a part of a table: parts are dealt round the places, the first part on the first. Tables that are cut
/// alike therefore have parts of equal number on the same nodes (P-HYPER 4.3).
pub fn place_of_part(topology: &Topology, named: &[NodeId], part: usize) -> Vec<NodeId> {
    let places = places(topology, named);
    if places.is_empty() { Vec::new() } else { places[part % places.len()].clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::samples;

    fn nodes(ids: &[u16]) -> Vec<NodeId> {
        ids.iter().map(|&it| NodeId(it)).collect()
    }

    #[test]
    fn named_nodes_are_places_of_their_own() {
        let machine = samples::sub_numa();
        assert_eq!(places(&machine, &[]), [nodes(&[0, 1]), nodes(&[2, 3])]);
        assert_eq!(places(&machine, &nodes(&[3, 0, 3, 9])), [nodes(&[3]), nodes(&[0])]);
        assert!(places(&machine, &nodes(&[9])).is_empty());
    }

    #[test]
    fn parts_go_round_and_equal_numbers_meet() {
        let machine = samples::four_sockets();
        let of = |part| place_of_part(&machine, &[], part);
        assert_eq!([of(0), of(3), of(4)], [nodes(&[0]), nodes(&[3]), nodes(&[0])]);
        assert_eq!(place_of_part(&machine, &nodes(&[2, 1]), 3), nodes(&[1]));
        assert!(place_of_part(&machine, &nodes(&[77]), 3).is_empty());
    }
}
