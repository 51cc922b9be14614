//! Computed columns in the expressions that use them.

use std::borrow::Cow;

use plan::properties::has_effect;
use plan::relation::{Attr, Rel, bare, substitute};
use plan::{Aggregate, Expr};

/// Puts computed columns that are used once into the expression that uses them.
pub(super) fn inline_once<'r>(
    input: &'r Rel,
    keys: &mut [(Attr, Expr)],
    aggregates: &mut [(Attr, Aggregate)],
) -> Cow<'r, Rel> {
    let Rel::Map { input: inner, exprs } = input else { return Cow::Borrowed(input) };
    let uses = |attr: Attr| {
        let in_exprs = |expr: &Expr| count(expr, attr);
        keys.iter().map(|it| in_exprs(&it.1)).sum::<usize>()
            + aggregates.iter().flat_map(|it| it.1.expressions()).map(in_exprs).sum::<usize>()
    };
    let (once, more): (Vec<_>, Vec<_>) = exprs.iter().cloned().partition(|it| match uses(it.0) {
        0 => !has_effect(&it.1),
        uses => uses == 1,
    });
    // A bare key keeps its attribute, an inlined one keeps it as the name of the result.
    for (_, expr) in keys.iter_mut() {
        substitute(expr, &once);
    }
    for (_, aggregate) in aggregates.iter_mut() {
        for expr in aggregate.expressions_mut() {
            substitute(expr, &once);
        }
    }
    match more.is_empty() {
        true => Cow::Borrowed(inner),
        false => Cow::Owned(Rel::Map { input: inner.clone(), exprs: more }),
    }
}

fn count(expr: &Expr, attr: Attr) -> usize {
    usize::from(bare(expr) == Some(attr))
        + expr.children().into_iter().map(|it| count(it, attr)).sum::<usize>()
}
