//! Jobs that wait for others, alarms, admission, and the trace.
#![cfg(not(loom))]

mod common;

use std::ops::ControlFlow;

use common::{MACHINES, Recorder, SEEDS, job, on_each_node, range, start, topology};
use hardware::NodeId;
use scheduler::{
    Admission, CancelReason, CancelToken, JobOutcome, Label, Policy, Refused, SchedulerOptions,
    TaskGraph,
};
use stdx::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, thread};
use stdx::{Nanos, Prng};

#[test]
fn tasks_run_after_their_children_whatever_the_graph() {
    for name in MACHINES {
        for seed in SEEDS {
            let (_, scheduler) = start(name, seed, SchedulerOptions::default());
            let nodes: Vec<NodeId> = topology(name).nodes.iter().map(|it| it.id).collect();
            let mut prng = Prng::new(seed);
            let (mut graph, done) = (TaskGraph::new(), Arc::new(Mutex::new(vec![false; 60])));
            assert!(graph.is_empty());
            let mut ids = Vec::new();
            for task in 0..60_usize {
                let children: Vec<_> =
                    ids.iter().copied().filter(|_| prng.below(10) == 0).collect();
                let node = nodes.get(prng.below(nodes.len() as u64 + 1) as usize).copied();
                let (done, before) = (Arc::clone(&done), children.clone());
                ids.push(graph.add(node, &children, move |_| {
                    let mut done = done.lock();
                    assert!(before.iter().all(|it: &scheduler::TaskId| done[it.index()]));
                    assert!(!std::mem::replace(&mut done[task], true), "twice");
                    ControlFlow::Continue(())
                }));
            }
            let reports = scheduler.run_graph(graph, 7, &Policy::default(), &CancelToken::new());
            assert!(reports.iter().all(|it| it.outcome == JobOutcome::Completed), "{reports:?}");
            assert!(done.lock().iter().all(|it| *it));
            assert_eq!(scheduler.stats().jobs, []);
        }
    }
}

#[test]
fn who_waits_for_a_task_that_panics_is_cancelled_and_others_run() {
    for seed in SEEDS {
        let (_, scheduler) = start("ring", seed, SchedulerOptions::default());
        let mut graph = TaskGraph::new();
        let fine = |_: &scheduler::MorselContext| ControlFlow::Continue(());
        let bad = graph.add(None, &[], |_| panic!("no luck"));
        let good = graph.add(None, &[], fine);
        let parent = graph.add(None, &[bad, good], fine);
        let grandparent = graph.add(None, &[parent], fine);
        let beside = graph.add(None, &[good], fine);
        assert_eq!((graph.len(), beside.index()), (5, 4));
        let reports = scheduler.run_graph(graph, 1, &Policy::default(), &CancelToken::new());
        let outcome = |it: scheduler::TaskId| reports[it.index()].outcome.clone();
        assert!(matches!(outcome(bad), JobOutcome::Panicked(text) if text.contains("no luck")));
        assert_eq!(
            (outcome(good), outcome(beside)),
            (JobOutcome::Completed, JobOutcome::Completed)
        );
        assert_eq!(
            (outcome(parent), outcome(grandparent)),
            (JobOutcome::Cancelled, JobOutcome::Cancelled)
        );
    }
}

