//! What the scheduler itself costs: an empty task from submission to its end, and a morsel of a job that does nothing.

use std::ops::ControlFlow;

use hardware::{Machine, MachineError};
use scheduler::{
    Morsel, MorselBody, MorselContext, MorselRange, PipelineJob, Scheduler, SchedulerOptions,
};
use stdx::sync::Arc;

/// Batches of which the fastest counts: the machine may be shared, and what others take is none of our cost.
const BATCHES: u64 = 500;
/// Tasks and morsels of a batch.
const TASKS: u64 = 100;
const MORSELS: u64 = 10_000;

/// The cost in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// An empty task: submitted, run by a worker, awaited, one after the other.
    pub task: f64,
    /// An empty task among many that are submitted before the first is awaited.
    pub task_of_many: f64,
    /// An empty task on the calling thread.
    pub inline: f64,
    /// Cutting and running an empty morsel, by one worker.
    pub morsel: f64,
}

struct Nothing;

impl MorselBody for Nothing {
    fn run(&self, _: &MorselContext, _: Morsel) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Measures on a pool of its own with so many workers.
pub fn measure(machine: &Arc<dyn Machine>, workers: Option<usize>) -> Result<Cost, MachineError> {
    measure_some(machine, workers, BATCHES)
}

fn measure_some(
    machine: &Arc<dyn Machine>,
    workers: Option<usize>,
    batches: u64,
) -> Result<Cost, MachineError> {
    let options = |workers| SchedulerOptions { workers, ..SchedulerOptions::default() };
    let task = || PipelineJob::task(None, Arc::new(Nothing));
    let pool = Scheduler::start(machine.clone(), options(workers))?;
    let least = |count: u64, batch: &dyn Fn()| {
        let time = |_| {
            let started = machine.now();
            batch();
            (machine.now() - started).0
        };
        (0..batches).map(time).min().unwrap_or(0) as f64 / count as f64
    };
    let alone = least(TASKS, &|| (0..TASKS).for_each(|_| drop(pool.run(task()))));
    let task_of_many = least(TASKS, &|| {
        let handles: Vec<_> = (0..TASKS).map(|_| pool.submit(task())).collect();
        handles.iter().for_each(|it| drop(pool.wait(it)));
    });
    let inline = least(TASKS, &|| (0..TASKS).for_each(|_| drop(pool.run_inline(task()))));
    drop(pool);

    let single = Scheduler::start(machine.clone(), options(Some(1)))?;
    let morsel = least(MORSELS, &|| {
        let range = MorselRange { node: None, start: 0, end: MORSELS };
        single.run(PipelineJob::new(vec![range], 1, Arc::new(Nothing)));
    });
    Ok(Cost { task: alone, task_of_many, inline, morsel })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_costs_are_measured() {
        let machine: Arc<dyn Machine> = hardware_linux::open();
        let cost = measure_some(&machine, Some(2), 3).unwrap();
        let all = [cost.task, cost.task_of_many, cost.inline, cost.morsel];
        assert!(all.iter().all(|it| *it > 0.0), "{cost:?}");
    }
}
