//! A schedule as it happens: the client submits, bodies do their deeds, and everything is written down.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hardware::{Demand, Machine, NodeId, Pattern};
use scheduler::{
    AlarmGuard, CancelReason, CancelToken, JobHandle, JobReport, Morsel, MorselBody, MorselContext,
    PipelineJob, Policy, Scheduler, SchedulerOptions, SchedulerStats, TraceEvent,
};
use simulator::SimulatedMachine;
use stdx::Nanos;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex, Weak};

use crate::plan::{Deed, Plan};

/// A morsel that began.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    pub job: usize,
    pub morsel: Morsel,
    pub context: MorselContext,
}

/// What became of a job that was submitted.
#[derive(Default)]
pub struct JobRecord {
    pub handle: Option<JobHandle>,
    pub token: CancelToken,
    pub submitted: Nanos,
    /// Changes of policies before that, which do not concern it.
    pub steered_before: usize,
    /// Jobs it really waits for.
    pub after: Vec<usize>,
    pub timeout: Option<(Nanos, AlarmGuard)>,
    /// When it was cancelled, and how many morsels of all jobs had begun then.
    pub cancelled: Option<(Nanos, usize)>,
    pub report: Option<JobReport>,
}

/// A change of a statement's policy, after so many morsels of all jobs had begun.
#[derive(Debug)]
pub struct Steered {
    pub statement: u64,
    pub policy: Policy,
    pub begun: usize,
}

/// Everything that was seen.
pub struct Seen {
    pub jobs: Vec<JobRecord>,
    pub begun: Vec<Begun>,
    pub steered: Vec<Steered>,
    pub events: Vec<TraceEvent>,
    pub stats: SchedulerStats,
}

struct World {
    plan: Arc<Plan>,
    machine: Arc<SimulatedMachine>,
    scheduler: Mutex<Weak<Scheduler>>,
    jobs: Mutex<Vec<JobRecord>>,
    begun: Mutex<Vec<Begun>>,
    steered: Mutex<Vec<Steered>>,
}

struct Body {
    world: Arc<World>,
    job: usize,
    morsels: AtomicU64,
}

impl MorselBody for Body {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let world = &self.world;
        let plan = &world.plan.jobs[self.job];
        let node = plan.ranges[morsel.range].node.filter(|it| it.index() < 64);
        let node = node.unwrap_or(context.node);
        world.machine.charge(&|| {
            let demand = Demand { cycles: plan.cycles, ..Demand::default() };
            demand.access(vec![node], plan.bytes, Pattern::Stream)
        });
        world.begun.lock().push(Begun { job: self.job, morsel, context: *context });
        let number = self.morsels.fetch_add(1, Ordering::Relaxed);
        for (_, deed) in plan.deeds.iter().filter(|it| it.0 == number) {
            match deed {
                Deed::Break => return ControlFlow::Break(()),
                Deed::Panic => panic!("on purpose"),
                Deed::Cancel(job) => world.cancel(*job),
                Deed::Submit(job) => world.submit(*job),
                Deed::Steer(statement, policy) => world.steer(*statement, policy),
            }
        }
        ControlFlow::Continue(())
    }

    fn bytes_read(&self, _: Morsel, reader: NodeId) -> Vec<(NodeId, u64)> {
        vec![(reader, self.world.plan.jobs[self.job].bytes)]
    }
}

impl World {
    fn scheduler(&self) -> Option<Arc<Scheduler>> {
        self.scheduler.lock().upgrade()
    }

    fn submit(self: &Arc<Self>, index: usize) {
        let Some(scheduler) = self.scheduler() else { return };
        let plan = &self.plan.jobs[index];
        let body = Body { world: self.clone(), job: index, morsels: AtomicU64::new(0) };
        let job = PipelineJob::new(plan.ranges.clone(), plan.morsel_rows, Arc::new(body));
        let mut job = job.with_policy(&plan.policy);
        job.statement = plan.statement;
        job.reads = plan.reads;
        let (now, steered_before) = (self.machine.now(), self.steered.lock().len());
        {
            let jobs = &mut *self.jobs.lock();
            let there = |it: &usize| jobs[*it].handle.is_some();
            let after: Vec<usize> = plan.after.iter().copied().filter(there).collect();
            job.after = after.iter().filter_map(|&it| jobs[it].handle.clone()).collect();
            let record = &mut jobs[index];
            (record.submitted, record.after) = (now, after);
            record.steered_before = steered_before;
            job.cancel = record.token.clone();
        }
        let timeout = plan.timeout.map(|it| now + it);
        let token = job.cancel.clone();
        let alarm = timeout.map(|at| (at, scheduler.cancel_at(at, &token, CancelReason::Timeout)));
        let handle = scheduler.submit(job);
        let record = &mut self.jobs.lock()[index];
        (record.handle, record.timeout) = (Some(handle), alarm);
    }

