//! Dates and timestamps as ISO 8601 writes them: `2024-01-31`, `2024-01-31 12:30:00.5`, with a `T` between, and with a
//! zone, which moves the time to UTC.

use types::{SqlError, SqlResult, SqlState};

use crate::calendar::{MICROS_PER_SECOND, checked_day};
use crate::error::invalid_datetime;

/// The day and microseconds after its midnight (which a zone can make negative). Errors: 22007, 22008.
pub(crate) fn parse(text: &str) -> SqlResult<(i64, i64)> {
    let malformed =
        || invalid_datetime(format!("invalid input syntax for type timestamp: \"{text}\""));
    let range = || {
        let message = format!("date/time field value out of range: \"{text}\"");
        SqlError::new(SqlState::DATETIME_OVERFLOW, message)
    };
    let mut input = Input(text.trim().as_bytes());
    let year = input.number(4, 6).ok_or_else(malformed)?;
    let (month, day) = input.pair(b'-').ok_or_else(malformed)?;
    let days = checked_day(year, month, day).ok_or_else(range)?;
    if input.0.is_empty() {
        return Ok((days, 0));
    }
    if !input.take(b'T') && !input.take(b't') && !input.take(b' ') {
        return Err(malformed());
    }
    while input.take(b' ') {}
    let (micros, valid) = input.time().ok_or_else(malformed)?;
    while input.take(b' ') {}
    let zone = input.zone().ok_or_else(malformed)?;
    if !valid { Err(range()) } else { Ok((days, micros - zone)) }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take(&mut self, byte: u8) -> bool {
        let found = self.0.first() == Some(&byte);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let digits = self.0.iter().take(most).take_while(|it| it.is_ascii_digit()).count();
        if digits < least {
            return None;
        }
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        std::str::from_utf8(number).ok()?.parse().ok()
    }

    /// Two numbers, each behind a separator.
    fn pair(&mut self, separator: u8) -> Option<(i64, i64)> {
        let mut next = || if self.take(separator) { self.number(1, 2) } else { None };
        Some((next()?, next()?))
    }

    /// Microseconds of a time, and whether there is such a time.
    fn time(&mut self) -> Option<(i64, bool)> {
        let hour = self.number(1, 2)?;
        let minute = if self.take(b':') { self.number(2, 2)? } else { return None };
        let second = if self.take(b':') { self.number(2, 2)? } else { 0 };
        let fraction = if self.take(b'.') { self.fraction()? } else { 0 };
        let micros = ((hour * 60 + minute) * 60 + second) * MICROS_PER_SECOND + fraction;
        let valid = minute < 60 && second <= 60 && micros <= 24 * 3_600 * MICROS_PER_SECOND;
        Some((micros, valid))
    }

    /// Digits behind the point as microseconds, rounded.
    fn fraction(&mut self) -> Option<i64> {
        let before = self.0;
        self.number(0, 6);
        let digits = before.len() - self.0.len();
        let shown = std::str::from_utf8(&before[..digits]).ok()?;
        let micros: i64 = if digits == 0 { 0 } else { shown.parse().ok()? };
        let up = self.0.first().is_some_and(|it| (b'5'..=b'9').contains(it));
        while self.0.first().is_some_and(u8::is_ascii_digit) {
            self.0 = &self.0[1..];
        }
        Some(micros * 10i64.pow(6 - digits as u32) + i64::from(up && digits == 6))
    }

    /// Microseconds that a zone is ahead of UTC; nothing else may follow.
    fn zone(&mut self) -> Option<i64> {
        let sign = if self.take(b'Z') || self.take(b'z') || self.0.is_empty() {
            return self.0.is_empty().then_some(0);
        } else if self.take(b'+') {
            1
        } else if self.take(b'-') {
            -1
        } else {
            return None;
        };
        let hours = self.number(2, 2)?;
        self.take(b':');
        let minutes = if self.0.is_empty() { 0 } else { self.number(2, 2)? };
        let valid = self.0.is_empty() && hours < 16 && minutes < 60;
        valid.then_some(sign * (hours * 60 + minutes) * 60 * MICROS_PER_SECOND)
    }
}
