//! Greedy ordering: of all pairs of parts the cheapest is joined, until one part is left. Time grows with the square of
//! the relations.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use types::{Interrupt, SqlError, SqlResult};

use super::graph::JoinGraph;
use super::partial::{BuildSide, Partial, PlanId};
use crate::tuning::CROSS_PARTS_MAX;

/// A join that could be next: by cost, and among equals by age.
#[derive(PartialEq)]
struct Candidate {
    cost: f64,
    left: PlanId,
    right: PlanId,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let ids = |it: &Self| (it.left, it.right);
        self.cost.total_cmp(&other.cost).then_with(|| ids(self).cmp(&ids(other)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Greedy<'a> {
    graph: &'a JoinGraph,
    plans: Vec<Partial>,
    /// The plans that are in no other.
    parts: Vec<PlanId>,
    candidates: BinaryHeap<Reverse<Candidate>>,
}

/// A plan of all vertices with the plans that it is made of.
pub(super) fn order(graph: &JoinGraph, interrupt: &Interrupt) -> SqlResult<(Vec<Partial>, PlanId)> {
    let (plans, parts, candidates) = (Vec::new(), Vec::new(), BinaryHeap::new());
    let mut this = Greedy { graph, plans, parts, candidates };
    for vertex in 0..graph.vertices.len() {
        interrupt.check()?;
        this.add(graph.leaf(vertex));
    }
    while this.parts.len() > 1 {
        interrupt.check()?;
        let next = this.cheapest().or_else(|| this.cross_product());
        let Some((left, right)) = next else {
            return Err(SqlError::internal("the joins of the query have no order"));
        };
        let (l, r) = (&this.plans[left], &this.plans[right]);
        let rows = graph.rows(l, r);
        let joined = graph.joined((left, l), (right, r), rows, graph.join_cost(l, r, rows));
        this.parts.retain(|it| *it != left && *it != right);
        this.add(joined);
    }
    let plan = this.parts.first().copied();
    let plan = plan.ok_or_else(|| SqlError::internal("a join of no relations"))?;
    Ok((this.plans, plan))
}

/// A plan in the order of the query, each table on the right: what runs without any choice. A relation that nothing
/// connects to those before it comes later, where that avoids a cross product.
pub(super) fn given(graph: &JoinGraph, interrupt: &Interrupt) -> SqlResult<(Vec<Partial>, PlanId)> {
    let mut plans: Vec<Partial> = (0..graph.vertices.len()).map(|it| graph.leaf(it)).collect();
    let first = plans.iter().position(|it| it.dependent.is_none());
    let mut all = first.ok_or_else(|| SqlError::internal("a join of no relations"))?;
    let mut waiting: Vec<PlanId> = (0..plans.len()).filter(|it| *it != all).collect();
    while !waiting.is_empty() {
        interrupt.check()?;
        let (left, of) = (&plans[all], |it: &PlanId| &plans[*it]);
        let connected =
            |it: &PlanId| graph.joinable(left, of(it)) && graph.connected(left, of(it), true);
        let next = waiting
            .iter()
            .position(connected)
            .or_else(|| waiting.iter().position(|it| graph.joinable(left, of(it))));
        let Some(place) = next else {
            return Err(SqlError::internal("the joins of the query have no order"));
        };
        let right = waiting.remove(place);
        let rows = graph.rows(left, &plans[right]);
        let how = (0.0, BuildSide::Right);
        let joined = graph.joined((all, left), (right, &plans[right]), rows, how);
        all = plans.len();
        plans.push(joined);
    }
    Ok((plans, all))
}

impl Greedy<'_> {
    /// Adds a part and its joins with all others.
    fn add(&mut self, plan: Partial) {
        let new = self.plans.len();
        self.plans.push(plan);
        for part in self.parts.clone() {
            self.offer(part, new);
            self.offer(new, part);
        }
        self.parts.push(new);
    }

    fn offer(&mut self, left: PlanId, right: PlanId) {
        let (l, r) = (&self.plans[left], &self.plans[right]);
        if self.graph.joinable(l, r) && self.graph.connected(l, r, true) {
            let cost = self.cost(left, right);
            self.candidates.push(Reverse(Candidate { cost, left, right }));
        }
    }

    fn cost(&self, left: PlanId, right: PlanId) -> f64 {
        let (l, r) = (&self.plans[left], &self.plans[right]);
        let rows = self.graph.rows(l, r);
        self.graph.join_cost(l, r, rows).0 + rows
    }

    /// The cheapest join of two parts that a condition connects.
    fn cheapest(&mut self) -> Option<(PlanId, PlanId)> {
        while let Some(Reverse(Candidate { left, right, .. })) = self.candidates.pop() {
            // Parts are in ascending order.
            let is_part = |it: PlanId| self.parts.binary_search(&it).is_ok();
            if is_part(left) && is_part(right) {
                return Some((left, right));
            }
        }
        None
    }

    /// The parts to join where no condition connects any.
    fn cross_product(&self) -> Option<(PlanId, PlanId)> {
        let rows = |it: &PlanId| self.plans[*it].rows;
        let mut parts = self.parts.clone();
        if parts.len() > CROSS_PARTS_MAX {
            parts.sort_by(|a, b| rows(a).total_cmp(&rows(b)).then_with(|| a.cmp(b)));
        }
        let mut best: Option<Candidate> = None;
        for &left in &parts {
            for &right in &parts {
                if left == right || !self.graph.joinable(&self.plans[left], &self.plans[right]) {
                    continue;
                }
                if parts.len() > CROSS_PARTS_MAX {
                    return Some((left, right));
                }
                let candidate = Candidate { cost: self.cost(left, right), left, right };
                if best.as_ref().is_none_or(|it| candidate < *it) {
                    best = Some(candidate);
                }
            }
        }
        best.map(|it| (it.left, it.right))
    }
}
