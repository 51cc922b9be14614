//! The scheduler as clients see it: start, submit, wait.

use hardware::{Machine, MachineError, NodeId, WorkerSpec};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Apart, Arc, Mutex, RwLock};

use crate::affinity::{Affinity, StealingScope};
use crate::alarm::{AlarmKey, Alarms};
use crate::cancel::{CancelReason, CancelToken, Signal};
use crate::job::{JobHandle, PipelineJob};
use crate::layout::Layout;
use crate::learn::ASSUMED_MB_S;
use crate::lifecycle::{JobParts, JobState};
use crate::loan::Loan;
use crate::morsel::{Cursors, MorselContext, MorselRange};
use crate::policy::Policy;
use crate::queue::JobQueues;
use crate::report::{JobId, JobReport, WorkerId, WorkerShare};
use crate::shared::{Shared, run_morsel};
use crate::sharing::ScanGroups;
use crate::stats::WatchCounters;
use crate::stats::{Counters, GroupStats, JobStats, SchedulerStats, WorkerStats};
use crate::terms::{TermValues, Terms};
use crate::thread_group::{Seats, StateCell, ThreadGroup};
use crate::trace::{Ran, TraceEvent, TraceRing};
use crate::watchdog::Watchdog;
use crate::worker::PoolWorker;

/// Workers that the watchdog may start at most.
const EXTRAS_MAX: usize = 16;

/// The most workers: several times the hardware threads of the largest machines. Each has slots in all local state.
pub const WORKERS_MAX: usize = 4096;

/// How a scheduler is set up.
#[derive(Clone, Debug, Default)]
pub struct SchedulerOptions {
    /// Workers; as many as the process may use hardware threads, or its CPU quota rounded up, when not given. A number
    /// past the hardware threads is taken at its word, up to [`WORKERS_MAX`].
    pub workers: Option<usize>,
    /// How far workers steal from jobs that do not say.
    pub stealing: StealingScope,
}

/// A pool of workers on a machine. Any number of threads may submit and wait at once. Dropping it stops the workers at
/// their next morsel boundary and waits for them; jobs that nobody awaits end there as cancelled.
pub struct Scheduler {
    pub(crate) shared: Arc<Shared>,
}

/// An alarm that is set; dropping it takes it back.
pub struct AlarmGuard {
    shared: Arc<Shared>,
    key: AlarmKey,
}

impl Drop for AlarmGuard {
    fn drop(&mut self) {
        self.shared.alarms.clear(self.key);
    }
}

impl Scheduler {
    /// Starts the workers.
    pub fn start(
        machine: Arc<dyn Machine>,
        options: SchedulerOptions,
    ) -> Result<Arc<Self>, MachineError> {
        if let Some(workers) = options.workers.filter(|it| *it > WORKERS_MAX) {
            let message =
                format!("{workers} workers are more than {WORKERS_MAX}, the most there can be");
            return Err(MachineError::Os { call: "clone", message });
        }
        let none = || MachineError::Os {
            call: "sched_getaffinity",
            message: "this process may use no hardware thread".to_owned(),
        };
        let layout = Layout::new(machine.topology(), options.workers).ok_or_else(none)?;
        let shared = Arc::new(Self::shared(machine, layout, options.stealing));
        let worker = |(me, seat): (usize, &hardware::topology::Cpu)| {
            let group = shared.layout.group_of[me];
            let body = Box::new(PoolWorker::new(Arc::clone(&shared), me, group, seat.clone()));
            WorkerSpec { cpu: seat.id, name: format!("nw-{me}"), body }
        };
        let mut specs: Vec<WorkerSpec> =
            shared.layout.seats.iter().enumerate().map(worker).collect();
        let body = Box::new(Watchdog::new(Arc::clone(&shared)));
        specs.push(WorkerSpec { cpu: specs[0].cpu, name: "nw-watchdog".to_owned(), body });
        let team = shared.machine.start(specs)?;
        shared.signal.set_team(Some(team));
        Ok(Arc::new(Self { shared }))
    }

