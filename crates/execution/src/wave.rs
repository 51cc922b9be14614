//! Which pipelines run next, and running them.
//!
//! Pipelines run one after the other, each on all workers: that keeps their hash tables in the caches (P-HYPER 3.2). Only
//! where a pipeline is too narrow to keep the workers busy are others that are ready, and narrow too, run beside it.

use std::ops::ControlFlow;

use hardware::{Demand, NodeId, Pattern};
use plan::{Pipeline, Plan, Source as PlanSource};
use scheduler::hint::{FanOut, PipelineSize, fan_out};
use scheduler::{
    Affinity, Label, Morsel, MorselBody, MorselContext, MorselRange, MorselSize, Policy,
    ScanSharing,
};
use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicU64, Ordering};
use types::{SqlError, SqlResult};

use crate::control::cancelled;
use crate::lower::{Lowered, lower};
use crate::profile::Meter;
use crate::scan::PackedBlock;
use crate::scan::repeated::Repeated;
use crate::steps::step_names;
use crate::team::{JobSettings, QueryTeam, ScopedJob, check_outcome, run_scoped};
use crate::{
    Batch, Operator, PipelineReport, QueryContext, Sink, Source, State, WorkContext, profile,
};

/// Scans decode in steps of so many rows.
const SMALLEST_ROWS: u64 = 1024;

/// A pipeline whose inputs are there.
pub(crate) struct Ready {
    index: usize,
    lowered: Lowered,
    ranges: Vec<MorselRange>,
    morsel_rows: u64,
    rows: u64,
    morsels: u64,
    meter: Option<Meter>,
}

impl Ready {
    fn new(
        plan: &Plan,
        pipeline: &Pipeline,
        states: &[Option<State>],
        repeated: &Repeated,
        context: &QueryContext,
    ) -> SqlResult<Self> {
        let lowered = lower(plan, pipeline, states, repeated, context)?;
        let ranges = lowered.source.ranges();
        let rows = ranges.iter().map(|it| it.end - it.start).sum();
        let workers = context.scheduler.workers() as u64;
        let wanted = lowered.source.morsel_rows().max(1);
        let morsel_rows = morsel_rows(context.control.policy().morsels, wanted, rows, workers);
        let morsels = ranges.iter().map(|it| (it.end - it.start).div_ceil(morsel_rows)).sum();
        let index = pipeline.id.index();
        let meter = context.profile.then(|| {
            let (names, sources) = step_names(pipeline, &lowered);
            Meter::new(names, sources, &*context.machine)
        });
        Ok(Self { index, lowered, ranges, morsel_rows, rows, morsels, meter })
    }
}

/// Rows of a morsel, for a source that wants `wanted` and has `rows`. A source that counts in batches is left alone.
fn morsel_rows(size: MorselSize, wanted: u64, rows: u64, workers: u64) -> u64 {
    match size {
        _ if wanted < SMALLEST_ROWS => wanted,
        MorselSize::Source => wanted,
        MorselSize::Rows(count) => count.next_multiple_of(SMALLEST_ROWS).max(SMALLEST_ROWS),
        MorselSize::Static => rows.div_ceil(workers.max(1)).next_multiple_of(wanted).max(wanted),
    }
}

/// Pipelines in the order in which they run, some of them at once.
pub(crate) struct Waves<'a> {
    plan: &'a Plan,
    context: &'a QueryContext,
    /// For each pipeline those that read its state.
    readers: Vec<Vec<usize>>,
    begun: Vec<bool>,
    repeated: Repeated,
    /// Lowered pipelines that turned out to be too wide to run beside another.
    prepared: Vec<Option<Ready>>,
}

impl<'a> Waves<'a> {
    pub fn new(plan: &'a Plan, context: &'a QueryContext) -> Self {
        let count = plan.pipelines.len();
        let mut readers = vec![Vec::new(); count];
        for (index, pipeline) in plan.pipelines.iter().enumerate() {
            for input in pipeline.inputs() {
                readers[input.index()].push(index);
            }
        }
        let prepared = (0..count).map(|_| None).collect();
        let repeated = Repeated::of(plan, context);
        Self { plan, context, readers, begun: vec![false; count], repeated, prepared }
    }

