//! A worker's step: stay with the job while nothing more urgent came in, else look around; run one morsel.
//!
//! The clock is read once per step: the end of a morsel is the beginning of the next step, where it is also accounted.
//! So what a modelled machine charges for a step counts as its time, and a morsel costs one reading and not two.

use std::ops::Range;

use hardware::topology::Cpu;
use hardware::{CpuId, Step, Worker};
use stdx::Nanos;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;

use crate::affinity::{Affinity, Binding};
use crate::layout::Stop;
use crate::lifecycle::{JobState, Join};
use crate::morsel::{Morsel, MorselBody, MorselContext};
use crate::queue::Verdict;
use crate::report::WorkerId;
use crate::report::WorkerShare;
use crate::shared::{Shared, run_morsel};
use crate::sharing::COMPANIONS;
use crate::thread_group::Ticket;
use crate::trace::{Ran, TraceEvent};

/// A worker of the pool.
pub(crate) struct PoolWorker {
    shared: Arc<Shared>,
    me: usize,
    group: usize,
    seat: Cpu,
    stops: Vec<Stop>,
    confined: Confined,
    /// The version of the queues at the last choice: as long as it stands, the choice does.
    seen: u64,
    current: Option<Current>,
    /// The job that it serves for one morsel beside the current one, which reads the same ([`crate::sharing`]).
    guest: Option<Current>,
    /// The place of the morsel it cut last, among those that read the same.
    read: Option<u64>,
    /// Morsels of others since the last one of the current job.
    trips: usize,
    last: Option<Last>,
}

/// To which hardware threads the worker is confined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Confined {
    /// The one it was started on.
    Own,
    /// Those of its group.
    Group,
    /// None in particular.
    Free,
    /// Another thread takes its steps now.
    Unknown,
}

/// The job a worker takes part in, and the cursor it cuts from.
struct Current {
    job: Arc<JobState>,
    cursor: usize,
    /// Numbers of morsels that it has cut and not run.
    held: Range<u64>,
    body: Arc<dyn MorselBody>,
    share: WorkerShare,
}

impl Current {
    /// For a worker that has joined the job.
    fn new(job: Arc<JobState>, cursor: usize, worker: usize) -> Self {
        let share = WorkerShare::new(WorkerId::from_index(worker));
        let body = job.body();
        Self { job, cursor, held: 0..0, body, share }
    }
}

/// The morsel that ran in the last step.
struct Last {
    context: MorselContext,
    morsel: Morsel,
    start: Nanos,
    /// Where it began, for the trace.
    cpu: Option<CpuId>,
}

/// What a look around found.
enum Found {
    /// Another cursor of the job the worker is on.
    Same(usize),
    /// A job it has just joined.
    Other(Arc<JobState>, usize),
    /// It is the turn of a statement that it does not serve.
    Declined,
}

impl PoolWorker {
    pub(crate) fn new(shared: Arc<Shared>, me: usize, group: usize, seat: Cpu) -> Self {
        let stops = shared.layout.stops(group, me);
        Self {
            shared,
            me,
            group,
            seat,
            stops,
            confined: Confined::Own,
            seen: 0,
            current: None,
            guest: None,
            read: None,
            trips: 0,
            last: None,
        }
    }

    fn place(&self) -> usize {
        self.shared.groups[self.group].place
    }

    /// Whether rows of a cursor have their home elsewhere.
    fn is_foreign(&self, cursor: usize) -> bool {
        cursor != self.place() && cursor != self.shared.anywhere()
    }

    /// Whether the worker has to rest: who works when more run than there are hardware threads, who rests when as many do, and
    /// who was started for one that slept when none does.
    #[inline]
    fn is_surplus(&self) -> bool {
        let seats = &self.shared.groups[self.group].seats;
        let is_replaced = self.me >= self.shared.workers() && seats.all_awake();
        match &self.current {
            Some(current) => (is_replaced || seats.is_crowded()) && current.held.is_empty(),
            None => is_replaced || seats.is_full(),
        }
    }

