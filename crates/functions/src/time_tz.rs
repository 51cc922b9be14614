//! Times of day in zones: what operators and functions make of them. One is held as an integer ([`types::numeric::time_tz`]), so its
//! array is one of integers of 64 bits.

use arrow_array::ArrayRef;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use plan::Function;
use types::SqlResult;
use types::numeric::interval_text;
use types::numeric::time_tz::TimeTz;

use crate::calendar::{self, MICROS_PER_DAY, MICROS_PER_SECOND};
use crate::call::Call;
use crate::error::invalid;
use crate::interval;
use crate::zone::Zones;

/// Whether a function is one of these.
pub(crate) fn is_of_zones(function: Function) -> bool {
    use Function as F;
    matches!(function, F::AddToTimeTz | F::MomentOfTimeTz | F::TimezoneOfTimeTz | F::ZoneOfInterval)
}

/// The kernel of such a function.
pub(crate) fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    match call.function {
        Function::AddToTimeTz => add(call),
        Function::MomentOfTimeTz => moment(call),
        Function::TimezoneOfTimeTz => in_zone(call),
        _ => zone_of_interval(call),
    }
}

/// A time so much later by the same clocks, past midnight from the beginning.
fn add(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (times, intervals) = (call.primitive::<Int64Type>(0)?, interval::argument(call, 1)?);
    call.map::<Int64Type>(|row| {
        let time = TimeTz::of_held(times.value(row));
        // Months and days do not count.
        let span = intervals.at(row).micros % MICROS_PER_DAY;
        let micros = (time.micros % MICROS_PER_DAY + span).rem_euclid(MICROS_PER_DAY);
        Ok(TimeTz::new(micros, time.ahead)?.held())
    })
}

/// The moment at which clocks show a time on a day.
fn moment(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (days, times) = (call.any_moments(0)?, call.primitive::<Int64Type>(1)?);
    call.map_moments(days, |row| {
        let time = TimeTz::of_held(times.value(row));
        let (day, _) = days.at(row);
        calendar::timestamp(day, time.utc())
    })
}

/// The same time by the clocks of a zone, which are as far from UTC as at a moment.
fn in_zone(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (names, times) = (call.texts(0)?, call.primitive::<Int64Type>(1)?);
    let moments = call.primitive::<TimestampMicrosecondType>(2)?;
    let mut zones = Zones::new(names);
    call.map::<Int64Type>(|row| {
        let ahead = zones.zone(row)?.ahead_at(moments.value(row));
        Ok(TimeTz::at(TimeTz::of_held(times.value(row)).utc(), ahead)?.held())
    })
}

/// The name of the zone that is an interval ahead of UTC, as POSIX writes it: to the west.
fn zone_of_interval(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let intervals = interval::argument(call, 0)?;
    call.map_texts(|row, out| {
        let span = intervals.at(row);
        if span.months != 0 || span.days != 0 {
            let mut text = String::new();
            interval_text::format(span, &mut text);
            let message = format!("interval time zone \"{text}\" must not include months or days");
            return Err(invalid(message));
        }
        let ahead = span.micros / MICROS_PER_SECOND;
        let (sign, distance) = (if ahead < 0 { '+' } else { '-' }, ahead.unsigned_abs());
        let parts = (distance / 3_600, distance / 60 % 60, distance % 60);
        out.push(&format!("{sign}{:02}:{:02}:{:02}", parts.0, parts.1, parts.2))
    })
}
