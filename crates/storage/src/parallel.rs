//! What storage asks of the layers above: workers, an ear for progress, and a sign to stop.

use stdx::sync::Mutex;
use types::{SqlError, SqlResult};

/// Runs independent tasks on some workers. Storage knows no scheduler; who loads brings one.
pub trait Parallel: Sync {
    /// Calls `body` once for each number below `tasks`, on any threads and in any order, and returns when all are done.
    /// After an error tasks may be left out; then it returns that error, or its own when it was stopped.
    fn run(&self, tasks: usize, body: &(dyn Fn(usize) -> SqlResult<()> + Sync)) -> SqlResult<()>;
    /// How many tasks can run at once.
    fn width(&self) -> usize;
}

/// Runs tasks one after the other on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Parallel for Serial {
    fn run(&self, tasks: usize, body: &(dyn Fn(usize) -> SqlResult<()> + Sync)) -> SqlResult<()> {
        (0..tasks).try_for_each(body)
    }

    fn width(&self) -> usize {
        1
    }
}

/// Hears how far a load is. Called from workers.
pub trait Progress: Sync {
    /// `done` of `total` values (rows times columns) are loaded; `done` may fall behind an earlier call of another
    /// worker.
    fn advance(&self, done: u64, total: u64);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn advance(&self, _: u64, _: u64) {}
}

/// Runs fallible tasks and collects their results in order. Of several failures that of the lowest task is returned.
///
/// # Errors
/// Those of the tasks, and that of being stopped.
pub fn try_map<T: Send>(
    parallel: &dyn Parallel,
    tasks: usize,
    body: impl Fn(usize) -> SqlResult<T> + Sync,
) -> SqlResult<Vec<T>> {
    let slots: Vec<Mutex<Option<SqlResult<T>>>> = (0..tasks).map(|_| Mutex::new(None)).collect();
    let run = |task: usize| {
        let result = body(task);
        let told = result.as_ref().map(|_| ()).map_err(Clone::clone);
        *slots[task].lock() = Some(result);
        told
    };
    let outcome = match tasks {
        0 => Ok(()),
        1 => run(0),
        _ => parallel.run(tasks, &run),
    };
    let mut results = Vec::with_capacity(tasks);
    for slot in slots {
        if let Some(result) = slot.into_inner() {
            results.push(result?);
        }
    }
    outcome?;
    if results.len() < tasks {
        return Err(SqlError::internal("a worker left a task of a load undone"));
    }
    Ok(results)
}

/// [`try_map`] for tasks that cannot fail.
pub(crate) fn map<T: Send>(
    parallel: &dyn Parallel,
    tasks: usize,
    body: impl Fn(usize) -> T + Sync,
) -> SqlResult<Vec<T>> {
    try_map(parallel, tasks, |task| Ok(body(task)))
}

/// Runs a task on each of some exclusively borrowed things.
pub(crate) fn for_each<T: Send>(
    parallel: &dyn Parallel,
    items: Vec<T>,
    body: impl Fn(usize, T) + Sync,
) -> SqlResult<()> {
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|it| Mutex::new(Some(it))).collect();
    map(parallel, items.len(), |task| {
        let item = items[task].lock().take();
        body(task, item.expect("invariant: a task runs once"));
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::SqlState;

    #[test]
    fn results_keep_their_order_and_the_first_error_wins() {
        assert_eq!(map(&Serial, 4, |it| it * it).unwrap(), [0, 1, 4, 9]);
        assert!(map(&Serial, 0, |it| it).unwrap().is_empty());
        let error = try_map(&Serial, 5, |it| match it {
            2.. => Err(SqlError::new(SqlState::INTERNAL, format!("task {it}"))),
            _ => Ok(it),
        });
        assert_eq!(error.unwrap_err().message, "task 2");
        let mut words = [1, 2, 3];
        for_each(&Serial, words.iter_mut().collect(), |task, it| *it += task).unwrap();
        assert_eq!(words, [1, 3, 5]);
    }
}