    /// The next pipelines to run; `None` when all have run. Those of the wave before must be done.
    pub fn next(&mut self, states: &[Option<State>]) -> SqlResult<Option<Vec<Ready>>> {
        let Some(first) = self.begun.iter().position(|it| !it) else { return Ok(None) };
        let mut wave = vec![self.take(first, states)?];
        let workers = self.context.scheduler.workers() as u64;
        // Two morsels a worker: fewer, and some idle while others finish.
        let enough = if workers > 1 { 2 * workers } else { 0 };
        let mut morsels = wave[0].morsels;
        for index in first + 1..self.begun.len() {
            if morsels >= enough {
                break;
            }
            if self.may_go_ahead(index, states) {
                let ready = self.take(index, states)?;
                if ready.morsels < enough {
                    morsels += ready.morsels;
                    wave.push(ready);
                } else {
                    self.prepared[index] = Some(ready);
                }
            }
        }
        wave.iter().for_each(|it| self.begun[it.index] = true);
        Ok(Some(wave))
    }

    /// Whether nobody will read the state of a pipeline any more.
    pub fn is_read(&self, index: usize) -> bool {
        let readers = &self.readers[index];
        !readers.is_empty() && readers.iter().all(|&it| self.begun[it])
    }

    /// Whether a pipeline may run before others that stand before it.
    fn may_go_ahead(&self, index: usize, states: &[Option<State>]) -> bool {
        let pipeline = &self.plan.pipelines[index];
        // The rows of a hash table are complete only after probes that the plan puts before.
        let free = !matches!(pipeline.source, PlanSource::BuildRows { .. });
        free && !self.begun[index]
            && pipeline.inputs().iter().all(|it| states[it.index()].is_some())
    }

    fn take(&mut self, index: usize, states: &[Option<State>]) -> SqlResult<Ready> {
        match self.prepared[index].take() {
            Some(ready) => Ok(ready),
            None => {
                let pipeline = &self.plan.pipelines[index];
                Ready::new(self.plan, pipeline, states, &self.repeated, self.context)
            }
        }
    }
}

/// The morsels of a pipeline.
struct Body<'a> {
    lowered: &'a Lowered,
    context: &'a QueryContext,
    rows_in: Vec<AtomicU64>,
    local: AtomicU64,
    remote: AtomicU64,
    failed: Mutex<Option<SqlError>>,
    /// For queries that are profiled.
    meter: Option<&'a Meter>,
}

impl<'a> Body<'a> {
    fn new(ready: &'a Ready, context: &'a QueryContext) -> Self {
        Self {
            lowered: &ready.lowered,
            context,
            rows_in: (0..context.scheduler.slots()).map(|_| AtomicU64::new(0)).collect(),
            local: AtomicU64::new(0),
            remote: AtomicU64::new(0),
            failed: Mutex::new(None),
            meter: ready.meter.as_ref(),
        }
    }
}

