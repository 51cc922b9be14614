//! A whole stored table as the build side of a join: where a row's key is its number plus a constant, or the table keeps its
//! rows by a dense key, as it does where it is cut into parts, the table itself finds it, and its columns are fetched where
//! they are. Nothing is built but a map of the few rows in deltas, and nothing copied.

use memory::Workspace;
use plan::{Expr, ExprKind, HashBuild, Scan};
use stdx::sync::Arc;
use storage::{Column, Part, Replica, Table};
use types::{ColumnId, SqlResult, Value};

use super::build_side::{BuildSide, Copies};
use super::direct::KeyRange;
use super::key::KeyDomain;
use super::row_numbers::{Changes, RowNumbers};
use super::stored::Stored;
use super::table::{Finder, JoinTable};
use crate::scan::{Leaving, leaving_columns, table_shape};
use crate::{Batch, Layout, Sink, Source, State, Team, WorkContext};

/// The table that building would end in.
pub struct InPlace {
    table: Arc<JoinTable>,
    /// The same over copies of its columns, for the workers of some nodes.
    copies: Copies,
    layout: Layout,
}

fn ends(column: &Column) -> Option<(i128, i128)> {
    let end = |it: &Option<Value>| it.as_ref().and_then(Value::as_i128);
    end(&column.statistics.min).zip(end(&column.statistics.max))
}

impl InPlace {
    /// The join table that a build over a scan ends in, if the rows of the scan are all rows of a table that finds them by
    /// this key, and key and payload are columns of it.
    pub fn of(
        scan: &Scan,
        build: &HashBuild,
        table: &Table,
        workspace: &Workspace,
    ) -> Option<SqlResult<Self>> {
        if !scan.filters.is_empty() || !scan.transfers.is_empty() {
            return None;
        }
        let place = |expr: &Expr| -> Option<usize> {
            let ExprKind::Column(place) = expr.kind else { return None };
            let place = scan.output[place];
            // The hidden column of positions is nowhere.
            (scan.columns[place].index() < table.columns.len()).then_some(place)
        };
        let [key] = build.keys.as_slice() else { return None };
        let key = place(key)?;
        let id: ColumnId = scan.columns[key];
        let domain = KeyDomain::of(&table_shape(table, id));
        let dense = table.dense_key(id).filter(|_| matches!(domain, KeyDomain::Integer))?;
        let places: Vec<usize> = build.payload.iter().map(place).collect::<Option<_>>()?;
        let shapes: Layout = scan.columns.iter().map(|it| table_shape(table, *it)).collect();
        let (low, high) = ends(table.column(id))?;
        let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        let falls = usize::from(dense.places.is_some() || table.has_changed());
        let range = KeyRange { min: low, max: high, falls };
        let rows = u32::try_from(table.parts().iter().map(Part::rows).sum::<usize>()).ok()?;
        let over = |copy: Option<&Replica>| {
            let found = Found { scan, table, key, places: &places, shapes: &shapes };
            let (columns, changes) = found.columns(copy);
            let finder = Finder::InPlace(RowNumbers::new(&dense, changes));
            let layout: Layout = places.iter().map(|it| shapes[*it].clone()).collect();
            let payload = columns.into_iter().map(Stored::in_parts).collect();
            let made = JoinTable::of_parts(
                rows,
                domain.clone(),
                range,
                finder,
                payload,
                layout,
                workspace,
            );
            made.map(Arc::new)
        };
        let copy = |it: &Replica| Ok((it.nodes.clone(), over(Some(it))?));
        // Copies are of a part, which is all that was built where there is one.
        let replicas = match dense.places {
            None => table.parts()[0].replicas(),
            Some(_) => &[],
        };
        let copies: SqlResult<Copies> = replicas.iter().map(copy).collect();
        let own = over(None).and_then(|table| Ok((table, copies?)));
        Some(own.map(|(table, copies)| Self { table, copies, layout: Layout::new() }))
    }
}

/// A table that finds its rows, and what is asked of it.
struct Found<'a> {
    scan: &'a Scan,
    table: &'a Table,
    key: usize,
    places: &'a [usize],
    shapes: &'a Layout,
}

/// Of each part how a column leaves a scan, and the number of its first row.
type InParts = Vec<(u32, Leaving)>;

impl Found<'_> {
    /// The columns that are asked for, or a copy of those of the only main, and what has changed since that was built.
    fn columns(&self, copy: Option<&Replica>) -> (Vec<InParts>, Option<Changes>) {
        let mut columns: Vec<InParts> = self.places.iter().map(|_| Vec::new()).collect();
        let (mut changes, mut first) = (Changes::default(), 0);
        let mains = self.table.partitioning().parts();
        for (number, part) in self.table.parts().iter().enumerate() {
            let of_main = copy.filter(|_| number == 0);
            let stored = of_main.map_or(&part.columns[..], |it| &it.columns);
            let leaving = || leaving_columns(self.scan, part, stored, self.shapes).into_iter();
            let mut all: Vec<Option<Leaving>> = leaving().map(Some).collect();
            if number >= mains {
                let keys = all[self.key].as_ref().expect("invariant: nothing was taken yet");
                changes.add_keys(first, part, keys);
            }
            changes.parts.push((first, part.deletions().cloned()));
            for (column, place) in columns.iter_mut().zip(self.places) {
                // A column may be asked for twice.
                let own = all[*place].take().or_else(|| leaving().nth(*place));
                column.push((first, own.expect("invariant: a column of the scan")));
            }
            first += part.rows() as u32;
        }
        (columns, self.table.has_changed().then_some(changes))
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
pub struct LeaveTable(Arc<JoinTable>, Copies);

impl InPlace {
    /// The sink that leaves this table.
    pub fn sink(&self) -> LeaveTable {
        LeaveTable(self.table.clone(), self.copies.clone())
    }
}

impl Sink for LeaveTable {
    fn consume(&self, _: Batch, _: &WorkContext) -> SqlResult<()> {
        Ok(())
    }

    fn finish(&self, _: &dyn Team) -> SqlResult<State> {
        Ok(State::Table(Arc::new(BuildSide::whole(self.0.clone()).with_copies(self.1.clone()))))
    }
}
