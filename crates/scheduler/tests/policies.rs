//! What a policy asks for, and what happens when it changes under jobs that run.
#![cfg(not(loom))]

mod common;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use common::{MACHINES, Recorder, SEEDS, job, on_each_node, range, start, topology};
use hardware::{NodeId, Topology};
use scheduler::{
    Affinity, JobOutcome, Morsel, MorselBody, MorselContext, PipelineJob, Policy, Scheduler,
    SchedulerOptions, StealingScope, class,
};
use stdx::sync::{Arc, Mutex};

/// The nodes with workers.
fn nodes_with_workers(topology: &Topology) -> Vec<NodeId> {
    let nodes = topology.nodes.iter().map(|it| it.id);
    nodes.filter(|&it| topology.cpus_of(it).next().is_some()).collect()
}

#[test]
fn a_job_that_is_pinned_to_nodes_runs_nowhere_else() {
    for name in MACHINES {
        for seed in SEEDS {
            let topology = topology(name);
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let last = *nodes_with_workers(&topology).last().unwrap();
            for affinity in [Affinity::Soft, Affinity::Hard, Affinity::None, Affinity::Adaptive] {
                let body = Recorder::new();
                let mut ranges = on_each_node(&topology, 40);
                ranges.push(range(None, 7, 20));
                let mut job = job(&ranges, 3, &body);
                job.affinity = affinity;
                job.nodes = vec![last];
                assert_eq!(scheduler.run(job).outcome, JobOutcome::Completed);
                body.check_exactly_once(&ranges, 3);
                assert!(body.seen().iter().all(|it| it.0.node == last), "{name} {affinity}");
            }
        }
    }
}

#[test]
fn pins_to_nodes_that_do_not_exist_pin_nothing() {
    let (_, scheduler) = start("ring", 1, SchedulerOptions::default());
    let body = Recorder::new();
    let ranges = on_each_node(&topology("ring"), 100);
    let mut job = job(&ranges, 1, &body);
    job.nodes = vec![NodeId(99)];
    scheduler.run(job);
    body.check_exactly_once(&ranges, 1);
    assert!(body.seen().iter().map(|it| it.0.node).collect::<BTreeSet<_>>().len() > 1);
}

#[test]
fn a_job_may_say_how_far_it_is_stolen() {
    for seed in SEEDS {
        let (_, scheduler) = start("sub_numa", seed, SchedulerOptions::default());
        let nodes = |scope| {
            let body = Recorder::new();
            let mut job = job(&[range(Some(2), 0, 400)], 2, &body);
            job.stealing = Some(scope);
            scheduler.run(job);
            body.seen().into_iter().map(|it| it.0.node.0).collect::<BTreeSet<_>>()
        };
        assert_eq!(nodes(StealingScope::None), [2].into());
        assert_eq!(nodes(StealingScope::Socket), [2, 3].into());
        assert_eq!(nodes(StealingScope::All), [0, 1, 2, 3].into());
    }
}

#[test]
fn bulk_takes_several_morsels_and_none_twice() {
    for name in MACHINES {
        for seed in SEEDS {
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let ranges = [range(Some(0), 0, 4000)];
            let body = Recorder::new();
            let mut job = job(&ranges, 1, &body);
            job.bulk = 8;
            let report = scheduler.run(job);
            body.check_exactly_once(&ranges, 1);
            if report.stolen == 0 {
                continue;
            }
            let mut longest = 0;
            for thief in report.per_worker.iter().filter(|it| it.stolen > 0) {
                let seen = body.seen();
                let mine = seen.iter().filter(|it| it.0.worker == thief.worker);
                let rows: Vec<u64> = mine.map(|it| it.1.start).collect();
                let runs = rows.chunk_by(|a, b| a + 1 == *b).map(<[u64]>::len);
                longest = longest.max(runs.max().unwrap_or(0));
            }
            assert!(longest >= 8, "{name}, seed {seed}: {longest}");
        }
    }
}

#[test]
fn morsels_that_a_thief_held_count_as_cancelled() {
    for seed in SEEDS {
        let (_, scheduler) = start("four_sockets", seed, SchedulerOptions::default());
        let token = scheduler::CancelToken::new();
        let mark = token.clone();
        // The first stolen morsel cancels: the thief still holds some, and the cursor may be dry by then.
        let body = Recorder::with(move |context, _| {
            if context.stolen {
                mark.cancel();
            }
            ControlFlow::Continue(())
        });
        let mut job = job(&[range(Some(0), 0, 64)], 1, &body);
        (job.bulk, job.cancel) = (32, token);
        let report = scheduler.run(job);
        let all = report.morsels == 64;
        assert_eq!(report.outcome == JobOutcome::Completed, all, "{report:?}");
        assert_eq!(report.morsels, body.seen().len() as u64);
        assert_eq!(Arc::strong_count(&body), 1);
    }
}

/// Runs two jobs on one worker; at row 5 of the first, statement 1, a policy is set for `statement`.
fn order_with_change(statement: u64, change: Policy) -> Vec<(u64, u64)> {
    let options = SchedulerOptions { workers: Some(1), ..SchedulerOptions::default() };
    let (_, scheduler) = start("laptop", 1, options);
    let order = Arc::new(Mutex::new(Vec::new()));
    let handles: Vec<_> = [1, 2]
        .map(|number| {
            let (order, pool) = (Arc::clone(&order), Arc::downgrade(&scheduler));
            let change = change.clone();
            let body = Recorder::with(move |_, morsel| {
                order.lock().push((number, morsel.start));
                if (number, morsel.start) == (1, 5) {
                    pool.upgrade().unwrap().set_policy(statement, &change);
                }
                ControlFlow::Continue(())
            });
            let mut job = job(&[range(Some(0), 0, 10)], 1, &body);
            job.statement = number;
            scheduler.submit(job)
        })
        .into();
    handles.iter().for_each(|it| drop(scheduler.wait(it)));
    order.lock().clone()
}

