//! Virtual time: which hardware threads are at what, at what pace, and what ends next.
//!
//! A demand becomes stages, one per access. A stage that touches memory is a flow in a class of alike flows; one that
//! does not is a timer. The bytes that each flow of a class has got so far are one number per class, so a change of pace
//! costs nothing per thread. Shares are worked out anew whenever flows began or ended, but at most once per
//! [`QUANTUM`]: flows that end within it hand their share on at its end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use hardware::{CpuId, Demand, LlcId, Pattern};

use crate::fluid::{Filling, FlowClass};
use crate::meters::Meters;
use crate::physics::{Footprint, LINE, Physics, Traffic};

/// Nanoseconds per thread under way within which changes are taken together: the more threads there are, the more
/// changes, and the less each matters.
const QUANTUM: f64 = 60.0;
/// Caps that differ by less than this share make one class.
const CAP_STEP: f64 = 1.005;
/// Bytes that are too few to wait for.
const CRUMBS: f64 = 0.5;

/// A hardware thread in the order of registration; workers on it are told apart by their seats.
pub(crate) type Seat = usize;

/// The state of a machine in virtual time.
pub(crate) struct Engine {
    physics: Physics,
    now: f64,
    seats: Vec<SeatState>,
    /// Seats at work, per core.
    cores: BTreeMap<(usize, u32), Vec<Seat>>,
    /// Seats at work, per last-level cache.
    caches: BTreeMap<LlcId, usize>,
    classes: Vec<Class>,
    keys: BTreeMap<ClassKey, usize>,
    prints: BTreeMap<PrintKey, usize>,
    footprints: Vec<Footprint>,
    timers: BinaryHeap<Reverse<(Time, Seat, u64)>>,
    /// The same classes as the sharing sees them.
    flows: Vec<FlowClass>,
    filling: Filling,
    /// Classes with flows.
    running: Vec<usize>,
    /// Whether flows began or ended since the shares were worked out.
    stale: bool,
    /// Seats that work or pause, and those of them that pause.
    under_way: usize,
    pausing: usize,
    meters: Meters,
    done: Vec<Seat>,
}

/// A hardware thread.
struct SeatState {
    node: usize,
    core: (usize, u32),
    cache: LlcId,
    /// Share of the core's clock that it gets; below one for a slow core.
    speed: f64,
    /// Whether it works, also in the moment between two demands.
    active: bool,
    pausing: bool,
    stages: VecDeque<Stage>,
    place: Place,
    /// Counts changes, so that events of before are known to be void.
    stamp: u64,
    since: f64,
}

/// Where a seat's current stage is.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Nowhere,
    Timer,
    /// In a class, until this many bytes of it are served.
    Flow(usize, f64),
}

/// A part of a demand.
#[derive(Clone, Debug)]
struct Stage {
    print: Option<usize>,
    /// Bytes from memory; zero for a timer.
    bytes: f64,
    cycles: f64,
    pattern: Pattern,
}

type PrintKey = (usize, Vec<usize>, Traffic);
/// Footprint and cap, in steps of [`CAP_STEP`].
type ClassKey = (usize, i64);

struct Class {
    print: usize,
    cap: f64,
    count: usize,
    /// Bytes per nanosecond of each flow.
    rate: f64,
    served: f64,
    /// Bytes of all flows that the meters do not know of yet.
    unmetered: f64,
    ends: BinaryHeap<Reverse<(Time, Seat, u64)>>,
}

