//! What workers, watchdog and clients of a scheduler share.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hardware::{Machine, NodeId};
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Apart, Arc, Mutex, RwLock};

use crate::affinity::StealingScope;
use crate::alarm::Alarms;
use crate::cancel::Signal;
use crate::layout::Layout;
use crate::lifecycle::JobState;
use crate::morsel::{Morsel, MorselBody, MorselContext};
use crate::report::JobId;
use crate::sharing::ScanGroups;
use crate::stats::Counters;
use crate::stats::WatchCounters;
use crate::thread_group::{ThreadGroup, Ticket};
use crate::trace::TraceRing;

/// What the watchdog calls at each look.
pub(crate) type Guard = Box<dyn Fn() + Send + Sync>;

/// The common state.
#[repr(align(128))]
pub(crate) struct Shared {
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) layout: Layout,
    /// How far workers steal from jobs that do not say.
    pub(crate) scope: StealingScope,
    pub(crate) groups: Vec<ThreadGroup>,
    pub(crate) signal: Arc<Signal>,
    /// Of the workers, then of those that the watchdog may start.
    pub(crate) counters: Vec<Counters>,
    /// The groups of workers that the watchdog started.
    pub(crate) extras: Mutex<Vec<usize>>,
    /// Of all slots.
    pub(crate) rings: Vec<TraceRing>,
    /// Jobs under way, for the views.
    pub(crate) running: Mutex<BTreeMap<JobId, Arc<JobState>>>,
    /// Jobs under way that read the same.
    pub(crate) scans: ScanGroups,
    /// Bandwidth by place, in MB/s.
    pub(crate) bandwidths: Vec<AtomicU64>,
    pub(crate) alarms: Alarms,
    pub(crate) guard: RwLock<Option<Guard>>,
    pub(crate) watch: WatchCounters,
    pub(crate) submitted: Apart<AtomicU64>,
    pub(crate) shutdown: AtomicBool,
}

impl Shared {
    /// The cursor of ranges that are at home everywhere.
    pub(crate) fn anywhere(&self) -> usize {
        self.layout.places.len()
    }

    /// The node that the ranges of a cursor are at home on; `None` for those at home everywhere.
    pub(crate) fn node_of_cursor(&self, cursor: usize) -> Option<NodeId> {
        self.layout.places.get(cursor).map(|it| it.node)
    }

    /// Workers that were started with the scheduler.
    pub(crate) fn workers(&self) -> usize {
        self.layout.seats.len()
    }

    /// The index of a worker in its team: the watchdog sits between the first ones and those it starts.
    pub(crate) fn team_index(&self, worker: usize) -> usize {
        if worker < self.workers() { worker } else { worker + 1 }
    }

    /// The index of the watchdog in the team.
    pub(crate) fn watchdog_index(&self) -> usize {
        self.workers()
    }

    /// Puts a job that waits for nothing any more into its queues.
    pub(crate) fn enqueue(&self, job: &Arc<JobState>) {
        if job.is_finished() {
            return;
        }
        if job.is_over() {
            if job.participants.close_if_idle() {
                self.finish(job);
            }
            return;
        }
        let priority = job.priority();
        for &(group, cursor) in &job.tickets {
            let hard = self.is_hard(job, cursor);
            self.groups[group].queues.insert(
                priority,
                hard,
                Ticket { job: Arc::clone(job), cursor },
            );
        }
        self.signal.bump();
        self.wake_for(job);
    }

    /// Whether a cursor of a job belongs into the queue of hard tasks.
    fn is_hard(&self, job: &JobState, cursor: usize) -> bool {
        cursor != self.anywhere() && job.terms.is_hard()
    }

