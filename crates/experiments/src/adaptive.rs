//! The placer on a modelled machine (P-HANA 7): clients whose hot columns change with time, the real scheduler, the real
//! decisions, and copies that cost what they cost.
//!
//! Statements, tasks and costs are those of [`crate::run()`]. What a task reads of a column is counted as the database counts
//! it; a copy is a task that reads and writes its bytes, and the column lies anew when that has ended.

use std::ops::ControlFlow;

use hardware::{Demand, Machine, MachineError, NodeId, Pattern};
use placer::constants::WINDOW;
use placer::{Action, Decision, ItemWindow, Lookups, Placer, Window};
use scheduler::{
    JobHandle, Morsel, MorselBody, MorselContext, PipelineJob, Scheduler, SchedulerOptions, class,
};
use simulator::SimulatedMachine;
use simulator::fields::FileError;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use stdx::{Nanos, Prng};
use types::{ColumnId, TableId};

use crate::costs::{REBUILD_CYCLES, VALUE_BYTES};
use crate::layout::{Item, Piece, items, values_of};
use crate::run::model;
use crate::settings::Settings;
use crate::tasks::{Phase, PhaseTasks, TaskMaker};

/// Of five statements, those on hot columns (P-HANA 6.2); the others are on any column.
const HOT_OF_FIVE: u64 = 4;

/// Which columns are hot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// None: all columns alike.
    Even,
    /// The first.
    One,
    /// Two that RR puts on one node.
    Two,
    /// One, and another one after each span.
    Moving(Nanos),
}

impl Load {
    fn hot(self, now: Nanos, prng: &mut Prng, nodes: usize) -> Option<usize> {
        match self {
            Self::Even => None,
            Self::One => Some(0),
            Self::Two => Some(prng.below(2) as usize * nodes),
            Self::Moving(span) => Some((now.0 / span.0) as usize),
        }
    }
}

/// What the tables of a run offer beside rows that can be moved and split.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offers {
    /// A key by which they can be cut into parts.
    pub key: bool,
    /// Dictionaries that may be copied to each socket.
    pub copies: bool,
}

/// What came of it.
pub struct Followed {
    /// Statements that ended in each second.
    pub per_second: Vec<u64>,
    /// What the placer decided.
    pub decisions: Vec<Decision>,
}

/// Runs clients for some virtual seconds, with the placer on tables that offer something, or without it. The same arguments give the same outcome.
pub fn follow(
    settings: &Settings,
    load: Load,
    seconds: u64,
    seed: u64,
    offers: Option<Offers>,
) -> Result<Followed, FileError> {
    let model = model(settings)?;
    let ghz = model.ghz;
    let machine = SimulatedMachine::with_model(model, seed, settings.faults.clone());
    let options = SchedulerOptions { workers: settings.workers, stealing: settings.stealing };
    let failed = |error: MachineError| FileError::new(&settings.machine, "machine", error);
    let scheduler = Scheduler::start(machine.clone(), options).map_err(failed)?;
    let items = items(settings, machine.topology());
    let nodes = machine.topology().nodes.len();
    let mut world = World {
        load,
        read: items.iter().map(|_| ItemCounters::new(nodes)).collect::<Vec<_>>().into(),
        maker: TaskMaker::new(settings, &*machine, scheduler.workers(), ghz),
        clients: vec![(0, Phase::Plan); settings.clients],
        ended: Arc::default(),
        prng: Prng::new(seed),
        statements: 0,
        followed: Followed { per_second: vec![0; seconds as usize], decisions: Vec::new() },
        placer: offers.map(|_| Placer::new(machine.topology())),
        offers: offers.unwrap_or_default(),
        cut: vec![false; items.len()],
        before: Counters::default(),
        copying: None,
        waiting: Vec::new(),
        items,
        machine: &machine,
        scheduler: &scheduler,
    };
    world.run(Nanos(seconds * 1_000_000_000));
    Ok(world.followed)
}

#[derive(Default)]
struct Counters {
    at: Nanos,
    busy: Vec<Nanos>,
    read: Vec<Vec<u64>>,
    /// Bytes looked up, and those of other nodes among them.
    lookups: Vec<[u64; 2]>,
}

/// Bytes read of a column.
struct ItemCounters {
    /// Of the memory of each node.
    by_node: Box<[AtomicU64]>,
    looked_up: AtomicU64,
    remote: AtomicU64,
}

