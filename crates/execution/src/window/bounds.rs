//! The offsets of frames as values: known once for all rows, or a column of values of the order key.

use plan::{Exclusion, FrameUnit};
use types::numeric::datetime::{date_of_timestamp, is_infinite};
use types::numeric::decimal;
use types::numeric::errors::out_of_range;
use types::numeric::number::Number;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::any_scale::{NumberOrder, number_of};
use super::call::{CompiledBound, CompiledFrame};
use crate::sort::{CompiledSortKey, float_code};
use crate::{Batch, ColumnShape, Values, Vector};

/// A frame whose offsets are known.
pub(super) struct KnownFrame {
    pub(super) unit: FrameUnit,
    pub(super) start: Bound,
    pub(super) end: Bound,
    pub(super) exclusion: Exclusion,
    /// How values of the order key are compared, where offsets are distances of it.
    pub(super) range: Option<Order>,
}

/// How values of an order key are compared: as integers, or as numbers of any scale.
pub(super) enum Order {
    Whole(RangeOrder),
    AnyScale(NumberOrder),
}

/// An end of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    Unbounded,
    CurrentRow,
    /// So many rows or groups before.
    Preceding(i64),
    /// So many rows or groups behind.
    Following(i64),
    /// Up to a value of the order key that is known for each row.
    Value,
}

/// An offset that is a distance of the order key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Distance {
    /// With as many digits after the point as the value has, and then as its order key.
    Exact(i128),
    Float(f64),
    /// Of any scale: the value has it.
    AnyScale,
}

/// How the values of an order key are compared: as integers that rise from row to row.
pub(super) struct RangeOrder {
    descending: bool,
    nulls_first: bool,
    /// What integers of the key are multiplied with.
    factor: i128,
    /// The distances at the start and the end, and whether they go back.
    distances: [Option<(Distance, bool)>; 2],
    data_type: DataType,
}

impl KnownFrame {
    /// The frame for the rows of which `batch` has some.
    pub(super) fn of(frame: &CompiledFrame, batch: &Batch) -> SqlResult<Self> {
        let mut known = [Bound::Unbounded; 2];
        let mut distances = [None, None];
        let (mut scale, mut has_range) = (0, false);
        let bounds = [(&frame.start, "starting"), (&frame.end, "ending")];
        for (place, (bound, name)) in bounds.into_iter().enumerate() {
            let (offset, back) = match bound {
                CompiledBound::Unbounded => continue,
                CompiledBound::CurrentRow => {
                    known[place] = Bound::CurrentRow;
                    continue;
                }
                CompiledBound::Value(_) => {
                    (known[place], has_range) = (Bound::Value, true);
                    continue;
                }
                CompiledBound::Preceding(it) => (it, true),
                CompiledBound::Following(it) => (it, false),
            };
            let value = offset.evaluate(&batch.take(&[0]))?.value(offset.shape(), 0);
            if frame.unit == FrameUnit::Range {
                let distance = distance_of(&value, name)?;
                if let Value::Decimal { scale: own, .. } = value {
                    scale = scale.max(own);
                }
                distances[place] = Some((value, distance, back));
                (known[place], has_range) = (Bound::Value, true);
                continue;
            }
            let count = rows_of(&value, name)?;
            known[place] = if back { Bound::Preceding(count) } else { Bound::Following(count) };
        }
        let [start, end] = known;
        let range = match &frame.key {
            Some(key) if has_range => Some(Order::of(key, scale, distances)?),
            _ => None,
        };
        let (unit, exclusion) = (frame.unit, frame.exclusion);
        Ok(Self { unit, start, end, exclusion, range })
    }
}

fn no_null(value: &Value, name: &str) -> SqlResult<()> {
    if value.is_null() {
        let message = format!("frame {name} offset must not be null");
        return Err(SqlError::new(SqlState::NULL_NOT_ALLOWED, message));
    }
    Ok(())
}

fn rows_of(value: &Value, name: &str) -> SqlResult<i64> {
    no_null(value, name)?;
    match value {
        Value::Integer(it) if *it >= 0 => Ok(*it),
        _ => {
            let message = format!("frame {name} offset must not be negative");
            Err(SqlError::new(SqlState::INVALID_FRAME_SIZE, message))
        }
    }
}

fn distance_of(value: &Value, name: &str) -> SqlResult<Distance> {
    no_null(value, name)?;
    match value {
        Value::Float(it) if *it >= 0.0 => Ok(Distance::Float(*it)),
        Value::Integer(it) if *it >= 0 => Ok(Distance::Exact((*it).into())),
        Value::Decimal { unscaled, .. } if *unscaled >= 0 => Ok(Distance::Exact(*unscaled)),
        Value::Text(_) if number_of(value)?.is_some_and(|it| it.signum() >= Some(0)) => {
            Ok(Distance::AnyScale)
        }
        _ => {
            let message = "invalid preceding or following size in window function";
            Err(SqlError::new(SqlState::INVALID_FRAME_SIZE, message))
        }
    }
}

