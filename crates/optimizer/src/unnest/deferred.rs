//! Values of subqueries that are an error where there are several: computed where they are asked for, so that a row that a
//! condition or a branch keeps from asking raises nothing.
//!
//! Key decision: the value is put in the place of its attribute in conditions and expressions above, as far as the relation
//! goes that offers what it is made of. Joins, orders and group keys ask for it in every row; below those it is made.

use plan::relation::{Attr, AttrSet, Query, Rel, RelJoin, substitute};
use plan::{Expr, ExprKind, Function};

type Definitions = Vec<(Attr, Expr)>;

/// Defers the values in all relations of a query.
pub(super) fn defer(query: &mut Query) {
    let output: AttrSet = query.output.iter().map(|it| it.attr).collect();
    defer_in(&mut query.root, &output);
    for scalar in &mut query.scalars {
        defer_in(&mut scalar.rel, &[scalar.attr].into_iter().collect());
    }
    for rel in &mut query.shared {
        let all = rel.attrs();
        defer_in(rel, &all);
    }
}

fn defer_in(rel: &mut Rel, used: &AttrSet) {
    if !has_deferred(rel) {
        return;
    }
    let definitions = lifted(rel);
    settle(rel, definitions, used);
}

/// Makes the values that are used.
fn settle(rel: &mut Rel, definitions: Definitions, used: &AttrSet) {
    let exprs: Definitions = definitions.into_iter().filter(|it| used.contains(it.0)).collect();
    if !exprs.is_empty() {
        let input = Box::new(rel.take());
        *rel = Rel::Map { input, exprs };
    }
}

/// Takes the values out of a relation as far as they can be made above it.
fn lifted(rel: &mut Rel) -> Definitions {
    match rel {
        Rel::Map { input, exprs } => {
            let mut definitions = lifted(input);
            exprs.iter_mut().for_each(|it| substitute(&mut it.1, &definitions));
            let (own, kept): (Vec<_>, Vec<_>) =
                std::mem::take(exprs).into_iter().partition(|it| is_deferred(&it.1));
            definitions.extend(own);
            *exprs = kept;
            if exprs.is_empty() {
                let input = input.take();
                *rel = input;
            }
            definitions
        }
        Rel::Filter { input, predicates } => {
            let definitions = lifted(input);
            predicates.iter_mut().for_each(|it| substitute(it, &definitions));
            definitions
        }
        Rel::Limit { input, .. } => lifted(input),
        Rel::Aggregate { input, aggregates, keys, .. } => {
            let definitions = lifted(input);
            for (_, it) in aggregates {
                it.expressions_mut().for_each(|it| {
                    substitute(it, &definitions);
                });
            }
            let mut used = AttrSet::default();
            keys.iter().for_each(|it| used.add_expr(&it.1));
            settle(input, definitions, &used);
            Vec::new()
        }
        Rel::Join(join) => {
            let mut used = AttrSet::default();
            join.keys
                .iter()
                .for_each(|it| [&it.0, &it.1].into_iter().for_each(|it| used.add_expr(it)));
            join.residual.iter().for_each(|it| used.add_expr(it));
            let (left, right) = (lifted(&mut join.left), lifted(&mut join.right));
            let lifts_left = join.kind != RelJoin::Full;
            let lifts_right = join.kind == RelJoin::Inner;
            let mut above = Vec::new();
            for (side, definitions, lifts) in
                [(&mut join.left, left, lifts_left), (&mut join.right, right, lifts_right)]
            {
                let (here, later): (Vec<_>, Vec<_>) =
                    definitions.into_iter().partition(|it| !lifts || used.contains(it.0));
                let all = here.iter().map(|it| it.0).collect();
                settle(side, here, &all);
                above.extend(later);
            }
            above
        }
        other => {
            for input in other.inputs_mut() {
                let definitions = lifted(input);
                let all = definitions.iter().map(|it| it.0).collect();
                settle(input, definitions, &all);
            }
            Vec::new()
        }
    }
}

/// Whether such a value is made anywhere in a relation.
fn has_deferred(rel: &Rel) -> bool {
    let mut has = false;
    rel.visit(&mut |it| {
        if let Rel::Map { exprs, .. } = it {
            has |= exprs.iter().any(|it| is_deferred(&it.1));
        }
    });
    has
}

/// Whether an expression is the value of a subquery that may have several rows.
fn is_deferred(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Scalar(_) => true,
        ExprKind::Case { branches, .. } => branches.first().is_some_and(|it| {
            matches!(it.1.kind, ExprKind::Call { function: Function::RaiseCardinality, .. })
        }),
        _ => false,
    }
}
