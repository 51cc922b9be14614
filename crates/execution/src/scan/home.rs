//! From which node some columns are read for least, row by row: by the bytes that lie on each node, and by what reaching it
//! costs.

use hardware::{NodeId, Topology};
use stdx::sync::Arc;
use storage::{BLOCK_ROWS, Column};

/// Costs that differ by less are the same: shares of nodes are counted in pages.
const SAME: f64 = 1.01;

/// A column, and where what a scan reads of it lies.
pub(super) struct ColumnPlace {
    column: Arc<Column>,
    /// Bits of a row.
    pub bits: f64,
    /// The share of each node, where it is the same for all rows.
    shares: Option<Vec<(NodeId, f64)>>,
}

impl ColumnPlace {
    /// Of a column of so many rows.
    pub fn new(column: &Arc<Column>) -> Self {
        let shares = column.scan_nodes();
        Self { column: column.clone(), bits: column.scan_bits(), shares }
    }

    /// Whether all of it is on this node.
    fn is_on(&self, node: NodeId) -> bool {
        matches!(self.shares.as_deref(), Some([only]) if only.0 == node)
    }

    /// The nodes that hold what is read of a row and those beside it.
    fn holders(&self, row: usize) -> Vec<NodeId> {
        match &self.shares {
            Some(shares) => shares.iter().map(|it| it.0).collect(),
            None => self.column.node_of_row(row).into_iter().collect(),
        }
    }

    /// What a row costs from a node, a bit of its own memory being 1.
    fn cost(&self, row: usize, from: NodeId, topology: &Topology) -> f64 {
        let cost = |to: NodeId| topology.relative_cost(from, to);
        let mean = match &self.shares {
            Some(shares) => shares.iter().map(|it| it.1 * cost(it.0)).sum(),
            None => self.column.node_of_row(row).map_or(1.0, cost),
        };
        self.bits * mean
    }
}

/// What reading a row of some columns costs from a node; from anywhere, the mean.
pub(super) fn cost(
    columns: &[&ColumnPlace],
    row: usize,
    from: Option<NodeId>,
    topology: &Topology,
) -> f64 {
    let cost = |from: NodeId| columns.iter().map(|it| it.cost(row, from, topology)).sum::<f64>();
    let nodes = from.map_or_else(|| topology.memory_nodes(), |it| vec![it]);
    nodes.iter().map(|it| cost(*it)).sum::<f64>() / nodes.len().max(1) as f64
}

/// The nodes from which some columns are read for least. A table that lies in one piece asks once for all rows.
pub(super) struct Homes<'a> {
    columns: Vec<&'a ColumnPlace>,
    topology: &'a Topology,
    /// For all rows.
    always: Option<Vec<NodeId>>,
}

impl<'a> Homes<'a> {
    pub fn new(columns: Vec<&'a ColumnPlace>, topology: &'a Topology) -> Self {
        let same = columns.iter().all(|it| it.shares.is_some());
        let mut this = Self { columns, topology, always: None };
        this.always = same.then(|| this.cheapest(0));
        this
    }

    fn cheapest(&self, row: usize) -> Vec<NodeId> {
        let mut holders: Vec<NodeId> = self.columns.iter().flat_map(|it| it.holders(row)).collect();
        holders.sort();
        holders.dedup();
        if holders.len() < 2 {
            return holders;
        }
        let cost = |&node: &NodeId| cost(&self.columns, row, Some(node), self.topology);
        let costs: Vec<f64> = holders.iter().map(cost).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let pairs = holders.into_iter().zip(costs);
        pairs.filter(|it| it.1 <= least * SAME).map(|it| it.0).collect()
    }

    /// The node for a block that begins with this row. Where some are equal they take turns; where all are, or nothing is
    /// known, it is none of them (P-HANA 5.2: no affinity for what is interleaved).
    pub fn of_row(&self, row: usize) -> Option<NodeId> {
        let computed;
        let nodes = match &self.always {
            Some(nodes) => nodes,
            None => {
                computed = self.cheapest(row);
                &computed
            }
        };
        match &nodes[..] {
            [] => None,
            [node] => Some(*node),
            _ if nodes.len() == self.topology.memory_nodes().len() => None,
            _ => Some(nodes[row / BLOCK_ROWS % nodes.len()]),
        }
    }

    /// Whether everything is on one node.
    pub fn is_one_node(&self) -> bool {
        match self.always.as_deref() {
            Some([node]) => self.columns.iter().all(|it| it.is_on(*node)),
            _ => false,
        }
    }
}