/// What is known of the distances at the start and the end: the value, and whether it goes back.
type Distances = [Option<(Value, Distance, bool)>; 2];

impl Order {
    fn of(key: &CompiledSortKey, scale: u8, distances: Distances) -> SqlResult<Self> {
        let mut known = distances.iter().flatten();
        if !known.any(|it| matches!(it.1, Distance::AnyScale)) {
            return RangeOrder::of(key, scale, distances).map(Self::Whole);
        }
        let mut own: [Option<(Number, bool)>; 2] = [None, None];
        for (own, known) in own.iter_mut().zip(&distances) {
            let Some((value, _, back)) = known else { continue };
            *own = number_of(value)?.map(|it| (it, *back));
        }
        Ok(Self::AnyScale(NumberOrder::new(key, own)))
    }
}

impl RangeOrder {
    fn of(key: &CompiledSortKey, scale: u8, distances: Distances) -> SqlResult<Self> {
        let data_type = key.key.shape().data_type;
        let too_great = || out_of_range(data_type);
        let common = scale.max(data_type.scale());
        let factor_to = |from: u8| decimal::power_of_ten(u32::from(common - from));
        let mut own = [None; 2];
        for (place, known) in distances.into_iter().enumerate() {
            let Some((value, distance, back)) = known else { continue };
            let from = if let Value::Decimal { scale, .. } = value { scale } else { 0 };
            let distance = match distance {
                Distance::Exact(it) => {
                    let factor = factor_to(from).ok_or_else(too_great)?;
                    Distance::Exact(it.checked_mul(factor).ok_or_else(too_great)?)
                }
                float => float,
            };
            own[place] = Some((distance, back));
        }
        let values_are_times = data_type == DataType::Date && own.iter().all(Option::is_none);
        let factor = match values_are_times {
            true => DAY,
            false => factor_to(data_type.scale()).ok_or_else(too_great)?,
        };
        let (descending, nulls_first) = (key.descending, key.nulls_first);
        Ok(Self { descending, nulls_first, factor, distances: own, data_type })
    }

    fn null(&self) -> i128 {
        if self.nulls_first { i128::MIN } else { i128::MAX }
    }

    fn placed(&self, code: i128) -> i128 {
        if self.descending { -code } else { code }
    }

    /// The values of an order key.
    pub(super) fn codes(&self, keys: &Vector) -> SqlResult<Vec<i128>> {
        let scaled =
            |it: i128| it.checked_mul(self.factor).ok_or_else(|| out_of_range(self.data_type));
        let code = |row: usize| match &keys.values {
            _ if !keys.is_valid(row) => Ok(self.null()),
            Values::I64(it) => scaled(it[row].into()).map(|it| self.placed(it)),
            Values::I128(it) => scaled(it[row]).map(|it| self.placed(it)),
            Values::F64(it) => Ok(self.placed(float_code(it[row]).into())),
            _ => Err(SqlError::internal("a distance of what is no number")),
        };
        (0..keys.values.len()).map(code).collect()
    }

    /// How far a frame reaches for each row: at its start, or at its end.
    pub(super) fn edges(&self, keys: &Vector, codes: &[i128], at_end: bool) -> Vec<i128> {
        let Some((distance, back)) = self.distances[usize::from(at_end)] else {
            return codes.to_vec();
        };
        let edge = |(row, &code): (usize, &i128)| match (distance, &keys.values) {
            _ if !keys.is_valid(row) => code,
            (Distance::Float(by), Values::F64(values)) => {
                // What is before in falling order is greater.
                let by = if back == self.descending { by } else { -by };
                let mut edge = values[row] + by;
                if edge.is_nan() && !values[row].is_nan() {
                    // An infinity from itself an infinity away: all that is a number is in range.
                    let greatest = at_end != self.descending;
                    edge = if greatest { f64::INFINITY } else { f64::NEG_INFINITY };
                }
                self.placed(float_code(edge).into())
            }
            (Distance::Exact(by), _) if back => code.saturating_sub(by),
            (Distance::Exact(by), _) => code.saturating_add(by),
            _ => code,
        };
        codes.iter().enumerate().map(edge).collect()
    }

    /// Values that frames reach to, points of time.
    pub(super) fn times(&self, values: &Vector, shape: &ColumnShape) -> SqlResult<Vec<i128>> {
        let factor = if shape.data_type == DataType::Date { DAY } else { 1 };
        // Days and points of time meet in microseconds, the infinite ones too.
        let of_days = self.data_type == DataType::Date && factor == 1;
        let micros = |it: i64| match of_days && is_infinite(it) {
            true => i128::from(date_of_timestamp(it)) * DAY,
            false => i128::from(it) * factor,
        };
        let code = |row: usize| match &values.values {
            _ if !values.is_valid(row) => Ok(self.null()),
            Values::I64(it) => Ok(self.placed(micros(it[row]))),
            _ => Err(SqlError::internal("a frame up to what is no point of time")),
        };
        (0..values.values.len()).map(code).collect()
    }
}

/// Microseconds of a day.
const DAY: i128 = 86_400_000_000;
