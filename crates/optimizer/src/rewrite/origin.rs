//! Where an attribute comes from: the stored column of which it is an unchanged value.

use plan::{AggregateFunction, Expr};
use types::ColumnInfo;

use crate::estimate;
use plan::relation::{Attr, Rel, RelJoin, ScanRel, bare};

/// The scan, and its attribute, of which each value of `attr` in the rows of a relation is one. `None` where it is
/// computed, or where an outer join may have made it NULL.
pub(crate) fn of(rel: &Rel, attr: Attr) -> Option<(&ScanRel, Attr)> {
    match rel {
        Rel::Scan(scan) => estimate::column(scan, attr).map(|_| (scan, attr)),
        Rel::Filter { input, .. } | Rel::Sort { input, .. } | Rel::Limit { input, .. } => {
            of(input, attr)
        }
        Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
            Some((_, expr)) => of(input, bare(expr)?),
            None => of(input, attr),
        },
        Rel::Join(join) => {
            let left = of(&join.left, attr).filter(|_| join.kind != RelJoin::Full);
            left.or_else(|| of(&join.right, attr).filter(|_| join.kind == RelJoin::Inner))
        }
        Rel::Aggregate { input, keys, aggregates, .. } => {
            if let Some((_, key)) = keys.iter().find(|it| it.0 == attr) {
                return of(input, bare(key)?);
            }
            let aggregate = &aggregates.iter().find(|it| it.0 == attr)?.1;
            let any =
                aggregate.function == AggregateFunction::AnyValue && aggregate.filter.is_none();
            of(input, bare(aggregate.argument.as_ref().filter(|_| any)?)?)
        }
        // What a window computes is no attribute of its input.
        Rel::Repeat { input, .. } | Rel::Window { input, .. } => of(input, attr),
        Rel::Union { .. } | Rel::Values { .. } | Rel::Shared { .. } | Rel::Apply(_) => None,
    }
}

/// Least and greatest value of a column of integers without NULL.
pub(super) fn ends(column: &ColumnInfo) -> Option<(i128, i128)> {
    let it = &column.statistics;
    if !column.data_type.plain().is_integer() || it.nulls > 0 {
        return None;
    }
    it.min.as_ref()?.as_i128().zip(it.max.as_ref()?.as_i128())
}

/// Whether the keys of a table are all integers from the least to the greatest, each once.
pub(super) fn is_dense(scan: &ScanRel, key: Attr) -> bool {
    let Some((id, column)) = estimate::column(scan, key) else { return false };
    let dense = |(min, max): (i128, i128)| max - min + 1 == i128::from(scan.table.rows);
    scan.table.is_unique(id) && ends(column).is_some_and(dense)
}

/// Whether execution finds rows by a key without a hash table, as it numbers them.
pub(super) fn is_row_number(scan: &ScanRel, key: Attr) -> bool {
    estimate::column(scan, key).is_some_and(|it| it.1.numbers_rows)
}

/// Whether an expression is a column of a relation that never falls from row to row of its table.
pub(crate) fn rises_in(rel: &Rel, expr: &Expr) -> bool {
    bare(expr).and_then(|it| of(rel, it)).is_some_and(|(scan, attr)| rises(scan, attr))
}

/// Whether a column never falls from row to row.
pub(crate) fn rises(scan: &ScanRel, attr: Attr) -> bool {
    estimate::column(scan, attr).is_some_and(|it| it.1.statistics.sorted)
}
