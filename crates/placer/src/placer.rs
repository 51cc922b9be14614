//! The placer over time: it smooths what it is told, waits until it is sure, decides, and rests.

use std::collections::BTreeMap;

use hardware::Topology;
use stdx::Nanos;

use crate::constants::{
    COLD_AFTER, FALLEN, HORIZON, PERSISTENT, SETTLE_WINDOWS, SMOOTHING, STEADY_WINDOWS,
    STREAK_WINDOWS, TRIAL_ACTIONS, VOLATILE_REST, WINDOW,
};
use crate::costs::Bandwidths;
use crate::decision::{Action, Decision};
use crate::noise::Noise;
use crate::plan::{ItemLoad, Round};
use crate::tiers::Tiers;
use crate::window::{Item, ItemWindow, Window};

/// Observes windows and decides.
#[derive(Debug)]
pub struct Placer {
    costs: Bandwidths,
    busy: Means,
    noise: Noise,
    items: BTreeMap<Item, ItemState>,
    /// Windows out of balance in a row.
    uneven: u32,
    /// Until then loads do not count: copies are under way, or just were.
    resting_until: Nanos,
}

/// Figures that each window brings, one for each node; empty before the first window.
#[derive(Clone, Default, Debug)]
struct Means {
    /// Of the last windows, the newest counting most.
    smoothed: Vec<f64>,
    /// Of the windows out of balance, all alike.
    streak: Vec<f64>,
}

impl Means {
    /// Takes in figures after so many windows out of balance.
    fn see(&mut self, fresh: &[f64], uneven: u32) {
        smooth(&mut self.smoothed, fresh, SMOOTHING);
        smooth(&mut self.streak, fresh, 1.0 / f64::from(uneven.min(STREAK_WINDOWS) + 1));
    }
}

/// What is remembered of an item.
#[derive(Clone, Default, Debug)]
struct ItemState {
    /// Bytes per second of the memory of each node.
    rates: Means,
    /// Bytes per second in the mean of about a [`HORIZON`].
    recent: f64,
    last_read: Nanos,
    /// The nodes that it had before it was split.
    home: Option<Vec<usize>>,
    /// Those of the last [`VOLATILE_REST`].
    actions: u32,
    /// The last action, and the demand at that time.
    last_action: Option<(Nanos, Demand)>,
    /// Since then the demand has never fallen much below that.
    lasting_since: Nanos,
    left_alone_until: Nanos,
}

/// How much an item is asked for.
#[derive(Clone, Copy, Debug)]
struct Demand {
    /// Bytes per second.
    rate: f64,
    /// The part of all that is read.
    share: f64,
}

impl Demand {
    fn of(rates: &[f64], all: f64) -> Self {
        let rate = rates.iter().sum();
        Self { rate, share: if all > 0.0 { rate / all } else { 0.0 } }
    }

    /// Whether it is much less than it was. Either figure alone would mislead: all items are read more slowly when one of
    /// them holds up the clients, and the share of each is less when another comes.
    fn has_fallen_below(self, before: Self) -> bool {
        self.rate < FALLEN * before.rate && self.share < FALLEN * before.share
    }
}

impl Placer {
    /// One for a machine, by what is known of its bandwidths now.
    pub fn new(topology: &Topology) -> Self {
        let costs = Bandwidths::new(topology);
        let (busy, noise, items) = (Means::default(), Noise::new(), BTreeMap::new());
        Self { costs, busy, noise, items, uneven: 0, resting_until: Nanos(0) }
    }