#[test]
fn pipelines_wait_for_pipelines_also_for_those_that_have_ended_or_are_empty() {
    for seed in SEEDS {
        let (_, scheduler) = start("sub_numa", seed, SchedulerOptions::default());
        let ranges = on_each_node(&topology("sub_numa"), 50);
        let running = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&running);
        let build = Recorder::with(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            ControlFlow::Continue(())
        });
        let first = scheduler.submit(job(&ranges, 1, &build));
        let empty = scheduler.submit(job(&[], 1, &build));
        let mut later_empty = job(&[], 1, &build);
        later_empty.after = vec![first.clone()];
        let later_empty = scheduler.submit(later_empty);
        let seen = Arc::clone(&running);
        let probe = Recorder::with(move |_, _| {
            assert_eq!(seen.load(Ordering::SeqCst), 200);
            ControlFlow::Continue(())
        });
        let mut second = job(&ranges, 7, &probe);
        second.after = vec![first.clone(), empty.clone(), later_empty];
        let second = scheduler.submit(second);
        assert!(scheduler.stats().jobs.iter().any(|it| it.blocked));
        assert_eq!(scheduler.wait(&second).outcome, JobOutcome::Completed);
        probe.check_exactly_once(&ranges, 7);
        assert!(first.is_finished() && empty.is_finished());
        let mut late = job(&ranges, 9, &probe);
        late.after = vec![first];
        assert_eq!(scheduler.run(late).outcome, JobOutcome::Completed);
    }
}

#[test]
fn a_cancelled_statement_takes_those_that_wait_with_it() {
    let (_, scheduler) = start("four_sockets", 3, SchedulerOptions::default());
    let ranges = on_each_node(&topology("four_sockets"), 50);
    let body = Recorder::new();
    let mut first = job(&ranges, 1, &body);
    let token = CancelToken::new();
    first.cancel = token.clone();
    let first = scheduler.submit(first);
    let mut second = job(&ranges, 1, &body);
    second.after = vec![first.clone()];
    let second = scheduler.submit(second);
    token.cancel_because(CancelReason::Killed);
    assert_eq!(scheduler.wait(&second).outcome, JobOutcome::Cancelled);
    assert_eq!(scheduler.wait(&first).outcome, JobOutcome::Cancelled);
    let mut late = job(&ranges, 1, &body);
    late.after = vec![second];
    assert_eq!(scheduler.run(late).outcome, JobOutcome::Cancelled);
    assert_eq!((body.seen(), token.reason()), (Vec::new(), Some(CancelReason::Killed)));
    assert_eq!(scheduler.stats().jobs, []);
}

#[test]
fn a_statement_ends_when_its_time_is_up() {
    for name in MACHINES {
        for seed in SEEDS {
            let (machine, scheduler) = start(name, seed, SchedulerOptions::default());
            let (token, late) = (CancelToken::new(), CancelToken::new());
            let at = hardware::Machine::now(&*machine) + Nanos(20_000_000);
            let _guard = scheduler.cancel_at(at, &token, CancelReason::Timeout);
            drop(scheduler.cancel_at(at, &late, CancelReason::Timeout));
            let mut job = job(&on_each_node(&topology(name), 100_000), 1, &Recorder::new());
            job.cancel = token.clone();
            let report = scheduler.run(job);
            assert_eq!(report.outcome, JobOutcome::Cancelled, "{name}");
            assert_eq!((token.reason(), late.reason()), (Some(CancelReason::Timeout), None));
            assert_eq!(scheduler.stats().watchdog.timeouts, 1);
        }
    }
}

#[test]
fn admission_gives_up_in_time_or_with_the_token() {
    let (machine, scheduler) = start("laptop", 1, SchedulerOptions::default());
    let admission = Admission::new();
    admission.set_limit(Some(1));
    let token = CancelToken::new();
    let inside = admission.enter(&scheduler, 100, &token, None).ok().unwrap();
    let before = hardware::Machine::now(&*machine);
    let deadline = Some(before + Nanos(500_000_000));
    let refused = admission.enter(&scheduler, 100, &token, deadline).err();
    assert_eq!(refused, Some(Refused::TimedOut { running: 1, waiting: 0 }));
    let waited = hardware::Machine::now(&*machine) - before;
    assert!((500_000_000..700_000_000).contains(&waited.0), "{waited}");
    token.cancel();
    let refused = admission.enter(&scheduler, 100, &token, None).err();
    assert_eq!(refused, Some(Refused::Cancelled));
    drop(inside);
    assert!(admission.enter(&scheduler, 100, &CancelToken::new(), None).is_ok());
    assert_eq!(admission.counts(), (0, 0));
}

