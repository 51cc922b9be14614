//! Sorts rows and computes the functions of unit after unit.

use std::ops::Range;

use stdx::Bytes;
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult};

use crate::lookups::batch_bytes;
use crate::materialize::MaterializeSink;
use crate::sort::{CompiledSortKey, KeyEncoder, SortSink, firsts_of};
use crate::spill::{Keeper, SharedFile};
use crate::traffic::{Item, Place};
use crate::work::Alone;
use crate::{Batch, Kept, Layout, Rows, Sink, State, Team, WorkContext};

use super::bounds::KnownFrame;
use super::call::CompiledCall;
use super::keys::Begins;
use super::results::{Running, shape_of, with_columns};
use super::segments::{Before, order_of_segments, segments};
use super::unit::{Common, Piece, Unit};

/// Rows from which a unit is closed.
const UNIT_ROWS: usize = if cfg!(test) { 16 } else { 1 << 15 };
/// Rows of a partition from which workers share it.
const SHARED_ROWS: usize = if cfg!(test) { 24 } else { 1 << 16 };

/// About how many bytes a function needs of each row of a unit: its argument, sums before it, where its peers begin.
const UNIT_ROW_BYTES: u64 = 48;

/// The keys of a partition and of its order, and how many of its first rows are wanted.
type Firsts = (Vec<CompiledSortKey>, Vec<CompiledSortKey>, u64);

/// Computes window functions.
pub struct WindowSink {
    /// What brings the rows into their order.
    input: Box<dyn Sink>,
    calls: Vec<CompiledCall>,
    /// The encoders of the partition, and of it with the leading keys of an order: how many those are.
    levels: Vec<(usize, KeyEncoder)>,
    layout: Layout,
}

impl WindowSink {
    /// Functions over rows of `layout`, sorted by `keys`. `levels` are the keys of the partition, and those of it with leading
    /// keys of the order for each number of these that functions have; `firsts` those of the partition and of the order, and
    /// of how many of its rows functions are wanted.
    pub fn new(
        (keys, firsts): (Vec<CompiledSortKey>, Option<Firsts>),
        levels: Vec<(usize, Vec<CompiledSortKey>)>,
        calls: Vec<CompiledCall>,
        layout: Layout,
        slots: usize,
    ) -> Self {
        let input: Box<dyn Sink> = match keys.is_empty() {
            true => Box::new(MaterializeSink::new(layout.clone(), 0, None, true, slots)),
            false => Box::new(SortSink::new(keys, layout.clone(), 0, None, slots)),
        };
        let input = match firsts {
            Some((partition, order, wanted)) => firsts_of(input, (partition, order), wanted, slots),
            None => input,
        };
        let levels = levels.into_iter().map(|(count, it)| (count, KeyEncoder::new(it))).collect();
        let layout = layout.into_iter().chain(calls.iter().map(shape_of)).collect();
        Self { input, calls, levels, layout }
    }

    /// Where partitions begin in each batch.
    fn partitions(&self, sorted: &[Kept], team: &dyn Team) -> SqlResult<Vec<Vec<u32>>> {
        let begins: Vec<Mutex<Option<Begins>>> = sorted.iter().map(|_| Mutex::default()).collect();
        team.run(sorted.len(), &|place, context| {
            context.check()?;
            let batch = sorted[place].batch()?;
            *begins[place].lock() = Some(Begins::of(&self.levels[0].1, &batch)?);
            Ok(())
        })?;
        let all: Option<Vec<Begins>> = begins.into_iter().map(Mutex::into_inner).collect();
        let all = all.ok_or_else(|| SqlError::internal("a batch of a window was not looked at"))?;
        Ok(Begins::resolve(&all))
    }

    /// The level of the peers of a function.
    fn level(&self, order: usize) -> usize {
        self.levels.iter().position(|it| it.0 == order).unwrap_or(0)
    }

