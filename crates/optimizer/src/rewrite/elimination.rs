//! Joins that neither keep rows out nor add a column that anybody wants are left out: of a foreign key whose values are
//! all keys of the other table, as the exact statistics of both prove. Others make no pairs ([`repetitions`]).

use plan::properties::is_volatile;
use plan::{Aggregate, Expr};

use super::{origin, repetitions};
use crate::estimate;
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, ScanRel, bare};

/// What a consumer wants of a relation.
#[derive(Clone)]
pub(super) struct Wanted {
    /// These attributes alone.
    pub attrs: AttrSet,
    /// Whether it tells a row from several equal ones.
    pub counts: bool,
}

/// Leaves out such joins where a consumer wants no more than this.
pub(super) fn drop_idle_joins(rel: &mut Rel, wanted: &Wanted, attributes: &mut Vec<Attribute>) {
    let required = &wanted.attrs;
    drop_unwanted(rel, required);
    let counts = repetitions::counts_input(rel, wanted.counts);
    let of = |attrs: AttrSet| Wanted { attrs, counts };
    let mut below = required.clone();
    match rel {
        Rel::Scan(_) | Rel::Values { .. } | Rel::Shared { .. } | Rel::Apply(_) => {}
        Rel::Repeat { input, count, number, items } => {
            number.iter().for_each(|it| below.remove(*it));
            items.iter().for_each(|it| below.remove(it.0));
            below.insert(*count);
            items.iter().for_each(|it| below.insert(it.1));
            drop_idle_joins(input, &of(below), attributes);
        }
        Rel::Limit { input, .. } => drop_idle_joins(input, &of(below), attributes),
        Rel::Filter { input, predicates } => {
            predicates.iter().for_each(|it| below.add_expr(it));
            drop_idle_joins(input, &of(below), attributes);
        }
        Rel::Map { input, exprs } => {
            exprs.iter().for_each(|it| below.remove(it.0));
            exprs.iter().for_each(|it| below.add_expr(&it.1));
            drop_idle_joins(input, &of(below), attributes);
        }
        Rel::Aggregate { input, keys, aggregates, .. } => {
            let mut below = AttrSet::default();
            keys.iter().for_each(|it| below.add_expr(&it.1));
            for (_, it) in aggregates {
                it.expressions().for_each(|it| below.add_expr(it));
            }
            drop_idle_joins(input, &of(below), attributes);
        }
        Rel::Sort { input, partition, keys, .. } => {
            partition.iter().for_each(|it| below.insert(*it));
            keys.iter().for_each(|it| below.add_expr(&it.expr));
            drop_idle_joins(input, &of(below), attributes);
        }
        Rel::Window { input, partition, keys, functions } => {
            partition.iter().for_each(|it| below.insert(*it));
            keys.iter().for_each(|it| below.add_expr(&it.expr));
            for (attr, it) in functions {
                below.remove(*attr);
                it.expressions().for_each(|it| below.add_expr(it));
            }
            drop_idle_joins(input, &of(below), attributes);
        }
        Rel::Union { inputs, output } => {
            let is_last = output.iter().all(|it| !required.contains(*it));
            let kept: Vec<bool> = (output.iter().enumerate())
                .map(|(place, it)| required.contains(*it) || is_last && place == 0)
                .collect();
            keep(output, &kept);
            for (input, attrs) in inputs {
                keep(attrs, &kept);
                drop_idle_joins(input, &of(attrs.iter().copied().collect()), attributes);
            }
        }
        Rel::Join(_) => drop_join(rel, wanted, attributes),
    }
}

fn keep(attrs: &mut Vec<Attr>, kept: &[bool]) {
    let mut kept = kept.iter();
    attrs.retain(|_| kept.next().is_some_and(|it| *it));
}

/// Leaves out what is computed for nobody, which may be of columns that are not there any more.
fn drop_unwanted(rel: &mut Rel, required: &AttrSet) {
    match rel {
        Rel::Map { exprs, .. } => {
            exprs.retain(|it| required.contains(it.0) || is_volatile(&it.1));
        }
        Rel::Aggregate { keys, aggregates, .. } => {
            let is_wanted = |it: &(Attr, Aggregate)| {
                required.contains(it.0) || it.1.expressions().any(is_volatile)
            };
            // A group of no key and no aggregate would be none.
            if !keys.is_empty() || aggregates.iter().any(is_wanted) {
                aggregates.retain(is_wanted);
            }
        }
        Rel::Window { input, functions, .. } => {
            functions
                .retain(|(attr, it)| required.contains(*attr) || it.expressions().any(is_volatile));
            if functions.is_empty() {
                *rel = input.take();
                drop_unwanted(rel, required);
            }
        }
        _ => {}
    }
}

fn drop_join(rel: &mut Rel, wanted: &Wanted, attributes: &mut Vec<Attribute>) {
    let Rel::Join(join) = rel else { return };
    let required = &wanted.attrs;
    let Some(idle) = Idle::of(join, required) else {
        if !wanted.counts {
            repetitions::without_pairs(join, required, attributes);
        }
        let mut below = required.clone();
        for (left, right) in &join.keys {
            below.add_expr(left);
            below.add_expr(right);
        }
        join.residual.iter().for_each(|it| below.add_expr(it));
        let (left, right) = repetitions::counts_sides(join, wanted.counts);
        drop_idle_joins(&mut join.left, &Wanted { attrs: below.clone(), counts: left }, attributes);
        drop_idle_joins(&mut join.right, &Wanted { attrs: below, counts: right }, attributes);
        return;
    };
    let mut kept = if idle.is_right { join.left.take() } else { join.right.take() };
    let mut below = required.clone();
    below.remove(idle.key);
    if required.contains(idle.key) {
        below.insert(idle.reference.0);
    }
    drop_idle_joins(&mut kept, &Wanted { attrs: below, counts: wanted.counts }, attributes);
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
