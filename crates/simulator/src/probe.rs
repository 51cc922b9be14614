//! What a modelled machine measures of itself, as `nodewise probe` or the Memory Latency Checker would: the check that
//! a model reproduces the tables it was made from.

use hardware::{CpuId, Demand, NodeId, Pattern};
use stdx::Bytes;

use crate::engine::Engine;
use crate::model::MachineModel;
use crate::physics::Physics;

/// Matrices as measured: row = node of the CPUs, column = node of the memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Probe {
    /// Nanoseconds of a dependent read on an idle machine.
    pub latency: Vec<Vec<f64>>,
    /// Bytes per second that all CPUs of a node read from a node while the others rest.
    pub bandwidth: Vec<Vec<f64>>,
    /// Bytes per second when all CPUs read their own node.
    pub total_local: f64,
    /// Bytes per second when all CPUs read from all nodes evenly.
    pub total_mix: f64,
}

/// Bytes that each thread of a probe reads.
const BYTES: u64 = 256 << 20;
const LINES: u64 = 1000;

/// Measures a model.
pub fn probe(model: &MachineModel) -> Probe {
    let nodes: Vec<NodeId> = model.topology.nodes.iter().map(|it| it.id).collect();
    let with_cpus = |it: &&NodeId| model.topology.cpus_of(**it).next().is_some();
    let starts: Vec<NodeId> = nodes.iter().filter(with_cpus).copied().collect();
    let cpus = |node: NodeId| model.topology.cpus_of(node).map(|it| it.id).collect::<Vec<_>>();
    let latency = |from: NodeId, to: NodeId| {
        let pattern = Pattern::Random { in_flight: 1, working_set: Bytes(u64::MAX) };
        let demand = Demand::default().access(vec![to], LINES * 64, pattern);
        run(model, &[(cpus(from)[0], demand)]).1 / LINES as f64
    };
    let bandwidth = |from: NodeId, to: NodeId| {
        let read = || Demand::default().access(vec![to], BYTES, Pattern::Stream);
        rate(model, &cpus(from).into_iter().map(|it| (it, read())).collect::<Vec<_>>())
    };
    let matrix = |cell: &dyn Fn(NodeId, NodeId) -> f64| {
        starts.iter().map(|&from| nodes.iter().map(|&to| cell(from, to)).collect()).collect()
    };
    let all = |target: &dyn Fn(NodeId) -> Vec<NodeId>| {
        let read = |node| Demand::default().access(target(node), BYTES, Pattern::Stream);
        let every = |&node: &NodeId| cpus(node).into_iter().map(move |it| (it, read(node)));
        rate(model, &starts.iter().flat_map(every).collect::<Vec<_>>())
    };
    Probe {
        latency: matrix(&latency),
        bandwidth: matrix(&bandwidth),
        total_local: all(&|node| vec![node]),
        total_mix: all(&|_| nodes.clone()),
    }
}

fn rate(model: &MachineModel, work: &[(CpuId, Demand)]) -> f64 {
    let (bytes, span) = run(model, work);
    bytes / span * 1e9
}

/// Bytes moved and nanoseconds taken by demands that begin together.
fn run(model: &MachineModel, work: &[(CpuId, Demand)]) -> (f64, f64) {
    let mut engine = Engine::new(Physics::new(model.clone()));
    for (cpu, demand) in work {
        let seat = engine.seat(*cpu, 1.0).expect("invariant: the cpu is one of the model's");
        engine.begin(seat, demand, 0.0);
    }
    while !engine.advance().is_empty() {}
    (engine.meters().memory_total(), engine.now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{self, Coherence};

    fn close(measured: f64, published: f64, percent: f64) -> bool {
        (measured / published - 1.0).abs() <= percent / 100.0
    }

    #[test]
    fn every_model_measures_the_tables_it_was_made_from() {
        for name in model::names() {
            let model = MachineModel::by_name(name).unwrap();
            // One row of a regular machine is enough; the small ones are measured whole.
            let probe = probe(&model);
            for (from, row) in probe.latency.iter().enumerate() {
                for (to, &measured) in row.iter().enumerate() {
                    let published = model.latency[from][to];
                    assert!(close(measured, published, 1.0), "{name} {from} {to}: {measured} ns");
                    let (measured, published) =
                        (probe.bandwidth[from][to] / 1e9, model.bandwidth[from][to] / 1e9);
                    let message = format!("{name} {from} {to}: {measured} of {published} GB/s");
                    assert!(close(measured, published, 3.0), "{message}");
                }
            }
            if let Some(total) = model.total_local {
                assert!(
                    close(probe.total_local, total, 2.0),
                    "{name}: {}",
                    probe.total_local / 1e9
                );
            }
            if let Some(total) = model.total_mix {
                assert!(close(probe.total_mix, total, 5.0), "{name}: {}", probe.total_mix / 1e9);
            }
        }
    }

    /// P-HANA table 1: eight sockets together read less than eight times what one does, because of the snoops. Nothing
    /// but the link's data sheet and the size of a flit goes into the model here.
    #[test]
    fn broadcast_snoops_cost_eight_sockets_their_sum() {
        let mut model = MachineModel::by_name("8x-westmere-ex").unwrap();
        let snooped = probe(&model).total_local;
        model.coherence = Coherence::Unknown;
        let alone = probe(&model).total_local;
        assert!(close(alone / 8.0, model.bandwidth[0][0], 1.0));
        assert!(close(snooped, model.total_local.unwrap(), 2.0), "{}", snooped / 1e9);
    }

    /// P-HYPER section 5.3: query 1 reads 82.6 GB/s, nearly all locally, and uses 40 % of the links.
    #[test]
    fn broadcast_snoops_use_the_links_as_measured() {
        let model = MachineModel::by_name("nehalem-ex").unwrap();
        let physics = Physics::new(model);
        let per_byte: f64 = (0..4)
            .map(|node| physics.footprint(node, &[node], crate::physics::Traffic::Read))
            .map(|print| {
                print.uses.iter().filter(|it| it.resource >= 8).map(|it| it.weight).sum::<f64>()
            })
            .sum::<f64>()
            / 4.0;
        let load = 82.6e9 * per_byte / physics.link_resources().len() as f64;
        let share = load / physics.capacities[physics.link_resources().start];
        assert!((0.38..0.43).contains(&share), "{share}");
    }
}
