//! WITH RECURSIVE inside of a query whose columns it uses: other rows for each row around.
//!
//! Key decision: it is computed once all the same, for all the values around that there are. These values are a table that nobody has
//! stored ([`Around`]); both terms are joined to it, so that each row carries the values that it was made for, and who reads the rows
//! takes those of the row around. The optimizer finds the values where it takes the dependent join out, as it does for any other
//! subquery (Neumann and Kemper, BTW 2015).

use plan::Expr;
use plan::relation::{Apply, Around, Attr, Query, RecursiveQuery, Rel, ScanRel};
use stdx::sync::Arc;
use types::{SqlError, SqlResult, TableInfo};

use super::level::apply;
use super::recursive_rows::RecursiveRows;
use super::{Answer, Binder, OutputColumn, is_repeatable, mapped};

impl Binder<'_> {
    /// The rows of a recursive query, for the values of the row around.
    pub(super) fn recursive_rows(&mut self, rows: &RecursiveRows) -> Answer {
        let base = self.attributes.len();
        for column in &rows.table.columns {
            self.attribute(column.data_type, true);
        }
        let named = rows.table.columns[..rows.own()].iter().enumerate();
        let columns = named.map(|(place, it)| OutputColumn::made(&it.name, base + place));
        Answer { rel: rows.read(base), columns: columns.collect() }
    }

    /// Adds a recursive query to those of the statement, with all that it depends on of the queries around. `query` has no
    /// [`RecursiveQuery::around`] yet.
    pub(super) fn depending(&mut self, mut query: RecursiveQuery) -> SqlResult<RecursiveRows> {
        let mut free = query.first.root.free_attrs();
        free.union_with(&query.step.root.free_attrs());
        let around: Vec<Attr> = free.iter().collect();
        let table = query.table.clone();
        if around.is_empty() {
            self.recursions.push(query);
            return Ok(RecursiveRows { table, around });
        }
        // It is computed for each of the values around once, and not for each row.
        if ![&query.first, &query.step].into_iter().all(is_repeatable_query) {
            let what = "a volatile recursive query that depends on the query around it";
            return Err(SqlError::unsupported(what));
        }
        let types: Vec<_> = around.iter().map(|it| self.attributes[*it].data_type).collect();
        let values = types.iter().enumerate().map(|it| (format!("value {}", it.0 + 1), *it.1));
        let values: Vec<_> = values.collect();
        let outside = self.unstored(&format!("values around {}", table.name), &values);
        let own = table.columns.iter().map(|it| (it.name.clone(), it.data_type));
        let all: Vec<_> = own.chain(values).collect();
        let carrying = |of: Arc<TableInfo>| RecursiveRows { table: of, around: around.clone() };
        let rows = carrying(self.unstored(&table.name, &all));
        let seen = query.seen.map(|id| (id, carrying(self.unstored(&table.name, &all))));
        carry(&mut query.first, &outside, &rows, &[]);
        let read = [Some((table.id, rows.clone())), seen.clone()];
        let read: Vec<_> = read.into_iter().flatten().collect();
        let is_read =
            |it: &Rel| matches!(it, Rel::Scan(scan) if read.iter().any(|it| it.0 == scan.table.id));
        for shared in &query.step.shared {
            let mut reads = false;
            shared.visit(&mut |it| reads |= is_read(it));
            if reads {
                let what = "a MATERIALIZED query over the rows of a recursive one that depends on the query around it";
                return Err(SqlError::unsupported(what));
            }
        }
        carry(&mut query.step, &outside, &rows, &read);
        query.table = rows.table.clone();
        query.seen = seen.map(|it| it.1.table.id);
        query.around = Some(Around { table: outside.id, values: around.len() });
        self.recursions.push(query);
        Ok(rows)
    }
}

/// Computes a term for all values around, with these behind its own columns. `read`: tables in whose place it reads others.
fn carry(
    term: &mut Query,
    outside: &Arc<TableInfo>,
    rows: &RecursiveRows,
    read: &[(types::TableId, RecursiveRows)],
) {
    let Query { attributes, root, output, .. } = term;
    let mut columns = |of: &TableInfo| {
        let base = attributes.len();
        let of_column = |it: &types::ColumnInfo| plan::relation::Attribute {
            data_type: it.data_type,
            nullable: true,
        };
        attributes.extend(of.columns.iter().map(of_column));
        base
    };
    root.visit_mut(&mut |rel| {
        let Rel::Scan(scan) = rel else { return };
        let Some((_, other)) = read.iter().find(|it| it.0 == scan.table.id) else { return };
        let (old, base) = (scan.base, columns(&other.table));
        let renamed = other.table.columns[..other.own()].iter().enumerate();
        let renamed =
            renamed.map(|(place, it)| (old + place, Expr::column(base + place, it.data_type)));
        *rel = mapped(other.read(base), renamed.collect());
    });
    let base = columns(outside);
    let scan =
        ScanRel { table: outside.clone(), base, filters: Vec::new(), rows: outside.rows as f64 };
    let values = rows.around.iter().zip(&outside.columns).enumerate();
    let values =
        values.map(|(place, (attr, it))| (*attr, Expr::column(base + place, it.data_type)));
    let values = mapped(Rel::Scan(scan), values.collect());
    // Whatever is known of them where they come from.
    rows.around.iter().for_each(|it| attributes[*it].nullable = true);
    *root = apply(values, root.take(), Apply::Join { outer: false, on: Vec::new() });
    let carried = rows.around.iter().zip(&outside.columns);
    output.extend(carried.map(|(attr, it)| OutputColumn::made(&it.name, *attr).into()));
}

/// Whether a term has the same rows each time that it is computed.
fn is_repeatable_query(term: &Query) -> bool {
    term.shared.iter().chain([&term.root]).all(|it| it.all_expressions(&mut is_repeatable))
}
