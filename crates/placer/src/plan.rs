//! One round: from loads to the actions that bring the nodes into balance (P-HANA figure 20).

use stdx::Nanos;

use crate::constants::{
    BALANCED, CONTENDED, DOMINANT, HORIZON, LOSS, ROUND_ACTIONS, ROUND_COPY, ROUND_RELIEF,
};
use crate::costs::Bandwidths;
use crate::decision::{Action, Decision};
use crate::spread::{moved, widened};
use crate::window::Item;

/// What is known of an item; nodes by position.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ItemLoad {
    pub(crate) item: Item,
    pub(crate) nodes: Vec<usize>,
    pub(crate) bytes: u64,
    /// Bytes per second of the memory of each node.
    pub(crate) rates: Vec<f64>,
    /// Bytes per second in the mean of about a [`HORIZON`].
    pub(crate) recent: f64,
    /// For how long nobody has read it.
    pub(crate) idle: Nanos,
    /// Whether it may be placed anew.
    pub(crate) is_free: bool,
    /// Whether its load has lasted long enough for that, as far as it can tell.
    pub(crate) is_proven: bool,
    /// The part of what is read of it that is looked up, value by value.
    pub(crate) lookups: f64,
    /// Bytes per second of what a copy has that CPUs of other nodes read.
    pub(crate) remote: f64,
    /// Bytes of a copy, if copies can be made now.
    pub(crate) copy_bytes: Option<u64>,
    pub(crate) has_copies: bool,
    /// Bytes of its table, if that can be cut into parts now.
    pub(crate) table_bytes: Option<u64>,
    /// The most nodes over which its rows can be split.
    pub(crate) most_nodes: usize,
}

/// Loads of nodes, and what of them is of which item. Carrying a decision out on it tells what the next loads will be.
#[derive(Clone)]
pub(crate) struct Round<'a> {
    pub(crate) costs: &'a Bandwidths,
    pub(crate) loads: Vec<f64>,
    items: Vec<ItemLoad>,
    /// The load of each item on each node.
    shares: Vec<Vec<f64>>,
}

impl<'a> Round<'a> {
    /// The load of a node is the share of its bandwidth that is read, where one is contended by that; else the share of
    /// time in which its workers are busy, which is of the items that it holds by the bytes read of them.
    pub(crate) fn new(costs: &'a Bandwidths, busy: &[f64], items: Vec<ItemLoad>) -> Self {
        let width = costs.nodes.len();
        let rate = |node: usize| items.iter().map(|it| it.rates[node]).sum::<f64>();
        let rates: Vec<f64> = (0..width).map(rate).collect();
        let memory: Vec<f64> = (0..width).map(|it| costs.load(it, rates[it])).collect();
        let by_memory = memory.iter().any(|it| *it >= CONTENDED);
        let loads = if by_memory { memory } else { busy.to_vec() };
        let part = |it: &ItemLoad, node: usize| match rates[node] {
            0.0 => 0.0,
            all => loads[node] * it.rates[node] / all,
        };
        let shares =
            items.iter().map(|it| (0..width).map(|node| part(it, node)).collect()).collect();
        Self { costs, loads, items, shares }
    }

    /// The nodes with the greatest and the least load; the first of equals.
    pub(crate) fn ends(&self) -> (usize, usize) {
        let nodes = || (0..self.loads.len()).filter(|it| self.costs.takes[*it]);
        let by_load = |a: &usize, b: &usize| self.loads[*a].total_cmp(&self.loads[*b]);
        let hottest = (0..self.loads.len()).rev().max_by(by_load).unwrap_or(0);
        (hottest, nodes().min_by(by_load).unwrap_or(hottest))
    }

    /// Whether a node is contended while all together have much less to do.
    pub(crate) fn is_out_of_balance(&self) -> bool {
        let most = self.loads[self.ends().0];
        let nodes = || (0..self.loads.len()).filter(|it| self.costs.takes[*it]);
        let mean = nodes().map(|it| self.loads[it]).sum::<f64>() / nodes().count().max(1) as f64;
        most >= CONTENDED && most - mean >= LOSS * most
    }

