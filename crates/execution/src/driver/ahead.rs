//! What sources have done before their rows are read: a job of its own, bound to the nodes of what it reads.

use std::ops::ControlFlow;

use hardware::{Demand, NodeId, Pattern};
use scheduler::{Label, Morsel, MorselBody, MorselContext, Policy};
use stdx::Nanos;
use stdx::sync::atomic::{AtomicU64, Ordering};
use storage::BLOCK_ROWS;
use types::SqlResult;

use super::fan_out::{fanned_out, shared};
use super::ready::ReadyPipeline;
use crate::team::{ScopedJob, check_outcome, run_scoped};
use crate::traffic::bytes_by_node;
use crate::{Accesses, Item, Place, QueryContext};

/// What a test takes per row on a modelled machine: a scan of packed codes takes less than a cycle
/// (docs/design/07-measured-costs.md, "packed scans").
const CYCLES_PER_ROW: u64 = 1;

/// What was done ahead of a pipeline; nothing for most.
#[derive(Default)]
pub(super) struct AheadReport {
    pub time: Nanos,
    pub morsels: u64,
    pub stolen: u64,
    pub bytes_local: u64,
    pub bytes_remote: u64,
    pub kept_local: u64,
    pub kept_remote: u64,
}

struct AheadMorsels<'a> {
    ready: &'a ReadyPipeline,
    context: &'a QueryContext,
    local: AtomicU64,
    remote: AtomicU64,
    /// The bitmaps that are written.
    accesses: Accesses,
}

impl MorselBody for AheadMorsels<'_> {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let rows = morsel.start..morsel.end;
        let mut demand =
            Demand { cycles: (morsel.end - morsel.start) * CYCLES_PER_ROW, ..Demand::default() };
        let source = &self.ready.lowered.source;
        let reads = source.items_read_ahead(rows.clone());
        self.context.traffic.count(context.node, &reads, source.item_traffic());
        for read in &reads {
            let counter = if read.node == context.node { &self.local } else { &self.remote };
            counter.fetch_add(read.bytes, Ordering::Relaxed);
        }
        let written = (morsel.end - morsel.start).div_ceil(8);
        self.accesses.add(context.slot, context.node, Item::Bitmaps, Place::Dealt, written);
        for (node, bytes) in bytes_by_node(&reads) {
            demand = demand.access(vec![node], bytes, Pattern::Stream);
        }
        let machine = &self.context.machine;
        machine.charge(&|| demand.clone());
        match &self.ready.meter {
            None => source.run_ahead(rows),
            // The source is given its rows later.
            Some(meter) => meter.morsel(machine, 0, || source.run_ahead(rows)),
        }
        ControlFlow::Continue(())
    }

    fn bytes_read(&self, morsel: Morsel, _: NodeId) -> Vec<(NodeId, u64)> {
        bytes_by_node(&self.ready.lowered.source.items_read_ahead(morsel.start..morsel.end))
    }
}

/// Runs what is to be done ahead of some pipelines, all at once; a report for each of them.
pub(super) fn run_ahead(
    pipelines: &[ReadyPipeline],
    policy: &Policy,
    context: &QueryContext,
) -> SqlResult<Vec<AheadReport>> {
    let mut reports: Vec<AheadReport> = pipelines.iter().map(|_| AheadReport::default()).collect();
    let all = pipelines.iter().map(|it| it.lowered.source.ahead());
    let some: Vec<_> = all.enumerate().filter(|it| !it.1.is_empty()).collect();
    if some.is_empty() {
        return Ok(reports);
    }
    let body = |place: usize| {
        let (local, remote) = (AtomicU64::new(0), AtomicU64::new(0));
        let accesses = Accesses::new(&context.traffic, context.scheduler.slots());
        AheadMorsels { ready: &pipelines[place], context, local, remote, accesses }
    };
    let bodies: Vec<AheadMorsels<'_>> = some.iter().map(|it| body(it.0)).collect();
    let job = |((_, ranges), body): (&(usize, Vec<_>), _)| job_of(ranges, body, policy, context);
    let jobs = some.iter().zip(&bodies).map(job).collect();
    let done = run_scoped(&context.scheduler, &context.control, jobs);
    for (((place, _), body), job) in some.iter().zip(&bodies).zip(done) {
        check_outcome(&job, None, &context.control.cancel)?;
        let (kept_local, kept_remote) = context.traffic.settle(&body.accesses);
        reports[*place] = AheadReport {
            time: job.elapsed,
            morsels: job.morsels,
            stolen: job.stolen,
            bytes_local: body.local.load(Ordering::Relaxed),
            bytes_remote: body.remote.load(Ordering::Relaxed),
            kept_local,
            kept_remote,
        };
    }
    Ok(reports)
}

fn job_of<'a>(
    ranges: &[scheduler::MorselRange],
    body: &'a AheadMorsels<'a>,
    policy: &Policy,
    context: &QueryContext,
) -> ScopedJob<'a> {
    let source = &body.ready.lowered.source;
    let mut bytes: Vec<(NodeId, u64)> = Vec::new();
    for range in ranges {
        bytes.extend(bytes_by_node(&source.items_read_ahead(range.start..range.end)));
    }
    let morsels = ranges.iter().map(|it| (it.end - it.start).div_ceil(BLOCK_ROWS as u64)).sum();
    let reads = shared(source.reads_ahead(), policy, context);
    let (policy, inline) = fanned_out(ranges, (morsels, true), &bytes, policy, context);
    ScopedJob {
        ranges: ranges.to_vec(),
        morsel_rows: BLOCK_ROWS as u64,
        policy,
        label: Label { pipeline: body.ready.index as u32, finishing: false },
        reads,
        inline,
        workspace: &body.ready.workspace,
        body,
    }
}
