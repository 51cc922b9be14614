//! Rows kept as they come, and rows read again: the sinks Materialize and Result, the sources Read and Values.
//!
//! P-HANA 5.2 divides an output by where its input was, and gives each region tasks with the affinity of its node. Here a
//! batch stays on the node of the worker that wrote it, so that is its region: neighbours of one node are one range, and
//! a range has as many morsels as it has batches.

use std::ops::Range;

use hardware::NodeId;
use scheduler::MorselRange;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};
use types::SqlResult;

use crate::lookups::batch_bytes;
use crate::spill::{Keeper, SharedFile};
use crate::traffic::{Item, Place};
use crate::{
    Batch, ColumnShape, Kept, Layout, Next, PerSlot, Representation, Rows, Sink, Source, State,
    Team, WorkContext,
};

/// Keeps batches in the order of their source, at most `limit` rows after `offset`.
pub struct MaterializeSink {
    layout: Layout,
    offset: u64,
    limit: Option<u64>,
    ordered: bool,
    seen: AtomicU64,
    batches: PerSlot<(Keeper, Vec<NodeId>)>,
    file: SharedFile,
}

impl MaterializeSink {
    /// A sink for batches of `layout`; `ordered` when the source's order means something.
    pub fn new(
        layout: Layout,
        offset: u64,
        limit: Option<u64>,
        ordered: bool,
        slots: usize,
    ) -> Self {
        let batches = PerSlot::new(slots);
        let (seen, file) = (AtomicU64::new(0), SharedFile::default());
        Self { layout, offset, limit, ordered, seen, batches, file }
    }
}

impl Sink for MaterializeSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        self.seen.fetch_add(batch.rows as u64, Ordering::Relaxed);
        let mut local = self.batches.lock(context.slot);
        let (keeper, homes) =
            local.get_or_insert_with(|| (Keeper::new(self.file.clone()), Vec::new()));
        homes.push(context.node);
        context.touch(Item::Results, Place::Own, batch_bytes(&batch));
        keeper.keep(batch, &context.workspace)
    }

    fn finish(&self, _team: &dyn Team) -> SqlResult<State> {
        let of_worker =
            |(keeper, homes): (Keeper, Vec<NodeId>)| keeper.finish().into_iter().zip(homes);
        let mut written: Vec<(Kept, NodeId)> =
            self.batches.take_all().into_iter().flat_map(of_worker).collect();
        // Batches of one source position come from one worker, in order; the sort keeps that order.
        written.sort_by_key(|it| it.0.sequence());
        let (batches, mut homes): (Vec<Kept>, Vec<NodeId>) = written.into_iter().unzip();
        let batches = cut(batches, self.offset, self.limit)?;
        if batches.len() != homes.len() {
            homes.clear();
        }
        Ok(State::Rows(Arc::new(Rows {
            layout: self.layout.clone(),
            batches,
            ordered: self.ordered,
            homes,
            parts: None,
        })))
    }

    fn is_full(&self) -> bool {
        // With an order, the first rows are not known before all have been seen.
        let wanted = self.limit.map(|limit| limit.saturating_add(self.offset));
        !self.ordered && wanted.is_some_and(|wanted| self.seen.load(Ordering::Relaxed) >= wanted)
    }
}

/// The rows from `offset` on, at most `limit` of them.
pub fn cut(batches: Vec<Kept>, offset: u64, limit: Option<u64>) -> SqlResult<Vec<Kept>> {
    if offset == 0 && limit.is_none() {
        return Ok(batches);
    }
    let (mut skip, mut left) = (offset, limit.unwrap_or(u64::MAX));
    let mut kept = Vec::new();
    for batch in batches {
        let rows = batch.rows() as u64;
        let first = skip.min(rows);
        skip -= first;
        let last = first + (rows - first).min(left);
        left -= last - first;
        if first == 0 && last == rows {
            kept.push(batch);
        } else if first < last {
            let rows: Vec<u32> = (first as u32..last as u32).collect();
            kept.push(Kept::Here(batch.batch()?.take(&rows)));
        }
    }
    Ok(kept)
}

/// Reads materialised rows, one state after the other.
pub struct ReadSource {
    rows: Vec<Arc<Rows>>,
    ends: Vec<u64>,
}

impl ReadSource {
    /// A source over states whose columns have the same types; where they are held in different ways (codes of
    /// different columns, 64 and 128 bits), they are brought to one.
    pub fn new(rows: Vec<Arc<Rows>>) -> SqlResult<Self> {
        let rows = if rows.len() > 1 { unify(rows)? } else { rows };
        let mut end = 0;
        let ends = rows
            .iter()
            .map(|it| {
                end += it.batches.len() as u64;
                end
            })
            .collect();
        Ok(Self { rows, ends })
    }

    /// Whether the order of the rows means something.
    pub fn is_ordered(&self) -> bool {
        self.rows.len() == 1 && self.rows[0].ordered
    }
}

impl Source for ReadSource {
    fn layout(&self) -> &Layout {
        &self.rows[0].layout
    }