    /// Takes a window in, and tells what is to be done now. All of it is supposed to be done, one after the other; what was
    /// not is to be said by [`Placer::refused`].
    pub fn observe(&mut self, window: &Window) -> Vec<Decision> {
        self.take_in(window);
        if window.at < self.resting_until {
            self.forget_loads();
            return Vec::new();
        }
        let seconds = seconds(window.span);
        let now = |it: &ItemWindow| it.read.iter().map(|&it| it as f64 / seconds).collect();
        let seen = Round::new(&self.costs, &window.busy, self.loads(window, now));
        self.noise.see(&seen.loads);
        let smoothed = |it: &ItemWindow| self.items[&it.item].rates.smoothed.clone();
        let round = Round::new(&self.costs, &self.busy.smoothed, self.loads(window, smoothed));
        if round.is_out_of_balance() {
            self.uneven += 1;
            if self.uneven < STEADY_WINDOWS {
                return Vec::new();
            }
            let streak = |it: &ItemWindow| self.items[&it.item].rates.streak.clone();
            let lasting = Round::new(&self.costs, &self.busy.streak, self.loads(window, streak));
            let mut changes = round.loads.iter().zip(&lasting.loads).map(|(now, mean)| now - mean);
            if changes.any(|it| self.noise.is_certain(it.abs(), STEADY_WINDOWS)) {
                // Another load than the one whose mean was taken: it begins anew.
                self.uneven = 0;
                return Vec::new();
            }
            let (hottest, coldest) = lasting.ends();
            let difference = lasting.loads[hottest] - lasting.loads[coldest];
            let is_certain = self.noise.is_certain(difference, self.uneven);
            let decisions = if is_certain { lasting.decide(window.at, false) } else { Vec::new() };
            if !decisions.is_empty() {
                self.begin(&decisions);
                return decisions;
            }
        } else {
            self.uneven = 0;
        }
        let cold = self.cold(window).and_then(|(item, home)| round.shrink(window.at, item, &home));
        let decisions = match cold {
            Some(shrink) => vec![shrink],
            None => Tiers::new(&round, &window.free).decide(window.at),
        };
        self.begin(&decisions);
        decisions
    }

    /// What would be done about a load that lasts, by one window alone and step by step until the nodes are in balance.
    /// Nothing is remembered.
    pub fn advise(&self, window: &Window) -> Vec<Decision> {
        let seconds = seconds(window.span);
        let items = window.items.iter().map(|it| {
            let rates: Vec<f64> = it.read.iter().map(|&bytes| bytes as f64 / seconds).collect();
            let recent = rates.iter().sum();
            let idle = if recent > 0.0 { Nanos(0) } else { COLD_AFTER };
            ItemLoad { recent, idle, ..self.item_load(it, rates, !it.is_demanded) }
        });
        let round = Round::new(&self.costs, &window.busy, items.collect());
        let mut decisions = round.clone().decide(window.at, true);
        let is_new = |it: &Decision| decisions.iter().all(|done| done.item != it.item);
        let tiers: Vec<Decision> = Tiers::new(&round, &window.free).decide(window.at);
        let tiers: Vec<Decision> = tiers.into_iter().filter(is_new).collect();
        decisions.extend(tiers);
        decisions
    }

    /// At this time decisions still wait or copies are under way, longer than they should have been: nothing is decided
    /// until that can be seen.
    pub fn still_copies(&mut self, at: Nanos) {
        self.resting_until = self.resting_until.max(settled(at));
    }

    /// A decision could not be carried out, or shall not be: the item is left alone for a time.
    pub fn refused(&mut self, decision: &Decision) {
        if let Some(state) = self.items.get_mut(&decision.item) {
            state.left_alone_until = decision.at + VOLATILE_REST;
            if decision.action == Action::Split && state.actions <= 1 {
                state.home = None;
            }
        }
    }

    /// Smooths rates, and notes whose load has not lasted since its last action.
    fn take_in(&mut self, window: &Window) {
        self.busy.see(&window.busy, self.uneven);
        self.items.retain(|item, _| window.items.iter().any(|it| it.item == *item));
        let seconds = seconds(window.span);
        for seen in &window.items {
            let state = self
                .items
                .entry(seen.item)
                .or_insert_with(|| ItemState { last_read: window.at, ..ItemState::default() });
            let fresh: Vec<f64> = seen.read.iter().map(|&it| it as f64 / seconds).collect();
            let part = (window.span.0 as f64 / HORIZON.0 as f64).min(1.0);
            state.recent += part * (fresh.iter().sum::<f64>() - state.recent);
            state.rates.see(&fresh, self.uneven);
            if seen.read.iter().any(|it| *it > 0) {
                state.last_read = window.at;
            }
        }
        let all = self.all_rates();
        for state in self.items.values_mut() {
            let Some((acted, before)) = state.last_action else { continue };
            if window.at - acted > VOLATILE_REST {
                // What comes next is a new load.
                (state.last_action, state.actions) = (None, 0);
            } else if all > 0.0 && Demand::of(&state.rates.smoothed, all).has_fallen_below(before) {
                state.lasting_since = window.at;
            }
        }
    }

