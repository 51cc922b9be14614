//! The adaptive strategy (P-HANA 7) on a modelled machine of four sockets: what is bound by the bandwidth that the model
//! gives a node becomes hard and stays at home, what computes stays soft and is stolen (6.2.1 and 6.2.4).
#![cfg(not(loom))]

mod common;

use std::ops::ControlFlow;

use common::range;
use hardware::{Demand, Machine, NodeId, Pattern};
use scheduler::{
    Affinity, JobReport, Morsel, MorselBody, MorselContext, PipelineJob, Scheduler,
    SchedulerOptions,
};
use simulator::{MachineModel, SimulatedMachine};
use stdx::sync::Arc;

/// Morsels of a job, all at home on node 0.
const MORSELS: u64 = 2_000;

/// A job without data that costs the model what it says.
struct Costing {
    machine: Arc<SimulatedMachine>,
    cycles: u64,
    bytes: u64,
    /// Whether the bytes are told as such beside what is scanned.
    beside: bool,
}

impl MorselBody for Costing {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        self.machine.charge(&|| {
            let demand = Demand { cycles: self.cycles, ..Demand::default() };
            demand.access(vec![NodeId(0)], self.bytes, Pattern::Stream)
        });
        ControlFlow::Continue(())
    }

    fn bytes_read(&self, _: Morsel, _: NodeId) -> Vec<(NodeId, u64)> {
        if self.beside { Vec::new() } else { vec![(NodeId(0), self.bytes)] }
    }

    fn bytes_beside(&self, _: usize) -> u64 {
        if self.beside { self.bytes } else { 0 }
    }
}

/// Runs a job on a machine of four sockets.
fn run(model: &str, affinity: Affinity, cycles: u64, bytes: u64) -> JobReport {
    run_told(model, affinity, (cycles, bytes), false)
}

fn run_told(
    model: &str,
    affinity: Affinity,
    (cycles, bytes): (u64, u64),
    beside: bool,
) -> JobReport {
    let machine = SimulatedMachine::with_model(MachineModel::by_name(model).unwrap(), 1, vec![]);
    let scheduler = Scheduler::start(machine.clone(), SchedulerOptions::default()).unwrap();
    let body = Arc::new(Costing { machine, cycles, bytes, beside });
    let mut job = PipelineJob::new(vec![range(Some(0), 0, MORSELS)], 1, body);
    job.affinity = affinity;
    scheduler.run(job)
}

/// A scan: hardly any cycles for 256 KiB.
const SCAN: (u64, u64) = (10_000, 256 << 10);
/// An aggregation: many cycles for little data.
const AGGREGATION: (u64, u64) = (2_000_000, 64 << 10);

#[test]
fn what_fills_the_memory_controller_becomes_hard_and_what_computes_stays_soft() {
    for model in ["sandy-bridge-ep", "nehalem-ex", "4x-ivybridge-ex", "e5-4657l-v2"] {
        let scan = run(model, Affinity::Adaptive, SCAN.0, SCAN.1);
        assert_eq!((scan.affinity, scan.morsels), (Affinity::Hard, MORSELS), "{model}");
        let soft = run(model, Affinity::Soft, SCAN.0, SCAN.1);
        assert!(
            scan.stolen * 4 < soft.stolen,
            "{model}: once learned, no more are stolen: {} against {}",
            scan.stolen,
            soft.stolen
        );
        let aggregation = run(model, Affinity::Adaptive, AGGREGATION.0, AGGREGATION.1);
        assert_eq!(aggregation.affinity, Affinity::Soft, "{model}");
        assert!(aggregation.stolen > MORSELS / 2, "{model}: the other three sockets help");
        let rate = |it: &JobReport| it.bytes_per_second.unwrap();
        assert!(rate(&scan) > rate(&aggregation), "{model}");
    }
}

#[test]
fn what_joins_and_groups_move_counts_like_what_is_scanned() {
    let judged = |(cycles, bytes)| {
        run_told("sandy-bridge-ep", Affinity::Adaptive, (cycles, bytes), true).affinity
    };
    assert_eq!((judged(SCAN), judged(AGGREGATION)), (Affinity::Hard, Affinity::Soft));
}

#[test]
fn computing_gains_by_being_stolen_which_is_why_it_stays_soft() {
    let elapsed =
        |affinity| run("sandy-bridge-ep", affinity, AGGREGATION.0, AGGREGATION.1).elapsed.0;
    let (adaptive, hard) = (elapsed(Affinity::Adaptive), elapsed(Affinity::Hard));
    assert!(adaptive * 2 < hard, "{adaptive} ns with help, {hard} ns without");
}
