//! Machines and their faults, from a seed.

use hardware::{CpuId, Latency, NodeId, Performance, Topology, samples};
use simulator::{Fault, MachineModel};
use stdx::{Nanos, Prng};

/// Machines of the papers, and samples with what the papers' machines have not: chiplets, a node without CPUs.
const MODELS: [&str; 6] = [
    "nehalem-ex",
    "sandy-bridge-ep",
    "broadwell-cod",
    "skylake-snc",
    "8x-westmere-ex",
    "e5-4657l-v2",
];
const SAMPLES: [&str; 3] = ["epyc", "cpuless", "laptop"];

/// A machine.
pub fn machine(prng: &mut Prng) -> MachineModel {
    let at = prng.below((MODELS.len() + SAMPLES.len()) as u64) as usize;
    match MODELS.get(at) {
        Some(name) => MachineModel::by_name(name).unwrap(),
        None => sample(SAMPLES[at - MODELS.len()]),
    }
}

/// A model of a sample machine: as slow and narrow as its distances say.
fn sample(name: &str) -> MachineModel {
    let topology = samples::by_name(name).unwrap();
    let mut probe = Performance::unknown(&topology);
    for (i, from) in topology.nodes.iter().enumerate() {
        for (k, to) in topology.nodes.iter().enumerate() {
            if topology.cpus_of(from.id).next().is_some() {
                let far = f64::from(topology.distance(from.id, to.id)) / 10.0;
                let ns = 80.0 * far;
                probe.idle_ns[i][k] = Some(Latency { least: ns, mean: ns, greatest: ns });
                probe.read_mb_s[i][k] = Some((40_000.0 / far) as u64);
            }
        }
    }
    MachineModel::measured(topology, &probe, 2.5).unwrap()
}

/// Up to three faults of a machine on which so many workers run.
pub fn faults(prng: &mut Prng, topology: &Topology, workers: usize) -> Vec<Fault> {
    let mut faults = Vec::new();
    for _ in 0..prng.below(4) {
        let cpu = topology.cpus[prng.below(topology.cpus.len() as u64) as usize].id;
        let node = topology.nodes[prng.below(topology.nodes.len() as u64) as usize].id;
        faults.push(fault(prng, cpu, node, workers));
    }
    // There has to be memory somewhere.
    let mut may_go = topology.nodes.len() > 1;
    faults.retain(|it| !matches!(it, Fault::NoMemory { .. }) || std::mem::take(&mut may_go));
    faults
}

fn fault(prng: &mut Prng, cpu: CpuId, node: NodeId, workers: usize) -> Fault {
    match prng.below(4) {
        0 => Fault::SlowCore { cpu, speed: (1 + prng.below(50)) as f64 / 100.0 },
        1 => Fault::StalledWorker {
            // One past the workers is the watchdog.
            worker: prng.below(workers as u64 + 1) as usize,
            from: Nanos(prng.below(3_000_000)),
            span: Nanos(prng.below(30_000_000)),
        },
        2 => Fault::NoMemory { node },
        _ => Fault::Interference { cpu, node, bandwidth: prng.below(10_000_000_000) as f64 },
    }
}
