//! The columns of window functions, for some pieces of a unit in order.

use plan::{AggregateFunction, WindowFunction};
use stdx::sync::Arc;
use storage::Check;
use types::{DataType, SqlError, SqlResult, SqlState};

use super::bounds::KnownFrame;
use super::call::CompiledCall;
use super::extremes::{Extremes, Last, NONE};
use super::frames::{Position, Ranges, Walk, ranges};
use super::segments::Before;
use super::states::{FrameStates, Source};
use super::sums::{Floats, Prefix};
use super::unit::{Column, Data, Piece, Unit};
use crate::aggregate::{checked_float, exact_average, exact_sum};
use crate::expression::null_vector;
use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

/// A function at work on rows one after the other.
pub(super) struct Running<'a> {
    call: &'a CompiledCall,
    frame: &'a KnownFrame,
    unit: &'a Unit,
    column: &'a Column,
    groups: &'a [usize],
    last: [Last; 2],
    before: Before,
}

/// The value of a row comes from here.
#[derive(Clone, Copy)]
enum Chosen {
    Nothing,
    /// The first argument of a row of the unit.
    Row(usize),
    /// The default of the row itself.
    Default,
}

impl<'a> Running<'a> {
    /// The function of this number behind what it has of rows before; `level` is the one that its peers are of.
    pub(super) fn new(
        call: &'a CompiledCall,
        frame: &'a KnownFrame,
        unit: &'a Unit,
        (number, level): (usize, usize),
        before: Before,
    ) -> Self {
        let (column, groups) = (&unit.columns[number], &unit.starts[level][..]);
        Self { call, frame, unit, column, groups, last: [Last::default(); 2], before }
    }

    /// What it has of all rows, once their values are there and more rows of their partition follow.
    pub(super) fn go_on(self) -> Before {
        let Self { unit, column, groups, mut before, .. } = self;
        let rows = unit.pieces.last().map_or(0, |it| it.first + it.rows.len());
        before.rows += rows;
        before.groups += groups.len() - 1;
        before.counted += column.count((0, rows));
        if let Data::Exact(prefix) = &column.data {
            let (all, none) = ((0, rows), (rows, rows));
            let all = Ranges { before: all, current: none, behind: none };
            before.exact = prefix.sum(&all, &before.exact);
        }
        before.floats.go_on();
        before.states.iter_mut().for_each(FrameStates::go_on);
        before
    }

    /// The values for the rows of a piece.
    pub(super) fn piece(
        &mut self,
        (place, shape): (usize, &ColumnShape),
        check: Check<'_>,
    ) -> SqlResult<Vector> {
        use WindowFunction::{
            Aggregate, CumeDist, DenseRank, FirstValue, Lag, LastValue, Lead, NthValue, Ntile,
            PercentRank, Rank, RowNumber,
        };
        let number = |it: usize| it as i64;
        match self.call.function {
            RowNumber => {
                Ok(self
                    .integers(place, |at| number(self.before.rows + at.row - at.partition.0 + 1)))
            }
            Rank => Ok(self
                .integers(place, |at| number(self.before.rows + at.peers.0 - at.partition.0 + 1))),
            DenseRank => {
                Ok(self
                    .integers(place, |at| number(self.before.groups + at.group - at.groups.0 + 1)))
            }
            PercentRank => Ok(self.floats(place, |at| {
                let others = at.partition.1 - at.partition.0 - 1;
                (at.peers.0 - at.partition.0) as f64 / others.max(1) as f64
            })),
            CumeDist => Ok(self.floats(place, |at| {
                let (first, end) = at.partition;
                (at.peers.1 - first) as f64 / (end - first) as f64
            })),
            Ntile => self.buckets(place),
            Lag | Lead => {
                let chosen = self.offset_rows(place)?;
                Ok(self.gather(place, &chosen, shape))
            }
            FirstValue | LastValue | NthValue => {
                let chosen = self.frame_rows(place)?;
                Ok(self.gather(place, &chosen, shape))
            }
            Aggregate(function) => self.aggregate(function, (place, shape), check),
        }
    }

