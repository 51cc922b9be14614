//! Groups before a join that only widens their keys: who groups sales by what a customer is called looks every sale's customer
//! up and hashes its texts. Grouped by the customer's number first, the names of each customer are looked at once.
//!
//! | Rule | Analysis | Data |
//! |---|---|---|
//! | `GROUP BY dim.a, dim.b, dim.c` over `fact JOIN dim` becomes groups of `fact.key`, joined with `dim`, grouped again | the join is inner on a key of `dim`; three keys at least are of `dim`, and what is aggregated is of `fact`, or three sums at least are of `fact` under conditions of `dim` ([`conditional`]); the aggregates are made of those of parts | few groups for the rows, most of which the join keeps: [`ROWS_PER_KEY_MIN`]; or [`TEXT_KEYS_MIN`] texts, where no key of the rows is among the groups' |
//!
//! What can fail or is volatile stays behind the join, which may drop its row.

use plan::properties::{is_fallible, is_volatile};
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, bare};
use plan::{Aggregate, AggregateFunction, Expr};
use types::DataType;

use super::conditional;
use super::grouping::{Aggregates, Keys};
use super::state::Optimiser;
use crate::estimate;
use crate::facts::{equality_chains, greatest, limit, unique_keys};
use crate::tuning::ROWS_PER_KEY_MIN;

/// Keys of one side that make grouping by them dear.
const WIDE_KEYS_MIN: usize = 3;
/// Sums under conditions of one side that make adding up each row dear.
const CONDITIONAL_SUMS_MIN: usize = 3;
/// Texts among them from which on a group of these costs so much more than one of numbers that a wrong guess, that keys
/// repeat, loses little: 375 ns for each row with three texts, 700 with seven (TPC-DS Q74 and Q11), some 30 with two numbers.
const TEXT_KEYS_MIN: usize = 3;
/// Rows of a group, at most, as types of sums have it.
const ROWS_MAX: i128 = 10_000_000_000;

/// A side of a join that can be grouped before.
struct Side {
    is_left: bool,
    /// By what.
    keys: Keys,
    /// How many keys of the other side are texts.
    texts: usize,
}

impl Optimiser<'_> {
    /// Puts groups below the join of an input where that pays; gives the aggregates over them.
    pub(super) fn group_before_join(
        &mut self,
        input: &mut Rel,
        keys: &Keys,
        aggregates: Aggregates,
    ) -> Aggregates {
        let Rel::Join(join) = input else { return aggregates };
        let Some(side) = applies(join, keys, &aggregates) else { return aggregates };
        let (many, one) = match side.is_left {
            true => (&mut join.left, join.right.attrs()),
            false => (&mut join.right, join.left.attrs()),
        };
        let of_many = many.attrs();
        let rows = estimate::groups(many, &side.keys);
        let is_kept = join.rows * ROWS_PER_KEY_MIN >= many.rows();
        let inner: AttrSet = side.keys.iter().map(|it| it.0).collect();
        let repeats = many.rows() >= ROWS_PER_KEY_MIN * rows
            || (side.texts >= TEXT_KEYS_MIN
                && !unique_keys(many).iter().any(|it| it.is_subset(&inner)));
        if !repeats || !is_kept {
            return aggregates;
        }
        let (mut inner, mut outer): (Aggregates, Aggregates) = (Vec::new(), Vec::new());
        for (attr, aggregate) in aggregates {
            if let Some(values) = conditional::values(&aggregate, &of_many, &one) {
                let sums: Vec<(Expr, Attr)> = values
                    .into_iter()
                    .map(|it| (it.clone(), self.sum_of(it, aggregate.data_type, &mut inner)))
                    .collect();
                let known = |it: &Expr| sums.iter().find(|sum| sum.0 == *it);
                let sum_of = |it: &Expr| known(it).expect("invariant: all values have sums").1;
                outer.push((attr, conditional::of_sums(&aggregate, sum_of)));
                continue;
            }
            let Some(function) = of_parts(&aggregate).filter(|_| !is_key_part(&aggregate, &one))
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
            Rel::Aggregate { input: Box::new(grouped), keys: side.keys, aggregates: inner, rows };
        join.rows = join.rows.min(rows);
        outer
    }
}

