//! Windows of measurements: the difference between two looks at the counters.

use std::collections::BTreeMap;

use execution::Traffic;
use hardware::NodeId;
use placer::{Item, ItemWindow, Lookups, Window};
use scheduler::Scheduler;
use stdx::Nanos;
use stdx::sync::Arc;
use storage::{BLOCK_ROWS, ItemBytes, Part, Partitioning, Table};
use types::ColumnId;

use super::cut::{can_be_cut, is_mapped};

/// Where the counters are.
pub(super) struct Sources<'a> {
    pub(super) scheduler: &'a Scheduler,
    pub(super) traffic: &'a Traffic,
    pub(super) tables: Vec<Arc<Table>>,
}

/// The counters at one moment. Vectors are in the order of the topology's nodes.
#[derive(Default)]
pub(crate) struct Measured {
    at: Nanos,
    /// Time in morsels of the workers of each node, and how many workers.
    busy: Vec<(Nanos, u64)>,
    items: BTreeMap<Item, ItemReads>,
}

/// Bytes read of an item.
#[derive(Clone, Default)]
struct ItemReads {
    /// Of the memory of each node.
    by_node: Vec<u64>,
    /// Of these, values that were looked up in dictionaries.
    looked_up: u64,
    /// What CPUs of other nodes have read of rows, and have looked up.
    remote_rows: u64,
    remote_lookups: u64,
}

impl ItemReads {
    fn new(nodes: usize) -> Self {
        Self { by_node: vec![0; nodes], ..Self::default() }
    }

    fn add(&mut self, read: &ItemBytes) {
        self.by_node[read.memory] += read.bytes;
        let remote = if read.running == read.memory { 0 } else { read.bytes };
        match read.is_lookup {
            true => {
                (self.looked_up, self.remote_lookups) =
                    (self.looked_up + read.bytes, self.remote_lookups + remote)
            }
            false => self.remote_rows += remote,
        }
    }

    /// Counters begin anew when a table is cut in another way.
    fn since(&self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self.clone() };
        let pairs = self.by_node.iter().zip(&before.by_node);
        Self {
            by_node: pairs.map(|it| it.0.saturating_sub(*it.1)).collect(),
            looked_up: self.looked_up.saturating_sub(before.looked_up),
            remote_rows: self.remote_rows.saturating_sub(before.remote_rows),
            remote_lookups: self.remote_lookups.saturating_sub(before.remote_lookups),
        }
    }
}

impl Measured {
    /// The counters now.
    pub(crate) fn now(sources: &Sources<'_>) -> Self {
        let nodes = sources.traffic.nodes();
        let mut busy = vec![(Nanos(0), 0); nodes.len()];
        for worker in sources.scheduler.stats().workers {
            let place = nodes.iter().position(|it| *it == worker.node);
            if let Some(node) = place.map(|it| &mut busy[it]) {
                *node = (node.0 + worker.busy, node.1 + u64::from(!worker.extra));
            }
        }
        let mut items = BTreeMap::new();
        for table in &sources.tables {
            for read in table.traffic().snapshot(nodes.len()) {
                let item = item_of(table, read.part, read.column);
                let reads = items.entry(item).or_insert_with(|| ItemReads::new(nodes.len()));
                reads.add(&read);
            }
        }
        Self { at: sources.scheduler.machine().now(), busy, items }
    }

    /// When it was.
    pub(crate) fn at(&self) -> Nanos {
        self.at
    }

    /// What was done since an earlier moment, and where everything lies now; not what is free.
    pub(crate) fn window_since(&self, before: &Self, sources: &Sources<'_>) -> Window {
        let span = Nanos((self.at - before.at).0.max(1));
        let share = |(now, before): (&(Nanos, u64), &(Nanos, u64))| {
            let all = span.0 as f64 * now.1.max(1) as f64;
            ((now.0 - before.0).0 as f64 / all).min(1.0)
        };
        let busy = self.busy.iter().zip(&before.busy).map(share).collect();
        let items = sources.tables.iter().flat_map(|it| self.items_of(it, before)).collect();
        Window { at: self.at, span, busy, free: Vec::new(), items }
    }