    fn shared(machine: Arc<dyn Machine>, layout: Layout, scope: StealingScope) -> Shared {
        let workers = layout.seats.len();
        let extras = workers.min(EXTRAS_MAX);
        let topology = machine.topology();
        // What a probe measured before what the firmware claims.
        let bandwidth = |node: NodeId| {
            let measured = topology.performance().and_then(|it| it.read_mb_s(node, node));
            let told = topology.nodes.iter().find(|it| it.id == node);
            let told = told.and_then(|it| it.read_bandwidth_mb_s);
            measured.or(told).unwrap_or(ASSUMED_MB_S)
        };
        let group = |(at, &(place, llc)): (usize, &(usize, _))| {
            let members = (0..workers).filter(|&it| layout.group_of[it] == at);
            let workers: Vec<usize> = members.collect();
            let mut cpus: Vec<_> = workers.iter().map(|&it| layout.seats[it].id).collect();
            cpus.sort_unstable();
            cpus.dedup();
            let seats = Seats::new(workers.len());
            ThreadGroup { place, llc, workers, cpus, queues: JobQueues::new(), seats }
        };
        let counters =
            |it| Counters::new(if it < workers { StateCell::free() } else { StateCell::stopped() });
        Shared {
            groups: layout.groups.iter().enumerate().map(group).collect(),
            counters: (0..workers + extras).map(counters).collect(),
            rings: (0..workers + extras + 1).map(|_| TraceRing::new()).collect(),
            bandwidths: layout.places.iter().map(|it| AtomicU64::new(bandwidth(it.node))).collect(),
            scope,
            extras: Mutex::new(Vec::new()),
            signal: Arc::new(Signal::new()),
            running: Mutex::default(),
            scans: ScanGroups::default(),
            alarms: Alarms::new(),
            guard: RwLock::new(None),
            watch: WatchCounters::default(),
            submitted: Apart(AtomicU64::new(0)),
            shutdown: AtomicBool::new(false),
            machine: Arc::clone(&machine),
            layout,
        }
    }

    /// Workers of the pool, without those that the watchdog starts while others sleep.
    pub fn workers(&self) -> usize {
        self.shared.workers()
    }

    /// Slots for state local to a worker: one per worker, some for workers that the watchdog may start, and the last one
    /// for callers of [`Scheduler::run_inline`].
    pub fn slots(&self) -> usize {
        self.shared.counters.len() + 1
    }

