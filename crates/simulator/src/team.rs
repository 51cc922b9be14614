//! The seeded interleaving: one runnable worker after another takes a step, on the thread of whoever waits.

use hardware::{MachineError, Step, WorkerSpec, WorkerTeam};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, thread};

use crate::schedule::Schedule;
use crate::stage::{Bodies, NAPS_MAX, Stage};

/// Not at rest.
const AWAKE: u64 = u64::MAX;

/// Workers of one `start`.
pub(crate) struct SimulatedTeam {
    schedule: Arc<Schedule>,
    stage: Stage,
    /// Workers ever, with the newcomers.
    count: AtomicUsize,
    parked: Vec<AtomicBool>,
    stopped: Vec<AtomicBool>,
    /// Whose steps a client takes.
    lent: Vec<AtomicBool>,
    /// Virtual time at which a rest ends, or [`AWAKE`].
    rests: Vec<AtomicU64>,
    /// Counts calls of `wake`: a worker that was idle while one came in looks again before it parks.
    wakes: AtomicU64,
}

impl SimulatedTeam {
    pub(crate) fn new(schedule: Arc<Schedule>, workers: Vec<WorkerSpec>) -> Self {
        let room = Stage::room(workers.len());
        let flags = || (0..room).map(|_| AtomicBool::new(false)).collect();
        let (parked, stopped, lent) = (flags(), flags(), flags());
        Self {
            count: AtomicUsize::new(workers.len()),
            stage: Stage::new(schedule.seed, workers),
            schedule,
            parked,
            stopped,
            lent,
            rests: (0..room).map(|_| AtomicU64::new(AWAKE)).collect(),
            wakes: AtomicU64::new(0),
        }
    }

    fn drive(&self) -> Driver<'_> {
        Driver { team: self, bodies: self.stage.take(), runnable: Vec::new(), borrowed: None }
    }

    /// Lets time pass until the first rest ends; says whether anyone rests.
    fn sleep_on(&self) -> bool {
        let first = self.rests.iter().map(|it| it.load(Ordering::SeqCst)).min();
        let Some(first) = first.filter(|&it| it != AWAKE) else { return false };
        self.schedule.advance(Nanos(first) - self.schedule.clock());
        true
    }

    /// Unparks everyone; says whether anyone was parked.
    fn wake_all(&self) -> bool {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        self.parked.iter().fold(false, |any, it| it.swap(false, Ordering::SeqCst) | any)
    }
}

impl WorkerTeam for SimulatedTeam {
    fn wake(&self, preferred: &[usize], count: usize) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        let others = 0..self.count.load(Ordering::SeqCst);
        let mut left = count;
        for index in preferred.iter().copied().chain(others) {
            if left == 0 {
                return;
            }
            if self.parked[index].swap(false, Ordering::SeqCst) {
                left -= 1;
            }
        }
    }

    fn nudge(&self, worker: usize) {
        self.rests[worker].store(AWAKE, Ordering::SeqCst);
    }

    fn add(&self, worker: WorkerSpec) -> Result<usize, MachineError> {
        let more = |it| (it < self.rests.len()).then_some(it + 1);
        let index = self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        let index = index.map_err(Stage::full)?;
        self.stage.add(worker.body);
        Ok(index)
    }

    fn is_blocked(&self, _: usize) -> bool {
        // One thread takes all steps, so whoever is asked about is between two of them.
        false
    }

    fn wait_until(&self, done: &dyn Fn() -> bool) {
        if done() {
            return;
        }
        let mut driver = self.drive();
        let (mut rechecked, mut naps) = (false, 0);
        while !done() {
            match driver.step() {
                Some((_, Step::Worked)) => (rechecked, naps) = (false, 0),
                Some((_, Step::Idle | Step::Stopped | Step::Rest(_))) => {}
                None if self.lent.iter().any(|it| it.load(Ordering::SeqCst)) => {
                    // Another client has borrowed a worker and takes its steps, or gives it back.
                    drop(driver);
                    thread::yield_now();
                    driver = self.drive();
                }
                None if !rechecked && self.wake_all() => rechecked = true,
                None if naps < NAPS_MAX && self.sleep_on() => naps += 1,
                None => self.stage.lost_task(),
            }
        }
    }

    fn borrow(&self, workers: usize) -> Option<usize> {
        // A worker of a team that somebody drives may be in a step.
        let mut bodies = self.stage.try_take()?;
        let may = |it: &usize| self.parked[*it].load(Ordering::SeqCst);
        let resting: Vec<usize> = (0..workers).filter(may).collect();
        let worker = *resting.get(self.schedule.choose(resting.len() + 1))?;
        self.parked[worker].store(false, Ordering::SeqCst);
        self.lent[worker].store(true, Ordering::SeqCst);
        bodies.all()[worker].moved();
        Some(worker)
    }

    fn work_until(&self, worker: usize, done: &dyn Fn() -> bool) -> bool {
        let mut driver = self.drive();
        driver.borrowed = Some(worker);
        while !done() {
            // The others take steps between those of the borrowed one, until that finds nothing.
            match driver.step() {
                Some((it, Step::Idle | Step::Stopped | Step::Rest(_))) if it == worker => {
                    return done();
                }
                Some(_) => {}
                None => return done(),
            }
        }
        true
    }

    fn give_back(&self, worker: usize, rests: &dyn Fn() -> bool) {
        let mut driver = self.drive();
        driver.bodies.all()[worker].moved();
        let wakes = self.wakes.load(Ordering::SeqCst);
        self.lent[worker].store(false, Ordering::SeqCst);
        self.parked[worker].store(true, Ordering::SeqCst);
        if !rests() || self.wakes.load(Ordering::SeqCst) != wakes {
            self.parked[worker].store(false, Ordering::SeqCst);
        }
    }

    fn notify(&self) {}

    fn join(&self) {
        // The last owner of a scheduler may be a worker: it cannot wait for itself.
        if self.stage.is_mine() {
            return;
        }
        let mut driver = self.drive();
        self.wake_all();
        while driver.step().is_some() || self.sleep_on() {}
    }
}

