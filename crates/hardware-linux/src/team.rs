//! Workers as pinned threads.
//!
//! A thread calls its worker's step while that finds work. After an idle step it looks again after pauses that grow to
//! 8 us, for [`Spin::worker`] in all (waking a sleeping thread costs about 80 us, docs/design/03-scheduling.md,
//! "spinning and parking"), then parks by the protocol of [`stdx::parking`], whose last look is one more step. Machines
//! with fewer hardware threads (or less CPU time) than workers spin less, because there a spinning thread takes the
//! time from one that works.
//!
//! The step function of a worker is behind a lock that its thread holds while it works. A session that waits for its query
//! borrows one that does nothing and takes its steps: where there are as many workers as hardware threads it would otherwise
//! take the time from one of them, or wait until one of them gives way (docs/design/03-scheduling.md, "who waits works").
//!
//! A panic in a step ends that worker only: the others go on, whoever waits in `wait_until` panics with the message, and
//! `join` passes the first panic on once all have stopped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use hardware::{MachineError, Step, Worker, WorkerSpec, WorkerTeam};
use stdx::parking::{Bell, Nap, Parking};
use stdx::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, MutexGuard, hint, thread};

use crate::{kernel, marks};

/// How often who waits looks whether the workers are still there.
const LOOK_AFTER_TEAM: Duration = Duration::from_secs(1);

/// How long threads spin before they sleep.
#[derive(Clone, Copy, Debug)]
pub struct Spin {
    /// A worker that found nothing.
    pub worker: Duration,
    /// A session that waits for its query, or for another one.
    pub waiter: Duration,
    /// How many of these spin at once.
    pub waiters: usize,
    /// A session that takes the steps of a worker and finds nothing: it waits for the last morsels of the others.
    pub borrower: Duration,
}

impl Spin {
    /// For so many workers on a machine that runs `threads` at once.
    pub fn for_team(workers: usize, threads: f64) -> Self {
        let crowded = workers as f64 > threads;
        let (worker, waiter, borrower) = if crowded { (10, 5, 10) } else { (80, 50, 200) };
        // The other half is for whom they wait.
        let waiters = if crowded { 1 } else { (threads as usize / 2).max(1) };
        Self {
            worker: Duration::from_micros(worker),
            waiter: Duration::from_micros(waiter),
            waiters,
            borrower: Duration::from_micros(borrower),
        }
    }
}

/// A started team.
pub struct Team {
    shared: Arc<Shared>,
    threads: Mutex<Threads>,
    pin: bool,
    spin: Spin,
    /// Threads that wait and spin.
    waiters: AtomicUsize,
}

/// The threads of a team.
struct Threads {
    running: Vec<thread::JoinHandle<()>>,
    /// Set when the team is being joined: nobody is added any more.
    closed: bool,
}

struct Shared {
    parking: Parking,
    naps: Vec<Nap>,
    /// The step functions. A thread takes steps only while it holds the lock, and a worker's own only if the worker is awake.
    bodies: Vec<Mutex<Body>>,
    /// The hardware thread that each was started on.
    cpus: Vec<AtomicU32>,
    /// The kernel's number of each thread; zero until it runs.
    thread_ids: Vec<AtomicI32>,
    bell: Bell,
    failed: AtomicBool,
    /// The first panic: the worker's name, its message and what was thrown.
    panic: Mutex<Option<(String, Box<dyn Any + Send>)>>,
}

/// A worker's step function, and who has borrowed it.
#[derive(Default)]
struct Body {
    /// `None` for a worker that does not exist yet or has ended.
    worker: Option<Box<dyn Worker>>,
    name: String,
    borrower: Option<Borrower>,
}

/// Who has borrowed a worker.
struct Borrower {
    /// Where it might run before, if that is known.
    cpus: Option<Vec<u32>>,
    /// The number of the worker's own thread.
    owner: i32,
}

/// Whether the threads may begin: no worker runs before all of them exist.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    Wait,
    Go,
    Abandon,
}

