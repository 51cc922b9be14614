//! width_bucket: between two bounds, so many stretches of one width; 0 before them, one more than there are behind them.

use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType as ArrowType;
use types::numeric::decimal;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::call::{Call, Exact};
use crate::error::out_of_range;

fn invalid(message: &str) -> SqlError {
    SqlError::new(SqlState("2201G"), message)
}

/// The number of a bucket.
pub(crate) fn width_bucket(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let counts = call.integers(3)?;
    let count = |row: usize| match i32::try_from(counts.at(row)) {
        Ok(count @ 1..) => Ok(i64::from(count)),
        Ok(_) => Err(invalid("count must be greater than zero")),
        Err(_) => Err(out_of_range(DataType::Integer)),
    };
    let number = |it: i64| i32::try_from(it).map_err(|_| out_of_range(DataType::Integer));
    if call.argument(0)?.data_type() == &ArrowType::Float64 {
        let (values, low, high) = (call.floats(0)?, call.floats(1)?, call.floats(2)?);
        return call.map::<Int32Type>(|row| {
            let (value, low, high) = (values.value(row), low.value(row), high.value(row));
            number(of_floats(value, (low, high), count(row)?)?)
        });
    }
    let (values, low, high) = (call.exact(0)?, call.exact(1)?, call.exact(2)?);
    let scale = values.scale().max(low.scale()).max(high.scale());
    let aligned = |it: Exact<'_>, row: usize| {
        let factor = 10_i128.checked_pow(scale - it.scale());
        let value = factor.and_then(|factor| it.at(row).checked_mul(factor));
        value.ok_or_else(|| out_of_range(call.result))
    };
    call.map::<Int32Type>(|row| {
        let bounds = (aligned(low, row)?, aligned(high, row)?);
        number(of_exact(aligned(values, row)?, bounds, count(row)?)?)
    })
}

fn of_floats(value: f64, (low, high): (f64, f64), count: i64) -> SqlResult<i64> {
    if value.is_nan() || low.is_nan() || high.is_nan() {
        return Err(invalid("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(invalid("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(invalid("lower bound cannot equal upper bound"));
    }
    let (value, low, high) = if low < high { (value, low, high) } else { (-value, -low, -high) };
    if value < low {
        return Ok(0);
    }
    if value >= high {
        return Ok(count + 1);
    }
    // Halved, as the width may be beyond the floats.
    let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    Ok(((count as f64 * share) as i64).min(count - 1) + 1)
}

fn of_exact(value: i128, (low, high): (i128, i128), count: i64) -> SqlResult<i64> {
    if low == high {
        return Err(invalid("lower bound cannot equal upper bound"));
    }
    let (value, low, high) = if low < high { (value, low, high) } else { (-value, -low, -high) };
    if value < low {
        return Ok(0);
    }
    if value >= high {
        return Ok(count + 1);
    }
    let range = || out_of_range(DataType::Integer);
    let (way, width) = (value.checked_sub(low), high.checked_sub(low));
    let (way, width) = (way.ok_or_else(range)?, width.ok_or_else(range)?);
    let place = decimal::multiply_divide(way, count.into(), width).ok_or_else(range)?;
    // The quotient is rounded, and a bucket begins where it is whole.
    let place = i64::try_from(place).map_err(|_| range())?;
    let begins = decimal::multiply_divide(width, place.into(), count.into()).ok_or_else(range)?;
    Ok(if begins > way { place } else { place + 1 })
}
