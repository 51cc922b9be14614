//! Model checks of the protocol between queue, cursors and participants: whoever comes and goes in whatever order, a
//! job is ended once, by the last one out, with every morsel run. `RUSTFLAGS="--cfg loom" cargo test -p scheduler
//! --release loom_`

use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, thread};

use hardware::NodeId;
use std::ops::ControlFlow;
use stdx::Nanos;

use crate::affinity::{Affinity, Binding, Priority, StealingScope};
use crate::cancel::CancelToken;
use crate::lifecycle::{JobParts, JobState, Join};
use crate::morsel::{Cursors, Morsel, MorselBody, MorselContext, MorselRange};
use crate::queue::{JobQueues, Verdict};
use crate::report::WorkerId;
use crate::report::{JobId, JobOutcome, Label, WorkerShare};
use crate::terms::{TermValues, Terms};

/// All schedules with up to three preemptions: more take hours.
pub(crate) fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Counts runs, and runs after the end.
struct Counting {
    ran: AtomicUsize,
    ends: AtomicUsize,
}

/// The body only stands for what is let go; the model counts by itself.
struct Nothing;

impl MorselBody for Nothing {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

struct Model {
    job: Arc<JobState>,
    queue: JobQueues<Arc<JobState>>,
    count: Counting,
}

const PRIORITY: Priority = Priority { class: 0, statement: 0, sequence: 0 };

fn model(morsels: u64, max_workers: usize, cancel: &CancelToken) -> Arc<Model> {
    let range = MorselRange { node: Some(NodeId(0)), start: 0, end: morsels };
    let body: std::sync::Arc<dyn MorselBody> = std::sync::Arc::new(Nothing);
    let job = Arc::new(JobState::new(JobParts {
        id: JobId(0),
        statement: 0,
        label: Label::default(),
        traced: false,
        times: None,
        terms: Terms::new(TermValues {
            class: 0,
            affinity: Affinity::Soft,
            scope: StealingScope::All,
            binding: Binding::Always,
            bulk: 1,
            max_workers: Some(max_workers),
        }),
        cursors: Cursors::new(&[range], 1, 1, |_| 0),
        tickets: Vec::new(),
        places: None,
        company: None,
        cancel: cancel.clone(),
        body: Arc::from_std(body),
        submitted: Nanos(0),
    }));
    let count = Counting { ran: AtomicUsize::new(0), ends: AtomicUsize::new(0) };
    Arc::new(Model { job, queue: JobQueues::new(), count })
}

impl Model {
    fn finish(&self, job: &Arc<JobState>) {
        job.release(Nanos(1));
        self.queue.remove(|it| Arc::ptr_eq(it, job));
        self.count.ends.fetch_add(1, Ordering::Relaxed);
        job.set_finished();
    }

    /// What a worker does between two parkings; `stay` is how many morsels it runs before it leaves for another job.
    fn work(&self, me: u32, stay: usize) {
        loop {
            let mut ended = Vec::new();
            let picked = self.queue.pick(true, |job| {
                if job.is_halted() {
                    if job.participants.close_if_idle() {
                        ended.push(Arc::clone(job));
                    }
                    return Verdict::Remove;
                }
                if job.cursors.is_dry(0) {
                    return Verdict::Remove;
                }
                match job.participants.join(job.terms.max_workers()) {
                    Join::Joined => Verdict::Take(Arc::clone(job)),
                    Join::Full => Verdict::Skip,
                    Join::Closed => Verdict::Remove,
                }
            });
            for job in &ended {
                self.finish(job);
            }
            let Some(job) = picked else { return };
            let body = job.body();
            let mut share = WorkerShare::new(WorkerId(me));
            while share.morsels < stay as u64 && job.cut(0, 1).is_some() {
                assert!(!job.is_finished(), "a morsel runs after the end");
                self.count.ran.fetch_add(1, Ordering::Relaxed);
                share.morsels += 1;
            }
            drop(body);
            job.account(&share);
            if job.participants.leave(|| job.is_over()) {
                self.finish(&job);
            }
        }
    }

