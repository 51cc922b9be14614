//! `date_diff` counts how often a field of the calendar changes between two points of time, `date_sub` how many whole spans of it
//! fit between them.

use arrow_array::ArrayRef;
use arrow_array::types::Int64Type;
use plan::Function;
use types::value::civil_from_days;
use types::{DataType, SqlResult};

use crate::calendar::{MICROS_PER_DAY, days_of_month, iso_week};
use crate::call::Call;
use crate::error::{invalid, out_of_range};

/// The numbers of rows.
pub(super) fn between(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (fields, from, to) = (call.texts(0)?, call.moments(1)?, call.moments(2)?);
    let counts = call.function == Function::DateDiff;
    call.map::<Int64Type>(|row| {
        let name = fields.value(row).to_lowercase();
        let (from, to) = (from.at(row), to.at(row));
        let unit = Unit::named(&name);
        let unit = unit.ok_or_else(|| invalid(format!("unit \"{name}\" is not known")))?;
        let found = if counts { unit.changes(from, to) } else { unit.spans(from, to) };
        i64::try_from(found).map_err(|_| out_of_range(DataType::BigInt))
    })
}

/// A unit of time.
#[derive(Clone, Copy)]
enum Unit {
    /// So many months.
    Months(i64),
    Week,
    /// A year of weeks that begin on Monday.
    IsoYear,
    Day,
    /// So many microseconds.
    Micros(i64),
}

impl Unit {
    fn named(name: &str) -> Option<Self> {
        const SECOND: i64 = 1_000_000;
        Some(match name {
            "millennium" | "millennia" | "mil" => Self::Months(12_000),
            "century" | "centuries" | "cent" | "c" => Self::Months(1_200),
            "decade" | "decades" | "dec" | "decs" => Self::Months(120),
            "year" | "years" | "yr" | "yrs" | "y" => Self::Months(12),
            "isoyear" => Self::IsoYear,
            "quarter" | "quarters" => Self::Months(3),
            "month" | "months" | "mon" | "mons" => Self::Months(1),
            "week" | "weeks" | "w" | "yearweek" => Self::Week,
            "day" | "days" | "d" | "dow" | "isodow" | "doy" | "dayofweek" | "weekday"
            | "dayofyear" | "dayofmonth" | "julian" => Self::Day,
            "hour" | "hours" | "hr" | "hrs" | "h" => Self::Micros(3_600 * SECOND),
            "minute" | "minutes" | "min" | "mins" | "m" => Self::Micros(60 * SECOND),
            "second" | "seconds" | "sec" | "secs" | "s" | "epoch" => Self::Micros(SECOND),
            "millisecond" | "milliseconds" | "ms" | "msec" | "msecs" => Self::Micros(1_000),
            "microsecond" | "microseconds" | "us" | "usec" | "usecs" => Self::Micros(1),
            _ => return None,
        })
    }

    /// How often it changes on the way.
    fn changes(self, from: (i64, i64), to: (i64, i64)) -> i128 {
        let number = |(days, micros): (i64, i64)| {
            i128::from(match self {
                Self::Months(months) => {
                    let (year, month, _) = civil_from_days(days);
                    // Centuries and the like go by the year's number alone.
                    match months {
                        1..12 => (year * 12 + i64::from(month) - 1).div_euclid(months),
                        _ => year / (months / 12),
                    }
                }
                Self::Week => days,
                Self::IsoYear => iso_week(days).0,
                Self::Day => days,
                Self::Micros(one) => {
                    let all = i128::from(days) * i128::from(MICROS_PER_DAY) + i128::from(micros);
                    return all.div_euclid(i128::from(one));
                }
            })
        };
        let changes = number(to) - number(from);
        // Weeks begin with the first of the two days.
        if let Self::Week = self { changes / 7 } else { changes }
    }

    /// How many whole ones there are on the way.
    fn spans(self, from: (i64, i64), to: (i64, i64)) -> i128 {
        let day = i128::from(MICROS_PER_DAY);
        let micros = |it: (i64, i64)| i128::from(it.0) * day + i128::from(it.1);
        let way = micros(to) - micros(from);
        match self {
            Self::Months(months) => i128::from(whole_months(from, to) / months),
            Self::IsoYear => i128::from(whole_months(from, to) / 12),
            Self::Week => way / (7 * day),
            Self::Day => way / day,
            Self::Micros(one) => way / i128::from(one),
        }
    }
}

/// Whole months between two points of time; the last day of a month ends one that began on a later day.
fn whole_months(from: (i64, i64), to: (i64, i64)) -> i64 {
    if from > to {
        return -whole_months(to, from);
    }
    let ((year, month, day), (last_year, last_month, last_day)) =
        (civil_from_days(from.0), civil_from_days(to.0));
    let months = (last_year - year) * 12 + i64::from(last_month) - i64::from(month);
    let is_last = i64::from(last_day) == days_of_month(last_year, last_month.into());
    let day = if is_last { day.min(last_day) } else { day };
    months - i64::from((last_day, to.1) < (day, from.1))
}