impl Team {
    /// Starts the workers; `pin` says whether the OS lets us.
    pub fn start(
        workers: Vec<WorkerSpec>,
        pin: bool,
        spin: Spin,
    ) -> Result<Arc<Self>, MachineError> {
        let room = 2 * workers.len() + 1;
        let shared = Arc::new(Shared {
            parking: Parking::new(room),
            naps: (0..room).map(|_| Nap::default()).collect(),
            bodies: (0..room).map(|_| Mutex::default()).collect(),
            cpus: (0..room).map(|_| AtomicU32::new(u32::MAX)).collect(),
            thread_ids: (0..room).map(|_| AtomicI32::new(0)).collect(),
            bell: Bell::new(),
            failed: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        let gate = Arc::new((Mutex::new(Start::Wait), Bell::new()));
        let open = |state| {
            *gate.0.lock() = state;
            gate.1.ring();
        };
        let mut threads = Vec::with_capacity(workers.len());
        for (index, spec) in workers.into_iter().enumerate() {
            let (cpu, name) = shared.seat(index, spec);
            let (shared, gate) = (shared.clone(), gate.clone());
            let spawned = thread::Builder::new().name(name).spawn(move || {
                gate.1.wait_until(|| *gate.0.lock() != Start::Wait);
                if *gate.0.lock() == Start::Go {
                    run(&shared, index, cpu, pin, spin);
                }
            });
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    open(Start::Abandon);
                    for thread in threads {
                        let _ = thread.join();
                    }
                    let message = format!("cannot start worker {index}: {error}");
                    return Err(MachineError::Os { call: "clone", message });
                }
            }
        }
        open(Start::Go);
        let threads = Mutex::new(Threads { running: threads, closed: false });
        Ok(Arc::new(Self { shared, threads, pin, spin, waiters: AtomicUsize::new(0) }))
    }

    /// Spins until `done` holds, as long as a waiter spins, unless enough others do: spinning saves a waiter the time it
    /// takes to be woken, and takes it from those who work when many wait.
    fn spin_until(&self, done: &dyn Fn() -> bool) -> bool {
        if done() {
            return true;
        }
        let start = Instant::now();
        if self.waiters.fetch_add(1, Ordering::Relaxed) < self.spin.waiters {
            while start.elapsed() < self.spin.waiter {
                for _ in 0..4 {
                    hint::spin_loop();
                }
                if done() {
                    self.waiters.fetch_sub(1, Ordering::Relaxed);
                    return true;
                }
            }
        }
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        false
    }

    /// Lends a worker, unless its thread works.
    fn lend(&self, worker: usize) -> bool {
        // Its thread holds the lock while it works, and while it looks for the last time.
        let Some(mut body) = self.shared.bodies[worker].try_lock() else { return false };
        let Some(lent) = body.worker.as_mut() else { return false };
        if !self.shared.parking.lend(worker) {
            return false;
        }
        lent.moved();
        let cpus = self.pin.then(|| kernel::affinity().ok()).flatten();
        // Who asks whether the worker is blocked means the thread that takes its steps.
        let owner = self.shared.thread_ids[worker].swap(kernel::thread_id(), Ordering::Relaxed);
        body.borrower = Some(Borrower { cpus, owner });
        true
    }

    /// Panics when a worker did, because what the caller waits for may never come.
    fn assert_alive(&self) {
        if self.shared.failed.load(Ordering::Acquire) {
            let panic = self.shared.panic.lock();
            let (name, message) = panic
                .as_ref()
                .map_or(("?", "?"), |(name, thrown)| (name, text_of(thrown.as_ref())));
            let report = format!("worker {name} panicked: {message}");
            drop(panic);
            panic!("{report}");
        }
    }
}

impl Shared {
    /// Takes in a worker that is about to start; its hardware thread and its name.
    fn seat(&self, index: usize, spec: WorkerSpec) -> (u32, String) {
        let WorkerSpec { cpu, name, body } = spec;
        self.cpus[index].store(cpu.0, Ordering::Relaxed);
        let body = Body { worker: Some(body), name: name.clone(), borrower: None };
        *self.bodies[index].lock() = body;
        (cpu.0, name)
    }

