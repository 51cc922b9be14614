//! Where a table lies, as plain data: what pictures are drawn from (the layout of P-HANA figures 5 to 7).

use hardware::{NodeId, SocketId};
use memory::Location;
use stdx::sync::Arc;
use storage::Table;
use types::names;

use crate::Database;
use crate::views::placement::{bytes_per_node, placed};

/// A table on the nodes of its machine.
#[derive(Clone, Debug)]
pub struct TablePicture {
    /// Its name.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// Its bytes, copies included.
    pub bytes: u64,
    /// How many parts it has.
    pub parts: usize,
    /// How it is cut, as the statement says it; `None` in one piece.
    pub partitioning: Option<String>,
    /// The nodes that have memory, ascending.
    pub nodes: Vec<NodePicture>,
    /// Its columns in order.
    pub columns: Vec<ColumnPicture>,
}

/// A node of a picture.
#[derive(Clone, Debug)]
pub struct NodePicture {
    /// Its number.
    pub node: NodeId,
    /// The socket it belongs to.
    pub socket: SocketId,
    /// Hardware threads that may run there.
    pub cpus: usize,
}

/// A column of a picture.
#[derive(Clone, Debug)]
pub struct ColumnPicture {
    /// Its name.
    pub name: String,
    /// Its encoding.
    pub encoding: &'static str,
    /// Its bytes, copies included.
    pub bytes: u64,
    /// What each node of [`TablePicture::nodes`] holds of it.
    pub shares: Vec<Share>,
    /// The nodes of its rows, from the first row to the last.
    pub stretches: Vec<Stretch>,
}

/// Bytes of a column on a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    /// What belongs to rows: codes, texts, marks of NULL.
    pub rows: u64,
    /// What rows are looked up in: dictionary, index, zone map.
    pub lookup: u64,
    /// Copies of either.
    pub copies: u64,
}

impl Share {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.rows + self.lookup + self.copies
    }
}

/// Neighbouring pages of rows with one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The part that the rows belong to.
    pub part: usize,
    /// Pages.
    pub pages: usize,
    /// Their node, or the nodes that they are dealt round.
    pub nodes: Vec<NodeId>,
}

impl Database {
    /// Where a table lies now; `None` when there is no such table. Asks page-socket maps only.
    pub fn picture(&self, table: &str) -> Option<TablePicture> {
        let table = self.catalog.get(table)?;
        let topology = self.machine.topology();
        let nodes: Vec<NodePicture> = (topology.memory_nodes().into_iter())
            .filter_map(|it| {
                let node = &topology.nodes[topology.node_index(it)?];
                let cpus = topology.cpus_of(it).count();
                Some(NodePicture { node: it, socket: node.socket, cpus })
            })
            .collect();
        Some(TablePicture {
            table: table.name.clone(),
            rows: table.rows(),
            bytes: table.memory_bytes(),
            parts: table.partitioning().parts(),
            partitioning: crate::views::partitioning(&table),
            columns: (0..table.columns.len()).map(|it| column(&table, it, &nodes)).collect(),
            nodes,
        })
    }
}

fn column(table: &Arc<Table>, place: usize, nodes: &[NodePicture]) -> ColumnPicture {
    let mut shares = vec![Share::default(); nodes.len()];
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut total = 0;
    let mut components = placed(table);
    components.retain(|it| it.column.index() == place);
    // Plain texts have no codes, and what parts share has no rows.
    let plain = components.iter().any(|it| it.name == "texts");
    let shown = if plain { "texts" } else { "iv" };
    for component in components {
        total += component.segment.bytes() as u64;
        let of_rows = matches!(component.name, "iv" | "texts" | "ends" | "nulls");
        for (node, bytes) in bytes_per_node(component.segment) {
            let Some(index) = nodes.iter().position(|it| it.node == node) else { continue };
            let share = &mut shares[index];
            match (component.replica, of_rows) {
                (Some(_), _) => share.copies += bytes,
                (None, true) => share.rows += bytes,
                (None, false) => share.lookup += bytes,
            }
        }
        let original = component.replica.is_none() && component.name == shown;
        if let Some(part) = component.part.filter(|_| original) {
            for range in component.segment.page_map().ranges() {
                let nodes = match range.location {
                    Location::Node(node) => vec![node],
                    Location::Interleaved { nodes, .. } => nodes,
                };
                stretches.push(Stretch { part, pages: range.pages, nodes });
            }
        }
    }
    let column = &table.columns[place];
    ColumnPicture {
        name: names::shown(&column.name).to_owned(),
        encoding: column.encoding_name(),
        bytes: total,
        shares,
        stretches,
    }
}
