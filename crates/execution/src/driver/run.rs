//! Running pipelines: their jobs on the scheduler, fanned out as the concurrency hint says, and the end of their sinks.

use hardware::NodeId;
use scheduler::hint::{FanOut, PipelineSize, fan_out};
use scheduler::{Affinity, Label, MorselRange, Policy, ScanSharing};
use stdx::sync::atomic::Ordering;
use types::SqlResult;

use super::morsels::PipelineMorsels;
use super::ready::ReadyPipeline;
use crate::control::cancelled;
use crate::team::{JobSettings, QueryTeam, ScopedJob, check_outcome, run_scoped};
use crate::{PipelineReport, QueryContext, Source, State};

/// Runs pipelines at once, and finishes their sinks one after the other.
pub(crate) fn run_together(
    pipelines: Vec<ReadyPipeline>,
    context: &QueryContext,
) -> SqlResult<Vec<(usize, State, PipelineReport)>> {
    let control = &context.control;
    let bodies: Vec<PipelineMorsels<'_>> =
        pipelines.iter().map(|it| PipelineMorsels::new(it, context)).collect();
    let policy = control.policy();
    let pairs = pipelines.iter().zip(&bodies);
    let jobs = pairs.map(|(ready, body)| job_of(ready, body, &policy, context)).collect();
    let reports = run_scoped(&context.scheduler, control, jobs);
    let mut done = Vec::with_capacity(pipelines.len());
    let measured = bodies.into_iter().map(|it| (it.rows_in, it.local, it.remote, it.failed));
    for ((ready, job), (rows_in, local, remote, failed)) in
        pipelines.iter().zip(reports).zip(measured)
    {
        check_outcome(&job, failed.into_inner(), &control.cancel)?;
        let started = context.machine.now();
        let settings = JobSettings { control: control.clone(), pipeline: ready.index as u32 };
        let team = QueryTeam { scheduler: context.scheduler.clone(), settings };
        let state = ready.lowered.sink.finish(&team)?;
        if control.cancel.is_cancelled() {
            return Err(cancelled(&control.cancel));
        }
        let finished = context.machine.now() - started;
        let report = PipelineReport {
            rows: rows_in.iter().map(|it| it.load(Ordering::Relaxed)).sum(),
            time: job.elapsed + finished,
            morsels: job.morsels,
            stolen: job.stolen,
            bytes_local: local.into_inner(),
            bytes_remote: remote.into_inner(),
            source: ready.lowered.source.describe(),
            steps: ready.meter.as_ref().map_or_else(Vec::new, |it| it.reports(finished)),
        };
        done.push((ready.index, state, report));
    }
    Ok(done)
}

/// The job of a pipeline, fanned out as the concurrency hint says.
fn job_of<'a>(
    ready: &ReadyPipeline,
    body: &'a PipelineMorsels<'a>,
    policy: &Policy,
    context: &QueryContext,
) -> ScopedJob<'a> {
    let bytes = bytes_by_node(&*ready.lowered.source, &ready.ranges);
    let all = bytes.iter().map(|it| it.1).sum();
    let size = PipelineSize { rows: ready.rows, bytes: all, morsels: ready.morsels };
    let workers = context.scheduler.workers();
    let running = context.control.running.load(Ordering::Relaxed);
    let FanOut { inline, one_node, max_workers } = fan_out(size, workers, running);
    // Who limits the workers of a statement means those that come for others, too.
    let alone = policy.max_workers.is_some();
    let reads = ready.lowered.source.reads().filter(|it| match policy.sharing {
        ScanSharing::Off => false,
        ScanSharing::Auto => !alone && it.1 > cache_bytes(context),
        ScanSharing::On => !alone,
    });
    let mut policy = policy.clone();
    if max_workers < workers.min(usize::try_from(ready.morsels).unwrap_or(usize::MAX)) {
        policy.max_workers = Some(policy.max_workers.map_or(max_workers, |it| it.min(max_workers)));
    }
    if one_node && policy.nodes.is_empty() && policy.affinity != Affinity::None {
        policy.nodes.extend(bytes.iter().max_by_key(|it| it.1).map(|it| it.0));
    }
    ScopedJob {
        ranges: ready.ranges.clone(),
        morsel_rows: ready.morsel_rows,
        policy,
        label: Label { pipeline: ready.index as u32, finishing: false },
        reads: reads.map(|it| it.0),
        inline,
        body,
    }
}

/// What is taken for half of a last-level cache whose size the machine does not tell.
const CACHE_ASSUMED: u64 = 16 << 20;

/// Bytes up to which what one query has read is still in a cache when the next one reads it: half of the last-level cache.
fn cache_bytes(context: &QueryContext) -> u64 {
    match context.machine.topology().llc_bytes.0 {
        0 => CACHE_ASSUMED,
        bytes => bytes / 2,
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
