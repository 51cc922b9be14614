//! Intervals: what operators and functions make of them, and of points of time with them. An interval is held as an integer
//! ([`types::numeric::interval`]), so its array is one of decimals.

use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{ArrayRef, Decimal128Array, PrimitiveArray};
use plan::Function;
use stdx::sync::Arc;
use types::numeric::interval::{self, Interval};
use types::numeric::interval_text::{Fields, Unit};
use types::{SqlError, SqlResult, SqlState, Zone};

use crate::calendar::{
    self, MICROS_PER_DAY, MICROS_PER_SECOND, civil_from_days, days_from_civil, days_of_month,
};
use crate::call::Call;
use crate::error::{division_by_zero, timestamp_range};
use crate::zone::Zones;

/// An argument of intervals.
#[derive(Clone, Copy)]
pub(crate) struct Intervals<'a>(&'a PrimitiveArray<Decimal128Type>);

impl Intervals<'_> {
    /// The interval of a row.
    pub fn at(self, row: usize) -> Interval {
        Interval::of_held(self.0.value(row))
    }
}

/// An argument of intervals of a call.
pub(crate) fn argument<'a>(call: &Call<'a>, index: usize) -> SqlResult<Intervals<'a>> {
    call.primitive(index).map(Intervals)
}

/// An interval for each row.
pub(crate) fn map(
    call: &Call<'_>,
    mut each: impl FnMut(usize) -> SqlResult<Interval>,
) -> SqlResult<ArrayRef> {
    let held = |row| if call.is_null(row) { Ok(None) } else { each(row).map(|it| Some(it.held())) };
    let values = (0..call.rows).map(held).collect::<SqlResult<Vec<Option<i128>>>>()?;
    let array = Decimal128Array::from_iter(values).with_precision_and_scale(38, 0);
    Ok(Arc::new(array.map_err(|_| call.broken("an impossible interval as result"))?))
}

/// What intervals that are equal have in common.
pub(crate) fn key(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let held = call.primitive::<Decimal128Type>(0)?;
    call.map_exact(|row| Ok(interval::key_of(held.value(row))))
}

/// The months, days or microseconds of an interval.
pub(crate) fn part(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let intervals = argument(call, 0)?;
    call.map::<Int64Type>(|row| {
        let it = intervals.at(row);
        Ok(match call.function {
            Function::IntervalMonths => it.months,
            Function::IntervalDays => it.days,
            _ => it.micros,
        })
    })
}

/// Months, days and microseconds as an interval.
pub(crate) fn of_parts(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (months, days, micros) = (call.integers(0)?, call.integers(1)?, call.integers(2)?);
    map(call, |row| Interval::new(months.at(row), days.at(row), micros.at(row)))
}

/// Functions of one interval.
pub(crate) fn unary(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let intervals = argument(call, 0)?;
    map(call, |row| {
        let it = intervals.at(row);
        let result = match call.function {
            Function::JustifyDays => it.justify_days(),
            Function::JustifyHours => it.justify_hours(),
            Function::JustifyInterval => it.justify(),
            _ => it.negated(),
        };
        result.ok_or_else(interval::out_of_range)
    })
}

/// An interval as a type with fields and digits holds it.
pub(crate) fn fit(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (intervals, units, digits) = (argument(call, 0)?, call.texts(1)?, call.integers(2)?);
    map(call, |row| {
        let range = Unit::of_field(units.value(row)).map(|it| (it, it));
        let digits = u8::try_from(digits.at(row)).ok();
        Fields { range, digits, ..Fields::default() }.fit(intervals.at(row))
    })
}

/// The sum of two intervals.
pub(crate) fn sum(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (argument(call, 0)?, argument(call, 1)?);
    map(call, |row| left.at(row).plus(right.at(row)).ok_or_else(interval::out_of_range))
}

/// An interval times a number, or divided by one.
pub(crate) fn scale(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (intervals, factors) = (argument(call, 0)?, call.floats(1)?);
    map(call, |row| {
        let (it, factor) = (intervals.at(row), factors.value(row));
        let result = match call.function {
            Function::DivideInterval if factor == 0.0 => return Err(division_by_zero()),
            Function::DivideInterval => it.divided(factor),
            _ => it.times(factor),
        };
        result.filter(|_| !factor.is_nan()).ok_or_else(interval::out_of_range)
    })
}

/// Years, months, weeks, days, hours, minutes and seconds as an interval.
pub(crate) fn make(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = (0..call.count().min(6)).map(|it| call.integers(it));
    let parts = parts.collect::<SqlResult<Vec<_>>>()?;
    let seconds = if call.count() > 6 { Some(call.floats(6)?) } else { None };
    map(call, |row| {
        let part = |it: usize| parts.get(it).map_or(0, |it| i128::from(it.at(row)));
        let seconds = seconds.map_or(0.0, |it| it.value(row));
        let rest = (seconds * 1e6).round_ties_even();
        if !(-9.2e18..=9.2e18).contains(&rest) {
            return Err(interval::out_of_range());
        }
        let micros = (part(4) * 60 + part(5)) * 60 * i128::from(MICROS_PER_SECOND) + rest as i128;
        let narrow = |it: i128| i64::try_from(it).map_err(|_| interval::out_of_range());
        Interval::new(
            narrow(part(0) * 12 + part(1))?,
            narrow(part(2) * 7 + part(3))?,
            narrow(micros)?,
        )
    })
}

