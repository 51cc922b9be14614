//! Dates and timestamps made of numbers, and cut to units.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_schema::DataType as ArrowType;
use plan::Function;
use types::numeric::datetime;
use types::numeric::interval::Interval;
use types::numeric::interval_text::Fields;
use types::numeric::time_tz::TimeTz;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::calendar::{
    self, MICROS_PER_DAY, MICROS_PER_SECOND, checked_day, civil_from_days, days_from_civil,
    iso_weekday,
};
use crate::call::Call;
use crate::error::timestamp_range;
use crate::field::{self, Field, Names, Of};
use crate::interval;
use crate::precision::whole;
use crate::zone::Zones;

/// The point from which PostgreSQL counts, and so rounds: the first moment of 2000.
const ROUNDED_FROM: i64 = 946_684_800 * MICROS_PER_SECOND;

/// A point of time or a time of day with so many digits of seconds.
pub(crate) fn fit(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let digits = call.integers(1)?;
    let fields = |row| Fields { digits: u8::try_from(digits.at(row)).ok(), ..Fields::default() };
    if call.result == DataType::Time {
        let times = call.primitive::<Int64Type>(0)?;
        return call.map::<Int64Type>(|row| Ok(fields(row).round(times.value(row))));
    }
    if call.result == DataType::TimeTz {
        let times = call.primitive::<Int64Type>(0)?;
        return call.map::<Int64Type>(|row| {
            let time = TimeTz::of_held(times.value(row));
            Ok(TimeTz::new(fields(row).round(time.micros), time.ahead)?.held())
        });
    }
    let moments = call.any_moments(0)?;
    call.map_moments(moments, |row| {
        let (day, of_day) = moments.at(row);
        let since = (day * MICROS_PER_DAY + of_day).saturating_sub(ROUNDED_FROM);
        calendar::timestamp(0, fields(row).round(since).saturating_add(ROUNDED_FROM))
    })
}

/// A timestamp cut to a unit.
pub(crate) fn date_trunc(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (units, moments) = (call.texts(0)?, call.any_moments(1)?);
    let mut units = Names::new(units, Of::Timestamp);
    call.map::<TimestampMicrosecondType>(|row| {
        let unit = units.field(row)?;
        let (days, micros) = match moments.infinite(row) {
            // Of any day, so that a field that is no unit is found.
            Some(it) => return first_day_or_less(unit, 0, units.name(row)).map(|_| it),
            None => moments.at(row),
        };
        let step = match unit {
            Field::Microseconds => 1,
            Field::Milliseconds => 1_000,
            Field::Second => MICROS_PER_SECOND,
            Field::Minute => 60 * MICROS_PER_SECOND,
            Field::Hour => 3_600 * MICROS_PER_SECOND,
            _ => return calendar::timestamp(first_day(unit, days, units.name(row))?, 0),
        };
        calendar::timestamp(days, micros - micros % step)
    })
}

/// As [`first_day`], of units of time, too.
fn first_day_or_less(unit: Field, days: i64, name: &str) -> SqlResult<i64> {
    use Field::{Hour, Microseconds, Milliseconds, Minute, Second};
    match unit {
        Microseconds | Milliseconds | Second | Minute | Hour => Ok(days),
        _ => first_day(unit, days, name),
    }
}

/// An interval cut to a unit.
pub(crate) fn truncated_interval(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (units, intervals) = (call.texts(0)?, interval::argument(call, 1)?);
    interval::map(call, |row| {
        let name = units.value(row).to_lowercase();
        let Interval { months, days, micros } = intervals.at(row);
        let cut = |step: i64| months - months % step;
        let of_time = |step: i64| Interval::new(months, days, micros - micros % step);
        match Field::from_name(&name) {
            Some(Field::Millennium) => Interval::new(cut(12_000), 0, 0),
            Some(Field::Century) => Interval::new(cut(1_200), 0, 0),
            Some(Field::Decade) => Interval::new(cut(120), 0, 0),
            Some(Field::Year) => Interval::new(cut(12), 0, 0),
            Some(Field::Quarter) => Interval::new(cut(3), 0, 0),
            Some(Field::Month) => Interval::new(months, 0, 0),
            Some(Field::Day) => Interval::new(months, days, 0),
            Some(Field::Hour) => of_time(3_600 * MICROS_PER_SECOND),
            Some(Field::Minute) => of_time(60 * MICROS_PER_SECOND),
            Some(Field::Second) => of_time(MICROS_PER_SECOND),
            Some(Field::Milliseconds) => of_time(1_000),
            Some(Field::Microseconds) => of_time(1),
            known => {
                let what = if known.is_some() { "supported" } else { "recognized" };
                let state = match known {
                    Some(_) => SqlState::FEATURE_NOT_SUPPORTED,
                    None => SqlState::INVALID_PARAMETER,
                };
                Err(SqlError::new(state, format!("unit \"{name}\" not {what} for type interval")))
            }
        }
    })
}

