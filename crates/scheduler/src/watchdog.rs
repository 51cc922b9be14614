//! The watchdog (P-HANA 5.1): a worker that runs no morsels and sees to it that the others can.
//!
//! It looks at all groups every few milliseconds while jobs are under way, and rarely while none are. A group with tasks
//! and too few workers at work gets workers woken; when there is none to wake because they sleep in their morsels, it
//! gets a new one. When a saturated group has more tasks than workers, free workers of other groups are woken that may
//! steal them. It also marks statements whose time is up, and ends cancelled jobs that stand behind others in the queues,
//! so a statement ends within its look and one morsel.

use std::collections::BTreeSet;

use hardware::{Step, Worker, WorkerSpec, WorkerTeam};
use stdx::Nanos;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};

use crate::shared::Shared;
use crate::thread_group::WorkerState;
use crate::worker::PoolWorker;

/// Between two looks while jobs are under way. Two looks must find a worker asleep in the same morsel.
const BUSY_PERIOD: Nanos = Nanos(5_000_000);
/// Between two looks while there are none.
const IDLE_PERIOD: Nanos = Nanos(50_000_000);

fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// The watchdog of a pool.
pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    /// For each worker the morsels it had run when it was last found asleep in one.
    asleep: Vec<Option<u64>>,
}

impl Watchdog {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let asleep = vec![None; shared.counters.len()];
        Self { shared, asleep }
    }

    /// Looks once; tells whether it did something that others can notice.
    fn look(&mut self, team: &dyn WorkerTeam) -> bool {
        let shared = Arc::clone(&self.shared);
        count(&shared.watch.looks, 1);
        let ended = shared.alarms.fire(shared.machine.now());
        count(&shared.watch.timeouts, ended);
        if let Some(guard) = &*shared.guard.read() {
            guard();
        }
        if shared.running.lock().is_empty() {
            return ended > 0;
        }
        shared.reap_all();
        self.find_sleepers(team);
        let mut started = false;
        for (at, group) in shared.groups.iter().enumerate() {
            if !shared.has_tasks_for(at, group.place) {
                continue;
            }
            if group.seats.is_full() {
                self.call_thieves(team, at);
            } else {
                started |= self.call_workers(team, at);
            }
        }
        ended > 0 || started
    }

    /// Marks workers that sleep in the morsel in which they slept at the last look.
    fn find_sleepers(&mut self, team: &dyn WorkerTeam) {
        let shared = Arc::clone(&self.shared);
        for worker in self.all_workers() {
            let counters = &shared.counters[worker];
            let asleep = counters.state.get() == WorkerState::Working
                && team.is_blocked(shared.team_index(worker));
            let morsels = asleep.then(|| counters.read().0);
            if asleep && self.asleep[worker] == morsels {
                let group = self.group_of(worker);
                if shared.groups[group].seats.sleeps(&counters.state) {
                    count(&shared.watch.found_asleep, 1);
                }
            }
            self.asleep[worker] = morsels;
        }
    }

    /// Wakes workers of a group with tasks and too few at work, or starts one; true when it started one.
    fn call_workers(&self, team: &dyn WorkerTeam, group: usize) -> bool {
        let shared = &self.shared;
        let members: Vec<usize> =
            self.all_workers().filter(|&it| self.group_of(it) == group).collect();
        let resting = |it: &&usize| shared.counters[**it].state.rests();
        let resting: Vec<usize> =
            members.iter().filter(resting).map(|&it| shared.team_index(it)).collect();
        let seats = &shared.groups[group].seats;
        let missing = seats.contexts.saturating_sub(seats.running());
        if !resting.is_empty() {
            count(&shared.watch.woken, 1);
            team.wake(&resting, missing.min(resting.len()));
            return false;
        }
        missing > 0 && self.start_worker(team, group)
    }

    /// Starts a worker in a group, as long as there is room for one.
    fn start_worker(&self, team: &dyn WorkerTeam, group: usize) -> bool {
        let shared = &self.shared;
        let mut extras = shared.extras.lock();
        let me = shared.workers() + extras.len();
        if me == shared.counters.len() {
            return false;
        }
        let cpus = &shared.groups[group].cpus;
        let seats = &shared.layout.seats;
        let cpu = cpus[extras.len() % cpus.len()];
        let seat = seats.iter().find(|it| it.id == cpu).expect("invariant: a group has its seats");
        let spec = WorkerSpec {
            cpu,
            name: format!("nw-{me}"),
            body: Box::new(PoolWorker::new(Arc::clone(shared), me, group, seat.clone())),
        };
        shared.groups[group].seats.sit_down(&shared.counters[me].state);
        // The worker must find its group, so it is noted first. The watchdog alone starts workers.
        extras.push(group);
        let added = team.add(spec);
        if added != Ok(shared.team_index(me)) {
            extras.pop();
            shared.groups[group].seats.stop(&shared.counters[me].state);
            return false;
        }
        count(&shared.watch.started, 1);
        true
    }

    /// Wakes free workers of other groups that may steal from a saturated one, nearest first.
    fn call_thieves(&self, team: &dyn WorkerTeam, group: usize) {
        let shared = &self.shared;
        let home = shared.groups[group].place;
        let mut seen = BTreeSet::from([group]);
        for &place in &shared.layout.places[home].nearest {
            for &other in &shared.layout.places[place].groups {
                let thieves = &shared.groups[other];
                let idle =
                    seen.insert(other) && thieves.seats.free() > 0 && !thieves.seats.is_full();
                if idle && shared.has_tasks_for(group, place) {
                    count(&shared.watch.woken_to_steal, 1);
                    team.wake(&thieves.workers, 1);
                }
            }
        }
    }

    fn all_workers(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.shared.workers() + self.shared.extras.lock().len()
    }

    fn group_of(&self, worker: usize) -> usize {
        let shared = &self.shared;
        let fixed = shared.layout.group_of.get(worker).copied();
        fixed.unwrap_or_else(|| shared.extras.lock()[worker - shared.workers()])
    }

    /// Until the next look.
    fn pause(&self) -> Nanos {
        let idle = self.shared.running.lock().is_empty();
        let period = if idle { IDLE_PERIOD } else { BUSY_PERIOD };
        match self.shared.alarms.next() {
            Some(at) => period.min(at - self.shared.machine.now()),
            None => period,
        }
    }
}

