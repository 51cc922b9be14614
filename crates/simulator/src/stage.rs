//! What the teams of both kinds of time share: the step functions, and who may call them.

use hardware::{MachineError, Worker, WorkerSpec};
use stdx::sync::thread::{self, ThreadId};
use stdx::sync::{Mutex, MutexGuard};

/// Naps with nobody at work between after which a wait is given up: workers that only look after others rest for ever.
pub(crate) const NAPS_MAX: u32 = 1000;

/// The workers of a team. Clients on several OS threads take turns: one wait at a time drives them.
pub(crate) struct Stage {
    seed: u64,
    /// Locked for the length of a wait.
    bodies: Mutex<Vec<Box<dyn Worker>>>,
    /// Workers added since the wait began; it takes them in.
    newcomers: Mutex<Vec<Box<dyn Worker>>>,
    /// Who holds `bodies`, so that a worker that waits inside its own step is told instead of hanging.
    driver: Mutex<Option<ThreadId>>,
}

impl Stage {
    pub(crate) fn new(seed: u64, workers: Vec<WorkerSpec>) -> Self {
        let bodies = Mutex::new(workers.into_iter().map(|it| it.body).collect());
        Self { seed, bodies, newcomers: Mutex::default(), driver: Mutex::new(None) }
    }

    /// Workers that a team of so many may have: the watchdog starts some when all others are blocked.
    pub(crate) fn room(workers: usize) -> usize {
        2 * workers + 1
    }

    /// What one worker more than that gets.
    pub(crate) fn full(workers: usize) -> MachineError {
        let message = format!("the team of {workers} workers takes no more");
        MachineError::Os { call: "clone", message }
    }

    pub(crate) fn add(&self, worker: Box<dyn Worker>) {
        self.newcomers.lock().push(worker);
    }

    /// Whether the calling thread drives.
    pub(crate) fn is_mine(&self) -> bool {
        *self.driver.lock() == Some(thread::current().id())
    }

    /// Waits for the right to step the workers.
    pub(crate) fn take(&self) -> Bodies<'_> {
        assert!(
            !self.is_mine(),
            "a worker waits inside its own step: on threads it would block a worker for good (seed {})",
            self.seed
        );
        let bodies = self.bodies.lock();
        *self.driver.lock() = Some(thread::current().id());
        Bodies { stage: self, bodies }
    }

    /// The right to step the workers, unless another client has it.
    pub(crate) fn try_take(&self) -> Option<Bodies<'_>> {
        let bodies = self.bodies.try_lock()?;
        *self.driver.lock() = Some(thread::current().id());
        Some(Bodies { stage: self, bodies })
    }

    /// Ends a wait that no worker can end.
    pub(crate) fn lost_task(&self) -> ! {
        panic!("lost task: every worker is idle and the wait cannot end (seed {})", self.seed)
    }
}

/// The right to step the workers.
pub(crate) struct Bodies<'a> {
    stage: &'a Stage,
    bodies: MutexGuard<'a, Vec<Box<dyn Worker>>>,
}

impl Bodies<'_> {
    /// All workers, those that came last included.
    pub(crate) fn all(&mut self) -> &mut Vec<Box<dyn Worker>> {
        self.bodies.append(&mut self.stage.newcomers.lock());
        &mut self.bodies
    }
}

impl Drop for Bodies<'_> {
    fn drop(&mut self) {
        *self.stage.driver.lock() = None;
    }
}
