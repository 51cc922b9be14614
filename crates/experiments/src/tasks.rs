//! From a statement to jobs: the phases of P-HANA section 5.2, each with its tasks and what each task costs.

use hardware::{Demand, Machine, NodeId, Pattern};
use scheduler::hint::{PipelineSize, fan_out};
use scheduler::{Affinity, MorselRange, concurrency_hint, scan_tasks, weighted_tasks};
use stdx::Bytes;

use crate::costs::{
    INDEX_CYCLES, OUTPUT_LINES, POSITION_BYTES, SCAN_CYCLES, STATEMENT_NANOS, VALUE_BYTES,
};
use crate::layout::{Item, Piece};
use crate::settings::{Division, Placing, Settings, Strategy, Workload};

/// A phase of a statement: all its tasks run before the next phase begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Parse, bind, plan: one task anywhere.
    Plan,
    /// Find the qualifying matches, by scan or index.
    Find,
    /// Materialise the output.
    Output,
}

/// Tasks of one phase.
pub(crate) struct PhaseTasks {
    /// A range per group of tasks that are alike, a row per task.
    pub(crate) ranges: Vec<MorselRange>,
    /// What a task of each range costs.
    pub(crate) demands: Vec<Demand>,
    /// Bytes that a task of each range writes near the worker that runs it.
    pub(crate) near: Vec<u64>,
    pub(crate) affinity: Affinity,
    /// The most workers at a time.
    pub(crate) max_workers: Option<usize>,
}

/// Makes the tasks of statements.
pub(crate) struct TaskMaker<'a> {
    settings: &'a Settings,
    machine: &'a dyn Machine,
    threads: usize,
    ghz: f64,
}

impl<'a> TaskMaker<'a> {
    pub(crate) fn new(
        settings: &'a Settings,
        machine: &'a dyn Machine,
        threads: usize,
        ghz: f64,
    ) -> Self {
        Self { settings, machine, threads, ghz }
    }

    /// The phase after another one of a statement on `item`; `None` at the end.
    pub(crate) fn after(&self, phase: Phase, item: &Item) -> Option<Phase> {
        match phase {
            Phase::Plan => Some(Phase::Find),
            Phase::Find if self.cuts_morsels(item) => None,
            Phase::Find if self.settings.workload == Workload::Scans => Some(Phase::Output),
            Phase::Find | Phase::Output => None,
        }
    }

    /// The tasks of a phase of a statement on `item`, with so many statements under way.
    pub(crate) fn tasks(&self, phase: Phase, item: &Item, running: usize) -> PhaseTasks {
        match phase {
            Phase::Plan => self.plan(),
            Phase::Find if self.uses_index(item) => self.lookups(item),
            Phase::Find if self.cuts_morsels(item) => self.morsels(item, running),
            Phase::Find => self.scan(item, running),
            Phase::Output => self.output(item, running),
        }
    }

    fn plan(&self) -> PhaseTasks {
        let cycles = (STATEMENT_NANOS * self.ghz) as u64;
        let mut tasks = PhaseTasks::new(Affinity::None);
        tasks.push(None, 1, Demand { cycles, ..Demand::default() }, 0);
        tasks
    }

    /// Whether an optimizer would look the matches up: that ends sooner than a scan when nothing else runs. The paper says
    /// only that its optimizer does so up to 0.1 % (P-HANA 6.1.5).
    fn uses_index(&self, item: &Item) -> bool {
        self.settings.indexes && self.lookup_nanos(item) <= self.scan_nanos(item)
    }

    /// Nanoseconds of the lookups of an item: one task per part with an index of its own.
    fn lookup_nanos(&self, item: &Item) -> f64 {
        let cycles = item.pieces[..self.indexes_of(item)].iter().map(|it| self.lookup_cycles(it));
        cycles.fold(0.0, f64::max) / self.ghz
    }

    /// Nanoseconds of a scan by all threads of the nodes that have the rows: of computing or of reading, what is longer.
    fn scan_nanos(&self, item: &Item) -> f64 {
        let topology = self.machine.topology();
        let piece_nanos = |piece: &Piece| {
            let threads: usize = piece.nodes.iter().map(|it| topology.cpus_of(*it).count()).sum();
            let read = |it: &NodeId| topology.performance().and_then(|all| all.read_mb_s(*it, *it));
            let read: f64 = piece.nodes.iter().filter_map(read).map(|it| it as f64).sum();
            // A thousand bytes per microsecond are a gigabyte per second; two threads of a core share its clock.
            let computing = piece.rows * SCAN_CYCLES / self.ghz / (threads as f64 / 2.0).max(1.0);
            if read > 0.0 { computing.max(piece.bytes / read * 1e3) } else { computing }
        };
        item.pieces.iter().map(piece_nanos).fold(0.0, f64::max)
    }

