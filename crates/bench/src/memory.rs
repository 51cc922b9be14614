//! How fast the machine reads memory: the roof under which every scan works.
//!
//! Each memory node holds its share of the bytes. A thread sums the share of its own node first, then helps the others,
//! nearest first, just as the scheduler's workers would.

use std::collections::BTreeSet;

use hardware::topology::Cpu;
use hardware::{Machine, MachineError, PagePolicy, Step, Worker, WorkerSpec, WorkerTeam};
use memory::{Allocator, Segment};
use stdx::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, OnceLock, Weak};
use stdx::{Bytes, Nanos};

/// Words summed per step: 1 MiB.
const CHUNK_WORDS: usize = 128 << 10;

/// Memory to read, a segment per node.
pub struct ReadBench {
    machine: Arc<dyn Machine>,
    segments: Arc<Vec<Segment>>,
    bytes: Bytes,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub struct Bandwidth {
    /// Threads that read.
    pub threads: usize,
    /// The time of one pass.
    pub time: Nanos,
    /// Bytes read in that time.
    pub bytes: Bytes,
}

impl Bandwidth {
    /// Billions of bytes in a second.
    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes.0 as f64 / self.time.0.max(1) as f64
    }
}

impl ReadBench {
    /// Maps and fills the memory.
    pub fn new(machine: Arc<dyn Machine>, bytes: Bytes) -> Result<Self, MachineError> {
        let nodes = machine.topology().memory_nodes();
        let allocator = Allocator::new(machine.clone());
        let share = bytes.0 as usize / nodes.len().max(1);
        let mut segments = Vec::new();
        for &node in &nodes {
            let mut segment = allocator.allocate(share, PagePolicy::Node(node))?;
            segment.as_mut_slice::<u64>().fill(1);
            segments.push(segment);
        }
        let bytes = segments.iter().map(|it| it.as_slice::<u64>().len() as u64 * 8).sum();
        Ok(Self { machine, segments: Arc::new(segments), bytes: Bytes(bytes) })
    }

    /// Numbers of threads worth measuring: powers of two, and the most there are.
    pub fn thread_counts(&self, most: usize) -> Vec<usize> {
        let most = most.min(self.machine.topology().cpus.len()).max(1);
        let mut counts: Vec<usize> =
            std::iter::successors(Some(1), |it| Some(it * 2)).take_while(|&it| it < most).collect();
        counts.push(most);
        counts
    }

    /// The best of some passes by a number of threads.
    pub fn measure(&self, threads: usize, passes: usize) -> Result<Bandwidth, MachineError> {
        let mut best: Option<Nanos> = None;
        for _ in 0..passes.max(1) {
            let time = self.pass(threads)?;
            best = Some(best.map_or(time, |it| it.min(time)));
        }
        Ok(Bandwidth { threads, time: best.unwrap_or_default(), bytes: self.bytes })
    }

    fn pass(&self, threads: usize) -> Result<Nanos, MachineError> {
        let topology = self.machine.topology();
        let cpus = spread(&topology.cpus);
        let nodes = topology.memory_nodes();
        let threads = threads.clamp(1, cpus.len().max(1));
        let shared = Arc::new(Shared {
            go: AtomicBool::new(false),
            cursors: nodes.iter().map(|_| AtomicUsize::new(0)).collect(),
            reading: AtomicUsize::new(threads),
            sum: AtomicU64::new(0),
            team: OnceLock::new(),
        });
        let specs = cpus.iter().take(threads).enumerate().map(|(index, cpu)| {
            let near = topology.nearest_first(cpu.node);
            let order = near.iter().filter_map(|it| nodes.iter().position(|node| node == it));
            let body = Reader {
                segments: self.segments.clone(),
                order: order.collect(),
                shared: shared.clone(),
                sum: 0,
            };
            WorkerSpec { cpu: cpu.id, name: format!("read-{index}"), body: Box::new(body) }
        });
        let team = self.machine.start(specs.collect())?;
        let _ = shared.team.set(Arc::downgrade(&team));
        let started = self.machine.now();
        shared.go.store(true, Ordering::Release);
        team.wake(&[], threads);
        team.wait_until(&|| shared.reading.load(Ordering::Acquire) == 0);
        let time = self.machine.now() - started;
        team.join();
        assert_eq!(shared.sum.load(Ordering::Relaxed), self.bytes.0 / 8, "every word is read once");
        Ok(time)
    }
}

/// One hardware thread of each core first, then their siblings.
fn spread(cpus: &[Cpu]) -> Vec<&Cpu> {
    let mut cores = BTreeSet::new();
    let (first, siblings): (Vec<&Cpu>, Vec<&Cpu>) =
        cpus.iter().partition(|it| cores.insert((it.socket, it.core)));
    first.into_iter().chain(siblings).collect()
}

struct Shared {
    go: AtomicBool,
    /// The next word of each node's segment.
    cursors: Vec<AtomicUsize>,
    reading: AtomicUsize,
    sum: AtomicU64,
    team: OnceLock<Weak<dyn WorkerTeam>>,
}

struct Reader {
    segments: Arc<Vec<Segment>>,
    /// Segments, nearest first.
    order: Vec<usize>,
    shared: Arc<Shared>,
    sum: u64,
}

impl Worker for Reader {
    fn step(&mut self) -> Step {
        if !self.shared.go.load(Ordering::Acquire) {
            return Step::Idle;
        }
        for &at in &self.order {
            let words = self.segments[at].as_slice::<u64>();
            if self.shared.cursors[at].load(Ordering::Relaxed) >= words.len() {
                continue;
            }
            let start = self.shared.cursors[at].fetch_add(CHUNK_WORDS, Ordering::Relaxed);
            if start < words.len() {
                let chunk = &words[start..words.len().min(start + CHUNK_WORDS)];
                self.sum += chunk.iter().sum::<u64>();
                return Step::Worked;
            }
        }
        self.shared.sum.fetch_add(self.sum, Ordering::Relaxed);
        if self.shared.reading.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(team) = self.shared.team.get().and_then(Weak::upgrade)
        {
            team.notify();
        }
        Step::Stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_on_the_linux_machine() {
        let machine: Arc<dyn Machine> = hardware_linux::open();
        let bench = ReadBench::new(machine, Bytes(5 << 20)).unwrap();
        for threads in bench.thread_counts(4) {
            let bandwidth = bench.measure(threads, 2).unwrap();
            assert!(bandwidth.gigabytes_per_second() > 0.0);
        }
    }

    #[test]
    fn siblings_come_last() {
        use hardware::{CpuId, LlcId, NodeId, SocketId};
        let cpu = |id, core| Cpu {
            id: CpuId(id),
            node: NodeId(0),
            socket: SocketId(0),
            core,
            llc: LlcId(0),
        };
        let cpus = [cpu(0, 0), cpu(1, 0), cpu(2, 1), cpu(3, 1)];
        let order: Vec<u32> = spread(&cpus).iter().map(|it| it.id.0).collect();
        assert_eq!(order, [0, 2, 1, 3]);
    }
}
