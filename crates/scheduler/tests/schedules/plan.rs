//! What happens in a schedule, all of it from the seed: a machine, its faults, and jobs of every kind.

use hardware::{NodeId, Topology};
use scheduler::{Affinity, Binding, MorselRange, Policy, StealingScope};
use simulator::{Fault, MachineModel};
use stdx::{Nanos, Prng};

use crate::machines::{faults, machine};

/// A schedule to come.
pub struct Plan {
    pub model: MachineModel,
    pub faults: Vec<Fault>,
    pub workers: usize,
    pub stealing: StealingScope,
    pub jobs: Vec<JobPlan>,
}

/// A job to come. Those that no other job submits are submitted by the client, in order.
#[derive(Debug)]
pub struct JobPlan {
    pub ranges: Vec<MorselRange>,
    pub morsel_rows: u64,
    pub policy: Policy,
    /// Jobs with the same number have the same ranges and morsels.
    pub reads: Option<u64>,
    pub statement: u64,
    /// Earlier jobs that must end first, as far as they were submitted.
    pub after: Vec<usize>,
    /// Its time is up so long after its submission.
    pub timeout: Option<Nanos>,
    /// What its body does at the start of its n-th morsel.
    pub deeds: Vec<(u64, Deed)>,
    /// The job whose body submits it.
    pub submitter: Option<usize>,
    /// Morsels of all jobs that the client waits for before it submits this one.
    pub pause: u64,
    /// What a morsel costs.
    pub cycles: u64,
    pub bytes: u64,
}

/// What a body does beside its work.
#[derive(Clone, Debug)]
pub enum Deed {
    Break,
    Panic,
    Cancel(usize),
    Submit(usize),
    /// Changes the policy of a statement.
    Steer(u64, Policy),
}

pub fn plan(seed: u64) -> Plan {
    let prng = &mut Prng::new(seed);
    let model = machine(prng);
    let most = model.topology.cpus.len().min(24) as u64;
    let workers = 1 + prng.below(most) as usize;
    let stealing = scope(prng);
    let faults = faults(prng, &model.topology, workers);
    let count = 2 + prng.below(14) as usize;
    let mut jobs: Vec<JobPlan> = Vec::with_capacity(count);
    for index in 0..count {
        let mut job = job(prng, &model.topology, index, count);
        match prng.below(4) {
            0 => job.reads = Some(index as u64),
            1 => {
                let earlier: Vec<&JobPlan> = jobs.iter().filter(|it| it.reads.is_some()).collect();
                if !earlier.is_empty() {
                    job.read_what(earlier[prng.below(earlier.len() as u64) as usize]);
                }
            }
            _ => {}
        }
        if let Some(submitter) = job.submitter {
            let at = prng.below(6);
            jobs[submitter].deeds.push((at, Deed::Submit(index)));
        }
        jobs.push(job);
    }
    Plan { model, faults, workers, stealing, jobs }
}

impl JobPlan {
    fn read_what(&mut self, other: &Self) {
        self.reads = other.reads;
        self.ranges.clone_from(&other.ranges);
        self.morsel_rows = other.morsel_rows;
    }
}

fn job(prng: &mut Prng, topology: &Topology, index: usize, count: usize) -> JobPlan {
    let statement = 1 + prng.below(1 + count as u64 / 2);
    let mut earlier =
        |odds: u64| -> Vec<usize> { (0..index).filter(|_| prng.below(odds) == 0).collect() };
    let (after, submitter) = (earlier(8), earlier(5).pop());
    let mut deeds = Vec::new();
    if prng.below(3) == 0 {
        let deed = deed(prng, count);
        deeds.push((prng.below(20), deed));
    }
    JobPlan {
        ranges: ranges(prng, topology),
        morsel_rows: 1 + prng.below(9),
        policy: policy(prng, topology),
        reads: None,
        statement,
        after,
        timeout: (prng.below(8) == 0).then(|| Nanos(prng.below(4_000_000))),
        deeds,
        submitter,
        pause: prng.below(60),
        cycles: prng.below(200_000),
        bytes: prng.below(200_000),
    }
}

fn deed(prng: &mut Prng, count: usize) -> Deed {
    match prng.below(8) {
        0 => Deed::Break,
        1 => Deed::Panic,
        2..5 => Deed::Cancel(prng.below(count as u64) as usize),
        _ => {
            let statement = 1 + prng.below(1 + count as u64 / 2);
            let class = prng.below(3) as u8;
            let affinity = affinity(prng);
            let max_workers = limit(prng);
            Deed::Steer(statement, Policy { class, affinity, max_workers, ..Policy::default() })
        }
    }
}

/// Ranges on any nodes, also on one that the machine has not, and on none.
fn ranges(prng: &mut Prng, topology: &Topology) -> Vec<MorselRange> {
    let (count, mut start) = (prng.below(6), 0);
    let range = |_| {
        let rows = prng.below(70);
        let node = match prng.below(12) {
            0 => None,
            1 => Some(NodeId(77)),
            _ => Some(topology.nodes[prng.below(topology.nodes.len() as u64) as usize].id),
        };
        let range = MorselRange { node, start, end: start + rows };
        start += rows + 1;
        range
    };
    (0..count).map(range).collect()
}

fn policy(prng: &mut Prng, topology: &Topology) -> Policy {
    let nodes = match prng.below(6) {
        0 => topology.nodes.iter().map(|it| it.id).filter(|_| prng.below(2) == 0).collect(),
        _ => Vec::new(),
    };
    Policy {
        class: prng.below(3) as u8,
        affinity: affinity(prng),
        stealing: (prng.below(2) == 0).then(|| scope(prng)),
        binding: [Binding::None, Binding::Preferred, Binding::Opportunistic, Binding::Always]
            [prng.below(4) as usize],
        bulk: prng.below(5) as u32,
        max_workers: limit(prng),
        nodes,
        traced: true,
        ..Policy::default()
    }
}

fn affinity(prng: &mut Prng) -> Affinity {
    [Affinity::Soft, Affinity::Hard, Affinity::None, Affinity::Adaptive][prng.below(4) as usize]
}

fn scope(prng: &mut Prng) -> StealingScope {
    [StealingScope::None, StealingScope::Socket, StealingScope::All][prng.below(3) as usize]
}

fn limit(prng: &mut Prng) -> Option<usize> {
    (prng.below(4) == 0).then(|| 1 + prng.below(4) as usize)
}
