//! A crew: workers that get ready, begin together, and end.

use hardware::topology::Cpu;
use hardware::{Machine, MachineError, Step, Worker, WorkerSpec, WorkerTeam};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, OnceLock, Weak};

/// What one thread does.
pub(crate) trait Task: Send {
    /// Touches and warms what it needs, before time is taken.
    fn prepare(&mut self) {}
    /// A short piece of work; whether there is more. `over` says that all work that is waited for has ended.
    fn run(&mut self, machine: &dyn Machine, over: bool) -> bool;
}

/// A task and the hardware thread for it.
pub(crate) struct Seat {
    pub(crate) cpu: Cpu,
    pub(crate) task: Box<dyn Task>,
    /// Works until the others are through.
    pub(crate) background: bool,
}

struct Signals {
    preparing: AtomicUsize,
    go: AtomicBool,
    /// Tasks that are waited for and not through.
    foreground: AtomicUsize,
    /// Tasks that are not through.
    left: AtomicUsize,
    /// When the first task began and the last that is waited for ended.
    began: AtomicU64,
    ended: AtomicU64,
    team: OnceLock<Weak<dyn WorkerTeam>>,
}

impl Signals {
    fn notify(&self) {
        if let Some(team) = self.team.get().and_then(Weak::upgrade) {
            team.notify();
        }
    }
}

/// Lets the tasks work at once; the time from the first beginning to the last end of those that are waited for.
pub(crate) fn run(machine: &Arc<dyn Machine>, seats: Vec<Seat>) -> Result<Nanos, MachineError> {
    let count = seats.len();
    let signals = Arc::new(Signals {
        preparing: AtomicUsize::new(count),
        go: AtomicBool::new(false),
        foreground: AtomicUsize::new(seats.iter().filter(|it| !it.background).count()),
        left: AtomicUsize::new(count),
        began: AtomicU64::new(u64::MAX),
        ended: AtomicU64::new(0),
        team: OnceLock::new(),
    });
    let specs = seats.into_iter().enumerate().map(|(index, seat)| WorkerSpec {
        cpu: seat.cpu.id,
        name: format!("probe-{index}"),
        body: Box::new(Hand {
            task: seat.task,
            background: seat.background,
            machine: machine.clone(),
            signals: signals.clone(),
            phase: Phase::Fresh,
        }),
    });
    let team = machine.start(specs.collect())?;
    let _ = signals.team.set(Arc::downgrade(&team));
    team.wait_until(&|| signals.preparing.load(Ordering::Acquire) == 0);
    signals.go.store(true, Ordering::Release);
    team.wake(&[], count);
    team.wait_until(&|| signals.left.load(Ordering::Acquire) == 0);
    team.join();
    let (began, ended) = (&signals.began, &signals.ended);
    Ok(Nanos(ended.load(Ordering::Relaxed).saturating_sub(began.load(Ordering::Relaxed)).max(1)))
}

enum Phase {
    Fresh,
    Ready,
    Working,
}

struct Hand {
    task: Box<dyn Task>,
    background: bool,
    machine: Arc<dyn Machine>,
    signals: Arc<Signals>,
    phase: Phase,
}

impl Hand {
    fn finish(&self) {
        let signals = &self.signals;
        if !self.background {
            signals.ended.fetch_max(self.machine.now().0, Ordering::Relaxed);
            signals.foreground.fetch_sub(1, Ordering::AcqRel);
        }
        if signals.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            signals.notify();
        }
    }
}

impl Worker for Hand {
    fn step(&mut self) -> Step {
        let signals = &self.signals;
        match self.phase {
            Phase::Fresh => {
                self.task.prepare();
                self.phase = Phase::Ready;
                if signals.preparing.fetch_sub(1, Ordering::AcqRel) == 1 {
                    signals.notify();
                }
                Step::Worked
            }
            Phase::Ready if !signals.go.load(Ordering::Acquire) => Step::Idle,
            Phase::Ready => {
                if !self.background {
                    signals.began.fetch_min(self.machine.now().0, Ordering::Relaxed);
                }
                self.phase = Phase::Working;
                Step::Worked
            }
            Phase::Working => {
                let over = signals.foreground.load(Ordering::Acquire) == 0;
                if self.task.run(&*self.machine, over) {
                    return Step::Worked;
                }
                self.finish();
                Step::Stopped
            }
        }
    }
}
