//! What the placer is told: what was read and who was busy in a stretch of time.

use hardware::NodeId;
use stdx::Nanos;
use types::{ColumnId, TableId};

/// What is placed as one: a column of a table, or a part of a table with all its columns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Item {
    /// The table.
    pub table: TableId,
    /// The part, by number; 0 of a table in one piece.
    pub part: usize,
    /// The column; `None` for the part as a whole.
    pub column: Option<ColumnId>,
}

/// An item during a window.
#[derive(Clone, PartialEq, Debug)]
pub struct ItemWindow {
    /// Which one.
    pub item: Item,
    /// The nodes that hold its rows, from the first row to the last.
    pub nodes: Vec<NodeId>,
    /// What would be copied if all of it moved.
    pub bytes: u64,
    /// Bytes read of the memory of each node, in the order of the topology's nodes.
    pub read: Vec<u64>,
    /// Whether a user has said where it lies.
    pub is_demanded: bool,
    /// What of the bytes read were single values, and what can be done for them.
    pub lookups: Lookups,
    /// The most nodes over which its rows can be split.
    pub most_nodes: usize,
}

/// What was read of an item beside its rows one after the other, and what can be made of the item for that.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lookups {
    /// Bytes of its dictionary that were looked up, value by value.
    pub bytes: u64,
    /// Bytes of what a copy has (the dictionary; all of a small item) that CPUs of other nodes than its own have read.
    pub remote: u64,
    /// Bytes of a copy; `None` where none can be made.
    pub copy_bytes: Option<u64>,
    /// Whether there are copies.
    pub has_copies: bool,
    /// Bytes of its table, if that is in one piece, has a key and no column that a user has placed: it can be cut into
    /// parts (PP).
    pub table_bytes: Option<u64>,
    /// Another number when rows have come or gone.
    pub version: u64,
}

/// A stretch of time. Vectors are in the order of the topology's nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Window {
    /// Its end, by the machine's time.
    pub at: Nanos,
    /// Its length.
    pub span: Nanos,
    /// The share of their time in which the workers of each node ran morsels, from 0 to 1.
    pub busy: Vec<f64>,
    /// Bytes of each node that a move to it may take; empty if that is not known, then nothing is kept on nodes without
    /// CPUs.
    pub free: Vec<u64>,
    /// Every item, also those that nobody has read.
    pub items: Vec<ItemWindow>,
}
