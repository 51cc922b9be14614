//! The values that recursive queries depend on ([`Around`]): where a dependent join is taken out whose right side reads the rows of one
//! for values of its left side, these are the values that it must be computed for.

use plan::relation::{Around, AttrSet, Output, Query, Rel, bare};
use plan::{BinaryOperator, Expr, ExprKind};
use types::{SqlError, SqlResult, TableId};

use super::expressions::has_volatile;
use super::state::Unnesting;
use super::{deferred, prune};
use crate::Outsides;

/// A recursive query that is read: its table, what it depends on, and the values that its rows are read for.
type Reading = (TableId, Around, Vec<Expr>);

impl Unnesting {
    /// Keeps what the left side of a dependent join, which needs nothing from outside, gives to recursive queries in the right one.
    ///
    /// Errors: 0A000 where it may be another one each time that it is computed.
    pub(super) fn look_around(&mut self, left: &Rel, right: &Rel) -> SqlResult<()> {
        if self.outsides.of.is_empty() {
            return Ok(());
        }
        let offered = left.attrs();
        for (table, around, values) in readings(&self.outsides.of, right) {
            let is_offered = values.iter().all(|it| AttrSet::of(it).is_subset(&offered));
            // Who reads it already has values that were found further out.
            if !is_offered || reads(left, table) {
                continue;
            }
            if has_volatile(left) {
                let what = "a recursive query that depends on a volatile query around it";
                return Err(SqlError::unsupported(what));
            }
            self.outsides.found.push((around.table, left.clone(), values));
        }
        Ok(())
    }

    /// Tells what was found, each as a query of its own.
    pub(super) fn tell(&mut self, outsides: &mut Outsides) -> SqlResult<()> {
        let mut found = std::mem::take(&mut self.outsides.found);
        while let Some((table, ..)) = found.first() {
            let table = *table;
            let (of_table, others) = found.into_iter().partition(|it| it.0 == table);
            found = others;
            let query = self.distinct_values(of_table);
            outsides.find(table, query)?;
        }
        Ok(())
    }

    /// The distinct values of some relations.
    fn distinct_values(&mut self, of: Vec<(TableId, Rel, Vec<Expr>)>) -> Query {
        let mut inputs = Vec::with_capacity(of.len());
        for (_, input, values) in of {
            let (input, copied) = plan::relation::fresh_copy(&input, &mut self.attributes);
            let mut exprs = Vec::with_capacity(values.len());
            for mut value in values {
                value.map_columns(&mut |it| copied.get(&it).copied().unwrap_or(it));
                exprs.push((self.attribute(value.data_type, true), value));
            }
            let attrs: Vec<_> = exprs.iter().map(|it| it.0).collect();
            inputs.push((Rel::Map { input: Box::new(input), exprs }, attrs));
        }
        let (input, attrs) = match inputs.len() {
            1 => inputs.remove(0),
            _ => {
                let types: Vec<_> =
                    inputs[0].1.iter().map(|it| self.attributes[*it].data_type).collect();
                let output: Vec<_> = types.iter().map(|it| self.attribute(*it, true)).collect();
                (Rel::Union { inputs, output: output.clone() }, output)
            }
        };
        let keys = attrs.iter().map(|it| (*it, self.column(*it))).collect();
        let (input, aggregates) = (Box::new(input), Vec::new());
        let mut root = Rel::Aggregate { input, keys, aggregates, rows: 0.0 };
        self.expand_null_safe(&mut root);
        let mut query = Query {
            attributes: self.attributes.clone(),
            scalars: self.scalars.clone(),
            shared: self.shared.clone(),
            root,
            output: attrs.iter().map(|it| Output::unnamed(*it)).collect(),
            recursions: Vec::new(),
        };
        deferred::defer(&mut query, self.bound);
        prune::prune(&mut query);
        query
    }
}

/// The recursive queries that a relation reads for values, each once for the same ones.
fn readings(wanted: &[(TableId, Around)], rel: &Rel) -> Vec<Reading> {
    let mut scans = Vec::new();
    rel.visit(&mut |it| {
        if let Rel::Scan(scan) = it
            && let Some((table, around)) = wanted.iter().find(|it| it.0 == scan.table.id)
        {
            scans.push((*table, *around, scan.base + scan.table.columns.len() - around.values));
        }
    });
    let mut all: Vec<Reading> = Vec::new();
    for (table, around, first) in scans {
        let mut values = vec![None; around.values];
        rel.visit_expressions(&mut |it| {
            if let ExprKind::Binary { operator: BinaryOperator::IsNotDistinctFrom, left, right } =
                &it.kind
                && let Some(attr) = bare(left)
                && let Some(value) = attr.checked_sub(first).and_then(|it| values.get_mut(it))
            {
                *value = Some((**right).clone());
            }
        });
        let Some(values) = values.into_iter().collect::<Option<Vec<_>>>() else { continue };
        if !all.iter().any(|it| it.0 == table && it.2 == values) {
            all.push((table, around, values));
        }
    }
    all
}

/// Whether a relation scans a table.
fn reads(rel: &Rel, table: TableId) -> bool {
    let mut reads = false;
    rel.visit(&mut |it| reads |= matches!(it, Rel::Scan(scan) if scan.table.id == table));
    reads
}
