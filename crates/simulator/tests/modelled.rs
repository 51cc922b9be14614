//! Workers on modelled machines: time, fairness, capacities, faults, repeatability.

use std::collections::BTreeMap;

use hardware::{CpuId, Demand, Machine, NodeId, Pattern, Step, Worker, WorkerSpec};
use simulator::{Fault, MachineModel, SimulatedMachine};
use stdx::sync::{Arc, Mutex};
use stdx::{Bytes, Nanos};

const MIB: u64 = 1 << 20;

/// Charges its demands one by one and notes when each was through.
struct Scanner {
    machine: Arc<SimulatedMachine>,
    me: usize,
    demands: Vec<Demand>,
    ended: Arc<Mutex<BTreeMap<usize, Vec<u64>>>>,
    charged: bool,
}

impl Worker for Scanner {
    fn step(&mut self) -> Step {
        if std::mem::take(&mut self.charged) {
            let now = self.machine.now().0;
            self.ended.lock().entry(self.me).or_default().push(now);
        }
        match self.demands.pop() {
            None => Step::Stopped,
            Some(demand) => {
                self.machine.charge(&|| demand.clone());
                self.charged = true;
                Step::Worked
            }
        }
    }
}

/// Runs demands on cpus; the times at which each cpu's ended, and the machine.
fn run(
    name: &str,
    seed: u64,
    faults: Vec<Fault>,
    work: &[(u32, Vec<Demand>)],
) -> (Vec<Vec<u64>>, Arc<SimulatedMachine>) {
    let model = MachineModel::by_name(name).unwrap();
    let machine = SimulatedMachine::with_model(model, seed, faults);
    let ended = Arc::new(Mutex::new(BTreeMap::new()));
    let spec = |(me, (cpu, demands)): (usize, &(u32, Vec<Demand>))| WorkerSpec {
        cpu: CpuId(*cpu),
        name: format!("nw-{me}"),
        body: Box::new(Scanner {
            machine: machine.clone(),
            me,
            demands: demands.clone(),
            ended: ended.clone(),
            charged: false,
        }),
    };
    let team = machine.start(work.iter().enumerate().map(spec).collect()).unwrap();
    team.join();
    let ended = ended.lock();
    let times = (0..work.len()).map(|it| ended.get(&it).cloned().unwrap_or_default()).collect();
    (times, machine)
}

fn read(node: u16, mib: u64) -> Demand {
    Demand::default().access(vec![NodeId(node)], mib * MIB, Pattern::Stream)
}

#[test]
fn threads_of_a_socket_share_its_memory_evenly() {
    let work: Vec<_> = (0..15).map(|it| (it, vec![read(0, 65)])).collect();
    let (times, _) = run("4x-ivybridge-ex", 1, vec![], &work);
    // 15 x 65 MiB at 65 GiB/s: 15 / 1024 s.
    let expected = 15.0 / 1024.0 * 1e9;
    assert!(times.iter().all(|it| (it[0] as f64 / expected - 1.0).abs() < 0.01), "{times:?}");
}

#[test]
fn remote_reads_take_longer_and_local_ones_do_not_notice() {
    let work = [(0, vec![read(0, 100)]), (1, vec![read(1, 100)]), (2, vec![read(2, 100)])];
    let (times, machine) = run("4x-ivybridge-ex", 1, vec![], &work);
    let (local, first, second) = (times[0][0], times[1][0], times[2][0]);
    assert!(first > local * 5 / 4, "{local} {first}");
    assert!(first.abs_diff(second) < first / 50, "both draw from one share");
    let meters = machine.meters().unwrap();
    assert_eq!(meters.memory.len(), 4);
    let mib = |it: f64| (it / MIB as f64).round();
    assert_eq!((mib(meters.remote), mib(meters.memory_total())), (200.0, 300.0));
}

#[test]
fn computing_takes_cycles_and_siblings_share_a_core() {
    let compute = Demand { cycles: 2_500_000, accesses: Vec::new() };
    let (alone, _) = run("4x-ivybridge-ex", 1, vec![], &[(0, vec![compute.clone()])]);
    assert!(alone[0][0].abs_diff(1_000_000) < 3_000, "{alone:?}");
    let slow = vec![Fault::SlowCore { cpu: CpuId(60), speed: 0.5 }];
    let (slow, _) = run("4x-ivybridge-ex", 1, slow, &[(0, vec![compute.clone()])]);
    assert!(slow[0][0].abs_diff(2_000_000) < 3_000, "cpu 60 is the sibling of cpu 0: {slow:?}");
    let pair = [(0, vec![read(0, 1)]), (60, vec![compute])];
    let (shared, _) = run("4x-ivybridge-ex", 1, vec![], &pair);
    assert!(shared[1][0] > 1_000_000, "{shared:?}");
}

