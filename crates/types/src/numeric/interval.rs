//! Intervals: spans of months, days and microseconds, which count apart, since neither months nor days are of one length.
//!
//! Key decision: an interval is held as one integer of 128 bits. Its upper bits are the span in microseconds, a month as
//! thirty days and a day as 24 hours, which is how PostgreSQL compares intervals; months and days stand in the lower ones. So
//! the order of the integers is that of the intervals, and intervals that are equal, like a month and thirty days, differ in
//! the lower bits alone ([`key_of`]). It costs some of the range: months are below 2^24, and the time is below 292 years.
//!
//! Reading order: [`Interval`], then `parse` and `format` at its end; arithmetic is in between.

use std::fmt::Write;

use super::datetime::DAY;
use super::spelling::trimmed;
use crate::{DataType, SqlError, SqlResult, SqlState};

/// Months are below this in both directions.
const MONTHS_END: i64 = 1 << 24;
/// Days are within 32 bits.
const DAYS: std::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;
/// The time is what 64 bits of nanoseconds hold, which is how Arrow shows it.
const MICROS_MAX: i64 = i64::MAX / 1_000;
const DAYS_BITS: u32 = 32;
const MONTHS_BITS: u32 = 25;
const LOWER_BITS: u32 = DAYS_BITS + MONTHS_BITS;

/// A span of time. Its parts are added one after the other, so none is told in another.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Interval {
    /// Months.
    pub months: i64,
    /// Days.
    pub days: i64,
    /// Microseconds.
    pub micros: i64,
}

/// What intervals that are equal have in common: the span in microseconds.
pub fn key_of(held: i128) -> i128 {
    held >> LOWER_BITS
}

/// 22008: more than an interval holds.
pub fn out_of_range() -> SqlError {
    super::errors::out_of_range(DataType::Interval)
}

impl Interval {
    /// So much of each.
    ///
    /// # Errors
    /// 22008 where it is more than an interval holds.
    pub fn new(months: i64, days: i64, micros: i64) -> SqlResult<Self> {
        Self { months, days, micros }.within().ok_or_else(out_of_range)
    }

    fn within(self) -> Option<Self> {
        let fits = -MONTHS_END < self.months
            && self.months < MONTHS_END
            && DAYS.contains(&self.days)
            && (-MICROS_MAX..=MICROS_MAX).contains(&self.micros);
        fits.then_some(self)
    }

    /// The span in microseconds, a month as thirty days.
    pub fn span(self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }

    /// The integer as which it is held.
    pub fn held(self) -> i128 {
        let months = i128::from(self.months + MONTHS_END);
        let days = i128::from(self.days - DAYS.start());
        self.span() << LOWER_BITS | months << DAYS_BITS | days
    }

    /// The interval that an integer holds.
    pub fn of_held(held: i128) -> Self {
        let months = (held >> DAYS_BITS) as i64 & ((1 << MONTHS_BITS) - 1);
        let days = held as i64 & ((1 << DAYS_BITS) - 1);
        let whole = Self { months: months - MONTHS_END, days: days + DAYS.start(), micros: 0 };
        Self { micros: (key_of(held) - whole.span()) as i64, ..whole }
    }

    /// Whether it goes back.
    pub fn is_negative(self) -> bool {
        self.span() < 0
    }

    /// The sum of two.
    pub fn plus(self, other: Self) -> Option<Self> {
        Self {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        }
        .within()
    }

    /// As much in the other direction.
    pub fn negated(self) -> Option<Self> {
        Self {
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        }
        .within()
    }

    /// So many times the interval: what is left of a month is days, what is left of a day time.
    pub fn times(self, factor: f64) -> Option<Self> {
        self.scaled(|it| it * factor)
    }

    /// One of so many equal parts of the interval; the divisor is not zero.
    pub fn divided(self, divisor: f64) -> Option<Self> {
        self.scaled(|it| it / divisor)
    }

