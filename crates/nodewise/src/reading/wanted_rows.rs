//! The rows of a file that a query may want, as its conditions say before the file is read.
//!
//! - Invariant: only conditions count that every row must pass for the query to see it, wherever the query reads the file.

use std::cmp::Ordering;
use std::ops::Bound;

use plan::relation::{JoinRel, Query, Rel, RelJoin, ScanRel, bare};
use plan::{BinaryOperator, Expr, ExprKind};
use storage::{ColumnBounds, WantedRows};
use types::{DataType, TableId, Value};

/// The rows of a table that a bound query may want.
pub(crate) fn wanted_rows(query: &Query, table: TableId) -> WantedRows {
    let mut wanted = WantedRows::none();
    let mut queries = vec![query];
    while let Some(query) = queries.pop() {
        queries.extend(query.recursions.iter().flat_map(|it| [&it.first, &it.step]));
        let scalars = query.scalars.iter().map(|it| &it.rel);
        for rel in scalars.chain(&query.shared).chain([&query.root]) {
            add_reads(rel, table, &mut wanted);
        }
    }
    wanted
}

/// Adds the reads of a table below a relation.
fn add_reads(rel: &Rel, table: TableId, wanted: &mut WantedRows) {
    // Relations, each with conditions that all rows have to pass that come out of it.
    let mut open: Vec<(&Rel, Vec<&Expr>)> = vec![(rel, Vec::new())];
    while let Some((rel, mut asked)) = open.pop() {
        match rel {
            Rel::Scan(scan) if scan.table.id == table => {
                asked.extend(&scan.filters);
                wanted.reads.push(bounds_of(scan, asked));
            }
            Rel::Filter { input, predicates } => {
                asked.extend(predicates);
                open.push((input, asked));
            }
            Rel::Map { input, .. } | Rel::Sort { input, limit: None, offset: 0, .. } => {
                open.push((input, asked));
            }
            Rel::Join(join) => {
                let JoinRel { kind, left, right, residual, .. } = &**join;
                match kind {
                    RelJoin::Inner => {
                        asked.extend(residual);
                        open.push((left, asked.clone()));
                        open.push((right, asked));
                    }
                    RelJoin::Left | RelJoin::Semi | RelJoin::Anti | RelJoin::Mark => {
                        open.push((left, asked));
                        open.push((right, Vec::new()));
                    }
                    RelJoin::Full => open.extend([(left, Vec::new()), (right, Vec::new())]),
                }
            }
            Rel::Apply(apply) => {
                // Whatever its kind, a row comes out with the values of a row of the left.
                open.push((&apply.left, asked));
                open.push((&apply.right, Vec::new()));
            }
            other => open.extend(other.inputs().into_iter().map(|it| (it, Vec::new()))),
        }
    }
}

/// What conditions say of the columns of a scan.
fn bounds_of(scan: &ScanRel, mut asked: Vec<&Expr>) -> Vec<ColumnBounds> {
    let mut bounds = Vec::new();
    while let Some(expr) = asked.pop() {
        if let ExprKind::Binary { operator: BinaryOperator::And, left, right } = &expr.kind {
            asked.extend([&**left, &**right]);
            continue;
        }
        let Some((column, low, high)) = range_of(expr) else { continue };
        let place = bare(column).and_then(|it| it.checked_sub(scan.base));
        let Some(info) = place.and_then(|it| scan.table.columns.get(it)) else { continue };
        bounds.push(ColumnBounds { column: info.name.clone(), low, high });
    }
    bounds
}

/// What a comparison with a constant says of its other side.
fn range_of(expr: &Expr) -> Option<(&Expr, Bound<Value>, Bound<Value>)> {
    use Bound::{Excluded, Included, Unbounded};
    match &expr.kind {
        ExprKind::Binary { operator, left, right } => {
            let (operator, column, value) = match (constant(left), constant(right)) {
                (None, Some(value)) => (*operator, left, value),
                (Some(value), None) => (operator.mirrored(), right, value),
                _ => return None,
            };
            let (low, high) = match operator {
                BinaryOperator::Equal => (Included(value.clone()), Included(value.clone())),
                BinaryOperator::Less => (Unbounded, Excluded(value.clone())),
                BinaryOperator::LessEqual => (Unbounded, Included(value.clone())),
                BinaryOperator::Greater => (Excluded(value.clone()), Unbounded),
                BinaryOperator::GreaterEqual => (Included(value.clone()), Unbounded),
                _ => return None,
            };
            Some((column, low, high))
        }
        ExprKind::InList { operand, list, negated: false } => {
            // What compares with none, as NULL does, leaves the list without bounds.
            let best = |wanted: Ordering| {
                list.iter().try_fold(list.first()?, |best, it| {
                    Some(if it.compare(best)? == wanted { it } else { best })
                })
            };
            let (low, high) = (best(Ordering::Less)?, best(Ordering::Greater)?);
            Some((operand, Included(low.clone()), Included(high.clone())))
        }
        _ => None,
    }
}

/// A constant that compares by its value alone: CHAR disregards blanks at the end.
fn constant(expr: &Expr) -> Option<&Value> {
    match &expr.kind {
        ExprKind::Literal(value) if !value.is_null() => {
            (!matches!(expr.data_type, DataType::Char(_))).then_some(value)
        }
        _ => None,
    }
}
