//! The proleptic Gregorian calendar: days and microseconds from 1970-01-01. The year 0 is 1 BC.
//!
//! - Invariant: what leaves this crate as DATE or TIMESTAMP is not before 4714-11-24 BC, PostgreSQL's first day; its last
//!   is the last that 64 bits of microseconds hold, early in 294247, or for dates 5874897-12-31.

use types::numeric::datetime;
use types::{DataType, SqlResult};

use crate::error::{out_of_range, timestamp_range};

pub(crate) use types::numeric::datetime::{DAY as MICROS_PER_DAY, days_from_civil, days_of_month};
pub(crate) use types::value::civil_from_days;

/// Microseconds of a second.
pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;
/// Days from the first Julian day, 4714-11-24 BC, to 1970-01-01.
pub(crate) const JULIAN_EPOCH: i64 = 2_440_588;
/// 5874897-12-31.
const LAST_DAY: i64 = 2_145_042_905;

/// The day of a date, if there is such a date.
pub(crate) fn checked_day(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(-5_000..=5_900_000).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    if !(1..=days_of_month(year, month)).contains(&day) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    (-JULIAN_EPOCH..=LAST_DAY).contains(&days).then_some(days)
}

/// A day as DATE holds it. Error: 22008.
pub(crate) fn date(days: i64) -> SqlResult<i32> {
    let valid = (-JULIAN_EPOCH..=LAST_DAY).contains(&days);
    let days = i32::try_from(days).ok().filter(|_| valid);
    days.ok_or_else(|| out_of_range(DataType::Date))
}

/// A day and microseconds (of any size) after its midnight as TIMESTAMP holds them, never as an infinite one. Error: 22008.
pub(crate) fn timestamp(days: i64, micros: i64) -> SqlResult<i64> {
    let whole = days.checked_mul(MICROS_PER_DAY).and_then(|it| it.checked_add(micros));
    whole.and_then(datetime::timestamp).ok_or_else(timestamp_range)
}

/// The day of the week, from Monday = 1 to Sunday = 7.
pub(crate) fn iso_weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// The ISO year and week of a day: weeks begin on Monday, the first one has the year's first Thursday.
pub(crate) fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days + 4 - iso_weekday(days);
    let year = civil_from_days(thursday).0;
    (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
}

/// The day of the year, from 1.
pub(crate) fn day_of_year(days: i64) -> i64 {
    days - days_from_civil(civil_from_days(days).0, 1, 1) + 1
}

/// The first day of an ISO year.
pub(crate) fn iso_year_start(year: i64) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth + 1 - iso_weekday(fourth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_days_are_inverse() {
        for days in (-2_440_588..2_145_042_905).step_by(99_991) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(checked_day(year, i64::from(month), i64::from(day)), Some(days));
        }
        assert_eq!(checked_day(2023, 2, 29), None);
        assert_eq!(checked_day(2024, 2, 29), Some(19_782));
        assert_eq!(checked_day(2024, 13, 1), None);
        assert_eq!(iso_week(days_from_civil(2021, 1, 3)), (2020, 53));
        assert_eq!(iso_weekday(days_from_civil(1969, 12, 31)), 3);
    }
}
