//! Fields of dates, timestamps, times and intervals: date_part and extract.

use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, StringArray};
use arrow_schema::DataType as ArrowType;
use plan::Function;
use types::numeric::decimal::rescale;
use types::numeric::errors::infinite_field;
use types::numeric::interval::Interval;
use types::numeric::time_tz::TimeTz;
use types::{SqlError, SqlResult};

use crate::calendar::{
    JULIAN_EPOCH, MICROS_PER_DAY, MICROS_PER_SECOND, civil_from_days, day_of_year, iso_week,
    iso_weekday,
};
use crate::call::{Call, Moments};
use crate::error::{invalid, out_of_range};
use crate::interval::{self, Intervals};

/// A field of a date or timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    Century,
    Day,
    Decade,
    DayOfWeek,
    DayOfYear,
    Epoch,
    Hour,
    IsoDayOfWeek,
    IsoYear,
    Julian,
    Microseconds,
    Millennium,
    Milliseconds,
    Minute,
    Month,
    Quarter,
    Second,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
    Week,
    Year,
}

impl Field {
    /// The field of a name in lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "century" | "centuries" | "cent" | "c" => Self::Century,
            "day" | "days" | "d" | "dayofmonth" => Self::Day,
            "decade" | "decades" | "dec" | "decs" => Self::Decade,
            "dow" | "dayofweek" | "weekday" => Self::DayOfWeek,
            "doy" | "dayofyear" => Self::DayOfYear,
            "epoch" => Self::Epoch,
            "hour" | "hours" | "hr" | "hrs" | "h" => Self::Hour,
            "isodow" => Self::IsoDayOfWeek,
            "isoyear" => Self::IsoYear,
            "julian" => Self::Julian,
            "microseconds" | "microsecond" | "usec" | "usecs" | "us" | "usecond" | "useconds" => {
                Self::Microseconds
            }
            "millennium" | "millennia" | "mil" | "mils" => Self::Millennium,
            "milliseconds" | "millisecond" | "msec" | "msecs" | "ms" | "msecond" | "mseconds" => {
                Self::Milliseconds
            }
            "minute" | "minutes" | "min" | "mins" | "m" => Self::Minute,
            "month" | "months" | "mon" | "mons" => Self::Month,
            "quarter" | "qtr" => Self::Quarter,
            "second" | "seconds" | "sec" | "secs" | "s" => Self::Second,
            "timezone" => Self::Timezone,
            "timezone_h" | "timezone_hour" => Self::TimezoneHour,
            "timezone_m" | "timezone_minute" => Self::TimezoneMinute,
            "week" | "weeks" | "w" | "weekofyear" => Self::Week,
            "year" | "years" | "yr" | "yrs" | "y" => Self::Year,
            _ => return None,
        })
    }

    /// Whether it grows with time and never falls back, so that of infinity it is infinite; others have no value there.
    fn grows(self) -> bool {
        matches!(
            self,
            Self::Century
                | Self::Decade
                | Self::Epoch
                | Self::IsoYear
                | Self::Julian
                | Self::Millennium
                | Self::Year
        )
    }

    /// Digits after the point of its values.
    pub fn scale(self) -> u8 {
        match self {
            Self::Epoch | Self::Second => 6,
            Self::Milliseconds => 3,
            Self::Julian => 6,
            _ => 0,
        }
    }

    /// Whether values of a type have it.
    fn is_of(self, of: Of) -> bool {
        let of_time = matches!(
            self,
            Self::Hour | Self::Minute | Self::Second | Self::Milliseconds | Self::Microseconds
        );
        let of_calendar = matches!(
            self,
            Self::DayOfWeek | Self::DayOfYear | Self::IsoDayOfWeek | Self::IsoYear | Self::Julian
        );
        let of_zone = matches!(self, Self::Timezone | Self::TimezoneHour | Self::TimezoneMinute);
        match of {
            Of::Date => !of_time && !of_zone,
            Of::Timestamp => !of_zone,
            Of::Time => of_time || self == Self::Epoch,
            Of::TimeTz => of_time || of_zone || self == Self::Epoch,
            Of::Interval => !of_calendar && !of_zone,
        }
    }
}

/// Of what a field is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    Date,
    Timestamp,
    Time,
    TimeTz,
    Interval,
}

impl Of {
    fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Timestamp => "timestamp without time zone",
            Self::Time => "time without time zone",
            Self::TimeTz => "time with time zone",
            Self::Interval => "interval",
        }
    }
}

