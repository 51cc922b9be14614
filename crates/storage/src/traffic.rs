//! Bytes read of a table, apart by item (a column of a part), by the node that runs and by the node of the memory
//! (docs/design/02-memory-and-placement.md, "traffic").
//!
//! Key decision: the counters belong to the table and not to a map that names tables. Who holds a table counts without
//! looking anything up, a table that has moved shares the counters of the one it was made from, and they go with the last
//! holder of a dropped one. Nodes are positions in the topology's list, as storage needs no other name for them.

use stdx::sync::OnceLock;
use stdx::sync::atomic::{AtomicU64, Ordering};

/// Counters of one running node begin a pair of cache lines of their own, so that nodes do not take them from each
/// other: 16 words of 8 bytes, as processors fetch lines in pairs.
const COUNTERS_ALIGNED: usize = 16;

/// Rows, and values that were looked up.
const KINDS: usize = 2;

/// The counters of a table: zero at first, and rising from then on.
#[derive(Debug, Default)]
pub struct ItemTraffic {
    columns: usize,
    /// Those of each column of each part, of its rows and of its dictionary, made when it is read for the first time.
    items: Vec<OnceLock<Box<[AtomicU64]>>>,
}

/// Bytes that workers of one node have read of an item in the memory of one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItemBytes {
    /// The part, by number.
    pub part: usize,
    /// The column, by number.
    pub column: usize,
    /// The position of the node that ran.
    pub running: usize,
    /// The position of the node of the memory.
    pub memory: usize,
    /// Whether single values were looked up in its dictionary; else rows were read one after the other.
    pub is_lookup: bool,
    /// How many bytes.
    pub bytes: u64,
}

impl ItemTraffic {
    /// Counters for so many parts of so many columns.
    pub(crate) fn new(parts: usize, columns: usize) -> Self {
        Self { columns, items: (0..parts * columns * KINDS).map(|_| OnceLock::new()).collect() }
    }

    /// Whether it counts for a table of that shape.
    pub(crate) fn fits(&self, parts: usize, columns: usize) -> bool {
        self.columns == columns && self.items.len() == parts * columns * KINDS
    }

    /// Counts bytes of a machine with `nodes` nodes, always the same number. What the table does not have is not counted.
    pub fn add(&self, read: ItemBytes, nodes: usize) {
        if read.column >= self.columns || read.running.max(read.memory) >= nodes {
            return;
        }
        let place = (read.part * self.columns + read.column) * KINDS + usize::from(read.is_lookup);
        let Some(item) = self.items.get(place) else { return };
        let stride = nodes.next_multiple_of(COUNTERS_ALIGNED);
        let counters =
            item.get_or_init(|| (0..nodes * stride).map(|_| AtomicU64::new(0)).collect());
        if let Some(counter) = counters.get(read.running * stride + read.memory) {
            counter.fetch_add(read.bytes, Ordering::Relaxed);
        }
    }

    /// All that is not zero, by part, column, running node and memory node.
    pub fn snapshot(&self, nodes: usize) -> Vec<ItemBytes> {
        let stride = nodes.next_multiple_of(COUNTERS_ALIGNED);
        let mut found = Vec::new();
        for (number, item) in self.items.iter().enumerate() {
            let counters = item.get().map_or(&[][..], |it| it);
            for (at, counter) in counters.iter().enumerate() {
                let bytes = counter.load(Ordering::Relaxed);
                if bytes > 0 {
                    let (number, is_lookup) = (number / KINDS, number % KINDS == 1);
                    let (part, column) = (number / self.columns, number % self.columns);
                    let (running, memory) = (at / stride, at % stride);
                    found.push(ItemBytes { part, column, running, memory, is_lookup, bytes });
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_kept_apart_by_item_and_nodes() {
        let traffic = ItemTraffic::new(2, 3);
        assert!(traffic.snapshot(4).is_empty() && traffic.fits(2, 3) && !traffic.fits(3, 2));
        let read = |part, column, running, memory, bytes| ItemBytes {
            part,
            column,
            running,
            memory,
            is_lookup: part == 1 && column == 0,
            bytes,
        };
        let all = [read(0, 2, 1, 3, 5), read(1, 0, 0, 0, 7), read(1, 0, 3, 1, 9)];
        all.iter().for_each(|&it| traffic.add(it, 4));
        traffic.add(read(1, 0, 0, 0, 1), 4);
        let summed = [all[0], read(1, 0, 0, 0, 8), all[2]];
        assert_eq!(traffic.snapshot(4), summed);
        // What is not there cannot be counted, and does no harm.
        for wrong in [read(2, 0, 0, 0, 1), read(0, 3, 0, 0, 1), read(0, 0, 4, 0, 1)] {
            traffic.add(wrong, 4);
        }
        assert_eq!(traffic.snapshot(4), summed);
    }
}