#[test]
fn what_fits_the_cache_does_not_load_the_memory() {
    let lookups = |working_set| {
        let pattern = Pattern::Random { in_flight: 1, working_set: Bytes(working_set) };
        Demand::default().access(vec![NodeId(0)], 64_000, pattern)
    };
    let (hits, machine) = run("4x-ivybridge-ex", 1, vec![], &[(0, vec![lookups(MIB)])]);
    assert_eq!(machine.meters().unwrap().memory_total(), 0.0);
    let (misses, machine) = run("4x-ivybridge-ex", 1, vec![], &[(0, vec![lookups(u64::MAX)])]);
    assert!((machine.meters().unwrap().memory_total() / 64_000.0 - 1.0).abs() < 0.01);
    assert!(misses[0][0] > 6 * hits[0][0], "{hits:?} {misses:?}");
}

#[test]
fn a_stalled_worker_is_late_and_interference_slows_its_neighbours() {
    let work: Vec<_> = (0..4).map(|it| (it, vec![read(0, 10); 3])).collect();
    let (usual, _) = run("nehalem-ex", 3, vec![], &work);
    let stall = Fault::StalledWorker { worker: 2, from: Nanos(1), span: Nanos(50_000_000) };
    let (stalled, _) = run("nehalem-ex", 3, vec![stall], &work);
    assert_eq!(stalled[2].len(), 3, "it ends all the same");
    assert!(stalled[2][2] > 50_000_000 && stalled[1][2] < 50_000_000, "{usual:?} {stalled:?}");
    let noise = Fault::Interference { cpu: CpuId(1), node: NodeId(0), bandwidth: 15e9 };
    let (noisy, _) = run("nehalem-ex", 3, vec![noise], &work);
    assert!(noisy[0][2] > usual[0][2] * 3 / 2, "{usual:?} {noisy:?}");
}

#[test]
fn a_node_without_memory_takes_no_pages() {
    let model = MachineModel::by_name("sandy-bridge-ep").unwrap();
    let machine = SimulatedMachine::with_model(model, 1, vec![Fault::NoMemory { node: NodeId(2) }]);
    assert_eq!(machine.topology().memory_nodes(), [0, 1, 3].map(NodeId));
}

/// A mixed load from every thread of every model: twice the same run, and nothing above its capacity.
#[test]
fn a_seed_repeats_and_nothing_is_overloaded() {
    for name in simulator::model::names().filter(|it| !it.starts_with("32x")) {
        let model = MachineModel::by_name(name).unwrap();
        let nodes = model.topology.nodes.len() as u32;
        let demands = |cpu: u32| -> Vec<Demand> {
            let node = NodeId((cpu * 7 % nodes) as u16);
            let every = (0..nodes as u16).map(NodeId).collect();
            let random = Pattern::Random { in_flight: 4, working_set: Bytes(1 << 30) };
            let mixed = Demand { cycles: 100_000, ..Demand::default() }
                .access(vec![node], MIB, Pattern::Stream)
                .access(every, 64_000, random)
                .access(vec![NodeId(0)], 100_000, Pattern::Write);
            vec![mixed.clone(), read(node.0, 2), mixed]
        };
        let work: Vec<_> =
            model.topology.cpus.iter().map(|it| (it.id.0, demands(it.id.0))).collect();
        let (times, machine) = run(name, 5, vec![], &work);
        let (again, same) = run(name, 5, vec![], &work);
        assert_eq!(times, again, "{name}");
        assert_eq!(machine.schedule_hash(), same.schedule_hash());
        let peak = machine.meters().unwrap().peak_load;
        assert!(peak > 0.5 && peak < 1.0 + 1e-6, "{name}: {peak}");
        assert!(times.iter().all(|it| it.len() == 3));
    }
}

/// Rests so long each time, and counts its looks.
struct Watch(Arc<Mutex<u64>>, Arc<Mutex<bool>>);

impl Worker for Watch {
    fn step(&mut self) -> Step {
        *self.0.lock() += 1;
        if *self.1.lock() { Step::Stopped } else { Step::Rest(Nanos(10_000_000)) }
    }
}

#[test]
fn a_rest_ends_by_time_or_nudge_and_added_workers_take_part() {
    let model = MachineModel::by_name("skylake").unwrap();
    let machine = SimulatedMachine::with_model(model, 2, vec![]);
    let (looks, stop) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(false)));
    let spec = || WorkerSpec {
        cpu: CpuId(0),
        name: "watch".into(),
        body: Box::new(Watch(looks.clone(), stop.clone())),
    };
    let team = machine.start(vec![spec()]).unwrap();
    team.wait_until(&|| *looks.lock() == 3);
    assert!((20_000_000..20_100_000).contains(&machine.now().0), "{}", machine.now());
    team.nudge(0);
    team.wait_until(&|| *looks.lock() == 4);
    assert!(machine.now().0 < 20_100_000);
    assert_eq!(team.add(spec()).unwrap(), 1);
    team.wait_until(&|| *looks.lock() == 8);
    assert_eq!(team.add(spec()).unwrap(), 2);
    assert!(team.add(spec()).is_err(), "the team is full");
    let lost =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| team.wait_until(&|| false)));
    let message = lost.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("lost task") && message.contains("seed 2"), "{message}");
    *stop.lock() = true;
    team.join();
}
