//! The relation of a partial plan.

use plan::relation::{JoinRel, Rel, RelJoin};
use plan::{BinaryOperator, Expr};

use super::graph::JoinGraph;
use super::partial::{BuildSide, Partial, PlanId, Shape};

/// Makes the relation of a plan of all vertices.
pub(super) fn build(mut graph: JoinGraph, plans: &[Partial], plan: PlanId) -> Rel {
    let rels = graph.vertices.iter_mut().map(|it| it.rel.take()).collect();
    Builder { graph, plans, rels }.rel(plan)
}

struct Builder<'a> {
    graph: JoinGraph,
    plans: &'a [Partial],
    /// The relations of the vertices, each until it is used.
    rels: Vec<Rel>,
}

impl Builder<'_> {
    /// The relation of a plan: along the left sides in a loop, since chains may be long.
    fn rel(&mut self, plan: PlanId) -> Rel {
        let mut joins = Vec::new();
        let mut at = plan;
        let vertex = loop {
            match self.plans[at].shape {
                Shape::Leaf(vertex) => break vertex,
                Shape::Join { left, .. } => {
                    joins.push(at);
                    at = left;
                }
            }
        };
        let mut rel = self.rels[vertex].take();
        while let Some(join) = joins.pop() {
            rel = self.join(rel, join);
        }
        rel
    }

    /// A join whose left side is made.
    fn join(&mut self, left_rel: Rel, plan: PlanId) -> Rel {
        let Shape::Join { left, right, side } = self.plans[plan].shape else { return left_rel };
        let right_rel = self.rel(right);
        let (l, r) = (&self.plans[left], &self.plans[right]);
        let mut fresh = self.graph.fresh_conditions(l, r);
        let mut join = JoinRel {
            build_left: side == BuildSide::Left,
            rows: self.plans[plan].rows,
            ..JoinRel::new(RelJoin::Inner, left_rel, right_rel)
        };
        if let Some(vertex) = r.dependent {
            let dependent = &self.graph.dependents[vertex];
            let vertex = &self.graph.vertices[vertex];
            (join.kind, join.null_aware, join.mark) = (vertex.kind, vertex.null_aware, vertex.mark);
            join.keys = dependent.keys.clone();
            join.residual = dependent.residual.clone();
            let grouped = dependent.inequality.as_ref();
            if let Some(inequality) = grouped.filter(|_| side == BuildSide::GroupedRight) {
                inequality.group(&mut join, dependent.groups);
            }
            return Rel::Join(Box::new(join)).filtered(fresh);
        }
        let mut common: Vec<usize> = l.common(r).map(|it| it.0).collect();
        common.sort_unstable();
        for class in common {
            let class = &self.graph.classes[class];
            if let (Some(a), Some(b)) = (class.in_set(&l.set), class.in_set(&r.set)) {
                join.keys.push((a.clone(), b.clone()));
            }
        }
        let (keys, rest) = self.graph.applicable(l, r);
        join.keys.extend(keys);
        let equal = |it: (Expr, Expr)| Expr::predicate(BinaryOperator::Equal, it.0, it.1);
        join.residual.extend(rest.into_iter().map(equal));
        join.residual.append(&mut fresh);
        Rel::Join(Box::new(join))
    }
}