    /// The rows of a unit with their functions.
    fn run(
        &self,
        pieces: Vec<Piece>,
        common: &Common<'_>,
        file: &SharedFile,
        team: &dyn Team,
    ) -> SqlResult<Vec<Kept>> {
        let unit = Unit::new(pieces, common, team)?;
        let stretches = cut(unit.pieces.len(), team.width() * 2);
        let done: Vec<Mutex<Vec<Kept>>> = stretches.iter().map(|_| Mutex::default()).collect();
        team.run(stretches.len(), &|stretch, context| {
            let mut keeper = Keeper::new(file.clone());
            let before = self.calls.iter().map(|_| Before::default()).collect();
            let pieces = stretches[stretch].clone();
            self.compute(&unit, pieces, before, common, (&mut keeper, context))?;
            *done[stretch].lock() = keeper.finish();
            Ok(())
        })?;
        Ok(done.into_iter().flat_map(Mutex::into_inner).collect())
    }

    /// Keeps the rows of some pieces of a unit with their functions, behind what these have of rows before; gives what they have
    /// then.
    fn compute(
        &self,
        unit: &Unit,
        pieces: Range<usize>,
        before: Vec<Before>,
        common: &Common<'_>,
        (keeper, context): (&mut Keeper, &WorkContext),
    ) -> SqlResult<Vec<Before>> {
        let (shapes, own) = (&self.layout, self.layout.len() - self.calls.len());
        let calls = self.calls.iter().zip(common.frames).zip(before).enumerate();
        let mut running: Vec<Running<'_>> = calls
            .map(|(number, ((call, frame), before))| {
                Running::new(call, frame, unit, (number, self.level(call.order)), before)
            })
            .collect();
        for place in pieces {
            let batch = unit.pieces[place].read(common.sorted, context)?;
            let made = running.iter_mut().zip(&shapes[own..]);
            let made = made.map(|(it, shape)| it.piece((place, shape), &|| context.check()));
            let made = made.collect::<SqlResult<Vec<_>>>()?;
            let columns = with_columns(batch.columns, made);
            let batch = Batch { rows: batch.rows, columns, sequence: 0 };
            context.touch(Item::Results, Place::Own, batch_bytes(&batch));
            keeper.keep(batch, &context.workspace)?;
        }
        Ok(running.into_iter().map(Running::go_on).collect())
    }

    /// The keys between whose groups a partition is cut into segments, as there is no memory for what all its rows need;
    /// `None` if there is, or it cannot be cut.
    fn keys_of_segments(
        &self,
        pieces: &[Piece],
        common: &Common<'_>,
        team: &dyn Team,
    ) -> Option<Option<&KeyEncoder>> {
        let wanted = (rows_of(pieces) * self.calls.len()) as u64 * UNIT_ROW_BYTES;
        if team.workspace().account().has_room_for(Bytes(wanted)) {
            return None;
        }
        Some(order_of_segments(common)?.map(|it| &self.levels[self.level(it)].1))
    }

    /// The rows of a partition with their functions, segment after segment.
    fn run_segments(
        &self,
        (pieces, keys): (&[Piece], Option<&KeyEncoder>),
        common: &Common<'_>,
        file: &SharedFile,
        team: &dyn Team,
    ) -> SqlResult<Vec<Kept>> {
        let done: Mutex<Vec<Kept>> = Mutex::default();
        team.run(1, &|_, context| {
            let mut keeper = Keeper::new(file.clone());
            let mut before = self.calls.iter().map(|_| Before::default()).collect();
            let alone = Alone { context, workspace: context.workspace.clone() };
            for pieces in segments(pieces, UNIT_ROWS, keys, common, context)? {
                let unit = Unit::new(pieces, common, &alone)?;
                let all = 0..unit.pieces.len();
                before = self.compute(&unit, all, before, common, (&mut keeper, context))?;
            }
            *done.lock() = keeper.finish();
            Ok(())
        })?;
        Ok(done.into_inner())
    }

