//! Conditions that depend on the left side of a dependent join, pulled up through the right side to the join.

use plan::properties::{is_fallible, is_volatile};
use plan::relation::{Apply, Attr, AttrSet, Rel, RelJoin, substitute};
use plan::{Expr, ExprKind};

use super::expressions::conjuncts;
use super::state::Use;

/// A right side that depends on nothing any more.
pub(super) struct Pulled {
    /// Its rows.
    pub rel: Rel,
    /// The conditions that were in it.
    pub conjuncts: Vec<Expr>,
    /// Attributes that it had and that depend on the left side: what they are.
    pub definitions: Vec<(Attr, Expr)>,
}

/// Where conditions are pulled to.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The attributes of the left side that the right side uses.
    pub outer: &'a AttrSet,
    /// Whether it matters how often a row occurs.
    pub repeats_matter: bool,
    /// Whether it matters which rows there are as long as there are some.
    pub rows_matter: bool,
    /// Whether what the right side gives is compared: IN, ANY and ALL ask only of the rows that its conditions keep.
    pub compares: bool,
}

impl<'a> Context<'a> {
    /// For a dependent join.
    pub fn of(outer: &'a AttrSet, how: &Use) -> Self {
        match how {
            Use::Apply(Apply::Any { condition, .. })
            | Use::Semi(condition)
            | Use::Anti(condition) => {
                let rows_matter = !matches!(condition.kind, ExprKind::Literal(_));
                Self { outer, repeats_matter: false, rows_matter, compares: rows_matter }
            }
            Use::Apply(_) => Self::of_all(outer),
        }
    }

    /// Where all rows count, as below an aggregate.
    pub fn of_all(outer: &'a AttrSet) -> Self {
        Self { outer, repeats_matter: true, rows_matter: true, compares: false }
    }

    /// For the input of an operator that keeps some of its rows: which rows there are decides whether some are left.
    fn below_choice(&self) -> Self {
        Self { rows_matter: true, ..*self }
    }

    fn depends(&self, expr: &Expr) -> bool {
        AttrSet::of(expr).intersects(self.outer)
    }
}

/// Pulls all conditions up; `None` where an operator is in the way.
pub(super) fn pull(rel: Rel, to: &Context<'_>) -> Option<Pulled> {
    if !rel.free_attrs().intersects(to.outer) {
        return Some(Pulled { rel, conjuncts: Vec::new(), definitions: Vec::new() });
    }
    match rel {
        Rel::Filter { input, predicates } => {
            let mut pulled = pull(*input, &to.below_choice())?;
            let mut predicates = predicates;
            predicates.iter_mut().for_each(|it| substitute(it, &pulled.definitions));
            let (up, stay): (Vec<Expr>, Vec<Expr>) =
                conjuncts(predicates).into_iter().partition(|it| to.depends(it));
            pulled.conjuncts.extend(up);
            pulled.rel = pulled.rel.filtered(stay);
            Some(pulled)
        }
        Rel::Map { input, exprs } => {
            let mut pulled = pull(*input, to)?;
            let mut stay = Vec::with_capacity(exprs.len());
            let mut up = Vec::new();
            for (attr, mut expr) in exprs {
                substitute(&mut expr, &pulled.definitions);
                match to.depends(&expr) {
                    true if is_volatile(&expr) => return None,
                    true => up.push((attr, expr)),
                    false => stay.push((attr, expr)),
                }
            }
            // It would be computed of rows that the conditions, which are above it now, drop.
            let fails = to.compares && stay.iter().any(|it| is_fallible(&it.1));
            if fails && !pulled.conjuncts.is_empty() {
                return None;
            }
            pulled.definitions.extend(up);
            if !stay.is_empty() {
                pulled.rel = Rel::Map { input: Box::new(pulled.rel), exprs: stay };
            }
            Some(pulled)
        }
        Rel::Join(_) => join(rel, to),
        Rel::Sort { input, offset: 0, limit: None, .. } => pull(*input, to),
        Rel::Sort { input, offset: 0, limit: Some(1..), .. }
        | Rel::Limit { input, offset: 0, limit: Some(1..) | None }
            if !to.rows_matter =>
        {
            pull(*input, to)
        }
        Rel::Aggregate { input, keys, aggregates, .. }
            if !to.repeats_matter && aggregates.is_empty() && !keys.is_empty() =>
        {
            let exprs: Vec<_> =
                keys.into_iter().filter(|it| plan::relation::bare(&it.1) != Some(it.0)).collect();
            match exprs.is_empty() {
                true => pull(*input, to),
                false => pull(Rel::Map { input, exprs }, to),
            }
        }
        Rel::Apply(_) => apply(rel, to),
        _ => None,
    }
}

fn join(rel: Rel, to: &Context<'_>) -> Option<Pulled> {
    let Rel::Join(mut join) = rel else { return None };
    let below = to.below_choice();
    let mut pulled = pull(join.left.take(), &below)?;
    if join.kind == RelJoin::Inner {
        let right = pull(join.right.take(), &below)?;
        join.right = right.rel;
        pulled.conjuncts.extend(right.conjuncts);
        pulled.definitions.extend(right.definitions);
    } else if join.kind == RelJoin::Full || join.right.free_attrs().intersects(to.outer) {
        return None;
    }
    let mut residual = std::mem::take(&mut join.residual);
    residual.iter_mut().for_each(|it| substitute(it, &pulled.definitions));
    let (up, stay): (Vec<Expr>, Vec<Expr>) =
        conjuncts(residual).into_iter().partition(|it| to.depends(it));
    if !up.is_empty() && join.kind != RelJoin::Inner || !join.keys.is_empty() {
        return None;
    }
    pulled.conjuncts.extend(up);
    join.residual = stay;
    join.left = pulled.rel;
    Some(Pulled { rel: Rel::Join(join), ..pulled })
}

fn apply(rel: Rel, to: &Context<'_>) -> Option<Pulled> {
    let Rel::Apply(mut apply) = rel else { return None };
    let chosen = matches!(apply.kind, Apply::Join { .. });
    let below = if chosen { to.below_choice() } else { *to };
    let mut pulled = pull(apply.left.take(), &below)?;
    // What the inner dependent join uses must still be on its left side.
    let mut gone = to.outer.clone();
    pulled.definitions.iter().for_each(|it| gone.insert(it.0));
    let own = match &apply.kind {
        Apply::Any { condition, .. } => AttrSet::of(condition),
        Apply::Scalar { source, .. } => [*source].into_iter().collect(),
        Apply::Join { on, .. } => {
            let mut all = AttrSet::default();
            on.iter().for_each(|it| all.add_expr(it));
            all
        }
    };
    if own.intersects(&gone) || apply.right.free_attrs().intersects(&gone) {
        return None;
    }
    apply.left = pulled.rel;
    pulled.rel = Rel::Apply(apply);
    Some(pulled)
}