    /// Notes that a worker panicked.
    fn fail(&self, worker: &mut Body, thrown: Box<dyn Any + Send>) {
        worker.worker = None;
        self.panic.lock().get_or_insert((std::mem::take(&mut worker.name), thrown));
        self.failed.store(true, Ordering::Release);
        self.bell.ring();
    }

    /// A step of a worker whose lock the caller holds. One that panics was its last.
    fn step(&self, body: &mut Body) -> Step {
        let Some(worker) = &mut body.worker else { return Step::Stopped };
        match catch_unwind(AssertUnwindSafe(|| marks::step(|| worker.step()))) {
            Ok(step) => step,
            Err(thrown) => {
                self.fail(body, thrown);
                Step::Stopped
            }
        }
    }
}

fn run(shared: &Shared, index: usize, cpu: u32, pin: bool, spin: Spin) {
    shared.thread_ids[index].store(kernel::thread_id(), Ordering::Relaxed);
    if pin {
        // A hardware thread may have gone offline since it was listed: then the worker floats.
        let _ = kernel::set_affinity(&[cpu]);
    }
    while let Some(body) = awake(shared, index) {
        match work(shared, index, body, spin.worker) {
            Step::Worked | Step::Idle => {}
            Step::Rest(span) => shared.naps[index].rest(Duration::from_nanos(span.0)),
            Step::Stopped => break,
        }
    }
    let ended = shared.bodies[index].lock().worker.take();
    drop(ended);
    shared.bell.ring();
}

/// The right to take a worker's steps, for its own thread: not while it is lent or asleep. `None` when it has ended.
fn awake(shared: &Shared, index: usize) -> Option<MutexGuard<'_, Body>> {
    loop {
        let body = shared.bodies[index].lock();
        if shared.parking.is_awake(index) {
            return body.worker.is_some().then_some(body);
        }
        drop(body);
        shared.parking.sleep(index);
    }
}

/// Steps while there is work; then looks again after pauses for `span`, and parks.
fn work<'a>(
    shared: &'a Shared,
    index: usize,
    mut body: MutexGuard<'a, Body>,
    span: Duration,
) -> Step {
    let mut idle = Pauses::new();
    loop {
        match shared.step(&mut body) {
            Step::Worked => {
                idle = Pauses::new();
                continue;
            }
            Step::Idle => drop(body),
            other => return other,
        }
        let is_last = idle.pause(&|| false) >= span;
        let Some(again) = awake(shared, index) else { return Step::Stopped };
        body = again;
        if is_last {
            shared.parking.prepare(index);
            let last = shared.step(&mut body);
            if last == Step::Idle {
                drop(body);
                shared.parking.park(index);
            } else {
                shared.parking.cancel(index);
            }
            return last;
        }
    }
}

/// The pauses between the looks of who finds nothing.
struct Pauses {
    start: Option<Instant>,
    next: Duration,
}

impl Pauses {
    fn new() -> Self {
        // An empty task takes about a microsecond, so who waits for the next one looks more often than that.
        Self { start: None, next: Duration::from_nanos(250) }
    }

    /// Spins for a moment, or until `done` holds; tells for how long nothing was found.
    fn pause(&mut self, done: &dyn Fn() -> bool) -> Duration {
        let start = *self.start.get_or_insert_with(Instant::now);
        let wake = start.elapsed() + self.next;
        self.next = (self.next * 2).min(Duration::from_micros(8));
        loop {
            for _ in 0..2 {
                hint::spin_loop();
            }
            let now = start.elapsed();
            if now >= wake || done() {
                return now;
            }
        }
    }
}

impl WorkerTeam for Team {
    fn wake(&self, preferred: &[usize], count: usize) {
        self.shared.parking.wake(preferred, count);
    }

    fn nudge(&self, worker: usize) {
        self.shared.naps[worker].nudge();
    }

