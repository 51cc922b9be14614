//! Of each partition of an order only the first rows are wanted: a worker that has seen as many better rows of a partition as
//! are wanted drops a row, before it is kept and sorted.
//!
//! Key decision: workers tell each other nothing. A row that one of them drops has enough rows before it that the same worker
//! has handed on, so whatever others hand on, it is known to be behind those.
//!
//! - Invariant: a row is dropped only if as many rows of its partition as are wanted come before it, none of them equal to it,
//!   and all of them are handed on. So each of the first rows, and those equal to the last of them, is there with all before it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use types::SqlResult;

use super::key::{BytesKey, CompiledSortKey, KeyEncoder, RowKey};
use crate::{Batch, PerSlot, Sink, State, Team, WorkContext};

/// Rows of a partition up to which it pays to know the first.
pub(crate) const FIRSTS_MAX: u64 = 1 << 14;
/// Rows in partitions that have enough after which a worker looks how many of them it has dropped.
const TRIAL_ROWS: u64 = if cfg!(test) { 64 } else { 1 << 15 };
/// Of so many such rows one is dropped at least, if looking is to go on.
const ROWS_PER_DROPPED: u64 = 4;
/// What a worker keeps of keys at most (about what its cache holds): with more partitions a look costs as much as it spares.
const BYTES_MAX: usize = if cfg!(test) { 4096 } else { 4 << 20 };
/// About what a partition takes beside its keys.
const PARTITION_BYTES: usize = 64;

/// Hands on rows that can be among the first of their partition.
struct Firsts<P, O> {
    input: Box<dyn Sink>,
    partition: KeyEncoder,
    order: KeyEncoder,
    wanted: usize,
    locals: PerSlot<Seen<P, O>>,
}

/// What a worker has seen.
struct Seen<P, O> {
    /// Of each partition the keys of its first rows, as many as are wanted, the last of them on top.
    firsts: BTreeMap<P, BinaryHeap<O>>,
    bytes: usize,
    /// Rows of partitions that had enough.
    tried: u64,
    dropped: u64,
    /// Whether it looks no further.
    is_idle: bool,
}

/// A sink in front of another one, which hands it all rows that have less than `wanted` others before them, by `order`, in
/// their `partition`, and perhaps more.
pub(crate) fn firsts_of(
    input: Box<dyn Sink>,
    (partition, order): (Vec<CompiledSortKey>, Vec<CompiledSortKey>),
    wanted: u64,
    slots: usize,
) -> Box<dyn Sink> {
    let wanted = usize::try_from(wanted.max(1)).unwrap_or(usize::MAX);
    let keys = (KeyEncoder::new(partition), KeyEncoder::new(order));
    match (keys.0.bits().is_some(), keys.1.bits().is_some()) {
        (true, true) => Firsts::<u128, u128>::sink(input, keys, wanted, slots),
        (true, false) => Firsts::<u128, BytesKey>::sink(input, keys, wanted, slots),
        (false, true) => Firsts::<BytesKey, u128>::sink(input, keys, wanted, slots),
        (false, false) => Firsts::<BytesKey, BytesKey>::sink(input, keys, wanted, slots),
    }
}

impl<P: RowKey, O: RowKey> Firsts<P, O> {
    fn sink(
        input: Box<dyn Sink>,
        (partition, order): (KeyEncoder, KeyEncoder),
        wanted: usize,
        slots: usize,
    ) -> Box<dyn Sink> {
        Box::new(Self { input, partition, order, wanted, locals: PerSlot::new(slots) })
    }

    /// The rows of a batch that may be among the first; `None` if all may.
    fn kept(
        &self,
        batch: &Batch,
        seen: &mut Seen<P, O>,
        context: &WorkContext,
    ) -> SqlResult<Option<Vec<u32>>> {
        if seen.is_idle {
            return Ok(None);
        }
        let partitions = P::encode(&self.partition, batch)?;
        let orders = O::encode(&self.order, batch)?;
        let keys = partitions.iter().zip(&orders);
        let kept = (0..).zip(keys).filter(|it| seen.take_in(it.1, self.wanted));
        let kept: Vec<u32> = kept.map(|it| it.0).collect();
        let is_short = context.workspace.account().is_over();
        if is_short || seen.bytes > BYTES_MAX || seen.drops_few() {
            *seen = Seen { is_idle: true, ..Seen::default() };
        }
        Ok((kept.len() < batch.rows).then_some(kept))
    }
}

impl<P: RowKey, O: RowKey> Seen<P, O> {
    /// Whether a row may be among the first; then those behind it know of it.
    fn take_in(&mut self, (partition, order): (&P, &O), wanted: usize) -> bool {
        let firsts = match self.firsts.get_mut(partition) {
            Some(firsts) => firsts,
            None => {
                self.bytes += partition.bytes() + PARTITION_BYTES;
                self.firsts.entry(partition.detached()).or_default()
            }
        };
        if firsts.len() < wanted {
            self.bytes += order.bytes();
            firsts.push(order.detached());
            return true;
        }
        self.tried += 1;
        match firsts.peek().map_or(Ordering::Less, |last| order.cmp(last)) {
            Ordering::Greater => {
                self.dropped += 1;
                return false;
            }
            // One more that is equal to the last moves nothing.
            Ordering::Equal => {}
            Ordering::Less => {
                let last = firsts.pop().map_or(0, |it| it.bytes());
                self.bytes = self.bytes + order.bytes() - last.min(self.bytes);
                firsts.push(order.detached());
            }
        }
        true
    }

    fn drops_few(&self) -> bool {
        self.tried >= TRIAL_ROWS && self.dropped * ROWS_PER_DROPPED < self.tried
    }
}

impl<P: RowKey, O: RowKey> Default for Seen<P, O> {
    fn default() -> Self {
        Self { firsts: BTreeMap::new(), bytes: 0, tried: 0, dropped: 0, is_idle: false }
    }
}

impl<P: RowKey, O: RowKey> Sink for Firsts<P, O> {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        let kept = {
            let mut seen = self.locals.lock(context.slot);
            self.kept(&batch, seen.get_or_insert_default(), context)?
        };
        match kept {
            None => self.input.consume(batch, context),
            Some(rows) if rows.is_empty() => Ok(()),
            Some(rows) => self.input.consume(batch.take(&rows), context),
        }
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        drop(self.locals.take_all());
        self.input.finish(team)
    }
}