    fn scaled(self, scale: impl Fn(f64) -> f64) -> Option<Self> {
        let whole = |it: f64| (it.abs() < 9.2e18).then_some(it as i64);
        let rounded = |it: f64| (it * 1e6).round_ties_even() / 1e6;
        let (months, days) = (scale(self.months as f64), scale(self.days as f64));
        let rest_days = rounded((months - whole(months)? as f64) * 30.0);
        let rest = days - whole(days)? as f64 + rest_days - rest_days.trunc();
        let mut seconds = rounded(rest * 86_400.0);
        let mut more = whole(rest_days)?;
        if seconds.abs() >= 86_400.0 {
            let carried = (seconds / 86_400.0).trunc();
            seconds -= carried * 86_400.0;
            more += whole(carried)?;
        }
        let micros = (scale(self.micros as f64) + seconds * 1e6).round_ties_even();
        Self {
            months: whole(months)?,
            days: whole(days)?.checked_add(more)?,
            micros: whole(micros)?,
        }
        .within()
    }

    /// Each 24 hours as a day, and time and days of one sign.
    pub fn justify_hours(self) -> Option<Self> {
        let (mut days, mut micros) = (self.days + self.micros / DAY, self.micros % DAY);
        if days > 0 && micros < 0 {
            (days, micros) = (days - 1, micros + DAY);
        } else if days < 0 && micros > 0 {
            (days, micros) = (days + 1, micros - DAY);
        }
        Self { days, micros, ..self }.within()
    }

    /// Each thirty days as a month, and days and months of one sign.
    pub fn justify_days(self) -> Option<Self> {
        let (mut months, mut days) = (self.months + self.days / 30, self.days % 30);
        if months > 0 && days < 0 {
            (months, days) = (months - 1, days + 30);
        } else if months < 0 && days > 0 {
            (months, days) = (months + 1, days - 30);
        }
        Self { months, days, ..self }.within()
    }

    /// Both, and all parts of one sign.
    pub fn justify(self) -> Option<Self> {
        let span = self.span();
        let day = i128::from(DAY);
        let (days, micros) = (span / day, span % day);
        let narrow = |it: i128| i64::try_from(it).ok();
        Self { months: narrow(days / 30)?, days: narrow(days % 30)?, micros: narrow(micros)? }
            .within()
    }

    /// Adds `count` of a unit; what is left of a month is days, of a day microseconds.
    fn add(&mut self, count: f64, unit: [i64; 3]) -> Option<()> {
        let whole = |it: f64| (it.abs() < 9.2e18).then_some(it as i64);
        let months = count * unit[0] as f64;
        // Of a year only whole months count.
        let months = if unit[0] >= 12 { months.round() } else { months };
        let days = count * unit[1] as f64 + (months - months.trunc()) * 30.0;
        let days = (days * 1e9).round() / 1e9;
        let micros = count * unit[2] as f64 + (days - days.trunc()) * DAY as f64;
        self.months = self.months.checked_add(whole(months.trunc())?)?;
        self.days = self.days.checked_add(whole(days.trunc())?)?;
        self.micros = self.micros.checked_add(whole(micros.round())?)?;
        Some(())
    }
}

/// The units an interval is spelt in: name, its plural, and what one is (months, days, microseconds).
const UNITS: [(&[&str], [i64; 3]); 12] = [
    (&["microsecond", "microseconds", "us", "usec", "usecs"], [0, 0, 1]),
    (&["millisecond", "milliseconds", "ms", "msec", "msecs"], [0, 0, 1_000]),
    (&["second", "seconds", "s", "sec", "secs"], [0, 0, 1_000_000]),
    (&["minute", "minutes", "m", "min", "mins"], [0, 0, 60_000_000]),
    (&["hour", "hours", "h", "hr", "hrs"], [0, 0, 3_600_000_000]),
    (&["day", "days", "d"], [0, 1, 0]),
    (&["week", "weeks", "w"], [0, 7, 0]),
    (&["month", "months", "mon", "mons"], [1, 0, 0]),
    (&["year", "years", "y", "yr", "yrs"], [12, 0, 0]),
    (&["decade", "decades", "dec", "decs"], [120, 0, 0]),
    (&["century", "centuries", "c", "cent"], [1_200, 0, 0]),
    (&["millennium", "millennia", "mil", "mils"], [12_000, 0, 0]),
];

fn unit_of(name: &str) -> Option<[i64; 3]> {
    UNITS.iter().find(|it| it.0.contains(&name)).map(|it| it.1)
}