    fn add(&self, worker: WorkerSpec) -> Result<usize, MachineError> {
        let mut threads = self.threads.lock();
        let index = threads.running.len();
        let refused = |message: String| MachineError::Os { call: "clone", message };
        if threads.closed || index == self.shared.naps.len() {
            return Err(refused(format!("the team of {index} workers takes no more")));
        }
        let (shared, pin, spin) = (self.shared.clone(), self.pin, self.spin);
        let (cpu, name) = shared.seat(index, worker);
        let spawned =
            thread::Builder::new().name(name).spawn(move || run(&shared, index, cpu, pin, spin));
        let spawned = spawned.map_err(|error| refused(format!("cannot start a worker: {error}")));
        threads.running.push(spawned?);
        Ok(index)
    }

    fn is_blocked(&self, worker: usize) -> bool {
        let id = self.shared.thread_ids[worker].load(Ordering::Relaxed);
        let state = std::fs::read_to_string(format!("/proc/self/task/{id}/stat"));
        // The name before the state stands in parentheses and may hold anything.
        let state = state.ok().and_then(|it| it.rsplit_once(") ")?.1.chars().next());
        matches!(state, Some('S' | 'D'))
    }

    fn wait_until(&self, done: &dyn Fn() -> bool) {
        self.wait_on(&self.shared.bell, done);
    }

    fn wait_on(&self, bell: &Bell, done: &dyn Fn() -> bool) {
        if self.spin_until(done) {
            return;
        }
        let done = || {
            done() || {
                self.assert_alive();
                false
            }
        };
        // A worker that panics rings its team's bell only.
        while !bell.wait_for(LOOK_AFTER_TEAM, done) {}
    }

    fn borrow(&self, workers: usize) -> Option<usize> {
        // On another hardware thread the caller would have to move there, which still costs less than to wait.
        let cpu = kernel::running_cpu();
        let is_here = |it: &usize| Some(self.shared.cpus[*it].load(Ordering::Relaxed)) == cpu;
        let here = (0..workers).filter(is_here);
        let elsewhere = (0..workers).filter(|it| !is_here(it));
        here.chain(elsewhere).find(|&it| self.lend(it))
    }

    fn work_until(&self, worker: usize, done: &dyn Fn() -> bool) -> bool {
        let mut idle = Pauses::new();
        while !done() {
            let step = self.shared.step(&mut self.shared.bodies[worker].lock());
            match step {
                Step::Worked => idle = Pauses::new(),
                Step::Idle if idle.pause(done) < self.spin.borrower => {}
                Step::Idle | Step::Rest(_) | Step::Stopped => return done(),
            }
        }
        true
    }

    fn give_back(&self, worker: usize, rests: &dyn Fn() -> bool) {
        let mut body = self.shared.bodies[worker].lock();
        let Some(Borrower { cpus, owner }) = body.borrower.take() else { return };
        self.shared.thread_ids[worker].store(owner, Ordering::Relaxed);
        if let Some(lent) = &mut body.worker {
            lent.moved();
        }
        let has_ended = body.worker.is_none();
        drop(body);
        if let Some(cpus) = cpus {
            // As above: a hardware thread may have gone offline.
            let _ = kernel::set_affinity(&cpus);
        }
        self.shared.parking.give_back(worker, || !has_ended && rests());
    }

    fn notify(&self) {
        self.shared.bell.ring();
    }

    fn join(&self) {
        let closed = Threads { running: Vec::new(), closed: true };
        let threads = std::mem::replace(&mut *self.threads.lock(), closed).running;
        let me = thread::current().id();
        for thread in threads {
            // The last owner of the database may be a worker: it cannot wait for itself.
            if thread.thread().id() != me {
                let _ = thread.join();
            }
        }
        let Some((name, thrown)) = self.shared.panic.lock().take() else { return };
        eprintln!("worker {name} panicked: {}", text_of(thrown.as_ref()));
        if !thread::panicking() {
            resume_unwind(thrown);
        }
    }
}

fn text_of(thrown: &(dyn Any + Send)) -> &str {
    thrown
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| thrown.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
