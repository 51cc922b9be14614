//! A unit of work: whole partitions that follow one another, with what the functions need of their rows.

use std::ops::Range;

use plan::{AggregateFunction, WindowFunction};
use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult};

use super::bounds::{Bound, KnownFrame, Order};
use super::call::{CompiledBound, CompiledCall};
use super::extremes::Extremes;
use super::keys::{Begins, Keys};
use super::reach::{RangeCodes, Reach};
use super::sums::{FloatSum, Floats, Prefix};
use crate::lookups::batch_bytes;
use crate::sort::KeyEncoder;
use crate::traffic::{Item, Place};
use crate::value::convert;
use crate::{Batch, Bitmap, Kept, Team, Values, Vector, WorkContext};

/// Rows of a sorted batch that belong to a unit.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) batch: usize,
    pub(super) rows: Range<usize>,
    /// The place of the first of them in the unit.
    pub(super) first: usize,
}

impl Piece {
    /// The rows.
    pub(super) fn read(&self, sorted: &[Kept], context: &WorkContext) -> SqlResult<Batch> {
        context.check()?;
        let batch = sorted[self.batch].batch()?;
        let batch = match self.rows.len() == batch.rows {
            true => batch,
            false => {
                batch.take(&(self.rows.start as u32..self.rows.end as u32).collect::<Vec<_>>())
            }
        };
        context.touch(Item::Sorts, Place::Dealt, batch_bytes(&batch));
        Ok(batch)
    }
}

/// What all units have in common.
pub(super) struct Common<'a> {
    pub(super) calls: &'a [CompiledCall],
    pub(super) frames: &'a [KnownFrame],
    /// The encoders of the partition alone and of it with leading keys of the order, by how many those are.
    pub(super) levels: &'a [(usize, KeyEncoder)],
    pub(super) sorted: &'a [Kept],
}

/// What one function needs of the rows of a piece.
struct OfPiece {
    arguments: Vec<Arc<Vector>>,
    /// Which rows an aggregate counts; `None` for all.
    counted: Option<Bitmap>,
    keys: Option<Keys>,
    /// The values of the order key, and how far frames reach.
    range: Option<RangeCodes>,
}

/// The rows of a unit as a function sees them.
pub(super) struct Column {
    /// The arguments, piece by piece.
    pub(super) arguments: Vec<Vec<Arc<Vector>>>,
    /// The numbers of counted rows before each row; `None` where all count.
    pub(super) counts: Option<Vec<usize>>,
    /// Rows whose first argument is not NULL, where others are passed over.
    pub(super) known: Option<Vec<usize>>,
    pub(super) range: Option<RangeCodes>,
    pub(super) data: Data,
}

/// What an aggregate is made of.
pub(super) enum Data {
    /// Of no aggregate, or of a count.
    Nothing,
    Exact(Prefix),
    Floats(Floats),
    Extremes(Extremes),
    /// Of an aggregate that keeps what it needs by itself: the rows that count, piece by piece; `None` for all.
    States(Vec<Option<Bitmap>>),
}

/// A unit with all that its functions need.
pub(super) struct Unit {
    pub(super) pieces: Vec<Piece>,
    /// For each level where its groups begin, then the number of rows.
    pub(super) starts: Vec<Vec<usize>>,
    /// For each function.
    pub(super) columns: Vec<Column>,
}

impl Unit {
    /// Prepares the rows of some pieces.
    pub(super) fn new(pieces: Vec<Piece>, common: &Common<'_>, team: &dyn Team) -> SqlResult<Self> {
        type Prepared = (Vec<Begins>, Vec<OfPiece>);
        let prepared: Vec<Mutex<Option<Prepared>>> =
            pieces.iter().map(|_| Mutex::default()).collect();
        team.run(pieces.len(), &|place, context| {
            let batch = pieces[place].read(common.sorted, context)?;
            let begins = common.levels.iter().map(|it| Begins::of(&it.1, &batch));
            let begins = begins.collect::<SqlResult<Vec<_>>>()?;
            let calls = common.calls.iter().zip(common.frames);
            let of_calls = calls.map(|it| OfPiece::new(it.0, it.1, &batch));
            let of_calls = of_calls.collect::<SqlResult<Vec<_>>>()?;
            *prepared[place].lock() = Some((begins, of_calls));
            Ok(())
        })?;
        let mut begins: Vec<Vec<Begins>> = common.levels.iter().map(|_| Vec::new()).collect();
        let mut of_calls: Vec<Vec<OfPiece>> = common.calls.iter().map(|_| Vec::new()).collect();
        for prepared in prepared {
            let Some((levels, calls)) = prepared.into_inner() else {
                return Err(SqlError::internal("a piece of a window was not prepared"));
            };
            begins.iter_mut().zip(levels).for_each(|it| it.0.push(it.1));
            of_calls.iter_mut().zip(calls).for_each(|it| it.0.push(it.1));
        }
        let rows = pieces.last().map_or(0, |it| it.first + it.rows.len());
        let starts = begins.iter().map(|it| starts_of(it, &pieces, rows)).collect();
        let ends: Vec<usize> = pieces.iter().map(|it| it.first).chain([rows]).collect();
        let columns = common.calls.iter().zip(of_calls);
        let columns = columns.map(|it| Column::new(it.0, it.1, &ends)).collect();
        Ok(Self { pieces, starts, columns })
    }
}