    /// Moves the tickets of a job whose terms have changed to where they belong now.
    pub(crate) fn rearrange(&self, job: &JobState) {
        let mut groups: Vec<usize> = job.tickets.iter().map(|it| it.0).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            self.groups[group]
                .queues
                .rearrange(|it| (it.job.priority(), self.is_hard(&it.job, it.cursor)));
        }
    }

    /// Ends a job; by the one who closed it. Jobs that waited for it start, or end with it.
    pub(crate) fn finish(&self, job: &Arc<JobState>) {
        let mut ended = vec![Arc::clone(job)];
        while let Some(job) = ended.pop() {
            job.release(self.machine.now());
            for &(group, _) in &job.tickets {
                self.groups[group].queues.remove(|it| Arc::ptr_eq(&it.job, &job));
            }
            self.running.lock().remove(&job.id);
            if let Some(group) = &job.company {
                self.scans.leave(group, &job);
            }
            let dependents = job.take_dependents();
            let failed = job.has_failed();
            job.set_finished();
            job.cancel.ring();
            self.signal.notify();
            for dependent in dependents {
                if failed {
                    dependent.abandon();
                }
                if dependent.one_less() {
                    if !dependent.is_over() {
                        self.enqueue(&dependent);
                    } else if dependent.participants.close_if_idle() {
                        ended.push(dependent);
                    }
                }
            }
        }
    }

    /// Ends the jobs whose mark is set and on which nobody works: those that wait behind others are looked at by no worker.
    pub(crate) fn reap_all(&self) {
        let running: Vec<Arc<JobState>> = self.running.lock().values().cloned().collect();
        for job in running.iter().filter(|it| it.cancel.is_cancelled()) {
            self.reap(job);
        }
    }

    /// Ends a job that was cancelled before anybody took part. Says whether the job is finished.
    pub(crate) fn reap(&self, job: &Arc<JobState>) -> bool {
        if job.is_finished() {
            return true;
        }
        if job.is_halted() && job.participants.close_if_idle() {
            self.finish(job);
            return true;
        }
        false
    }

    /// Wakes as many workers as a job has morsels left, those of its homes first.
    pub(crate) fn wake_for(&self, job: &JobState) {
        let Some(team) = self.signal.team() else { return };
        // A hard job needs a worker of each home awake even when they will have to take turns.
        let stays = job.terms.is_hard() || job.terms.scope() == StealingScope::None;
        let workers = self.workers();
        // The worker that its own statement has borrowed needs not be woken, and takes a chair and a morsel.
        let borrowed = (0..workers).find(|&it| self.counters[it].serves.is_lent_to(job.statement));
        let borrowed = borrowed.map(|it| self.layout.seats[it].node);
        let most = job.terms.max_workers().min(workers) - usize::from(borrowed.is_some());
        let (mut woken, mut total) = (0, 0_u64);
        for (place, home) in self.layout.places.iter().enumerate() {
            let left = job.cursors.left(place);
            let left = left.saturating_sub(u64::from(borrowed == Some(home.node)));
            if left == 0 {
                continue;
            }
            // At each home as many as may take part: at another one they may all be busy for long.
            let mut count = home.workers.len().min(small(left));
            if !stays {
                count = count.min(most);
            }
            // Those who work look for themselves when they are through.
            let rests = |it: &Counters| it.state.rests() && !it.serves.is_lent();
            let resting = home.workers.iter().filter(|&&it| rests(&self.counters[it]));
            let count = count.min(resting.count());
            if count > 0 {
                team.wake(&home.workers, count);
                woken += count;
            }
            total += left - count as u64;
        }
        let anywhere = job.cursors.left(self.anywhere());
        let rest = if stays { anywhere } else { total + anywhere };
        let budget = if stays { workers } else { most }.saturating_sub(woken);
        let count = budget.min(small(rest));
        if count > 0 {
            team.wake(&self.takers(job, anywhere > 0), count);
        }
    }

    /// The workers who may take what is left for more than the home's own; none in particular when all may.
    fn takers(&self, job: &JobState, anywhere: bool) -> Vec<usize> {
        let scope = job.terms.scope();
        if job.places.is_none() && (anywhere || scope == StealingScope::All) {
            return Vec::new();
        }
        let places = 0..self.layout.places.len();
        let homes: Vec<usize> = places.clone().filter(|&it| job.cursors.left(it) > 0).collect();
        let near = |place: &usize| homes.iter().any(|&home| self.reach(*place, home) <= scope);
        let may = places.filter(|it| job.allows(*it) && (anywhere || near(it)));
        may.flat_map(|it| self.layout.places[it].workers.iter().copied()).collect()
    }

    /// Whether a worker of `place` would find something in a group's queues.
    pub(crate) fn has_tasks_for(&self, group: usize, place: usize) -> bool {
        let home = self.groups[group].place;
        let reach = self.reach(place, home);
        self.groups[group].queues.any(|ticket| {
            let job = &ticket.job;
            let near = reach == StealingScope::None;
            let allowed = near || (!job.terms.is_hard() && reach <= job.terms.scope());
            let room = job.participants.count() < job.terms.max_workers();
            allowed && room && job.allows(place) && !job.cursors.is_dry(ticket.cursor)
        })
    }

    /// Whether a worker would find something anywhere.
    pub(crate) fn has_work_for(&self, worker: usize) -> bool {
        let place = self.groups[self.layout.group_of[worker]].place;
        (0..self.groups.len()).any(|group| self.has_tasks_for(group, place))
    }

    /// How far it is from a place to another.
    fn reach(&self, from: usize, to: usize) -> StealingScope {
        let places = &self.layout.places;
        match (from == to, places[from].socket == places[to].socket) {
            (true, _) => StealingScope::None,
            (false, true) => StealingScope::Socket,
            (false, false) => StealingScope::All,
        }
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.shutdown.load(Ordering::Acquire)
    }
}

/// A count of morsels as a count of workers.
fn small(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Runs a body on one morsel; a panic or a `Break` ends the job.
pub(crate) fn run_morsel(
    job: &JobState,
    body: &dyn MorselBody,
    context: &MorselContext,
    morsel: Morsel,
) {
    match catch_unwind(AssertUnwindSafe(|| body.run(context, morsel))) {
        Ok(ControlFlow::Continue(())) => {}
        Ok(ControlFlow::Break(())) => job.stop(),
        Err(payload) => job.panicked(message_of(payload.as_ref())),
    }
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}
