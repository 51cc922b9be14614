//! A worker's step: stay with the job while nothing more urgent came in, else look around; run one morsel.

use hardware::{Step, Worker};
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;

use crate::job::WorkerShare;
use crate::layout::Stop;
use crate::lifecycle::{JobState, Join};
use crate::morsel::{Morsel, MorselBody, MorselContext};
use crate::queue::Verdict;
use crate::shared::{Shared, run_morsel};
use crate::stats::{WorkerId, WorkerState};
use crate::thread_group::Ticket;

/// A worker of the pool.
pub(crate) struct PoolWorker {
    shared: Arc<Shared>,
    me: usize,
    stops: Vec<Stop>,
    /// The version of the queues at the last choice: as long as it stands, the choice does.
    seen: u64,
    current: Option<Current>,
}

/// The job a worker takes part in, and the cursor it cuts from.
struct Current {
    job: Arc<JobState>,
    cursor: usize,
    body: Arc<dyn MorselBody>,
    share: WorkerShare,
}

/// What a look around found.
enum Found {
    /// Another cursor of the job the worker is on.
    Same(usize),
    /// A job it has just joined.
    Other(Arc<JobState>, usize),
}

impl PoolWorker {
    pub(crate) fn new(shared: Arc<Shared>, me: usize, stops: Vec<Stop>) -> Self {
        Self { shared, me, stops, seen: 0, current: None }
    }

    /// The next morsel of the current job, if the choice still stands.
    fn proceed(&self) -> Option<Morsel> {
        let current = self.current.as_ref()?;
        if self.shared.signal.version() != self.seen {
            return None;
        }
        current.job.cut(current.cursor)
    }

    /// Looks around until there is a morsel or nothing to do.
    fn choose(&mut self) -> Option<Morsel> {
        loop {
            if self.current.as_ref().is_some_and(|it| it.job.is_over()) {
                self.leave();
            }
            self.seen = self.shared.signal.version();
            match self.look() {
                Some(Found::Same(cursor)) => {
                    let current = self.current.as_mut();
                    current.expect("invariant: same as the current one").cursor = cursor;
                }
                Some(Found::Other(job, cursor)) => {
                    self.leave();
                    let (body, share) = (job.body(), WorkerShare::new(self.id()));
                    self.current = Some(Current { job, cursor, body, share });
                }
                None => {
                    self.leave();
                    return None;
                }
            }
            // Others may have been faster; the dry entry goes at the next look, so this ends.
            let current = self.current.as_ref()?;
            if let Some(morsel) = current.job.cut(current.cursor) {
                return Some(morsel);
            }
        }
    }

    /// Goes round the stops and picks a job in the order of service.
    fn look(&self) -> Option<Found> {
        let mut ended = Vec::new();
        let mine = self.current.as_ref().map(|it| &it.job);
        let mut judge = |ticket: &Ticket| {
            let job = &ticket.job;
            if job.is_halted() {
                if job.participants.close_if_idle() {
                    ended.push(Arc::clone(job));
                }
                return Verdict::Remove;
            }
            if job.cursors.is_dry(ticket.cursor) {
                return Verdict::Remove;
            }
            if mine.is_some_and(|it| Arc::ptr_eq(it, job)) {
                return Verdict::Take(Found::Same(ticket.cursor));
            }
            match job.participants.join(job.max_workers) {
                Join::Joined => Verdict::Take(Found::Other(Arc::clone(job), ticket.cursor)),
                Join::Full => Verdict::Skip,
                Join::Closed => Verdict::Remove,
            }
        };
        let mut found = None;
        for stop in &self.stops {
            let queues = &self.shared.groups[stop.group].queues;
            if !queues.is_empty() {
                found = queues.pick(stop.hard, &mut judge);
                if found.is_some() {
                    break;
                }
            }
        }
        // Outside the lock: the end of a job takes it out of all queues.
        for job in &ended {
            self.shared.finish(job);
        }
        found
    }

    /// Leaves the current job, and ends it when this worker was the last one.
    fn leave(&mut self) {
        let Some(Current { job, body, share, .. }) = self.current.take() else { return };
        drop(body);
        job.account(&share);
        if job.participants.leave(|| job.is_over()) {
            self.shared.finish(&job);
        } else if job.max_workers < usize::MAX && !job.is_over() {
            // There is a free chair now, and those who found none may be parked.
            self.shared.signal.bump();
            self.shared.wake_for(&job);
        }
    }

    fn run(&mut self, morsel: Morsel) {
        let shared = &self.shared;
        let current =
            self.current.as_mut().expect("invariant: a morsel comes from the current job");
        let home = shared.groups[shared.layout.group_of[self.me]].place;
        let stolen = current.cursor != home && current.cursor != shared.anywhere();
        let context = MorselContext {
            slot: self.me,
            worker: current.share.worker,
            node: shared.layout.places[home].node,
            stolen,
        };
        let start = shared.machine.now();
        run_morsel(&current.job, current.body.as_ref(), &context, morsel);
        let busy = shared.machine.now() - start;
        current.share.add(&WorkerShare {
            worker: context.worker,
            morsels: 1,
            stolen: u64::from(stolen),
            busy,
        });
        shared.counters[self.me].ran(stolen, busy);
    }

    fn id(&self) -> WorkerId {
        WorkerId::from_index(self.me)
    }
}

impl Worker for PoolWorker {
    fn step(&mut self) -> Step {
        if self.shared.shutdown.load(Ordering::Acquire) {
            self.leave();
            self.shared.counters[self.me].set_state(WorkerState::Stopped);
            return Step::Stopped;
        }
        match self.proceed().or_else(|| self.choose()) {
            Some(morsel) => {
                self.shared.counters[self.me].set_state(WorkerState::Working);
                self.run(morsel);
                Step::Worked
            }
            None => {
                self.shared.counters[self.me].set_state(WorkerState::Free);
                Step::Idle
            }
        }
    }
}