    fn cancel(&self, index: usize) {
        let (now, begun) = (self.machine.now(), self.begun.lock().len());
        let token = {
            let record = &mut self.jobs.lock()[index];
            record.cancelled.get_or_insert((now, begun));
            record.token.clone()
        };
        token.cancel();
    }

    fn steer(&self, statement: u64, policy: &Policy) {
        let begun = self.begun.lock().len();
        let policy = policy.clone();
        self.steered.lock().push(Steered { statement, policy: policy.clone(), begun });
        if let Some(scheduler) = self.scheduler() {
            scheduler.set_policy(statement, &policy);
        }
    }

    /// Whether every job that was submitted has ended.
    fn is_quiet(&self) -> bool {
        let jobs = self.jobs.lock();
        jobs.iter().filter_map(|it| it.handle.as_ref()).all(JobHandle::is_finished)
    }
}

/// Lets a plan happen.
pub fn run(plan: Plan, seed: u64) -> (Arc<Plan>, Seen) {
    let plan = Arc::new(plan);
    let machine = SimulatedMachine::with_model(plan.model.clone(), seed, plan.faults.clone());
    let options = SchedulerOptions { workers: Some(plan.workers), stealing: plan.stealing };
    let scheduler = Scheduler::start(machine.clone(), options).unwrap();
    let world = Arc::new(World {
        jobs: Mutex::new(plan.jobs.iter().map(|_| JobRecord::default()).collect()),
        plan: plan.clone(),
        machine,
        scheduler: Mutex::new(Arc::downgrade(&scheduler)),
        begun: Mutex::default(),
        steered: Mutex::default(),
    });
    let of_client = plan.jobs.iter().enumerate().filter(|(_, it)| it.submitter.is_none());
    for (index, job) in of_client {
        let goal = world.begun.lock().len() + job.pause as usize;
        scheduler.wait_until(&|| world.begun.lock().len() >= goal || world.is_quiet());
        world.submit(index);
    }
    scheduler.wait_until(&|| world.is_quiet());
    let handles: BTreeMap<usize, JobHandle> = {
        let jobs = world.jobs.lock();
        let all = jobs.iter().enumerate();
        all.filter_map(|(at, it)| Some((at, it.handle.clone()?))).collect()
    };
    for (index, handle) in handles {
        let report = scheduler.wait(&handle);
        world.jobs.lock()[index].report = Some(report);
    }
    let (stats, events) = (scheduler.stats(), scheduler.trace());
    drop(scheduler);
    let jobs = std::mem::take(&mut *world.jobs.lock());
    let begun = std::mem::take(&mut *world.begun.lock());
    let steered = std::mem::take(&mut *world.steered.lock());
    (plan, Seen { jobs, begun, steered, events, stats })
}

/// Prints what was planned and what happened, for whoever runs one seed again.
pub fn tell(plan: &Plan, seen: &Seen) {
    println!("{}, {} workers, {:?}", plan.model.name, plan.workers, plan.faults);
    for (index, (job, record)) in plan.jobs.iter().zip(&seen.jobs).enumerate() {
        let id = record.report.as_ref().map(|it| it.id);
        println!(
            "job {index} {id:?} submitted {} {job:?}\n  {:?}",
            record.submitted, record.report
        );
    }
    seen.steered.iter().for_each(|it| println!("{it:?}"));
    for it in &seen.events {
        let stolen = if it.stolen { ", stolen" } else { "" };
        let (start, end) = (it.start.0, it.end.0);
        println!(
            "{start:>12} {end:>12} worker {} node {} job {:?}{stolen}",
            it.worker.0, it.node, it.job
        );
    }
}
