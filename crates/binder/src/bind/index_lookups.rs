//! Conditions on expressions that an index is of read the column that holds their values ([`crate::index_words`]), so that the
//! index, zones and statistics of that find the rows.
//!
//! Where the index has the rows of a WHERE alone, the same must stand beside the condition: of all other rows the column is NULL.
//! Only conditions on rows as the table has them are looked at: an outer join makes other values of a row that it extends.

use plan::relation::{Rel, RelJoin, ScanRel, split_conjunction};
use plan::{Expr, ExprKind};
use stdx::sync::Arc;
use types::{SqlResult, TableId, TableInfo, names};

use super::level::{Clause, Level, one_row};
use super::scope::{Columns, Frame, Relation};
use super::{Binder, Environment};
use crate::index_words;

/// What an index is of: an expression over the columns of its table, numbered from 0.
struct Item {
    expr: Expr,
    /// What holds of the rows that it has.
    conditions: Vec<Expr>,
    /// The column that holds the values.
    place: usize,
}

/// The items of the tables of a query.
type Known = Vec<(TableId, Vec<Item>)>;

impl Binder<'_> {
    /// Puts the columns of indexes in the place of their expressions.
    pub(super) fn use_items<'a>(
        rels: impl Iterator<Item = &'a mut Rel>,
        environment: &Environment<'_>,
    ) -> SqlResult<()> {
        let mut known = Known::new();
        for rel in rels {
            let mut tables: Vec<Arc<TableInfo>> = Vec::new();
            rel.visit(&mut |it| {
                if let Rel::Scan(ScanRel { table, .. }) = it
                    && table.columns.iter().any(|it| names::is_hidden(&it.name))
                {
                    tables.push(table.clone());
                }
            });
            for table in &tables {
                if !known.iter().any(|it| it.0 == table.id) {
                    known.push((table.id, items_of(table, environment)?));
                }
            }
            if !tables.is_empty() {
                rel.visit_mut(&mut |it| {
                    if let Rel::Filter { input, predicates } = it {
                        in_filter(input, predicates, &known);
                    }
                });
            }
        }
        Ok(())
    }
}

/// What the indexes of a table are of.
fn items_of(table: &Arc<TableInfo>, environment: &Environment<'_>) -> SqlResult<Vec<Item>> {
    let mut items = Vec::new();
    let Some(rules) = environment.catalog.row_rules(table.id) else { return Ok(items) };
    for (place, column) in table.columns.iter().enumerate() {
        let text = rules.defaults.get(place).and_then(Option::as_ref);
        let Some(text) = text.filter(|_| names::is_hidden(&column.name)) else { continue };
        let expression = crate::parse::expression(text)?;
        let (item, condition) = index_words::parts(&expression);
        let mut binder = Binder::new(environment, &[]);
        for column in &table.columns {
            binder.attribute(column.data_type, column.may_be_null(table.rows));
        }
        let (name, schema) = (Some(names::bare(&table.name)), None);
        let columns = Columns::Table(table.clone(), 0, None);
        let level = Level::new(
            Frame::of(Relation { schema, ..Relation::of(name, columns) }),
            one_row(),
            Clause::Where,
        );
        let mut conditions = Vec::new();
        let bound = binder.in_level(level, |this| {
            if let Some(it) = condition {
                split_conjunction(this.condition(it)?, &mut conditions);
            }
            this.expr(item)
        });
        // What cannot be bound for a reader is no help to it.
        let Ok((expr, _)) = bound else { continue };
        // A column that holds them in another way may hold other values.
        if expr.data_type == column.data_type {
            items.push(Item { expr, conditions, place });
        }
    }
    Ok(items)
}

/// Rewrites the conditions of a filter.
fn in_filter(input: &Rel, predicates: &mut [Expr], known: &Known) {
    let mut scans = Vec::new();
    scans_below(input, &mut scans);
    for ScanRel { table, base, .. } in scans {
        let items = known.iter().filter(|it| it.0 == table.id).flat_map(|it| &it.1);
        for item in items {
            let shifted = |it: &Expr| {
                let mut it = it.clone();
                it.map_columns(&mut |attr| attr + base);
                it
            };
            let conditions: Vec<Expr> = item.conditions.iter().map(shifted).collect();
            if !conditions.iter().all(|it| predicates.contains(it)) {
                continue;
            }
            let (of, column) =
                (shifted(&item.expr), Expr::column(base + item.place, item.expr.data_type));
            let others = predicates.iter_mut().filter(|it| !conditions.contains(it));
            others.for_each(|it| replace(it, &of, &column));
        }
    }
}

/// The scans whose rows a relation has as they are.
fn scans_below<'r>(rel: &'r Rel, scans: &mut Vec<&'r ScanRel>) {
    match rel {
        Rel::Scan(scan) => scans.push(scan),
        Rel::Filter { input, .. } | Rel::Map { input, .. } => scans_below(input, scans),
        Rel::Apply(apply) => scans_below(&apply.left, scans),
        Rel::Join(join) => match join.kind {
            RelJoin::Inner => {
                scans_below(&join.left, scans);
                scans_below(&join.right, scans);
            }
            RelJoin::Left | RelJoin::Semi | RelJoin::Anti | RelJoin::Mark => {
                scans_below(&join.left, scans);
            }
            RelJoin::Full => {}
        },
        _ => {}
    }
}

fn replace(expr: &mut Expr, of: &Expr, column: &Expr) {
    if expr == of && !matches!(of.kind, ExprKind::Literal(_)) {
        *expr = column.clone();
        return;
    }
    for child in expr.children_mut() {
        replace(child, of, column);
    }
}