    /// Everything since the database was opened, as if it had run without a pause: the busiest node has been busy all the
    /// time.
    pub(crate) fn as_one_window(&self, sources: &Sources<'_>) -> Window {
        let each = |it: &(Nanos, u64)| it.0.0 / it.1.max(1);
        let span = Nanos(self.busy.iter().map(each).max().unwrap_or(0).max(1));
        let start = Self {
            at: Nanos(self.at.0.saturating_sub(span.0)),
            busy: self.busy.iter().map(|it| (Nanos(0), it.1)).collect(),
            items: BTreeMap::new(),
        };
        Window { span, ..self.window_since(&start, sources) }
    }

    fn items_of(&self, table: &Arc<Table>, before: &Self) -> Vec<ItemWindow> {
        let mut items: Vec<ItemWindow> = Vec::new();
        let table_bytes = can_be_cut(table).then(|| table.memory_bytes());
        for part in 0..table.partitioning().parts() {
            for column in 0..table.columns.len() {
                let item = item_of(table, part, column);
                let (nodes, bytes) = place_of(table, part, column);
                let is_demanded = table.preference().is_demanded(column, part);
                // The columns of a part are one item, which is where the greatest of them is.
                if let Some(known) = items.last_mut().filter(|it| it.item == item) {
                    if bytes > known.bytes {
                        known.nodes = nodes;
                    }
                    known.bytes += bytes;
                    known.is_demanded |= is_demanded;
                    continue;
                }
                let now = self.items.get(&item);
                let reads = now.map(|it| it.since(before.items.get(&item)));
                let reads = reads.unwrap_or_else(|| ItemReads::new(self.busy.len()));
                let lookups = Lookups { table_bytes, ..lookups_of(table, item, &reads) };
                let most_nodes = table.parts()[part].rows().div_ceil(BLOCK_ROWS).max(1);
                let read = reads.by_node;
                items.push(ItemWindow {
                    item,
                    nodes,
                    bytes,
                    read,
                    is_demanded,
                    lookups,
                    most_nodes,
                });
            }
        }
        items
    }
}

/// What was looked up of an item, and what a copy of it takes. A part is on the node of its readers: it is not copied.
fn lookups_of(table: &Table, item: Item, reads: &ItemReads) -> Lookups {
    let part = &table.parts()[item.part];
    let gone = |it: &Part| (it.rows() - it.live_rows()) as u64;
    let rows = table.parts().iter().map(|it| it.rows() as u64).sum::<u64>();
    let version = rows << 32 ^ table.parts().iter().map(gone).sum::<u64>();
    let shape = item.column.map(|it| table.copy_shape(it.index(), item.part));
    let has_rows = shape.is_some_and(|it| it.has_rows);
    let remote = reads.remote_lookups + if has_rows { reads.remote_rows } else { 0 };
    Lookups {
        bytes: reads.looked_up,
        remote,
        copy_bytes: shape.filter(|_| !is_mapped(table)).map(|it| it.bytes),
        has_copies: !part.replicas().is_empty(),
        table_bytes: None,
        version,
    }
}

/// What a column of a part is placed with: alone, or with its part.
fn item_of(table: &Table, part: usize, column: usize) -> Item {
    let column = match table.partitioning() {
        Partitioning::None => Some(ColumnId(column as u16)),
        _ => None,
    };
    Item { table: table.id, part, column }
}

/// The nodes of the rows of a column in the order of the rows, by the first row of each block, and its bytes in all.
pub(super) fn place_of(table: &Table, part: usize, column: usize) -> (Vec<NodeId>, u64) {
    let column = &table.parts()[part].columns[column];
    let mut nodes = Vec::new();
    for node in (0..column.rows()).step_by(BLOCK_ROWS).filter_map(|it| column.node_of_row(it)) {
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    (nodes, column.memory_bytes())
}