    /// The next morsel of the current job, if the choice still stands. What was cut at once is run at once: between it
    /// only cancelling counts.
    #[inline]
    fn proceed(&mut self) -> Option<Morsel> {
        let current = self.current.as_mut()?;
        if !current.held.is_empty() {
            if current.job.is_halted() {
                current.job.drop_morsels();
                current.held = 0..0;
                return None;
            }
        } else if self.shared.signal.version() != self.seen {
            return None;
        } else if let Some(morsel) = self.turn_aside() {
            return Some(morsel);
        } else {
            self.cut();
        }
        self.take()
    }

    /// The next of the morsels that were cut.
    #[inline]
    fn take(&mut self) -> Option<Morsel> {
        let current = self.current.as_mut()?;
        let number = current.held.next()?;
        if current.job.company.is_some() {
            self.read = Some(current.job.cursors.place(current.cursor, number));
            self.trips = 0;
        }
        Some(current.job.cursors.morsel(current.cursor, number))
    }

    /// A morsel of another job that reads the same as the current one, if there is one that is better served now.
    #[inline]
    fn turn_aside(&mut self) -> Option<Morsel> {
        let current = self.current.as_ref()?;
        let group = current.job.company.as_ref().filter(|it| !it.is_alone())?;
        let is_lent = self.shared.counters[self.me].serves.is_lent();
        if self.trips >= COMPANIONS || self.is_foreign(current.cursor) || is_lent {
            return None;
        }
        let cursor = current.cursor;
        let workers = match self.shared.layout.places.get(cursor) {
            Some(place) => place.workers.len(),
            None => self.shared.workers(),
        };
        let job = group.next(&current.job, cursor, self.place(), self.read, workers)?;
        if !job.participants.join_as_guest() {
            return None;
        }
        let guest = Current::new(job, cursor, self.me);
        let Some(number) = guest.job.cut(cursor, 1).and_then(|mut it| it.next()) else {
            self.end_trip(guest);
            return None;
        };
        self.read = Some(guest.job.cursors.place(cursor, number));
        self.trips += 1;
        let morsel = guest.job.cursors.morsel(cursor, number);
        self.guest = Some(guest);
        Some(morsel)
    }

    fn end_trip(&self, guest: Current) {
        let Current { job, body, share, .. } = guest;
        drop(body);
        job.account(&share);
        if job.participants.leave_as_guest(|| job.is_over()) {
            self.shared.finish(&job);
        }
    }

    /// Cuts from the current cursor: several morsels when they are somebody else's.
    #[inline]
    fn cut(&mut self) {
        let Some(current) = self.current.as_ref() else { return };
        let foreign = self.is_foreign(current.cursor);
        let bulk = if foreign { current.job.terms.bulk() } else { 1 };
        let held = current.job.cut(current.cursor, bulk).unwrap_or(0..0);
        self.current.as_mut().expect("invariant: looked at above").held = held;
    }