    /// Whether the coldest node has less to do than the hottest by a part of that.
    fn differs_by(&self, part: f64) -> bool {
        let (hottest, coldest) = self.ends();
        let (most, least) = (self.loads[hottest], self.loads[coldest]);
        most > 0.0 && most - least >= part * most
    }

    /// The actions of a round, each seen after those before it; none if they would not relieve the hottest node. `again`:
    /// an item may be acted on more than once.
    pub(crate) fn decide(mut self, at: Nanos, again: bool) -> Vec<Decision> {
        let (mut decisions, mut copies) = (Vec::new(), Nanos(0));
        let before = self.loads[self.ends().0];
        if !self.is_out_of_balance() {
            return decisions;
        }
        while decisions.len() < ROUND_ACTIONS && copies < ROUND_COPY && self.differs_by(BALANCED) {
            let Some((place, decision)) = self.best(at) else { break };
            // What a split leaves is seen before others are moved for it.
            let split = |it: &Decision| it.action != Action::Move;
            if !again && decisions.iter().any(split) && !split(&decision) {
                break;
            }
            copies += decision.copy_time;
            self.carry_out(place, &decision, again);
            decisions.push(decision);
        }
        let relief = before - self.loads[self.ends().0];
        if relief >= ROUND_RELIEF * before { decisions } else { Vec::new() }
    }

    /// What is done with the hottest node's hottest item with which something can be done that pays back.
    fn best(&self, at: Nanos) -> Option<(usize, Decision)> {
        let hottest = self.ends().0;
        let load = |it: &usize| self.shares[*it][hottest];
        let mut places: Vec<usize> = (0..self.items.len())
            .filter(|it| self.may_act(*it, hottest) && load(it) > 0.0)
            .collect();
        places.sort_by(|a, b| load(b).total_cmp(&load(a)));
        // Others do not make room for one that may soon be acted on itself: they are many more bytes than its next part,
        // and lie crowded when it has gone.
        let waits = |it: &&usize| !self.items[**it].is_proven && self.dominates(**it, hottest);
        if places.first().filter(waits).is_some() {
            return None;
        }
        places.retain(|it| self.items[*it].is_proven);
        places.into_iter().find_map(|it| Some((it, self.action(at, it, hottest)?)))
    }

    /// Whether an item is most of a node's load.
    fn dominates(&self, place: usize, node: usize) -> bool {
        self.shares[place][node] >= DOMINANT * self.loads[node]
    }

    /// Whether an item may leave a node. Statements that began before it moved may still read it where it was. What has
    /// copies is read near by everyone.
    fn may_act(&self, place: usize, node: usize) -> bool {
        let it = &self.items[place];
        it.is_free && !it.has_copies && it.nodes.contains(&node)
    }

    /// The action on an item of the hottest node, if there is one that pays back.
    fn action(&self, at: Nanos, place: usize, hottest: usize) -> Option<Decision> {
        let ItemLoad { nodes, most_nodes, .. } = &self.items[place];
        let may_split = self.costs.takes[hottest] && self.dominates(place, hottest);
        if may_split {
            let remade = self.remade(at, place);
            if remade.is_some() || nodes.len() >= *most_nodes {
                return remade;
            }
        }
        let by_load = |a: &usize, b: &usize| self.loads[*a].total_cmp(&self.loads[*b]);
        let others =
            (0..self.loads.len()).filter(|it| self.costs.takes[*it] && !nodes.contains(it));
        let coldest = others.min_by(by_load)?;
        let item_load = self.shares[place][hottest];
        let load = self.loads[hottest];
        let (action, to) = if may_split {
            (Action::Split, widened(nodes, coldest))
        } else {
            let replaced = |it: &usize| if *it == hottest { coldest } else { *it };
            (Action::Move, nodes.iter().map(replaced).collect())
        };
        let after = self.loads_after(&[place], &to);
        let load_after = after[hottest].max(after[coldest]);
        let change = self.change(at, &self.items[place], action, &to, (hottest, coldest));
        let left = HORIZON.0.saturating_sub(change.copy_time.0) as f64;
        let gain = Nanos(((load - load_after).max(0.0) * left) as u64);
        (load_after < load && gain > change.cost).then_some(Decision {
            load,
            item_load,
            load_after,
            gain,
            ..change
        })
    }

