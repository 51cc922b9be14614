//! What a worker does with a morsel: its source yields batches, operators map them, the sink takes them in.

use std::ops::ControlFlow;

use hardware::{Demand, NodeId, Pattern};
use memory::Workspace;
use scheduler::{Morsel, MorselBody, MorselContext};
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult};

use super::ready::ReadyPipeline;
use crate::lower::Lowered;
use crate::profile::Meter;
use crate::scan::PackedBlock;
use crate::traffic::bytes_by_node;
use crate::{Accesses, Batch, ItemRead, Operator, QueryContext, Sink, WorkContext, profile};

/// The morsels of a pipeline.
pub(super) struct PipelineMorsels<'a> {
    lowered: &'a Lowered,
    context: &'a QueryContext,
    /// Rows that reached the sink, by slot.
    pub(super) rows_in: Vec<AtomicU64>,
    /// Bytes read of the worker's node, and of others.
    pub(super) local: AtomicU64,
    pub(super) remote: AtomicU64,
    /// What the workers touch beside columns.
    pub(super) accesses: Arc<Accesses>,
    /// The first error.
    pub(super) failed: Mutex<Option<SqlError>>,
    /// For queries that are profiled.
    meter: Option<&'a Meter>,
    workspace: &'a Arc<Workspace>,
}

impl<'a> PipelineMorsels<'a> {
    pub(super) fn new(ready: &'a ReadyPipeline, context: &'a QueryContext) -> Self {
        Self {
            lowered: &ready.lowered,
            context,
            rows_in: (0..context.scheduler.slots()).map(|_| AtomicU64::new(0)).collect(),
            local: AtomicU64::new(0),
            remote: AtomicU64::new(0),
            accesses: Arc::new(Accesses::new(&context.traffic, context.scheduler.slots())),
            failed: Mutex::new(None),
            meter: ready.meter.as_ref(),
            workspace: &ready.workspace,
        }
    }
}

impl MorselBody for PipelineMorsels<'_> {
    fn run(&self, context: &MorselContext, morsel: Morsel) -> ControlFlow<()> {
        let Lowered { source, operators, sink } = self.lowered;
        let cancel = &self.context.control.cancel;
        let work = WorkContext {
            slot: context.slot,
            node: context.node,
            cancel: cancel.clone(),
            workspace: self.workspace.clone(),
            accesses: self.accesses.clone(),
        };
        let reads = source.items_read(morsel.start..morsel.end, work.node);
        self.context.traffic.count(work.node, &reads, source.item_traffic());
        for read in &reads {
            let counter = if read.node == work.node { &self.local } else { &self.remote };
            counter.fetch_add(read.bytes, Ordering::Relaxed);
        }
        let machine = &self.context.machine;
        machine.charge(&|| demand_of(morsel, &reads));
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

    fn bytes_beside(&self, slot: usize) -> u64 {
        self.accesses.since_asked(slot)
    }
}

/// Pushes a batch through the operators into the sink. One morsel may become a billion rows in a join, so cancelling
/// looks here too and not only between morsels. The first operator is step `step` of a profile.
pub(super) fn push(
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

/// What a row costs on average of the queries that compute most (docs/design/04-execution.md, "sizes in virtual time").
const CYCLES_PER_ROW: u64 = 4;

/// What a modelled machine charges for a morsel: the bytes its source reads, and [`CYCLES_PER_ROW`].
fn demand_of(morsel: Morsel, reads: &[ItemRead]) -> Demand {
    let cycles = (morsel.end - morsel.start) * CYCLES_PER_ROW;
    let stream = |demand: Demand, (node, bytes)| demand.access(vec![node], bytes, Pattern::Stream);
    bytes_by_node(reads).into_iter().fold(Demand { cycles, ..Demand::default() }, stream)
}