    /// Bytes per second of all items.
    fn all_rates(&self) -> f64 {
        self.items.values().flat_map(|it| &it.rates.smoothed).sum()
    }

    /// What was seen before or during copies says nothing of what is after.
    fn forget_loads(&mut self) {
        self.uneven = 0;
        self.busy = Means::default();
        self.noise.forget();
        self.items.values_mut().for_each(|it| it.rates = Means::default());
    }

    fn loads(&self, window: &Window, rates: impl Fn(&ItemWindow) -> Vec<f64>) -> Vec<ItemLoad> {
        let load = |it: &ItemWindow| {
            let state = &self.items[&it.item];
            let is_free = !it.is_demanded && window.at >= state.left_alone_until;
            let has_lasted = window.at - state.lasting_since >= PERSISTENT;
            let is_proven = state.actions < TRIAL_ACTIONS || has_lasted;
            let (recent, idle) = (state.recent, window.at - state.last_read);
            let load = self.item_load(it, rates(it), is_free);
            ItemLoad { is_proven, recent, idle, ..load }
        };
        window.items.iter().map(load).collect()
    }

    fn item_load(&self, it: &ItemWindow, rates: Vec<f64>, is_free: bool) -> ItemLoad {
        let nodes: Vec<usize> = it.nodes.iter().filter_map(|it| self.costs.position(*it)).collect();
        let is_free = is_free && !nodes.is_empty();
        let (item, bytes, recent, idle) = (it.item, it.bytes, 0.0, Nanos(0));
        ItemLoad { item, nodes, bytes, rates, recent, idle, is_free, is_proven: true }
    }

    /// The item that was split and has not been read for longest, and the nodes that it had.
    fn cold(&self, window: &Window) -> Option<(Item, Vec<usize>)> {
        let is_cold = |it: &(&Item, &ItemState)| window.at - it.1.last_read >= COLD_AFTER;
        let split = self.items.iter().filter(|it| it.1.home.is_some()).filter(is_cold);
        let (item, state) = split.min_by_key(|it| it.1.last_read)?;
        Some((*item, state.home.clone()?))
    }

    /// Remembers what is done from now on, and rests until it is done and can be seen.
    fn begin(&mut self, decisions: &[Decision]) {
        let Some(first) = decisions.first() else { return };
        let (mut end, all) = (first.at, self.all_rates());
        for decision in decisions {
            end += decision.copy_time;
            let from = decision.from.iter().filter_map(|it| self.costs.position(*it)).collect();
            let Some(state) = self.items.get_mut(&decision.item) else { continue };
            if state.actions == 0 {
                state.lasting_since = decision.at;
            }
            state.actions += 1;
            state.last_action = Some((decision.at, Demand::of(&state.rates.smoothed, all)));
            match decision.action {
                Action::Split => _ = state.home.get_or_insert(from),
                Action::Shrink | Action::Demote => state.home = None,
                Action::Move | Action::Promote => {}
            }
        }
        self.resting_until = settled(end);
        self.forget_loads();
    }
}

/// From when on loads count if copies end at a time.
fn settled(end: Nanos) -> Nanos {
    end + Nanos(SETTLE_WINDOWS * WINDOW.0)
}

fn seconds(span: Nanos) -> f64 {
    span.0.max(1) as f64 / 1e9
}

/// Brings smoothed figures nearer to fresh ones by a part of the way; the first are taken as they are.
fn smooth(known: &mut Vec<f64>, fresh: &[f64], part: f64) {
    if known.len() != fresh.len() {
        *known = fresh.to_vec();
    }
    for (known, fresh) in known.iter_mut().zip(fresh) {
        *known += part * (fresh - *known);
    }
}
