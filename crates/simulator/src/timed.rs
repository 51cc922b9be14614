//! Workers in the virtual time of a machine model: a step happens in no time, then its worker is busy for as long as what
//! it charged takes on the machine, beside everybody else.
//!
//! Among workers that are free at the same moment, the seed chooses who steps first.

use hardware::{Demand, MachineError, Step, WorkerSpec, WorkerTeam};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex};

use crate::engine::{Engine, Seat};
use crate::fault::Fault;
use crate::schedule::Schedule;
use crate::stage::{Bodies, NAPS_MAX, Stage};
use crate::turns::Turns;

/// Cache lines that a worker and its colleagues hand one another for a step: the version, a queue's lock and entry, the
/// job's counts, the cursor, the tally (`scheduler`, counted in its code).
const STEP_LINES: f64 = 8.0;
/// Steps after which the clients look again, should nobody have told them that a wait may have ended.
const STEPS_PER_TURN: usize = 1000;

/// What the teams of a machine share.
pub(crate) struct Timing {
    pub(crate) engine: Mutex<Engine>,
    /// Of clients that run one at a time.
    pub(crate) turns: Turns,
    /// What the running step has charged so far.
    charged: Mutex<Demand>,
    stepping: AtomicBool,
    /// Nanoseconds of a step beside what it charges.
    step_cost: f64,
    faults: Vec<Fault>,
    /// Team and index of each seat; ready ones wait in their team's list.
    owners: Mutex<Vec<(usize, usize)>>,
    ready: Mutex<Vec<Vec<usize>>>,
}

impl Timing {
    pub(crate) fn new(mut engine: Engine, faults: Vec<Fault>) -> Self {
        for fault in &faults {
            if let Fault::Interference { cpu, node, bandwidth } = *fault {
                if let Some(seat) = engine.seat(cpu, 1.0) {
                    engine.occupy(seat);
                }
                let node = engine.physics().node(node);
                engine.disturb(node, bandwidth);
            }
        }
        let taken = engine.seats();
        let latency = &engine.physics().model.latency;
        let pairs = (latency.len() * latency.len()) as f64;
        let mean = latency.iter().flatten().sum::<f64>() / pairs;
        Self {
            engine: Mutex::new(engine),
            turns: Turns::default(),
            charged: Mutex::new(Demand::default()),
            stepping: AtomicBool::new(false),
            step_cost: STEP_LINES * mean,
            faults,
            // Seats of other processes belong to no team and are never ready.
            owners: Mutex::new(vec![(usize::MAX, 0); taken]),
            ready: Mutex::new(Vec::new()),
        }
    }

    /// Adds to what the running step costs; outside a step the caller waits as long.
    pub(crate) fn charge(&self, demand: &Demand, schedule: &Schedule) {
        if self.stepping.load(Ordering::SeqCst) {
            let mut charged = self.charged.lock();
            charged.cycles += demand.cycles;
            charged.accesses.extend(demand.accesses.iter().cloned());
            return;
        }
        let mut engine = self.engine.lock();
        if engine.seats() > 0 {
            let span = engine.alone(0, demand);
            engine.sleep(span);
            schedule.reach(Nanos(engine.now() as u64));
        }
    }

    pub(crate) fn sleep(&self, span: Nanos, schedule: &Schedule) {
        let mut engine = self.engine.lock();
        engine.sleep(span.0 as f64);
        schedule.reach(Nanos(engine.now() as u64));
    }

    fn speed(&self, spec: &WorkerSpec, engine: &Engine) -> f64 {
        let topology = engine.physics().topology();
        let core = |cpu| topology.cpus.iter().find(|it| it.id == cpu).map(|it| (it.node, it.core));
        let slow = self.faults.iter().filter_map(|fault| match *fault {
            Fault::SlowCore { cpu, speed } if core(cpu) == core(spec.cpu) => Some(speed.max(1e-3)),
            _ => None,
        });
        slow.fold(1.0, f64::min)
    }

    /// How long a worker that is stalled will still be.
    fn stalled(&self, me: usize, now: f64) -> Option<f64> {
        self.faults.iter().find_map(|fault| match *fault {
            Fault::StalledWorker { worker, from, span } if worker == me => {
                let (from, end) = (from.0 as f64, (from.0 + span.0) as f64);
                (from..end).contains(&now).then_some(end - now)
            }
            _ => None,
        })
    }
}

