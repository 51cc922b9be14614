//! Drives the pipelines of a plan over the scheduler, and tells what each did.

use std::collections::HashMap;

use hardware::Machine;
use plan::Plan;
use scheduler::Scheduler;
use stdx::Nanos;
use stdx::sync::Arc;
use storage::Table;
use types::{SqlError, SqlResult, TableId};

use crate::control::QueryControl;
use crate::wave::{Waves, run_wave};
use crate::{Batch, Operator, Rows, Sink, State, StepReport, Traffic, WorkContext, profile};

/// What a query needs from the database.
pub struct QueryContext {
    /// The one pool of workers.
    pub scheduler: Arc<Scheduler>,
    /// The machine, for its clock.
    pub machine: Arc<dyn Machine>,
    /// The tables of the statement's snapshot.
    pub tables: HashMap<TableId, Arc<Table>>,
    /// Counts bytes per running node and memory node.
    pub traffic: Arc<Traffic>,
    /// The statement that the query is: its mark, its policy, its age.
    pub control: Arc<QueryControl>,
    /// Whether the steps of its pipelines are measured.
    pub profile: bool,
}

/// What a pipeline did.
#[derive(Clone, Debug, Default)]
pub struct PipelineReport {
    /// Rows that reached the sink.
    pub rows: u64,
    /// From submission to the end of the finish of its sink; pipelines that ran at once overlap.
    pub time: Nanos,
    /// Morsels run.
    pub morsels: u64,
    /// Morsels run away from the node of their data.
    pub stolen: u64,
    /// Bytes of the source on the node of the worker that read them.
    pub bytes_local: u64,
    /// Bytes of the source on other nodes.
    pub bytes_remote: u64,
    /// What the source learned, a line.
    pub source: String,
    /// Where the time went; empty when the query is not profiled.
    pub steps: Vec<StepReport>,
}

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
    let mut waves = Waves::new(plan, context);
    while let Some(wave) = waves.next(&states)? {
        for (index, state, report) in run_wave(wave, context)? {
            reports[index] = Some(report);
            states[index] = Some(state);
            context.control.finished();
        }
        // A state is freed as soon as nothing will read it.
        for (index, state) in states.iter_mut().enumerate() {
            if waves.is_read(index) {
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

/// Pushes a batch through the operators into the sink. One morsel may become a billion rows in a join, so cancelling
/// looks here too and not only between morsels. The first operator is step `step` of a profile.
pub(crate) fn push(
    (operators, step): (&[Box<dyn Operator>], usize),
    sink: &dyn Sink,
    batch: Batch,
    context: &WorkContext,
    count: &mut u64,
) -> SqlResult<()> {
    context.check()?;
    if batch.rows == 0 {
        return Ok(());
    }
    let before = profile::enter(step, batch.rows, 0);
    let result = match operators.split_first() {
        None => {
            *count += batch.rows as u64;
            sink.consume(batch, context)
        }
        Some((operator, rest)) => operator.execute(batch, context, &mut |batch| {
            push((rest, step + 1), sink, batch, context, count)
        }),
    };
    profile::leave(before, 0);
    result
}
