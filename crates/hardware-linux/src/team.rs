//! Workers as pinned threads.
//!
//! A thread calls its worker's step while that finds work. After an idle step it looks again after pauses that grow to
//! 8 us, for [`Spin::worker`] in all (waking a sleeping thread costs about 80 us, docs/design/03-scheduling.md,
//! "spinning and parking"), then parks by the protocol of [`stdx::parking`], whose last look is one more step. Machines
//! with fewer hardware threads (or less CPU time) than workers spin less, because there a spinning thread takes the
//! time from one that works.
//!
//! A panic in a step ends that worker only: the others go on, whoever waits in `wait_until` panics with the message, and
//! `join` passes the first panic on once all have stopped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use hardware::{MachineError, Step, Worker, WorkerSpec, WorkerTeam};
use stdx::parking::{Bell, Nap, Parking};
use stdx::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, hint, thread};

use crate::{kernel, marks};

/// How often who waits looks whether the workers are still there.
const LOOK_AFTER_TEAM: Duration = Duration::from_secs(1);

/// How long threads spin before they sleep.
#[derive(Clone, Copy, Debug)]
pub struct Spin {
    /// A worker that found nothing.
    pub worker: Duration,
    /// A session that waits for its query.
    pub waiter: Duration,
}

impl Spin {
    /// For so many workers on a machine that runs `threads` at once.
    pub fn for_team(workers: usize, threads: f64) -> Self {
        let crowded = workers as f64 > threads;
        let micros = if crowded { (10, 5) } else { (80, 50) };
        Self { worker: Duration::from_micros(micros.0), waiter: Duration::from_micros(micros.1) }
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
    /// The kernel's number of each thread; zero until it runs.
    thread_ids: Vec<AtomicI32>,
    bell: Bell,
    failed: AtomicBool,
    /// The first panic: the worker's name, its message and what was thrown.
    panic: Mutex<Option<(String, Box<dyn Any + Send>)>>,
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
            let (shared, gate) = (shared.clone(), gate.clone());
            let spawned = thread::Builder::new().name(spec.name.clone()).spawn(move || {
                gate.1.wait_until(|| *gate.0.lock() != Start::Wait);
                if *gate.0.lock() == Start::Go {
                    run(&shared, index, spec, pin, spin);
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

    /// Spins until `done` holds, as long as a waiter spins and nobody else does: spinning saves one waiter the time it
    /// takes to be woken, and takes it from the workers when many wait.
    fn spin_until(&self, done: &dyn Fn() -> bool) -> bool {
        if done() {
            return true;
        }
        let start = Instant::now();
        if self.waiters.fetch_add(1, Ordering::Relaxed) == 0 {
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

fn run(shared: &Shared, index: usize, spec: WorkerSpec, pin: bool, spin: Spin) {
    shared.thread_ids[index].store(kernel::thread_id(), Ordering::Relaxed);
    if pin {
        // A hardware thread may have gone offline since it was listed: then the worker floats.
        let _ = kernel::set_affinity(&[spec.cpu.0]);
    }
    let mut body = spec.body;
    let ended = catch_unwind(AssertUnwindSafe(|| work(shared, index, body.as_mut(), spin)));
    if let Err(thrown) = ended {
        // The panic may have come out of the last look before parking.
        shared.parking.cancel(index);
        shared.panic.lock().get_or_insert((spec.name, thrown));
        shared.failed.store(true, Ordering::Release);
    }
    shared.bell.ring();
}

fn work(shared: &Shared, index: usize, body: &mut dyn Worker, spin: Spin) {
    loop {
        match step_or_spin(body, spin.worker) {
            Step::Worked => continue,
            Step::Rest(span) => {
                shared.naps[index].rest(Duration::from_nanos(span.0));
                continue;
            }
            Step::Stopped => return,
            Step::Idle => {}
        }
        shared.parking.prepare(index);
        let last = marks::step(|| body.step());
        if last == Step::Idle {
            shared.parking.park(index);
            continue;
        }
        shared.parking.cancel(index);
        match last {
            Step::Rest(span) => shared.naps[index].rest(Duration::from_nanos(span.0)),
            Step::Stopped => return,
            Step::Worked | Step::Idle => {}
        }
    }
}

/// Steps until one finds work, or until all have been idle for `span`.
fn step_or_spin(body: &mut dyn Worker, span: Duration) -> Step {
    let first = marks::step(|| body.step());
    if first != Step::Idle {
        return first;
    }
    let start = Instant::now();
    // An empty task takes about a microsecond, so who waits for the next one looks more often than that.
    let mut pause = Duration::from_nanos(250);
    loop {
        let wake = start.elapsed() + pause;
        while start.elapsed() < wake {
            for _ in 0..2 {
                hint::spin_loop();
            }
        }
        let step = marks::step(|| body.step());
        if step != Step::Idle || start.elapsed() >= span {
            return step;
        }
        pause = (pause * 2).min(Duration::from_micros(8));
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
        let spawned = thread::Builder::new()
            .name(worker.name.clone())
            .spawn(move || run(&shared, index, worker, pin, spin));
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