/// The right to step the workers.
struct Driver<'a> {
    team: &'a SimulatedTeam,
    bodies: Bodies<'a>,
    runnable: Vec<usize>,
    /// The worker that the driving client has borrowed.
    borrowed: Option<usize>,
}

impl Driver<'_> {
    /// Lets one worker that may run take a step, and tells which; `None` when there is none.
    fn step(&mut self) -> Option<(usize, Step)> {
        let team = self.team;
        let workers = self.bodies.all().len();
        let now = team.schedule.clock().0;
        let may_run = |it: &usize| {
            let rest = team.rests[*it].load(Ordering::SeqCst);
            !team.parked[*it].load(Ordering::SeqCst)
                && !team.stopped[*it].load(Ordering::SeqCst)
                && (!team.lent[*it].load(Ordering::SeqCst) || self.borrowed == Some(*it))
                && (rest == AWAKE || rest <= now)
        };
        self.runnable.clear();
        self.runnable.extend((0..workers).filter(may_run));
        if self.runnable.is_empty() {
            return None;
        }
        let worker = self.runnable[team.schedule.choose(self.runnable.len())];
        let wakes = team.wakes.load(Ordering::SeqCst);
        team.rests[worker].store(AWAKE, Ordering::SeqCst);
        let outcome = self.bodies.all()[worker].step();
        team.schedule.record(worker, outcome);
        match outcome {
            Step::Worked => {}
            Step::Stopped => team.stopped[worker].store(true, Ordering::SeqCst),
            Step::Rest(span) => {
                let end = team.schedule.clock().0.saturating_add(span.0);
                team.rests[worker].store(end.min(AWAKE - 1), Ordering::SeqCst);
            }
            // Who has borrowed it gives it back then.
            Step::Idle if self.borrowed == Some(worker) => {}
            Step::Idle => {
                team.parked[worker].store(true, Ordering::SeqCst);
                if team.wakes.load(Ordering::SeqCst) != wakes {
                    team.parked[worker].store(false, Ordering::SeqCst);
                }
            }
        }
        Some((worker, outcome))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use hardware::{CpuId, Worker};

    /// Works while there is work in the pot, then is idle.
    struct Digger(Arc<AtomicU64>, Arc<AtomicBool>);

    impl Worker for Digger {
        fn step(&mut self) -> Step {
            if self.1.load(Ordering::SeqCst) {
                return Step::Stopped;
            }
            let took =
                self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1));
            if took.is_ok() { Step::Worked } else { Step::Idle }
        }
    }

    fn team(seed: u64, workers: u32) -> (SimulatedTeam, Arc<AtomicU64>, Arc<AtomicBool>) {
        let (pot, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let spec = |it| WorkerSpec {
            cpu: CpuId(it),
            name: format!("nw-{it}"),
            body: Box::new(Digger(Arc::clone(&pot), Arc::clone(&stop))) as Box<dyn Worker>,
        };
        let specs = (0..workers).map(spec).collect();
        (SimulatedTeam::new(Arc::new(Schedule::new(seed)), specs), pot, stop)
    }

    #[test]
    fn a_seed_repeats_its_schedule_and_another_does_not() {
        let log = |seed| {
            let (team, pot, _) = team(seed, 4);
            pot.store(50, Ordering::SeqCst);
            team.wait_until(&|| pot.load(Ordering::SeqCst) == 0);
            team.schedule.log()
        };
        assert_eq!(log(7), log(7));
        assert_ne!(log(7), log(8));
        assert_eq!(log(7).len(), 50);
    }

    #[test]
    fn idle_workers_park_until_woken_and_the_preferred_ones_wake_first() {
        let (team, pot, _) = team(1, 4);
        pot.store(1, Ordering::SeqCst);
        let parked = || team.parked.iter().filter(|it| it.load(Ordering::SeqCst)).count();
        team.wait_until(&|| parked() == 4);
        team.wake(&[2], 1);
        assert!(!team.parked[2].load(Ordering::SeqCst));
        assert_eq!(parked(), 3);
        team.wake(&[2], 1);
        assert_eq!(parked(), 2, "an awake one does not count");
        pot.store(3, Ordering::SeqCst);
        team.wait_until(&|| pot.load(Ordering::SeqCst) == 0);
        let woken = team.schedule.log().into_iter().rev().take(3);
        assert!(woken.map(|it| it.0).all(|it| it == 2 || it == 0));
    }

    #[test]
    fn work_without_a_wake_is_found_by_the_re_check() {
        let (team, pot, _) = team(5, 3);
        team.wait_until(&|| team.parked[..3].iter().all(|it| it.load(Ordering::SeqCst)));
        pot.store(1, Ordering::SeqCst);
        team.wait_until(&|| pot.load(Ordering::SeqCst) == 0);
    }

    #[test]
    fn a_lost_task_panics_with_its_seed() {
        let (team, _, stop) = team(4711, 2);
        let lost = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            team.wait_until(&|| false);
        }));
        let message = lost.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("lost task") && message.contains("4711"), "{message}");
        stop.store(true, Ordering::SeqCst);
        team.join();
        assert!(team.stopped[..2].iter().all(|it| it.load(Ordering::SeqCst)));
    }

    #[test]
    fn a_rest_ends_by_time_or_nudge_and_added_workers_take_part() {
        struct Sleeper(Arc<AtomicU64>);
        impl Worker for Sleeper {
            fn step(&mut self) -> Step {
                self.0.fetch_add(1, Ordering::SeqCst);
                Step::Rest(Nanos(1_000_000_000))
            }
        }
        let (team, pot, _) = team(9, 1);
        let looks = Arc::new(AtomicU64::new(0));
        let spec = |body| WorkerSpec { cpu: CpuId(0), name: "watch".to_owned(), body };
        assert_eq!(team.add(spec(Box::new(Sleeper(looks.clone())))).unwrap(), 1);
        team.wait_until(&|| looks.load(Ordering::SeqCst) == 1);
        pot.store(20, Ordering::SeqCst);
        team.wait_until(&|| pot.load(Ordering::SeqCst) == 0);
        assert_eq!(looks.load(Ordering::SeqCst), 1, "a second is longer than 20 steps");
        team.nudge(1);
        pot.store(200, Ordering::SeqCst);
        team.wait_until(&|| pot.load(Ordering::SeqCst) == 0);
        assert_eq!(looks.load(Ordering::SeqCst), 2);
        let before = team.schedule.now();
        team.wait_until(&|| looks.load(Ordering::SeqCst) == 5);
        assert!(team.schedule.now() - before > Nanos(2_000_000_000), "time passes when all rest");
        assert_eq!(team.add(spec(Box::new(Sleeper(looks.clone())))).unwrap(), 2);
        assert!(team.add(spec(Box::new(Sleeper(looks)))).is_err(), "the team is full");
    }

    #[test]
    fn a_lent_worker_works_for_who_borrowed_it_alone() {
        let (team, pot, _) = team(11, 2);
        team.wait_until(&|| team.parked[..2].iter().all(|it| it.load(Ordering::SeqCst)));
        let worker = (0..100).find_map(|_| team.borrow(1)).expect("one seed in two lends");
        assert_eq!(worker, 0);
        assert_eq!(team.borrow(1), None, "it is lent");
        pot.store(20, Ordering::SeqCst);
        team.wake(&[0, 1], 1);
        assert!(!team.parked[1].load(Ordering::SeqCst), "the lent one needs no wake");
        assert!(team.work_until(0, &|| pot.load(Ordering::SeqCst) == 0));
        assert!(team.schedule.log().iter().any(|it| it.0 == 0));
        assert!(!team.work_until(0, &|| false), "it found nothing");
        team.give_back(0, &|| true);
        assert!(team.parked[0].load(Ordering::SeqCst) && !team.lent[0].load(Ordering::SeqCst));
        let worker = (0..100).find_map(|_| team.borrow(1));
        team.give_back(worker.unwrap(), &|| false);
        assert!(!team.parked[0].load(Ordering::SeqCst), "there is something to do");
    }

    #[test]
    fn two_clients_take_turns() {
        let (team, pot, _) = team(3, 4);
        pot.store(1000, Ordering::SeqCst);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| team.wait_until(&|| pot.load(Ordering::SeqCst) == 0));
            }
        });
        assert_eq!(pot.load(Ordering::SeqCst), 0);
    }
}