/// The first day of the unit of days or more in which a day lies.
fn first_day(unit: Field, days: i64, name: &str) -> SqlResult<i64> {
    let (year, month, _) = civil_from_days(days);
    let month = i64::from(month);
    let since = |years: i64| days_from_civil((year - 1).div_euclid(years) * years + 1, 1, 1);
    Ok(match unit {
        Field::Day => days,
        Field::Week => days + 1 - iso_weekday(days),
        Field::Month => days_from_civil(year, month, 1),
        Field::Quarter => days_from_civil(year, (month - 1) / 3 * 3 + 1, 1),
        Field::Year => days_from_civil(year, 1, 1),
        Field::Decade => days_from_civil(year.div_euclid(10) * 10, 1, 1),
        Field::Century => since(100),
        Field::Millennium => since(1_000),
        // Fields that are no units.
        _ => return Err(field::unrecognized(name, Of::Timestamp)),
    })
}

/// The date of a year (negative: BC), month and day.
pub(crate) fn make_date(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (years, months, days) = (call.integers(0)?, call.integers(1)?, call.integers(2)?);
    call.map::<Date32Type>(|row| {
        let (year, month, day) = (years.at(row), months.at(row), days.at(row));
        calendar::date(written_day(year, month, day)?)
    })
}

/// The day of a date as people write it: there is no year 0.
fn written_day(year: i64, month: i64, day: i64) -> SqlResult<i64> {
    let astronomical = match year {
        0 => None,
        year if year < 0 => year.checked_add(1),
        year => Some(year),
    };
    astronomical.and_then(|year| checked_day(year, month, day)).ok_or_else(|| {
        let message = format!("date field value out of range: {year}-{month:02}-{day:02}");
        SqlError::new(SqlState::DATETIME_OVERFLOW, message)
    })
}

/// The last point of time before one, or it itself, that lies a number of whole strides from an origin. Errors: 0A000 for a
/// stride with months, 22008 for one that is not positive and for an infinite origin.
pub(crate) fn date_bin(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (strides, moments, origins) =
        (interval::argument(call, 0)?, call.any_moments(1)?, call.any_moments(2)?);
    call.map_moments(moments, |row| {
        if origins.infinite(row).is_some() {
            let message = "origin out of range";
            return Err(SqlError::new(SqlState::DATETIME_OVERFLOW, message));
        }
        let stride = strides.at(row);
        if stride.months != 0 {
            let message = "timestamps cannot be binned into intervals containing months or years";
            return Err(SqlError::unsupported(message));
        }
        let stride =
            i128::from(stride.days) * i128::from(MICROS_PER_DAY) + i128::from(stride.micros);
        if stride <= 0 {
            let message = "stride must be greater than zero";
            return Err(SqlError::new(SqlState::DATETIME_OVERFLOW, message));
        }
        let micros = |(days, micros): (i64, i64)| calendar::timestamp(days, micros).map(i128::from);
        let (moment, origin) = (micros(moments.at(row))?, micros(origins.at(row))?);
        let begin = origin + (moment - origin).div_euclid(stride) * stride;
        calendar::timestamp(0, i64::try_from(begin).map_err(|_| timestamp_range())?)
    })
}

