//! Where the data of a run lie: columns and their parts, placed by the database's own placement.

use std::ops::Range;

use hardware::{NodeId, PagePolicy, Topology};
use placement::{ColumnShape, Placement, place_column, place_of_part};

use crate::settings::{Placing, Settings, Workload};

/// A part of a column (or of a table) that lies in one place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Piece {
    /// The nodes of its index vector.
    pub(crate) nodes: Vec<NodeId>,
    /// Its rows.
    pub(crate) rows: f64,
    /// Bytes that a scan of it reads.
    pub(crate) bytes: f64,
    /// The nodes of its dictionary and of its inverted index.
    pub(crate) dictionary: Vec<NodeId>,
    /// Distinct values of its dictionary.
    pub(crate) values: f64,
}

impl Piece {
    /// The node that tasks on it prefer; none when it is dealt round several.
    pub(crate) fn home(&self) -> Option<NodeId> {
        match self.nodes[..] {
            [node] => Some(node),
            _ => None,
        }
    }
}

/// What a statement may pick: a column, a table, or all columns of a union.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Item {
    pub(crate) pieces: Vec<Piece>,
}

/// Everything that statements of a run may pick.
pub(crate) fn items(settings: &Settings, topology: &Topology) -> Vec<Item> {
    match settings.workload {
        Workload::Scans => (0..settings.columns).map(|it| column(settings, topology, it)).collect(),
        Workload::Aggregate => {
            (0..settings.columns).map(|it| table(settings, topology, it)).collect()
        }
        Workload::Union => vec![union(settings)],
    }
}

fn parts(settings: &Settings, sockets: usize) -> usize {
    match settings.placement {
        Placing::RoundRobin | Placing::Interleaved | Placing::OneNode => 1,
        Placing::IndexVector | Placing::Physical => {
            settings.parts.unwrap_or(sockets).min(sockets).max(1)
        }
    }
}

/// The socket that a column goes to first. Under skew the two halves of the columns lie on different halves of the
/// machine: P-HANA section 6.2.1, "only two sockets contain the hot set of columns".
fn turn(settings: &Settings, sockets: usize, column: usize) -> usize {
    if !settings.skewed || sockets < 2 {
        return column;
    }
    let half = sockets / 2;
    if column < settings.columns / 2 { column % half } else { half + column % (sockets - half) }
}

/// Distinct values that so many rows have of all that some bits tell apart.
pub(crate) fn values_of(bits: u32, rows: f64) -> f64 {
    let all = 2_f64.powi(bits as i32);
    all * (1.0 - (-rows / all).exp())
}

fn column(settings: &Settings, topology: &Topology, column: usize) -> Item {
    let (low, high) = settings.bitcases;
    let bits = low + column as u32 % (high - low + 1);
    let rows = settings.rows as f64;
    let bytes = |rows: f64| (rows * f64::from(bits) / 8.0) as usize;
    let sockets = placement::units(topology, &topology.memory_nodes()).len();
    let parts = parts(settings, sockets);
    let values = |rows: f64| values_of(bits, rows);
    let shape = |rows: f64| ColumnShape {
        bits,
        bytes_iv: bytes(rows),
        bytes_dictionary: (values(rows) * crate::costs::VALUE_BYTES) as usize,
    };
    let first = turn(settings, sockets, column);
    if settings.placement == Placing::Physical {
        let part = |part| {
            let rows = rows / parts as f64;
            let nodes = place_of_part(topology, &[], part);
            let (bytes, values) = (bytes(rows) as f64, values(rows));
            Piece { dictionary: nodes.clone(), nodes, rows, bytes, values }
        };
        return Item { pieces: (0..parts).map(part).collect() };
    }
    let nodes = topology.memory_nodes();
    let start = if parts == sockets { 0 } else { first * parts };
    let chosen = (0..parts).map(|it| nodes[(start + it) % nodes.len()]).collect();
    let placement = match settings.placement {
        Placing::IndexVector if parts > 1 => Placement::IndexVector(chosen),
        Placing::Interleaved => Placement::Interleaved(Vec::new()),
        Placing::OneNode => Placement::RoundRobin(vec![nodes[0]]),
        _ => Placement::RoundRobin(Vec::new()),
    };
    let placed = place_column(topology, &shape(rows), &placement, first);
    let total = bytes(rows);
    let pieces = placed.iv.iter().map(|range| {
        let share = (range.0.end - range.0.start) as f64 / total as f64;
        piece(range, &placed.dictionary, rows * share, total, values(rows), topology)
    });
    Item { pieces: pieces.collect() }
}

