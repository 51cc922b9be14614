//! Views of what was read, by the node that ran and the node of the memory.

use arrow_array::RecordBatch;
use execution::Item;
use hardware::NodeId;
use types::{SqlResult, names};

use super::{Columns, ViewBuilder};
use crate::Database;

/// The columns of [`traffic`].
pub(super) const TRAFFIC: Columns =
    &[("item", 't'), ("running_node", 'i'), ("memory_node", 'i'), ("bytes", 'i')];

pub(super) fn traffic(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(TRAFFIC);
    for item in Item::ALL {
        for (running, memory, bytes) in database.traffic.snapshot(item) {
            let nodes = [running, memory].map(|it| u64::from(it.0));
            view.row([item.name().into(), nodes[0].into(), nodes[1].into(), bytes.into()]);
        }
    }
    view.finish()
}

/// The columns of [`item_traffic`].
pub(super) const ITEM_TRAFFIC: Columns = &[
    ("table_name", 't'),
    ("part", 'i'),
    ("column_name", 't'),
    ("running_node", 'i'),
    ("memory_node", 'i'),
    ("bytes_read", 'i'),
    ("component", 't'),
];

/// The same for each column of each part of the tables that there are; what was never read has no row.
pub(super) fn item_traffic(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(ITEM_TRAFFIC);
    let nodes = database.traffic.nodes();
    let number = |it: NodeId| u64::from(it.0);
    for table in database.tables() {
        for read in table.traffic().snapshot(nodes.len()) {
            view.row([
                table.name.as_str().into(),
                (read.part as u64).into(),
                names::shown(&table.columns[read.column].name).into(),
                number(nodes[read.running]).into(),
                number(nodes[read.memory]).into(),
                read.bytes.into(),
                if read.is_lookup { "dictionary" } else { "rows" }.into(),
            ]);
        }
    }
    view.finish()
}