impl ItemCounters {
    fn new(nodes: usize) -> Self {
        let by_node = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        Self { by_node, looked_up: AtomicU64::new(0), remote: AtomicU64::new(0) }
    }
}

struct World<'a> {
    machine: &'a Arc<SimulatedMachine>,
    scheduler: &'a Arc<Scheduler>,
    load: Load,
    items: Vec<Item>,
    /// The columns, each of a table of its own, that were cut into parts.
    cut: Vec<bool>,
    offers: Offers,
    /// Bytes read of each column.
    read: Arc<[ItemCounters]>,
    maker: TaskMaker<'a>,
    /// The column and the phase of what each client waits for.
    clients: Vec<(usize, Phase)>,
    ended: Arc<Mutex<Vec<usize>>>,
    prng: Prng,
    statements: u64,
    followed: Followed,
    placer: Option<Placer>,
    before: Counters,
    copying: Option<(JobHandle, Decision)>,
    waiting: Vec<Decision>,
}

impl World<'_> {
    fn run(&mut self, end: Nanos) {
        (0..self.clients.len()).for_each(|it| self.issue(it));
        self.before = self.counters();
        let ended = self.ended.clone();
        while self.machine.now() < end {
            self.scheduler.wait_until(&|| !ended.lock().is_empty());
            for client in std::mem::take(&mut *ended.lock()) {
                self.go_on(client);
            }
            self.place();
        }
    }

    fn issue(&mut self, client: usize) {
        let nodes = self.machine.topology().nodes.len();
        let is_hot = self.prng.below(5) < HOT_OF_FIVE;
        let hot = self.load.hot(self.machine.now(), &mut self.prng, nodes);
        let any = self.prng.below(self.items.len() as u64) as usize;
        let item = hot.filter(|_| is_hot).map_or(any, |it| it % self.items.len());
        self.statements += 1;
        self.clients[client] = (item, Phase::Plan);
        self.submit(client);
    }

    fn go_on(&mut self, client: usize) {
        let (item, phase) = self.clients[client];
        if let Some(phase) = self.maker.after(phase, &self.items[item]) {
            self.clients[client].1 = phase;
            return self.submit(client);
        }
        let second = (self.machine.now().0 / 1_000_000_000) as usize;
        if let Some(count) = self.followed.per_second.get_mut(second) {
            *count += 1;
        }
        self.issue(client);
    }

    fn submit(&mut self, client: usize) {
        let (item, phase) = self.clients[client];
        let tasks = self.maker.tasks(phase, &self.items[item], self.clients.len());
        let PhaseTasks { ranges, demands, near, affinity, max_workers } = tasks;
        let (machine, read, ended) = (self.machine.clone(), self.read.clone(), self.ended.clone());
        let body = Counted { client, item, phase, machine, read, demands, near, ended };
        let mut job = PipelineJob::new(ranges, 1, Arc::new(body));
        (job.affinity, job.max_workers, job.statement) = (affinity, max_workers, self.statements);
        self.scheduler.submit(job);
    }

    fn counters(&self) -> Counters {
        let nodes = &self.machine.topology().nodes;
        let workers = self.scheduler.stats().workers;
        let busy = |node: NodeId| {
            let own = || workers.iter().filter(move |it| it.node == node);
            let all = own().map(|it| it.busy.0).sum::<u64>();
            Nanos(all / own().count().max(1) as u64)
        };
        let load = |it: &AtomicU64| it.load(Ordering::Relaxed);
        Counters {
            at: self.machine.now(),
            busy: nodes.iter().map(|it| busy(it.id)).collect(),
            read: self.read.iter().map(|it| it.by_node.iter().map(load).collect()).collect(),
            lookups: self.read.iter().map(|it| [load(&it.looked_up), load(&it.remote)]).collect(),
        }
    }

    /// Takes a window when one is over, and carries decisions out one after the other.
    fn place(&mut self) {
        let now = self.machine.now();
        if let Some((handle, decision)) = self.copying.take() {
            match handle.is_finished() {
                true => self.carry_out(&decision),
                false => self.copying = Some((handle, decision)),
            }
        }
        if let Some(mut placer) = self.placer.take() {
            if now - self.before.at >= WINDOW {
                let window = self.window();
                if self.copying.is_some() || !self.waiting.is_empty() {
                    placer.still_copies(window.at);
                }
                let decisions = placer.observe(&window);
                self.waiting.extend(decisions.iter().rev().cloned());
                self.followed.decisions.extend(decisions);
            }
            self.placer = Some(placer);
        }
        if self.copying.is_none()
            && let Some(decision) = self.waiting.pop()
        {
            let copy = Copy { machine: self.machine.clone(), decision: decision.clone() };
            let mut job = PipelineJob::task(Some(decision.coldest), Arc::new(copy));
            job.class = class::INTERACTIVE;
            self.copying = Some((self.scheduler.submit(job), decision));
        }
    }

    fn window(&mut self) -> Window {
        let now = self.counters();
        let before = std::mem::replace(&mut self.before, now);
        let now = &self.before;
        let span = now.at - before.at;
        let busy = now.busy.iter().zip(&before.busy);
        let share = |(now, before): (&Nanos, &Nanos)| (*now - *before).0 as f64 / span.0 as f64;
        let busy = busy.map(share).collect();
        let of_column = |number: usize| {
            let read = now.read[number].iter().zip(&before.read[number]).map(|it| it.0 - it.1);
            let lookups = [0, 1].map(|it| now.lookups[number][it] - before.lookups[number][it]);
            self.windows_of(number, &read.collect::<Vec<u64>>(), lookups)
        };
        let items = (0..self.items.len()).flat_map(of_column).collect();
        Window { at: now.at, span, busy, free: Vec::new(), items }
    }

    /// What a column is to the placer: one item, or one for each part of its table.
    fn windows_of(&self, number: usize, read: &[u64], lookups: [u64; 2]) -> Vec<ItemWindow> {
        let pieces = &self.items[number].pieces;
        let nodes = &self.machine.topology().nodes;
        let of_nodes = |it: &Piece| it.nodes.clone();
        let dictionary = (pieces[0].values * VALUE_BYTES) as u64;
        let bytes: f64 = pieces.iter().map(|it| it.bytes).sum();
        let has_copies = pieces.len() > 1 && pieces.iter().all(|it| it.dictionary == it.nodes);
        let lookups = Lookups {
            bytes: lookups[0],
            remote: lookups[1],
            copy_bytes: Some(dictionary).filter(|_| self.offers.copies && !self.cut[number]),
            has_copies: has_copies && !self.cut[number],
            table_bytes: Some(bytes as u64).filter(|_| self.offers.key && !self.cut[number]),
            version: 0,
        };
        let item = |part, nodes, bytes: f64, read| ItemWindow {
            item: placed(number, if self.cut[number] { Some(part) } else { None }),
            nodes,
            bytes: bytes as u64,
            read,
            is_demanded: false,
            lookups: lookups.clone(),
            most_nodes: nodes_at_most(self.items[number].pieces.iter().map(|it| it.rows).sum()),
        };
        if !self.cut[number] {
            return vec![item(0, pieces.iter().flat_map(of_nodes).collect(), bytes, read.to_vec())];
        }
        // What is read of a node is of the parts that lie on it, by their sizes.
        let here = |node: NodeId| -> f64 {
            pieces.iter().filter(|it| it.nodes.contains(&node)).map(|it| it.bytes).sum()
        };
        let of_part = |(part, piece): (usize, &Piece)| {
            let share = |(node, bytes): (NodeId, u64)| match piece.nodes.contains(&node) {
                true => (bytes as f64 * piece.bytes / here(node)) as u64,
                false => 0,
            };
            let read = nodes.iter().map(|it| it.id).zip(read.iter().copied()).map(share);
            let lookups = Lookups { bytes: 0, remote: 0, ..lookups.clone() };
            let window = item(part, piece.nodes.clone(), piece.bytes, read.collect());
            ItemWindow { lookups, ..window }
        };
        pieces.iter().enumerate().map(of_part).collect()
    }

    /// The column lies anew. Its dictionary is dealt round its nodes (IVP, P-HANA 4.2), or there is a copy on each, or each part
    /// has one of its own values (PP).
    fn carry_out(&mut self, decision: &Decision) {
        let number = decision.item.table.0 as usize - 1;
        if decision.item.column.is_none() {
            let piece = &mut self.items[number].pieces[decision.item.part];
            (piece.nodes, piece.dictionary) = (decision.to.clone(), decision.to.clone());
            return;
        }
        let pieces = &mut self.items[number].pieces;
        let count = decision.to.len() as f64;
        let all_rows = pieces.iter().map(|it| it.rows).sum::<f64>();
        let bytes = pieces.iter().map(|it| it.bytes).sum::<f64>() / count;
        let (rows, values) = (all_rows / count, pieces[0].values);
        let bits = (bytes * 8.0 / rows).round() as u32;
        let is_near = matches!(decision.action, Action::Replicate | Action::Partition);
        let values = match decision.action {
            Action::Partition => values_of(bits, rows),
            _ => values,
        };
        let piece = |&node: &NodeId| Piece {
            nodes: vec![node],
            rows,
            bytes,
            dictionary: if is_near { vec![node] } else { decision.to.clone() },
            values,
        };
        *pieces = decision.to.iter().map(piece).collect();
        self.cut[number] |= decision.action == Action::Partition;
    }
}

