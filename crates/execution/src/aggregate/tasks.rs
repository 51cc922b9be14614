//! Tasks of the end of a grouping.

use stdx::sync::Mutex;
use types::SqlResult;

use crate::{Team, WorkContext};

/// The results of tasks that want to know who does them, in order.
pub(super) fn collect_with<T: Send>(
    team: &dyn Team,
    tasks: usize,
    body: &(dyn Fn(usize, &WorkContext) -> SqlResult<T> + Sync),
) -> SqlResult<Vec<T>> {
    let done: Vec<Mutex<Option<T>>> = (0..tasks).map(|_| Mutex::new(None)).collect();
    team.run(tasks, &|task, context| {
        *done[task].lock() = Some(body(task, context)?);
        Ok(())
    })?;
    Ok(done.into_iter().filter_map(Mutex::into_inner).collect())
}

/// The results of tasks, in order.
pub(super) fn collect<T: Send>(
    team: &dyn Team,
    tasks: usize,
    parallel: bool,
    body: &(dyn Fn(usize) -> SqlResult<T> + Sync),
) -> SqlResult<Vec<T>> {
    if !parallel || tasks == 1 {
        return (0..tasks).map(body).collect();
    }
    let done: Vec<Mutex<Option<T>>> = (0..tasks).map(|_| Mutex::new(None)).collect();
    team.run(tasks, &|task, _| {
        *done[task].lock() = Some(body(task)?);
        Ok(())
    })?;
    Ok(done.into_iter().filter_map(Mutex::into_inner).collect())
}
