//! The scheduler as clients see it: start, submit, wait.

use hardware::{Machine, MachineError, NodeId, WorkerSpec};
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};

use crate::affinity::{Affinity, Priority, StealingScope};
use crate::cancel::Signal;
use crate::job::{JobHandle, JobId, JobReport, PipelineJob, WorkerShare};
use crate::layout::Layout;
use crate::lifecycle::{JobParts, JobState};
use crate::morsel::{Cursors, MorselContext, MorselRange};
use crate::queue::JobQueues;
use crate::shared::{Shared, run_morsel};
use crate::stats::{Counters, JobStats, SchedulerStats, WorkerId, WorkerStats};
use crate::thread_group::{ThreadGroup, Ticket};
use crate::worker::PoolWorker;

/// How a scheduler is set up.
#[derive(Clone, Debug, Default)]
pub struct SchedulerOptions {
    /// Workers; as many as the process may use hardware threads, or its CPU quota rounded up, when not given. A number
    /// past the hardware threads is taken at its word.
    pub workers: Option<usize>,
    /// How far workers steal.
    pub stealing: StealingScope,
}

/// A pool of workers on a machine. Any number of threads may submit and wait at once. Dropping it stops the workers at
/// their next morsel boundary and waits for them; jobs that nobody awaits end there as cancelled.
pub struct Scheduler {
    shared: Arc<Shared>,
}

impl Scheduler {
    /// Starts the workers.
    pub fn start(
        machine: Arc<dyn Machine>,
        options: SchedulerOptions,
    ) -> Result<Arc<Self>, MachineError> {
        let none = || MachineError::Os {
            call: "sched_getaffinity",
            message: "this process may use no hardware thread".to_owned(),
        };
        let layout = Layout::new(machine.topology(), options.workers).ok_or_else(none)?;
        let group =
            |&(place, llc): &(usize, _)| ThreadGroup { place, llc, queues: JobQueues::new() };
        let shared = Arc::new(Shared {
            groups: layout.groups.iter().map(group).collect(),
            counters: layout.seats.iter().map(|_| Counters::new()).collect(),
            signal: Arc::new(Signal::new()),
            running: Mutex::new(Vec::new()),
            submitted: AtomicU64::new(0),
            shutdown: AtomicBool::new(false),
            machine,
            layout,
        });
        let spec = |(me, seat): (usize, &hardware::topology::Cpu)| WorkerSpec {
            cpu: seat.id,
            name: format!("nw-{me}"),
            body: Box::new(PoolWorker::new(
                Arc::clone(&shared),
                me,
                shared.layout.stops(me, options.stealing),
            )),
        };
        let team =
            shared.machine.start(shared.layout.seats.iter().enumerate().map(spec).collect())?;
        shared.signal.set_team(Some(team));
        Ok(Arc::new(Self { shared }))
    }

    /// Workers of the pool.
    pub fn workers(&self) -> usize {
        self.shared.layout.seats.len()
    }

    /// Slots for state local to a worker: one per worker, and the last one for callers of [`Scheduler::run_inline`].
    pub fn slots(&self) -> usize {
        self.workers() + 1
    }

    /// The node of a slot's worker; for the callers' slot the first worker's.
    pub fn node_of_slot(&self, slot: usize) -> NodeId {
        let seats = &self.shared.layout.seats;
        seats.get(slot).unwrap_or(&seats[0]).node
    }