/// A point of time plus an interval: its months, its days, then its time. In a time zone, months and days are those of its
/// clocks.
pub(crate) fn add_to_moment(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (moments, intervals) = (call.any_moments(0)?, argument(call, 1)?);
    let mut zones = call.optional_texts(2)?.map(Zones::new);
    call.map_moments(moments, |row| {
        let zone = zones.as_mut().map(|it| it.zone(row)).transpose()?;
        shifted(moments.at(row), intervals.at(row), zone)
    })
}

/// A point of time, as its day and the time of it, plus an interval: its months, its days, then its time, in microseconds. In
/// a time zone, months and days are those of its clocks.
pub(crate) fn shifted(
    (day, of_day): (i64, i64),
    span: Interval,
    zone: Option<&Zone>,
) -> SqlResult<i64> {
    let start = match zone {
        Some(zone) if (span.months, span.days) != (0, 0) => {
            let utc = calendar::timestamp(day, of_day)?;
            let local = zone.local(utc).ok_or_else(timestamp_range)?;
            let day = local.div_euclid(MICROS_PER_DAY);
            let local = moved(day, local.rem_euclid(MICROS_PER_DAY), span)?;
            zone.moment(local).ok_or_else(timestamp_range)?
        }
        _ => moved(day, of_day, span)?,
    };
    let sum = start.checked_add(span.micros).ok_or_else(timestamp_range)?;
    calendar::timestamp(0, sum)
}

/// A point of time some months and days later.
fn moved(day: i64, of_day: i64, span: Interval) -> SqlResult<i64> {
    let moved = add_months(day, span.months).and_then(|it| it.checked_add(span.days));
    // PostgreSQL checks after each part; only the sum of days and time can leave 64 bits here.
    calendar::timestamp(moved.ok_or_else(timestamp_range)?, of_day)
}

/// The same day of a month that is so many months later, or the last day of that month.
fn add_months(days: i64, months: i64) -> Option<i64> {
    if months == 0 {
        return Some(days);
    }
    let (year, month, day) = civil_from_days(days);
    let months = (year * 12 + i64::from(month) - 1).checked_add(months)?;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    if year.abs() > 6_000_000 {
        return None;
    }
    Some(days_from_civil(year, month, i64::from(day).min(days_of_month(year, month))))
}

/// A time of day so much later, past midnight from the beginning.
pub(crate) fn add_to_time(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (times, intervals) = (call.primitive::<Int64Type>(0)?, argument(call, 1)?);
    call.map::<Int64Type>(|row| {
        // Months and days do not count.
        let span = intervals.at(row).micros % MICROS_PER_DAY;
        Ok((times.value(row) % MICROS_PER_DAY + span).rem_euclid(MICROS_PER_DAY))
    })
}

/// From one point of time to another, in days and time.
pub(crate) fn between(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.moments(0)?, call.moments(1)?);
    map(call, |row| {
        let ((a, a_micros), (b, b_micros)) = (left.at(row), right.at(row));
        let (days, micros) = (a - b, a_micros - b_micros);
        let whole = Interval { months: 0, days, micros };
        whole.justify_hours().ok_or_else(interval::out_of_range)
    })
}

/// From one point of time to another, as people count: in years, months, days and time.
pub(crate) fn age(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.moments(0)?, call.moments(1)?);
    map(call, |row| {
        let (a, b) = (left.at(row), right.at(row));
        if a >= b {
            return counted(a, b, b.0);
        }
        let it = counted(b, a, a.0)?;
        it.negated().ok_or_else(interval::out_of_range)
    })
}

/// From the earlier `b` to `a`; days that are missing are those of the month of `b`.
fn counted(a: (i64, i64), b: (i64, i64), borrowed: i64) -> SqlResult<Interval> {
    let ((year, month, day), (from_year, from_month, from_day)) =
        (civil_from_days(a.0), civil_from_days(b.0));
    let mut months = (year - from_year) * 12 + i64::from(month) - i64::from(from_month);
    let (mut days, mut micros) = (i64::from(day) - i64::from(from_day), a.1 - b.1);
    if micros < 0 {
        (days, micros) = (days - 1, micros + MICROS_PER_DAY);
    }
    if days < 0 {
        let (year, month, _) = civil_from_days(borrowed);
        (months, days) = (months - 1, days + days_of_month(year, i64::from(month)));
    }
    Interval::new(months, days, micros)
}

/// Hour, minute and second as a time of day.
pub(crate) fn make_time(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (hours, minutes, seconds) = (call.integers(0)?, call.integers(1)?, call.floats(2)?);
    call.map::<Int64Type>(|row| {
        let (hour, minute, second) = (hours.at(row), minutes.at(row), seconds.value(row));
        let micros = (second * 1e6).round_ties_even();
        let valid = (0..24).contains(&hour) && (0..60).contains(&minute)
            || (hour, minute, micros) == (24, 0, 0.0);
        if !valid || !(0.0..=60e6).contains(&micros) {
            let message = format!("time field value out of range: {hour}:{minute:02}:{second:02}");
            return Err(SqlError::new(SqlState::DATETIME_OVERFLOW, message));
        }
        Ok((hour * 60 + minute) * 60 * MICROS_PER_SECOND + micros as i64)
    })
}
