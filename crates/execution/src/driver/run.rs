//! Running pipelines: their jobs on the scheduler, fanned out as the concurrency hint says, and the end of their sinks.

use hardware::NodeId;
use memory::Workspace;
use scheduler::{Affinity, JobReport, Label, MorselRange, Policy};
use stdx::Bytes;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;
use types::SqlResult;

use super::ahead::{AheadReport, run_ahead};
use super::fan_out::{fanned_out, shared};
use super::morsels::{PipelineMorsels, push};
use super::ready::ReadyPipeline;
use crate::control::cancelled;
use crate::lower::Lowered;
use crate::team::{JobSettings, QueryTeam, ScopedJob, check_outcome, run_scoped};
use crate::{PipelineReport, QueryContext, Source, State};

/// A pipeline that has run.
pub(crate) struct Done {
    /// Its number in the plan.
    pub index: usize,
    /// What it leaves, and what it did.
    pub outcome: SqlResult<(State, PipelineReport)>,
    /// The memory that what it leaves is in.
    pub workspace: Arc<Workspace>,
}

/// Runs pipelines at once, and finishes their sinks one after the other.
pub(crate) fn run_together(
    pipelines: Vec<ReadyPipeline>,
    context: &QueryContext,
) -> SqlResult<Vec<Done>> {
    let control = &context.control;
    let bodies: Vec<PipelineMorsels<'_>> =
        pipelines.iter().map(|it| PipelineMorsels::new(it, context)).collect();
    let policy = control.policy();
    let ahead = run_ahead(&pipelines, &policy, context)?;
    let pairs = pipelines.iter().zip(&bodies);
    let jobs = pairs.map(|(ready, body)| job_of(ready, &ready.ranges, body, &policy, context));
    let reports = run_scoped(&context.scheduler, control, jobs.collect());
    let mut done = Vec::with_capacity(pipelines.len());
    for (((ready, job), body), ahead) in pipelines.iter().zip(reports).zip(bodies).zip(ahead) {
        let outcome = finished(ready, (job, body), &ahead, true, context);
        done.push(Done { index: ready.index, outcome, workspace: ready.workspace.clone() });
    }
    // What is given back is taken off those who took it.
    for ready in pipelines {
        let workspace = ready.workspace.clone();
        let _entered = workspace.enter(None);
        drop(ready);
    }
    Ok(done)
}

/// Runs some of the rows of a pipeline, and takes what its sink made of them; `is_last` where no others follow.
pub(super) fn run_slice(
    ready: &ReadyPipeline,
    ranges: &[MorselRange],
    ahead: &AheadReport,
    is_last: bool,
    context: &QueryContext,
) -> SqlResult<(State, PipelineReport)> {
    let body = PipelineMorsels::new(ready, context);
    let policy = context.control.policy();
    let job = job_of(ready, ranges, &body, &policy, context);
    let mut reports = run_scoped(&context.scheduler, &context.control, vec![job]);
    let report = reports.pop().expect("invariant: a job has a report");
    finished(ready, (report, body), ahead, is_last, context)
}

/// The end of a job of a pipeline: what its operators held back, if it was the last, and what its sink made.
fn finished(
    ready: &ReadyPipeline,
    (job, body): (JobReport, PipelineMorsels<'_>),
    ahead: &AheadReport,
    is_last: bool,
    context: &QueryContext,
) -> SqlResult<(State, PipelineReport)> {
    let control = &context.control;
    let PipelineMorsels { rows_in, local, remote, accesses, failed, .. } = body;
    let failed = failed.into_inner().map(|it| ready.lowered.source.fault().unwrap_or(it));
    check_outcome(&job, failed, &control.cancel)?;
    let started = context.machine.now();
    let workspace = &ready.workspace;
    let _entered = workspace.enter(None);
    let settings = JobSettings {
        control: control.clone(),
        pipeline: ready.index as u32,
        workspace: workspace.clone(),
        accesses: accesses.clone(),
    };
    let team = QueryTeam { scheduler: context.scheduler.clone(), settings };
    let Lowered { operators, sink, .. } = &ready.lowered;
    for (place, operator) in operators.iter().enumerate().filter(|_| is_last) {
        let first = ready.meter.as_ref().map_or(0, |it| it.sources) + place + 1;
        operator.finish(&team, &|batch, work| {
            let mut count = 0;
            push((&operators[place + 1..], first), &**sink, batch, work, &mut count)?;
            rows_in[work.slot].fetch_add(count, Ordering::Relaxed);
            Ok(())
        })?;
    }
    let state = sink.finish(&team)?;
    if control.cancel.is_cancelled() {
        return Err(cancelled(&control.cancel));
    }
    let finished = context.machine.now() - started;
    let (kept_local, kept_remote) = context.traffic.settle(&accesses);
    let report = PipelineReport {
        rows: rows_in.iter().map(|it| it.load(Ordering::Relaxed)).sum(),
        time: ahead.time + job.elapsed + finished,
        morsels: ahead.morsels + job.morsels,
        stolen: ahead.stolen + job.stolen,
        bytes_local: ahead.bytes_local + local.into_inner(),
        bytes_remote: ahead.bytes_remote + remote.into_inner(),
        kept_local: ahead.kept_local + kept_local,
        kept_remote: ahead.kept_remote + kept_remote,
        learned: job.bytes_per_second.map(|it| (job.affinity == Affinity::Hard, it)),
        source: ready.lowered.source.describe(),
        memory_peak: workspace.operator().map_or(Bytes(0), |it| it.peak()),
        spilled: workspace.account().spilled_by(ready.index as u32),
        steps: ready.meter.as_ref().map_or_else(Vec::new, |it| it.reports(finished)),
    };
    Ok((state, report))
}

/// The job of some of the rows of a pipeline, fanned out as the concurrency hint says.
fn job_of<'a>(
    ready: &'a ReadyPipeline,
    ranges: &[MorselRange],
    body: &'a PipelineMorsels<'a>,
    policy: &Policy,
    context: &QueryContext,
) -> ScopedJob<'a> {
    let bytes = bytes_by_node(&*ready.lowered.source, ranges);
    let reads = shared(ready.lowered.source.reads(), policy, context);
    let morsels = ready.morsels_of(ranges);
    let morsels = (morsels, ready.counts_rows());
    let (policy, inline) = fanned_out(ranges, morsels, &bytes, policy, context);
    ScopedJob {
        ranges: ranges.to_vec(),
        morsel_rows: ready.morsel_rows,
        policy,
        label: Label { pipeline: ready.index as u32, finishing: false },
        reads,
        inline,
        workspace: &ready.workspace,
        body,
    }
}

/// What a source reads of each node.
fn bytes_by_node(source: &dyn Source, ranges: &[MorselRange]) -> Vec<(NodeId, u64)> {
    let mut sums: Vec<(NodeId, u64)> = Vec::new();
    // Who reads a range at home reads its nearest copy.
    let of_range =
        |it: &MorselRange| source.bytes_read(it.start..it.end, it.node.unwrap_or_default());
    for (node, bytes) in ranges.iter().flat_map(of_range) {
        match sums.iter_mut().find(|it| it.0 == node) {
            Some(sum) => sum.1 += bytes,
            None => sums.push((node, bytes)),
        }
    }
    sums
}