    /// The unit of these ranges is a batch, not a row. Neighbours with one home are one range.
    fn ranges(&self) -> Vec<MorselRange> {
        let home = |rows: &Rows, at: usize| rows.homes.get(at).copied();
        let homes = self.rows.iter().flat_map(|it| (0..it.batches.len()).map(|at| home(it, at)));
        let homes: Vec<Option<NodeId>> = homes.collect();
        let mut start = 0;
        let range = |run: &[Option<NodeId>]| {
            let end = start + run.len() as u64;
            MorselRange { node: run[0], start: std::mem::replace(&mut start, end), end }
        };
        homes.chunk_by(|a, b| a == b).map(range).collect()
    }

    fn morsel_rows(&self) -> u64 {
        4
    }

    fn produce(&self, range: Range<u64>, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        for index in range {
            let state = self.ends.partition_point(|&end| end <= index);
            let start = if state == 0 { 0 } else { self.ends[state - 1] };
            let rows = &self.rows[state];
            let mut batch = rows.batches[(index - start) as usize].batch()?;
            let home = Place::of(rows.homes.get((index - start) as usize).copied());
            context.touch(Item::Results, home, batch_bytes(&batch));
            batch.sequence = index;
            next(batch)?;
        }
        Ok(())
    }
}

/// Brings states with the same types to one layout.
fn unify(states: Vec<Arc<Rows>>) -> SqlResult<Vec<Arc<Rows>>> {
    let mut layout = states[0].layout.clone();
    for state in &states[1..] {
        for (shape, other) in layout.iter_mut().zip(&state.layout) {
            *shape = common_shape(shape, other);
        }
    }
    states.into_iter().map(|it| it.with_layout(&layout).map(Arc::new)).collect()
}

/// A shape in which the values of both can be held.
pub(crate) fn common_shape(left: &ColumnShape, right: &ColumnShape) -> ColumnShape {
    use Representation::{Codes, I64, I128};
    let representation = match (&left.representation, &right.representation) {
        (Codes(a), Codes(b)) if Arc::ptr_eq(a, b) => Codes(a.clone()),
        (I64, I128) | (I128, I64) => I128,
        (Codes(_), _) | (_, Codes(_)) => Representation::Text,
        (same, _) => same.clone(),
    };
    let bounds = match (left.bounds, right.bounds) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        _ => None,
    };
    let nullable = left.nullable || right.nullable;
    ColumnShape { data_type: left.data_type, representation, bounds, nullable }
}

/// Constant rows.
pub struct ValuesSource {
    layout: Layout,
    batches: Vec<Batch>,
}

impl ValuesSource {
    /// A source of these batches.
    pub fn new(layout: Layout, batches: Vec<Batch>) -> Self {
        Self { layout, batches }
    }
}

impl Source for ValuesSource {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn ranges(&self) -> Vec<MorselRange> {
        vec![MorselRange { node: None, start: 0, end: self.batches.len() as u64 }]
    }

    fn morsel_rows(&self) -> u64 {
        16
    }

    fn produce(&self, range: Range<u64>, _: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        for index in range {
            let mut batch = self.batches[index as usize].clone();
            batch.sequence = index;
            next(batch)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(sequence: u64) -> Batch {
        Batch { rows: 1, columns: Vec::new(), sequence }
    }

    fn context(node: u16) -> WorkContext {
        WorkContext { node: NodeId(node), ..crate::testing::context(usize::from(node)) }
    }

    /// What two workers, of nodes 0 and 1, wrote: (node, sequence).
    fn written(all: &[(u16, u64)], offset: u64, limit: Option<u64>) -> Arc<Rows> {
        let sink = MaterializeSink::new(Vec::new(), offset, limit, true, 2);
        for &(node, sequence) in all {
            sink.consume(batch(sequence), &context(node)).unwrap();
        }
        struct Nobody;
        impl Team for Nobody {
            fn workspace(&self) -> Arc<memory::Workspace> {
                memory::Workspace::heap()
            }

            fn slots(&self) -> usize {
                2
            }
            fn run(
                &self,
                _: usize,
                _: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
            ) -> SqlResult<()> {
                Ok(())
            }
        }
        match sink.finish(&Nobody).unwrap() {
            State::Rows(rows) => rows,
            _ => unreachable!("a materialised state is rows"),
        }
    }

    fn ranges(rows: Vec<Arc<Rows>>) -> Vec<(Option<u16>, u64, u64)> {
        let source = ReadSource::new(rows).unwrap();
        source.ranges().iter().map(|it| (it.node.map(|it| it.0), it.start, it.end)).collect()
    }

    #[test]
    fn what_a_worker_wrote_is_read_at_home_first() {
        let all = [(0, 1), (1, 4), (0, 2), (1, 3), (0, 9)];
        let rows = written(&all, 0, None);
        let runs = [(Some(0), 0, 2), (Some(1), 2, 4), (Some(0), 4, 5)];
        assert_eq!(ranges(vec![rows.clone()]), runs);
        assert_eq!(ranges(vec![rows.clone(), rows]).len(), 5, "the run goes on in the next state");
        assert_eq!(ranges(vec![written(&[], 0, None)]), []);
        assert_eq!(ranges(vec![written(&all, 1, Some(3))]), [(None, 0, 3)], "cut: not known");
    }
}
