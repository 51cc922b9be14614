//! Jobs that end early, jobs side by side, and who goes first.
#![cfg(not(loom))]

mod common;

use std::ops::ControlFlow;

use common::{MACHINES, Recorder, SEEDS, job, on_each_node, range, start, topology};
use scheduler::{
    Affinity, CancelToken, JobOutcome, PipelineJob, SchedulerOptions, StealingScope, WorkerState,
    class,
};
use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, thread};

fn workers(count: usize) -> SchedulerOptions {
    SchedulerOptions { workers: Some(count), ..SchedulerOptions::default() }
}

#[test]
fn a_cancelled_job_ends_within_one_morsel_per_worker() {
    for name in MACHINES {
        for seed in SEEDS {
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let token = CancelToken::new();
            let mark = token.clone();
            let body = Recorder::with(move |_, morsel| {
                if morsel.start == 40 {
                    mark.cancel();
                }
                ControlFlow::Continue(())
            });
            let mut job = job(&on_each_node(&topology(name), 1000), 1, &body);
            job.cancel = token;
            let report = scheduler.run(job);
            assert_eq!(report.outcome, JobOutcome::Cancelled);
            let seen = body.seen();
            let at = seen.iter().position(|it| it.1.start == 40).unwrap();
            assert!(seen.len() - at <= scheduler.workers(), "{name}: one more each at most");
            assert_eq!(report.morsels, seen.len() as u64);
            assert_eq!(Arc::strong_count(&body), 1);
        }
    }
}

#[test]
fn a_job_cancelled_before_it_starts_runs_nothing() {
    let (machine, scheduler) = start("ring", 1, SchedulerOptions::default());
    let body = Recorder::new();
    let first = job(&on_each_node(&topology("ring"), 10), 1, &body);
    first.cancel.cancel();
    assert_eq!(scheduler.run(first.clone()).outcome, JobOutcome::Cancelled);
    assert_eq!(scheduler.run_inline(first).outcome, JobOutcome::Cancelled);
    let second = job(&on_each_node(&topology("ring"), 10), 1, &body);
    let token = second.cancel.clone();
    let handle = scheduler.submit(second);
    token.cancel();
    assert_eq!(scheduler.wait(&handle).outcome, JobOutcome::Cancelled);
    assert_eq!(machine.schedule_log(), [], "the waiter ends it, no worker has to");
    assert!(body.seen().is_empty() && handle.is_finished());
}

