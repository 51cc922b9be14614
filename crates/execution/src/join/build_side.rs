//! The finished build side of a join: a table over all its rows or, where both sides are cut alike by their keys, one for
//! each part, on the node of the part ([`crate::co_location`]), or one for each node, where rows go to the node of their
//! key ([`crate::exchange`]).
//!
//! - Invariant: a row's number counts the rows of the parts before its own, so that numbers mean the same for both.

use hardware::NodeId;
use stdx::sync::Arc;

use types::SqlResult;

use super::JoinTable;
use super::spilled::SpilledBuild;
use crate::{Layout, Team, Vector};

/// The tables of a join.
pub struct BuildSide {
    parts: Vec<PartTable>,
    /// The rows, where there was no memory for them; then the only table holds none.
    spilled: Option<Arc<SpilledBuild>>,
    /// Where each table is of a node: a table without rows, by which keys are read before it is known which of them they are
    /// looked up in.
    router: Option<PartTable>,
    /// The same table over copies of what is stored, for the workers of some nodes.
    copies: Vec<(Vec<NodeId>, PartTable)>,
}

/// Tables over copies of what is stored, and the nodes that have them.
pub(super) type Copies = Vec<(Vec<NodeId>, Arc<JoinTable>)>;

/// The table of a part, or of all rows.
pub(super) struct PartTable {
    pub(super) table: Arc<JoinTable>,
    /// The node that it lies on; none where it is spread.
    pub(super) home: Option<NodeId>,
    /// The number of its first row.
    pub(super) first: u32,
}

impl PartTable {
    /// The only one.
    fn of(table: Arc<JoinTable>) -> Self {
        Self { table, home: None, first: 0 }
    }
}

impl BuildSide {
    /// One table for all rows.
    pub fn whole(table: Arc<JoinTable>) -> Self {
        let (spilled, router, copies) = (None, None, Vec::new());
        Self { parts: vec![PartTable::of(table)], spilled, router, copies }
    }

    /// The same with tables over copies, by the nodes whose workers look there.
    pub(super) fn with_copies(mut self, copies: Copies) -> Self {
        let copy = |(nodes, table): (Vec<NodeId>, Arc<JoinTable>)| {
            let home = if let [node] = nodes[..] { Some(node) } else { None };
            (nodes, PartTable { home, ..PartTable::of(table) })
        };
        self.copies = copies.into_iter().map(copy).collect();
        self
    }

    /// The tables over copies, with their nodes.
    pub(super) fn copies(&self) -> &[(Vec<NodeId>, PartTable)] {
        &self.copies
    }

    /// Rows in files.
    pub(super) fn in_files(build: SpilledBuild, team: &dyn Team) -> SqlResult<Self> {
        let none = Self::whole(Arc::new(build.table_of_none(team)?));
        Ok(Self { spilled: Some(Arc::new(build)), ..none })
    }

    /// The rows that are in files.
    pub(super) fn spilled(&self) -> Option<&Arc<SpilledBuild>> {
        self.spilled.as_ref()
    }

    /// A table for each part, in their order, with its node.
    pub(super) fn in_parts(tables: Vec<(JoinTable, Option<NodeId>)>) -> Self {
        let mut first = 0;
        let part = |(table, home): (JoinTable, Option<NodeId>)| {
            let part = PartTable { first, home, table: Arc::new(table) };
            first += part.table.rows;
            part
        };
        let (spilled, router, copies) = (None, None, Vec::new());
        Self { parts: tables.into_iter().map(part).collect(), spilled, router, copies }
    }

    /// A table for each node, which a row finds by the hash of its keys; `none` is one of none of the rows.
    pub(super) fn by_node(tables: Vec<(JoinTable, Option<NodeId>)>, none: JoinTable) -> Self {
        Self { router: Some(PartTable::of(Arc::new(none))), ..Self::in_parts(tables) }
    }

