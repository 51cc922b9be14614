//! Dates and timestamps from text and as text, and the days they count.
//!
//! Read are PostgreSQL's forms with the date style ISO, MDY: `2024-01-31`, `20240131`, `2024/1/31`, `1/31/2024`, `Jan 31, 2024`,
//! `31-Jan-2024`, each with a time (`13:05`, `1:05:06.7 PM`) and a zone, which a timestamp without zone does not count, and
//! `BC`. A timestamp with time zone counts the zone, or is in the one that is given. The words that mean another moment each
//! time (`now`) are refused.

use std::fmt::Write;

use super::errors::{field_out_of_range, invalid_text, text_out_of_range};
pub use super::infinite::{INFINITE_DAYS, INFINITE_MICROS, is_infinite, is_infinite_day};
use super::spelling::trimmed;
use crate::value::civil_from_days;
use crate::zone::{Zone, write_offset};
use crate::{DataType, SqlError, SqlResult};

/// Microseconds of a day.
pub const DAY: i64 = 86_400_000_000;
/// 24 November 4714 BC, the first day that is read.
const FIRST_DAY: i64 = -2_440_588;
/// The day behind 31 December 5874897, the last one.
const END_OF_DAYS: i64 = 2_145_042_906;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A date, as days from 1970-01-01. A time behind it must be one and does not count.
///
/// # Errors
/// 22007 for what is no date, 22008 for one that there is not or that is out of range, 0A000 for `now` and the like.
pub fn parse_date(text: &str) -> SqlResult<i64> {
    let fields = match Fields::read(text, DataType::Date)? {
        Read::Epoch => return Ok(0),
        Read::Infinite { before } => {
            let (least, greatest) = INFINITE_DAYS;
            return Ok(i64::from(if before { least } else { greatest }));
        }
        Read::Fields(it) => it,
    };
    let days = fields.days(text, DataType::Date)?;
    let within = (FIRST_DAY..END_OF_DAYS).contains(&days);
    if within { Ok(days) } else { Err(text_out_of_range(text, DataType::Date)) }
}

/// A timestamp, as microseconds from 1970-01-01. Errors as of [`parse_date`].
pub fn parse_timestamp(text: &str) -> SqlResult<i64> {
    match Fields::read(text, DataType::Timestamp)? {
        Read::Epoch => Ok(0),
        Read::Infinite { before } => Ok(infinite(before)),
        Read::Fields(fields) => fields.local(text, DataType::Timestamp),
    }
}

/// A timestamp with time zone, as microseconds from 1970-01-01 in UTC; what names no zone is in this one. Errors as of
/// [`parse_date`].
pub fn parse_moment(text: &str, zone: &Zone) -> SqlResult<i64> {
    let fields = match Fields::read(text, DataType::TimestampTz)? {
        Read::Epoch => return Ok(0),
        Read::Infinite { before } => return Ok(infinite(before)),
        Read::Fields(it) => it,
    };
    let local = fields.local(text, DataType::TimestampTz)?;
    let moment = fields.zone.as_ref().unwrap_or(zone).moment(local);
    moment
        .filter(|it| *it >= FIRST_DAY * DAY)
        .ok_or_else(|| text_out_of_range(text, DataType::TimestampTz))
}

/// Whether the text of a moment names its zone, so that it is the same moment in every session.
pub fn names_zone(text: &str) -> bool {
    match Fields::read(text, DataType::TimestampTz) {
        Ok(Read::Fields(fields)) => fields.zone.is_some(),
        _ => true,
    }
}

/// A time of day, in microseconds from midnight. A date before it and a zone behind it do not count. Errors as of
/// [`parse_date`].
pub fn parse_time(text: &str) -> SqlResult<i64> {
    match Fields::read(text, DataType::Time)? {
        Read::Fields(Fields { time: Some(time), .. }) => Ok(time),
        _ => Err(invalid_text(text, DataType::Time)),
    }
}

/// The first and the last day that a date may be.
pub const CALENDAR: (i64, i64) = (FIRST_DAY, END_OF_DAYS - 1);

/// A day as a date holds it, if the calendar has it.
pub fn date(days: i64) -> Option<i32> {
    let within = (FIRST_DAY..END_OF_DAYS).contains(&days);
    i32::try_from(days).ok().filter(|_| within)
}

