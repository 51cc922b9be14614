//! The placer over time: it smooths what it is told, waits until it is sure, decides, and rests.

use std::collections::BTreeMap;

use hardware::Topology;
use stdx::Nanos;

use crate::constants::{
    COLD_AFTER, COPY_MEMORY, FALLEN, HORIZON, PERSISTENT, SETTLE_WINDOWS, SMOOTHING,
    STEADY_WINDOWS, STREAK_WINDOWS, TRIAL_ACTIONS, UNCHANGED, VOLATILE_REST, WINDOW,
};
use crate::costs::Bandwidths;
use crate::decision::{Action, Decision};
use crate::noise::Noise;
use crate::plan::{ItemLoad, Round};
use crate::tables::CutTables;
use crate::tiers::Tiers;
use crate::window::{Item, ItemWindow, Lookups, Window};

/// Observes windows and decides.
#[derive(Debug)]
pub struct Placer {
    costs: Bandwidths,
    busy: Means,
    noise: Noise,
    items: BTreeMap<Item, ItemState>,
    cut: CutTables,
    /// Whether a window was seen.
    has_begun: bool,
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
    /// The same of what is looked up, and of what CPUs of other nodes read of what copies have.
    looked_up: f64,
    remote: f64,
    last_read: Nanos,
    /// Which rows it has, and when others came or some went, if that was seen.
    version: u64,
    changed: Option<Nanos>,
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
        let (cut, has_begun) = (CutTables::default(), false);
        Self { costs, busy, noise, items, cut, has_begun, uneven: 0, resting_until: Nanos(0) }
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
        let mut decisions = match cold {
            Some(shrink) => vec![shrink],
            None => Tiers::new(&round, &window.free).decide(window.at),
        };
        if decisions.is_empty() {
            decisions.extend(round.brought_near(window.at).map(|it| it.1));
        }
        self.begin(&decisions);
        decisions
    }

    /// What would be done about a load that lasts, by one window alone and step by step until the nodes are in balance.
    /// Nothing is remembered.
    pub fn advise(&self, window: &Window) -> Vec<Decision> {
        let seconds = seconds(window.span);
        let items = window.items.iter().map(|it| {
            let rates: Vec<f64> = it.read.iter().map(|&bytes| bytes as f64 / seconds).collect();
            let recent: f64 = rates.iter().sum();
            let idle = if recent > 0.0 { Nanos(0) } else { COLD_AFTER };
            let remote = it.lookups.remote as f64 / seconds;
            let lookups = it.lookups.bytes as f64 / seconds / recent.max(1.0);
            let load = self.item_load(it, rates, !it.is_demanded);
            ItemLoad { recent, idle, remote, lookups, ..load }
        });
        let round = Round::new(&self.costs, &window.busy, items.collect());
        let mut decisions = round.clone().decide(window.at, true);
        if decisions.is_empty() {
            decisions.extend(round.brought_near(window.at).map(|it| it.1));
        }
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
        self.cut.refused(decision);
        if let Some(state) = self.items.get_mut(&decision.item) {
            state.left_alone_until = decision.at + VOLATILE_REST;
            let is_spread = matches!(decision.action, Action::Split | Action::Replicate);
            if is_spread && state.actions <= 1 {
                state.home = None;
            }
        }
    }

    /// Smooths rates, and notes whose load has not lasted since its last action.
    fn take_in(&mut self, window: &Window) {
        self.busy.see(&window.busy, self.uneven);
        self.items.retain(|item, _| window.items.iter().any(|it| it.item == *item));
        self.cut.see(window);
        let seconds = seconds(window.span);
        // What there was before the first window may have been so for long; what comes later is new.
        let (at, version) = (window.at, |it: &ItemWindow| it.lookups.version);
        let changed = self.has_begun.then_some(at);
        self.has_begun = true;
        for seen in &window.items {
            let new = || ItemState {
                last_read: at,
                changed,
                version: version(seen),
                ..Default::default()
            };
            let state = self.items.entry(seen.item).or_insert_with(new);
            if state.version != version(seen) {
                (state.version, state.changed) = (version(seen), Some(at));
            }
            let fresh: Vec<f64> = seen.read.iter().map(|&it| it as f64 / seconds).collect();
            let part = (window.span.0 as f64 / HORIZON.0 as f64).min(1.0);
            let go_on = |mean: &mut f64, fresh: f64| *mean += part * (fresh - *mean);
            go_on(&mut state.recent, fresh.iter().sum());
            // Statements that began before a move read from where they were sent to.
            if at >= self.resting_until {
                go_on(&mut state.looked_up, seen.lookups.bytes as f64 / seconds);
                go_on(&mut state.remote, seen.lookups.remote as f64 / seconds);
            }
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
            let is_steady = state.changed.is_none_or(|changed| window.at - changed >= UNCHANGED);
            let (remote, lookups) = (state.remote, state.looked_up / recent.max(1.0));
            let copy_bytes = load.copy_bytes.filter(|_| is_steady);
            let table_bytes = load.table_bytes.filter(|_| is_steady);
            ItemLoad { is_proven, recent, idle, remote, lookups, copy_bytes, table_bytes, ..load }
        };
        window.items.iter().map(load).collect()
    }

    fn item_load(&self, it: &ItemWindow, rates: Vec<f64>, is_free: bool) -> ItemLoad {
        let nodes: Vec<usize> = it.nodes.iter().filter_map(|it| self.costs.position(*it)).collect();
        let is_free = is_free && !nodes.is_empty();
        let (item, bytes, recent, idle) = (it.item, it.bytes, 0.0, Nanos(0));
        let is_small = |it: &u64| *it as f64 <= COPY_MEMORY * self.costs.least_memory();
        let Lookups { copy_bytes, has_copies, table_bytes, .. } = it.lookups;
        let copy_bytes = copy_bytes.filter(|it| is_small(it));
        let table_bytes = table_bytes.filter(|_| self.cut.may_be_cut(item.table));
        ItemLoad {
            item,
            nodes,
            bytes,
            rates,
            recent,
            idle,
            is_free,
            is_proven: true,
            lookups: 0.0,
            remote: 0.0,
            copy_bytes,
            has_copies,
            table_bytes,
            most_nodes: it.most_nodes,
        }
    }

    /// The item that was split or copied and has not been read for longest, or a table that was cut, what is done, and the
    /// nodes that it had.
    fn cold(&self, window: &Window) -> Option<((Item, Action), Vec<usize>)> {
        let is_cold = |it: &(&Item, &ItemState)| window.at - it.1.last_read >= COLD_AFTER;
        let split = self.items.iter().filter(|it| it.1.home.is_some()).filter(is_cold);
        if let Some((item, state)) = split.min_by_key(|it| it.1.last_read) {
            return Some(((*item, Action::Shrink), state.home.clone()?));
        }
        let of = |table| self.items.iter().filter(move |it| it.0.table == table);
        let (table, home) = self.cut.cut().find(|it| of(it.0).all(|it| is_cold(&it)))?;
        let first = of(table).map(|it| *it.0).next()?;
        Some(((first, Action::Merge), home.to_vec()))
    }

    /// Remembers what is done from now on, and rests until it is done and can be seen.
    fn begin(&mut self, decisions: &[Decision]) {
        let Some(first) = decisions.first() else { return };
        let (mut end, all) = (first.at, self.all_rates());
        for decision in decisions {
            end += decision.copy_time;
            let from: Vec<usize> =
                decision.from.iter().filter_map(|it| self.costs.position(*it)).collect();
            self.cut.begin(decision, &from);
            let Some(state) = self.items.get_mut(&decision.item) else { continue };
            if state.actions == 0 {
                state.lasting_since = decision.at;
            }
            state.actions += 1;
            state.last_action = Some((decision.at, Demand::of(&state.rates.smoothed, all)));
            match decision.action {
                Action::Split | Action::Replicate => _ = state.home.get_or_insert(from),
                Action::Shrink | Action::Demote => state.home = None,
                Action::Move | Action::Promote | Action::Partition | Action::Merge => {}
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
