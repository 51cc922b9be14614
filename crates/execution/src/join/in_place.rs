//! A whole stored table as the build side of a join: where a row's key is its number plus a constant, the table itself
//! finds it, and its columns are fetched where they are. Nothing is built, and nothing copied.

use memory::Workspace;
use plan::{Expr, ExprKind, HashBuild, Scan};
use stdx::sync::Arc;
use storage::{Column, Encoding, Table};
use types::{ColumnId, SqlResult, Value};

use super::build_side::BuildSide;
use super::direct::KeyRange;
use super::key::KeyDomain;
use super::stored::Stored;
use super::table::{Finder, JoinTable};
use crate::scan::decode::shape;
use crate::{Batch, Layout, Sink, Source, State, Team, WorkContext};

/// The table that building would end in.
pub struct InPlace {
    table: Arc<JoinTable>,
    layout: Layout,
}

/// The least key, if the key of each row is that plus the row's number.
fn first_key(column: &Column) -> Option<i64> {
    let statistics = &column.statistics;
    let rows = column.rows() as u64;
    let strictly_rises = statistics.sorted
        && statistics.nulls == 0
        && statistics.distinct_exact
        && statistics.distinct == rows;
    let ends = statistics.min.as_ref().and_then(Value::as_i128);
    let ends = ends.zip(statistics.max.as_ref().and_then(Value::as_i128));
    let (min, max) = ends.filter(|_| strictly_rises && rows > 0 && rows < u64::from(u32::MAX))?;
    let is_offset = matches!(column.encoding, Encoding::Offset { .. });
    (is_offset && max - min + 1 == i128::from(rows)).then(|| i64::try_from(min).ok()).flatten()
}

impl InPlace {
    /// The join table that a build over a scan ends in, if the rows of the scan are all rows of a table that is not cut
    /// into parts, and key and payload are columns of it.
    pub fn of(
        scan: &Scan,
        build: &HashBuild,
        table: &Table,
        workspace: &Workspace,
    ) -> Option<SqlResult<Self>> {
        let [part] = table.parts() else { return None };
        if part.deletions().is_some() {
            return None;
        }
        if !scan.filters.is_empty() || !scan.transfers.is_empty() {
            return None;
        }
        let column = |expr: &Expr| -> Option<&Arc<Column>> {
            let ExprKind::Column(place) = expr.kind else { return None };
            let id: ColumnId = scan.columns[scan.output[place]];
            // None is there for the hidden column of positions.
            let column = part.columns.get(id.index())?;
            Arc::ptr_eq(column, table.column(id)).then_some(column)
        };
        let [key] = build.keys.as_slice() else { return None };
        let key = column(key)?;
        let domain = KeyDomain::of(&shape(key));
        let min = first_key(key).filter(|_| matches!(domain, KeyDomain::Integer))?;
        let columns: Vec<&Arc<Column>> = build.payload.iter().map(column).collect::<Option<_>>()?;
        let layout: Layout = columns.iter().map(|it| shape(it)).collect();
        let payload = columns.into_iter().map(Stored::in_column).collect();
        let rows = key.rows() as u32;
        let max = min + (i64::from(rows) - 1);
        let range = KeyRange { min, max, rising: true };
        let finder = Finder::InPlace { min };
        let table = JoinTable::of_parts(rows, domain, range, finder, payload, layout, workspace);
        Some(table.map(|table| Self { table: Arc::new(table), layout: Layout::new() }))
    }
}

/// No rows at all: they stay where they are.
impl Source for InPlace {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn ranges(&self) -> Vec<scheduler::MorselRange> {
        Vec::new()
    }

    fn morsel_rows(&self) -> u64 {
        storage::BLOCK_ROWS as u64
    }

    fn produce(
        &self,
        _: std::ops::Range<u64>,
        _: &WorkContext,
        _: crate::Next<'_>,
    ) -> SqlResult<()> {
        Ok(())
    }

    fn bytes_read(
        &self,
        _: std::ops::Range<u64>,
        _: hardware::NodeId,
    ) -> Vec<(hardware::NodeId, u64)> {
        Vec::new()
    }

    fn describe(&self) -> String {
        format!("nothing to do: {}", self.table.describe())
    }
}

/// Leaves the table.
pub struct LeaveTable(Arc<JoinTable>);

impl InPlace {
    /// The sink that leaves this table.
    pub fn sink(&self) -> LeaveTable {
        LeaveTable(self.table.clone())
    }
}

impl Sink for LeaveTable {
    fn consume(&self, _: Batch, _: &WorkContext) -> SqlResult<()> {
        Ok(())
    }

    fn finish(&self, _: &dyn Team) -> SqlResult<State> {
        Ok(State::Table(Arc::new(BuildSide::whole(self.0.clone()))))
    }
}
