//! A part of a table: columns of its own, with their own dictionaries, on their own nodes (P-HANA 4.2).

use std::ops::Range;

use hardware::NodeId;
use memory::Segment;
use stdx::sync::Arc;

use crate::row_ids::RowIds;
use crate::{Column, Deletions};

/// Neighbouring rows of a table. A table in one piece has one part, whose columns are those of the table.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its columns, in the order of the table's; shared by versions of the table, as parts are many and change seldom.
    pub columns: Arc<Vec<Arc<Column>>>,
    /// Its number among those that the table is cut into; that of a delta is its main's.
    pub(crate) number: usize,
    pub(crate) rows: usize,
    pub(crate) first: usize,
    pub(crate) deletions: Option<Arc<Deletions>>,
    pub(crate) ids: Arc<RowIds>,
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) translations: Arc<Vec<Option<Translation>>>,
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
    /// A part that begins at a position, all of whose rows are there.
    pub(crate) fn new(
        columns: Vec<Arc<Column>>,
        number: usize,
        first: usize,
        nodes: Vec<NodeId>,
    ) -> Self {
        let rows = columns.first().map_or(0, |it| it.rows());
        let (deletions, translations, replicas) = (None, Arc::default(), Vec::new());
        let columns = Arc::new(columns);
        let ids = Arc::new(RowIds::fresh(rows));
        Self { columns, number, rows, first, deletions, ids, nodes, translations, replicas }
    }

    /// How many rows its columns have, those that have gone among them.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many rows are there.
    pub fn live_rows(&self) -> usize {
        self.rows - self.deletions().map_or(0, |it| it.count())
    }

    /// The rows that have gone, if any have.
    pub fn deletions(&self) -> Option<&Arc<Deletions>> {
        self.deletions.as_ref()
    }

    /// Its number among the parts that the table is cut into. Rows that came after a part was built are in parts of their own,
    /// its deltas, which have its number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Whether a row is there.
    pub(crate) fn is_live(&self, row: usize) -> bool {
        self.deletions().is_none_or(|it| !it.contains(row))
    }

    /// Whether a row that is there holds NULL in a column.
    pub(crate) fn has_null(&self, column: usize) -> bool {
        let column = &self.columns[column];
        let is_null = |row: usize| column.is_null(row) && self.is_live(row);
        column.statistics.nulls > 0 && (self.deletions().is_none() || (0..self.rows).any(is_null))
    }

    /// The same part without some more of its rows.
    pub(crate) fn without(&self, rows: impl Iterator<Item = usize>) -> Self {
        let before = self.deletions.as_deref().cloned().unwrap_or_default();
        let deletions = Some(Arc::new(before.with(rows)));
        Self { deletions, ..self.clone() }
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
