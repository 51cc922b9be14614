//! Jobs that read the same go over it together: each row once for each of them, memory hardly more often than for one.
#![cfg(not(loom))]

mod common;

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

use common::{MACHINES, Recorder, SEEDS, job, on_each_node, range, start, topology};
use hardware::NodeId;
use scheduler::{JobHandle, JobOutcome, MorselRange, PipelineJob, Scheduler, SchedulerOptions};
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};

/// Morsels that the caches of a node keep, in this model of them, per worker.
const KEPT: usize = 4;

/// The caches of all nodes: what was read last there.
#[derive(Default)]
struct Caches {
    kept: Mutex<Vec<(NodeId, VecDeque<u64>)>>,
    misses: AtomicU64,
}

impl Caches {
    fn read(&self, node: NodeId, workers: usize, start: u64) {
        let mut kept = self.kept.lock();
        if !kept.iter().any(|it| it.0 == node) {
            kept.push((node, VecDeque::new()));
        }
        let cache = kept.iter_mut().find(|it| it.0 == node).map(|it| &mut it.1).unwrap();
        match cache.iter().position(|&it| it == start) {
            Some(at) => drop(cache.remove(at)),
            None => drop(self.misses.fetch_add(1, Ordering::Relaxed)),
        }
        cache.push_back(start);
        if cache.len() > KEPT * workers {
            cache.pop_front();
        }
    }
}