    fn check_ended(&self) -> u64 {
        assert!(self.job.is_finished());
        assert_eq!(self.count.ends.load(Ordering::Relaxed), 1, "ended once");
        assert_eq!(self.job.participants.count(), 0);
        assert!(self.queue.is_empty());
        let report = self.job.report();
        assert_eq!(report.morsels, self.count.ran.load(Ordering::Relaxed) as u64);
        report.morsels
    }
}

#[test]
fn loom_workers_that_come_and_go_end_a_job_once() {
    check(|| {
        let model = model(2, usize::MAX, &CancelToken::new());
        let submitter = Arc::clone(&model);
        submitter.queue.insert(PRIORITY, false, Arc::clone(&model.job));
        let other = Arc::clone(&model);
        // One worker leaves after each morsel and comes back, the other stays to the end.
        let worker = thread::spawn(move || other.work(1, 1));
        model.work(0, usize::MAX);
        worker.join().unwrap();
        assert_eq!(model.check_ended(), 2);
    });
}

#[test]
fn loom_a_job_inserted_while_workers_look_is_found_or_left_for_the_wake() {
    check(|| {
        let model = model(1, usize::MAX, &CancelToken::new());
        let other = Arc::clone(&model);
        let worker = thread::spawn(move || other.work(1, usize::MAX));
        model.queue.insert(PRIORITY, false, Arc::clone(&model.job));
        worker.join().unwrap();
        // The machine lets a worker look again that was woken after the insert.
        model.work(0, usize::MAX);
        assert_eq!(model.check_ended(), 1);
    });
}

#[test]
fn loom_a_cancelled_job_is_ended_once_by_worker_or_waiter() {
    check(|| {
        let token = CancelToken::new();
        let model = model(2, usize::MAX, &token);
        model.queue.insert(PRIORITY, false, Arc::clone(&model.job));
        let other = Arc::clone(&model);
        let worker = thread::spawn(move || other.work(1, 1));
        token.cancel();
        // The waiter's look: ends the job itself when nobody takes part.
        if model.job.is_halted() && model.job.participants.close_if_idle() {
            model.finish(&model.job);
        }
        worker.join().unwrap();
        let through = model.check_ended() == 2;
        let outcome = model.job.report().outcome;
        assert_eq!(outcome == JobOutcome::Completed, through);
        assert!(through || outcome == JobOutcome::Cancelled);
    });
}

#[test]
fn loom_a_full_job_lets_nobody_past_the_limit() {
    check(|| {
        let model = model(2, 1, &CancelToken::new());
        model.queue.insert(PRIORITY, false, Arc::clone(&model.job));
        let other = Arc::clone(&model);
        let worker = thread::spawn(move || {
            assert!(other.job.participants.count() <= 1);
            other.work(1, usize::MAX);
        });
        model.work(0, usize::MAX);
        worker.join().unwrap();
        assert_eq!(model.check_ended(), 2);
    });
}

#[test]
fn loom_a_guest_and_the_one_with_the_chair_end_a_job_once() {
    check(|| {
        let model = model(2, 1, &CancelToken::new());
        model.queue.insert(PRIORITY, false, Arc::clone(&model.job));
        let other = Arc::clone(&model);
        let worker = thread::spawn(move || {
            let job = &other.job;
            if !job.participants.join_as_guest() {
                return;
            }
            let mut share = WorkerShare::new(WorkerId(1));
            if job.cut(0, 1).is_some() {
                assert!(!job.is_finished(), "a morsel runs after the end");
                other.count.ran.fetch_add(1, Ordering::Relaxed);
                share.morsels += 1;
            }
            job.account(&share);
            if job.participants.leave_as_guest(|| job.is_over()) {
                other.finish(job);
            }
        });
        model.work(0, usize::MAX);
        worker.join().unwrap();
        assert_eq!(model.check_ended(), 2);
    });
}

#[test]
fn loom_the_mark_wakes_who_waits() {
    check(|| {
        let token = CancelToken::new();
        let mark = token.clone();
        let canceller = thread::spawn(move || mark.cancel());
        // A mark that rang nobody would be a deadlock here.
        token.bell().wait_until(|| token.is_cancelled());
        canceller.join().unwrap();
    });
}

#[test]
fn loom_a_job_starts_once_after_the_last_it_waits_for() {
    check(|| {
        let children = [(); 2].map(|()| model(1, usize::MAX, &CancelToken::new()));
        let parent = Arc::clone(&model(1, usize::MAX, &CancelToken::new()).job);
        let starts = Arc::new(AtomicUsize::new(0));
        let end = |child: &Model, parent: &JobState, starts: &AtomicUsize| {
            for waiting in child.job.take_dependents() {
                assert!(std::ptr::eq(&*waiting, parent));
                starts.fetch_add(usize::from(waiting.one_less()), Ordering::Relaxed);
            }
        };
        let (other, known, counted) =
            (Arc::clone(&children[1]), Arc::clone(&parent), Arc::clone(&starts));
        let worker = thread::spawn(move || end(&other, &known, &counted));
        // What a submission does.
        for child in &children {
            child.job.add_dependent(&parent);
        }
        starts.fetch_add(usize::from(parent.one_less()), Ordering::Relaxed);
        end(&children[0], &parent, &starts);
        worker.join().unwrap();
        assert_eq!(starts.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn loom_workers_past_the_limit_step_out_and_never_the_last() {
    check(|| {
        let participants = Arc::new(crate::lifecycle::Participants::new());
        for _ in 0..3 {
            assert_eq!(participants.join(usize::MAX), Join::Joined);
        }
        let other = Arc::clone(&participants);
        let worker = thread::spawn(move || other.step_out(1));
        let first = participants.step_out(1);
        let second = participants.step_out(1);
        let third = worker.join().unwrap();
        assert_eq!([first, second, third].iter().filter(|it| **it).count(), 2);
        assert_eq!(participants.count(), 1);
        assert!(participants.leave(|| true));
    });
}
