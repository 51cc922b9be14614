//! `time_bucket(width, moment [, origin or offset])`: when the span of a width begins that a point of time lies in.

use arrow_array::ArrayRef;
use types::value::civil_from_days;
use types::{SqlError, SqlResult};

use crate::calendar::{self, MICROS_PER_DAY, days_from_civil};
use crate::call::Call;
use crate::error::{invalid, timestamp_range};
use crate::interval;

/// 2000-01-03, a Monday, in days: where spans of days and less begin, unless said otherwise.
const MONDAY: i64 = 10_959;
/// January 2000, in months from 1970: where spans of months begin.
const JANUARY: i64 = 360;

/// Begins of spans.
pub(super) fn time_bucket(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (widths, moments) = (interval::argument(call, 0)?, call.any_moments(1)?);
    let origins = if call.count() > 2 { Some(call.moments(2)?) } else { None };
    call.map_moments(moments, |row| {
        let width = widths.at(row);
        let short = i128::from(width.days) * i128::from(MICROS_PER_DAY) + i128::from(width.micros);
        if width.months != 0 && short != 0 {
            let message = "a span of time is of months, or of days and less, and not of both";
            return Err(SqlError::unsupported(message));
        }
        if i128::from(width.months) + short <= 0 {
            return Err(invalid("a span of time must be greater than zero"));
        }
        let micros = |(days, micros): (i64, i64)| calendar::timestamp(days, micros).map(i128::from);
        if width.months != 0 {
            let origin = origins.map_or(JANUARY, |it| months(it.at(row).0));
            let own = months(moments.at(row).0);
            let step = width.months;
            let begin = origin + (own - origin).div_euclid(step) * step;
            let (year, month) = (1970 + begin.div_euclid(12), begin.rem_euclid(12) + 1);
            return calendar::timestamp(days_from_civil(year, month, 1), 0);
        }
        let origin = micros(origins.map_or((MONDAY, 0), |it| it.at(row)))?;
        let begin = origin + (micros(moments.at(row))? - origin).div_euclid(short) * short;
        calendar::timestamp(0, i64::try_from(begin).map_err(|_| timestamp_range())?)
    })
}

/// Months from January 1970 to that of a day.
fn months(days: i64) -> i64 {
    let (year, month, _) = civil_from_days(days);
    (year - 1970) * 12 + i64::from(month) - 1
}
