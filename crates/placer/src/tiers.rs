//! Nodes without CPUs: what lies there is remote to everyone, so that they keep what nobody reads, and only when the memory
//! beside the CPUs is short (docs/adaptive-placement.md, "Nodes without CPUs").

use stdx::Nanos;

use crate::constants::{COLD_AFTER, HORIZON, ROOMY, ROUND_ACTIONS, ROUND_COPY, SHORT};
use crate::costs::Bandwidths;
use crate::decision::{Action, Decision};
use crate::plan::{ItemLoad, Round};

/// What has room and what is short of it.
pub(crate) struct Tiers<'a> {
    round: &'a Round<'a>,
    /// Bytes of each node that a move may take.
    free: Vec<u64>,
}

impl<'a> Tiers<'a> {
    /// Nothing is decided when it is not known what is free.
    pub(crate) fn new(round: &'a Round<'a>, free: &[u64]) -> Self {
        Self { round, free: free.to_vec() }
    }

    /// What goes back beside CPUs as it is read, then what makes room there as nobody reads it.
    pub(crate) fn decide(mut self, at: Nanos) -> Vec<Decision> {
        let (mut decisions, mut copies) = (Vec::<Decision>::new(), Nanos(0));
        if self.free.len() != self.costs().nodes.len() || self.costs().takes.iter().all(|it| *it) {
            return decisions;
        }
        while decisions.len() < ROUND_ACTIONS && copies < ROUND_COPY {
            let is_new = |it: &&ItemLoad| decisions.iter().all(|done| done.item != it.item);
            let free = || self.round.items().iter().filter(|it| it.is_free && it.is_proven);
            let next = free().filter(is_new).find_map(|it| self.promotion(at, it));
            let next = next.or_else(|| self.demotion(at, free().filter(is_new)));
            let Some((item, to, decision)) = next else { break };
            for (from, to, bytes) in self.round.copies(item, &to) {
                self.free[from] += bytes as u64;
                self.free[to] = self.free[to].saturating_sub(bytes as u64);
            }
            copies += decision.copy_time;
            decisions.push(decision);
        }
        decisions
    }

    fn costs(&self) -> &'a Bandwidths {
        self.round.costs
    }

    /// Whether a node has a part of its memory free besides some bytes.
    fn has_room(&self, node: usize, bytes: f64, part: f64) -> bool {
        self.free[node] as f64 - bytes >= part * self.costs().capacity[node]
    }

    /// An item that lies on a node without CPUs and is read so often that its copy beside the CPUs pays back.
    fn promotion(
        &self,
        at: Nanos,
        it: &'a ItemLoad,
    ) -> Option<(&'a ItemLoad, Vec<usize>, Decision)> {
        let costs = self.costs();
        let far = *it.nodes.iter().find(|node| !costs.takes[**node])?;
        let bytes = it.bytes as f64 / it.nodes.len() as f64;
        let by_load = |a: &usize, b: &usize| self.round.loads[*a].total_cmp(&self.round.loads[*b]);
        let near = (0..costs.nodes.len())
            .filter(|node| costs.takes[*node] && !it.nodes.contains(node))
            .filter(|node| self.has_room(*node, bytes, ROOMY))
            .min_by(by_load)?;
        let replaced = |node: &usize| if *node == far { near } else { *node };
        let to: Vec<usize> = it.nodes.iter().map(replaced).collect();
        let change = self.round.change(at, it, Action::Promote, &to, (far, near));
        let left = HORIZON.0.saturating_sub(change.copy_time.0) as f64;
        let rate = it.recent / it.nodes.len() as f64;
        let gain = Nanos((rate * left * costs.saved_per_byte(far, near)) as u64);
        let load_after = self.round.loads[near] + costs.load(near, rate);
        let item_load = costs.load(far, rate);
        let load = self.round.loads[far];
        (gain > change.cost).then_some((
            it,
            to,
            Decision { gain, load, item_load, load_after, ..change },
        ))
    }

    /// Of the items of the node that is shortest of memory, the one that nobody has read for longest.
    fn demotion(
        &self,
        at: Nanos,
        items: impl Iterator<Item = &'a ItemLoad>,
    ) -> Option<(&'a ItemLoad, Vec<usize>, Decision)> {
        let costs = self.costs();
        let part = |node: usize| self.free[node] as f64 / costs.capacity[node];
        let full = (0..costs.nodes.len())
            .filter(|node| costs.takes[*node] && part(*node) < SHORT)
            .min_by(|a, b| part(*a).total_cmp(&part(*b)))?;
        let is_cold =
            |it: &&ItemLoad| it.idle >= COLD_AFTER && it.bytes > 0 && it.nodes.contains(&full);
        let item = items.filter(is_cold).max_by_key(|it| it.idle)?;
        let bytes = item.bytes as f64;
        let far = (0..costs.nodes.len())
            .filter(|node| !costs.takes[*node] && self.has_room(*node, bytes, SHORT))
            .max_by(|a, b| costs.between(full, *a).total_cmp(&costs.between(full, *b)))?;
        let change = self.round.change(at, item, Action::Demote, &[far], (full, far));
        let here = bytes / item.nodes.len() as f64 / costs.capacity[full];
        let load = 1.0 - part(full);
        let loads = Decision { load, item_load: here, load_after: load - here, ..change };
        Some((item, vec![far], loads))
    }
}

#[cfg(test)]
#[path = "tiers_tests.rs"]
mod tests;
