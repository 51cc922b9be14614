//! One run: clients without thinking times issue statement after statement to the real scheduler on a modelled machine.
//!
//! There is one client thread for all of them. A job's body lets go of itself when the job ends; that puts its client on
//! the list of those who go on.

use std::ops::ControlFlow;

use hardware::{Demand, Machine, MachineError, NodeId, Pattern};
use scheduler::{
    Affinity, Morsel, MorselBody, MorselContext, PipelineJob, Scheduler, SchedulerOptions,
};
use simulator::fields::FileError;
use simulator::{MachineModel, SimulatedMachine};
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use stdx::{Nanos, Prng};

use crate::layout::{Item, items};
use crate::outcome::Outcome;
use crate::settings::{Settings, Workload};
use crate::tasks::{Phase, PhaseTasks, TaskMaker};

/// Statements that are measured for each client, after one that is not.
const MEASURED_PER_CLIENT: usize = 3;
/// The fewest statements that are measured, but in whole rounds of all clients: they begin together, and part of a round
/// would count statements that others have paid for.
const MEASURED_LEAST: usize = 200;

/// Runs a workload as it is set. The same settings and seed give the same outcome.
pub fn run(settings: &Settings, seed: u64) -> Result<Outcome, FileError> {
    let model = model(settings)?;
    let ghz = model.ghz;
    let faults = settings.faults.clone();
    let machine = SimulatedMachine::with_model(model, seed, faults);
    let options = SchedulerOptions { workers: settings.workers, stealing: settings.stealing };
    let failed = |error: MachineError| FileError::new(&settings.machine, "machine", error);
    let scheduler = Scheduler::start(machine.clone(), options).map_err(failed)?;
    let items = items(settings, machine.topology());
    let maker = TaskMaker::new(settings, &*machine, scheduler.workers(), ghz);
    let mut round = Round {
        settings,
        machine: &machine,
        scheduler: &scheduler,
        items: &items,
        maker,
        clients: (0..settings.clients).map(|it| Client::new(seed, it)).collect(),
        ended: Arc::default(),
        counts: Arc::default(),
        statements: 0,
        latencies: Vec::new(),
    };
    Ok(round.run())
}

/// The model with only those hardware threads that shall work.
pub(crate) fn model(settings: &Settings) -> Result<MachineModel, FileError> {
    let mut model = match &settings.model {
        Some(model) => (**model).clone(),
        None => MachineModel::by_name(&settings.machine)?,
    };
    for fault in &settings.faults {
        let fits = fault.check(&model.topology);
        fits.map_err(|error| FileError::new(&model.name, "faults", error))?;
    }
    if settings.workload == Workload::Union && settings.column_nodes.is_empty() {
        let what = "a union needs the node of each column";
        return Err(FileError::new(&settings.machine, "column_nodes", what));
    }
    let cpus = &mut model.topology.cpus;
    if !settings.workers_on.is_empty() {
        cpus.retain(|it| settings.workers_on.contains(&it.node.0));
    }
    if settings.half_cores {
        cpus.retain(|it| it.core % 2 == 0);
    }
    if cpus.is_empty() {
        let what = "no such nodes with cores on this machine";
        return Err(FileError::new(&settings.machine, "workers_on", what));
    }
    let nodes = model.topology.nodes.len();
    match settings.column_nodes.iter().find(|it| usize::from(**it) >= nodes) {
        Some(node) if !settings.one_domain => {
            let what = format!("there is no node {node} on this machine");
            Err(FileError::new(&settings.machine, "column_nodes", what))
        }
        _ => Ok(model),
    }
}

struct Client {
    prng: Prng,
    item: usize,
    phase: Phase,
    statement: u64,
    issued: Nanos,
}

impl Client {
    fn new(seed: u64, number: usize) -> Self {
        let prng = Prng::new(seed.wrapping_mul(0x1_0000_01b3) ^ (number as u64) << 20);
        Self { prng, item: 0, phase: Phase::Plan, statement: 0, issued: Nanos(0) }
    }

    /// A column by chance; under skew four of five come from the second half (P-HANA 6.2).
    fn pick(&mut self, count: usize, skewed: bool) {
        let half = count / 2;
        self.item = if skewed && half > 0 {
            let hot = self.prng.below(5) > 0;
            let (start, width) = if hot { (half, count - half) } else { (0, half) };
            start + self.prng.below(width as u64) as usize
        } else {
            self.prng.below(count as u64) as usize
        };
    }
}

#[derive(Default)]
struct Counts {
    tasks: AtomicU64,
    stolen: AtomicU64,
}

