//! A body that remembers everything, and a scheduler on a virtual machine.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::ops::ControlFlow;

use hardware::{NodeId, Topology, samples};
use scheduler::{
    Morsel, MorselBody, MorselContext, MorselRange, PipelineJob, Scheduler, SchedulerOptions,
};
use simulator::SimulatedMachine;
use stdx::sync::{Arc, Mutex};

/// The machines every test runs on.
pub const MACHINES: [&str; 6] = ["laptop", "four_sockets", "ring", "sub_numa", "epyc", "cpuless"];
/// The seeds every test runs under.
pub const SEEDS: [u64; 4] = [1, 2, 3, 0xdead_beef];

pub fn topology(name: &str) -> Topology {
    samples::by_name(name).unwrap()
}

pub fn start(
    name: &str,
    seed: u64,
    options: SchedulerOptions,
) -> (Arc<SimulatedMachine>, Arc<Scheduler>) {
    let machine = SimulatedMachine::new(topology(name), seed);
    let scheduler = Scheduler::start(machine.clone(), options).unwrap();
    (machine, scheduler)
}

type Rule = Box<dyn Fn(&MorselContext, Morsel) -> ControlFlow<()> + Send + Sync>;

/// Notes each morsel, then does what its rule says.
pub struct Recorder {
    seen: Mutex<Vec<(MorselContext, Morsel)>>,
    rule: Rule,
}

impl Recorder {
    pub fn new() -> Arc<Self> {
        Self::with(|_, _| ControlFlow::Continue(()))
    }

    pub fn with(
        rule: impl Fn(&MorselContext, Morsel) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { seen: Mutex::new(Vec::new()), rule: Box::new(rule) })
    }

    pub fn seen(&self) -> Vec<(MorselContext, Morsel)> {
        self.seen.lock().clone()
    }

    /// Checks that the morsels are the ranges, each row once and no morsel longer than asked for.
    pub fn check_exactly_once(&self, ranges: &[MorselRange], rows: u64) {
        let mut pieces: Vec<Morsel> = self.seen().into_iter().map(|it| it.1).collect();
        pieces.sort_by_key(|it| (it.range, it.start));
        let mut pieces = pieces.into_iter().peekable();
        for (range, it) in ranges.iter().enumerate() {
            let mut at = it.start;
            while let Some(piece) = pieces.next_if(|it| it.range == range) {
                assert_eq!(piece.start, at, "range {range}: a gap or a row twice");
                assert!(piece.end > piece.start && piece.end - piece.start <= rows.max(1));
                at = piece.end;
            }
            assert_eq!(at, it.end.max(it.start), "range {range}: rows are missing");
        }
        assert_eq!(pieces.next(), None);
    }
}

impl MorselBody for Recorder {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        self.seen.lock().push((*context, morsel));
        (self.rule)(context, morsel)
    }
}

pub fn range(node: Option<u16>, start: u64, end: u64) -> MorselRange {
    MorselRange { node: node.map(NodeId), start, end }
}

/// `rows` on each node of the machine, also on nodes without CPUs.
pub fn on_each_node(topology: &Topology, rows: u64) -> Vec<MorselRange> {
    let nodes = topology.nodes.iter().enumerate();
    nodes
        .map(|(at, it)| MorselRange {
            node: Some(it.id),
            start: at as u64 * rows,
            end: (at as u64 + 1) * rows,
        })
        .collect()
}

pub fn job(ranges: &[MorselRange], rows: u64, body: &Arc<Recorder>) -> PipelineJob {
    PipelineJob::new(ranges.to_vec(), rows, body.clone())
}