/// Values that have fields.
enum Fielded<'a> {
    Moments(Moments<'a>),
    Times(&'a PrimitiveArray<Int64Type>),
    TimesInZones(&'a PrimitiveArray<Int64Type>),
    Intervals(Intervals<'a>),
}

impl<'a> Fielded<'a> {
    fn of(call: &Call<'a>, index: usize) -> SqlResult<Self> {
        Ok(match call.argument(index)?.data_type() {
            ArrowType::Int64 if is_of_time_tz(call.function) => {
                Self::TimesInZones(call.primitive(index)?)
            }
            ArrowType::Int64 => Self::Times(call.primitive(index)?),
            ArrowType::Decimal128(..) => Self::Intervals(interval::argument(call, index)?),
            _ => Self::Moments(call.any_moments(index)?),
        })
    }

    fn kind(&self) -> Of {
        match self {
            Self::Moments(Moments::Dates(_)) => Of::Date,
            Self::Moments(Moments::Times(_)) => Of::Timestamp,
            Self::Times(_) => Of::Time,
            Self::TimesInZones(_) => Of::TimeTz,
            Self::Intervals(_) => Of::Interval,
        }
    }

    /// What the value of a row is where it is infinite: before or behind all others.
    fn infinite(&self, row: usize) -> Option<f64> {
        let Self::Moments(moments) = self else { return None };
        let micros = moments.infinite(row)?;
        Some(if micros < 0 { f64::NEG_INFINITY } else { f64::INFINITY })
    }

    fn value(&self, field: Field, row: usize) -> (i128, u8) {
        match self {
            Self::Moments(it) => {
                let (days, micros) = it.at(row);
                value(field, days, micros)
            }
            Self::Times(it) => value(field, 0, it.value(row)),
            Self::TimesInZones(it) => value_in_zone(field, TimeTz::of_held(it.value(row))),
            Self::Intervals(it) => value_of_interval(field, it.at(row)),
        }
    }
}

/// Whether a function takes a time of day in a zone.
fn is_of_time_tz(function: Function) -> bool {
    matches!(function, Function::DatePartOfTimeTz | Function::ExtractOfTimeTz)
}

/// The digits of a field of a time of day in a zone, and how many of them stand behind the point.
fn value_in_zone(field: Field, it: TimeTz) -> (i128, u8) {
    match field {
        Field::Timezone => (it.ahead.into(), 0),
        Field::TimezoneHour => ((it.ahead / 3_600).into(), 0),
        Field::TimezoneMinute => ((it.ahead / 60 % 60).into(), 0),
        Field::Epoch => (it.utc().into(), 6),
        _ => value(field, 0, it.micros),
    }
}

/// The digits of a field of an interval, and how many of them stand behind the point.
fn value_of_interval(field: Field, it: Interval) -> (i128, u8) {
    let Interval { months, days, micros } = it;
    let value = match field {
        Field::Hour => micros / (3_600 * MICROS_PER_SECOND),
        Field::Minute => micros / (60 * MICROS_PER_SECOND) % 60,
        Field::Second | Field::Milliseconds | Field::Microseconds => {
            micros % (60 * MICROS_PER_SECOND)
        }
        Field::Day => days,
        Field::Week => days / 7,
        Field::Month => months % 12,
        // Those of a year that goes back count back.
        Field::Quarter if months < 0 => -(-months % 12 / 3 + 1),
        Field::Quarter => months % 12 / 3 + 1,
        Field::Year => months / 12,
        Field::Decade => months / 120,
        Field::Century => months / 1_200,
        Field::Millennium => months / 12_000,
        _ => {
            // A year of 365.25 days.
            let (years, rest) = (i128::from(months / 12), i128::from(months % 12));
            let quarters = years * 1_461 + (rest * 30 + i128::from(days)) * 4;
            return (quarters * i128::from(MICROS_PER_DAY / 4) + i128::from(micros), 6);
        }
    };
    (i128::from(value), field.scale())
}

/// The field that a user names. Errors: 22023 for an unknown name, 0A000 for one that the type does not have.
fn named(name: &str, of: Of) -> SqlResult<Field> {
    let field = Field::from_name(&name.to_lowercase()).ok_or_else(|| unrecognized(name, of))?;
    if field.is_of(of) { Ok(field) } else { Err(unsupported(name, of)) }
}

/// A name that is no unit, 22023.
pub(crate) fn unrecognized(name: &str, of: Of) -> SqlError {
    let (name, of) = (name.to_lowercase(), of.name());
    invalid(format!("unit \"{name}\" not recognized for type {of}"))
}

/// A unit that the type does not have, 0A000.
fn unsupported(name: &str, of: Of) -> SqlError {
    let (name, of) = (name.to_lowercase(), of.name());
    SqlError::unsupported(format!("unit \"{name}\" not supported for type {of}"))
}

/// A field as DOUBLE PRECISION.
pub(crate) fn date_part(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (names, values) = (call.texts(0)?, Fielded::of(call, 1)?);
    // Dates are taken as points of time.
    let mut names = Names::new(names, values.kind());
    call.map_optional::<Float64Type>(|row| {
        let field = names.field(row)?;
        if let Some(infinite) = values.infinite(row) {
            return Ok(field.grows().then_some(infinite));
        }
        if let (Field::Julian, Fielded::Moments(moments)) = (field, &values) {
            let (days, micros) = moments.at(row);
            return Ok(Some(julian_day(days, micros)));
        }
        let (value, scale) = values.value(field, row);
        Ok(Some(value as f64 / 10f64.powi(i32::from(scale))))
    })
}

/// A field as an exact number.
pub(crate) fn extract(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (names, values) = (call.texts(0)?, Fielded::of(call, 1)?);
    let wanted = call.result.scale();
    let mut names = Names::new(names, values.kind());
    call.map_optional_exact(|row| {
        let field = names.field(row)?;
        if values.infinite(row).is_some() {
            return if field.grows() { Err(infinite_field()) } else { Ok(None) };
        }
        let (value, scale) = values.value(field, row);
        // A date has no fractions.
        rescale(value, scale, wanted).map(Some).ok_or_else(|| out_of_range(call.result))
    })
}

/// The fields that an argument names. The one of the row before is kept: names are constants, or nearly.
pub(crate) struct Names<'a> {
    names: &'a StringArray,
    of: Of,
    last: Option<(&'a str, Field)>,
}

impl<'a> Names<'a> {
    /// The names of fields of a type.
    pub fn new(names: &'a StringArray, of: Of) -> Self {
        Self { names, of, last: None }
    }

    /// The name in a row.
    pub fn name(&self, row: usize) -> &'a str {
        self.names.value(row)
    }

    /// The field in a row. Errors: 22023, 0A000.
    pub fn field(&mut self, row: usize) -> SqlResult<Field> {
        let name = self.name(row);
        if let Some((last, field)) = self.last
            && last == name
        {
            return Ok(field);
        }
        let field = named(name, self.of)?;
        self.last = Some((name, field));
        Ok(field)
    }
}

/// A Julian day as a float: one division, so that it is the nearest.
fn julian_day(days: i64, micros: i64) -> f64 {
    (days + JULIAN_EPOCH) as f64 + micros as f64 / MICROS_PER_DAY as f64
}

/// The digits of a field, and how many of them stand behind the point.
fn value(field: Field, days: i64, micros: i64) -> (i128, u8) {
    let of_minute = micros % (60 * MICROS_PER_SECOND);
    let value = match field {
        Field::Hour => micros / (3_600 * MICROS_PER_SECOND),
        Field::Minute => micros / (60 * MICROS_PER_SECOND) % 60,
        Field::Second | Field::Milliseconds | Field::Microseconds => of_minute,
        Field::DayOfWeek => iso_weekday(days) % 7,
        Field::IsoDayOfWeek => iso_weekday(days),
        Field::DayOfYear => day_of_year(days),
        Field::Week => iso_week(days).1,
        Field::IsoYear => before_christ(iso_week(days).0),
        Field::Epoch => {
            return (i128::from(days) * i128::from(MICROS_PER_DAY) + i128::from(micros), 6);
        }
        Field::Julian => {
            let part = i128::from(micros) * 1_000_000;
            let part = (part + i128::from(MICROS_PER_DAY / 2)) / i128::from(MICROS_PER_DAY);
            return (i128::from(days + JULIAN_EPOCH) * 1_000_000 + part, 6);
        }
        _ => of_date(field, days),
    };
    (i128::from(value), field.scale())
}

fn of_date(field: Field, days: i64) -> i64 {
    let (year, month, day) = civil_from_days(days);
    match field {
        Field::Day => i64::from(day),
        Field::Month => i64::from(month),
        Field::Quarter => (i64::from(month) + 2) / 3,
        Field::Decade => year.div_euclid(10),
        // Centuries begin with the year 1, and there is none without a number.
        Field::Century if year > 0 => (year + 99) / 100,
        Field::Century => -((99 - (year - 1)) / 100),
        Field::Millennium if year > 0 => (year + 999) / 1_000,
        Field::Millennium => -((999 - (year - 1)) / 1_000),
        _ => before_christ(year),
    }
}

/// A year as people count: the one before 1 is -1.
fn before_christ(year: i64) -> i64 {
    if year > 0 { year } else { year - 1 }
}
