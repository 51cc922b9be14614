//! The probe on modelled machines. What it measures there is the model's time and says nothing; which pairs it measures,
//! and that it ends, is real.

use hardware::{Machine, NodeId, Topology, samples};
use probe::{ProbeOptions, Report, measure};
use simulator::SimulatedMachine;
use stdx::Bytes;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicUsize, Ordering};

fn probe(topology: Topology) -> (Report, Arc<dyn Machine>) {
    let machine: Arc<dyn Machine> = SimulatedMachine::new(topology, 3);
    let options = ProbeOptions { quick: true, bytes: Some(Bytes(1 << 20)) };
    let seen = AtomicUsize::new(0);
    let progress = |done: usize, total: usize| {
        assert_eq!(seen.fetch_add(1, Ordering::Relaxed) + 1, done);
        assert!(done <= total);
    };
    let report = measure(machine.clone(), &options, &progress).unwrap();
    (report, machine)
}

#[test]
fn every_pair_of_cpus_and_memory_is_measured() {
    for topology in [samples::laptop(), samples::sub_numa()] {
        let count = topology.nodes.len();
        let (report, machine) = probe(topology);
        let performance = &report.performance;
        assert!(performance.fits(machine.topology()));
        for from in 0..count {
            for to in 0..count {
                let idle = performance.idle_ns[from][to].unwrap();
                assert!(0.0 < idle.least && idle.least <= idle.mean && idle.mean <= idle.greatest);
                assert!(performance.loaded_ns[from][to].unwrap() > 0.0);
                assert!(performance.read_mb_s[from][to].unwrap() > 0);
                assert!(performance.write_mb_s[from][to].unwrap() > 0);
            }
        }
        assert_eq!(performance.caches.first().map(|it| it.bytes), Some(Bytes(16 << 10)));
        assert!(machine.resident_bytes().1.0 == 0, "all memory was given back");
        assert!(machine.topology().learn(report.performance.clone()));
    }
}

#[test]
fn nodes_without_cpus_or_memory_leave_holes() {
    let mut topology = samples::cpuless();
    topology.nodes[1].allowed = false;
    let (report, _) = probe(topology);
    let seen =
        |from: u16, to: u16| report.performance.latency_ns(NodeId(from), NodeId(to)).is_some();
    assert!(seen(0, 0) && seen(0, 2) && seen(1, 0) && seen(1, 2));
    assert!(!seen(0, 1) && !seen(1, 1) && !seen(2, 0) && !seen(2, 2));
}

#[test]
fn a_full_node_is_left_out_with_a_note() {
    let mut topology = samples::four_sockets();
    topology.nodes[2].memory_total = Bytes(3 << 20);
    let machine = SimulatedMachine::new(topology, 1);
    let options = ProbeOptions { quick: true, bytes: Some(Bytes(2 << 20)) };
    let report = measure(machine.clone(), &options, &|_, _| {}).unwrap();
    assert_eq!(report.performance.latency_ns(NodeId(0), NodeId(2)), None);
    assert!(report.performance.latency_ns(NodeId(2), NodeId(3)).is_some());
    assert!(report.notes.iter().any(|it| it.starts_with("node 2 has too little")), "{report:?}");
    assert_eq!(machine.available_bytes().0, (96 << 30) + (3 << 20));
}

#[test]
fn one_thread_alone_has_no_loaded_latency_and_a_quota_is_told() {
    let mut topology = samples::laptop();
    topology.cpus.truncate(1);
    topology.cpu_quota = Some(0.5);
    let (report, _) = probe(topology);
    assert_eq!(report.performance.loaded_ns, [[None]]);
    assert!(report.performance.idle_ns[0][0].is_some());
    assert!(report.notes.iter().any(|it| it.contains("0.50 threads")), "{:?}", report.notes);
}

#[test]
fn a_machine_without_numa_times_is_told_from_one_of_one_node() {
    let flat = |report: &Report| report.notes.iter().any(|it| it.contains("shows no NUMA times"));
    // Without a model of memory an access takes the same from everywhere, as on an emulated machine.
    let (report, machine) = probe(samples::four_sockets());
    assert!(flat(&report), "{report:?}");
    let (near, far) = (NodeId(0), NodeId(1));
    assert!(machine.topology().learn(report.performance.clone()));
    assert_eq!(machine.topology().relative_cost(near, far), 2.1, "the distances hold");
    let (report, _) = probe(samples::laptop());
    assert!(!flat(&report), "there is no far memory");
}