/// The timestamp before all others, or behind them.
fn infinite(before: bool) -> i64 {
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

/// Why a text is no date.
enum Flaw {
    Syntax,
    Field,
}

/// What a text says.
enum Read {
    /// The first moment of 1970, by its name.
    Epoch,
    /// What is before all others, or behind them.
    Infinite {
        before: bool,
    },
    Fields(Fields),
}

/// What a text says, as far as it has been read.
#[derive(Default)]
struct Fields {
    /// Year, month, day.
    date: Option<(i64, i64, i64)>,
    /// Numbers and a month by name that stand alone, until they make a date.
    numbers: Vec<(i64, usize)>,
    month: Option<i64>,
    /// Microseconds of the day.
    time: Option<i64>,
    afternoon: Option<bool>,
    before_christ: bool,
    /// Whether the year has two digits or fewer.
    short_year: bool,
    zone: Option<Zone>,
    /// Whether a time alone is wanted.
    of_day: bool,
}

impl Fields {
    fn read(text: &str, to: DataType) -> SqlResult<Read> {
        let lower = trimmed(text).to_ascii_lowercase();
        if to != DataType::Time && matches!(&*lower, "infinity" | "+infinity" | "-infinity") {
            return Ok(Read::Infinite { before: lower.starts_with('-') });
        }
        match lower.trim_start_matches(['+', '-']) {
            "allballs" if to == DataType::Time => {
                return Ok(Read::Fields(Self { time: Some(0), ..Self::default() }));
            }
            "epoch" if to != DataType::Time => return Ok(Read::Epoch),
            word @ ("now" | "today" | "tomorrow" | "yesterday") => {
                let error = SqlError::unsupported(format!("'{word}' is not read as a {to}"));
                return Err(error.with_hint("use current_date or localtimestamp"));
            }
            _ => {}
        }
        let mut fields = Self { of_day: to == DataType::Time, ..Self::default() };
        for token in tokens(&lower) {
            fields.take(token).map_err(|flaw| match flaw {
                Flaw::Syntax => invalid_text(text, to),
                Flaw::Field => field_out_of_range(text),
            })?;
        }
        fields.finish().map_err(|flaw| match flaw {
            Flaw::Syntax => invalid_text(text, to),
            Flaw::Field => field_out_of_range(text),
        })?;
        Ok(Read::Fields(fields))
    }

    fn take(&mut self, token: &str) -> Result<(), Flaw> {
        let first = token.as_bytes().first().copied().unwrap_or(b' ');
        if token.contains(':') && first.is_ascii_digit() {
            return self.take_time(token);
        }
        if let Some(rest) = token.strip_prefix(['+', '-']) {
            let is_zone = self.time.is_some() && is_offset(rest);
            return if is_zone { self.take_offset(token) } else { Err(Flaw::Syntax) };
        }
        if first.is_ascii_alphabetic()
            && token.contains(['/', '+', '-', '_'])
            && let Some(zone) = Zone::find(token)
        {
            return self.take_zone(zone);
        }
        if token.bytes().all(|it| it.is_ascii_digit()) {
            return self.take_digits(token);
        }
        if first.is_ascii_digit() || token.contains(['-', '/', '.']) {
            return self.take_date(token);
        }
        match token {
            "bc" | "b.c." => self.before_christ = true,
            "ad" | "a.d." => {}
            "am" | "pm" if self.afternoon.is_none() => self.afternoon = Some(token == "pm"),
            "t" if self.date.is_some() => {}
            _ if name_of(&WEEKDAYS, token).is_some() => {}
            _ => {
                let Some(month) = month_of(token) else {
                    return self.take_zone(Zone::find(token).ok_or(Flaw::Syntax)?);
                };
                if self.month.replace(month).is_some() {
                    return Err(Flaw::Syntax);
                }
            }
        }
        Ok(())
    }

    fn take_zone(&mut self, zone: Zone) -> Result<(), Flaw> {
        if self.zone.replace(zone).is_some() { Err(Flaw::Syntax) } else { Ok(()) }
    }

    /// A zone by its distance from UTC: `+02`, `-0330`, `+05:30:15`.
    fn take_offset(&mut self, token: &str) -> Result<(), Flaw> {
        let digits = &token[1..];
        let mut parts = match digits.contains(':') {
            true => digits.split(':').map(number).collect::<Result<Vec<_>, _>>()?,
            false if digits.len() > 2 => {
                let whole = number(digits)?;
                vec![whole / 100, whole % 100]
            }
            false => vec![number(digits)?],
        };
        parts.resize(3, 0);
        if parts[0] > 15 || parts[1] > 59 || parts[2] > 59 {
            return Err(Flaw::Field);
        }
        let seconds = (parts[0] * 60 + parts[1]) * 60 + parts[2];
        let seconds = if token.starts_with('-') { -seconds } else { seconds };
        self.take_zone(Zone::fixed(seconds).ok_or(Flaw::Field)?)
    }

    fn take_digits(&mut self, token: &str) -> Result<(), Flaw> {
        let number = |range: std::ops::Range<usize>| number(&token[range]);
        match token.len() {
            6 if self.of_day && self.time.is_none() => {
                self.set_time(number(0..2)?, number(2..4)?, number(4..6)?, 0)
            }
            4 if self.of_day && self.time.is_none() => {
                self.set_time(number(0..2)?, number(2..4)?, 0, 0)
            }
            8 if self.date.is_none() => self.set_date(number(0..4)?, number(4..6)?, number(6..8)?),
            6 if self.date.is_none() && self.month.is_none() => {
                self.short_year = true;
                self.set_date(number(0..2)?, number(2..4)?, number(4..6)?)
            }
            6 if self.time.is_none() && self.date.is_some() => {
                self.set_time(number(0..2)?, number(2..4)?, number(4..6)?, 0)
            }
            4 if self.time.is_none() && self.date.is_some() => {
                self.set_time(number(0..2)?, number(2..4)?, 0, 0)
            }
            1..=7 if self.date.is_none() => {
                self.numbers.push((number(0..token.len())?, token.len()));
                Ok(())
            }
            _ => Err(Flaw::Syntax),
        }
    }

    /// Three fields with separators between: the year first if it has three digits or more, else month, day, year.
    fn take_date(&mut self, token: &str) -> Result<(), Flaw> {
        let separator = token.find(['-', '/', '.']).ok_or(Flaw::Syntax)?;
        let separator = char::from(token.as_bytes()[separator]);
        let parts: Vec<&str> = token.split(separator).collect();
        let [a, b, c] = parts[..] else { return Err(Flaw::Syntax) };
        if self.time.is_some() {
            return Err(Flaw::Syntax);
        }
        if let Some(month) = month_of(a) {
            let year = self.year_of(c)?;
            self.set_date(year, month, number(b)?)
        } else if let Some(month) = month_of(b) {
            if a.len() > 2 {
                self.set_date(number(a)?, month, number(c)?)
            } else {
                let year = self.year_of(c)?;
                self.set_date(year, month, number(a)?)
            }
        } else if a.len() > 2 {
            self.set_date(number(a)?, number(b)?, number(c)?)
        } else {
            let year = self.year_of(c)?;
            self.set_date(year, number(a)?, number(b)?)
        }
    }

    fn take_time(&mut self, token: &str) -> Result<(), Flaw> {
        let end = token
            .find(|it: char| !(it.is_ascii_digit() || matches!(it, ':' | '.')))
            .unwrap_or(token.len());
        let (time, rest) = token.split_at(end);
        match rest {
            "" => {}
            "am" | "pm" => self.afternoon = Some(rest == "pm"),
            _ if rest.strip_prefix(['+', '-']).is_some_and(is_offset) => self.take_offset(rest)?,
            _ => self.take_zone(Zone::find(rest).ok_or(Flaw::Syntax)?)?,
        }
        let parts: Vec<&str> = time.split(':').collect();
        let (hour, minute, seconds) = match parts[..] {
            [hour, minute] | [hour, minute, ""] => (hour, minute, "0"),
            [hour, minute, seconds] => (hour, minute, seconds),
            _ => return Err(Flaw::Syntax),
        };
        let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
        if !fraction.bytes().all(|it| it.is_ascii_digit()) {
            return Err(Flaw::Syntax);
        }
        // As PostgreSQL: the digits as a float, which is rounded to microseconds.
        let fraction: f64 = format!("0.{fraction}0").parse().map_err(|_| Flaw::Syntax)?;
        let micros = (fraction * 1e6).round_ties_even() as i64;
        self.set_time(number(hour)?, number(minute)?, number(second)?, micros)
    }

    /// A year of any length.
    fn year_of(&mut self, digits: &str) -> Result<i64, Flaw> {
        self.short_year = digits.len() <= 2;
        number(digits)
    }

    fn set_date(&mut self, year: i64, month: i64, day: i64) -> Result<(), Flaw> {
        if self.date.replace((year, month, day)).is_some() {
            return Err(Flaw::Syntax);
        }
        Ok(())
    }

    fn set_time(&mut self, hour: i64, minute: i64, second: i64, micros: i64) -> Result<(), Flaw> {
        let total = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
        if self.time.replace(total).is_some() {
            return Err(Flaw::Syntax);
        }
        let valid = hour <= 24 && minute <= 59 && second <= 60 && total <= DAY;
        if valid { Ok(()) } else { Err(Flaw::Field) }
    }

    /// Makes a date of a month by name and two numbers, and checks what has been read.
    fn finish(&mut self) -> Result<(), Flaw> {
        if let Some(month) = self.month {
            let (year, day) = match self.numbers[..] {
                [(year, digits), (day, _)] if digits > 2 => (year, day),
                [(day, _), (year, digits)] => {
                    self.short_year = digits <= 2;
                    (year, day)
                }
                _ => return Err(Flaw::Syntax),
            };
            self.set_date(year, month, day)?;
        } else if !self.numbers.is_empty() {
            return Err(Flaw::Syntax);
        }
        if let Some((year, ..)) = &mut self.date
            && self.short_year
            && !self.before_christ
        {
            *year = full_year(*year);
        }
        if let Some(afternoon) = self.afternoon {
            let time = self.time.ok_or(Flaw::Syntax)?;
            let half = DAY / 2;
            // Twelve is the first hour of each half; there is no hour 0 or 13.
            self.time = Some(match (time / (half / 12), afternoon) {
                (12, false) => time - half,
                (12, true) | (0..=12, false) => time,
                (0..=12, true) => time + half,
                _ => return Err(Flaw::Field),
            });
        }
        let is_whole = if self.of_day { self.time.is_some() } else { self.date.is_some() };
        if is_whole { Ok(()) } else { Err(Flaw::Syntax) }
    }

    /// The microseconds from 1970-01-01 that clocks show.
    fn local(&self, text: &str, to: DataType) -> SqlResult<i64> {
        let midnight = timestamp_of_date(self.days(text, to)?);
        let local = midnight.and_then(|it| it.checked_add(self.time.unwrap_or(0)));
        local.filter(|it| !is_infinite(*it)).ok_or_else(|| text_out_of_range(text, to))
    }

    /// The day, if there is such a day.
    fn days(&self, text: &str, to: DataType) -> SqlResult<i64> {
        let (year, month, day) = self.date.ok_or_else(|| invalid_text(text, to))?;
        let there = year > 0 && (1..=12).contains(&month);
        let year = if self.before_christ { 1 - year } else { year };
        if !there || day < 1 || day > days_of_month(year, month) {
            return Err(field_out_of_range(text));
        }
        Ok(days_from_civil(year, month, day))
    }
}

/// The words of a text; between a date and a time a `t` does as well as a blank, and letters behind digits are words too.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| it.is_ascii_whitespace() || it == ',')
        .filter(|it| !it.is_empty())
        .flat_map(|word| {
            let bytes = word.as_bytes();
            let place = (1..bytes.len().saturating_sub(1)).find(|&at| {
                bytes[at] == b't'
                    && bytes[at - 1].is_ascii_digit()
                    && bytes[at + 1].is_ascii_digit()
            });
            match place {
                Some(place) => [&word[..place], &word[place + 1..]],
                None => [word, ""],
            }
            .into_iter()
            .filter(|it| !it.is_empty())
        })
}

/// A name of a list or its first three letters, counted from 1.
fn name_of(names: &[&str], word: &str) -> Option<i64> {
    let place = names.iter().position(|it| word == *it || word == &it[..3]);
    place.and_then(|it| i64::try_from(it + 1).ok())
}

fn month_of(word: &str) -> Option<i64> {
    name_of(&MONTHS, if word == "sept" { "sep" } else { word })
}

/// A number of at most nine digits: more is out of range of any field.
fn number(digits: &str) -> Result<i64, Flaw> {
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err(Flaw::Syntax);
    }
    if digits.len() > 9 { Err(Flaw::Field) } else { digits.parse().map_err(|_| Flaw::Syntax) }
}

/// A year of two digits lies between 1970 and 2069, if it is not before Christ.
fn full_year(year: i64) -> i64 {
    if year < 70 { year + 2000 } else { year + 1900 }
}

/// Whether it spells the offset of a zone: hours, minutes and seconds.
fn is_offset(text: &str) -> bool {
    let digits = |it: &str| (1..=4).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_digit());
    let mut parts = text.split(':');
    parts.clone().count() <= 3 && parts.all(digits)
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
