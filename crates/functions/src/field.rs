//! Fields of dates and timestamps: date_part and extract.

use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, StringArray};
use types::numeric::decimal::rescale;
use types::{SqlError, SqlResult};

use crate::calendar::{
    JULIAN_EPOCH, MICROS_PER_DAY, MICROS_PER_SECOND, civil_from_days, day_of_year, iso_week,
    iso_weekday,
};
use crate::call::{Call, Moments};
use crate::error::{invalid, out_of_range};

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
    Week,
    Year,
}

impl Field {
    /// The field of a name in lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "century" | "centuries" | "cent" | "c" => Self::Century,
            "day" | "days" | "d" => Self::Day,
            "decade" | "decades" | "dec" | "decs" => Self::Decade,
            "dow" => Self::DayOfWeek,
            "doy" => Self::DayOfYear,
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
            "week" | "weeks" | "w" => Self::Week,
            "year" | "years" | "yr" | "yrs" | "y" => Self::Year,
            _ => return None,
        })
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

    /// Whether a date, which has no time, has it.
    fn is_of_dates(self) -> bool {
        !matches!(
            self,
            Self::Hour | Self::Minute | Self::Second | Self::Milliseconds | Self::Microseconds
        )
    }
}

/// The field that a user names. Errors: 22023 for an unknown name, 0A000 for one that the type does not have.
fn named(name: &str, is_date: bool) -> SqlResult<Field> {
    let lower = name.to_lowercase();
    let zone = ["timezone", "timezone_h", "timezone_hour", "timezone_m", "timezone_minute"];
    if zone.contains(&lower.as_str()) {
        return Err(unsupported(name, is_date));
    }
    let field = Field::from_name(&lower).ok_or_else(|| unrecognized(name, is_date))?;
    if is_date && !field.is_of_dates() { Err(unsupported(name, is_date)) } else { Ok(field) }
}

/// A name that is no unit, 22023.
pub(crate) fn unrecognized(name: &str, is_date: bool) -> SqlError {
    let (name, of) = (name.to_lowercase(), type_of(is_date));
    invalid(format!("unit \"{name}\" not recognized for type {of}"))
}

/// A unit that the type does not have, 0A000.
fn unsupported(name: &str, is_date: bool) -> SqlError {
    let (name, of) = (name.to_lowercase(), type_of(is_date));
    SqlError::unsupported(format!("unit \"{name}\" not supported for type {of}"))
}

fn type_of(is_date: bool) -> &'static str {
    if is_date { "date" } else { "timestamp without time zone" }
}

/// A field as DOUBLE PRECISION.
pub(crate) fn date_part(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (names, moments) = (call.texts(0)?, call.moments(1)?);
    let mut names = Names::new(names, false);
    call.map::<Float64Type>(|row| {
        let field = names.field(row)?;
        let (days, micros) = moments.at(row);
        if field == Field::Julian {
            return Ok(julian_day(days, micros));
        }
        let (value, scale) = value(field, days, micros);
        Ok(value as f64 / 10f64.powi(i32::from(scale)))
    })
}

/// A field as an exact number.
pub(crate) fn extract(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (names, moments) = (call.texts(0)?, call.moments(1)?);
    let is_date = matches!(moments, Moments::Dates(_));
    let wanted = call.result.scale();
    let mut names = Names::new(names, is_date);
    call.map_exact(|row| {
        let field = names.field(row)?;
        let (days, micros) = moments.at(row);
        let (value, scale) = value(field, days, micros);
        // A date has no fractions.
        rescale(value, scale, wanted).ok_or_else(|| out_of_range(call.result))
    })
}

/// The fields that an argument names. The one of the row before is kept: names are constants, or nearly.
pub(crate) struct Names<'a> {
    names: &'a StringArray,
    of_dates: bool,
    last: Option<(&'a str, Field)>,
}

impl<'a> Names<'a> {
    /// The names of fields of timestamps, or of dates.
    pub fn new(names: &'a StringArray, of_dates: bool) -> Self {
        Self { names, of_dates, last: None }
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
        let field = named(name, self.of_dates)?;
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