    /// Pieces with an index of their own.
    fn indexes_of(&self, item: &Item) -> usize {
        if self.settings.placement == Placing::Physical { item.pieces.len() } else { 1 }
    }

    /// Cycles of the lookups in the index of a piece.
    fn lookup_cycles(&self, piece: &Piece) -> f64 {
        let (values, positions) = self.looked_up(piece);
        INDEX_CYCLES.0 * values + INDEX_CYCLES.1 * positions
    }

    /// Values and positions that are looked up in the index of a piece.
    fn looked_up(&self, piece: &Piece) -> (f64, f64) {
        let physical = self.settings.placement == Placing::Physical;
        let rows = if physical { piece.rows } else { self.settings.rows as f64 };
        let share = self.settings.selectivity;
        (piece.values * share, rows * share)
    }

    /// Whether a statement is one pipeline of morsels, which find matches and write their output at once.
    fn cuts_morsels(&self, item: &Item) -> bool {
        self.settings.division == Division::Morsels && !self.uses_index(item)
    }

    fn affinity(&self) -> Affinity {
        match self.settings.strategy {
            Strategy::Os => Affinity::None,
            Strategy::Target => Affinity::Soft,
            Strategy::Bound => Affinity::Hard,
            Strategy::Adaptive => Affinity::Adaptive,
        }
    }

    /// One task per part that has matches: lookups are not parallelised (P-HANA 5.2). An interleaved index has no home.
    fn lookups(&self, item: &Item) -> PhaseTasks {
        let mut tasks = PhaseTasks::new(self.affinity());
        for piece in &item.pieces[..self.indexes_of(item)] {
            let (values, positions) = self.looked_up(piece);
            let cycles = self.lookup_cycles(piece);
            let bytes = (values + positions) * POSITION_BYTES;
            let demand = Demand { cycles: cycles as u64, ..Demand::default() };
            let demand = demand.access(piece.dictionary.clone(), bytes as u64, Pattern::Stream);
            let home = if piece.dictionary.len() == 1 { piece.home() } else { None };
            tasks.push(home, 1, demand, 0);
        }
        tasks
    }

    fn scan(&self, item: &Item, running: usize) -> PhaseTasks {
        let mut tasks = PhaseTasks::new(self.affinity());
        if !self.settings.parallel {
            let pieces = item.pieces.iter();
            let demand = pieces.fold(Demand::default(), |all, it| join(all, self.scan_of(it, 1)));
            tasks.push(home_of(item), 1, demand, 0);
            return tasks;
        }
        let parts = item.pieces.len();
        let each = match (self.settings.workload, self.settings.placement) {
            // Each part is an operation of its own to the hint (P-HANA 6.2.2).
            (Workload::Scans | Workload::Aggregate, Placing::Physical) => {
                concurrency_hint(self.threads, running * parts)
            }
            _ => scan_tasks(concurrency_hint(self.threads, running), parts) / parts,
        };
        for piece in &item.pieces {
            let near = match self.settings.workload {
                Workload::Union => piece.rows * self.settings.selectivity * POSITION_BYTES,
                _ => 0.0,
            };
            tasks.push(piece.home(), each, self.scan_of(piece, each), (near / each as f64) as u64);
        }
        tasks
    }

    /// Morsels of both phases, for as many workers at a time as the database would give the statement. They cost what
    /// the tasks of the two phases cost, so that the two ways can be compared.
    fn morsels(&self, item: &Item, running: usize) -> PhaseTasks {
        let mut tasks = PhaseTasks::new(self.affinity());
        for piece in &item.pieces {
            let each = (piece.rows as u64).div_ceil(self.settings.morsel_rows.max(1)).max(1);
            let mut demand = self.scan_of(piece, each as usize);
            if self.settings.workload == Workload::Scans {
                demand = join(demand, self.output_of(piece, each as usize));
            }
            tasks.push(piece.home(), each as usize, demand, 0);
        }
        let sum = |of: &dyn Fn(&Piece) -> f64| item.pieces.iter().map(of).sum::<f64>() as u64;
        let (rows, bytes) = (sum(&|it| it.rows), sum(&|it| it.bytes));
        let size = PipelineSize { rows, bytes, morsels: tasks.count(), in_rows: false, homes: 1 };
        tasks.max_workers = Some(fan_out(size, self.threads, running).max_workers);
        tasks
    }

