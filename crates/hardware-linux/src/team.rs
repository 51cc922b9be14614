//! Workers as pinned threads.
//!
//! A thread calls its worker's step while that finds work. After an idle step it looks again after pauses that grow to
//! 8 us, for [`Spin::worker`] in all (waking a sleeping thread costs about 80 us, DESIGN 5), then parks by the protocol
//! of [`stdx::parking`], whose last look is one more step. Machines with fewer hardware threads (or less CPU time) than
//! workers spin less, because there a spinning thread takes the time from one that works.
//!
//! A panic in a step ends that worker only: the others go on, whoever waits in `wait_until` panics with the message, and
//! `join` passes the first panic on once all have stopped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use hardware::{MachineError, Step, Worker, WorkerSpec, WorkerTeam};
use stdx::parking::{Bell, Parking};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex, hint, thread};

use crate::kernel;

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
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    spin: Spin,
}

struct Shared {
    parking: Parking,
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
        let shared = Arc::new(Shared {
            parking: Parking::new(workers.len()),
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
        Ok(Arc::new(Self { shared, threads: Mutex::new(threads), spin }))
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
            Step::Stopped => return,
            Step::Idle => {}
        }
        shared.parking.prepare(index);
        match body.step() {
            Step::Idle => shared.parking.park(index),
            Step::Worked => shared.parking.cancel(index),
            Step::Stopped => {
                shared.parking.cancel(index);
                return;
            }
        }
    }
}

/// Steps until one finds work, or until all have been idle for `span`.
fn step_or_spin(body: &mut dyn Worker, span: Duration) -> Step {
    let first = body.step();
    if first != Step::Idle {
        return first;
    }
    let start = Instant::now();
    let mut pause = Duration::from_micros(1);
    loop {
        let wake = start.elapsed() + pause;
        while start.elapsed() < wake {
            for _ in 0..8 {
                hint::spin_loop();
            }
        }
        let step = body.step();
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

    fn wait_until(&self, done: &dyn Fn() -> bool) {
        let start = Instant::now();
        loop {
            if done() {
                return;
            }
            if start.elapsed() >= self.spin.waiter {
                break;
            }
            for _ in 0..32 {
                hint::spin_loop();
            }
        }
        self.shared.bell.wait_until(|| {
            done() || {
                self.assert_alive();
                false
            }
        });
    }

    fn notify(&self) {
        self.shared.bell.ring();
    }

    fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock());
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
