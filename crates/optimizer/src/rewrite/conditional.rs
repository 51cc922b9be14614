//! Sums of values of one table under conditions of another, as `sum(CASE WHEN dim.day = 'Sunday' THEN fact.price END)`: all of
//! them are made of one sum for each row of the dimension.

use plan::properties::{is_fallible, is_volatile};
use plan::relation::{Attr, AttrSet};
use plan::{Aggregate, AggregateFunction, Expr, ExprKind};
use types::{DataType, Value};

/// The values of `many` that a sum adds up under conditions of `one`; `None` of any other aggregate. A row whose conditions
/// hold for none adds nothing, or zero.
pub(super) fn values(aggregate: &Aggregate, many: &AttrSet, one: &AttrSet) -> Option<Vec<Expr>> {
    let argument = aggregate.argument.as_ref()?;
    let ExprKind::Case { branches, otherwise } = &argument.kind else { return None };
    let is_decided =
        |it: &Expr| AttrSet::of(it).is_subset(one) && !is_volatile(it) && !is_fallible(it);
    if aggregate.function != AggregateFunction::Sum || !branches.iter().all(|it| is_decided(&it.0))
    {
        return None;
    }
    let mut values = Vec::new();
    for result in branches.iter().map(|it| &it.1).chain(otherwise.as_deref()) {
        if nothing(result, aggregate.data_type).is_some() {
            continue;
        }
        let used = AttrSet::of(result);
        let is_of_many = !used.is_empty() && used.is_subset(many);
        if !is_of_many || is_volatile(result) || result.data_type != argument.data_type {
            return None;
        }
        if !values.contains(result) {
            values.push(result.clone());
        }
    }
    (!values.is_empty()).then_some(values)
}

/// The sum with the sums of its values in their places.
pub(super) fn of_sums(aggregate: &Aggregate, sum_of: impl Fn(&Expr) -> Attr) -> Aggregate {
    let data_type = aggregate.data_type;
    let of =
        |it: &Expr| nothing(it, data_type).unwrap_or_else(|| Expr::column(sum_of(it), data_type));
    let argument = aggregate.argument.as_ref().map(|argument| match &argument.kind {
        ExprKind::Case { branches, otherwise } => {
            let branches = branches.iter().map(|it| (it.0.clone(), of(&it.1))).collect();
            let otherwise = otherwise.as_deref().map(|it| Box::new(of(it)));
            Expr { kind: ExprKind::Case { branches, otherwise }, data_type }
        }
        _ => argument.clone(),
    });
    Aggregate::of(AggregateFunction::Sum, argument, data_type)
}

/// NULL or zero, as a constant of a type.
fn nothing(expr: &Expr, data_type: DataType) -> Option<Expr> {
    let ExprKind::Literal(value) = &expr.kind else { return None };
    let value = match (value, data_type.plain()) {
        (Value::Null, _) => Value::Null,
        (
            Value::Integer(0) | Value::Decimal { unscaled: 0, .. },
            DataType::Decimal { scale, .. },
        ) => Value::Decimal { unscaled: 0, scale },
        (Value::Integer(0), it) if it.is_integer() => Value::Integer(0),
        _ => return None,
    };
    Some(Expr::literal(value, data_type))
}