#[test]
fn break_stops_a_job_and_a_panic_is_reported_to_all_waiters() {
    for seed in SEEDS {
        let (_, scheduler) = start("four_sockets", seed, SchedulerOptions::default());
        let ranges = on_each_node(&topology("four_sockets"), 500);
        let body = Recorder::with(|_, morsel| match morsel.start {
            100 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let report = scheduler.run(job(&ranges, 1, &body));
        assert_eq!(report.outcome, JobOutcome::Stopped);
        assert!(report.morsels < 2000);

        let body = Recorder::with(|_, morsel| {
            assert!(morsel.start != 100, "row {} is cursed", morsel.start);
            ControlFlow::Continue(())
        });
        let handle = scheduler.submit(job(&ranges, 1, &body));
        let report = scheduler.wait(&handle);
        let JobOutcome::Panicked(message) = &report.outcome else { panic!("{report:?}") };
        assert!(message.contains("row 100 is cursed"), "{message}");
        assert_eq!(scheduler.wait(&handle), report, "waiting twice is allowed");
        let inline = scheduler.run_inline(job(&ranges, 1, &body));
        assert!(matches!(inline.outcome, JobOutcome::Panicked(_)));
        // The workers live on.
        let body = Recorder::new();
        assert_eq!(scheduler.run(job(&ranges, 9, &body)).outcome, JobOutcome::Completed);
        body.check_exactly_once(&ranges, 9);
    }
}

/// Runs jobs of (class, statement) on one worker and tells in which order they were worked on.
fn served(seed: u64, jobs: &[(u8, u64)], affinity: &[Affinity]) -> Vec<usize> {
    let (_, scheduler) = start("laptop", seed, workers(1));
    let order = Arc::new(Mutex::new(Vec::new()));
    let handles: Vec<_> = jobs
        .iter()
        .enumerate()
        .map(|(number, &(class, statement))| {
            let order = Arc::clone(&order);
            let body = Recorder::with(move |_, _| {
                order.lock().push(number);
                ControlFlow::Continue(())
            });
            let mut job = job(&[range(Some(0), 0, 3)], 1, &body);
            (job.class, job.statement) = (class, statement);
            job.affinity = affinity[number % affinity.len()];
            scheduler.submit(job)
        })
        .collect();
    for handle in &handles {
        scheduler.wait(handle);
    }
    let mut order = Arc::try_unwrap(order).unwrap().into_inner();
    order.dedup();
    order
}

#[test]
fn class_goes_first_then_age_then_submission() {
    let jobs = [
        (class::BACKGROUND, 0),
        (class::NORMAL, 8),
        (class::NORMAL, 5),
        (class::NORMAL, 5),
        (class::INTERACTIVE, 9),
    ];
    for seed in SEEDS {
        for affinity in [vec![Affinity::Soft], vec![Affinity::Hard, Affinity::Soft, Affinity::None]]
        {
            assert_eq!(served(seed, &jobs, &affinity), [4, 2, 3, 1, 0]);
        }
    }
}

#[test]
fn an_urgent_job_takes_over_at_the_next_morsel_boundary() {
    let (_, scheduler) = start("laptop", 1, workers(1));
    let scheduler = Arc::new(scheduler);
    let urgent = Recorder::new();
    let (pool, quick) = (Arc::clone(&scheduler), Arc::clone(&urgent));
    let order = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&order);
    let body = Recorder::with(move |_, morsel| {
        noted.lock().push((morsel.start, quick.seen().len()));
        if morsel.start == 4 {
            let mut job = job(&[range(None, 0, 5)], 1, &quick);
            job.class = class::INTERACTIVE;
            pool.submit(job);
        }
        ControlFlow::Continue(())
    });
    scheduler.run(job(&[range(None, 0, 10)], 1, &body));
    let done = |row| order.lock().iter().find(|it| it.0 == row).unwrap().1;
    assert_eq!((done(4), done(5), done(9)), (0, 5, 5));
}

#[test]
fn jobs_side_by_side_all_come_through() {
    for name in MACHINES {
        for seed in SEEDS {
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let ranges = on_each_node(&topology(name), 60);
            let affinities = [Affinity::Soft, Affinity::Hard, Affinity::None];
            let jobs: Vec<_> = (0..12)
                .map(|it| {
                    let body = Recorder::new();
                    let mut job = job(&ranges, 1 + it, &body);
                    job.statement = it / 3;
                    job.affinity = affinities[it as usize % 3];
                    job.max_workers = [None, Some(1), Some(2), Some(0)][it as usize % 4];
                    (body, scheduler.submit(job))
                })
                .collect();
            assert_eq!(scheduler.stats().jobs.len(), 12);
            for (it, (body, handle)) in jobs.iter().enumerate().rev() {
                assert_eq!(scheduler.wait(handle).outcome, JobOutcome::Completed);
                body.check_exactly_once(&ranges, 1 + it as u64);
            }
            assert_eq!(scheduler.stats().jobs, []);
        }
    }
}

#[test]
fn no_more_workers_than_allowed_even_across_closed_nodes() {
    for seed in SEEDS {
        for stealing in [StealingScope::None, StealingScope::All] {
            let options = SchedulerOptions { stealing, ..SchedulerOptions::default() };
            let (_, scheduler) = start("four_sockets", seed, options);
            let scheduler = Arc::new(scheduler);
            let (pool, most) = (Arc::clone(&scheduler), Arc::new(AtomicUsize::new(0)));
            let peak = Arc::clone(&most);
            let body = Recorder::with(move |_, _| {
                peak.fetch_max(pool.stats().jobs[0].workers, Ordering::Relaxed);
                ControlFlow::Continue(())
            });
            let ranges = on_each_node(&topology("four_sockets"), 20);
            let mut job = job(&ranges, 1, &body);
            job.max_workers = Some(2);
            assert_eq!(scheduler.run(job).outcome, JobOutcome::Completed);
            body.check_exactly_once(&ranges, 1);
            assert!(most.load(Ordering::Relaxed) <= 2);
        }
    }
}

#[test]
fn inline_jobs_use_the_callers_slot_and_empty_jobs_end_at_once() {
    let (machine, scheduler) = start("cpuless", 1, SchedulerOptions::default());
    let ranges = on_each_node(&topology("cpuless"), 10);
    let body = Recorder::new();
    let report = scheduler.run_inline(job(&ranges, 3, &body));
    body.check_exactly_once(&ranges, 3);
    assert_eq!((report.outcome, report.morsels), (JobOutcome::Completed, 12));
    assert!(body.seen().iter().all(|it| it.0.slot == scheduler.slots() - 1));
    for ranges in [vec![], vec![range(Some(0), 5, 5)], vec![range(None, 5, 1)]] {
        let report = scheduler.run(job(&ranges, 1, &body));
        assert_eq!((report.outcome, report.morsels), (JobOutcome::Completed, 0));
    }
    assert_eq!(machine.schedule_log(), [], "no worker was needed");
    assert_eq!(Arc::strong_count(&body), 1);
    let mut task = PipelineJob::task(Some(hardware::NodeId(2)), body.clone());
    task.affinity = Affinity::Hard;
    let report = scheduler.run(task);
    assert_eq!((report.morsels, report.stolen), (1, 0), "the node without CPUs has a home");
}

#[test]
fn clients_on_several_threads_share_the_pool() {
    let (_, scheduler) = start("sub_numa", 5, SchedulerOptions::default());
    let ranges = on_each_node(&topology("sub_numa"), 50);
    thread::scope(|scope| {
        for client in 0..4 {
            let (scheduler, ranges) = (&scheduler, &ranges);
            scope.spawn(move || {
                for _ in 0..10 {
                    let body = Recorder::new();
                    let mut job = job(ranges, 3, &body);
                    job.statement = client;
                    assert_eq!(scheduler.run(job).outcome, JobOutcome::Completed);
                    body.check_exactly_once(ranges, 3);
                }
            });
        }
    });
    let stats = scheduler.stats();
    assert_eq!(stats.submitted, 40);
    assert_eq!(stats.workers.iter().map(|it| it.morsels).sum::<u64>(), 40 * 4 * 17);
}

#[test]
fn workers_follow_the_option_the_quota_and_the_cores() {
    let count = |name: &str, options| start(name, 1, options).1.workers();
    assert_eq!(count("epyc", SchedulerOptions::default()), 64);
    assert_eq!(count("laptop", workers(0)), 1);
    assert_eq!(count("laptop", workers(7)), 7);
    let mut quota = topology("epyc");
    quota.cpu_quota = Some(1.5);
    let machine = simulator::SimulatedMachine::new(quota, 1);
    let scheduler = scheduler::Scheduler::start(machine, SchedulerOptions::default()).unwrap();
    assert_eq!(scheduler.workers(), 2);
    let mut none = topology("laptop");
    none.cpus.clear();
    let machine = simulator::SimulatedMachine::new(none, 1);
    assert!(scheduler::Scheduler::start(machine, SchedulerOptions::default()).is_err());
}

#[test]
fn the_end_of_the_scheduler_ends_what_nobody_awaits() {
    let (_, scheduler) = start("ring", 1, SchedulerOptions::default());
    let body = Recorder::new();
    let handle = scheduler.submit(job(&on_each_node(&topology("ring"), 10), 1, &body));
    assert!(scheduler.stats().workers.iter().all(|it| it.state == WorkerState::Free));
    drop(scheduler);
    assert!(handle.is_finished());
    assert_eq!(Arc::strong_count(&body), 1);
}