fn starts_of(begins: &[Begins], pieces: &[Piece], rows: usize) -> Vec<usize> {
    let resolved = Begins::resolve(begins);
    let all = resolved.iter().zip(pieces);
    let all = all.flat_map(|(starts, piece)| starts.iter().map(|it| piece.first + *it as usize));
    all.chain([rows]).collect()
}

/// The rows of a piece that a function counts; `None` for all.
fn counted(
    call: &CompiledCall,
    arguments: &[Arc<Vector>],
    batch: &Batch,
) -> SqlResult<Option<Bitmap>> {
    let strict = match call.function {
        WindowFunction::Aggregate(it) => it.strict_arguments().min(arguments.len()),
        _ => 0,
    };
    let strict = &arguments[..strict];
    let Some(filter) = &call.filter else {
        let mut maps = strict.iter().filter_map(|it| it.validity.as_ref());
        let first = maps.next().cloned();
        return Ok(first.map(|first| {
            maps.fold(first, |mut all, more| {
                all.0.iter_mut().zip(&more.0).for_each(|(word, more)| *word &= more);
                all
            })
        }));
    };
    let mut rows = Vec::new();
    filter.select(batch, &mut rows)?;
    let mut counted = Bitmap::filled(batch.rows, false);
    for row in rows.into_iter().map(|it| it as usize) {
        counted.set(row, strict.iter().all(|it| it.is_valid(row)));
    }
    Ok(Some(counted))
}

impl OfPiece {
    fn new(call: &CompiledCall, frame: &KnownFrame, batch: &Batch) -> SqlResult<Self> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for (place, argument) in call.arguments.iter().enumerate() {
            let vector = argument.evaluate(batch)?;
            // The value and the default are held alike.
            arguments.push(match &call.value {
                Some(shape) if place != 1 => convert(&vector, argument.shape(), shape)?,
                _ => vector,
            });
        }
        let counted = counted(call, &arguments, batch)?;
        let keys = call.ordered.as_ref().map(|it| Keys::of(it, batch)).transpose()?;
        let range = Self::range(call, frame, batch)?;
        Ok(Self { arguments, counted, keys, range })
    }

    fn range(
        call: &CompiledCall,
        frame: &KnownFrame,
        batch: &Batch,
    ) -> SqlResult<Option<RangeCodes>> {
        let (Some(order), Some(key)) = (&frame.range, &call.frame.key) else { return Ok(None) };
        let keys = key.key.evaluate(batch)?;
        let order = match order {
            Order::Whole(it) => it,
            Order::AnyScale(it) => return it.reach(&keys).map(|it| Some(RangeCodes::AnyScale(it))),
        };
        let codes = order.codes(&keys)?;
        let edges = |bound: &CompiledBound, known: Bound, at_end: bool| match (bound, known) {
            (CompiledBound::Value(it), _) => order.times(&*it.evaluate(batch)?, it.shape()),
            (_, Bound::Value) => Ok(order.edges(&keys, &codes, at_end)),
            _ => Ok(Vec::new()),
        };
        let starts = edges(&call.frame.start, frame.start, false)?;
        let ends = edges(&call.frame.end, frame.end, true)?;
        Ok(Some(RangeCodes::Whole(Reach { codes, starts, ends })))
    }
}