impl Worker for Watchdog {
    fn step(&mut self) -> Step {
        if self.shared.is_shut_down() {
            return Step::Stopped;
        }
        // The first looks may come before the team is known.
        let Some(team) = self.shared.signal.team() else { return Step::Rest(BUSY_PERIOD) };
        match self.look(&*team) {
            true => Step::Worked,
            false => Step::Rest(self.pause()),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    use hardware::{MachineError, NodeId, samples};
    use simulator::SimulatedMachine;
    use stdx::parking::Bell;
    use stdx::sync::Mutex;

    use crate::{
        Affinity, Morsel, MorselBody, MorselContext, MorselRange, PipelineJob, Scheduler,
        SchedulerOptions,
    };

    /// A team that only notes what is asked of it.
    #[derive(Default)]
    struct Noting {
        asleep: Mutex<BTreeSet<usize>>,
        woken: Mutex<Vec<(Vec<usize>, usize)>>,
        added: Mutex<Vec<String>>,
        first: usize,
    }

    impl WorkerTeam for Noting {
        fn wake(&self, preferred: &[usize], count: usize) {
            self.woken.lock().push((preferred.to_vec(), count));
        }
        fn nudge(&self, _: usize) {}
        fn add(&self, worker: WorkerSpec) -> Result<usize, MachineError> {
            self.added.lock().push(worker.name);
            Ok(self.first + self.added.lock().len() - 1)
        }
        fn is_blocked(&self, worker: usize) -> bool {
            self.asleep.lock().contains(&worker)
        }
        fn wait_until(&self, _: &dyn Fn() -> bool) {}
        fn wait_on(&self, _: &Bell, _: &dyn Fn() -> bool) {}
        fn notify(&self) {}
        fn join(&self) {}
    }

    struct Nothing;
    impl MorselBody for Nothing {
        fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    /// A pool on the ring (four nodes, two workers each here), a watchdog of our own, and a team that notes.
    fn pool() -> (Arc<Scheduler>, Watchdog, Noting) {
        let machine = SimulatedMachine::new(samples::by_name("ring").unwrap(), 1);
        let options = SchedulerOptions { workers: Some(8), ..SchedulerOptions::default() };
        let scheduler = Scheduler::start(machine, options).unwrap();
        let watchdog = Watchdog::new(Arc::clone(&scheduler.shared));
        (scheduler, watchdog, Noting { first: 9, ..Noting::default() })
    }

    fn submit(scheduler: &Scheduler, node: u16, affinity: Affinity) {
        let range = MorselRange { node: Some(NodeId(node)), start: 0, end: 100 };
        let mut job = PipelineJob::new(vec![range], 1, Arc::new(Nothing));
        job.affinity = affinity;
        scheduler.submit(job);
    }

    fn begin(scheduler: &Scheduler, worker: usize) {
        let shared = &scheduler.shared;
        let group = shared.layout.group_of[worker];
        shared.groups[group].seats.begin(&shared.counters[worker].state);
    }

    #[test]
    fn free_workers_of_a_group_with_tasks_are_woken() {
        let (scheduler, mut watchdog, team) = pool();
        assert!(!watchdog.look(&team));
        assert_eq!(*team.woken.lock(), []);
        submit(&scheduler, 1, Affinity::Hard);
        watchdog.look(&team);
        assert_eq!(*team.woken.lock(), [(vec![2, 3], 2)]);
        begin(&scheduler, 3);
        watchdog.look(&team);
        assert_eq!(team.woken.lock()[1], (vec![2], 1));
        assert_eq!(scheduler.stats().watchdog.woken, 2);
    }

    #[test]
    fn who_sleeps_in_a_morsel_for_two_looks_is_replaced() {
        let (scheduler, mut watchdog, team) = pool();
        submit(&scheduler, 0, Affinity::Hard);
        (0..2).for_each(|it| begin(&scheduler, it));
        team.asleep.lock().extend([0, 1]);
        watchdog.look(&team);
        assert_eq!(*team.added.lock(), [""; 0], "one look is not enough");
        assert!(watchdog.look(&team));
        let state = |worker: usize| scheduler.stats().workers[worker].state;
        assert_eq!((state(0), state(1)), (WorkerState::Inactive, WorkerState::Inactive));
        assert_eq!(*team.added.lock(), ["nw-8"]);
        assert!(scheduler.stats().workers[8].extra && state(8) == WorkerState::Parked);
        assert_eq!(scheduler.stats().workers[8].node, NodeId(0));
        // The new one has not begun yet: it is woken and not doubled.
        assert!(!watchdog.look(&team));
        assert_eq!(team.woken.lock().last(), Some(&(vec![9], 1)));
        let stats = scheduler.stats().watchdog;
        assert_eq!((stats.found_asleep, stats.started), (2, 1));
        // Asleep between two different morsels is no sleep in one.
        submit(&scheduler, 2, Affinity::Hard);
        begin(&scheduler, 4);
        team.asleep.lock().insert(4);
        watchdog.look(&team);
        scheduler.shared.counters[4].ran(false, Nanos(1));
        watchdog.look(&team);
        assert_eq!(state(4), WorkerState::Working);
    }

    #[test]
    fn a_saturated_group_gets_thieves_unless_its_tasks_are_hard() {
        for (affinity, expected) in [(Affinity::Hard, vec![]), (Affinity::Soft, vec![1, 3, 2])] {
            let (scheduler, mut watchdog, team) = pool();
            submit(&scheduler, 0, affinity);
            (0..2).for_each(|it| begin(&scheduler, it));
            watchdog.look(&team);
            let woken = team.woken.lock().iter().map(|it| it.0[0] / 2).collect::<Vec<_>>();
            assert_eq!(woken, expected, "nearest first");
        }
    }
}