struct Round<'a> {
    settings: &'a Settings,
    machine: &'a Arc<SimulatedMachine>,
    scheduler: &'a Arc<Scheduler>,
    items: &'a [Item],
    maker: TaskMaker<'a>,
    clients: Vec<Client>,
    ended: Arc<Mutex<Vec<usize>>>,
    counts: Arc<Counts>,
    statements: u64,
    latencies: Vec<f64>,
}

impl Round<'_> {
    fn run(&mut self) -> Outcome {
        for client in 0..self.clients.len() {
            self.issue(client);
        }
        let warm = self.clients.len();
        self.serve(warm);
        self.machine.reset_meters();
        self.latencies.clear();
        let before = [&self.counts.tasks, &self.counts.stolen].map(|it| it.load(Ordering::Relaxed));
        let clients = self.clients.len();
        self.serve(MEASURED_PER_CLIENT.max(MEASURED_LEAST.div_ceil(clients)) * clients);
        let meters = self.machine.meters().expect("invariant: the machine has a model");
        let after = [&self.counts.tasks, &self.counts.stolen].map(|it| it.load(Ordering::Relaxed));
        let latencies = std::mem::take(&mut self.latencies);
        let threads = self.scheduler.workers();
        Outcome::new(&meters, threads, latencies, after[0] - before[0], after[1] - before[1])
    }

    /// Serves all clients until so many statements have ended.
    fn serve(&mut self, statements: usize) {
        let ended = self.ended.clone();
        while self.latencies.len() < statements {
            self.scheduler.wait_until(&|| !ended.lock().is_empty());
            let next = std::mem::take(&mut *ended.lock());
            for client in next {
                self.go_on(client);
            }
        }
    }

    fn issue(&mut self, client: usize) {
        let it = &mut self.clients[client];
        it.pick(self.items.len(), self.settings.skewed);
        it.phase = Phase::Plan;
        it.statement = self.statements;
        it.issued = self.machine.now();
        self.statements += 1;
        self.submit(client);
    }

    fn go_on(&mut self, client: usize) {
        let it = &mut self.clients[client];
        match self.maker.after(it.phase, &self.items[it.item]) {
            Some(phase) => {
                it.phase = phase;
                self.submit(client);
            }
            None => {
                let latency = self.machine.now() - it.issued;
                self.latencies.push(latency.as_millis_f64());
                self.issue(client);
            }
        }
    }

    fn submit(&mut self, client: usize) {
        let it = &self.clients[client];
        let tasks = self.maker.tasks(it.phase, &self.items[it.item], self.clients.len());
        let PhaseTasks { ranges, demands, near, affinity, max_workers } = tasks;
        let body = TaskBody {
            client,
            machine: self.machine.clone(),
            demands,
            near,
            ended: self.ended.clone(),
            counts: self.counts.clone(),
        };
        let mut job = PipelineJob::new(ranges, 1, Arc::new(body));
        job.affinity = if self.settings.workload == Workload::Union && affinity == Affinity::Hard {
            // P-SNC sets a preference and lets the stealing scope decide.
            Affinity::Soft
        } else {
            affinity
        };
        job.statement = it.statement;
        job.max_workers = max_workers;
        self.scheduler.submit(job);
    }
}

/// A job whose tasks cost and do nothing.
struct TaskBody {
    client: usize,
    machine: Arc<SimulatedMachine>,
    demands: Vec<Demand>,
    near: Vec<u64>,
    ended: Arc<Mutex<Vec<usize>>>,
    counts: Arc<Counts>,
}

impl MorselBody for TaskBody {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        self.machine.charge(&|| {
            let demand = self.demands[morsel.range].clone();
            demand.access(vec![context.node], self.near[morsel.range], Pattern::Write)
        });
        self.counts.tasks.fetch_add(1, Ordering::Relaxed);
        self.counts.stolen.fetch_add(u64::from(context.stolen), Ordering::Relaxed);
        ControlFlow::Continue(())
    }

    fn bytes_read(&self, morsel: Morsel, _: NodeId) -> Vec<(NodeId, u64)> {
        let accesses = self.demands[morsel.range].accesses.iter();
        let reads = accesses.filter(|it| it.pattern != Pattern::Write);
        let of_node = |it: &hardware::Access| {
            let share = it.bytes.0 / it.nodes.len().max(1) as u64;
            it.nodes.iter().map(|&node| (node, share)).collect::<Vec<_>>()
        };
        reads.flat_map(of_node).collect()
    }
}

impl Drop for TaskBody {
    fn drop(&mut self) {
        self.ended.lock().push(self.client);
    }
}