/// Submits `count` jobs over the same ranges, each when the one before has begun a few more morsels; how often memory was
/// read, over the number of morsels of one.
fn misses(name: &str, seed: u64, count: u64, reads: impl Fn(u64) -> Option<u64>) -> f64 {
    let (_, scheduler) = start(name, seed, SchedulerOptions::default());
    let ranges = on_each_node(&topology(name), 500);
    let nodes = scheduler.stats().workers.iter().map(|it| it.node).collect::<BTreeSet<_>>().len();
    let workers = scheduler.workers().div_ceil(nodes);
    let caches = Arc::new(Caches::default());
    let begun = Arc::new(AtomicU64::new(0));
    let mut jobs: Vec<(JobHandle, Arc<Recorder>)> = Vec::new();
    for number in 0..count {
        let (caches, count) = (caches.clone(), begun.clone());
        let body = Recorder::with(move |context, morsel| {
            caches.read(context.node, workers, morsel.start);
            count.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        let mut job = job(&ranges, 1, &body);
        (job.reads, job.statement) = (reads(number), number);
        let goal = begun.load(Ordering::Relaxed) + 7 * number;
        jobs.push((scheduler.submit(job), body));
        let ended = |it: &(JobHandle, _)| it.0.is_finished();
        scheduler.wait_until(&|| begun.load(Ordering::Relaxed) >= goal || jobs.iter().all(ended));
    }
    for (handle, body) in &jobs {
        assert_eq!(scheduler.wait(handle).outcome, JobOutcome::Completed);
        body.check_exactly_once(&ranges, 1);
    }
    assert_eq!(scheduler.stats().jobs, []);
    let morsels: u64 = ranges.iter().map(|it| it.end - it.start).sum();
    caches.misses.load(Ordering::Relaxed) as f64 / morsels as f64
}

#[test]
fn jobs_that_read_the_same_read_memory_once() {
    for name in MACHINES {
        for seed in SEEDS {
            let apart = misses(name, seed, 8, |_| None);
            let others = misses(name, seed, 8, Some);
            let together = misses(name, seed, 8, |_| Some(1));
            assert!(apart > 7.0 && others > 7.0, "{name}, seed {seed}: {apart} {others}");
            // Latecomers read what was before them once more, together. On this machine rows of two nodes are at home on
            // none, and each node that takes from them reads for itself.
            let most = if name == "cpuless" { 4.0 } else { 1.5 };
            assert!(together < most, "{name}, seed {seed}: {together} of {apart}");
        }
    }
}

#[test]
fn the_first_goes_on_after_fifteen_of_the_others() {
    let (_, scheduler) =
        start("laptop", 5, SchedulerOptions { workers: Some(1), ..SchedulerOptions::default() });
    let order = Arc::new(Mutex::new(Vec::new()));
    let submit = |number: u64| {
        let order = order.clone();
        let body = Recorder::with(move |_, _| {
            order.lock().push(number);
            ControlFlow::Continue(())
        });
        let mut job = job(&[range(Some(0), 0, 50)], 1, &body);
        (job.reads, job.statement) = (Some(1), number);
        scheduler.submit(job)
    };
    let jobs: Vec<JobHandle> = (0..40).map(submit).collect();
    jobs.iter().for_each(|it| _ = scheduler.wait(it));
    let order = order.lock();
    let firsts: Vec<usize> =
        order.iter().enumerate().filter(|it| *it.1 == 0).map(|it| it.0).collect();
    assert_eq!(firsts.len(), 50);
    let between: Vec<usize> = firsts.windows(2).map(|it| it[1] - it[0] - 1).collect();
    assert!(between.iter().all(|&it| it <= 15), "{between:?}");
    assert!(between.contains(&15), "they are served together: {between:?}");
}

#[test]
fn other_ranges_or_morsels_are_another_thing() {
    for seed in SEEDS {
        let (_, scheduler) = start("four_sockets", seed, SchedulerOptions::default());
        let cases: [(&[MorselRange], u64); 4] = [
            (&[range(Some(0), 0, 90)], 1),
            (&[range(Some(0), 0, 90)], 4),
            (&[range(Some(0), 0, 91)], 1),
            (&[range(None, 0, 40), range(Some(3), 40, 90)], 1),
        ];
        let submit = |(ranges, rows): &(&[MorselRange], u64)| {
            let body = Recorder::new();
            let mut job = job(ranges, *rows, &body);
            job.reads = Some(7);
            (scheduler.submit(job), body)
        };
        let jobs: Vec<_> = cases.iter().chain(&cases).map(submit).collect();
        for ((handle, body), (ranges, rows)) in jobs.iter().zip(cases.iter().chain(&cases)) {
            assert_eq!(scheduler.wait(handle).outcome, JobOutcome::Completed);
            body.check_exactly_once(ranges, *rows);
        }
    }
}

/// A client that hands in the same scan again whenever one of its own ends.
struct Crowd {
    scheduler: Arc<Scheduler>,
    statements: AtomicU64,
    over: AtomicBool,
}

impl Crowd {
    fn submit(self: &Arc<Self>) -> JobHandle {
        let crowd = self.clone();
        let left = AtomicU64::new(60);
        let body = Recorder::with(move |_, _| {
            let last = left.fetch_sub(1, Ordering::Relaxed) == 1;
            if last && !crowd.over.load(Ordering::Relaxed) {
                crowd.submit();
            }
            ControlFlow::Continue(())
        });
        let mut job = PipelineJob::new(vec![range(Some(0), 0, 60)], 1, body);
        job.statement = self.statements.fetch_add(1, Ordering::Relaxed);
        job.reads = Some(1);
        self.scheduler.submit(job)
    }
}

#[test]
fn a_crowd_that_never_ends_keeps_nobody_else_waiting() {
    for name in ["laptop", "epyc"] {
        for seed in SEEDS {
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let statements = AtomicU64::new(0);
            let over = AtomicBool::new(false);
            let crowd = Arc::new(Crowd { scheduler: scheduler.clone(), statements, over });
            (0..20).for_each(|_| drop(crowd.submit()));
            let body = Recorder::new();
            let mut other = job(&[range(Some(0), 0, 30)], 1, &body);
            other.statement = crowd.statements.fetch_add(1, Ordering::Relaxed);
            let handle = scheduler.submit(other);
            scheduler.wait(&handle);
            let since = crowd.statements.load(Ordering::Relaxed) - 21;
            crowd.over.store(true, Ordering::Relaxed);
            scheduler.wait_until(&|| scheduler.stats().jobs.is_empty());
            // Each of the twenty before it may end, and fifteen others beside each.
            assert!(since <= 20 * 16, "{name}, seed {seed}: {since} went before it");
        }
    }
}
