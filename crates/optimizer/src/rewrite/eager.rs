//! Groups before a join that only widens their keys: who groups sales by what a customer is called looks every sale's customer
//! up and hashes its texts. Grouped by the customer's number first, the names of each customer are looked at once.
//!
//! | Rule | Analysis | Data |
//! |---|---|---|
//! | `GROUP BY dim.a, dim.b, dim.c` over `fact JOIN dim` becomes groups of `fact.key`, joined with `dim`, grouped again | the join is inner on a key of `dim`; three keys at least are of `dim`, and what is aggregated is of `fact`; the aggregates are made of those of parts | few groups for the rows, most of which the join keeps: [`ROWS_PER_KEY_MIN`] |
//!
//! What can fail or is volatile stays behind the join, which may drop its row.

use plan::properties::{is_fallible, is_volatile};
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, bare};
use plan::{Aggregate, AggregateFunction, Expr};

use super::grouping::{Aggregates, Keys};
use super::state::Optimiser;
use crate::estimate;
use crate::facts::{equality_chains, unique_keys};
use crate::tuning::ROWS_PER_KEY_MIN;

/// Keys of one side that make grouping by them dear.
const WIDE_KEYS_MIN: usize = 3;

impl Optimiser<'_> {
    /// Puts groups below the join of an input where that pays; gives the aggregates over them.
    pub(super) fn group_before_join(
        &mut self,
        input: &mut Rel,
        keys: &Keys,
        aggregates: Aggregates,
    ) -> Aggregates {
        let Rel::Join(join) = input else { return aggregates };
        let Some((many_is_left, inner_keys)) = applies(join, keys, &aggregates) else {
            return aggregates;
        };
        let (many, one) = match many_is_left {
            true => (&mut join.left, join.right.attrs()),
            false => (&mut join.right, join.left.attrs()),
        };
        let rows = estimate::groups(many, &inner_keys);
        let is_kept = join.rows * ROWS_PER_KEY_MIN >= many.rows();
        if many.rows() < ROWS_PER_KEY_MIN * rows || !is_kept {
            return aggregates;
        }
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        for (attr, aggregate) in aggregates {
            let Some(function) = aggregate.of_parts().filter(|_| !is_key_part(&aggregate, &one))
            else {
                // What other keys determine of the dimension.
                outer.push((attr, aggregate));
                continue;
            };
            let data_type = aggregate.data_type;
            self.attributes.push(Attribute { data_type, nullable: true });
            let part = self.attributes.len() - 1;
            inner.push((part, aggregate));
            let argument = Some(Expr::column(part, data_type));
            outer.push((attr, Aggregate::of(function, argument, data_type)));
        }
        let grouped = many.take();
        *many =
            Rel::Aggregate { input: Box::new(grouped), keys: inner_keys, aggregates: inner, rows };
        join.rows = join.rows.min(rows);
        outer
    }
}

/// Whether it is what other keys determine of the side that is not grouped.
fn is_key_part(aggregate: &Aggregate, one: &AttrSet) -> bool {
    let of_one = |it: &Expr| {
        let used = AttrSet::of(it);
        !used.is_empty() && used.is_subset(one)
    };
    aggregate.function == AggregateFunction::AnyValue
        && is_plain(aggregate)
        && aggregate.argument.as_ref().is_some_and(|it| of_one(it) && !is_volatile(it))
}

/// Whether it looks at its argument alone.
fn is_plain(it: &Aggregate) -> bool {
    it.rest.is_empty() && it.order.is_empty() && it.filter.is_none() && !it.distinct
}

/// Which side of the join can be grouped before, and by what.
fn applies(join: &JoinRel, keys: &Keys, aggregates: &Aggregates) -> Option<(bool, Keys)> {
    if join.kind != RelJoin::Inner || !join.residual.is_empty() || join.keys.is_empty() {
        return None;
    }
    let pairs: Option<Vec<(Attr, Attr)>> = (join.keys.iter())
        .map(|(left, right)| {
            let one_type = left.data_type == right.data_type;
            let chains = equality_chains(left.data_type, right.data_type);
            Some((bare(left)?, bare(right)?)).filter(|_| one_type && chains)
        })
        .collect();
    let pairs = pairs?;
    [true, false].into_iter().find_map(|many_is_left| {
        let (many, one) = match many_is_left {
            true => (&join.left, &join.right),
            false => (&join.right, &join.left),
        };
        let on_one: AttrSet =
            pairs.iter().map(|it| if many_is_left { it.1 } else { it.0 }).collect();
        if !unique_keys(one).iter().any(|it| it.is_subset(&on_one)) {
            return None;
        }
        let (of_many, of_one) = (many.attrs(), one.attrs());
        let mut inner: Keys = Vec::new();
        let mut add = |attr: Attr, data_type| {
            if inner.iter().all(|it| it.0 != attr) {
                inner.push((attr, Expr::column(attr, data_type)));
            }
        };
        let mut wide = 0;
        for (_, key) in keys {
            let attr = bare(key)?;
            if of_many.contains(attr) {
                add(attr, key.data_type);
            } else if of_one.contains(attr) {
                wide += 1;
            } else {
                return None;
            }
        }
        for ((left, right), (left_expr, right_expr)) in pairs.iter().zip(&join.keys) {
            match many_is_left {
                true => add(*left, left_expr.data_type),
                false => add(*right, right_expr.data_type),
            }
        }
        let fits =
            aggregates.iter().all(|it| is_key_part(&it.1, &of_one) || is_of(&it.1, &of_many));
        (wide >= WIDE_KEYS_MIN && fits).then_some((many_is_left, inner))
    })
}

/// Whether an aggregate may be made of parts of one side's rows, of which the join may drop some.
fn is_of(aggregate: &Aggregate, many: &AttrSet) -> bool {
    let of_many = aggregate
        .argument
        .as_ref()
        .is_none_or(|it| AttrSet::of(it).is_subset(many) && !is_volatile(it) && !is_fallible(it));
    is_plain(aggregate) && of_many && aggregate.of_parts().is_some()
}
