//! Exhaustive ordering: the cheapest plan of every set of vertices that conditions connect, smaller sets first.

use types::{Interrupt, SqlResult};

use super::graph::JoinGraph;
use super::partial::{Partial, PlanId, Shape};
use crate::tuning::EXHAUSTIVE_RELATIONS_MAX;

/// The cheapest plan of each set of vertices so far.
struct Best<'a> {
    graph: &'a JoinGraph,
    plans: Vec<Partial>,
    /// The plan of each set, by its bits.
    of: Vec<Option<PlanId>>,
}

/// The cheapest plan of all vertices with the plans that it is made of; `None` where there are too many vertices or where
/// conditions, with `loose` also those that are no equality, do not connect them.
pub(super) fn order(
    graph: &JoinGraph,
    loose: bool,
    interrupt: &Interrupt,
) -> SqlResult<Option<(Vec<Partial>, PlanId)>> {
    let count = graph.vertices.len();
    if count > EXHAUSTIVE_RELATIONS_MAX {
        return Ok(None);
    }
    let mut best = Best { graph, plans: Vec::new(), of: vec![None; 1 << count] };
    for vertex in 0..count {
        best.add(graph.leaf(vertex));
    }
    let full = (1usize << count) - 1;
    for set in (3..=full).filter(|it| !it.is_power_of_two()) {
        interrupt.check()?;
        let mut left = (set - 1) & set;
        while left != 0 {
            best.consider(left, set ^ left, loose);
            left = (left - 1) & set;
        }
    }
    Ok(best.of[full].map(|plan| (best.plans, plan)))
}

impl Best<'_> {
    fn add(&mut self, plan: Partial) {
        self.of[plan.set.bits() as usize] = Some(self.plans.len());
        self.plans.push(plan);
    }

    /// Joins the plans of two sets, and keeps the result if nothing cheaper is known.
    fn consider(&mut self, left: usize, right: usize, loose: bool) {
        let (Some(left_id), Some(right_id)) = (self.of[left], self.of[right]) else { return };
        let (l, r) = (&self.plans[left_id], &self.plans[right_id]);
        if !self.graph.joinable(l, r) || !self.graph.connected(l, r, loose) {
            return;
        }
        let known = self.of[left | right];
        // The rows of a set are those of its first join: estimates of other orders could differ.
        let rows = known.map_or_else(|| self.graph.rows(l, r), |it| self.plans[it].rows);
        let (own, side) = self.graph.join_cost(l, r, rows);
        let cost = own + l.cost + r.cost;
        match known {
            None => {
                let plan = self.graph.joined((left_id, l), (right_id, r), rows, (own, side));
                self.add(plan);
            }
            Some(known) if cost < self.plans[known].cost => {
                let shape = Shape::Join { left: left_id, right: right_id, side };
                (self.plans[known].cost, self.plans[known].shape) = (cost, shape);
            }
            Some(_) => {}
        }
    }
}