impl MorselBody for Body<'_> {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let Lowered { source, operators, sink } = self.lowered;
        let cancel = &self.context.control.cancel;
        let work = WorkContext { slot: context.slot, node: context.node, cancel: cancel.clone() };
        for (node, bytes) in source.bytes_read(morsel.start..morsel.end, work.node) {
            self.context.traffic.add(work.node, node, bytes);
            let counter = if node == work.node { &self.local } else { &self.remote };
            counter.fetch_add(bytes, Ordering::Relaxed);
        }
        let machine = &self.context.machine;
        machine.charge(&|| demand_of(&**source, morsel, work.node));
        let mut count = 0;
        let rows = morsel.start..morsel.end;
        let first = self.meter.map_or(0, |it| it.sources);
        let (packed, mut taken) = (operators.is_empty() && sink.takes_packed(), 0);
        let take = &mut |block: &PackedBlock<'_>| {
            if !packed {
                return Ok(false);
            }
            let before = profile::enter(first, 0, 0);
            let took = sink.consume_packed(block, &work)?;
            let rows = if took { block.count } else { 0 };
            profile::enter(first, rows, 0);
            profile::leave(before, 0);
            taken += rows as u64;
            Ok(took)
        };
        let produce = || {
            source.produce_packed(rows, &work, take, &mut |batch| {
                push((&operators[..], first), &**sink, batch, &work, &mut count)
            })
        };
        let result = match self.meter {
            None => produce(),
            Some(meter) => meter.morsel(machine, morsel.end - morsel.start, produce),
        };
        count += taken;
        self.rows_in[work.slot].fetch_add(count, Ordering::Relaxed);
        match result {
            Ok(()) if sink.is_full() => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed.lock().get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    fn bytes_read(&self, morsel: Morsel, reader: NodeId) -> Vec<(NodeId, u64)> {
        self.lowered.source.bytes_read(morsel.start..morsel.end, reader)
    }
}

/// Pushes a batch through the operators into the sink. One morsel may become a billion rows in a join, so cancelling
/// looks here too and not only between morsels. The first operator is step `step` of a profile.
fn push(
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

/// What a modelled machine charges for a morsel: the bytes its source reads, and what a row costs on average of the
/// queries that compute most (docs/design/04-execution.md, "sizes in virtual time").
fn demand_of(source: &dyn Source, morsel: Morsel, reader: NodeId) -> Demand {
    const CYCLES_PER_ROW: u64 = 4;
    let cycles = (morsel.end - morsel.start) * CYCLES_PER_ROW;
    let stream = |demand: Demand, (node, bytes)| demand.access(vec![node], bytes, Pattern::Stream);
    let bytes = source.bytes_read(morsel.start..morsel.end, reader);
    bytes.into_iter().fold(Demand { cycles, ..Demand::default() }, stream)
}

/// Runs pipelines at once, and finishes their sinks one after the other.
pub(crate) fn run_wave(
    wave: Vec<Ready>,
    context: &QueryContext,
) -> SqlResult<Vec<(usize, State, PipelineReport)>> {
    let control = &context.control;
    let bodies: Vec<Body<'_>> = wave.iter().map(|it| Body::new(it, context)).collect();
    let policy = control.policy();
    let pairs = wave.iter().zip(&bodies);
    let jobs = pairs.map(|(ready, body)| scoped(ready, body, &policy, context)).collect();
    let reports = run_scoped(&context.scheduler, control, jobs);
    let mut done = Vec::with_capacity(wave.len());
    let measured = bodies.into_iter().map(|it| (it.rows_in, it.local, it.remote, it.failed));
    for ((ready, job), (rows_in, local, remote, failed)) in wave.iter().zip(reports).zip(measured) {
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
fn scoped<'a>(
    ready: &Ready,
    body: &'a Body<'a>,
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
        ScanSharing::Auto => !alone && it.1 > cache(context),
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

/// Bytes up to which what one query has read is still in a cache when the next one reads it: half of the last-level cache.
fn cache(context: &QueryContext) -> u64 {
    const ASSUMED: u64 = 16 << 20;
    match context.machine.topology().llc_bytes.0 {
        0 => ASSUMED,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn morsels_are_as_large_as_asked_in_whole_steps() {
        let rows = |size, wanted| morsel_rows(size, wanted, 1_000_000, 3);
        assert_eq!(rows(MorselSize::Source, 65_536), 65_536);
        assert_eq!(rows(MorselSize::Rows(1), 65_536), 1024);
        assert_eq!(rows(MorselSize::Rows(100_000), 65_536), 100_352);
        assert_eq!(rows(MorselSize::Static, 65_536), 6 * 65_536, "three pieces, of whole blocks");
        assert_eq!(rows(MorselSize::Static, 4), 4, "that source counts in batches");
        assert_eq!(morsel_rows(MorselSize::Static, 65_536, 0, 0), 65_536);
    }
}