/// Nodes over which rows can be split: a block each at least.
fn nodes_at_most(rows: f64) -> usize {
    (rows / BLOCK_ROWS).ceil() as usize
}

/// Rows of a block of a column.
const BLOCK_ROWS: f64 = 65_536.0;

/// The item that a column is to the placer, or a part of it: each column has a table of its own.
fn placed(column: usize, part: Option<usize>) -> placer::Item {
    let whole = Some(ColumnId(0)).filter(|_| part.is_none());
    placer::Item { table: TableId(column as u32 + 1), part: part.unwrap_or(0), column: whole }
}

/// Tasks of a phase: they cost, and what they read of their column is counted.
struct Counted {
    client: usize,
    item: usize,
    phase: Phase,
    machine: Arc<SimulatedMachine>,
    read: Arc<[ItemCounters]>,
    demands: Vec<Demand>,
    near: Vec<u64>,
    ended: Arc<Mutex<Vec<usize>>>,
}

impl MorselBody for Counted {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let demand = &self.demands[morsel.range];
        self.machine.charge(&|| {
            let near = self.near[morsel.range];
            demand.clone().access(vec![context.node], near, Pattern::Write)
        });
        // The first access of a scan and of its output is the index vector, the second of the output the dictionary.
        let counters = &self.read[self.item];
        let counted = match self.phase {
            Phase::Plan => 0,
            Phase::Find => 1,
            Phase::Output => 2,
        };
        let topology = self.machine.topology();
        for (number, access) in demand.accesses.iter().take(counted).enumerate() {
            // As a counter of misses would: each thread has its part of the cache that it shares.
            let missed = match access.pattern {
                Pattern::Random { working_set, .. } => {
                    let sharers = topology.cpus_of(context.node).count().max(1);
                    let part = topology.llc_bytes.0 as f64 / sharers as f64;
                    1.0 - (part / working_set.0.max(1) as f64).min(1.0)
                }
                _ => 1.0,
            };
            for node in &access.nodes {
                let share = (access.bytes.0 as f64 * missed) as u64 / access.nodes.len() as u64;
                let add = |it: &AtomicU64| _ = it.fetch_add(share, Ordering::Relaxed);
                let counter = topology.node_index(*node).and_then(|it| counters.by_node.get(it));
                counter.into_iter().for_each(add);
                if number == 1 {
                    add(&counters.looked_up);
                    [&counters.remote].into_iter().filter(|_| *node != context.node).for_each(add);
                }
            }
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.ended.lock().push(self.client);
    }
}

/// A copy of rows from the hottest node to the coldest, or from the nodes of an item to those that it shall have, where it
/// is built anew.
struct Copy {
    machine: Arc<SimulatedMachine>,
    decision: Decision,
}

impl MorselBody for Copy {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        let Decision { action, from, to, hottest, coldest, copy_bytes, .. } = &self.decision;
        let (from, to) = match action {
            Action::Replicate | Action::Partition => (from.clone(), to.clone()),
            _ => (vec![*hottest], vec![*coldest]),
        };
        let cycles = match action {
            Action::Partition => (*copy_bytes as f64 * REBUILD_CYCLES) as u64,
            _ => 0,
        };
        self.machine.charge(&|| {
            let demand = Demand { cycles, ..Demand::default() };
            let read = demand.access(from.clone(), *copy_bytes, Pattern::Stream);
            read.access(to.clone(), *copy_bytes, Pattern::Write)
        });
        ControlFlow::Continue(())
    }
}
