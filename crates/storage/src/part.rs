//! A part of a table: columns of its own, with their own dictionaries, on their own nodes (P-HANA 4.2).

use std::ops::Range;

use hardware::NodeId;
use memory::Segment;
use stdx::sync::Arc;

use crate::Column;

/// Neighbouring rows of a table. A table in one piece has one part, whose columns are those of the table.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its columns, in the order of the table's.
    pub columns: Vec<Arc<Column>>,
    pub(crate) rows: usize,
    pub(crate) first: usize,
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) translations: Vec<Option<Translation>>,
    pub(crate) replicas: Vec<Replica>,
}

/// Copies of the columns of a part (or of their dictionaries) for the workers of some nodes.
#[derive(Clone, Debug)]
pub struct Replica {
    /// The nodes that read it.
    pub nodes: Vec<NodeId>,
    /// The columns, in the order of the part's. Those that are not copied are the part's own.
    pub columns: Vec<Arc<Column>>,
}

/// From the codes of a part's dictionary to those of the table's.
#[derive(Clone, Debug)]
pub struct Translation {
    pub(crate) segment: Arc<Segment>,
    pub(crate) len: usize,
}

impl Translation {
    /// The code of the table for each code of the part, ascending.
    #[inline]
    pub fn codes(&self) -> &[u32] {
        &self.segment.as_slice()[..self.len]
    }

    /// The memory behind it, for its place.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }
}

impl Part {
    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The positions of its rows in the table: they begin at a multiple of [`crate::BLOCK_ROWS`], so that no block
    /// belongs to two parts, and parts are apart by the rest of the last block.
    pub fn positions(&self) -> Range<usize> {
        self.first..self.first + self.rows
    }

    /// The place it was given; none in a table in one piece, whose columns go where they are best.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// How codes of a column become those of the table's column; `None` where they are the same.
    pub fn translation(&self, column: usize) -> Option<&Translation> {
        self.translations.get(column)?.as_ref()
    }

    /// Its copies for the workers of other nodes.
    pub fn replicas(&self) -> &[Replica] {
        &self.replicas
    }
}
