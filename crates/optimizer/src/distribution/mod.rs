//! A query cut into what several engines answer, each over its shard, and what a coordinator makes of their rows (P-MONET
//! section 2, NUMA_Distr; docs/design/14-coordinator.md).
//!
//! Key decision: the bound relations are cut, not the text: where the rows of a relation are follows from what its operators do,
//! from the scans up (`place`). An operator that can work on the rows of each shard alone stays there; below the first that
//! cannot the rows are fetched, grouped as far as they can be, and from there on the coordinator works. So every query has
//! an answer, and a cut that was not found costs time alone.
//!
//! Reading order: `state` (steps), `place` (where rows are), `cut` (each operator), `join`, `aggregate`.
//!
//! - Invariant: what a shard computes on its own is never asked for from a table that has other rows elsewhere, unless the
//!   union of what all shards compute is the whole.
//! - Invariant: what two engines may answer differently (LIMIT without a whole order, `string_agg` without one) is computed
//!   by one of them, once.
//! - Refused (0A000): volatile functions, WITH RECURSIVE, and tables that the shards do not have.

mod aggregate;
mod cut;
mod join;
mod place;
mod state;

use plan::properties::is_volatile;
use plan::relation::{Output, Part, Query, Rel};
use types::{Interrupt, SqlError, SqlResult};

pub use state::{At, Gives, Sharding, Step};

use cut::place;
use place::Place;
use state::{Splitter, fetch};

/// Cuts a query into steps: each runs once those before it have run, and the last gives the answer.
///
/// # Errors
/// 0A000 for what cannot be answered by shards, naming it.
pub fn distribute(
    query: Query,
    sharding: &Sharding,
    interrupt: &Interrupt,
) -> SqlResult<Vec<Step>> {
    if !check(&query, sharding)? {
        // Any shard has all that it asks for.
        return Ok(vec![Step { at: At::OneShard, gives: Gives::Answer, query }]);
    }
    let mut query = query;
    forget_statistics(&mut query);
    crate::unnest::unnest(&mut query, &mut crate::Outsides::default(), interrupt)?;
    let parts = query.parts();
    let output: Vec<_> = query.output.iter().map(|it| it.attr).collect();
    let mut this = Splitter::new(&mut query, sharding, interrupt);
    for part in parts {
        match part {
            Part::Scalar(number) => {
                let scalar = this.scalar(number);
                let placed =
                    place(&mut this, scalar.rel, &[scalar.attr].into_iter().collect(), &[])?;
                this.last(placed, Gives::Scalar(number), vec![Output::unnamed(scalar.attr)]);
            }
            Part::Shared(id) => shared(&mut this, id)?,
        }
    }
    let root = place(&mut this, query.root, &output.into_iter().collect(), &[])?;
    this.last(root, Gives::Answer, query.output);
    Ok(this.steps)
}

/// Places what several read: it stays a part of what each shard computes where that is the same for all readers.
fn shared(this: &mut Splitter<'_>, id: usize) -> SqlResult<()> {
    let rel = this.shared(id);
    let attrs = rel.attrs();
    let placed = place(this, rel, &attrs, &[])?;
    match placed.place {
        Place::Everywhere | Place::Parts(_) => this.keep_shared(id, placed),
        Place::Anywhere | Place::Here => {
            let rel = fetch(this, placed, &attrs, &[]);
            this.keep_here(id, rel, attrs);
        }
    }
    Ok(())
}

/// Whether a query asks for tables of which each shard has rows of its own.
fn check(query: &Query, sharding: &Sharding) -> SqlResult<bool> {
    if !query.recursions.is_empty() {
        return Err(SqlError::unsupported("WITH RECURSIVE over shards"));
    }
    let scalars = query.scalars.iter().map(|it| &it.rel);
    let (mut is_cut, mut wrong) = (false, None);
    for rel in query.shared.iter().chain(scalars).chain([&query.root]) {
        rel.visit(&mut |it| {
            if let Rel::Scan(scan) = it {
                match sharding.key(scan.table.id) {
                    Some(key) => is_cut |= key.is_some(),
                    None => {
                        let what = format!("{}, which is no table of the shards,", scan.table.name);
                        wrong.get_or_insert(SqlError::unsupported(what));
                    }
                }
            }
        });
        if !rel.all_expressions(&mut |it| !is_volatile(it)) {
            let what = "a function over shards that may give another value each time";
            wrong.get_or_insert(SqlError::unsupported(what));
        }
    }
    wrong.map_or(Ok(is_cut), Err)
}

/// Takes out what the coordinator's tables, which have no rows, seem to say of those of the shards.
fn forget_statistics(query: &mut Query) {
    let Query { shared, scalars, root, .. } = query;
    let scalars = scalars.iter_mut().map(|it| &mut it.rel);
    for rel in shared.iter_mut().chain(scalars).chain([root]) {
        rel.visit_mut(&mut |it| {
            if let Rel::Scan(scan) = it {
                scan.table = stdx::sync::Arc::new(state::unknown(&scan.table));
            }
        });
    }
}
