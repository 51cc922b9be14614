//! Each operator: where its rows are when those of its inputs are somewhere, and what has to be fetched for it.
//!
//! `wanted` are the attributes that somebody above uses. `pending` are conjuncts that are tested above: rows for which they do
//! not hold may be left out, so that a join whose equality is in a WHERE is known to be one of equal keys.

use plan::relation::{Attr, AttrSet, Rel, ScanRel, bare, substitute};
use plan::{Expr, SortKey};
use types::{ColumnId, SqlError, SqlResult};

use super::aggregate;
use super::join::{Sides, joined};
use super::place::{Place, Placed, about, conjuncts, equal_to};
use super::state::{Splitter, fetch};

/// Says where the rows of a relation are, and has fetched what must be.
pub(super) fn place(
    this: &mut Splitter<'_>,
    rel: Rel,
    wanted: &AttrSet,
    pending: &[Expr],
) -> SqlResult<Placed> {
    this.interrupt.check()?;
    let mut below = rel.used();
    below.union_with(wanted);
    match rel {
        Rel::Scan(scan) => scanned(this, scan),
        Rel::Filter { input, predicates } => {
            let predicates = conjuncts(predicates);
            let pending = [pending, &predicates].concat();
            let Placed { rel, place } = place(this, *input, &below, &pending)?;
            Ok(Placed { rel: rel.filtered(predicates), place })
        }
        Rel::Map { input, exprs } => {
            let names = names(&exprs);
            let mut pending = pending.to_vec();
            pending.iter_mut().for_each(|it| substitute(it, &names));
            let Placed { rel, place } = place(this, *input, &below, &pending)?;
            let place = named(place, &names);
            Ok(Placed { rel: Rel::Map { input: Box::new(rel), exprs }, place })
        }
        Rel::Join(mut join) => {
            let sides = Sides::of(&join, pending);
            let inputs = [join.left.take(), join.right.take()];
            let wanted = inputs.each_ref().map(|it| {
                let mut attrs = it.attrs();
                attrs.retain_in(&below);
                attrs
            });
            let [left, right] = inputs;
            let left = place(this, left, &wanted[0], &sides.pending[0])?;
            let right = place(this, right, &wanted[1], &sides.pending[1])?;
            Ok(joined(this, *join, [left, right], &wanted, &sides))
        }
        Rel::Aggregate { input, keys, aggregates, rows } => {
            let asked = aggregate::below(&keys, &aggregates, pending);
            let placed = place(this, *input, &asked.0, &asked.1)?;
            Ok(aggregate::aggregate(this, placed, (keys, aggregates, rows), &asked))
        }
        Rel::Sort { input, partition, keys, offset, limit } => {
            let order = Order { partition, keys, offset, limit };
            sorted(this, *input, order, &below, pending)
        }
        Rel::Limit { input, offset, limit } => {
            let placed = place(this, *input, &below, &[])?;
            Ok(limited(this, placed, &below, (offset, limit)))
        }
        Rel::Window { input, partition, keys, functions } => {
            let own: AttrSet = partition.iter().copied().collect();
            let placed = place(this, *input, &below, &about(pending, &own))?;
            let Placed { rel, place } = by_group(this, placed, &own, &below, pending);
            let input = Box::new(rel);
            Ok(Placed { rel: Rel::Window { input, partition, keys, functions }, place })
        }
        Rel::Union { inputs, output } => united(this, inputs, output),
        Rel::Values { .. } => Ok(Placed { rel, place: Place::Everywhere }),
        Rel::Repeat { input, count, number, items } => {
            let Placed { rel, place } = place(this, *input, &below, &[])?;
            Ok(Placed { rel: Rel::Repeat { input: Box::new(rel), count, number, items }, place })
        }
        Rel::Shared { id, output, .. } => Ok(this.reader(id, output)),
        Rel::Apply(_) => Err(SqlError::internal("a dependent join was left")),
    }
}

/// The attributes among new ones that are other names of known ones.
fn names(exprs: &[(Attr, Expr)]) -> Vec<(Attr, Expr)> {
    exprs.iter().filter(|it| bare(&it.1).is_some()).cloned().collect()
}

/// A place whose keys have these names, too.
fn named(mut place: Place, names: &[(Attr, Expr)]) -> Place {
    if let Place::Parts(keys) = &mut place {
        let of_key = |it: &&(Attr, Expr)| bare(&it.1).is_some_and(|of| keys.contains(of));
        let more: Vec<Attr> = names.iter().filter(of_key).map(|it| it.0).collect();
        more.into_iter().for_each(|it| keys.insert(it));
    }
    place
}

fn scanned(this: &Splitter<'_>, scan: ScanRel) -> SqlResult<Placed> {
    let key = this.sharding.key(scan.table.id);
    let key = key.ok_or_else(|| SqlError::internal("a scan of no table of the shards"))?;
    let place = match key {
        Some(ColumnId(key)) => Place::Parts([scan.base + usize::from(key)].into_iter().collect()),
        None => Place::Everywhere,
    };
    Ok(Placed { rel: Rel::Scan(scan), place })
}

