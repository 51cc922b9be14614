//! Goes through the pairs of nodes.

use hardware::topology::Cpu;
use hardware::{
    CacheStep, Latency, Machine, MachineError, NodeId, PagePolicy, Performance, Spread, Topology,
};
use memory::{Allocator, Segment};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::{Bytes, Nanos};

use crate::chase::{self, Chased, Chaser, LINE_BYTES, STEP_HOPS};
use crate::crew::{self, Seat};
use crate::plan::{Plan, ProbeOptions};
use crate::stream::{Reader, Writer};

/// A latency below this is no latency: the clock stood still, as it may on a modelled machine.
const LEAST_NS: f64 = 0.05;
/// The first region of the staircase of caches.
const STAIR_BYTES: usize = 16 << 10;
/// Passes of one run of a bandwidth at most.
const PASSES_MAX: u64 = 16;
/// Runs of a bandwidth; the best counts, as whatever else runs on the machine only takes from it.
const RUNS: u64 = 4;

/// What was measured.
#[derive(Clone, Debug)]
pub struct Report {
    /// The figures.
    pub performance: Performance,
    /// Bytes of the region on each node.
    pub region: Bytes,
    /// What makes figures less than they seem, in sentences.
    pub notes: Vec<String>,
}

/// The state of a probe.
struct Probe<'a> {
    machine: Arc<dyn Machine>,
    allocator: Allocator,
    plan: Plan,
    report: Report,
    progress: &'a dyn Fn(usize, usize),
    done: usize,
}

/// Measures a machine; `progress` hears how many of how many parts are done.
pub fn measure(
    machine: Arc<dyn Machine>,
    options: &ProbeOptions,
    progress: &dyn Fn(usize, usize),
) -> Result<Report, MachineError> {
    let plan = Plan::new(&*machine, options);
    let topology = machine.topology();
    let report = Report {
        performance: Performance::unknown(topology),
        region: Bytes(plan.bytes as u64),
        notes: notes(&*machine, &plan),
    };
    let allocator = Allocator::new(machine.clone());
    let cycle = chase::cycle(plan.bytes / LINE_BYTES);
    let memory = plan.memory.clone();
    let mut probe = Probe { machine, allocator, plan, report, progress, done: 0 };
    for node in memory {
        probe.memory(node, &cycle)?;
        // The next node needs as much.
        probe.allocator.trim();
    }
    let spread = probe.report.performance.spread(probe.machine.topology());
    probe.report.notes.extend(spread.filter(Spread::is_flat).map(|it| no_numa_times(&it)));
    Ok(probe.report)
}

/// Says that the figures are no reason to place anything.
fn no_numa_times(spread: &Spread) -> String {
    let percent = |share: f64| (share * 100.0).round();
    format!(
        "local and remote memory differ by {} %, no more than measurements on one node do ({} %), where the distances \
         say {} %: this machine shows no NUMA times (it is emulated, or its memory is interleaved below the operating \
         system); placement and scheduling do not use these latencies and go by the distances",
        percent(spread.measured.abs()),
        percent(spread.noise),
        percent(spread.told)
    )
}

fn notes(machine: &dyn Machine, plan: &Plan) -> Vec<String> {
    let topology: &Topology = machine.topology();
    let mut notes = Vec::new();
    if machine.restrictions().iter().any(|it| it.call == "set_affinity") {
        notes.push(
            "threads could not be pinned: the kernel may have moved them between nodes".into(),
        );
    }
    if let Some(quota) = topology.cpu_quota {
        notes.push(format!(
            "CPU time is limited to {quota:.2} threads: bandwidths are what these reach"
        ));
    }
    if (plan.bytes as u64) < 2 * topology.llc_bytes.0 {
        notes.push(format!(
            "the region of {} is small beside caches of {}: some accesses were hits",
            Bytes(plan.bytes as u64),
            topology.llc_bytes
        ));
    }
    notes
}

