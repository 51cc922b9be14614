//! A bar on standard error for work that takes longer than a moment.

use std::io::IsTerminal;

use hardware::Machine;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nodewise::{NoProgress, Progress};
use stdx::Nanos;
use stdx::sync::{Arc, Mutex};

/// Work that is over sooner shows no bar.
const PATIENCE: Nanos = Nanos(300_000_000);
const TEMPLATE: &str = "{msg} [{bar:30}] {percent}% {elapsed}, {eta} left";

/// Shows how far work is.
struct Bar {
    machine: Arc<dyn Machine>,
    phase: Mutex<Option<Phase>>,
}

struct Phase {
    name: String,
    started: Nanos,
    total: u64,
    done: u64,
    bar: Option<ProgressBar>,
}

/// A bar when a person can see it.
pub fn for_people(machine: &Arc<dyn Machine>) -> Arc<dyn Progress> {
    if std::io::stderr().is_terminal() {
        Arc::new(Bar { machine: machine.clone(), phase: Mutex::new(None) })
    } else {
        Arc::new(NoProgress)
    }
}

impl Progress for Bar {
    fn begin(&self, name: &str, total: u64) {
        let started = self.machine.now();
        let phase = Phase { name: name.to_owned(), started, total, done: 0, bar: None };
        self.replace(Some(phase));
    }

    fn advance(&self, units: u64) {
        let mut guard = self.phase.lock();
        let Some(phase) = guard.as_mut() else { return };
        phase.done += units;
        if phase.bar.is_none() && self.machine.now() - phase.started > PATIENCE {
            let bar =
                ProgressBar::with_draw_target(Some(phase.total), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(phase.name.clone());
            phase.bar = Some(bar);
        }
        if let Some(bar) = &phase.bar {
            bar.set_position(phase.done.min(phase.total));
        }
    }

    fn end(&self) {
        self.replace(None);
    }
}

impl Bar {
    fn replace(&self, phase: Option<Phase>) {
        let old = std::mem::replace(&mut *self.phase.lock(), phase);
        if let Some(bar) = old.and_then(|it| it.bar) {
            bar.finish_and_clear();
        }
    }
}