/// What looks at groups of rows, a group being those that share some attributes.
fn by_group(
    this: &mut Splitter<'_>,
    placed: Placed,
    by: &AttrSet,
    wanted: &AttrSet,
    pending: &[Expr],
) -> Placed {
    match placed.place {
        Place::Parts(keys) => {
            let mut common = equal_to(&keys, &about(pending, by));
            common.retain_in(by);
            if !common.is_empty() {
                return Placed { rel: placed.rel, place: Place::Parts(keys) };
            }
            let placed = Placed { rel: placed.rel, place: Place::Parts(keys) };
            let rel = fetch(this, placed, wanted, &about(pending, by));
            Placed { rel, place: Place::Here }
        }
        // Rows that are alike in the order come as they come.
        place => Placed { rel: placed.rel, place: place.unsteady() },
    }
}

/// What [`Rel::Sort`] says beside its input.
struct Order {
    partition: Vec<Attr>,
    keys: Vec<SortKey>,
    offset: u64,
    limit: Option<u64>,
}

fn sorted(
    this: &mut Splitter<'_>,
    input: Rel,
    order: Order,
    wanted: &AttrSet,
    pending: &[Expr],
) -> SqlResult<Placed> {
    let Order { partition, keys, offset, limit } = order;
    let drops = offset > 0 || limit.is_some();
    let sort = |rel: Rel, partition: &[Attr], offset, limit| {
        let (input, partition, keys) = (Box::new(rel), partition.to_vec(), keys.clone());
        Rel::Sort { input, partition, keys, offset, limit }
    };
    let own: AttrSet = partition.iter().copied().collect();
    let below = if drops { about(pending, &own) } else { pending.to_vec() };
    let placed = place(this, input, wanted, &below)?;
    if !partition.is_empty() {
        let Placed { rel, place } = by_group(this, placed, &own, wanted, pending);
        return Ok(Placed { rel: sort(rel, &partition, offset, limit), place });
    }
    let Placed { mut rel, place } = placed;
    let place = match place {
        Place::Parts(of) => {
            if let Some(first) = first_rows(offset, limit) {
                rel = sort(rel, &[], 0, Some(first));
            }
            let placed = Placed { rel, place: Place::Parts(of) };
            rel = fetch(this, placed, wanted, if drops { &[] } else { pending });
            Place::Here
        }
        other if drops => other.unsteady(),
        other => other,
    };
    Ok(Placed { rel: sort(rel, &[], offset, limit), place })
}

fn limited(
    this: &mut Splitter<'_>,
    placed: Placed,
    wanted: &AttrSet,
    (offset, limit): (u64, Option<u64>),
) -> Placed {
    let Placed { mut rel, place } = placed;
    let place = match place {
        Place::Parts(of) => {
            if let Some(first) = first_rows(offset, limit) {
                rel = Rel::Limit { input: Box::new(rel), offset: 0, limit: Some(first) };
            }
            rel = fetch(this, Placed { rel, place: Place::Parts(of) }, wanted, &[]);
            Place::Here
        }
        other => other.unsteady(),
    };
    Placed { rel: Rel::Limit { input: Box::new(rel), offset, limit }, place }
}

/// How many rows of each shard are among the first of all at most.
fn first_rows(offset: u64, limit: Option<u64>) -> Option<u64> {
    limit?.checked_add(offset)
}

fn united(
    this: &mut Splitter<'_>,
    inputs: Vec<(Rel, Vec<Attr>)>,
    output: Vec<Attr>,
) -> SqlResult<Placed> {
    let mut placed = Vec::with_capacity(inputs.len());
    for (rel, attrs) in inputs {
        let wanted = attrs.iter().copied().collect();
        placed.push((place(this, rel, &wanted, &[])?, attrs));
    }
    let are_whole = placed.iter().all(|it| it.0.place.is_whole());
    let are_parts = placed.iter().all(|it| matches!(it.0.place, Place::Parts(_)));
    let is_steady = placed.iter().all(|it| matches!(it.0.place, Place::Everywhere));
    let place = if is_steady {
        Place::Everywhere
    } else if are_whole {
        Place::Anywhere
    } else if are_parts {
        let is_key = |column: usize| {
            placed.iter().all(|(it, attrs)| match &it.place {
                Place::Parts(keys) => keys.contains(attrs[column]),
                _ => false,
            })
        };
        let keys = output.iter().enumerate().filter(|it| is_key(it.0)).map(|it| *it.1);
        Place::Parts(keys.collect())
    } else {
        Place::Here
    };
    let inputs = placed
        .into_iter()
        .map(|(it, attrs)| match place {
            Place::Here => {
                let wanted = attrs.iter().copied().collect();
                (fetch(this, it, &wanted, &[]), attrs)
            }
            _ => (it.rel, attrs),
        })
        .collect();
    Ok(Placed { rel: Rel::Union { inputs, output }, place })
}
