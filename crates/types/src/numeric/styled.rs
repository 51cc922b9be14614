//! Dates, timestamps and intervals in other forms than the usual ones, as PostgreSQL writes them.

use std::fmt::Write;

use super::datetime::{DAY, format_fraction, format_time};
use super::interval::Interval;
use crate::styles::{DateForm, DateOrder, IntervalForm, Styles};
use crate::value::civil_from_days;
use crate::zone::{Zone, write_offset};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// From the day of the week of 1970-01-01 on.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// Appends a date in a form that is not ISO's.
pub(super) fn date(days: i64, styles: Styles, out: &mut String) {
    let is_bc = put_date(days, styles, out);
    out.push_str(if is_bc { " BC" } else { "" });
}

/// Appends year, month and day; tells whether the year is before the first.
fn put_date(days: i64, styles: Styles, out: &mut String) -> bool {
    let (year, month, day) = civil_from_days(days);
    let shown = if year > 0 { year } else { 1 - year };
    let (first, second) = match styles.order {
        DateOrder::Dmy => (day, month),
        DateOrder::Mdy | DateOrder::Ymd => (month, day),
    };
    // Nothing fails to be written to a string.
    let _ = match styles.dates {
        DateForm::Iso => write!(out, "{shown:04}-{month:02}-{day:02}"),
        DateForm::Sql => write!(out, "{first:02}/{second:02}/{shown:04}"),
        DateForm::Postgres => write!(out, "{first:02}-{second:02}-{shown:04}"),
        DateForm::German => write!(out, "{day:02}.{month:02}.{shown:04}"),
    };
    year <= 0
}

/// Appends a timestamp in a form that is not ISO's; of a moment what the clocks of its zone show, and what their time is called.
pub(super) fn timestamp(
    local: i64,
    moment: Option<(i64, &Zone)>,
    styles: Styles,
    out: &mut String,
) {
    let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let is_bc = match styles.dates {
        DateForm::Postgres => {
            let (year, month, day) = civil_from_days(days);
            let weekday = WEEKDAYS[days.rem_euclid(7) as usize];
            let name = MONTHS[(month - 1).rem_euclid(12) as usize];
            let _ = match styles.order {
                DateOrder::Dmy => write!(out, "{weekday} {day:02} {name} "),
                _ => write!(out, "{weekday} {name} {day:02} "),
            };
            format_time(time, out);
            let _ = write!(out, " {:04}", if year > 0 { year } else { 1 - year });
            year <= 0
        }
        _ => {
            let is_bc = put_date(days, styles, out);
            out.push(' ');
            format_time(time, out);
            is_bc
        }
    };
    if let Some((micros, zone)) = moment {
        put_zone(micros, zone, styles, out);
    }
    out.push_str(if is_bc { " BC" } else { "" });
}

fn put_zone(micros: i64, zone: &Zone, styles: Styles, out: &mut String) {
    match (zone.abbreviation_at(micros), styles.dates) {
        (_, DateForm::Iso) => write_offset(zone.ahead_at(micros), out),
        (name, _) => {
            out.push(' ');
            out.push_str(&name);
        }
    }
}

/// Appends an interval in a form that is not the usual one.
pub(super) fn interval(it: Interval, form: IntervalForm, out: &mut String) {
    let parts = Parts::of(it);
    match form {
        IntervalForm::Postgres => super::interval_text::format(it, out),
        IntervalForm::Verbose => verbose(&parts, out),
        IntervalForm::Standard => standard(&parts, out),
        IntervalForm::Iso => iso(&parts, out),
    }
}

/// The parts of an interval, each with a sign of its own.
struct Parts {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    /// Of the seconds.
    micros: i64,
}

impl Parts {
    fn of(it: Interval) -> Self {
        let (hours, rest) = (it.micros / 3_600_000_000, it.micros % 3_600_000_000);
        Self {
            years: it.months / 12,
            months: it.months % 12,
            days: it.days,
            hours,
            minutes: rest / 60_000_000,
            micros: rest % 60_000_000,
        }
    }

    fn each(&self) -> [i64; 6] {
        [self.years, self.months, self.days, self.hours, self.minutes, self.micros]
    }
}

/// Appends seconds without their sign.
fn seconds(micros: i64, is_filled: bool, out: &mut String) {
    let micros = micros.unsigned_abs();
    let _ = match is_filled {
        true => write!(out, "{:02}", micros / 1_000_000),
        false => write!(out, "{}", micros / 1_000_000),
    };
    format_fraction((micros % 1_000_000) as i64, out);
}

fn verbose(parts: &Parts, out: &mut String) {
    out.push('@');
    let (mut is_zero, mut is_before) = (true, false);
    let [years, months, days, hours, minutes, micros] = parts.each();
    let named =
        [(years, "year"), (months, "mon"), (days, "day"), (hours, "hour"), (minutes, "min")];
    for (value, unit) in named.into_iter().filter(|it| it.0 != 0) {
        // The first part decides whether all lies before.
        is_before |= is_zero && value < 0;
        let value = if is_before { -value } else { value };
        let plural = if value == 1 { "" } else { "s" };
        let _ = write!(out, " {value} {unit}{plural}");
        is_zero = false;
    }
    if micros != 0 {
        is_before |= is_zero && micros < 0;
        out.push(' ');
        out.push_str(if (micros < 0) != is_before { "-" } else { "" });
        seconds(micros, false, out);
        out.push_str(if micros.abs() == 1_000_000 { " sec" } else { " secs" });
        is_zero = false;
    }
    out.push_str(if is_zero { " 0" } else { "" });
    out.push_str(if is_before { " ago" } else { "" });
}

