//! Every row once, where the affinity and the scope allow it, on every machine under every seed.
#![cfg(not(loom))]

mod common;

use std::collections::BTreeSet;

use common::{MACHINES, Recorder, SEEDS, job, on_each_node, range, start, topology};
use hardware::NodeId;
use scheduler::{Affinity, JobOutcome, SchedulerOptions, StealingScope};
use stdx::sync::Arc;

fn scope(stealing: StealingScope) -> SchedulerOptions {
    SchedulerOptions { stealing, ..SchedulerOptions::default() }
}

fn each_machine_and_seed(check: impl Fn(&str, u64)) {
    for name in MACHINES {
        for seed in SEEDS {
            check(name, seed);
        }
    }
}

/// The node with workers that serves `node`.
fn home(name: &str, node: NodeId) -> NodeId {
    let topology = topology(name);
    let nearest = topology.nearest_first(node);
    nearest.into_iter().find(|&it| topology.cpus_of(it).next().is_some()).unwrap()
}

#[test]
fn every_row_is_in_one_morsel() {
    each_machine_and_seed(|name, seed| {
        for stealing in [StealingScope::None, StealingScope::Socket, StealingScope::All] {
            let (_, scheduler) = start(name, seed, scope(stealing));
            for affinity in [Affinity::Soft, Affinity::Hard, Affinity::None] {
                let mut ranges = on_each_node(&topology(name), 100);
                ranges.push(range(None, 7, 8));
                ranges.push(range(Some(0), 9, 9));
                ranges.push(range(Some(0), 12, 10));
                ranges.push(range(Some(999), 5, 50));
                ranges.push(range(None, u64::MAX - 20, u64::MAX));
                for rows in [1, 7, 100, 1000, u64::MAX] {
                    let body = Recorder::new();
                    let mut job = job(&ranges, rows, &body);
                    job.affinity = affinity;
                    let report = scheduler.run(job);
                    body.check_exactly_once(&ranges, rows);
                    assert_eq!(report.outcome, JobOutcome::Completed);
                    assert_eq!(report.morsels, body.seen().len() as u64);
                    let stolen = body.seen().iter().filter(|it| it.0.stolen).count();
                    assert_eq!(report.stolen, stolen as u64);
                    assert_eq!(Arc::strong_count(&body), 1, "the scheduler lets go of the body");
                }
            }
            assert_eq!(scheduler.stats().jobs, []);
        }
    });
}

#[test]
fn hard_jobs_and_closed_scopes_never_leave_home() {
    each_machine_and_seed(|name, seed| {
        let cases = [(StealingScope::All, Affinity::Hard), (StealingScope::None, Affinity::Soft)];
        for (stealing, affinity) in cases {
            let (_, scheduler) = start(name, seed, scope(stealing));
            // All of it on the last node: whoever could steal, would.
            let last = topology(name).nodes.last().unwrap().id;
            let ranges = [range(Some(last.0), 0, 200)];
            let body = Recorder::new();
            let mut job = job(&ranges, 3, &body);
            job.affinity = affinity;
            assert_eq!(scheduler.run(job).stolen, 0);
            body.check_exactly_once(&ranges, 3);
            assert!(body.seen().iter().all(|it| it.0.node == home(name, last) && !it.0.stolen));
        }
    });
}

#[test]
fn stealing_stays_in_the_socket_when_told_and_goes_out_when_not() {
    for seed in SEEDS {
        let nodes = |stealing| {
            let (_, scheduler) = start("sub_numa", seed, scope(stealing));
            let body = Recorder::new();
            let report = scheduler.run(job(&[range(Some(2), 0, 400)], 2, &body));
            assert!(report.stolen > 0);
            let of = |stolen| {
                let seen = body.seen().into_iter().filter(|it| it.0.stolen == stolen);
                seen.map(|it| it.0.node.0).collect::<BTreeSet<_>>()
            };
            (of(false), of(true))
        };
        assert_eq!(nodes(StealingScope::Socket), ([2].into(), [3].into()));
        assert_eq!(nodes(StealingScope::All), ([2].into(), [0, 1, 3].into()));
    }
}

#[test]
fn a_worker_steals_from_the_nearest_node_first() {
    for (name, from, order) in [
        ("ring", 0, vec![0, 1, 3, 2]),
        ("sub_numa", 3, vec![3, 2, 0, 1]),
        ("cpuless", 1, vec![1, 0]),
    ] {
        for seed in SEEDS {
            let topology = topology(name);
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let body = Recorder::new();
            let ranges = on_each_node(&topology, 300);
            scheduler.run(job(&ranges, 1, &body));
            // What each worker of the node cut, in its order, by the home of the range.
            for worker in 0..scheduler.workers() {
                let mine = body.seen().into_iter().filter(|it| it.0.slot == worker);
                let mine = mine.filter(|it| it.0.node.0 == from);
                let ranks = mine.map(|it| {
                    let home = home(name, ranges[it.1.range].node.unwrap());
                    order.iter().position(|&it| it == home.0).unwrap()
                });
                assert!(ranks.is_sorted(), "{name}, worker {worker}, seed {seed}");
            }
        }
    }
}

#[test]
fn jobs_without_affinity_spread_and_nothing_counts_as_stolen() {
    each_machine_and_seed(|name, seed| {
        let (_, scheduler) = start(name, seed, scope(StealingScope::None));
        let body = Recorder::new();
        let mut job = job(&[range(Some(0), 0, 4000)], 1, &body);
        job.affinity = Affinity::None;
        let report = scheduler.run(job);
        assert_eq!((report.morsels, report.stolen), (4000, 0));
        assert_eq!(report.per_worker.len(), scheduler.workers(), "{name}: all take part");
    });
}

#[test]
fn the_same_seed_gives_the_same_schedule_and_another_seed_another() {
    let trace = |name: &str, seed| {
        let (machine, scheduler) = start(name, seed, SchedulerOptions::default());
        let body = Recorder::new();
        for _ in 0..3 {
            scheduler.run(job(&on_each_node(&topology(name), 50), 3, &body));
        }
        drop(scheduler);
        (machine.schedule_hash(), machine.schedule_log(), body.seen())
    };
    for name in MACHINES {
        let once = trace(name, 42);
        assert_eq!(once, trace(name, 42), "{name}");
        assert_ne!(once.0, trace(name, 43).0, "{name}");
    }
}