    /// The node of a slot's worker; the first worker's for callers and for workers not started yet.
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
        let after = job.after.clone();
        let has_node =
            job.affinity != Affinity::None && job.ranges.iter().any(|it| it.node.is_some());
        let state = self.prepare(job);
        shared.running.lock().insert(state.id, Arc::clone(&state));
        if let Some(group) = &state.company {
            group.enter(&state);
        }
        for child in &after {
            if has_node {
                child.job.terms.bind_kin();
            }
            if !child.job.add_dependent(&state) && child.job.has_failed() {
                state.abandon();
            }
        }
        if state.one_less() {
            shared.enqueue(&state);
        }
        JobHandle { job: state }
    }

    /// Waits for the end of a job. No morsel of it runs afterwards, and the scheduler has let go of its body. A
    /// cancelled job that no worker has taken up ends here. Not for bodies: a worker that waits is a worker lost.
    pub fn wait(&self, handle: &JobHandle) -> JobReport {
        let job = &handle.job;
        if !self.shared.reap(job) {
            self.wait_on(&job.cancel, &|| self.shared.reap(job));
        }
        job.report()
    }

    /// Borrows a worker that does nothing for the jobs of a statement, which are best submitted after; `None` where there is none
    /// to borrow. For a thread that is about to wait for them.
    pub fn borrow_worker(&self, statement: u64) -> Option<Loan<'_>> {
        Loan::take(&self.shared, statement)
    }

    /// As [`Scheduler::wait`], by working as long as there is a loan and something to do.
    pub fn wait_working(&self, handle: &JobHandle, loan: &mut Option<Loan<'_>>) -> JobReport {
        let job = &handle.job;
        if loan.as_ref().is_some_and(|it| !it.work_until(&|| self.shared.reap(job))) {
            *loan = None;
        }
        self.wait(handle)
    }

    /// Waits until `done` holds, which is looked at whenever a job has ended: for one client of many jobs at once. Not
    /// for bodies. On a modelled machine it panics when no worker has anything left to do and `done` still does not hold.
    pub fn wait_until(&self, done: &dyn Fn() -> bool) {
        let team = self.shared.signal.team().expect("invariant: a scheduler has its team");
        team.wait_until(done);
    }

    /// Waits until `done` holds; it is asked whenever something happens to the token or to a job that carries it.
    pub(crate) fn wait_on(&self, token: &CancelToken, done: &dyn Fn() -> bool) {
        let team = self.shared.signal.team().expect("invariant: a scheduler has its team");
        team.wait_on(token.bell(), done);
    }

    /// Submits and waits.
    pub fn run(&self, job: PipelineJob) -> JobReport {
        let handle = self.submit(job);
        self.wait(&handle)
    }

    /// Runs all morsels on the calling thread, in the callers' slot: for work too small to wake anybody for. Affinity
    /// and priority do not matter then, and jobs that it shall come after must have ended.
    pub fn run_inline(&self, job: PipelineJob) -> JobReport {
        let shared = &self.shared;
        let slot = self.slots() - 1;
        let worker = WorkerId::from_index(slot);
        let mut share = WorkerShare::new(worker);
        let body = Arc::clone(&job.body);
        let state = self.prepare(PipelineJob { reads: None, ..job });
        let context = MorselContext { slot, worker, node: self.node_of_slot(slot), stolen: false };
        let start = shared.machine.now();
        let mut now = start;
        for cursor in 0..state.cursors.count() {
            while let Some(number) = state.cut(cursor, 1) {
                let morsel = state.cursors.morsel(cursor, number.start);
                run_morsel(&state, body.as_ref(), &context, morsel);
                share.morsels += 1;
                if state.traced {
                    let (start, end) = (now, shared.machine.now());
                    let bytes = body.bytes_read(morsel, context.node);
                    let cpu = shared.machine.running_cpu();
                    let home = shared.node_of_cursor(cursor);
                    let ran = Ran { home, cpus: (cpu, cpu), start, end };
                    let event = TraceEvent::new(&state, &context, morsel, &bytes, ran);
                    shared.rings[slot].push(event);
                    now = end;
                }
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

    /// Runs the jobs of a statement under another policy from their next morsel on. What a job settled when it was
    /// submitted stays: the homes of its rows, the nodes it may use, whether it is traced.
    pub fn set_policy(&self, statement: u64, policy: &Policy) {
        let shared = &self.shared;
        let jobs: Vec<Arc<JobState>> = shared.running.lock().values().cloned().collect();
        for job in jobs.iter().filter(|it| it.statement == statement) {
            job.terms.change(TermValues {
                class: policy.class,
                affinity: policy.affinity,
                scope: policy.stealing.unwrap_or(shared.scope),
                binding: policy.binding,
                bulk: policy.bulk,
                max_workers: policy.max_workers,
            });
            shared.rearrange(job);
            shared.signal.bump();
            shared.wake_for(job);
        }
    }

    /// Marks a token at a point of the machine's time, unless the guard is dropped before.
    pub fn cancel_at(&self, at: Nanos, token: &CancelToken, reason: CancelReason) -> AlarmGuard {
        self.set_alarm(at, token, Some(reason))
    }

    /// Sets an alarm that marks a token, or only makes those look who wait for it.
    pub(crate) fn set_alarm(
        &self,
        at: Nanos,
        token: &CancelToken,
        reason: Option<CancelReason>,
    ) -> AlarmGuard {
        let (key, first) = self.shared.alarms.set(at, token, reason);
        if first && let Some(team) = self.shared.signal.team() {
            team.nudge(self.shared.watchdog_index());
        }
        AlarmGuard { shared: Arc::clone(&self.shared), key }
    }

    /// Lets the watchdog call `guard` at each of its looks: for what must be checked from time to time.
    pub fn set_guard(&self, guard: impl Fn() + Send + Sync + 'static) {
        *self.shared.guard.write() = Some(Box::new(guard));
    }

    /// Tells what memory of a node gives, in MB/s, for the adaptive strategy.
    pub fn set_bandwidth(&self, node: NodeId, mb_per_second: u64) {
        for (place, bandwidth) in self.shared.layout.places.iter().zip(&self.shared.bandwidths) {
            if place.node == node {
                bandwidth.store(mb_per_second, Ordering::Relaxed);
            }
        }
    }

    /// The morsels of traced jobs, by time: the newest some ten thousand of each worker.
    pub fn trace(&self) -> Vec<TraceEvent> {
        let mut events: Vec<TraceEvent> =
            self.shared.rings.iter().flat_map(TraceRing::events).collect();
        events.sort_by_key(|it| (it.start, it.worker));
        events
    }

    /// Forgets the trace.
    pub fn clear_trace(&self) {
        self.shared.rings.iter().for_each(TraceRing::clear);
    }

    /// A look at workers and jobs.
    pub fn stats(&self) -> SchedulerStats {
        let shared = &self.shared;
        let extras = shared.extras.lock().clone();
        let groups = shared.layout.group_of.iter().chain(&extras);
        let worker = |(me, &group): (usize, &usize)| {
            let counters = &shared.counters[me];
            let (morsels, stolen, busy) = counters.read();
            let members = &shared.groups[group];
            let seat = shared.layout.seats.get(me);
            WorkerStats {
                worker: WorkerId::from_index(me),
                cpu: seat.map_or(members.cpus[0], |it| it.id),
                node: shared.layout.places[members.place].node,
                llc: members.llc,
                group,
                extra: seat.is_none(),
                state: counters.state.get(),
                morsels,
                stolen,
                busy,
            }
        };
        let group = |it: &ThreadGroup| GroupStats {
            node: shared.layout.places[it.place].node,
            llc: it.llc,
            contexts: it.seats.contexts,
            running: it.seats.running(),
            free: it.seats.free(),
        };
        SchedulerStats {
            workers: groups.enumerate().map(worker).collect(),
            jobs: shared.running.lock().values().map(|it| job_stats(it)).collect(),
            submitted: shared.submitted.load(Ordering::Relaxed),
            groups: shared.groups.iter().map(group).collect(),
            watchdog: shared.watch.read(),
        }
    }

    /// The job's state, with the queues it shall stand in.
    fn prepare(&self, job: PipelineJob) -> Arc<JobState> {
        let shared = &self.shared;
        let layout = &shared.layout;
        let anywhere = shared.anywhere();
        let places = self.allowed(&job.nodes);
        let home = |range: &MorselRange| {
            let place = match (job.affinity, range.node) {
                (Affinity::None, _) | (_, None) => None,
                (_, Some(node)) => layout.home(node),
            };
            match (place, &places) {
                (None, _) => anywhere,
                (Some(place), None) => place,
                (Some(place), Some(allowed)) => layout.nearest_allowed(place, allowed),
            }
        };
        let mut cursors = Cursors::new(&job.ranges, job.morsel_rows, anywhere + 1, home);
        let company = job.reads.map(|it| shared.scans.join(it, &mut cursors));
        let sequence = shared.submitted.fetch_add(1, Ordering::Relaxed);
        let tickets = self.tickets(&cursors, places.as_deref(), sequence);
        let terms = Terms::new(TermValues {
            class: job.class,
            affinity: job.affinity,
            scope: job.stealing.unwrap_or(shared.scope),
            binding: job.binding,
            bulk: job.bulk,
            max_workers: job.max_workers,
        });
        Arc::new(JobState::new(JobParts {
            id: JobId(sequence),
            statement: job.statement,
            label: job.label,
            traced: job.traced,
            times: job.times,
            terms,
            cursors,
            tickets,
            places,
            cancel: job.cancel,
            company,
            body: job.body,
            submitted: shared.machine.now(),
        }))
    }

    /// The places with workers that serve the given nodes; `None` for all, also when none of the nodes exists.
    fn allowed(&self, nodes: &[NodeId]) -> Option<Vec<bool>> {
        let layout = &self.shared.layout;
        let mut allowed = vec![false; layout.places.len()];
        for place in nodes.iter().filter_map(|&it| layout.home(it)) {
            allowed[place] = true;
        }
        let some = allowed.iter().any(|it| *it) && !allowed.iter().all(|it| *it);
        some.then_some(allowed)
    }

    /// The queues that a job shall stand in, as (group, cursor).
    fn tickets(
        &self,
        cursors: &Cursors,
        allowed: Option<&[bool]>,
        sequence: u64,
    ) -> Vec<(usize, usize)> {
        let shared = &self.shared;
        let mut tickets = Vec::new();
        for (place, it) in shared.layout.places.iter().enumerate() {
            // A job with few morsels stands in as few of the node's groups, in turn.
            let left = usize::try_from(cursors.left(place)).unwrap_or(usize::MAX);
            let first = sequence as usize % it.groups.len();
            let groups = it.groups.iter().cycle().skip(first).take(it.groups.len().min(left));
            tickets.extend(groups.map(|&group| (group, place)));
        }
        let anywhere = shared.anywhere();
        if !cursors.is_dry(anywhere) {
            let open = |it: &usize| allowed.is_none_or(|open| open[shared.groups[*it].place]);
            let groups = (0..shared.groups.len()).filter(open);
            tickets.extend(groups.map(|group| (group, anywhere)));
        }
        tickets
    }
}

fn job_stats(job: &JobState) -> JobStats {
    JobStats {
        job: job.id,
        class: job.terms.class(),
        statement: job.statement,
        label: job.label,
        affinity: job.terms.affinity(),
        stealing: job.terms.scope(),
        binding: job.terms.binding(),
        blocked: job.waits_for.load(Ordering::Relaxed) > 0,
        morsels: job.cursors.total(),
        waiting: (0..job.cursors.count()).map(|it| job.cursors.left(it)).sum(),
        workers: job.participants.count(),
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.shared.shutdown.store(true, Ordering::Release);
        self.shared.signal.bump();
        if let Some(team) = self.shared.signal.team() {
            team.wake(&[], usize::MAX);
            team.nudge(self.shared.watchdog_index());
            team.join();
        }
        let left = std::mem::take(&mut *self.shared.running.lock());
        for job in left.values() {
            job.abandon();
            self.shared.reap(job);
        }
        // The team holds the workers, and they hold the signal: cut the circle.
        self.shared.signal.set_team(None);
    }
}