/// A number that orders; never NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Engine {
    pub(crate) fn new(physics: Physics) -> Self {
        let meters = Meters::new(physics.nodes(), physics.capacities.len());
        Self {
            physics,
            now: 0.0,
            seats: Vec::new(),
            cores: BTreeMap::new(),
            caches: BTreeMap::new(),
            classes: Vec::new(),
            keys: BTreeMap::new(),
            prints: BTreeMap::new(),
            footprints: Vec::new(),
            timers: BinaryHeap::new(),
            flows: Vec::new(),
            filling: Filling::default(),
            running: Vec::new(),
            stale: false,
            under_way: 0,
            pausing: 0,
            meters,
            done: Vec::new(),
        }
    }

    /// A seat on a hardware thread that runs at `speed` of its clock; `None` when there is no such thread.
    pub(crate) fn seat(&mut self, cpu: CpuId, speed: f64) -> Option<Seat> {
        let it = self.physics.topology().cpus.iter().find(|it| it.id == cpu)?;
        let node = self.physics.node(it.node);
        self.seats.push(SeatState {
            node,
            core: (node, it.core),
            cache: it.llc,
            speed,
            active: false,
            pausing: false,
            stages: VecDeque::new(),
            place: Place::Nowhere,
            stamp: 0,
            since: 0.0,
        });
        Some(self.seats.len() - 1)
    }

    /// A process that is none of ours keeps a seat busy for good.
    pub(crate) fn occupy(&mut self, seat: Seat) {
        self.set_active(seat, true);
    }

    /// Takes bandwidth of a memory controller away for good.
    pub(crate) fn disturb(&mut self, node: usize, bytes_per_second: f64) {
        let left = self.physics.capacities[node] - bytes_per_second;
        self.physics.capacities[node] = left.max(self.physics.capacities[node] * 0.01);
    }

    /// How many seats there are.
    pub(crate) fn seats(&self) -> usize {
        self.seats.len()
    }

    /// Nanoseconds since the start.
    pub(crate) fn now(&self) -> f64 {
        self.now
    }

    /// The counters as of now.
    pub(crate) fn meters(&mut self) -> &mut Meters {
        self.meter();
        for seat in 0..self.seats.len() {
            let it = &mut self.seats[seat];
            if it.active {
                self.meters.busy += self.now - it.since;
                it.since = self.now;
            }
        }
        &mut self.meters
    }

    pub(crate) fn physics(&self) -> &Physics {
        &self.physics
    }

    /// Sets a seat to work on a demand, after a delay in nanoseconds.
    pub(crate) fn begin(&mut self, seat: Seat, demand: &Demand, delay: f64) {
        debug_assert_eq!(self.seats[seat].place, Place::Nowhere, "a seat does one thing at a time");
        if !self.seats[seat].active {
            self.set_active(seat, true);
        }
        let stages = self.stages(seat, demand);
        self.seats[seat].stages = stages;
        self.under_way += 1;
        self.set_timer(seat, delay);
    }

    /// A seat that waits without working, for a span in nanoseconds.
    pub(crate) fn pause(&mut self, seat: Seat, span: f64) {
        self.rest(seat);
        self.under_way += 1;
        self.pausing += 1;
        self.seats[seat].pausing = true;
        self.set_timer(seat, span);
    }

    /// Ends a pause at once, so that it will not be reported; false when there is none, or it has just ended.
    pub(crate) fn end_pause(&mut self, seat: Seat) -> bool {
        let pausing = std::mem::take(&mut self.seats[seat].pausing);
        if pausing {
            self.seats[seat].stamp += 1;
            self.seats[seat].place = Place::Nowhere;
            self.under_way -= 1;
            self.pausing -= 1;
        }
        pausing
    }

    /// Whether nobody works, only pauses.
    pub(crate) fn only_pauses(&self) -> bool {
        self.under_way == self.pausing
    }

    /// A seat has nothing to do.
    pub(crate) fn rest(&mut self, seat: Seat) {
        if self.seats[seat].active {
            self.set_active(seat, false);
        }
    }

    /// Goes on to the next moment at which seats are through with their demands, and names them; none when nothing is
    /// under way.
    pub(crate) fn advance(&mut self) -> Vec<Seat> {
        while self.under_way > 0 && self.done.is_empty() {
            self.refresh();
            let next = self.next_end();
            let step = (next - self.now).max(0.0);
            self.pass(step.max(QUANTUM * self.under_way as f64));
            self.collect();
        }
        std::mem::take(&mut self.done)
    }

    /// Lets time pass for whoever only waits.
    pub(crate) fn sleep(&mut self, span: f64) {
        let end = self.now + span;
        while self.under_way > 0 && self.now < end {
            self.refresh();
            let next = self.next_end().max(self.now).min(end);
            self.pass(next - self.now);
            self.collect();
        }
        self.now = self.now.max(end);
    }

    /// The time a demand would take alone on the machine, in nanoseconds.
    pub(crate) fn alone(&mut self, seat: Seat, demand: &Demand) -> f64 {
        let stages = self.stages(seat, demand);
        let time = |it: &Stage| {
            if it.bytes > 0.0 { it.bytes / self.cap(seat, it) } else { self.span(seat, it) }
        };
        stages.iter().map(time).sum()
    }

    /// The stages of a demand: one per access, the cycles spread by bytes.
    fn stages(&mut self, seat: Seat, demand: &Demand) -> VecDeque<Stage> {
        let node = self.seats[seat].node;
        let total: f64 = demand.accesses.iter().map(|it| it.bytes.0 as f64).sum();
        let mut stages = VecDeque::with_capacity(demand.accesses.len().max(1));
        for access in &demand.accesses {
            let targets = access.nodes.iter().map(|&it| self.physics.node(it)).collect();
            let write = access.pattern == Pattern::Write;
            let print =
                self.print(node, targets, if write { Traffic::Write } else { Traffic::Read });
            stages.push_back(Stage {
                print: Some(print),
                bytes: access.bytes.0 as f64,
                cycles: demand.cycles as f64 * (access.bytes.0 as f64 / total),
                pattern: access.pattern,
            });
        }
        if stages.is_empty() && demand.cycles > 0 {
            let (bytes, cycles) = (0.0, demand.cycles as f64);
            stages.push_back(Stage { print: None, bytes, cycles, pattern: Pattern::Stream });
        }
        stages
    }

    fn print(&mut self, node: usize, targets: Vec<usize>, traffic: Traffic) -> usize {
        let key = (node, targets, traffic);
        if let Some(&known) = self.prints.get(&key) {
            return known;
        }
        self.footprints.push(self.physics.footprint(node, &key.1, traffic));
        self.prints.insert(key, self.footprints.len() - 1);
        self.footprints.len() - 1
    }

    /// Starts the next stage of a seat; with none left the seat is done.
    fn next_stage(&mut self, seat: Seat) {
        let Some(mut stage) = self.seats[seat].stages.pop_front() else {
            self.seats[seat].place = Place::Nowhere;
            self.under_way -= 1;
            if std::mem::take(&mut self.seats[seat].pausing) {
                self.pausing -= 1;
            }
            self.done.push(seat);
            return;
        };
        if let Pattern::Random { working_set, .. } = stage.pattern {
            // What the caches hold is not read from memory, but takes its time.
            let missed = 1.0 - self.hit_ratio(seat, working_set.0 as f64);
            let time = self.span(seat, &stage);
            stage.cycles = time * self.clock(seat);
            stage.bytes *= missed;
            stage.pattern = Pattern::Stream;
            if stage.bytes < LINE {
                return self.set_timer(seat, time);
            }
            let cap = stage.bytes / time;
            return self.join(seat, &stage, cap);
        }
        if stage.bytes <= CRUMBS {
            let span = self.span(seat, &stage);
            return self.set_timer(seat, span);
        }
        let cap = self.cap(seat, &stage);
        self.join(seat, &stage, cap);
    }

    fn set_timer(&mut self, seat: Seat, span: f64) {
        let it = &mut self.seats[seat];
        it.stamp += 1;
        it.place = Place::Timer;
        self.timers.push(Reverse((Time(self.now + span), seat, it.stamp)));
    }

    /// Puts a seat's stage into its class; `cap` in bytes per nanosecond.
    fn join(&mut self, seat: Seat, stage: &Stage, cap: f64) {
        let print = stage.print.expect("invariant: bytes come from somewhere");
        let step = (cap.ln() / CAP_STEP.ln()).round() as i64;
        let class = *self.keys.entry((print, step)).or_insert(self.classes.len());
        if class == self.classes.len() {
            let cap = CAP_STEP.powf(step as f64);
            let ends = BinaryHeap::new();
            let uses = self.footprints[print].uses.clone();
            self.flows.push(FlowClass { count: 0.0, cap: cap * 1e9, uses });
            let (rate, served, unmetered) = (0.0, 0.0, 0.0);
            self.classes.push(Class { print, cap, count: 0, rate, served, unmetered, ends });
        }
        let it = &mut self.classes[class];
        it.count += 1;
        let end = it.served + stage.bytes;
        let state = &mut self.seats[seat];
        state.stamp += 1;
        state.place = Place::Flow(class, end);
        it.ends.push(Reverse((Time(end), seat, state.stamp)));
        self.stale = true;
    }

    /// Cycles per nanosecond that a seat has: its core's clock, halved when the sibling works too.
    fn clock(&self, seat: Seat) -> f64 {
        self.physics.model.ghz * self.part_of_core(seat)
    }

    fn part_of_core(&self, seat: Seat) -> f64 {
        let it = &self.seats[seat];
        let working = self.cores.get(&it.core).map_or(1, |it| it.len().max(1));
        it.speed / working as f64
    }

    /// The most bytes per nanosecond a stage can read: its compute and the lines under way.
    fn cap(&self, seat: Seat, stage: &Stage) -> f64 {
        let print = &self.footprints[stage.print.expect("invariant: bytes come from somewhere")];
        let lines = self.physics.model.stream_lines * self.part_of_core(seat);
        let by_lines = lines * LINE / print.latency;
        let by_cycles = stage.bytes * self.clock(seat) / stage.cycles.max(1e-9);
        by_lines.min(by_cycles)
    }

    /// The time of a stage that no other flow slows down, in nanoseconds.
    fn span(&self, seat: Seat, stage: &Stage) -> f64 {
        let compute = stage.cycles / self.clock(seat);
        let Pattern::Random { in_flight, working_set } = stage.pattern else { return compute };
        let print = &self.footprints[stage.print.expect("invariant: bytes come from somewhere")];
        let hit = self.hit_ratio(seat, working_set.0 as f64);
        let latency = hit * self.physics.model.llc_latency + (1.0 - hit) * print.latency;
        let lines = self.physics.model.random_lines * self.part_of_core(seat);
        let lines = f64::from(in_flight.max(1)).min(lines).max(0.01);
        compute.max(stage.bytes / LINE * latency / lines)
    }

    /// The share of a working set that the seat's part of the last-level cache holds.
    fn hit_ratio(&self, seat: Seat, working_set: f64) -> f64 {
        let sharers = self.caches.get(&self.seats[seat].cache).map_or(1, |it| (*it).max(1));
        let part = self.physics.topology().llc_bytes.0 as f64 / sharers as f64;
        if working_set <= part { 1.0 } else { part / working_set }
    }

    /// Counts a seat in or out. Whoever shares its core goes on at another pace.
    fn set_active(&mut self, seat: Seat, active: bool) {
        let (core, cache) = (self.seats[seat].core, self.seats[seat].cache);
        let siblings = self.cores.entry(core).or_default();
        let sharers = self.caches.entry(cache).or_insert(0);
        let before = siblings.len();
        if active {
            siblings.push(seat);
            *sharers += 1;
        } else {
            siblings.retain(|it| *it != seat);
            *sharers -= 1;
        }
        let after = siblings.len();
        let others: Vec<Seat> = siblings.iter().copied().filter(|it| *it != seat).collect();
        let it = &mut self.seats[seat];
        it.active = active;
        if active {
            it.since = self.now;
        } else {
            self.meters.busy += self.now - it.since;
        }
        for other in others {
            self.change_pace(other, before as f64 / after as f64);
        }
    }

    /// Moves a seat's flow to the class of another cap; a timer runs on as it was set.
    fn change_pace(&mut self, seat: Seat, factor: f64) {
        let Place::Flow(class, end) = self.seats[seat].place else { return };
        let it = &mut self.classes[class];
        it.count -= 1;
        let (bytes, cap, print) = (end - it.served, it.cap * factor, it.print);
        let stage = Stage { print: Some(print), bytes, cycles: 0.0, pattern: Pattern::Stream };
        self.join(seat, &stage, cap);
    }

    /// Works out the shares of all flows anew if any began or ended.
    fn refresh(&mut self) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        self.meter();
        self.running.clear();
        for (index, class) in self.classes.iter().enumerate() {
            let flow = &mut self.flows[index];
            flow.count = class.count as f64;
            if class.count == 0 {
                continue;
            }
            self.running.push(index);
            let print = &self.footprints[class.print];
            for &(node, share) in &print.directory {
                // The line was last read locally, with this probability: then its directory entry is written.
                let extra = share * (1.0 - self.meters.remote_share(node));
                let at = print.uses.iter().position(|it| it.resource == node);
                let at = at.expect("invariant: who reads a node uses its controller");
                flow.uses[at].weight = print.uses[at].weight + extra;
            }
        }
        let rates = self.filling.share(&self.physics.capacities, &self.flows);
        self.meters.set_load(&self.physics.capacities, &self.flows, rates, &self.running);
        for &class in &self.running {
            self.classes[class].rate = rates[class] / 1e9;
        }
    }

    /// Tells the meters what moved since the last time.
    fn meter(&mut self) {
        for &class in &self.running {
            let it = &mut self.classes[class];
            self.meters.moved(&self.footprints[it.print], std::mem::take(&mut it.unmetered));
        }
    }

    /// When the next stage ends at the present pace.
    fn next_end(&mut self) -> f64 {
        let mut next = f64::INFINITY;
        while let Some(Reverse((time, seat, stamp))) = self.timers.peek() {
            if self.seats[*seat].stamp == *stamp {
                next = time.0;
                break;
            }
            self.timers.pop();
        }
        for &class in &self.running {
            let class = &mut self.classes[class];
            while let Some(Reverse((end, seat, stamp))) = class.ends.peek() {
                if self.seats[*seat].stamp == *stamp {
                    next = next.min(self.now + (end.0 - class.served).max(0.0) / class.rate);
                    break;
                }
                class.ends.pop();
            }
        }
        assert!(next.is_finite(), "invariant: what is under way ends");
        next
    }

    /// Lets `span` pass: every flow gets its bytes.
    fn pass(&mut self, span: f64) {
        if span <= 0.0 {
            return;
        }
        for &class in &self.running {
            let class = &mut self.classes[class];
            let bytes = class.rate * span;
            class.served += bytes;
            class.unmetered += bytes * class.count as f64;
        }
        self.meters.pass(span);
        self.now += span;
    }

    /// Ends the stages that are through and starts the next ones.
    fn collect(&mut self) {
        let mut ended: Vec<Seat> = Vec::new();
        while let Some(Reverse((time, seat, stamp))) = self.timers.peek() {
            if time.0 > self.now + 1e-3 {
                break;
            }
            if self.seats[*seat].stamp == *stamp {
                ended.push(*seat);
            }
            self.timers.pop();
        }
        for &class in &self.running {
            let class = &mut self.classes[class];
            while let Some(Reverse((end, seat, stamp))) = class.ends.peek() {
                if self.seats[*seat].stamp != *stamp {
                    class.ends.pop();
                } else if end.0 <= class.served + CRUMBS {
                    ended.push(*seat);
                    class.count -= 1;
                    class.ends.pop();
                    self.stale = true;
                } else {
                    break;
                }
            }
        }
        for seat in ended {
            self.seats[seat].stamp += 1;
            self.next_stage(seat);
        }
    }
}
