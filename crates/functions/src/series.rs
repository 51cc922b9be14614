//! Series of numbers and of points of time: how long they are, and what stands at a place.

use arrow_array::ArrayRef;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use types::numeric::interval::Interval;
use types::{SqlResult, Zone};

use crate::calendar::{self, MICROS_PER_DAY};
use crate::call::{Call, Exact};
use crate::error::{invalid, out_of_range};
use crate::interval::{self, shifted};
use crate::zone::Zones;

/// Steps of a series of months, which are taken one by one, since each may end at the last day of a shorter month; so are days
/// by the clocks of a time zone.
const STEPS_MAX: i64 = 10_000_000;

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

/// A series of points of time, with the clocks by which its days and months go.
struct Walk<'a> {
    step: Interval,
    zone: Option<&'a Zone>,
}

impl<'a> Walk<'a> {
    fn new(step: Interval, zone: Option<&'a Zone>) -> SqlResult<Self> {
        if step.span() == 0 {
            return Err(no_step());
        }
        Ok(Self { step, zone })
    }

    /// Whether all steps are as long, so that so many need not be taken one by one.
    fn is_even(&self) -> bool {
        self.step.months == 0 && (self.step.days == 0 || self.zone.is_none())
    }

    fn next(&self, at: (i64, i64)) -> SqlResult<(i64, i64)> {
        shifted(at, self.step, self.zone).map(split)
    }
}

fn split(micros: i64) -> (i64, i64) {
    (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY))
}

/// How many points of time a series has.
pub(crate) fn moments(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (first, last, steps) = (call.moments(0)?, call.moments(1)?, interval::argument(call, 2)?);
    let mut zones = call.optional_texts(3)?.map(Zones::new);
    call.map::<Int64Type>(|row| {
        let zone = zones.as_mut().map(|it| it.zone(row)).transpose()?;
        let walk = Walk::new(steps.at(row), zone)?;
        let way = walk.step.span();
        let (from, to) = (first.at(row), last.at(row));
        let of = |it: (i64, i64)| i128::from(it.0) * i128::from(MICROS_PER_DAY) + i128::from(it.1);
        let beyond = |at: i128| if way > 0 { at > of(to) } else { at < of(to) };
        if beyond(of(from)) {
            return Ok(0);
        }
        if walk.is_even() {
            return i64::try_from((of(to) - of(from)) / way + 1)
                .map_err(|_| out_of_range(call.result));
        }
        let (mut at, mut count) = (from, 0);
        while !beyond(of(at)) {
            if count == STEPS_MAX {
                return Err(out_of_range(call.result));
            }
            count += 1;
            at = walk.next(at)?;
        }
        Ok(count)
    })
}

/// The point of time of a series that is so many steps on.
pub(crate) fn moment(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (first, number, steps) =
        (call.moments(0)?, call.integers(1)?, interval::argument(call, 2)?);
    let mut zones = call.optional_texts(3)?.map(Zones::new);
    // Rows mostly come in the order of a series: each begins where the last one ended.
    type At = ((i64, i64), Interval, i64, (i64, i64));
    let mut known: Option<At> = None;
    call.map::<TimestampMicrosecondType>(|row| {
        let zone = zones.as_mut().map(|it| it.zone(row)).transpose()?;
        let walk = Walk::new(steps.at(row), zone)?;
        let (from, number, step) = (first.at(row), number.at(row), walk.step);
        if walk.is_even() {
            let times = |it: i64| it.checked_mul(number).ok_or_else(|| out_of_range(call.result));
            let (days, micros) = (times(step.days)?, times(step.micros)?);
            return shifted(from, Interval { months: 0, days, micros }, None);
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
            at = walk.next(at)?;
            done += 1;
        }
        known = Some((from, step, done, at));
        calendar::timestamp(at.0, at.1)
    })
}