/// The timestamp of a date and a time.
pub(crate) fn make_timestamp(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (years, months, days) = (call.integers(0)?, call.integers(1)?, call.integers(2)?);
    let (hours, minutes, seconds) = (call.integers(3)?, call.integers(4)?, call.floats(5)?);
    let mut zones = call.optional_texts(6)?.map(Zones::east);
    call.map::<TimestampMicrosecondType>(|row| {
        let day = written_day(years.at(row), months.at(row), days.at(row))?;
        let (hour, minute, second) = (hours.at(row), minutes.at(row), seconds.value(row));
        let micros = (second * 1e6).round_ties_even();
        let valid = (0..24).contains(&hour) && (0..60).contains(&minute)
            || (hour, minute, micros) == (24, 0, 0.0);
        if !valid || !(0.0..=60e6).contains(&micros) {
            let message = format!("time field value out of range: {hour}:{minute:02}:{second:02}");
            return Err(SqlError::new(SqlState::DATETIME_OVERFLOW, message));
        }
        let of_day = (hour * 60 + minute) * 60 * MICROS_PER_SECOND + micros as i64;
        let local = calendar::timestamp(day, of_day)?;
        match &mut zones {
            Some(zones) => zones.zone(row)?.moment(local).ok_or_else(timestamp_range),
            None => Ok(local),
        }
    })
}

/// Numbers since 1970-01-01, texts, dates and timestamps as timestamps.
pub(crate) fn to_timestamp(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let array = call.argument(0)?;
    let (multiply, divide) = match call.function {
        Function::ToTimestampMillis => (1_000, 1),
        Function::ToTimestampMicros => (1, 1),
        Function::ToTimestampNanos => (1, 1_000),
        _ => (MICROS_PER_SECOND, 1),
    };
    match array.data_type() {
        ArrowType::Int64 => {
            let values = array.as_primitive::<Int64Type>();
            call.map::<TimestampMicrosecondType>(|row| {
                let micros = values.value(row).checked_mul(multiply).ok_or_else(timestamp_range)?;
                calendar::timestamp(0, micros.div_euclid(divide))
            })
        }
        ArrowType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            let factor = multiply as f64 / divide as f64;
            call.map::<TimestampMicrosecondType>(|row| {
                let value = values.value(row);
                if value.is_infinite() {
                    let (least, greatest) = datetime::INFINITE_MICROS;
                    return Ok(if value < 0.0 { least } else { greatest });
                }
                // From the second on, as PostgreSQL rounds.
                let micros = (value * factor).round_ties_even();
                if !(-9.2e18..=9.2e18).contains(&micros) {
                    return Err(timestamp_range());
                }
                calendar::timestamp(0, whole(call.function, micros as i64))
            })
        }
        ArrowType::Utf8 => crate::from_text::to_timestamp(call),
        _ => {
            let moments = call.any_moments(0)?;
            call.map_moments(moments, |row| {
                let (days, micros) = moments.at(row);
                Ok(whole(call.function, calendar::timestamp(days, micros)?))
            })
        }
    }
}

/// Seconds since 1970-01-01 as a timestamp.
pub(crate) fn from_unixtime(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let seconds = call.integers(0)?;
    call.map::<TimestampMicrosecondType>(|row| {
        let micros = seconds.at(row).checked_mul(MICROS_PER_SECOND).ok_or_else(timestamp_range)?;
        calendar::timestamp(0, micros)
    })
}

/// Whole seconds from 1970-01-01; numbers are seconds already.
pub(crate) fn to_unixtime(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let array = call.argument(0)?;
    match array.data_type() {
        ArrowType::Int64 => Ok(array.clone()),
        ArrowType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            call.map::<Int64Type>(|row| {
                let seconds = values.value(row).trunc();
                let fits = (-9.2e18..=9.2e18).contains(&seconds);
                if fits { Ok(seconds as i64) } else { Err(timestamp_range()) }
            })
        }
        ArrowType::Utf8 => crate::from_text::to_unixtime(call),
        _ => {
            let moments = call.moments(0)?;
            call.map::<Int64Type>(|row| {
                let (days, micros) = moments.at(row);
                Ok(days * (MICROS_PER_DAY / MICROS_PER_SECOND)
                    + micros.div_euclid(MICROS_PER_SECOND))
            })
        }
    }
}
