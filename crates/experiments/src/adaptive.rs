//! The placer on a modelled machine (P-HANA 7): clients whose hot columns change with time, the real scheduler, the real
//! decisions, and copies that cost what they cost.
//!
//! Statements, tasks and costs are those of [`crate::run()`]. What a task reads of a column is counted as the database counts
//! it; a copy is a task that reads and writes its bytes, and the column lies anew when that has ended.

use std::ops::ControlFlow;

use hardware::{Demand, Machine, MachineError, NodeId, Pattern};
use placer::constants::WINDOW;
use placer::{Decision, ItemWindow, Placer, Window};
use scheduler::{
    JobHandle, Morsel, MorselBody, MorselContext, PipelineJob, Scheduler, SchedulerOptions, class,
};
use simulator::SimulatedMachine;
use simulator::fields::FileError;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use stdx::{Nanos, Prng};
use types::{ColumnId, TableId};

use crate::layout::{Item, Piece, items};
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

/// What came of it.
pub struct Followed {
    /// Statements that ended in each second.
    pub per_second: Vec<u64>,
    /// What the placer decided.
    pub decisions: Vec<Decision>,
}

/// Runs clients for some virtual seconds, with the placer or without. The same arguments give the same outcome.
pub fn follow(
    settings: &Settings,
    load: Load,
    seconds: u64,
    seed: u64,
    adapts: bool,
) -> Result<Followed, FileError> {
    let model = model(settings)?;
    let ghz = model.ghz;
    let machine = SimulatedMachine::with_model(model, seed, settings.faults.clone());
    let options = SchedulerOptions { workers: settings.workers, stealing: settings.stealing };
    let failed = |error: MachineError| FileError::new(&settings.machine, "machine", error);
    let scheduler = Scheduler::start(machine.clone(), options).map_err(failed)?;
    let items = items(settings, machine.topology());
    let nodes = machine.topology().nodes.len();
    let counter = || (0..nodes).map(|_| AtomicU64::new(0)).collect();
    let mut world = World {
        load,
        read: items.iter().map(|_| counter()).collect::<Vec<Box<[AtomicU64]>>>().into(),
        maker: TaskMaker::new(settings, &*machine, scheduler.workers(), ghz),
        clients: vec![(0, Phase::Plan); settings.clients],
        ended: Arc::default(),
        prng: Prng::new(seed),
        statements: 0,
        followed: Followed { per_second: vec![0; seconds as usize], decisions: Vec::new() },
        placer: adapts.then(|| Placer::new(machine.topology())),
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
}

struct World<'a> {
    machine: &'a Arc<SimulatedMachine>,
    scheduler: &'a Arc<Scheduler>,
    load: Load,
    items: Vec<Item>,
    /// Bytes read of each column in the memory of each node.
    read: Arc<[Box<[AtomicU64]>]>,
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
            read: self.read.iter().map(|it| it.iter().map(load).collect()).collect(),
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
        let item = |(number, item): (usize, &Item)| ItemWindow {
            item: placed(number),
            nodes: item.pieces.iter().flat_map(|it| it.nodes.clone()).collect(),
            bytes: item.pieces.iter().map(|it| it.bytes).sum::<f64>() as u64,
            read: now.read[number].iter().zip(&before.read[number]).map(|it| it.0 - it.1).collect(),
            is_demanded: false,
        };
        let items = self.items.iter().enumerate().map(item).collect();
        Window { at: now.at, span, busy: busy.map(share).collect(), free: Vec::new(), items }
    }

    /// The column lies anew, its dictionary dealt round its nodes (IVP, P-HANA 4.2).
    fn carry_out(&mut self, decision: &Decision) {
        let number = decision.item.column.map_or(0, |it| it.index());
        let pieces = &mut self.items[number].pieces;
        let count = decision.to.len() as f64;
        let rows = pieces.iter().map(|it| it.rows).sum::<f64>() / count;
        let bytes = pieces.iter().map(|it| it.bytes).sum::<f64>() / count;
        let values = pieces[0].values;
        let dictionary = &decision.to;
        let piece = |&node: &NodeId| Piece {
            nodes: vec![node],
            rows,
            bytes,
            dictionary: dictionary.clone(),
            values,
        };
        *pieces = decision.to.iter().map(piece).collect();
    }
}

/// The item that a column is to the placer.
fn placed(column: usize) -> placer::Item {
    placer::Item { table: TableId(1), part: 0, column: Some(ColumnId(column as u16)) }
}

/// Tasks of a phase: they cost, and what they read of their column is counted.
struct Counted {
    client: usize,
    item: usize,
    phase: Phase,
    machine: Arc<SimulatedMachine>,
    read: Arc<[Box<[AtomicU64]>]>,
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
        // The first access of a scan is its index vector.
        if let Some(access) = demand.accesses.first().filter(|_| self.phase == Phase::Find) {
            for node in &access.nodes {
                let place = self.machine.topology().node_index(*node);
                let counter = place.and_then(|it| self.read[self.item].get(it));
                let share = access.bytes.0 / access.nodes.len() as u64;
                counter.into_iter().for_each(|it| _ = it.fetch_add(share, Ordering::Relaxed));
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

/// A copy of rows from the hottest node to the coldest.
struct Copy {
    machine: Arc<SimulatedMachine>,
    decision: Decision,
}

impl MorselBody for Copy {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        let Decision { hottest, coldest, copy_bytes, .. } = self.decision;
        self.machine.charge(&|| {
            let read = Demand::default().access(vec![hottest], copy_bytes, Pattern::Stream);
            read.access(vec![coldest], copy_bytes, Pattern::Write)
        });
        ControlFlow::Continue(())
    }
}