    fn evaluate(&self, sorted: &[Kept], team: &dyn Team) -> SqlResult<Vec<Kept>> {
        let Some(first) = sorted.first() else { return Ok(Vec::new()) };
        let first = first.batch()?;
        let frames = self.calls.iter().map(|it| KnownFrame::of(&it.frame, &first));
        let frames = frames.collect::<SqlResult<Vec<_>>>()?;
        drop(first);
        let units = units(&self.partitions(sorted, team)?, sorted);
        let common = Common { calls: &self.calls, frames: &frames, levels: &self.levels, sorted };
        let file = SharedFile::default();
        let done: Vec<Mutex<Vec<Kept>>> = units.iter().map(|_| Mutex::default()).collect();
        let (shared, own): (Vec<usize>, Vec<usize>) =
            (0..units.len()).partition(|&it| rows_of(&units[it]) >= SHARED_ROWS);
        team.run(own.len(), &|task, context| {
            let alone = Alone { context, workspace: context.workspace.clone() };
            let unit = own[task];
            *done[unit].lock() = self.run(units[unit].clone(), &common, &file, &alone)?;
            Ok(())
        })?;
        for unit in shared {
            let rows = match self.keys_of_segments(&units[unit], &common, team) {
                Some(keys) => self.run_segments((&units[unit], keys), &common, &file, team)?,
                None => self.run(units[unit].clone(), &common, &file, team)?,
            };
            *done[unit].lock() = rows;
        }
        Ok(done.into_iter().flat_map(Mutex::into_inner).collect())
    }
}

/// Ranges of about equal length, none of them empty.
fn cut(count: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.clamp(1, count.max(1));
    let place = |part: usize| part * count / parts;
    (0..parts).map(|part| place(part)..place(part + 1)).collect()
}

fn rows_of(pieces: &[Piece]) -> usize {
    pieces.last().map_or(0, |it| it.first + it.rows.len())
}

/// Cuts sorted rows into units: of partitions until they are enough rows, and of one partition where that is long.
fn units(starts: &[Vec<u32>], sorted: &[Kept]) -> Vec<Vec<Piece>> {
    let mut firsts = Vec::with_capacity(sorted.len() + 1);
    let mut rows = 0;
    for it in sorted {
        firsts.push(rows);
        rows += it.rows();
    }
    let starts: Vec<usize> = (starts.iter().zip(&firsts))
        .flat_map(|(it, first)| it.iter().map(move |row| first + *row as usize))
        .chain([rows])
        .collect();
    let mut units = Vec::new();
    let mut begin = 0;
    for partition in starts.windows(2) {
        let (start, end) = (partition[0], partition[1]);
        if end - start >= SHARED_ROWS && begin < start {
            units.push(pieces(begin..start, &firsts, sorted));
            begin = start;
        }
        if end - begin >= UNIT_ROWS || end == rows {
            units.push(pieces(begin..end, &firsts, sorted));
            begin = end;
        }
    }
    units
}

/// The pieces of sorted batches that are in a range of all rows.
fn pieces(range: Range<usize>, firsts: &[usize], sorted: &[Kept]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut batch = firsts.partition_point(|&it| it <= range.start) - 1;
    let mut start = range.start;
    while start < range.end {
        let end = (firsts[batch] + sorted[batch].rows()).min(range.end);
        if start < end {
            let rows = start - firsts[batch]..end - firsts[batch];
            pieces.push(Piece { batch, rows, first: start - range.start });
        }
        start = end.max(start);
        batch += 1;
    }
    pieces
}

impl Sink for WindowSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        self.input.consume(batch, context)
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let State::Rows(rows) = self.input.finish(team)? else {
            return Err(SqlError::internal("a sort left no rows"));
        };
        let mut batches = self.evaluate(&rows.batches, team)?;
        batches.iter_mut().zip(0..).for_each(|(it, place)| it.set_sequence(place));
        Ok(State::Rows(Arc::new(Rows {
            layout: self.layout.clone(),
            batches,
            ordered: true,
            homes: Vec::new(),
            parts: None,
        })))
    }
}
