//! Windows of measurements: the difference between two looks at the counters.

use std::collections::BTreeMap;

use execution::Traffic;
use hardware::NodeId;
use placer::{Item, ItemWindow, Window};
use scheduler::Scheduler;
use stdx::Nanos;
use stdx::sync::Arc;
use storage::{BLOCK_ROWS, Partitioning, Table};
use types::ColumnId;

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
    /// Bytes read of the memory of each node.
    items: BTreeMap<Item, Vec<u64>>,
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
                let bytes = items.entry(item).or_insert_with(|| vec![0; nodes.len()]);
                bytes[read.memory] += read.bytes;
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
                let read = self.read_since(before, item);
                items.push(ItemWindow { item, nodes, bytes, read, is_demanded });
            }
        }
        items
    }

    /// Counters begin anew when a table is cut in another way.
    fn read_since(&self, before: &Self, item: Item) -> Vec<u64> {
        let Some(now) = self.items.get(&item) else { return vec![0; self.busy.len()] };
        let earlier = |node: usize| before.items.get(&item).map_or(0, |it| it[node]);
        now.iter().enumerate().map(|(node, &it)| it.saturating_sub(earlier(node))).collect()
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