/// Workers of one `start`.
pub(crate) struct TimedTeam {
    timing: Arc<Timing>,
    schedule: Arc<Schedule>,
    team: usize,
    seats: Mutex<Vec<Seat>>,
    stage: Stage,
    parked: Vec<AtomicBool>,
    resting: Vec<AtomicBool>,
    /// Whether the next rest shall not begin.
    nudged: Vec<AtomicBool>,
    /// How many are parked: on a busy machine nobody is looked for.
    parked_count: AtomicUsize,
    wakes: AtomicU64,
    /// Whether a wait may have ended since the clients looked.
    news: AtomicBool,
}

impl TimedTeam {
    /// The cpus of the workers must exist.
    pub(crate) fn new(
        timing: Arc<Timing>,
        schedule: Arc<Schedule>,
        workers: Vec<WorkerSpec>,
    ) -> Self {
        let mut engine = timing.engine.lock();
        let mut owners = timing.owners.lock();
        let mut ready = timing.ready.lock();
        let team = ready.len();
        let room = Stage::room(workers.len());
        let flags = || (0..room).map(|_| AtomicBool::new(false)).collect();
        let mut seats = Vec::with_capacity(workers.len());
        for (index, spec) in workers.iter().enumerate() {
            let speed = timing.speed(spec, &engine);
            seats.push(engine.seat(spec.cpu, speed).expect("invariant: the cpu was looked up"));
            owners.push((team, index));
        }
        ready.push((0..workers.len()).collect());
        drop((engine, owners, ready));
        Self {
            timing,
            stage: Stage::new(schedule.seed, workers),
            schedule,
            team,
            seats: Mutex::new(seats),
            parked: flags(),
            resting: flags(),
            nudged: flags(),
            parked_count: AtomicUsize::new(0),
            wakes: AtomicU64::new(0),
            news: AtomicBool::new(false),
        }
    }

    fn drive(&self) -> Driver<'_> {
        Driver { team: self, bodies: self.stage.take() }
    }

    fn unpark(&self, worker: usize) -> bool {
        let woken = self.parked[worker].swap(false, Ordering::SeqCst);
        if woken {
            self.parked_count.fetch_sub(1, Ordering::SeqCst);
            self.timing.ready.lock()[self.team].push(worker);
        }
        woken
    }

    fn wake_all(&self) -> bool {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        (0..self.parked.len()).fold(false, |any, it| self.unpark(it) | any)
    }

    /// Lets workers step until `done`.
    fn pass_time_until(&self, done: &dyn Fn() -> bool) {
        if done() {
            return;
        }
        let mut driver = self.drive();
        let (mut rechecked, mut naps) = (false, 0);
        while !done() {
            match driver.step() {
                Some(Step::Worked) => (rechecked, naps) = (false, 0),
                Some(Step::Idle | Step::Stopped) => {}
                Some(Step::Rest(_)) if !driver.nobody_works() => {}
                Some(Step::Rest(_)) | None if !rechecked && self.wake_all() => rechecked = true,
                Some(Step::Rest(_)) if naps < NAPS_MAX => naps += 1,
                Some(Step::Rest(_)) | None => self.stage.lost_task(),
            }
        }
    }
}

impl WorkerTeam for TimedTeam {
    fn wake(&self, preferred: &[usize], count: usize) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        let mut left = count;
        for worker in preferred.iter().copied().chain(0..self.parked.len()) {
            if left == 0 || self.parked_count.load(Ordering::SeqCst) == 0 {
                return;
            }
            if self.unpark(worker) {
                left -= 1;
            }
        }
    }

    fn nudge(&self, worker: usize) {
        if !self.resting[worker].swap(false, Ordering::SeqCst) {
            self.nudged[worker].store(true, Ordering::SeqCst);
            return;
        }
        // A rest that has just ended has put the worker among the ready ones already.
        let seat = self.seats.lock()[worker];
        if self.timing.engine.lock().end_pause(seat) {
            self.timing.ready.lock()[self.team].push(worker);
        }
    }

    fn add(&self, worker: WorkerSpec) -> Result<usize, MachineError> {
        let mut seats = self.seats.lock();
        let index = seats.len();
        if index == self.parked.len() {
            return Err(Stage::full(index));
        }
        let mut engine = self.timing.engine.lock();
        let speed = self.timing.speed(&worker, &engine);
        let seat = engine.seat(worker.cpu, speed);
        let message = format!("there is no cpu {}", worker.cpu);
        seats.push(seat.ok_or(MachineError::Os { call: "clone", message })?);
        self.timing.owners.lock().push((self.team, index));
        self.stage.add(worker.body);
        self.timing.ready.lock()[self.team].push(index);
        Ok(index)
    }

    fn is_blocked(&self, _: usize) -> bool {
        // One thread takes all steps, so whoever is asked about is between two of them.
        false
    }

    fn wait_until(&self, done: &dyn Fn() -> bool) {
        let Some(client) = self.timing.turns.mine() else { return self.pass_time_until(done) };
        let pass_time = || {
            let left = AtomicUsize::new(STEPS_PER_TURN);
            let news = || {
                let over = left.fetch_sub(1, Ordering::Relaxed) == 1;
                over || self.news.swap(false, Ordering::SeqCst) || done()
            };
            self.pass_time_until(&news);
        };
        self.timing.turns.wait(client, done, &pass_time);
    }

    fn notify(&self) {
        self.news.store(true, Ordering::SeqCst);
    }

    fn join(&self) {
        // The last owner of a scheduler may be a worker: it cannot wait for itself.
        if self.stage.is_mine() {
            return;
        }
        let mut driver = self.drive();
        self.wake_all();
        while driver.step().is_some() {}
    }
}