#[test]
fn priorities_change_while_jobs_run() {
    let policy = |class| Policy { class, ..Policy::default() };
    let second_from = |order: &[(u64, u64)]| order.iter().position(|it| it.0 == 2).unwrap();
    assert_eq!(second_from(&order_with_change(9, policy(0))), 10, "nobody is called 9");
    assert_eq!(second_from(&order_with_change(2, policy(class::INTERACTIVE))), 6);
    assert_eq!(second_from(&order_with_change(1, policy(class::BACKGROUND))), 6);
    assert_eq!(second_from(&order_with_change(2, policy(class::BACKGROUND))), 10);
}

#[test]
fn a_job_shrinks_and_grows_while_it_runs() {
    for seed in SEEDS {
        for (first, then) in [(16, 2), (1, 16)] {
            let (_, scheduler) = start("four_sockets", seed, SchedulerOptions::default());
            let counts = Arc::new(Mutex::new(Vec::new()));
            let (pool, noted) = (Arc::downgrade(&scheduler), Arc::clone(&counts));
            let body = Recorder::with(move |_, _| {
                let pool = pool.upgrade().unwrap();
                let mut counts = noted.lock();
                counts.push(pool.stats().jobs[0].workers);
                if counts.len() == 300 {
                    let max_workers = Some(then);
                    pool.set_policy(0, &Policy { max_workers, ..Policy::default() });
                }
                ControlFlow::Continue(())
            });
            let mut job = job(&on_each_node(&topology("four_sockets"), 250), 1, &body);
            job.max_workers = Some(first);
            assert_eq!(scheduler.run(job).morsels, 1000);
            let counts = counts.lock();
            let most = |part: &[usize]| part.iter().copied().max().unwrap();
            assert_eq!(most(&counts[..300]), first);
            // Each worker sees the change at its next morsel boundary.
            assert_eq!(most(&counts[400..]), then, "from {first}, seed {seed}");
        }
    }
}

#[test]
fn a_job_that_turns_hard_goes_home_and_one_that_turns_soft_goes_out() {
    for seed in SEEDS {
        for (first, then) in [(Affinity::Soft, Affinity::Hard), (Affinity::Hard, Affinity::Soft)] {
            let (_, scheduler) = start("ring", seed, SchedulerOptions::default());
            let pool = Arc::downgrade(&scheduler);
            let body = Recorder::with(move |_, morsel| {
                if morsel.start == 200 {
                    let policy = Policy { affinity: then, ..Policy::default() };
                    pool.upgrade().unwrap().set_policy(0, &policy);
                }
                ControlFlow::Continue(())
            });
            let mut job = job(&[range(Some(1), 0, 1000)], 1, &body);
            job.affinity = first;
            let report = scheduler.run(job);
            assert_eq!(report.affinity, then);
            let seen = body.seen();
            let at = seen.iter().position(|it| it.1.start == 200).unwrap();
            let stolen = |part: &[(MorselContext, Morsel)]| part.iter().any(|it| it.0.stolen);
            let settled = at + 1 + scheduler.workers();
            assert_eq!(stolen(&seen[..at]), first == Affinity::Soft);
            assert_eq!(stolen(&seen[settled..]), then == Affinity::Soft);
        }
    }
}

/// A body that says how many bytes of node 0 each row reads.
struct Reading(u64);

impl MorselBody for Reading {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn bytes_read(&self, morsel: Morsel, _: NodeId) -> Vec<(NodeId, u64)> {
        vec![(NodeId(0), (morsel.end - morsel.start) * self.0)]
    }
}

#[test]
fn the_adaptive_strategy_binds_what_reads_much_and_nothing_else() {
    for name in MACHINES {
        let mut stolen = 0;
        for seed in SEEDS {
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let run = |bytes, rows| {
                let ranges = vec![range(Some(0), 0, rows)];
                let mut job = PipelineJob::new(ranges, 1, Arc::new(Reading(bytes)));
                job.affinity = Affinity::Adaptive;
                scheduler.run(job)
            };
            let heavy = run(1 << 40, 2000);
            assert_eq!((heavy.affinity, heavy.morsels), (Affinity::Hard, 2000), "{name}");
            assert!(heavy.bytes_per_second.unwrap() > 1_000_000_000);
            let light = run(0, 2000);
            assert_eq!((light.affinity, light.bytes_per_second), (Affinity::Soft, Some(0)));
            let short = run(1 << 40, 2);
            assert_eq!((short.affinity, short.bytes_per_second), (Affinity::Adaptive, None));
            assert_eq!(heavy.stolen, 0, "{name}: it is bound while it learns, too");
            stolen += light.stolen;
        }
        let others = nodes_with_workers(&topology(name)).len() > 1;
        assert_eq!(stolen > 0, others, "{name}: what computes is for everybody");
    }
}

#[test]
fn what_a_node_gives_decides_what_is_much() {
    let (_, scheduler) = start("four_sockets", 1, SchedulerOptions::default());
    let affinity = |scheduler: &Scheduler| {
        let mut job = PipelineJob::new(vec![range(Some(0), 0, 500)], 1, Arc::new(Reading(100_000)));
        job.affinity = Affinity::Adaptive;
        scheduler.run(job).affinity
    };
    scheduler.set_bandwidth(NodeId(0), 1);
    assert_eq!(affinity(&scheduler), Affinity::Hard);
    scheduler.set_bandwidth(NodeId(0), u64::MAX / (1 << 40));
    assert_eq!(affinity(&scheduler), Affinity::Soft);
}
