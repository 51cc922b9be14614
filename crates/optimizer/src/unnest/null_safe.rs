//! `a IS NOT DISTINCT FROM b` between two sides of a join as equalities, which joins can look up: one where a side is
//! never NULL, else one of the values with NULL replaced, and one of whether they are NULL.

use plan::build::unary;
use plan::relation::{AttrSet, JoinRel, Rel, RelJoin};
use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use types::{DataType, Value};

use super::expressions::case;
use super::nullable::may_be_null;
use super::state::Unnesting;

impl Unnesting {
    /// Expands such conditions in a relation of the query and in all that it shares.
    pub(super) fn expand_null_safe(&mut self, root: &mut Rel) {
        // No relation reads itself, so each may be out of its place for a while.
        for place in 0..self.shared.len() {
            let mut rel = self.shared[place].take();
            rel.visit_mut(&mut |it| self.expand(it));
            self.shared[place] = rel;
        }
        for place in 0..self.scalars.len() {
            let mut rel = self.scalars[place].rel.take();
            rel.visit_mut(&mut |it| self.expand(it));
            self.scalars[place].rel = rel;
        }
        root.visit_mut(&mut |it| self.expand(it));
    }

    fn expand(&self, rel: &mut Rel) {
        match rel {
            Rel::Join(join) => {
                let JoinRel { left, right, residual, .. } = &mut **join;
                let (a, b) = (left.attrs(), right.attrs());
                let apart = |l: &AttrSet, r: &AttrSet| {
                    l.is_subset(&a) && r.is_subset(&b) || r.is_subset(&a) && l.is_subset(&b)
                };
                let nullable = |it: &Expr| self.nullable_over(it, left, right);
                *residual = expanded(std::mem::take(residual), &apart, &nullable);
            }
            Rel::Filter { input, predicates } => {
                let nullable = |it: &Expr| may_be_null(it, &|attr| self.nullable(input, attr));
                let apart = |l: &AttrSet, r: &AttrSet| are_apart(input, l, r);
                *predicates = expanded(std::mem::take(predicates), &apart, &nullable);
            }
            _ => {}
        }
    }
}

/// Whether two sets of attributes are on different sides of an inner join.
fn are_apart(rel: &Rel, left: &AttrSet, right: &AttrSet) -> bool {
    match rel {
        Rel::Filter { input, .. } | Rel::Map { input, .. } => are_apart(input, left, right),
        Rel::Join(join) => {
            let within = [&join.left, &join.right].into_iter().find(|it| {
                let attrs = it.attrs();
                left.is_subset(&attrs) && right.is_subset(&attrs)
            });
            match within {
                Some(side) => are_apart(side, left, right),
                None => {
                    let (a, b) = (join.left.attrs(), join.right.attrs());
                    join.kind == RelJoin::Inner
                        && (left.is_subset(&a) && right.is_subset(&b)
                            || left.is_subset(&b) && right.is_subset(&a))
                }
            }
        }
        _ => false,
    }
}

fn expanded(
    conditions: Vec<Expr>,
    apart: &dyn Fn(&AttrSet, &AttrSet) -> bool,
    nullable: &dyn Fn(&Expr) -> bool,
) -> Vec<Expr> {
    let mut all = Vec::with_capacity(conditions.len());
    for condition in conditions {
        let ExprKind::Binary { operator: BinaryOperator::IsNotDistinctFrom, left, right } =
            &condition.kind
        else {
            all.push(condition);
            continue;
        };
        let (l, r) = (AttrSet::of(left), AttrSet::of(right));
        if l.is_empty() || r.is_empty() || !apart(&l, &r) {
            all.push(condition);
            continue;
        }
        let equal = |left, right| Expr::predicate(BinaryOperator::Equal, left, right);
        if !nullable(left) || !nullable(right) {
            all.push(equal((**left).clone(), (**right).clone()));
            continue;
        }
        let (Some(a), Some(b)) = (replaced(left), replaced(right)) else {
            all.push(condition);
            continue;
        };
        all.push(equal(a, b));
        let missing = |it: &Expr| unary(UnaryOperator::IsNull, it.clone());
        all.push(equal(missing(left), missing(right)));
    }
    all
}

/// The expression with a value of its type in the place of NULL.
pub(crate) fn replaced(expr: &Expr) -> Option<Expr> {
    let value = match expr.data_type.stored() {
        DataType::Null => return None,
        DataType::Boolean => Value::Boolean(false),
        DataType::SmallInt | DataType::Integer | DataType::BigInt => Value::Integer(0),
        DataType::Real | DataType::Double => Value::Float(0.0),
        DataType::Decimal { scale, .. } => Value::Decimal { unscaled: 0, scale },
        DataType::Date => Value::Date(0),
        DataType::Timestamp => Value::Timestamp(0),
        DataType::Char(_) | DataType::Bpchar | DataType::Varchar(_) | DataType::Text => {
            Value::Text("".into())
        }
        held => unreachable!("invariant: {held} is not held as itself"),
    };
    let missing = unary(UnaryOperator::IsNull, expr.clone());
    let value = Expr::literal(value, expr.data_type);
    Some(case(vec![(missing, value)], Some(expr.clone()), expr.data_type))
}