/// The right to step the workers.
struct Driver<'a> {
    team: &'a TimedTeam,
    bodies: Bodies<'a>,
}

impl Driver<'_> {
    /// Lets one worker that is free take a step, after as much time as must pass for one to be; `None` when nobody ever
    /// will.
    fn step(&mut self) -> Option<Step> {
        let timing = &self.team.timing;
        loop {
            let Some(worker) = self.choose() else {
                let mut engine = timing.engine.lock();
                let freed = engine.advance();
                self.team.schedule.reach(Nanos(engine.now() as u64));
                drop(engine);
                if freed.is_empty() {
                    return None;
                }
                let owners = timing.owners.lock();
                let mut ready = timing.ready.lock();
                for seat in freed {
                    let (team, worker) = owners[seat];
                    ready[team].push(worker);
                }
                continue;
            };
            let seat = self.team.seats.lock()[worker];
            let mut engine = timing.engine.lock();
            let now = engine.now();
            if let Some(span) = timing.stalled(worker, now) {
                // Nobody ends this pause early.
                self.team.resting[worker].store(false, Ordering::SeqCst);
                engine.pause(seat, span);
                continue;
            }
            drop(engine);
            return Some(self.run(worker));
        }
    }

    /// Whether all that is left are rests.
    fn nobody_works(&self) -> bool {
        let timing = &self.team.timing;
        timing.ready.lock()[self.team.team].is_empty() && timing.engine.lock().only_pauses()
    }

    fn choose(&self) -> Option<usize> {
        let mut ready = self.team.timing.ready.lock();
        let ready = &mut ready[self.team.team];
        match ready.len() {
            0 => None,
            count => Some(ready.swap_remove(self.team.schedule.choose(count))),
        }
    }

    fn run(&mut self, worker: usize) -> Step {
        let team = self.team;
        let timing = &team.timing;
        let wakes = team.wakes.load(Ordering::SeqCst);
        team.resting[worker].store(false, Ordering::SeqCst);
        timing.stepping.store(true, Ordering::SeqCst);
        let outcome = self.bodies.all()[worker].step();
        timing.stepping.store(false, Ordering::SeqCst);
        team.schedule.note(worker, outcome);
        let demand = std::mem::take(&mut *timing.charged.lock());
        let seat = team.seats.lock()[worker];
        let mut engine = timing.engine.lock();
        match outcome {
            Step::Worked => engine.begin(seat, &demand, timing.step_cost),
            Step::Stopped => engine.rest(seat),
            Step::Rest(_) if team.nudged[worker].swap(false, Ordering::SeqCst) => {
                engine.rest(seat);
                timing.ready.lock()[team.team].push(worker);
            }
            Step::Rest(span) => {
                team.resting[worker].store(true, Ordering::SeqCst);
                engine.pause(seat, span.0 as f64);
            }
            Step::Idle => {
                engine.rest(seat);
                drop(engine);
                team.parked_count.fetch_add(1, Ordering::SeqCst);
                team.parked[worker].store(true, Ordering::SeqCst);
                if team.wakes.load(Ordering::SeqCst) != wakes {
                    team.unpark(worker);
                }
            }
        }
        outcome
    }
}

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        // A body never panics out of its step, but a panic of the waiter must not leave the flag.
        self.team.timing.stepping.store(false, Ordering::SeqCst);
    }
}
