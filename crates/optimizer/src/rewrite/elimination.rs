//! Joins that neither keep rows out nor add a column that anybody wants are left out: of a foreign key whose values are
//! all keys of the other table, as the exact statistics of both prove.

use plan::Expr;

use super::origin;
use crate::estimate;
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, ScanRel, bare};

/// Leaves out such joins where a consumer wants these attributes only.
pub(super) fn drop_idle_joins(rel: &mut Rel, required: &AttrSet) {
    let mut below = required.clone();
    match rel {
        Rel::Scan(_) | Rel::Values { .. } | Rel::Shared { .. } | Rel::Apply(_) => {}
        Rel::Repeat { input, count, number, items } => {
            number.iter().for_each(|it| below.remove(*it));
            items.iter().for_each(|it| below.remove(it.0));
            below.insert(*count);
            items.iter().for_each(|it| below.insert(it.1));
            drop_idle_joins(input, &below);
        }
        Rel::Limit { input, .. } => drop_idle_joins(input, required),
        Rel::Filter { input, predicates } => {
            predicates.iter().for_each(|it| below.add_expr(it));
            drop_idle_joins(input, &below);
        }
        Rel::Map { input, exprs } => {
            exprs.iter().for_each(|it| below.remove(it.0));
            let needed = exprs.iter().filter(|it| required.contains(it.0));
            needed.for_each(|it| below.add_expr(&it.1));
            drop_idle_joins(input, &below);
        }
        Rel::Aggregate { input, keys, aggregates, .. } => {
            let mut below = AttrSet::default();
            keys.iter().for_each(|it| below.add_expr(&it.1));
            for (_, it) in aggregates.iter().filter(|it| required.contains(it.0)) {
                it.expressions().for_each(|it| below.add_expr(it));
            }
            drop_idle_joins(input, &below);
        }
        Rel::Sort { input, partition, keys, .. } => {
            partition.iter().for_each(|it| below.insert(*it));
            keys.iter().for_each(|it| below.add_expr(&it.expr));
            drop_idle_joins(input, &below);
        }
        Rel::Window { input, partition, keys, functions } => {
            partition.iter().for_each(|it| below.insert(*it));
            keys.iter().for_each(|it| below.add_expr(&it.expr));
            for (attr, it) in functions {
                below.remove(*attr);
                if required.contains(*attr) {
                    it.expressions().for_each(|it| below.add_expr(it));
                }
            }
            drop_idle_joins(input, &below);
        }
        Rel::Union { inputs, output } => {
            for (input, attrs) in inputs {
                let wanted = output.iter().zip(attrs).filter(|it| required.contains(*it.0));
                drop_idle_joins(input, &wanted.map(|it| *it.1).collect());
            }
        }
        Rel::Join(_) => drop_join(rel, required),
    }
}

fn drop_join(rel: &mut Rel, required: &AttrSet) {
    let Rel::Join(join) = rel else { return };
    let Some(idle) = Idle::of(join, required) else {
        let mut below = required.clone();
        for (left, right) in &join.keys {
            below.add_expr(left);
            below.add_expr(right);
        }
        join.residual.iter().for_each(|it| below.add_expr(it));
        drop_idle_joins(&mut join.left, &below);
        drop_idle_joins(&mut join.right, &below);
        return;
    };
    let mut kept = if idle.is_right { join.left.take() } else { join.right.take() };
    let mut below = required.clone();
    below.remove(idle.key);
    if required.contains(idle.key) {
        below.insert(idle.reference.0);
    }
    drop_idle_joins(&mut kept, &below);
    *rel = match required.contains(idle.key) {
        true => Rel::Map { input: Box::new(kept), exprs: vec![(idle.key, idle.reference.1)] },
        false => kept,
    };
}

/// A whole table in a join of which every row of the other side has exactly one partner.
struct Idle {
    is_right: bool,
    /// Its key.
    key: Attr,
    /// What equals the key on the other side.
    reference: (Attr, Expr),
}

impl Idle {
    fn of(join: &JoinRel, required: &AttrSet) -> Option<Self> {
        let [(left, right)] = join.keys.as_slice() else { return None };
        if !join.residual.is_empty() || join.null_aware {
            return None;
        }
        let on_right = matches!(join.kind, RelJoin::Inner | RelJoin::Semi)
            .then(|| Self::side(&join.right, right, &join.left, left, required, true))
            .flatten();
        on_right.or_else(|| {
            let inner = join.kind == RelJoin::Inner;
            inner.then(|| Self::side(&join.left, left, &join.right, right, required, false))?
        })
    }

    fn side(
        table: &Rel,
        key: &Expr,
        other: &Rel,
        reference: &Expr,
        required: &AttrSet,
        is_right: bool,
    ) -> Option<Self> {
        let scan = whole(table)?;
        let (attr, reference_attr) = (bare(key)?, bare(reference)?);
        let own = table.attrs();
        let only_key = required.iter().all(|it| it == attr || !own.contains(it));
        if !only_key || key.data_type != reference.data_type {
            return None;
        }
        let (from, origin) = origin::of(other, reference_attr)?;
        let (min, max) = origin::ends(estimate::column(scan, attr)?.1)?;
        let (first, last) = origin::ends(estimate::column(from, origin)?.1)?;
        let partner = origin::is_dense(scan, attr) && min <= first && last <= max;
        partner.then(|| Self {
            is_right,
            key: attr,
            reference: (reference_attr, reference.clone()),
        })
    }
}

/// The scan that a relation has all rows of.
fn whole(rel: &Rel) -> Option<&ScanRel> {
    match rel {
        Rel::Scan(scan) => scan.filters.is_empty().then_some(scan),
        Rel::Map { input, .. } => whole(input),
        _ => None,
    }
}
