//! Teams for tests: one that runs tasks in order over many slots, one of real threads.

use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::thread;
use types::SqlResult;

use super::context;
use crate::{Team, WorkContext};

type Body<'a> = &'a (dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync);

/// Runs tasks in order, slot by slot.
pub(super) struct Serial(pub(super) usize);

impl Team for Serial {
    fn workspace(&self) -> stdx::sync::Arc<memory::Workspace> {
        memory::Workspace::heap()
    }

    fn slots(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: usize, body: Body<'_>) -> SqlResult<()> {
        (0..tasks).try_for_each(|task| body(task, &context(task % self.0)))
    }
}

/// Runs tasks on as many threads.
pub(super) struct Threads(pub(super) usize);

impl Team for Threads {
    fn workspace(&self) -> stdx::sync::Arc<memory::Workspace> {
        memory::Workspace::heap()
    }

    fn slots(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: usize, body: Body<'_>) -> SqlResult<()> {
        let cursor = AtomicUsize::new(0);
        thread::scope(|scope| {
            for slot in 0..self.0 {
                let cursor = &cursor;
                scope.spawn(move || {
                    loop {
                        let task = cursor.fetch_add(1, Ordering::Relaxed);
                        if task >= tasks {
                            break;
                        }
                        body(task, &context(slot)).unwrap();
                    }
                });
            }
        });
        Ok(())
    }
}
