//! Drives the pipelines of a plan over the scheduler, and tells what each did.

use memory::Workspace;
use plan::Plan;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use crate::driver::{Done, PipelineQueue, run_together};
use crate::{PipelineReport, QueryContext, Rows, State};

/// A finished query.
pub struct Executed {
    /// The answer.
    pub rows: Arc<Rows>,
    /// What each pipeline did.
    pub reports: Vec<PipelineReport>,
    /// The memory that the answer is in, for what is made of it.
    pub workspace: Arc<Workspace>,
}

/// Runs a plan to its answer.
pub fn execute(plan: &Plan, context: &QueryContext) -> SqlResult<Executed> {
    let count = plan.pipelines.len();
    context.control.begin(count);
    let mut states: Vec<Option<State>> = vec![None; count];
    let mut reports: Vec<Option<PipelineReport>> = vec![None; count];
    let mut workspaces: Vec<Option<Arc<Workspace>>> = vec![None; count];
    let mut queue = PipelineQueue::new(plan, context);
    while let Some(pipelines) = queue.next(&states)? {
        for Done { index, state, report, workspace } in run_together(pipelines, context)? {
            reports[index] = Some(report);
            states[index] = Some(state);
            workspaces[index] = Some(workspace);
            context.control.finished();
        }
        // A state is freed as soon as nothing will read it.
        for (index, state) in states.iter_mut().enumerate() {
            if state.is_some() && queue.is_read(index) {
                let reader = queue.last_reader(index).and_then(|it| workspaces[it].as_ref());
                free(state.take(), workspaces[index].as_deref(), reader.map(|it| &**it));
            }
        }
    }
    let reports = reports.into_iter().flatten().collect();
    match states.pop().flatten() {
        Some(State::Rows(rows)) => {
            let workspace = workspaces.pop().flatten();
            let workspace = workspace.unwrap_or_else(|| context.workspace.clone());
            Ok(Executed { rows, reports, workspace })
        }
        _ => Err(SqlError::internal("the plan does not end in a result")),
    }
}

/// Frees the state of a pipeline on behalf of what it ended in; what of it lives on in what its reader has made, as rows that
/// were handed on, is that reader's.
fn free(state: Option<State>, own: Option<&Workspace>, reader: Option<&Workspace>) {
    {
        let _entered = own.map(|it| it.enter(None));
        drop(state);
    }
    let account = |it: Option<&Workspace>| it.and_then(Workspace::operator).cloned();
    if let (Some(own), Some(reader)) = (account(own), account(reader)) {
        own.leave_to(&reader);
    }
}
