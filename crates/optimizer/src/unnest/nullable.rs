//! What may be NULL: an attribute of a relation, an expression over relations.

use plan::relation::{Attr, Rel, RelJoin};
use plan::{AggregateFunction, BinaryOperator, DateField, Expr, ExprKind, UnaryOperator};

use super::state::Unnesting;

/// Whether an expression may be NULL where `of` tells which attributes may be.
pub(super) fn may_be_null(expr: &Expr, of: &dyn Fn(Attr) -> bool) -> bool {
    let any = || expr.children().into_iter().any(|it| may_be_null(it, of));
    match &expr.kind {
        ExprKind::Column(attr) => of(*attr),
        ExprKind::Literal(value) => value.is_null(),
        ExprKind::Binary { operator, .. } => match operator {
            BinaryOperator::IsDistinctFrom | BinaryOperator::IsNotDistinctFrom => false,
            _ => any(),
        },
        ExprKind::Unary { operator, .. } => {
            matches!(operator, UnaryOperator::Not | UnaryOperator::Negate) && any()
        }
        ExprKind::Case { branches, otherwise } => {
            let results = branches.iter().map(|it| &it.1).chain(otherwise.as_deref());
            otherwise.is_none() || results.into_iter().any(|it| may_be_null(it, of))
        }
        ExprKind::InList { list, .. } => list.iter().any(|it| it.is_null()) || any(),
        ExprKind::Like { .. } => any(),
        // An infinite point of time is in no month.
        ExprKind::Extract { field, .. } => *field != DateField::Year || any(),
        ExprKind::Parameter(_)
        | ExprKind::Scalar(_)
        | ExprKind::Cast(_)
        | ExprKind::Substring { .. }
        | ExprKind::Call { .. } => true,
    }
}

impl Unnesting {
    /// Whether an attribute of a relation may be NULL. One that it does not have may be.
    pub(super) fn nullable(&self, rel: &Rel, attr: Attr) -> bool {
        self.look_up(rel, attr).unwrap_or(true)
    }

    /// Whether an expression over two relations may be NULL.
    pub(super) fn nullable_over(&self, expr: &Expr, left: &Rel, right: &Rel) -> bool {
        let of = |it: Attr| self.look_up(left, it).or_else(|| self.look_up(right, it));
        may_be_null(expr, &|it| of(it).unwrap_or(true))
    }

    /// Whether an attribute may be NULL; `None` where the relation does not have it.
    fn look_up(&self, rel: &Rel, attr: Attr) -> Option<bool> {
        match rel {
            Rel::Scan(_) => rel.made().contains(&attr).then(|| self.attributes[attr].nullable),
            Rel::Repeat { number: Some(number), .. } if *number == attr => Some(false),
            Rel::Repeat { items, .. } if items.iter().any(|it| it.0 == attr) => Some(true),
            Rel::Filter { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Limit { input, .. }
            | Rel::Repeat { input, .. } => self.look_up(input, attr),
            Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
                Some((_, expr)) => Some(may_be_null(expr, &|it| self.nullable(input, it))),
                None => self.look_up(input, attr),
            },
            Rel::Window { input, functions, .. } => {
                match functions.iter().find(|it| it.0 == attr) {
                    Some((_, it)) => Some(!it.function.is_never_null()),
                    None => self.look_up(input, attr),
                }
            }
            Rel::Join(join) => {
                if join.mark == Some(attr) {
                    return Some(join.null_aware);
                }
                if let Some(it) = self.look_up(&join.left, attr) {
                    return Some(it || join.kind == RelJoin::Full);
                }
                match join.kind {
                    RelJoin::Inner => self.look_up(&join.right, attr),
                    RelJoin::Left | RelJoin::Full => self.look_up(&join.right, attr).map(|_| true),
                    RelJoin::Semi | RelJoin::Anti | RelJoin::Mark => None,
                }
            }
            Rel::Aggregate { input, keys, aggregates, .. } => {
                if let Some((_, key)) = keys.iter().find(|it| it.0 == attr) {
                    return Some(may_be_null(key, &|it| self.nullable(input, it)));
                }
                let found = aggregates.iter().find(|it| it.0 == attr)?;
                Some(found.1.function != AggregateFunction::Count)
            }
            Rel::Union { inputs, output } => {
                let place = output.iter().position(|it| *it == attr)?;
                Some(inputs.iter().any(|it| self.nullable(&it.0, it.1[place])))
            }
            Rel::Values { output, rows } => {
                let place = output.iter().position(|it| *it == attr)?;
                Some(rows.iter().any(|it| may_be_null(&it[place], &|_| true)))
            }
            Rel::Shared { id, output, .. } => {
                let there = output.iter().find(|it| it.0 == attr)?.1;
                Some(self.nullable(&self.shared[*id], there))
            }
            Rel::Apply(apply) => match self.look_up(&apply.left, attr) {
                Some(it) => Some(it),
                None => rel.attrs().contains(attr).then_some(true),
            },
        }
    }
}