    /// Looks around until there is a morsel or nothing to do.
    fn choose(&mut self) -> Option<Morsel> {
        loop {
            self.leave_if_due();
            self.seen = self.shared.signal.version();
            match self.look() {
                Some(Found::Same(cursor)) => {
                    let current = self.current.as_mut();
                    current.expect("invariant: same as the current one").cursor = cursor;
                }
                Some(Found::Other(job, cursor)) => {
                    let before = self.current.as_ref().and_then(|it| it.job.company.as_ref());
                    if !before.zip(job.company.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b)) {
                        self.read = None;
                    }
                    self.leave();
                    self.current = Some(Current::new(job, cursor, self.me));
                }
                Some(Found::Declined) => {
                    self.leave();
                    self.shared.counters[self.me].serves.decline();
                    return None;
                }
                None => {
                    self.leave();
                    return None;
                }
            }
            if let Some(morsel) = self.turn_aside() {
                return Some(morsel);
            }
            // Others may have been faster; the dry entry goes at the next look, so this ends.
            self.cut();
            if let Some(morsel) = self.take() {
                return Some(morsel);
            }
        }
    }

    /// Goes round the stops and picks a job in the order of service.
    fn look(&self) -> Option<Found> {
        let mut ended = Vec::new();
        let mine = self.current.as_ref().map(|it| &it.job);
        let place = self.place();
        let serves = &self.shared.counters[self.me].serves;
        let mut found = None;
        for stop in &self.stops {
            let queues = &self.shared.groups[stop.group].queues;
            if queues.is_empty() {
                continue;
            }
            let home = stop.reach == crate::StealingScope::None;
            found = queues.pick(home, |ticket: &Ticket| {
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
                if stop.reach > job.terms.scope() || !job.allows(place) {
                    return Verdict::Skip;
                }
                if mine.is_some_and(|it| Arc::ptr_eq(it, job)) {
                    return Verdict::Take(Found::Same(ticket.cursor));
                }
                let max = job.terms.max_workers();
                if !serves.includes(job.statement) {
                    let has_room = job.participants.count() < max;
                    return if has_room { Verdict::Take(Found::Declined) } else { Verdict::Skip };
                }
                match job.participants.join(max) {
                    Join::Joined => Verdict::Take(Found::Other(Arc::clone(job), ticket.cursor)),
                    Join::Full => Verdict::Skip,
                    Join::Closed => Verdict::Remove,
                }
            });
            if found.is_some() {
                break;
            }
        }
        // Outside the lock: the end of a job takes it out of all queues.
        for job in &ended {
            self.shared.finish(job);
        }
        found
    }

    /// Leaves a job that is over or that has more workers than it may have by now.
    fn leave_if_due(&mut self) {
        let Some(current) = &self.current else { return };
        if current.job.is_over() {
            self.leave();
        } else if current.job.participants.step_out(current.job.terms.max_workers()) {
            let current = self.current.take().expect("invariant: looked at above");
            current.job.account(&current.share);
        }
    }

    /// Leaves the current job, and ends it when this worker was the last one.
    fn leave(&mut self) {
        let Some(Current { job, body, share, held, .. }) = self.current.take() else { return };
        if !held.is_empty() {
            job.drop_morsels();
        }
        drop(body);
        job.account(&share);
        if job.participants.leave(|| job.is_over()) {
            self.shared.finish(&job);
        } else if job.terms.max_workers() < usize::MAX && !job.is_over() {
            // There is a free chair now, and those who found none may be parked.
            self.shared.signal.bump();
            self.shared.wake_for(&job);
        }
    }

    fn run(&mut self, morsel: Morsel, now: Nanos) {
        self.confine();
        let shared = &self.shared;
        let current = self.guest.as_ref().or(self.current.as_ref());
        let current = current.expect("invariant: a morsel is of a job that the worker is on");
        let context = MorselContext {
            slot: self.me,
            worker: current.share.worker,
            node: self.node(),
            stolen: self.is_foreign(current.cursor),
        };
        let cpu = if current.job.traced { shared.machine.running_cpu() } else { None };
        self.last = Some(Last { context, morsel, start: now, cpu });
        shared.groups[self.group].seats.begin(&shared.counters[self.me].state);
        run_morsel(&current.job, current.body.as_ref(), &context, morsel);
    }

    /// The node where the worker runs.
    fn node(&self) -> hardware::NodeId {
        let layout = &self.shared.layout;
        let cpu =
            if self.confined == Confined::Free { self.shared.machine.running_cpu() } else { None };
        let known = cpu.and_then(|it| layout.node_of_cpu.get(&it).copied());
        known.unwrap_or(self.seat.node)
    }

    /// Confines the worker as the job's binding policy wants it (P-HANA 5.1, P-SNC 2.6).
    #[inline]
    fn confine(&mut self) {
        let Some(current) = self.guest.as_ref().or(self.current.as_ref()) else { return };
        let terms = &current.job.terms;
        let has_node = current.cursor != self.shared.anywhere();
        let wanted = match terms.binding() {
            Binding::Always => Confined::Own,
            Binding::Preferred if has_node => Confined::Group,
            Binding::Opportunistic if has_node || terms.has_bound_kin() => Confined::Group,
            Binding::None | Binding::Preferred | Binding::Opportunistic => Confined::Free,
        };
        if wanted != self.confined {
            self.confined = wanted;
            match wanted {
                Confined::Own => self.shared.machine.confine(&[self.seat.id]),
                Confined::Group => {
                    self.shared.machine.confine(&self.shared.groups[self.group].cpus)
                }
                Confined::Free | Confined::Unknown => self.shared.machine.confine(&[]),
            }
        }
    }

    /// Accounts the morsel of the last step.
    fn settle(&mut self, now: Nanos) {
        let Some(Last { context, morsel, start, cpu }) = self.last.take() else { return };
        let Some(current) = self.guest.as_mut().or(self.current.as_mut()) else { return };
        let busy = now - start;
        let share = &mut current.share;
        (share.morsels, share.busy) = (share.morsels + 1, share.busy + busy);
        share.stolen += u64::from(context.stolen);
        let counters = &self.shared.counters[self.me];
        counters.ran(context.stolen, busy);
        self.shared.groups[self.group].seats.wake(&counters.state);
        let learns = current.job.terms.affinity() == Affinity::Adaptive && !context.stolen;
        if learns || current.job.traced {
            let job = Arc::clone(&current.job);
            let bytes = current.body.bytes_read(morsel, context.node);
            if job.traced {
                let home = self.shared.node_of_cursor(current.cursor);
                let cpus = (cpu, self.shared.machine.running_cpu());
                let ran = Ran { home, cpus, start, end: now };
                let event = TraceEvent::new(&job, &context, morsel, &bytes, ran);
                self.shared.rings[self.me].push(event);
            }
            if learns {
                let beside = current.body.bytes_beside(context.slot);
                self.learn(&job, bytes.iter().map(|it| it.1).sum::<u64>() + beside, busy);
            }
        }
        if let Some(guest) = self.guest.take() {
            self.end_trip(guest);
        }
    }

    /// Adds a morsel to what is known of an adaptive job, and lets others steal when that shows it to be bound by cores.
    fn learn(&self, job: &JobState, bytes: u64, busy: Nanos) {
        let place = self.place();
        let workers = self.shared.layout.places[place].workers.len();
        let bandwidth = self.shared.bandwidths[place].load(Ordering::Relaxed);
        if job.learn(bytes, busy, workers, bandwidth) {
            self.shared.rearrange(job);
            self.shared.signal.bump();
            self.shared.wake_for(job);
        }
    }
}

impl Worker for PoolWorker {
    fn step(&mut self) -> Step {
        let mut now = None;
        if self.last.is_some() {
            let read = self.shared.machine.now();
            self.settle(read);
            now = Some(read);
        }
        if self.shared.is_shut_down() {
            self.leave();
            self.shared.groups[self.group].seats.stop(&self.shared.counters[self.me].state);
            return Step::Stopped;
        }
        let morsel = match self.is_surplus() {
            true => None,
            false => self.proceed().or_else(|| self.choose()),
        };
        let Some(morsel) = morsel else {
            self.leave();
            self.shared.groups[self.group].seats.end(&self.shared.counters[self.me].state);
            return Step::Idle;
        };
        let now = now.unwrap_or_else(|| self.shared.machine.now());
        self.run(morsel, now);
        Step::Worked
    }

    fn moved(&mut self) {
        self.confined = Confined::Unknown;
    }
}
