//! What an aggregate is fed.

use std::borrow::Cow;

use plan::{AggregateFunction, Expr, ExprKind};
use types::DataType;

/// The argument of an aggregate as it is fed: see [`exact`] and [`chosen`].
pub(crate) fn argument_of(aggregate: &plan::Aggregate) -> Option<Cow<'_, Expr>> {
    exact(aggregate).map(|it| chosen(aggregate, it))
}

/// A mean of whole numbers is bound as one of floats, but the sum of the numbers themselves is exact, whatever the order, and
/// shared with other aggregates.
fn exact(aggregate: &plan::Aggregate) -> Option<&Expr> {
    let argument = aggregate.argument.as_ref()?;
    let is_mean = aggregate.function == AggregateFunction::Average && !aggregate.distinct;
    match &argument.kind {
        ExprKind::Cast(whole)
            if is_mean
                && argument.data_type == DataType::Double
                && whole.data_type.plain().is_integer() =>
        {
            Some(whole)
        }
        _ => Some(argument),
    }
}

/// The argument of an aggregate that chooses one of its values, with the digits after the point that the plan says the
/// result has; sums and means get theirs when they are written.
fn chosen<'a>(aggregate: &plan::Aggregate, argument: &'a Expr) -> Cow<'a, Expr> {
    let chooses = matches!(
        aggregate.function,
        AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::AnyValue
    );
    let (from, to) = (argument.data_type.plain(), aggregate.data_type);
    if !chooses || !from.is_numeric() || from.scale() == to.scale() {
        return Cow::Borrowed(argument);
    }
    let operand = Box::new(argument.clone());
    Cow::Owned(Expr { kind: ExprKind::Cast(operand), data_type: to })
}
