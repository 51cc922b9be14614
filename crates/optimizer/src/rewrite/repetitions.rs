//! Where nobody counts rows, one is as good as many equal ones.
//!
//! | Rule | Analysis | Data |
//! |---|---|---|
//! | an inner join with columns of one side alone, whose rows nobody counts, keeps the rows of that side that have a partner, and makes no pairs | who counts: not the right side of IN and EXISTS, not DISTINCT, min and max; a WITH query only where none of its readers does | expected pairs, which must be more than the rows that are kept |

use plan::properties::is_volatile;
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Part, Query, Rel, RelJoin, bare};
use plan::{Aggregate, Expr};

use super::extremes::Inequality;
use crate::estimate;

/// Pairs for each row that is kept, from which on a join is better without them.
const PAIRS_LEAST: f64 = 1.2;

/// For each shared relation whether a reader counts its rows.
pub(super) fn counted(query: &Query) -> Vec<bool> {
    let mut counted = vec![false; query.shared.len()];
    if counted.is_empty() {
        return counted;
    }
    note_readers(&query.root, true, &mut counted);
    // Readers before what they read.
    for part in query.parts().into_iter().rev() {
        let counts = match part {
            Part::Scalar(_) => true,
            Part::Shared(it) => counted[it],
        };
        note_readers(query.part(part), counts, &mut counted);
    }
    counted
}

fn note_readers(rel: &Rel, counts: bool, counted: &mut [bool]) {
    match rel {
        Rel::Shared { id, .. } => counted[*id] |= counts,
        Rel::Join(join) => {
            let (left, right) = counts_sides(join, counts);
            note_readers(&join.left, left, counted);
            note_readers(&join.right, right, counted);
        }
        other => {
            let below = counts_input(other, counts);
            other.inputs().into_iter().for_each(|it| note_readers(it, below, counted));
        }
    }
}

/// Whether the rows of what a relation reads are counted, where its own are, or are not. Not of joins.
pub(super) fn counts_input(rel: &Rel, counts: bool) -> bool {
    match rel {
        Rel::Filter { predicates, .. } => counts || predicates.iter().any(is_volatile),
        Rel::Map { exprs, .. } => counts || exprs.iter().any(|it| is_volatile(&it.1)),
        Rel::Aggregate { keys, aggregates, .. } => {
            keys.iter().any(|it| is_volatile(&it.1))
                || aggregates.iter().any(|it| counts_rows(&it.1))
        }
        Rel::Sort { keys, offset: 0, limit: None, .. } => {
            counts || keys.iter().any(|it| is_volatile(&it.expr))
        }
        Rel::Union { .. } => counts,
        _ => true,
    }
}

/// The same of the sides of a join.
pub(super) fn counts_sides(join: &JoinRel, counts: bool) -> (bool, bool) {
    let is_drawn = is_volatile_join(join);
    match join.kind {
        RelJoin::Inner | RelJoin::Left | RelJoin::Full => (counts || is_drawn, counts || is_drawn),
        RelJoin::Semi | RelJoin::Anti | RelJoin::Mark => (counts || is_drawn, is_drawn),
    }
}

fn is_volatile_join(join: &JoinRel) -> bool {
    let of_keys = |it: &(Expr, Expr)| is_volatile(&it.0) || is_volatile(&it.1);
    join.residual.iter().any(is_volatile) || join.keys.iter().any(of_keys)
}

/// Whether an aggregate tells a row from two equal ones.
fn counts_rows(aggregate: &Aggregate) -> bool {
    !aggregate.ignores_repetitions() || aggregate.expressions().any(is_volatile)
}

/// Lets a join whose rows nobody counts keep the rows of the side that is wanted, where the pairs are expected to be more.
pub(super) fn without_pairs(join: &mut JoinRel, wanted: &AttrSet, attributes: &mut Vec<Attribute>) {
    if join.kind != RelJoin::Inner || join.keys.is_empty() || is_volatile_join(join) {
        return;
    }
    let is_wanted = |side: &Rel| {
        let own = side.attrs();
        wanted.iter().any(|it| own.contains(it))
    };
    let keeps_right = match (is_wanted(&join.left), is_wanted(&join.right)) {
        (true, true) => return,
        (left, right) if left != right => right,
        _ => join.right.rows() < join.left.rows(),
    };
    let kept = if keeps_right { join.right.rows() } else { join.left.rows() };
    if join.rows < kept * PAIRS_LEAST {
        return;
    }
    if keeps_right {
        std::mem::swap(&mut join.left, &mut join.right);
        join.keys.iter_mut().for_each(|(left, right)| std::mem::swap(left, right));
    }
    // A table of what is kept is marked by each pair; one of the partners is left at the first.
    join.build_left = join.left.rows() + join.rows < join.right.rows();
    join.kind = RelJoin::Semi;
    let pairs = std::mem::replace(&mut join.rows, kept);
    if join.build_left || pairs < join.right.rows() {
        return;
    }
    let inner = join.right.attrs();
    if let Some(it) = Inequality::of(&join.keys, &join.residual, &inner, attributes) {
        let keys: Vec<(Attr, Expr)> =
            join.keys.iter().filter_map(|(_, key)| bare(key).zip(Some(key.clone()))).collect();
        it.group(join, estimate::groups(&join.right, &keys));
    }
}