impl Probe<'_> {
    /// Measures the memory of one node from all nodes.
    fn memory(&mut self, memory: NodeId, cycle: &[u32]) -> Result<(), MachineError> {
        let Some((mut lines, words)) = self.regions(memory)? else { return Ok(()) };
        chase::thread_lines(&mut lines, cycle);
        let mut region = Chased { lines: Arc::new(lines), at: Arc::default() };
        let words = Arc::new(words);
        for (from, crew) in self.plan.crews.clone() {
            let cell = self.cell(from, memory);
            self.report.performance.idle_ns[cell.0][cell.1] = self.idle(&crew, &region)?;
            self.step();
            let loaded = self.loaded(from, memory, &region, &words)?;
            self.report.performance.loaded_ns[cell.0][cell.1] = loaded;
            self.step();
            self.report.performance.read_mb_s[cell.0][cell.1] = self.read(&crew, &words)?;
            self.step();
            self.report.performance.write_mb_s[cell.0][cell.1] = self.write(&crew, memory)?;
            self.step();
        }
        if let Some(cpu) = self.plan.crew(memory).first().cloned()
            && self.report.performance.caches.is_empty()
        {
            self.report.performance.caches = self.staircase(&cpu, &mut region)?;
        }
        Ok(())
    }

    /// A region to chase in and one to stream from, both on the node; `None` where it does not give them.
    fn regions(&mut self, memory: NodeId) -> Result<Option<(Segment, Segment)>, MachineError> {
        let policy = PagePolicy::Node(memory);
        let mut regions = Vec::new();
        for _ in 0..2 {
            match self.allocator.allocate_zeroed(self.plan.bytes, policy.clone()) {
                Ok(segment) => regions.push(segment),
                Err(MachineError::OutOfMemory { .. }) => {
                    self.leave_out(memory, "has too little free memory");
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
            let map = regions[regions.len() - 1].locate()?;
            let there = map.summary().iter().find(|it| it.0 == memory).map_or(0, |it| it.1);
            if there * 10 < map.pages() * 9 {
                self.leave_out(memory, "gave pages of other nodes");
                return Ok(None);
            }
        }
        Ok(regions.pop().zip(regions.pop()))
    }

    fn cell(&self, from: NodeId, to: NodeId) -> (usize, usize) {
        let index = |node| self.machine.topology().node_index(node);
        let known = "invariant: the plan names nodes of the topology";
        (index(from).expect(known), index(to).expect(known))
    }

    fn leave_out(&mut self, memory: NodeId, why: &str) {
        self.report.notes.push(format!("node {memory} {why}: its column is left out"));
        self.done += 4 * self.plan.crews.len() - 1;
        self.step();
    }

    fn step(&mut self) {
        self.done += 1;
        (self.progress)(self.done, 4 * self.plan.crews.len() * self.plan.memory.len());
    }

    /// One thread after another while the rest is idle.
    fn idle(&self, crew: &[Cpu], region: &Chased) -> Result<Option<Latency>, MachineError> {
        let mut found = Vec::new();
        // Spread over the node: neighbouring numbers are often neighbouring cores.
        let stride = crew.len().div_ceil(self.plan.samples).max(1);
        for cpu in crew.iter().step_by(stride) {
            found.extend(self.chase(cpu, region, self.plan.hops, Vec::new())?);
        }
        let count = found.len() as f64;
        Ok((!found.is_empty()).then(|| Latency {
            least: found.iter().copied().fold(f64::INFINITY, f64::min),
            mean: found.iter().sum::<f64>() / count,
            greatest: found.iter().copied().fold(0.0, f64::max),
        }))
    }

    /// A thread of one node while all others of both nodes read memory of the same node. Nothing is told where there are no
    /// others: the siblings on its core do not count, they would take the core's time and not the memory's.
    fn loaded(
        &self,
        from: NodeId,
        memory: NodeId,
        region: &Chased,
        words: &Arc<Segment>,
    ) -> Result<Option<f64>, MachineError> {
        let crew = self.plan.crew(from);
        let there = if memory == from { &[][..] } else { self.plan.crew(memory) };
        let Some(cpu) = crew.first() else { return Ok(None) };
        let apart = |it: &&Cpu| (it.socket, it.core) != (cpu.socket, cpu.core);
        let others: Vec<&Cpu> = crew.iter().chain(there).filter(apart).collect();
        if others.is_empty() {
            return Ok(None);
        }
        let readers = Reader::crew(words, None, others.len());
        let seat = |(task, cpu): (Reader, &Cpu)| Seat {
            cpu: cpu.clone(),
            task: Box::new(task),
            background: true,
        };
        let load = readers.into_iter().zip(others).map(seat).collect();
        self.chase(cpu, region, self.plan.hops, load)
    }

    /// Nanoseconds of a hop.
    fn chase(
        &self,
        cpu: &Cpu,
        region: &Chased,
        hops: usize,
        mut seats: Vec<Seat>,
    ) -> Result<Option<f64>, MachineError> {
        let median = Arc::new(AtomicU64::new(0));
        let limit = Nanos(self.plan.slot.0 / self.plan.samples as u64);
        let chaser = Chaser::new(region.clone(), hops, limit, median.clone());
        seats.push(Seat { cpu: cpu.clone(), task: Box::new(chaser), background: false });
        crew::run(&self.machine, seats)?;
        let latency = median.load(Ordering::Relaxed) as f64 / STEP_HOPS as f64;
        Ok(Some(latency).filter(|it| *it >= LEAST_NS))
    }

    fn read(&self, crew: &[Cpu], words: &Arc<Segment>) -> Result<Option<u64>, MachineError> {
        self.bandwidth(words.bytes(), |passes| {
            let readers = Reader::crew(words, Some(passes), crew.len());
            let seat = |(task, cpu): (Reader, &Cpu)| Seat {
                cpu: cpu.clone(),
                task: Box::new(task),
                background: false,
            };
            Ok(readers.into_iter().zip(crew).map(seat).collect())
        })
    }

    fn write(&self, crew: &[Cpu], memory: NodeId) -> Result<Option<u64>, MachineError> {
        let share = (self.plan.bytes / crew.len().max(1)).next_multiple_of(LINE_BYTES);
        let written = self.bandwidth(share * crew.len(), |passes| {
            let seat = |cpu: &Cpu| {
                let words = self.allocator.allocate(share, PagePolicy::Node(memory))?;
                let task = Box::new(Writer::new(words, passes));
                Ok(Seat { cpu: cpu.clone(), task, background: false })
            };
            crew.iter().map(seat).collect()
        });
        match written {
            // The node had room for the region to read, and not for this one.
            Err(MachineError::OutOfMemory { .. }) => Ok(None),
            written => written,
        }
    }

    /// The best of one pass over some bytes, and of runs of as many as fit the time for one bandwidth.
    fn bandwidth(
        &self,
        bytes: usize,
        seats: impl Fn(usize) -> Result<Vec<Seat>, MachineError>,
    ) -> Result<Option<u64>, MachineError> {
        let speed = |passes: u64, time: Nanos| {
            (bytes as u128 * u128::from(passes) * 1000 / u128::from(time.0)) as u64
        };
        let once = crew::run(&self.machine, seats(1)?)?;
        let passes = (self.plan.slot.0 / once.0 / RUNS).clamp(1, PASSES_MAX);
        let mut best = speed(1, once);
        for _ in 0..RUNS {
            let time = crew::run(&self.machine, seats(passes as usize)?)?;
            best = best.max(speed(passes, time));
        }
        Ok(Some(best).filter(|it| *it > 0))
    }

    /// Latencies within growing regions, up to the whole segment.
    fn staircase(&self, cpu: &Cpu, region: &mut Chased) -> Result<Vec<CacheStep>, MachineError> {
        let mut steps = Vec::new();
        let mut bytes = STAIR_BYTES;
        while bytes <= region.lines.bytes() {
            let Some(lines) = Arc::get_mut(&mut region.lines) else { break };
            chase::thread_lines(lines, &chase::cycle(bytes / LINE_BYTES));
            region.at = Arc::default();
            let hops = self.plan.hops.min(1 << 17);
            if let Some(latency_ns) = self.chase(cpu, region, hops, Vec::new())? {
                steps.push(CacheStep { bytes: Bytes(bytes as u64), latency_ns });
            }
            bytes *= self.plan.stair;
        }
        Ok(steps)
    }
}