impl Column {
    /// `ends`: the first row of each piece, then the number of rows.
    fn new(call: &CompiledCall, pieces: Vec<OfPiece>, ends: &[usize]) -> Self {
        let rows = ends.last().copied().unwrap_or(0);
        let counts = pieces.iter().any(|it| it.counted.is_some()).then(|| {
            let mut counts = Vec::with_capacity(rows + 1);
            let mut count = 0;
            counts.push(0);
            for (piece, bounds) in pieces.iter().zip(ends.windows(2)) {
                for row in 0..bounds[1] - bounds[0] {
                    count += usize::from(piece.counts(row));
                    counts.push(count);
                }
            }
            counts
        });
        let is_aggregate = matches!(call.function, WindowFunction::Aggregate(_));
        let passes_over = call.ignore_nulls || call.filter.is_some() && !is_aggregate;
        let known = passes_over.then(|| {
            let of = |(piece, first): (&OfPiece, &usize)| {
                let vector = piece.arguments[0].clone();
                let (first, ignores) = (*first, call.ignore_nulls);
                let rows = (0..vector.values.len()).filter(|it| piece.counts(*it));
                let rows = rows.filter(|it| !ignores || vector.is_valid(*it));
                rows.map(|it| first + it).collect::<Vec<usize>>()
            };
            pieces.iter().zip(ends).flat_map(of).collect()
        });
        let (mut arguments, mut keys) = (Vec::new(), Vec::new());
        let mut range: Option<RangeCodes> = None;
        let mut counted = Vec::with_capacity(pieces.len());
        for piece in pieces {
            arguments.push(piece.arguments);
            keys.extend(piece.keys);
            counted.push(piece.counted);
            match (&mut range, piece.range) {
                (Some(all), Some(more)) => all.extend(more),
                (None, first) => range = first,
                (Some(_), None) => {}
            }
        }
        let data = data_of(call, (&arguments, &counted), keys, (ends, counts.as_deref()));
        Self { arguments, counts, known, range, data }
    }

    /// Rows that count among some.
    pub(super) fn count(&self, range: (usize, usize)) -> usize {
        match &self.counts {
            Some(counts) => counts[range.1] - counts[range.0],
            None => range.1 - range.0,
        }
    }
}

impl OfPiece {
    fn counts(&self, row: usize) -> bool {
        self.counted.as_ref().is_none_or(|it| it.get(row))
    }
}

type Arguments = Vec<Vec<Arc<Vector>>>;

fn data_of(
    call: &CompiledCall,
    (arguments, counted): (&Arguments, &[Option<Bitmap>]),
    keys: Vec<Keys>,
    (ends, counts): (&[usize], Option<&[usize]>),
) -> Data {
    let WindowFunction::Aggregate(function) = call.function else { return Data::Nothing };
    let counts_row = |row: usize| counts.is_none_or(|it| it[row + 1] > it[row]);
    match function {
        AggregateFunction::Count => Data::Nothing,
        AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::AnyValue => {
            let greatest = function == AggregateFunction::Max;
            let rows = ends.last().copied().unwrap_or(0);
            Data::Extremes(Extremes::new(Keys::joined(keys), greatest, rows, counts_row))
        }
        _ if call.states.is_some() => Data::States(counted.to_vec()),
        _ => {
            let vectors = arguments.iter().map(|it| &it[0]);
            let is_counted =
                |piece: usize, row: usize| counted[piece].as_ref().is_none_or(|it| it.get(row));
            if arguments.first().is_some_and(|it| matches!(it[0].values, Values::F64(_))) {
                return Data::Floats(floats(vectors, &is_counted, ends));
            }
            let mut values: Vec<i128> = Vec::with_capacity(ends.last().copied().unwrap_or(0));
            for (piece, vector) in vectors.enumerate() {
                let counted =
                    |(row, it): (usize, i128)| if is_counted(piece, row) { it } else { 0 };
                match &vector.values {
                    Values::I64(it) => {
                        values.extend(it.iter().map(|&it| it.into()).enumerate().map(counted));
                    }
                    Values::I128(it) => {
                        values.extend(it.iter().copied().enumerate().map(counted));
                    }
                    _ => {}
                }
            }
            Data::Exact(Prefix::of(values.into_iter()))
        }
    }
}

fn floats<'a>(
    vectors: impl Iterator<Item = &'a Arc<Vector>>,
    is_counted: &dyn Fn(usize, usize) -> bool,
    ends: &[usize],
) -> Floats {
    let (mut values, mut sums) = (Vec::new(), Vec::new());
    for (piece, vector) in vectors.enumerate() {
        let Values::F64(all) = &vector.values else { continue };
        let mut sum = FloatSum::default();
        for (row, &value) in all.iter().enumerate() {
            let value = if is_counted(piece, row) { value } else { 0.0 };
            sum.add(value);
            values.push(value);
        }
        sums.push(sum);
    }
    Floats { values, starts: ends.to_vec(), sums }
}