    /// All that are known.
    pub(crate) fn items(&self) -> &[ItemLoad] {
        &self.items
    }

    /// An item on other nodes, with what its copy costs; loads and gain are still to be told.
    pub(crate) fn change(
        &self,
        at: Nanos,
        it: &ItemLoad,
        action: Action,
        to: &[usize],
        (hottest, coldest): (usize, usize),
    ) -> Decision {
        self.decision(at, (it, action), to, (hottest, coldest), &self.copies(it, to))
    }

    /// An item of which these copies are made: from, to, how many bytes.
    pub(crate) fn copied(
        &self,
        at: Nanos,
        (place, action): (usize, Action),
        to: &[usize],
        ends: (usize, usize),
        copies: &[(usize, usize, f64)],
    ) -> Decision {
        self.decision(at, (&self.items[place], action), to, ends, copies)
    }

    fn decision(
        &self,
        at: Nanos,
        (it, action): (&ItemLoad, Action),
        to: &[usize],
        (hottest, coldest): (usize, usize),
        copies: &[(usize, usize, f64)],
    ) -> Decision {
        let cost = self.costs.copy_cost(copies);
        let name = |it: &usize| self.costs.nodes[*it];
        Decision {
            at,
            item: it.item,
            action,
            from: it.nodes.iter().map(name).collect(),
            to: to.iter().map(name).collect(),
            hottest: name(&hottest),
            coldest: name(&coldest),
            load: self.loads[hottest],
            item_load: 0.0,
            load_after: self.loads[hottest],
            copy_bytes: copies.iter().map(|it| it.2).sum::<f64>() as u64,
            copy_time: Bandwidths::copy_time(cost),
            cost,
            gain: Nanos(0),
        }
    }

    /// Bytes that change their node: from, to, how many.
    pub(crate) fn copies(&self, it: &ItemLoad, to: &[usize]) -> Vec<(usize, usize, f64)> {
        let all = it.bytes as f64;
        moved(&it.nodes, to).into_iter().map(|it| (it.0, it.1, it.2 * all)).collect()
    }

    /// The load of an item on a node.
    pub(crate) fn share_of(&self, place: usize, node: usize) -> f64 {
        self.shares[place][node]
    }

    /// What each of some items is of each node's load when it is read evenly of other nodes.
    fn shares_on(&self, place: usize, to: &[usize]) -> Vec<f64> {
        let each = self.shares[place].iter().sum::<f64>() / to.len().max(1) as f64;
        let own = |node: usize| if to.contains(&node) { each } else { 0.0 };
        (0..self.loads.len()).map(own).collect()
    }

    /// The loads when some items are read evenly of other nodes.
    pub(crate) fn loads_after(&self, places: &[usize], to: &[usize]) -> Vec<f64> {
        let mut loads = self.loads.clone();
        for &place in places {
            let pairs = self.shares[place].iter().zip(self.shares_on(place, to));
            loads.iter_mut().zip(pairs).for_each(|(load, (old, new))| *load += new - old);
        }
        loads
    }

    fn carry_out(&mut self, place: usize, decision: &Decision, again: bool) {
        let to: Vec<usize> = decision.to.iter().filter_map(|it| self.costs.position(*it)).collect();
        let places = self.touched(place, decision.action);
        self.loads = self.loads_after(&places, &to);
        let is_remade = matches!(decision.action, Action::Replicate | Action::Partition);
        for place in places {
            self.shares[place] = self.shares_on(place, &to);
            let item = &mut self.items[place];
            item.nodes.clone_from(&to);
            item.is_free &= again && !is_remade;
        }
    }

    /// An item back on the nodes that it had, or its table in one piece: no load speaks for it, it only tidies up.
    pub(crate) fn shrink(
        &self,
        at: Nanos,
        (item, action): (Item, Action),
        to: &[usize],
    ) -> Option<Decision> {
        let it = self.items.iter().find(|it| it.item == item && it.is_free)?;
        Some(self.change(at, it, action, to, self.ends()))
    }
}