fn piece(
    (range, policy): &(Range<usize>, PagePolicy),
    dictionary: &PagePolicy,
    rows: f64,
    total: usize,
    values: f64,
    topology: &Topology,
) -> Piece {
    let nodes = |policy: &PagePolicy| match policy {
        PagePolicy::Node(node) => vec![*node],
        PagePolicy::Interleave(nodes) => nodes.clone(),
        PagePolicy::FirstTouch => topology.memory_nodes(),
    };
    let bytes = (range.end - range.start).min(total) as f64;
    Piece { nodes: nodes(policy), rows, bytes, dictionary: nodes(dictionary), values }
}

/// A table of an aggregation: its parts dealt round the sockets, table after table (P-HANA 6.3).
fn table(settings: &Settings, topology: &Topology, table: usize) -> Item {
    let sockets = placement::units(topology, &topology.memory_nodes()).len();
    let parts = parts(settings, sockets);
    let rows = settings.rows as f64 / parts as f64;
    let bytes = rows * settings.row_cost.0;
    let part = |part: usize| {
        let nodes = match settings.placement {
            Placing::Interleaved => topology.memory_nodes(),
            Placing::OneNode => topology.memory_nodes()[..1].to_vec(),
            _ => place_of_part(topology, &[], table * parts + part),
        };
        Piece { dictionary: nodes.clone(), nodes, rows, bytes, values: 0.0 }
    };
    Item { pieces: (0..parts).map(part).collect() }
}

/// Columns that lie where the experiment says (P-SNC 5.1: `ALTER TABLE t NUMA NODE (n)`).
fn union(settings: &Settings) -> Item {
    let rows = settings.rows as f64;
    let bytes = rows * f64::from(settings.bitcases.1) / 8.0;
    let piece = |&node: &u16| {
        let nodes = vec![NodeId(if settings.one_domain { 0 } else { node })];
        Piece { dictionary: nodes.clone(), nodes, rows, bytes, values: 0.0 }
    };
    Item { pieces: settings.column_nodes.iter().map(piece).collect() }
}

#[cfg(test)]
mod tests {
    use simulator::MachineModel;

    use super::*;

    fn layout(settings: &Settings) -> Vec<Item> {
        items(settings, &MachineModel::by_name(&settings.machine).unwrap().topology)
    }

    fn nodes(item: &Item) -> Vec<u16> {
        item.pieces.iter().flat_map(|it| it.nodes.iter().map(|it| it.0)).collect()
    }

    #[test]
    fn columns_are_dealt_split_or_partitioned() {
        let mut settings = Settings::default();
        let dealt = layout(&settings);
        assert_eq!(dealt.len(), 160);
        assert_eq!(dealt[..5].iter().map(|it| nodes(it)[0]).collect::<Vec<_>>(), [0, 1, 2, 3, 0]);
        assert_eq!(dealt[3].pieces[0].bytes, 100e6 * 20.0 / 8.0);
        settings.placement = Placing::IndexVector;
        let split = layout(&settings);
        assert_eq!((nodes(&split[7]), split[7].pieces[0].dictionary.len()), (vec![0, 1, 2, 3], 4));
        let bytes: f64 = split[7].pieces.iter().map(|it| it.bytes).sum();
        assert_eq!(bytes, 100e6 * 24.0 / 8.0);
        settings.placement = Placing::Physical;
        let parts = layout(&settings);
        assert_eq!((nodes(&parts[0]), parts[0].pieces[2].dictionary.len()), (vec![0, 1, 2, 3], 1));
        assert!(parts[9].pieces[0].values > split[9].pieces[0].values / 4.0, "values recur");
    }

    #[test]
    fn few_parts_go_round_the_sockets_and_hot_columns_lie_apart() {
        let mut settings = Settings { machine: "32x-ivybridge-ex".into(), ..Settings::default() };
        settings.placement = Placing::IndexVector;
        settings.parts = Some(4);
        let split = layout(&settings);
        assert_eq!((nodes(&split[0]), nodes(&split[1])), (vec![0, 1, 2, 3], vec![4, 5, 6, 7]));
        let skewed = Settings { skewed: true, ..Settings::default() };
        let dealt = layout(&skewed);
        assert!(dealt[..80].iter().all(|it| nodes(it)[0] < 2));
        assert!(dealt[80..].iter().all(|it| nodes(it)[0] >= 2));
    }
}