/// An interval as PostgreSQL spells it: `1 year 2 days`, `-3`, `04:05:06.5`, `1-2`, `2 days ago`, `P1Y2DT3H`. A number
/// without a unit counts `unit`, which is seconds where none is given.
///
/// # Errors
/// 22007 for what is none, 22008 for one that is too long.
pub fn parse(text: &str, unit: Option<&str>) -> SqlResult<Interval> {
    let invalid = || {
        let message = format!("invalid input syntax for type interval: \"{text}\"");
        SqlError::new(SqlState::INVALID_DATETIME, message)
    };
    let lower = trimmed(text).to_lowercase();
    let read = match lower.strip_prefix('p') {
        Some(designated) => iso(designated),
        None => spelt(&lower, unit),
    };
    read.ok_or_else(invalid)?.within().ok_or_else(|| {
        let message = format!("interval field value out of range: \"{text}\"");
        SqlError::new(SqlState("22015"), message)
    })
}

fn spelt(text: &str, unit: Option<&str>) -> Option<Interval> {
    let mut result = Interval::default();
    let spaced = space_units(text);
    let mut words = spaced.split_whitespace().peekable();
    words.peek()?;
    while let Some(word) = words.next() {
        if word == "ago" && words.peek().is_none() {
            return result.negated();
        }
        if word == "@" {
            continue;
        }
        if word.contains(':') {
            result.add(clock(word)?, [0, 0, 1])?;
            continue;
        }
        if let Some((years, months)) = year_month(word) {
            result.add(years * 12.0 + months, [1, 0, 0])?;
            continue;
        }
        let count: f64 = word.parse().ok().filter(|it: &f64| it.is_finite())?;
        let named = words.next_if(|it| unit_of(it).is_some()).and_then(unit_of);
        let default = match words.peek() {
            // Days before a time.
            Some(time) if time.contains(':') => [0, 1, 0],
            _ => unit.and_then(unit_of).unwrap_or([0, 0, 1_000_000]),
        };
        result.add(count, named.unwrap_or(default))?;
    }
    Some(result)
}

/// Blanks between numbers and the units right behind them.
fn space_units(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for it in text.chars() {
        let starts_unit = it.is_ascii_alphabetic() && before.is_ascii_digit();
        if starts_unit || it.is_ascii_digit() && before.is_ascii_alphabetic() {
            spaced.push(' ');
        }
        spaced.push(it);
        before = it;
    }
    spaced
}

/// Microseconds of `hours:minutes` or `hours:minutes:seconds`.
fn clock(word: &str) -> Option<f64> {
    let (sign, word) = match word.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, word.strip_prefix('+').unwrap_or(word)),
    };
    let mut parts = word.split(':');
    let mut part = || parts.next().map(|it| it.parse::<f64>().ok().filter(|it| *it >= 0.0));
    let (hours, minutes) = (part()??, part()??);
    let seconds = match part() {
        Some(it) => it?,
        None => 0.0,
    };
    if part().is_some() || minutes >= 60.0 || seconds > 60.0 {
        return None;
    }
    Some(sign * (hours * 3_600e6 + minutes * 60e6 + (seconds * 1e6).round()))
}

/// The years and months of `1-2`.
fn year_month(word: &str) -> Option<(f64, f64)> {
    let (sign, word) = match word.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, word),
    };
    let (years, months) = word.split_once('-')?;
    let months = months.parse::<u32>().ok().filter(|it| *it < 12)?;
    Some((sign * f64::from(years.parse::<u32>().ok()?), sign * f64::from(months)))
}

/// The form of ISO 8601 with designators, without its P.
fn iso(text: &str) -> Option<Interval> {
    let mut result = Interval::default();
    let (date, time) = match text.split_once('t') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut add = |part: &str, units: &[(char, [i64; 3])]| {
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find(|it: char| it.is_ascii_alphabetic())?;
            let count: f64 = rest[..end].parse().ok()?;
            let unit = rest[end..].chars().next()?;
            result.add(count, units.iter().find(|it| it.0 == unit)?.1)?;
            rest = &rest[end + 1..];
        }
        Some(())
    };
    add(date, &[('y', [12, 0, 0]), ('m', [1, 0, 0]), ('w', [0, 7, 0]), ('d', [0, 1, 0])])?;
    if let Some(time) = time {
        let (hour, minute, second) = (3_600_000_000, 60_000_000, 1_000_000);
        add(time, &[('h', [0, 0, hour]), ('m', [0, 0, minute]), ('s', [0, 0, second])])?;
    }
    (!text.is_empty()).then_some(result)
}