    /// The rows of a piece with where they are.
    fn rows(&self, place: usize) -> impl Iterator<Item = Position> + use<'a> {
        let Piece { rows, first, .. } = &self.unit.pieces[place];
        let mut walk = Walk::from(*first, &self.unit.starts[0], self.groups);
        (*first..first + rows.len()).map(move |row| walk.at(row))
    }

    fn ranges(&self, at: &Position) -> Ranges {
        ranges(self.frame, at, self.groups, self.column.range.as_ref())
    }

    fn integers(&self, place: usize, value: impl Fn(&Position) -> i64) -> Vector {
        Vector::new(Values::I64(self.rows(place).map(|it| value(&it)).collect()))
    }

    fn floats(&self, place: usize, value: impl Fn(&Position) -> f64) -> Vector {
        Vector::new(Values::F64(self.rows(place).map(|it| value(&it)).collect()))
    }

    /// The whole number that an argument is for a row of the unit.
    fn number(&self, argument: usize, row: usize) -> Option<i64> {
        let piece = self.unit.pieces.partition_point(|it| it.first <= row) - 1;
        let vector = &self.column.arguments[piece][argument];
        let row = row - self.unit.pieces[piece].first;
        match &vector.values {
            Values::I64(it) if vector.is_valid(row) => Some(it[row]),
            _ => None,
        }
    }

    /// ntile: the buckets of a partition are as many as its first row says.
    fn buckets(&self, place: usize) -> SqlResult<Vector> {
        let (mut values, mut valid) = (Vec::new(), Vec::new());
        let mut known: Option<(usize, Option<i64>)> = None;
        for at in self.rows(place) {
            let (first, end) = at.partition;
            let buckets = match known {
                Some((partition, buckets)) if partition == first => buckets,
                _ => self.number(0, first),
            };
            known = Some((first, buckets));
            if buckets.is_some_and(|it| it <= 0) {
                let message = "argument of ntile must be greater than zero";
                return Err(SqlError::new(SqlState::INVALID_NTILE_ARGUMENT, message));
            }
            let bucket = buckets.map(|count| {
                let (rows, row) = ((end - first) as i64, (at.row - first) as i64);
                let (size, larger) = (rows / count, rows % count);
                let of_larger = larger * (size + 1);
                match row < of_larger {
                    true => row / (size + 1) + 1,
                    false => larger + (row - of_larger) / size + 1,
                }
            });
            values.push(bucket.unwrap_or(0));
            valid.push(bucket.is_some());
        }
        Ok(optional(Values::I64(values), valid))
    }

    /// The rows of lag and lead.
    fn offset_rows(&self, place: usize) -> SqlResult<Vec<Chosen>> {
        let forward = self.call.function == WindowFunction::Lead;
        let has_offset = self.call.arguments.len() > 1;
        let outside = match self.call.arguments.len() {
            3 => Chosen::Default,
            _ => Chosen::Nothing,
        };
        let mut chosen = Vec::new();
        for at in self.rows(place) {
            let offset = if has_offset { self.number(1, at.row) } else { Some(1) };
            let Some(offset) = offset else {
                chosen.push(Chosen::Nothing);
                continue;
            };
            let offset = if forward { offset } else { -offset };
            let row = match &self.column.known {
                Some(known) if offset != 0 => at_distance(known, &at, offset),
                _ => (at.row as i64).checked_add(offset).and_then(|it| usize::try_from(it).ok()),
            };
            let inside = row.filter(|it| at.partition.0 <= *it && *it < at.partition.1);
            chosen.push(inside.map_or(outside, Chosen::Row));
        }
        Ok(chosen)
    }

    /// The rows of first_value, last_value and nth_value.
    fn frame_rows(&self, place: usize) -> SqlResult<Vec<Chosen>> {
        let mut chosen = Vec::new();
        for at in self.rows(place) {
            let ranges = self.ranges(&at);
            let row = match self.call.function {
                WindowFunction::LastValue => self.last_of(&ranges),
                WindowFunction::FirstValue => self.nth_of(&ranges, 0),
                _ => match self.number(1, at.row) {
                    Some(number @ 1..) => self.nth_of(&ranges, number as usize - 1),
                    Some(_) => {
                        let message = "argument of nth_value must be greater than zero";
                        return Err(SqlError::new(SqlState::INVALID_NTH_VALUE_ARGUMENT, message));
                    }
                    None => None,
                },
            };
            chosen.push(row.map_or(Chosen::Nothing, Chosen::Row));
        }
        Ok(chosen)
    }

    /// The row of a number among those of a frame.
    fn nth_of(&self, ranges: &Ranges, mut number: usize) -> Option<usize> {
        for (start, end) in ranges.iter() {
            match &self.column.known {
                None if number < end - start => return Some(start + number),
                None => number -= end - start,
                Some(known) => {
                    let (first, last) = (before(known, start), before(known, end));
                    if number < last - first {
                        return Some(known[first + number]);
                    }
                    number -= last - first;
                }
            }
        }
        None
    }

    fn last_of(&self, ranges: &Ranges) -> Option<usize> {
        ranges.iter().rev().find_map(|(start, end)| match &self.column.known {
            None => Some(end - 1),
            Some(known) => {
                let last = before(known, end);
                (last > before(known, start)).then(|| known[last - 1])
            }
        })
    }

    /// The values of chosen rows.
    fn gather(&self, place: usize, chosen: &[Chosen], shape: &ColumnShape) -> Vector {
        let nothing = null_vector(shape, 1);
        let pieces = &self.unit.pieces;
        let mut near = place;
        let mut sources: Vec<(&Vector, u32)> = Vec::with_capacity(chosen.len());
        for (row, it) in chosen.iter().enumerate() {
            sources.push(match *it {
                Chosen::Nothing => (&nothing, 0),
                Chosen::Default => (&self.column.arguments[place][2], row as u32),
                Chosen::Row(row) => {
                    let Piece { first, rows, .. } = &pieces[near];
                    if !(*first..first + rows.len()).contains(&row) {
                        near = pieces.partition_point(|it| it.first <= row) - 1;
                    }
                    (&self.column.arguments[near][0], (row - pieces[near].first) as u32)
                }
            });
        }
        Vector::collect(shape, sources.into_iter())
    }

    /// Rows of a frame that count.
    fn count(&self, ranges: &Ranges) -> usize {
        self.before.counted + ranges.iter().map(|it| self.column.count(it)).sum::<usize>()
    }

    fn aggregate(
        &mut self,
        function: AggregateFunction,
        (place, shape): (usize, &ColumnShape),
        check: Check<'_>,
    ) -> SqlResult<Vector> {
        let (is_average, column) = (function == AggregateFunction::Average, self.column);
        match &column.data {
            Data::Nothing => {
                let counts = self.rows(place).map(|at| self.count(&self.ranges(&at)) as i64);
                Ok(Vector::new(Values::I64(counts.collect())))
            }
            Data::Extremes(extremes) => {
                let chosen = self.extremes(place, extremes);
                Ok(self.gather(place, &chosen, shape))
            }
            Data::Floats(floats) => self.float_sums(place, floats, is_average),
            Data::Exact(prefix) => self.exact_sums(place, prefix, is_average, shape),
            Data::States(counted) => {
                let (rows, unit, column) = (self.rows(place), self.unit, self.column);
                let (pieces, before) = (&unit.pieces[..], self.before.rows);
                let source = Source { pieces, before, arguments: &column.arguments, counted };
                let ranges = rows.map(|at| self.ranges(&at)).collect::<Vec<_>>();
                let spec = self.call.states.as_ref();
                let spec = spec.ok_or_else(|| SqlError::internal("a window lost its states"))?;
                let kept = self.before.states.get_or_insert_with(|| FrameStates::new(spec));
                kept.values(spec, &source, &ranges, check)
            }
        }
    }

    fn extremes(&mut self, place: usize, extremes: &Extremes) -> Vec<Chosen> {
        let mut chosen = Vec::new();
        for at in self.rows(place) {
            let ranges = self.ranges(&at);
            let before = extremes.best(ranges.before, &mut self.last[0]);
            let best = match ranges.whole() {
                Some(_) => before,
                None => {
                    let behind = extremes.best(ranges.behind, &mut self.last[1]);
                    let current = extremes.best(ranges.current, &mut Last::default());
                    extremes.best_of([before, current, behind])
                }
            };
            chosen.push(if best == NONE { Chosen::Nothing } else { Chosen::Row(best) });
        }
        chosen
    }

    fn float_sums(&mut self, place: usize, floats: &Floats, is_average: bool) -> SqlResult<Vector> {
        let (mut values, mut valid) = (Vec::new(), Vec::new());
        let single = self.call.data_type == DataType::Real;
        for at in self.rows(place) {
            let ranges = self.ranges(&at);
            let count = self.count(&ranges);
            let (sum, is_finite) = self.before.floats.sum(&ranges, floats);
            let sum = checked_float(sum, is_finite, single && !is_average)?;
            values.push(if is_average { sum / count.max(1) as f64 } else { sum });
            valid.push(count > 0);
        }
        Ok(optional(Values::F64(values), valid))
    }

    fn exact_sums(
        &self,
        place: usize,
        prefix: &Prefix,
        is_average: bool,
        shape: &ColumnShape,
    ) -> SqlResult<Vector> {
        let data_type = self.call.data_type;
        let scale = self.call.arguments[0].shape().data_type.scale();
        let unit = 10f64.powi(i32::from(scale));
        let (mut whole, mut floats, mut valid) = (Vec::new(), Vec::new(), Vec::new());
        for at in self.rows(place) {
            let ranges = self.ranges(&at);
            let count = self.count(&ranges);
            let sum = prefix.sum(&ranges, &self.before.exact);
            valid.push(count > 0);
            let count = count.max(1);
            match (is_average, data_type.is_float()) {
                (true, true) => floats.push(sum.to_f64() / unit / count as f64),
                (true, false) => whole.push(exact_average(sum, count as i64, scale, data_type)?),
                (false, _) => whole.push(exact_sum(sum, scale, data_type)?),
            }
        }
        let values = match &shape.representation {
            Representation::F64 => Values::F64(floats),
            Representation::I64 => Values::I64(whole.into_iter().map(|it| it as i64).collect()),
            _ => Values::I128(whole),
        };
        Ok(optional(values, valid))
    }
}

