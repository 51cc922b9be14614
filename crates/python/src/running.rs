//! Work of the engine on behalf of Python: without the GIL, and so that Ctrl-C ends it.
//!
//! Python looks at signals on its main thread only, and only between two of its own steps. So there a thread of ours works, and
//! the main thread looks at signals until it is done; on other threads the work is done where it is asked for.

use std::time::Duration;

use nodewise::{Session, SqlResult};
use pyo3::prelude::*;
use stdx::sync::{Condvar, Mutex, thread};

use crate::errors::{closed, exception};
use crate::shared::Shared;

/// How often signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Does something with the session of a connection.
pub fn run<T: Send>(
    py: Python<'_>,
    shared: &Shared,
    work: impl FnOnce(&mut Session) -> SqlResult<T> + Send,
) -> PyResult<T> {
    let work = || match &mut *shared.session.lock() {
        Some(session) => work(session),
        None => Err(closed()),
    };
    let done = match is_main_thread(py)? {
        false => py.detach(work),
        true => watched(py, shared, work)?,
    };
    done.map_err(|error| exception(py, &error))
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

/// Works on a thread beside the main one. What a signal's handler raises is raised here, once the statement has ended.
fn watched<T: Send>(
    py: Python<'_>,
    shared: &Shared,
    work: impl FnOnce() -> SqlResult<T> + Send,
) -> PyResult<SqlResult<T>> {
    let (slot, woken) = (Mutex::new(None), Condvar::new());
    let raised = py.detach(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                let done = work();
                *slot.lock() = Some(done);
                woken.notify_one();
            });
            let mut raised = None;
            let mut guard = slot.lock();
            while guard.is_none() {
                let waited = woken.wait_timeout(guard, LOOK);
                guard = waited.map_or_else(|poisoned| poisoned.into_inner().0, |it| it.0);
                if guard.is_none() {
                    drop(guard);
                    if raised.is_none() {
                        raised = Python::attach(|py| py.check_signals()).err();
                    }
                    if raised.is_some() {
                        // Again and again: a statement that had not begun heard nothing of it.
                        shared.cancel.cancel();
                    }
                    guard = slot.lock();
                }
            }
            raised
        })
    });
    match (raised, slot.into_inner()) {
        (Some(raised), _) => Err(raised),
        (None, Some(done)) => Ok(done),
        (None, None) => Err(exception(py, &nodewise::SqlError::internal("the work was lost"))),
    }
}
