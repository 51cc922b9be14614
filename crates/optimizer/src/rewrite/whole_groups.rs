//! Groups before a join that tells no two of their rows apart: who groups the sales of each customer by a text that only that
//! customer has groups by the customer's number as well, so customers are looked up once for each group.
//!
//! | Rule | Analysis | Data |
//! |---|---|---|
//! | `GROUP BY dim.text` over `fact JOIN dim` becomes groups of `fact.key`, joined with `dim` | the join is inner on a key of `dim`; the group keys determine the join's keys ([`Dependencies`]), so that a group has one partner or none; what is aggregated is of `fact`, or a column of `dim` | the join keeps most rows |
//!
//! What can fail or is volatile stays behind the join, which may drop its row.

use plan::Expr;
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare};

use super::eager::{is_key_part, is_of, key_pairs};
use super::grouping::{Aggregates, Keys};
use super::state::Optimiser;
use crate::estimate;
use crate::facts::{Dependencies, Facts, unique_keys};
use crate::tuning::ROWS_PER_KEY_MIN;

/// A side whose groups are those of the join.
struct Whole {
    is_left: bool,
    /// By what it is grouped.
    keys: Keys,
}

impl Optimiser<'_> {
    /// The groups over a join as a join of the groups of one side.
    pub(super) fn group_whole_before_join(
        &mut self,
        input: &mut Rel,
        keys: &Keys,
        aggregates: &Aggregates,
    ) -> Option<Rel> {
        let facts = Facts::new(self.attributes);
        let Whole { is_left, keys: inner } = applies(input, facts, keys, aggregates)?;
        let Rel::Join(mut join) = input.take() else { return None };
        let many = if is_left { &mut join.left } else { &mut join.right };
        let (own, mut made) = (many.attrs(), Vec::new());
        let mut sums: Aggregates = Vec::new();
        for (attr, aggregate) in aggregates {
            match &aggregate.argument {
                Some(argument) if !is_of(aggregate, &own) => made.push((*attr, argument.clone())),
                _ => sums.push((*attr, aggregate.clone())),
            }
        }
        made.extend(keys.iter().cloned());
        made.retain(|it| bare(&it.1) != Some(it.0));
        let rows = estimate::groups(many, &inner);
        let grouped = Box::new(many.take());
        *many = Rel::Aggregate { input: grouped, keys: inner, aggregates: sums, rows };
        join.rows = join.rows.min(rows);
        let joined = Rel::Join(join);
        Some(match made.is_empty() {
            true => joined,
            false => Rel::Map { input: Box::new(joined), exprs: made },
        })
    }
}

/// Which side of the join has the groups, if one has.
fn applies(input: &Rel, facts: Facts<'_>, keys: &Keys, aggregates: &Aggregates) -> Option<Whole> {
    let Rel::Join(join) = input else { return None };
    if join.kind != RelJoin::Inner || !join.residual.is_empty() || keys.is_empty() {
        return None;
    }
    // Groups by nothing would be one, of no rows too.
    if join.keys.is_empty() {
        return None;
    }
    let pairs = key_pairs(join)?;
    let grouped: AttrSet = keys.iter().map(|it| bare(&it.1)).collect::<Option<_>>()?;
    let (left, right) = (join.left.attrs(), join.right.attrs());
    [true, false].into_iter().find_map(|is_left| {
        let (many, one) = if is_left { (&left, &right) } else { (&right, &left) };
        let own = |it: &(Attr, Attr)| if is_left { *it } else { (it.1, it.0) };
        let on_many: AttrSet = pairs.iter().map(|it| own(it).0).collect();
        let on_one: AttrSet = pairs.iter().map(|it| own(it).1).collect();
        // Keys of the other side alone make it dear; those of the join are on both.
        let widened = grouped.iter().any(|it| one.contains(it) && !on_one.contains(it));
        let fits = |it: &plan::Aggregate| is_of(it, many) || is_key_part(it, one);
        if !widened || !aggregates.iter().all(|it| fits(&it.1)) {
            return None;
        }
        if !is_worth_it(join, is_left, &on_one) {
            return None;
        }
        let closure = Dependencies::of(input, facts).closure(&grouped);
        if !on_many.is_subset(&closure) {
            return None;
        }
        let mut all: AttrSet = grouped.iter().filter(|it| many.contains(*it)).collect();
        all.union_with(&on_many);
        let column = |attr: Attr| (attr, Expr::column(attr, facts.data_type(attr)));
        Some(Whole { is_left, keys: all.iter().map(column).collect() })
    })
}

/// Whether each row of the one side finds one of the other at most, and most of them do.
fn is_worth_it(join: &JoinRel, is_left: bool, on_one: &AttrSet) -> bool {
    let (many, one) = if is_left { (&join.left, &join.right) } else { (&join.right, &join.left) };
    unique_keys(one).iter().any(|it| it.is_subset(on_one))
        && join.rows * ROWS_PER_KEY_MIN >= many.rows()
}