/// How many rows of a list come before one.
fn before(known: &[usize], row: usize) -> usize {
    known.partition_point(|&it| it < row)
}

/// The row with a value that is so many behind (or before) a row.
fn at_distance(known: &[usize], at: &Position, offset: i64) -> Option<usize> {
    let place = match offset {
        1.. => before(known, at.row + 1).checked_add(usize::try_from(offset - 1).ok()?)?,
        _ => before(known, at.row).checked_sub(usize::try_from(-offset).ok()?)?,
    };
    known.get(place).copied()
}

fn optional(values: Values, valid: Vec<bool>) -> Vector {
    let validity = valid.contains(&false).then(|| Bitmap::from_bits(valid.into_iter()));
    Vector { values, validity }
}

/// The shape of the column of a function.
pub(super) fn shape_of(call: &CompiledCall) -> ColumnShape {
    if let Some(states) = &call.states {
        return ColumnShape { bounds: None, ..states.result().clone() };
    }
    let nullable = !call.function.is_never_null();
    match (&call.value, call.function) {
        (Some(shape), _) => {
            let (data_type, shape) = (call.data_type, shape.clone());
            ColumnShape { data_type, nullable: true, ..shape }
        }
        _ => ColumnShape::computed(call.data_type, nullable),
    }
}

/// Shared columns of a batch with those of the functions behind.
pub(super) fn with_columns(mut columns: Vec<Arc<Vector>>, more: Vec<Vector>) -> Vec<Arc<Vector>> {
    columns.extend(more.into_iter().map(Arc::new));
    columns
}