    /// The table by which keys are read, where each table is of a node.
    pub(super) fn router(&self) -> Option<&PartTable> {
        self.router.as_ref()
    }

    /// The tables with their places.
    pub(super) fn parts(&self) -> &[PartTable] {
        &self.parts
    }

    /// Whether each part has its table.
    pub fn is_in_parts(&self) -> bool {
        self.parts.len() > 1 && self.router.is_none()
    }

    /// The tables in which the rows of a part find their partners; none while they are in files.
    pub fn of_part(&self, part: usize) -> Vec<&Arc<JoinTable>> {
        let tables = match (&self.spilled, self.is_in_parts()) {
            (Some(_), _) => &[],
            (None, true) => &self.parts[part..=part],
            (None, false) => &self.parts[..],
        };
        tables.iter().map(|it| &it.table).collect()
    }

    /// All tables; none while rows are in files.
    pub fn tables(&self) -> Vec<&Arc<JoinTable>> {
        let tables = if self.spilled.is_some() { &[] } else { &self.parts[..] };
        tables.iter().map(|it| &it.table).collect()
    }

    /// Whether rows are found by one key.
    pub fn has_one_key(&self) -> bool {
        self.parts[0].table.domains.len() == 1
    }

    /// How many rows all tables hold.
    pub fn rows(&self) -> usize {
        let tables = || self.parts.iter().map(|it| it.table.rows()).sum();
        self.spilled.as_ref().map_or_else(tables, |it| it.rows())
    }

    /// The layout of what is stored of each row.
    pub fn layout(&self) -> &Layout {
        self.parts[0].table.layout()
    }

    /// One column of what is stored, for the rows with these numbers, as a worker of a node reads it.
    pub(super) fn gather(&self, column: usize, rows: &[u32], reader: NodeId) -> Arc<Vector> {
        if let [only] = &self.parts[..] {
            let copy = self.copies.iter().find(|it| it.0.contains(&reader));
            return copy.map_or(only, |it| &it.1).table.gather(column, rows, false);
        }
        let part_of = |row: u32| self.parts.partition_point(|it| it.first <= row) - 1;
        // Of batches of one part, which groups in parts hand on, nothing need be put together.
        let (low, high) =
            rows.iter().fold((u32::MAX, 0), |(low, high), &row| (low.min(row), high.max(row)));
        if low <= high && part_of(low) == part_of(high) {
            let PartTable { table, first, .. } = &self.parts[part_of(low)];
            let rows: Vec<u32> = rows.iter().map(|row| row - first).collect();
            return table.gather(column, &rows, false);
        }
        let mut by_part: Vec<Vec<u32>> = vec![Vec::new(); self.parts.len()];
        let mut places: Vec<(usize, u32)> = Vec::with_capacity(rows.len());
        for &row in rows {
            let part = part_of(row);
            places.push((part, by_part[part].len() as u32));
            by_part[part].push(row - self.parts[part].first);
        }
        let gather = |(part, rows): (&PartTable, Vec<u32>)| part.table.gather(column, &rows, false);
        let found: Vec<Arc<Vector>> = self.parts.iter().zip(by_part).map(gather).collect();
        let rows = places.iter().map(|&(part, place)| (&*found[part], place));
        Arc::new(Vector::collect(&self.layout()[column], rows))
    }

    /// In words, for EXPLAIN ANALYZE.
    pub fn describe(&self) -> String {
        if let Some(spilled) = &self.spilled {
            return spilled.describe();
        }
        match &self.parts[..] {
            [only] => only.table.describe(),
            parts => {
                let most = parts.iter().max_by_key(|it| it.table.rows());
                let structure = most.map_or("", |it| it.table.structure());
                let kind = match &self.router {
                    Some(_) => "nodes by key",
                    None => "parts on their nodes",
                };
                format!("{} {kind}, {structure}, {} rows", parts.len(), self.rows())
            }
        }
    }
}
