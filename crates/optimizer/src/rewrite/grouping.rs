//! Groups below a left join (groupjoin's first half): counting the partners of each row needs no pairs. The right side
//! is grouped by its key first, then each left row looks up its one group (Q13).
//!
//! - Needs: group keys that hold a key of the left side ([`unique_keys`]), and join keys of one type on both sides, so that
//!   each left row has one group of the right at most.
//! - NULL: an aggregate is moved only where it is, over the one row of NULLs that a left row without partner has, what it
//!   is over nothing; counts are put right afterwards.
//! - Volatile arguments stay where they are.

use plan::properties::is_volatile;
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, UnaryOperator};
use types::{DataType, Value};

use super::predicates;
use super::state::Optimiser;
use crate::estimate;
use crate::facts::unique_keys;
use crate::tuning::ROWS_PER_KEY_MIN;
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, bare};

/// Group keys.
pub type Keys = Vec<(Attr, Expr)>;
/// Aggregates.
pub type Aggregates = Vec<(Attr, Aggregate)>;

impl Optimiser<'_> {
    /// The groups over a left join as a left join with groups, where each left row is a group of its own.
    pub(super) fn group_below_left_join(
        &mut self,
        input: &mut Rel,
        keys: &Keys,
        aggregates: &Aggregates,
    ) -> Option<Rel> {
        let Rel::Join(join) = input else { return None };
        if !applies(join, keys, aggregates) {
            return None;
        }
        let Rel::Join(mut join) = input.take() else { return None };
        let mut right_keys: Keys = Vec::with_capacity(join.keys.len());
        for (_, key) in &join.keys {
            let attr = bare(key).filter(|it| right_keys.iter().all(|known| known.0 != *it));
            right_keys.extend(attr.map(|it| (it, key.clone())));
        }
        let (mut inner, mut computed) = (Vec::new(), Vec::new());
        for (attr, aggregate) in aggregates {
            // Left columns that other keys determine are there anyway.
            if let (AggregateFunction::AnyValue, Some(argument)) =
                (aggregate.function, &aggregate.argument)
            {
                if bare(argument) != Some(*attr) {
                    computed.push((*attr, argument.clone()));
                }
                continue;
            }
            if aggregate.function != AggregateFunction::Count {
                inner.push((*attr, aggregate.clone()));
                continue;
            }
            self.attributes.push(Attribute { data_type: aggregate.data_type, nullable: true });
            let counted = self.attributes.len() - 1;
            inner.push((counted, aggregate.clone()));
            // A row without partner is one row of NULLs: count(*) sees it, count(x) does not.
            let alone = i64::from(aggregate.argument.is_none());
            computed.push((*attr, or_else(counted, alone, aggregate.data_type)));
        }
        let rows = estimate::groups(&join.right, &right_keys);
        let right = join.right.take();
        join.right =
            Rel::Aggregate { input: Box::new(right), keys: right_keys, aggregates: inner, rows };
        join.rows = join.left.rows();
        join.build_left = false;
        let joined = Rel::Join(join);
        Some(match computed.is_empty() {
            true => joined,
            false => Rel::Map { input: Box::new(joined), exprs: computed },
        })
    }
}

fn or_else(attr: Attr, otherwise: i64, data_type: DataType) -> Expr {
    let column = Expr::column(attr, data_type);
    let missing =
        ExprKind::Unary { operator: UnaryOperator::IsNull, operand: Box::new(column.clone()) };
    let missing = Expr { kind: missing, data_type: DataType::Boolean };
    let branches = vec![(missing, Expr::literal(Value::Integer(otherwise), data_type))];
    Expr { kind: ExprKind::Case { branches, otherwise: Some(Box::new(column)) }, data_type }
}

fn applies(join: &JoinRel, keys: &Keys, aggregates: &Aggregates) -> bool {
    if keys.is_empty() {
        // No row on the left is a group as well.
        return false;
    }
    let (left, right) = (join.left.attrs(), join.right.attrs());
    let bare_keys = join
        .keys
        .iter()
        .all(|(l, r)| bare(l).is_some() && bare(r).is_some() && l.data_type == r.data_type);
    if join.kind != RelJoin::Left || !join.residual.is_empty() || join.keys.is_empty() || !bare_keys
    {
        return false;
    }
    let group: AttrSet = keys.iter().filter_map(|it| bare(&it.1)).collect();
    let from_left = keys.iter().all(|it| bare(&it.1).is_some_and(|it| left.contains(it)));
    let each_row = unique_keys(&join.left).iter().any(|it| it.is_subset(&group));
    let right_keys: AttrSet = join.keys.iter().filter_map(|it| bare(&it.1)).collect();
    let distinct: f64 = right_keys.iter().map(|it| estimate::distinct(&join.right, it)).product();
    let fewer = join.right.rows() > ROWS_PER_KEY_MIN * distinct;
    from_left && each_row && fewer && aggregates.iter().all(|it| movable(&it.1, &left, &right))
}

/// Whether an aggregate over a row of NULLs alone is what it is over nothing, and uses the right side only.
fn movable(it: &Aggregate, left: &AttrSet, right: &AttrSet) -> bool {
    let is_plain = it.rest.is_empty() && it.order.is_empty() && it.filter.is_none();
    if !is_plain || it.argument.as_ref().is_some_and(is_volatile) {
        return false;
    }
    let Some(argument) = &it.argument else { return it.function == AggregateFunction::Count };
    let used = AttrSet::of(argument);
    if it.function == AggregateFunction::AnyValue {
        return bare(argument).is_some_and(|it| left.contains(it));
    }
    // `argument = argument` is NULL exactly when the argument is.
    let probe = Expr::predicate(BinaryOperator::Equal, argument.clone(), argument.clone());
    used.is_subset(right) && predicates::rejects_null(&probe, right)
}