    /// The machine it runs on.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.shared.machine
    }

    /// Hands in a job and returns at once. A body may submit further jobs, but must not wait for them.
    pub fn submit(&self, job: PipelineJob) -> JobHandle {
        let shared = &self.shared;
        let (state, tickets) = self.prepare(job);
        let handle = JobHandle { job: Arc::clone(&state) };
        if state.cursors.total() == 0 {
            if state.participants.close_if_idle() {
                shared.finish(&state);
            }
            return handle;
        }
        shared.running.lock().push(Arc::clone(&state));
        for (group, cursor) in tickets {
            let hard = state.hard && cursor != shared.anywhere();
            let ticket = Ticket { job: Arc::clone(&state), cursor };
            shared.groups[group].queues.insert(state.priority, hard, ticket);
        }
        shared.signal.bump();
        shared.wake_for(&state);
        handle
    }

    /// Waits for the end of a job. No morsel of it runs afterwards, and the scheduler has let go of its body. A
    /// cancelled job that no worker has taken up ends here. Not for bodies: a worker that waits is a worker lost.
    pub fn wait(&self, handle: &JobHandle) -> JobReport {
        let job = &handle.job;
        if !self.shared.reap(job) {
            let team = self.shared.signal.team().expect("invariant: a scheduler has its team");
            team.wait_until(&|| self.shared.reap(job));
        }
        job.report()
    }

    /// Waits until `done` holds, which is looked at whenever a job has ended: for one client of many jobs at once. Not
    /// for bodies. On a modelled machine it panics when no worker has anything left to do and `done` still does not hold.
    pub fn wait_until(&self, done: &dyn Fn() -> bool) {
        let team = self.shared.signal.team().expect("invariant: a scheduler has its team");
        team.wait_until(done);
    }

    /// Submits and waits.
    pub fn run(&self, job: PipelineJob) -> JobReport {
        let handle = self.submit(job);
        self.wait(&handle)
    }

    /// Runs all morsels on the calling thread, in the callers' slot: for work too small to wake anybody for. Affinity
    /// and priority do not matter then.
    pub fn run_inline(&self, job: PipelineJob) -> JobReport {
        let shared = &self.shared;
        let slot = self.workers();
        let worker = WorkerId::from_index(slot);
        let mut share = WorkerShare::new(worker);
        let body = Arc::clone(&job.body);
        let (state, _) = self.prepare(job);
        let context = MorselContext { slot, worker, node: self.node_of_slot(slot), stolen: false };
        let start = shared.machine.now();
        for cursor in 0..state.cursors.count() {
            while let Some(morsel) = state.cut(cursor) {
                run_morsel(&state, body.as_ref(), &context, morsel);
                share.morsels += 1;
            }
        }
        let end = shared.machine.now();
        share.busy = end - start;
        drop(body);
        state.account(&share);
        state.release(end);
        state.set_finished();
        state.report()
    }

    /// A look at workers and jobs.
    pub fn stats(&self) -> SchedulerStats {
        let shared = &self.shared;
        let worker = |(me, seat): (usize, &hardware::topology::Cpu)| {
            let (morsels, stolen, busy) = shared.counters[me].read();
            WorkerStats {
                worker: WorkerId::from_index(me),
                cpu: seat.id,
                node: seat.node,
                llc: shared.groups[shared.layout.group_of[me]].llc,
                state: shared.counters[me].state(),
                morsels,
                stolen,
                busy,
            }
        };
        let job = |it: &Arc<JobState>| JobStats {
            job: it.id,
            class: it.priority.class,
            statement: it.priority.statement,
            hard: it.hard,
            morsels: it.cursors.total(),
            waiting: (0..it.cursors.count()).map(|cursor| it.cursors.left(cursor)).sum(),
            workers: it.participants.count(),
        };
        let mut jobs: Vec<JobStats> = shared.running.lock().iter().map(job).collect();
        jobs.sort_by_key(|it| it.job);
        let workers = shared.layout.seats.iter().enumerate().map(worker).collect();
        SchedulerStats { workers, jobs, submitted: shared.submitted.load(Ordering::Relaxed) }
    }

    /// The job's state and the queues it shall stand in, as (group, cursor).
    fn prepare(&self, job: PipelineJob) -> (Arc<JobState>, Vec<(usize, usize)>) {
        let shared = &self.shared;
        let layout = &shared.layout;
        let anywhere = shared.anywhere();
        let home = |range: &MorselRange| match (job.affinity, range.node) {
            (Affinity::None, _) | (_, None) => anywhere,
            (_, Some(node)) => layout.home(node).unwrap_or(anywhere),
        };
        let cursors = Cursors::new(&job.ranges, job.morsel_rows, anywhere + 1, home);
        let sequence = shared.submitted.fetch_add(1, Ordering::Relaxed);

        let mut tickets = Vec::new();
        for (place, it) in layout.places.iter().enumerate() {
            // A job with few morsels stands in as few of the node's groups, in turn.
            let count =
                it.groups.len().min(usize::try_from(cursors.left(place)).unwrap_or(usize::MAX));
            let first = sequence as usize % it.groups.len();
            let groups = it.groups.iter().cycle().skip(first).take(count);
            tickets.extend(groups.map(|&group| (group, place)));
        }
        if !cursors.is_dry(anywhere) {
            tickets.extend((0..shared.groups.len()).map(|group| (group, anywhere)));
        }
        job.cancel.listen(&shared.signal);
        let state = JobState::new(JobParts {
            id: JobId(sequence),
            priority: Priority { class: job.class, statement: job.statement, sequence },
            hard: job.affinity == Affinity::Hard,
            max_workers: job.max_workers.unwrap_or(usize::MAX).max(1),
            cursors,
            groups: tickets.iter().map(|it| it.0).collect(),
            cancel: job.cancel,
            body: job.body,
            submitted: shared.machine.now(),
        });
        (Arc::new(state), tickets)
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.shared.shutdown.store(true, Ordering::Release);
        self.shared.signal.bump();
        if let Some(team) = self.shared.signal.team() {
            team.wake(&[], self.workers());
            team.join();
        }
        let left = std::mem::take(&mut *self.shared.running.lock());
        for job in &left {
            job.abandon();
            self.shared.reap(job);
        }
        // The team holds the workers, and they hold the signal: cut the circle.
        self.shared.signal.set_team(None);
    }
}