/// Appends an interval in PostgreSQL's style: `1 year 2 mons -3 days +04:05:06.5`.
pub fn format(it: Interval, out: &mut String) {
    let (years, months) = (it.months / 12, it.months % 12);
    let (mut is_first, mut is_before) = (true, false);
    for (value, unit) in [(years, "year"), (months, "mon"), (it.days, "day")] {
        if value == 0 {
            continue;
        }
        let blank = if is_first { "" } else { " " };
        let sign = if is_before && value > 0 { "+" } else { "" };
        let plural = if value == 1 { "" } else { "s" };
        let _ = write!(out, "{blank}{sign}{value} {unit}{plural}");
        (is_first, is_before) = (false, value < 0);
    }
    if !is_first && it.micros == 0 {
        return;
    }
    let blank = if is_first { "" } else { " " };
    let sign = match it.micros < 0 {
        true => "-",
        false if is_before => "+",
        false => "",
    };
    let micros = it.micros.unsigned_abs();
    let seconds = micros / 1_000_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let _ = write!(out, "{blank}{sign}{hours:02}:{minutes:02}:{seconds:02}");
    super::datetime::format_fraction((micros % 1_000_000) as i64, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_postgres_reads_them() {
        let of = |text, unit| parse(text, unit).map(|it| (it.months, it.days, it.micros));
        assert_eq!(of("90", Some("day")), Ok((0, 90, 0)));
        assert_eq!(of("1 year 2 months 3 days 04:05:06.5", None), Ok((14, 3, 14_706_500_000)));
        assert_eq!(of("36 hours", None), Ok((0, 0, 129_600_000_000)));
        assert_eq!(of("1.5 days", None), Ok((0, 1, 43_200_000_000)));
        assert_eq!(of("1.5 months", None), Ok((1, 15, 0)));
        assert_eq!(of("1-2", None), Ok((14, 0, 0)));
        assert_eq!(of("2 days ago", None), Ok((0, -2, 0)));
        assert_eq!(of("-1", Some("week")), Ok((0, -7, 0)));
        assert_eq!(of("1h30m", None), Ok((0, 0, 5_400_000_000)));
        assert_eq!(of("1 02:03", None), Ok((0, 1, 7_380_000_000)));
        assert_eq!(of("P1Y2M3DT4H", None), Ok((14, 3, 14_400_000_000)));
        assert_eq!(of("7", None), Ok((0, 0, 7_000_000)));
        for wrong in ["", "day", "1 fortnight", "1:2:3:4", "x"] {
            assert_eq!(of(wrong, None).map_err(|it| it.state.0), Err("22007"), "{wrong}");
        }
        assert_eq!(of("9999999 years", None).map_err(|it| it.state.0), Err("22015"));
    }

    #[test]
    fn intervals_are_written_as_postgres_writes_them() {
        let cases = [
            ((14, 3, 14_706_500_000), "1 year 2 mons 3 days 04:05:06.5"),
            ((-1, 3, -1), "-1 mons +3 days -00:00:00.000001"),
            ((0, -1, 60_000_000), "-1 days +00:01:00"),
            ((0, 0, 0), "00:00:00"),
            ((12, 0, 0), "1 year"),
        ];
        for ((months, days, micros), expected) in cases {
            let mut out = String::new();
            format(Interval { months, days, micros }, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn what_is_held_is_in_order_and_comes_back() {
        let ends = [i64::from(i32::MIN), -1, 0, 30, i64::from(i32::MAX)];
        let mut all = Vec::new();
        for months in [1 - MONTHS_END, -1, 0, 1, MONTHS_END - 1] {
            for days in ends {
                for micros in [-MICROS_MAX, -1, 0, DAY, MICROS_MAX] {
                    all.push(Interval { months, days, micros });
                }
            }
        }
        for &it in &all {
            assert_eq!(Interval::of_held(it.held()), it);
            assert!(it.held().unsigned_abs() < 10u128.pow(38));
            assert_eq!(key_of(it.held()), it.span());
        }
        all.sort_by_key(|it| it.held());
        assert!(all.is_sorted_by_key(|it| it.span()));
    }
}