#[test]
fn many_clients_go_through_a_narrow_gate_one_by_one() {
    let (_, scheduler) = start("ring", 2, SchedulerOptions::default());
    let admission = Admission::new();
    admission.set_limit(Some(2));
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let lost = AtomicBool::new(false);
    thread::scope(|scope| {
        for client in 0..16 {
            let (scheduler, admission) = (&scheduler, &admission);
            let (now, most, lost) = (&now, &most, &lost);
            scope.spawn(move || {
                let token = CancelToken::new();
                // Nobody runs jobs here, so on this machine nobody but the clients makes time pass.
                let place = loop {
                    let soon = Nanos(hardware::Machine::now(&**scheduler.machine()).0 + 1000);
                    match admission.enter(scheduler, client % 3, &token, Some(soon)) {
                        Ok(place) => break place,
                        Err(Refused::TimedOut { .. }) => thread::yield_now(),
                        Err(Refused::Cancelled) => return lost.store(true, Ordering::SeqCst),
                    }
                };
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
                drop(place);
            });
        }
    });
    assert!(!lost.into_inner());
    assert!((1..=2).contains(&most.into_inner()));
    assert_eq!(admission.counts(), (0, 0));
}

#[test]
fn the_trace_holds_each_morsel_of_traced_jobs_and_nothing_else() {
    for name in MACHINES {
        let (_, scheduler) = start(name, 5, SchedulerOptions::default());
        let ranges = on_each_node(&topology(name), 30);
        let body = Recorder::new();
        let mut traced = job(&ranges, 4, &body);
        (traced.traced, traced.statement) = (true, 42);
        traced.label = Label { pipeline: 3, finishing: true };
        let report = scheduler.run(traced.clone());
        scheduler.run(job(&ranges, 4, &Recorder::new()));
        let events = scheduler.trace();
        assert_eq!(events.len() as u64, report.morsels);
        assert_eq!(events.iter().map(|it| it.rows).sum::<u64>(), ranges.len() as u64 * 30);
        assert_eq!(events.iter().filter(|it| it.stolen).count() as u64, report.stolen);
        let labels = |it: &scheduler::TraceEvent| (it.statement, it.pipeline, it.finishing);
        assert!(events.iter().all(|it| labels(it) == (42, 3, true) && it.start < it.end));
        assert!(events.is_sorted_by_key(|it| it.start));
        for worker in 0..scheduler.workers() {
            let mine: Vec<_> = events.iter().filter(|it| it.worker.index() == worker).collect();
            assert!(mine.windows(2).all(|it| it[0].end <= it[1].start), "one at a time");
        }
        scheduler.clear_trace();
        let report = scheduler.run_inline(traced);
        let inline = scheduler.trace();
        assert_eq!(inline.len() as u64, report.morsels);
        assert!(inline.iter().all(|it| it.worker.index() == scheduler.slots() - 1));
    }
}

#[test]
fn a_range_of_one_node_is_local_or_remote_bytes() {
    struct Bytes;
    impl scheduler::MorselBody for Bytes {
        fn run(&self, _: &scheduler::MorselContext, _: scheduler::Morsel) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
        fn bytes_read(&self, _: scheduler::Morsel, _: NodeId) -> Vec<(NodeId, u64)> {
            vec![(NodeId(0), 10), (NodeId(1), 1)]
        }
    }
    let (_, scheduler) = start("ring", 5, SchedulerOptions::default());
    let mut job = scheduler::PipelineJob::new(vec![range(Some(0), 0, 100)], 1, Arc::new(Bytes));
    job.traced = true;
    scheduler.run(job);
    for event in scheduler.trace() {
        let local = match event.node.0 {
            0 => 10,
            1 => 1,
            _ => 0,
        };
        assert_eq!((event.bytes_local, event.bytes_remote), (local, 11 - local));
    }
}
