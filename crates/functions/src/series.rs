//! Series of numbers and of points of time: how long they are, and what stands at a place.

use arrow_array::ArrayRef;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use types::SqlResult;

use crate::calendar::MICROS_PER_DAY;
use crate::call::{Call, Exact};
use crate::error::{invalid, out_of_range};
use crate::moment::moved;

/// Steps of a series of months, which are taken one by one, since each may end at the last day of a shorter month.
const MONTHS_MAX: i64 = 10_000_000;

fn no_step() -> types::SqlError {
    invalid("step size cannot equal zero")
}

/// How many numbers a series has: first, last, step.
pub(crate) fn length(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (first, last, step) = (call.exact(0)?, call.exact(1)?, call.exact(2)?);
    let scale = first.scale().max(last.scale()).max(step.scale());
    let aligned = |it: Exact<'_>, row: usize| {
        let factor = 10_i128.checked_pow(scale - it.scale());
        let value = factor.and_then(|factor| it.at(row).checked_mul(factor));
        value.ok_or_else(|| out_of_range(call.result))
    };
    call.map::<Int64Type>(|row| {
        let (first, last) = (aligned(first, row)?, aligned(last, row)?);
        let step = aligned(step, row)?;
        if step == 0 {
            return Err(no_step());
        }
        let way = last.checked_sub(first).ok_or_else(|| out_of_range(call.result))?;
        if way != 0 && (way < 0) != (step < 0) {
            return Ok(0);
        }
        i64::try_from(way / step + 1).map_err(|_| out_of_range(call.result))
    })
}

/// Where a step of months, days and microseconds leads.
fn direction(step: (i64, i64, i64)) -> SqlResult<bool> {
    let days = i128::from(step.0) * 30 + i128::from(step.1);
    match days * i128::from(MICROS_PER_DAY) + i128::from(step.2) {
        0 => Err(no_step()),
        way => Ok(way > 0),
    }
}

fn split(micros: i64) -> (i64, i64) {
    (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY))
}

/// How many points of time a series has.
pub(crate) fn moments(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (first, last) = (call.moments(0)?, call.moments(1)?);
    let (months, days, micros) = (call.integers(2)?, call.integers(3)?, call.integers(4)?);
    call.map::<Int64Type>(|row| {
        let step = (months.at(row), days.at(row), micros.at(row));
        let forward = direction(step)?;
        let (from, to) = (first.at(row), last.at(row));
        let of = |it: (i64, i64)| i128::from(it.0) * i128::from(MICROS_PER_DAY) + i128::from(it.1);
        let beyond = |at: i128| if forward { at > of(to) } else { at < of(to) };
        if beyond(of(from)) {
            return Ok(0);
        }
        if step.0 == 0 {
            let way = i128::from(step.1) * i128::from(MICROS_PER_DAY) + i128::from(step.2);
            return i64::try_from((of(to) - of(from)) / way + 1)
                .map_err(|_| out_of_range(call.result));
        }
        let (mut at, mut count) = (from, 0);
        while !beyond(of(at)) {
            if count == MONTHS_MAX {
                return Err(out_of_range(call.result));
            }
            count += 1;
            at = split(moved(at, step)?);
        }
        Ok(count)
    })
}

/// The point of time of a series that is so many steps on.
pub(crate) fn moment(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (first, number) = (call.moments(0)?, call.integers(1)?);
    let (months, days, micros) = (call.integers(2)?, call.integers(3)?, call.integers(4)?);
    // Rows mostly come in the order of a series: each begins where the last one ended.
    type At = ((i64, i64), (i64, i64, i64), i64, (i64, i64));
    let mut known: Option<At> = None;
    call.map::<TimestampMicrosecondType>(|row| {
        let step = (months.at(row), days.at(row), micros.at(row));
        let (from, number) = (first.at(row), number.at(row));
        if step.0 == 0 {
            let times = |it: i64| it.checked_mul(number).ok_or_else(|| out_of_range(call.result));
            return moved(from, (0, times(step.1)?, times(step.2)?));
        }
        let (mut at, mut done) = (from, 0);
        if let Some((first, by, there, reached)) = known
            && first == from
            && by == step
            && there <= number
        {
            (at, done) = (reached, there);
        }
        while done < number {
            at = split(moved(at, step)?);
            done += 1;
        }
        known = Some((from, step, done, at));
        moved(at, (0, 0, 0))
    })
}
