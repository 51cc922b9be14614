//! Vertices that do not join by inner joins: semi, anti, mark and left joins. They join alone, as the right side, once
//! what their condition needs is there.

use plan::properties::is_volatile;
use plan::relation::{AttrSet, Attribute, RelJoin};
use plan::{BinaryOperator, Expr, ExprKind};

use super::vertex::Vertex;
use crate::estimate;
use crate::rewrite::extremes::Inequality;
use crate::rewrite::origin;
use crate::tuning::{GROUP_ANY, GROUP_RISING};

/// A join that is not inner, prepared.
#[derive(Default)]
pub(super) struct Dependent {
    /// Equalities of an expression of the left with one of the vertex.
    pub keys: Vec<(Expr, Expr)>,
    /// All other conjuncts.
    pub residual: Vec<Expr>,
    /// The share of left rows with a partner.
    pub share: f64,
    /// Partners of a left row.
    pub fan_out: f64,
    /// Its residual, when extremes can decide it.
    pub inequality: Option<Inequality>,
    /// Distinct keys of its rows.
    pub groups: f64,
    /// What grouping its rows by the keys costs each.
    pub grouping: f64,
    /// Whether the left side's only key rises from row to row.
    pub rises: bool,
}

impl Dependent {
    /// The join of a vertex; nothing for an inner one. `distinct` estimates the values of an expression of the left.
    pub fn of(
        vertex: &Vertex,
        distinct: &dyn Fn(&Expr) -> f64,
        attributes: &mut Vec<Attribute>,
    ) -> Self {
        let mut this = Self::default();
        if vertex.kind == RelJoin::Inner {
            return this;
        }
        let (mut left_distinct, mut right_distinct) = (1.0, 1.0);
        for predicate in &vertex.on {
            let Some((left, right)) = key(predicate, &vertex.inner_attrs) else {
                this.residual.push(predicate.clone());
                continue;
            };
            left_distinct *= distinct(left);
            right_distinct *= estimate::distinct_of(&vertex.rel, right);
            this.keys.push((left.clone(), right.clone()));
        }
        let rows = vertex.rel.rows().max(1.0);
        let right_distinct = f64::min(right_distinct, rows);
        let left_distinct: f64 = left_distinct.max(1.0);
        this.share = (right_distinct / left_distinct).min(1.0);
        this.fan_out = rows / left_distinct.max(right_distinct);
        if vertex.kind != RelJoin::Left && !vertex.null_aware {
            let (keys, inner) = (&this.keys, &vertex.inner_attrs);
            this.inequality = Inequality::of(keys, &this.residual, inner, attributes);
        }
        this.groups = right_distinct;
        let sorted = matches!(&this.keys[..], [(_, key)] if origin::rises_in(&vertex.rel, key));
        this.grouping = if sorted { GROUP_RISING } else { GROUP_ANY };
        this
    }
}

/// The sides of an equality between the left and a relation of these attributes, the left's first.
fn key<'a>(predicate: &'a Expr, inner: &AttrSet) -> Option<(&'a Expr, &'a Expr)> {
    let ExprKind::Binary { operator: BinaryOperator::Equal, left, right } = &predicate.kind else {
        return None;
    };
    let (l, r) = (AttrSet::of(left), AttrSet::of(right));
    let inside = |it: &AttrSet| !it.is_empty() && it.is_subset(inner);
    let outside = |it: &AttrSet| !it.is_empty() && !it.intersects(inner);
    if is_volatile(predicate) {
        return None;
    }
    if outside(&l) && inside(&r) {
        return Some((left, right));
    }
    (outside(&r) && inside(&l)).then_some((&**right, &**left))
}
