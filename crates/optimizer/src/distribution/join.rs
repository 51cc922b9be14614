//! Joins: of rows of each shard with rows that all have, or with rows of the same shard because both sides go by its keys.

use plan::relation::{AttrSet, JoinRel, Rel, RelJoin};
use plan::{BinaryOperator, Expr};

use super::place::{Place, Placed, about, conjuncts, equal_to};
use super::state::{Splitter, fetch};

/// What is known where the sides of a join are.
pub(super) struct Sides {
    /// Rows that may be left out of each side: those for which these do not hold.
    pub pending: [Vec<Expr>; 2],
    /// What holds for the pairs that matter.
    known: Vec<Expr>,
}

impl Sides {
    pub fn of(join: &JoinRel, pending: &[Expr]) -> Self {
        let equal =
            |it: &(Expr, Expr)| Expr::predicate(BinaryOperator::Equal, it.0.clone(), it.1.clone());
        let mut on: Vec<Expr> = join.keys.iter().map(equal).collect();
        on.extend(conjuncts(join.residual.clone()));
        match join.kind {
            RelJoin::Inner => {
                let known = [pending, &on].concat();
                Self { pending: [known.clone(), known.clone()], known }
            }
            RelJoin::Full => Self { pending: [Vec::new(), Vec::new()], known: on },
            _ => {
                let of_left = about(pending, &join.left.attrs());
                let known = [&*of_left, &*on].concat();
                // To NOT IN a NULL matters that is equal to nothing.
                let of_right = if join.null_aware { Vec::new() } else { on };
                Self { pending: [of_left, of_right], known }
            }
        }
    }
}

/// A join of sides that are somewhere. `wanted` are attributes of them.
pub(super) fn joined(
    this: &mut Splitter<'_>,
    mut join: JoinRel,
    [left, right]: [Placed; 2],
    wanted: &[AttrSet; 2],
    sides: &Sides,
) -> Placed {
    let places = [&left.place, &right.place];
    let place = common(join.kind, join.null_aware, places, &sides.known);
    (join.left, join.right) = match place {
        Place::Here => {
            let left = fetch(this, left, &wanted[0], &sides.pending[0]);
            (left, fetch(this, right, &wanted[1], &sides.pending[1]))
        }
        _ => (left.rel, right.rel),
    };
    Placed { rel: Rel::Join(Box::new(join)), place }
}

/// Where a join can be made of sides that are somewhere; with the coordinator where shards cannot.
fn common(kind: RelJoin, null_aware: bool, sides: [&Place; 2], known: &[Expr]) -> Place {
    match sides {
        [Place::Here, _] | [_, Place::Here] => Place::Here,
        [Place::Everywhere, Place::Everywhere] => Place::Everywhere,
        [left, right] if left.is_whole() && right.is_whole() => Place::Anywhere,
        // A shard that has all rows of the right finds all partners of its own rows of the left.
        [Place::Parts(keys), Place::Everywhere] if kind != RelJoin::Full => {
            Place::Parts(keys.clone())
        }
        [Place::Everywhere, Place::Parts(keys)] if kind == RelJoin::Inner => {
            Place::Parts(keys.clone())
        }
        [Place::Parts(left), Place::Parts(right)]
            if !null_aware && equal_to(left, known).intersects(right) =>
        {
            let mut keys = left.clone();
            match kind {
                RelJoin::Inner => keys.union_with(right),
                // A row of one side without partner has NULL for the key of the other.
                RelJoin::Full => keys = AttrSet::default(),
                _ => {}
            }
            Place::Parts(keys)
        }
        _ => Place::Here,
    }
}