    /// The cost of one of `tasks` equal shares of a piece's scan.
    fn scan_of(&self, piece: &Piece, tasks: usize) -> Demand {
        let per_row = match self.settings.workload {
            Workload::Aggregate => self.settings.row_cost.1,
            Workload::Scans | Workload::Union => SCAN_CYCLES,
        };
        let share = 1.0 / tasks as f64;
        let demand = Demand { cycles: (piece.rows * per_row * share) as u64, ..Demand::default() };
        demand.access(piece.nodes.clone(), (piece.bytes * share) as u64, Pattern::Stream)
    }

    fn output(&self, item: &Item, running: usize) -> PhaseTasks {
        let mut tasks = PhaseTasks::new(self.affinity());
        if !self.settings.parallel {
            let pieces = item.pieces.iter();
            let demand = pieces.fold(Demand::default(), |all, it| join(all, self.output_of(it, 1)));
            tasks.push(home_of(item), 1, demand, 0);
            return tasks;
        }
        let rows: Vec<u64> = item.pieces.iter().map(|it| it.rows as u64).collect();
        let hint = concurrency_hint(self.threads, running);
        for (piece, each) in item.pieces.iter().zip(weighted_tasks(hint, &rows)) {
            if each > 0 {
                tasks.push(piece.home(), each, self.output_of(piece, each), 0);
            }
        }
        tasks
    }

    /// The cost of one of `tasks` equal shares of a piece's output: find the code of each position, look its value up,
    /// write it to memory that is used again and therefore lies anywhere (P-HANA 5.2).
    fn output_of(&self, piece: &Piece, tasks: usize) -> Demand {
        let share = 1.0 / tasks as f64;
        let selectivity = self.settings.selectivity;
        let rows = piece.rows * selectivity * share;
        let lines = piece.bytes / 64.0;
        let touched = lines * (1.0 - (1.0 - selectivity).powf(piece.rows / lines));
        // When most lines are touched, the hardware fetches ahead.
        let codes =
            if touched > lines / 2.0 { Pattern::Stream } else { random(piece.bytes * share) };
        let cycles = (rows * self.settings.output_cycles) as u64;
        let demand = Demand { cycles, ..Demand::default() };
        // The dictionary is sorted: a range of values is a range of it.
        let dictionary = piece.values * selectivity * VALUE_BYTES;
        demand
            .access(piece.nodes.clone(), (touched * share * 64.0) as u64, codes)
            .access(piece.dictionary.clone(), (rows * 64.0) as u64, random(dictionary))
            .access(
                self.machine.topology().memory_nodes(),
                (rows * VALUE_BYTES) as u64,
                Pattern::Write,
            )
    }
}

/// The node of a task on all of an item: none when its parts lie on several (P-HANA 5.2, of interleaved indexes).
fn home_of(item: &Item) -> Option<NodeId> {
    match &item.pieces[..] {
        [piece] => piece.home(),
        _ => None,
    }
}

fn random(working_set: f64) -> Pattern {
    Pattern::Random { in_flight: OUTPUT_LINES, working_set: Bytes(working_set as u64) }
}

fn join(mut all: Demand, other: Demand) -> Demand {
    all.cycles += other.cycles;
    all.accesses.extend(other.accesses);
    all
}

impl PhaseTasks {
    fn new(affinity: Affinity) -> Self {
        let (ranges, demands, near) = (Vec::new(), Vec::new(), Vec::new());
        Self { ranges, demands, near, affinity, max_workers: None }
    }

    fn push(&mut self, node: Option<NodeId>, tasks: usize, demand: Demand, near: u64) {
        let start = self.count();
        self.ranges.push(MorselRange { node, start, end: start + tasks as u64 });
        self.demands.push(demand);
        self.near.push(near);
    }

    /// Tasks of all ranges.
    pub(crate) fn count(&self) -> u64 {
        self.ranges.last().map_or(0, |it| it.end)
    }
}