impl Optimiser<'_> {
    /// The attribute of the sum of a value, which several may share.
    fn sum_of(&mut self, value: Expr, data_type: DataType, sums: &mut Aggregates) -> Attr {
        let sum = Aggregate::of(AggregateFunction::Sum, Some(value), data_type);
        if let Some((attr, _)) = sums.iter().find(|it| it.1 == sum) {
            return *attr;
        }
        self.attributes.push(Attribute { data_type, nullable: true });
        let attr = self.attributes.len() - 1;
        sums.push((attr, sum));
        attr
    }
}

/// Whether it is what other keys determine of the side that is not grouped.
pub(super) fn is_key_part(aggregate: &Aggregate, one: &AttrSet) -> bool {
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

/// The keys of a join, left and right, if each pair is of one type and equal in the same way on both sides.
pub(super) fn key_pairs(join: &JoinRel) -> Option<Vec<(Attr, Attr)>> {
    let pair = |(left, right): &(Expr, Expr)| {
        let one_type = left.data_type == right.data_type;
        let chains = equality_chains(left.data_type, right.data_type);
        Some((bare(left)?, bare(right)?)).filter(|_| one_type && chains)
    };
    join.keys.iter().map(pair).collect()
}

/// Which side of the join can be grouped before, and by what.
fn applies(join: &JoinRel, keys: &Keys, aggregates: &Aggregates) -> Option<Side> {
    if join.kind != RelJoin::Inner || !join.residual.is_empty() || join.keys.is_empty() {
        return None;
    }
    let pairs = key_pairs(join)?;
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
        let (mut wide, mut texts) = (0, 0);
        for (_, key) in keys {
            let attr = bare(key)?;
            if of_many.contains(attr) {
                add(attr, key.data_type);
            } else if of_one.contains(attr) {
                wide += 1;
                texts += usize::from(key.data_type.stored().is_text());
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
        let mut conditional = 0;
        let fits = aggregates.iter().all(|(_, it)| {
            let is_conditional = is_conditional(it, &of_many, &of_one);
            conditional += usize::from(is_conditional);
            is_conditional || is_key_part(it, &of_one) || is_of(it, &of_many)
        });
        let is_dear = wide >= WIDE_KEYS_MIN || conditional >= CONDITIONAL_SUMS_MIN;
        let side = Side { is_left: many_is_left, keys: inner, texts };
        (is_dear && fits).then_some(side)
    })
}

/// Whether it is a sum of values of many under conditions of the other side, and may be made of sums of parts.
fn is_conditional(aggregate: &Aggregate, many: &AttrSet, one: &AttrSet) -> bool {
    let is_sum = |value: Expr| {
        let sum = Aggregate::of(AggregateFunction::Sum, Some(value), aggregate.data_type);
        is_of(&sum, many)
    };
    let values = conditional::values(aggregate, many, one);
    is_plain(aggregate) && values.is_some_and(|it| it.into_iter().all(is_sum))
}

/// Whether an aggregate may be made of parts of one side's rows, of which the join may drop some.
pub(super) fn is_of(aggregate: &Aggregate, many: &AttrSet) -> bool {
    let of_many = aggregate
        .argument
        .as_ref()
        .is_none_or(|it| AttrSet::of(it).is_subset(many) && !is_volatile(it) && !may_fail(it));
    is_plain(aggregate) && of_many && of_parts(aggregate).is_some()
}

fn may_fail(expr: &Expr) -> bool {
    is_fallible(expr) && greatest(expr).is_none()
}

/// What makes an aggregate of its values in parts of a group: also a sum with more digits than [`Aggregate::of_parts`] knows
/// to be safe, where its values leave them unused.
fn of_parts(it: &Aggregate) -> Option<AggregateFunction> {
    it.of_parts().or_else(|| {
        let argument = it.argument.as_ref().filter(|_| is_plain(it))?;
        let is_sum = it.function == AggregateFunction::Sum
            && matches!(it.data_type, DataType::Decimal { .. })
            && it.data_type.scale() == argument.data_type.scale();
        let most = greatest(argument)?.checked_mul(ROWS_MAX)?;
        (is_sum && most <= limit(it.data_type)?).then_some(AggregateFunction::Sum)
    })
}
