//! Drives the pipelines of a plan over the scheduler, and tells what each did.

use plan::Plan;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use crate::driver::{PipelineQueue, run_together};
use crate::{PipelineReport, QueryContext, Rows, State};

/// A finished query.
pub struct Executed {
    /// The answer.
    pub rows: Arc<Rows>,
    /// What each pipeline did.
    pub reports: Vec<PipelineReport>,
}

/// Runs a plan to its answer.
pub fn execute(plan: &Plan, context: &QueryContext) -> SqlResult<Executed> {
    let count = plan.pipelines.len();
    context.control.begin(count);
    let mut states: Vec<Option<State>> = vec![None; count];
    let mut reports: Vec<Option<PipelineReport>> = vec![None; count];
    let mut queue = PipelineQueue::new(plan, context);
    while let Some(pipelines) = queue.next(&states)? {
        for (index, state, report) in run_together(pipelines, context)? {
            reports[index] = Some(report);
            states[index] = Some(state);
            context.control.finished();
        }
        // A state is freed as soon as nothing will read it.
        for (index, state) in states.iter_mut().enumerate() {
            if queue.is_read(index) {
                *state = None;
            }
        }
    }
    let reports = reports.into_iter().flatten().collect();
    match states.pop().flatten() {
        Some(State::Rows(rows)) => Ok(Executed { rows, reports }),
        _ => Err(SqlError::internal("the plan does not end in a result")),
    }
}
