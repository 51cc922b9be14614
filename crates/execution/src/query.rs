//! Drives the pipelines of a plan over the scheduler, one after the other, and tells what each did.

use std::collections::HashMap;
use std::ops::ControlFlow;

use hardware::{Demand, Machine, NodeId, Pattern};
use plan::{Pipeline, PipelineId, Plan};
use scheduler::{CancelToken, Morsel, MorselContext, Scheduler};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use storage::Table;
use types::{SqlError, SqlResult, TableId};

use crate::lower::{Lowered, lower};
use crate::team::{JobSettings, QueryTeam, check_outcome, run_scoped};
use crate::{Batch, Operator, Rows, Sink, Source, State, Traffic, WorkContext};

/// Rows of a source up to which a pipeline runs on the calling worker: below it, waking the team costs more.
const INLINE_ROWS: u64 = 4096;

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
    /// Ends the query early.
    pub cancel: CancelToken,
    /// Query class, lower first.
    pub class: u8,
    /// Age of the statement.
    pub statement: u64,
    /// Workers that the query may use, `None` for all.
    pub max_workers: Option<usize>,
    /// How strongly tasks are tied to the nodes of their rows.
    pub affinity: scheduler::Affinity,
}

/// What a pipeline did.
#[derive(Clone, Debug, Default)]
pub struct PipelineReport {
    /// Rows that reached the sink.
    pub rows: u64,
    /// Wall time with the finish of the sink.
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
    let team = QueryTeam {
        scheduler: context.scheduler.clone(),
        settings: JobSettings {
            class: context.class,
            statement: context.statement,
            cancel: context.cancel.clone(),
            max_workers: context.max_workers,
            affinity: context.affinity,
        },
    };
    let last_uses = last_uses(plan);
    let mut states: Vec<Option<State>> = vec![None; plan.pipelines.len()];
    let mut reports = Vec::with_capacity(plan.pipelines.len());
    for (index, pipeline) in plan.pipelines.iter().enumerate() {
        let started = context.machine.now();
        let (state, mut report) = run_pipeline(pipeline, &states, context, &team)?;
        report.time = context.machine.now() - started;
        reports.push(report);
        states[index] = Some(state);
        // A state is freed as soon as nothing will read it.
        for (used, &last) in last_uses.iter().enumerate() {
            if last == index && used != index {
                states[used] = None;
            }
        }
    }
    match states.pop().flatten() {
        Some(State::Rows(rows)) => Ok(Executed { rows, reports }),
        _ => Err(SqlError::internal("the plan does not end in a result")),
    }
}

/// For each pipeline the last one that reads its state; itself when none does.
fn last_uses(plan: &Plan) -> Vec<usize> {
    let mut last: Vec<usize> = (0..plan.pipelines.len()).collect();
    for (index, pipeline) in plan.pipelines.iter().enumerate() {
        for PipelineId(used) in pipeline.inputs() {
            last[used as usize] = index;
        }
    }
    last
}

fn run_pipeline(
    pipeline: &Pipeline,
    states: &[Option<State>],
    context: &QueryContext,
    team: &QueryTeam,
) -> SqlResult<(State, PipelineReport)> {
    let Lowered { source, operators, sink } = lower(pipeline, states, context)?;
    let slots = team.scheduler.slots();
    let rows_in: Vec<AtomicU64> = (0..slots).map(|_| AtomicU64::new(0)).collect();
    let (local, remote) = (AtomicU64::new(0), AtomicU64::new(0));
    let failed: Mutex<Option<SqlError>> = Mutex::new(None);
    let body = |morsel_context: &MorselContext, morsel: Morsel| {
        let work = WorkContext { slot: morsel_context.slot, node: morsel_context.node };
        for (node, bytes) in source.bytes_read(morsel.start..morsel.end, work.node) {
            context.traffic.add(work.node, node, bytes);
            let counter = if node == work.node { &local } else { &remote };
            counter.fetch_add(bytes, Ordering::Relaxed);
        }
        team.scheduler.machine().charge(&|| demand_of(&*source, &morsel, work.node));
        let mut count = 0;
        let result = source.produce(morsel.start..morsel.end, &work, &mut |batch| {
            push(&operators, &*sink, batch, &work, &context.cancel, &mut count)
        });
        rows_in[work.slot].fetch_add(count, Ordering::Relaxed);
        match result {
            Ok(()) if sink.is_full() => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed.lock().get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    };
    let ranges = source.ranges();
    let morsel_rows = source.morsel_rows();
    let rows: u64 = ranges.iter().map(|it| it.end - it.start).sum();
    let inline = rows <= INLINE_ROWS.min(morsel_rows);
    let report = run_scoped(&team.scheduler, &team.settings, ranges, morsel_rows, inline, &body);
    check_outcome(&report, failed.into_inner())?;
    let state = sink.finish(team)?;
    check_cancelled(&context.cancel)?;
    let report = PipelineReport {
        rows: rows_in.iter().map(|it| it.load(Ordering::Relaxed)).sum(),
        time: Nanos(0),
        morsels: report.morsels,
        stolen: report.stolen,
        bytes_local: local.into_inner(),
        bytes_remote: remote.into_inner(),
        source: source.describe(),
    };
    Ok((state, report))
}

/// What a modelled machine charges for a morsel: the bytes its source reads, and what a row costs on average of the
/// queries that compute most (PERFORMANCE, Q1).
fn demand_of(source: &dyn Source, morsel: &Morsel, reader: NodeId) -> Demand {
    const CYCLES_PER_ROW: u64 = 4;
    let rows = morsel.start..morsel.end;
    let demand = Demand { cycles: (rows.end - rows.start) * CYCLES_PER_ROW, ..Demand::default() };
    source
        .bytes_read(rows, reader)
        .into_iter()
        .fold(demand, |demand, (node, bytes)| demand.access(vec![node], bytes, Pattern::Stream))
}

fn check_cancelled(cancel: &CancelToken) -> SqlResult<()> {
    if cancel.is_cancelled() {
        return Err(SqlError::new(types::SqlState::QUERY_CANCELED, "the query was cancelled"));
    }
    Ok(())
}

/// Pushes a batch through the operators into the sink. One morsel may become a billion rows in a join, so cancelling
/// looks here too and not only between morsels.
fn push(
    operators: &[Box<dyn Operator>],
    sink: &dyn Sink,
    batch: Batch,
    context: &WorkContext,
    cancel: &CancelToken,
    count: &mut u64,
) -> SqlResult<()> {
    check_cancelled(cancel)?;
    if batch.rows == 0 {
        return Ok(());
    }
    match operators.split_first() {
        None => {
            *count += batch.rows as u64;
            sink.consume(batch, context)
        }
        Some((operator, rest)) => operator
            .execute(batch, context, &mut |batch| push(rest, sink, batch, context, cancel, count)),
    }
}
