//! What a query asks of recursive ones, which are tables to it, and what these ask of it.

use plan::relation::{Around, Query, RecursiveQuery, Rel};
use stdx::sync::Arc;
use types::{SqlError, SqlResult, TableId, TableInfo};

/// The values on which recursive queries depend of those around them ([`Around`]): found by unnesting, which takes the dependent joins
/// out that give them.
#[derive(Default)]
pub struct Outsides {
    /// Those that are looked for, each with the table that has them behind its own columns.
    wanted: Vec<(Arc<TableInfo>, Around)>,
    /// The recursive query whose terms are looked at: it reads its own rows for the values that it was given.
    own: Option<TableId>,
    /// Those that were found, as a query that gives each combination once.
    found: Vec<(TableId, Query)>,
}

impl Outsides {
    /// All that recursive queries depend on.
    pub(crate) fn of(queries: &[RecursiveQuery]) -> Self {
        let wanted = |it: &RecursiveQuery| Some((it.table.clone(), it.around?));
        let wanted = queries.iter().filter_map(wanted).collect();
        Self { wanted, own: None, found: Vec::new() }
    }

    /// Says that a term of a recursive query is looked at from here on.
    pub(crate) fn enter(&mut self, own: TableId) {
        self.own = Some(own);
    }

    /// What is looked for, each with the table that has it.
    pub(crate) fn all(&self) -> Vec<(TableId, Around)> {
        let others = self.wanted.iter().filter(|it| Some(it.0.id) != self.own);
        others.map(|it| (it.0.id, it.1)).collect()
    }

    /// Whether nothing is looked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Says what gives the values of a table.
    ///
    /// Errors: 0A000 where another query does, too.
    pub(crate) fn find(&mut self, table: TableId, query: Query) -> SqlResult<()> {
        if self.found.iter().any(|it| it.0 == table) {
            let what = "a recursive query that depends on the query around it and is read by several others";
            return Err(SqlError::unsupported(what));
        }
        self.found.push((table, query));
        Ok(())
    }
}

/// The recursive queries with those that give what they depend on, each behind those whose rows it scans.
///
/// Errors: 0A000 where there is no such order: the rows around are made of the rows of the query.
pub(crate) fn in_order(
    queries: Vec<(RecursiveQuery, Option<u64>)>,
    outsides: Outsides,
) -> SqlResult<Vec<(RecursiveQuery, Option<u64>)>> {
    if outsides.is_empty() {
        return Ok(queries);
    }
    let mut left = queries;
    for (id, first) in outsides.found {
        let Some((table, _)) = outsides.wanted.iter().find(|it| it.1.table == id) else { continue };
        let name = format!("values around {}", table.name);
        let table =
            Arc::new(TableInfo { id, name, columns: Vec::new(), rows: table.rows, is_guess: true });
        let mut step = first.clone();
        let output: Vec<_> = step.output.iter().map(|it| it.attr).collect();
        (step.scalars, step.shared) = (Vec::new(), Vec::new());
        step.root = Rel::Values { output, rows: Vec::new() };
        left.push((RecursiveQuery { table, seen: None, first, step, around: None }, None));
    }
    let mut made: Vec<TableId> = left.iter().map(|it| it.0.table.id).collect();
    // Also those that nothing was found for: who scans them has no place in the order.
    made.extend(outsides.wanted.iter().map(|it| it.1.table));
    let mut order: Vec<(RecursiveQuery, Option<u64>)> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_done = |own: &RecursiveQuery, id: TableId| {
            id == own.table.id || !made.contains(&id) || order.iter().any(|it| it.0.table.id == id)
        };
        let is_ready = |it: &(RecursiveQuery, Option<u64>)| {
            let scanned = scanned(&it.0.first).into_iter().chain(scanned(&it.0.step));
            scanned.into_iter().all(|id| is_done(&it.0, id))
        };
        let Some(next) = left.iter().position(is_ready) else {
            let what = "a recursive query that depends so on the query around it";
            return Err(SqlError::unsupported(what));
        };
        order.push(left.remove(next));
    }
    Ok(order)
}

/// The tables that a query scans.
fn scanned(query: &Query) -> Vec<TableId> {
    let mut tables = Vec::new();
    let scalars = query.scalars.iter().map(|it| &it.rel);
    for rel in [&query.root].into_iter().chain(&query.shared).chain(scalars) {
        rel.visit(&mut |it| {
            if let Rel::Scan(scan) = it {
                tables.push(scan.table.id);
            }
        });
    }
    tables
}

/// How many rows of a recursive query are enough for a query: it reads them once, and takes the first it gets (LIMIT).
pub(crate) fn enough(query: &Query, table: TableId) -> Option<u64> {
    let (mut scans, mut wanted) = (0, None);
    let own = [&query.root].into_iter().chain(&query.shared);
    let others = query.recursions.iter().flat_map(|it| [&it.first, &it.step]);
    let others = others.flat_map(|it| [&it.root].into_iter().chain(&it.shared));
    for rel in own.chain(others) {
        rel.visit(&mut |it| match it {
            Rel::Scan(scan) if scan.table.id == table => scans += 1,
            Rel::Limit { input, offset, limit: Some(limit) } if is_all_of(input, table) => {
                wanted = offset.checked_add(*limit);
            }
            _ => {}
        });
    }
    // The recursive term itself reads it, too.
    let is_own = query.recursions.iter().any(|it| it.table.id == table);
    wanted.filter(|_| scans == 1 + usize::from(is_own))
}

/// Whether a relation has the rows of a table, no more and no less.
fn is_all_of(rel: &Rel, table: TableId) -> bool {
    match rel {
        Rel::Scan(scan) => scan.table.id == table && scan.filters.is_empty(),
        Rel::Map { input, .. } => is_all_of(input, table),
        _ => false,
    }
}
