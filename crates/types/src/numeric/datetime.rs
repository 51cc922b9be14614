//! Dates and timestamps as texts, and the days they count.

use std::fmt::Write;

pub use super::datetime_text::{
    names_clocks, names_zone, parse_date, parse_date_in, parse_moment, parse_time, parse_time_tz,
    parse_timestamp, parse_timestamp_in,
};
pub use super::infinite::{INFINITE_DAYS, INFINITE_MICROS, is_infinite, is_infinite_day};
use crate::value::civil_from_days;
use crate::zone::{Zone, write_offset};

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;
/// 24 November 4714 BC, the first day that is read.
const FIRST_DAY: i64 = -2_440_588;
/// The day behind 31 December 5874897, the last one.
const END_OF_DAYS: i64 = 2_145_042_906;
/// The first and the last day that a date may be.
pub const CALENDAR: (i64, i64) = (FIRST_DAY, END_OF_DAYS - 1);

/// A day as a date holds it, if the calendar has it.
pub fn date(days: i64) -> Option<i32> {
    let within = (FIRST_DAY..END_OF_DAYS).contains(&days);
    i32::try_from(days).ok().filter(|_| within)
}

/// The timestamp before all others, or behind them.
pub(super) fn infinite(before: bool) -> i64 {
    if before { INFINITE_MICROS.0 } else { INFINITE_MICROS.1 }
}

/// A point of time as a timestamp holds it, if that reaches it and it is not infinite.
pub fn timestamp(micros: i64) -> Option<i64> {
    Some(micros).filter(|it| *it >= FIRST_DAY * DAY && !is_infinite(*it))
}

/// Midnight of a day, where a timestamp reaches it.
pub fn timestamp_of_date(days: i64) -> Option<i64> {
    match days {
        _ if is_infinite_day(days) => Some(infinite(days < 0)),
        ..FIRST_DAY => None,
        _ => days.checked_mul(DAY),
    }
}

/// The day of a timestamp.
pub fn date_of_timestamp(micros: i64) -> i64 {
    match micros {
        i64::MIN => i64::from(INFINITE_DAYS.0),
        i64::MAX => i64::from(INFINITE_DAYS.1),
        _ => micros.div_euclid(DAY),
    }
}

/// Days from 1970-01-01 of a day of the proleptic Gregorian calendar; the inverse of `civil_from_days`.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Days of a month of a year.
pub fn days_of_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(super) fn format_date(days: i64, out: &mut String) {
    if is_infinite_day(days) {
        return out.push_str(infinite_word(days < 0));
    }
    let (year, month, day) = civil_from_days(days);
    if year > 0 {
        let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    } else {
        let _ = write!(out, "{:04}-{month:02}-{day:02} BC", 1 - year);
    }
}

pub(super) fn format_timestamp(micros: i64, out: &mut String) {
    if is_infinite(micros) {
        return out.push_str(infinite_word(micros < 0));
    }
    format_zoned(micros, None, out);
}

/// Appends a moment as the clocks of a zone show it, and how far these are ahead of UTC.
pub fn format_moment(micros: i64, zone: &Zone, out: &mut String) {
    if is_infinite(micros) {
        return out.push_str(infinite_word(micros < 0));
    }
    let ahead = zone.ahead_at(micros);
    // At the ends of the range the clocks may show what no timestamp holds.
    format_zoned(micros.saturating_add(ahead * 1_000_000), Some(ahead), out);
}

fn infinite_word(before: bool) -> &'static str {
    if before { "-infinity" } else { "infinity" }
}

fn format_zoned(micros: i64, ahead: Option<i64>, out: &mut String) {
    format_date(date_of_timestamp(micros), out);
    let bc = out.ends_with(" BC");
    if bc {
        out.truncate(out.len() - 3);
    }
    out.push(' ');
    format_time(micros.rem_euclid(DAY), out);
    if let Some(ahead) = ahead {
        write_offset(ahead, out);
    }
    if bc {
        out.push_str(" BC");
    }
}

/// Appends a time of day.
pub fn format_time(micros: i64, out: &mut String) {
    let seconds = micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = write!(out, "{hour:02}:{minute:02}:{second:02}");
    format_fraction(micros % 1_000_000, out);
}

/// Appends microseconds of a second behind a point, where there are any.
pub(super) fn format_fraction(micros: i64, out: &mut String) {
    if micros != 0 {
        let _ = write!(out, ".{micros:06}");
        out.truncate(out.trim_end_matches('0').len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for days in (FIRST_DAY..END_OF_DAYS).step_by(9_973) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month.into(), day.into()), days);
            assert!(i64::from(day) <= days_of_month(year, month.into()));
        }
        assert_eq!(civil_from_days(FIRST_DAY), (-4713, 11, 24));
        assert_eq!(civil_from_days(END_OF_DAYS), (5_874_898, 1, 1));
    }

    #[test]
    fn what_is_written_is_read() {
        for micros in (-210_866_803_200_000_000..i64::MAX).step_by(7_777_777_777_777_777) {
            let mut text = String::new();
            format_timestamp(micros, &mut text);
            assert_eq!(parse_timestamp(&text), Ok(micros), "{text}");
            assert_eq!(parse_date(&text), Ok(date_of_timestamp(micros)), "{text}");
        }
    }

    #[test]
    fn clocks_are_turned_as_postgres_turns_them() {
        let berlin = Zone::find("europe/berlin").unwrap();
        let of = |text| parse_timestamp(text).unwrap();
        for (local, utc) in [
            ("2024-01-01 12:00", "2024-01-01 11:00"),
            ("2024-07-01 12:00", "2024-07-01 10:00"),
            // There was no such time; there were two.
            ("2024-03-31 02:30", "2024-03-31 01:30"),
            ("2024-10-27 02:30", "2024-10-27 01:30"),
            ("30024-07-01 12:00", "30024-07-01 10:00"),
        ] {
            assert_eq!(berlin.moment(of(local)), Some(of(utc)), "{local}");
        }
        assert_eq!(berlin.local(of("2024-03-31 01:00")), Some(of("2024-03-31 03:00")));
        assert_eq!(berlin.name(), "Europe/Berlin");
        assert_eq!(berlin.abbreviation_at(0), "CET");
    }

    #[test]
    fn moving_words_are_refused_by_name() {
        for word in ["now", " Today ", "tomorrow", "yesterday"] {
            assert_eq!(parse_date(word).map_err(|it| it.state.0), Err("0A000"), "{word}");
            assert_eq!(parse_timestamp(word).map_err(|it| it.state.0), Err("0A000"), "{word}");
        }
        assert_eq!(parse_date("epoch"), Ok(0));
    }

    #[test]
    fn infinity_is_before_or_behind_all_others() {
        let (first, last) = (i64::from(INFINITE_DAYS.0), i64::from(INFINITE_DAYS.1));
        assert_eq!(parse_date(" -Infinity "), Ok(first));
        assert_eq!(parse_date("+infinity"), Ok(last));
        assert_eq!(parse_timestamp("infinity"), Ok(i64::MAX));
        assert_eq!(parse_moment("-infinity", &Zone::utc()), Ok(i64::MIN));
        assert_eq!(timestamp_of_date(last), Some(i64::MAX));
        assert_eq!(date_of_timestamp(i64::MIN), first);
        assert_eq!(parse_time("infinity").map_err(|it| it.state.0), Err("22007"));
        assert_eq!(parse_date("infinity ad").map_err(|it| it.state.0), Err("22007"));
        let mut text = String::new();
        format_date(first, &mut text);
        format_timestamp(i64::MAX, &mut text);
        assert_eq!(text, "-infinityinfinity");
    }
}