fn iso(parts: &Parts, out: &mut String) {
    let [years, months, days, hours, minutes, micros] = parts.each();
    if parts.each().iter().all(|it| *it == 0) {
        return out.push_str("PT0S");
    }
    let put = |value: i64, unit: char, out: &mut String| {
        if value != 0 {
            let _ = write!(out, "{value}{unit}");
        }
    };
    out.push('P');
    put(years, 'Y', out);
    put(months, 'M', out);
    put(days, 'D', out);
    if hours != 0 || minutes != 0 || micros != 0 {
        out.push('T');
    }
    put(hours, 'H', out);
    put(minutes, 'M', out);
    if micros != 0 {
        out.push_str(if micros < 0 { "-" } else { "" });
        seconds(micros, false, out);
        out.push('S');
    }
}

/// The standard has intervals of years and months, and of days and times, with one sign; others have a sign for each part.
fn standard(parts: &Parts, out: &mut String) {
    let all = parts.each();
    let (is_negative, is_positive) = (all.iter().any(|it| *it < 0), all.iter().any(|it| *it > 0));
    if !is_negative && !is_positive {
        return out.push('0');
    }
    let [years, months, days, hours, minutes, micros] = all;
    let has_months = years != 0 || months != 0;
    let has_days = days != 0;
    let has_time = hours != 0 || minutes != 0 || micros != 0;
    let of_time = |out: &mut String| {
        let _ = write!(out, "{}:{:02}:", hours.abs(), minutes.abs());
        seconds(micros, true, out);
    };
    if is_negative && is_positive || has_months && (has_days || has_time) {
        let sign = |is_negative: bool| if is_negative { '-' } else { '+' };
        let (of_months, of_days) = (sign(years < 0 || months < 0), sign(days < 0));
        let (years, months, days) = (years.abs(), months.abs(), days.abs());
        let _ = write!(out, "{of_months}{years}-{months} {of_days}{days} ");
        out.push(sign(hours < 0 || minutes < 0 || micros < 0));
        return of_time(out);
    }
    out.push_str(if is_negative { "-" } else { "" });
    if has_months {
        let _ = write!(out, "{}-{}", years.abs(), months.abs());
        return;
    }
    if has_days {
        let _ = write!(out, "{} ", days.abs());
    }
    of_time(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(it: (i64, i64, i64), form: IntervalForm) -> String {
        let mut out = String::new();
        let (months, days, micros) = it;
        interval(Interval { months, days, micros }, form, &mut out);
        out
    }

    #[test]
    fn intervals_have_four_forms() {
        const SECOND: i64 = 1_000_000;
        // As PostgreSQL 18 writes them.
        for (it, expected) in [
            ((0, 0, 0), ["@ 0", "0", "PT0S"]),
            (
                (14, 3, 14_706_500_000),
                [
                    "@ 1 year 2 mons 3 days 4 hours 5 mins 6.5 secs",
                    "+1-2 +3 +4:05:06.5",
                    "P1Y2M3DT4H5M6.5S",
                ],
            ),
            ((14, 0, 0), ["@ 1 year 2 mons", "1-2", "P1Y2M"]),
            ((-14, 0, 0), ["@ 1 year 2 mons ago", "-1-2", "P-1Y-2M"]),
            ((0, 1, SECOND), ["@ 1 day 1 sec", "1 0:00:01", "P1DT1S"]),
            ((0, -1, -SECOND), ["@ 1 day 1 sec ago", "-1 0:00:01", "P-1DT-1S"]),
            ((0, -1, SECOND), ["@ 1 day -1 sec ago", "+0-0 -1 +0:00:01", "P-1DT1S"]),
            ((0, 0, -500_000), ["@ 0.5 secs ago", "-0:00:00.5", "PT-0.5S"]),
            ((0, 0, 90_000 * SECOND), ["@ 25 hours", "25:00:00", "PT25H"]),
        ] {
            let forms = [IntervalForm::Verbose, IntervalForm::Standard, IntervalForm::Iso];
            assert_eq!(forms.map(|form| shown(it, form)), expected, "{it:?}");
        }
        assert_eq!(shown((0, 1, 0), IntervalForm::Postgres), "1 day");
    }

    #[test]
    fn dates_have_four_forms_in_two_orders() {
        let styles = |text: &str| Styles::default().with_dates(text).unwrap();
        let zone = Zone::find("America/Los_Angeles").unwrap();
        // 1997-12-17 07:37:16.5 there.
        let moment = 882_373_036_500_000;
        for (text, expected) in [
            ("SQL, MDY", ["12/17/1997", "12/17/1997 07:37:16.5 PST"]),
            ("SQL, DMY", ["17/12/1997", "17/12/1997 07:37:16.5 PST"]),
            ("SQL, YMD", ["12/17/1997", "12/17/1997 07:37:16.5 PST"]),
            ("Postgres, MDY", ["12-17-1997", "Wed Dec 17 07:37:16.5 1997 PST"]),
            ("Postgres, DMY", ["17-12-1997", "Wed 17 Dec 07:37:16.5 1997 PST"]),
            ("German", ["17.12.1997", "17.12.1997 07:37:16.5 PST"]),
            ("German, MDY", ["17.12.1997", "17.12.1997 07:37:16.5 PST"]),
        ] {
            let (mut of_date, mut of_moment) = (String::new(), String::new());
            date(10_212, styles(text), &mut of_date);
            let local = zone.local(moment).unwrap();
            timestamp(local, Some((moment, &zone)), styles(text), &mut of_moment);
            assert_eq!([of_date, of_moment], expected, "{text}");
        }
        let mut out = String::new();
        timestamp(-62_135_683_200_000_000, None, styles("Postgres"), &mut out);
        assert_eq!(out, "Sun Dec 31 00:00:00 0001 BC");
    }
}
