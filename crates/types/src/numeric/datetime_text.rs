//! Dates, timestamps and times of day from texts.
//!
//! Read are PostgreSQL's forms: `2024-01-31`, `20240131`, `2024/1/31`, `2024-031`, `Jan 31, 2024`, `31-Jan-2024`, `J2460341`, and
//! `1/31/2024` in the order of the session, each with a time (`13:05`, `1:05:06.7 PM`) and a zone, which a timestamp without zone
//! does not count, and `BC`. A timestamp with time zone counts the zone, or is in the one that is given. The words that mean
//! another moment each time (`now`) are refused.
//!
//! Key decision: words are read from the first to the last. What a number alone is depends on what has been said before it, on
//! whether the month has its name, and on the order of the session.

use super::datetime::{
    DAY, INFINITE_DAYS, date, days_from_civil, days_of_month, infinite, is_infinite, timestamp,
    timestamp_of_date,
};
use super::errors::{
    field_out_of_order, field_out_of_range, invalid_text, text_out_of_range, zone_out_of_range,
};
use super::spelling::trimmed;
use super::time_tz::TimeTz;
use crate::styles::DateOrder;
use crate::zone::{Zone, is_offset, offset};
use crate::{DataType, SqlError, SqlResult};

/// What clocks are put forward in summer.
const SUMMER_SECONDS: i64 = 3_600;
/// The day of Julian number 0.
const JULIAN_FIRST: i64 = -2_440_588;
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
    parse_date_in(text, DateOrder::Mdy)
}

/// [`parse_date`] in an order of the numbers.
pub fn parse_date_in(text: &str, order: DateOrder) -> SqlResult<i64> {
    let fields = match Fields::read(text, DataType::Date, order)? {
        Read::Epoch => return Ok(0),
        Read::Infinite { before } => {
            let (least, greatest) = INFINITE_DAYS;
            return Ok(i64::from(if before { least } else { greatest }));
        }
        Read::Fields(it) => it,
    };
    let days = fields.days(text, DataType::Date)?;
    date(days).map(i64::from).ok_or_else(|| text_out_of_range(text, DataType::Date))
}

/// A timestamp, as microseconds from 1970-01-01. Errors as of [`parse_date`].
pub fn parse_timestamp(text: &str) -> SqlResult<i64> {
    parse_timestamp_in(text, DateOrder::Mdy)
}

/// [`parse_timestamp`] in an order of the numbers.
pub fn parse_timestamp_in(text: &str, order: DateOrder) -> SqlResult<i64> {
    match Fields::read(text, DataType::Timestamp, order)? {
        Read::Epoch => Ok(0),
        Read::Infinite { before } => Ok(infinite(before)),
        Read::Fields(fields) => fields.local(text, DataType::Timestamp),
    }
}

/// A timestamp with time zone, as microseconds from 1970-01-01 in UTC; what names no zone is in this one. Errors as of
/// [`parse_date`].
pub fn parse_moment(text: &str, zone: &Zone) -> SqlResult<i64> {
    let fields = match Fields::read(text, DataType::TimestampTz, zone.styles().order)? {
        Read::Epoch => return Ok(0),
        Read::Infinite { before } => return Ok(infinite(before)),
        Read::Fields(it) => it,
    };
    let local = fields.local(text, DataType::TimestampTz)?;
    let moment = fields.zone.as_ref().unwrap_or(zone).moment(local);
    moment.and_then(timestamp).ok_or_else(|| text_out_of_range(text, DataType::TimestampTz))
}

/// Whether the text of a moment names its zone, so that it is the same moment in every session.
pub fn names_zone(text: &str) -> bool {
    match Fields::read(text, DataType::TimestampTz, DateOrder::Mdy) {
        Ok(Read::Fields(fields)) => fields.zone.is_some(),
        _ => true,
    }
}

/// A time of day, in microseconds from midnight. A date before it and a zone behind it do not count, though a zone whose clocks
/// are turned needs a date. Errors as of [`parse_date`].
pub fn parse_time(text: &str) -> SqlResult<i64> {
    of_day(text, DataType::Time, DateOrder::Mdy).map(|it| it.0)
}

/// A time of day by the clocks that its text names, or by those of this zone: of today where it has no date. Errors as of
/// [`parse_date`].
pub fn parse_time_tz(text: &str, zone: &Zone) -> SqlResult<TimeTz> {
    let to = DataType::TimeTz;
    let (time, fields) = of_day(text, to, zone.styles().order)?;
    let clocks = fields.zone.as_ref().unwrap_or(zone);
    let local = match fields.has_date() {
        true => fields.local(text, to)?,
        false => zone.today() * DAY + time,
    };
    TimeTz::new(time, clocks.ahead_of_local(local))
        .map_err(|it| SqlError { message: format!("{}: \"{text}\"", it.message), ..it })
}

/// Whether the text of a time of day names its zone, so that it is the same in every session on every day.
pub fn names_clocks(text: &str) -> bool {
    match of_day(text, DataType::TimeTz, DateOrder::Mdy) {
        Ok((_, fields)) => {
            let has_date = fields.has_date();
            fields.zone.is_some_and(|it| has_date || it.is_fixed())
        }
        Err(_) => true,
    }
}

/// The time of a day that a text says, and what else it says.
fn of_day(text: &str, to: DataType, order: DateOrder) -> SqlResult<(i64, Fields)> {
    let Read::Fields(fields) = Fields::read(text, to, order)? else {
        return Err(invalid_text(text, to));
    };
    let is_known = |it: &Zone| fields.has_date() || it.is_fixed() || it.is_abbreviation();
    match fields.time {
        Some(time) if fields.zone.as_ref().is_none_or(is_known) => Ok((time, fields)),
        _ => Err(invalid_text(text, to)),
    }
}

/// Why a text is no date.
enum Flaw {
    Syntax,
    Field,
    /// A month or a day that there is in no year.
    Order,
    /// A zone too far from UTC.
    Zone,
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
    /// The order of a date that is numbers alone.
    order: DateOrder,
    /// Whether a time alone is wanted.
    of_day: bool,
    year: Option<i64>,
    month: Option<i64>,
    /// Of the month, or of the year where that is all that is said beside it.
    day: Option<i64>,
    /// Whether the month has been said by name.
    month_named: bool,
    /// Whether the day is counted in its year.
    day_of_year: bool,
    /// Whether the year has two digits or fewer.
    short_year: bool,
    before_christ: bool,
    /// The whole date as a number of days.
    days: Option<i64>,
    /// Microseconds of the day.
    time: Option<i64>,
    afternoon: Option<bool>,
    zone: Option<Zone>,
}

impl Fields {
    fn read(text: &str, to: DataType, order: DateOrder) -> SqlResult<Read> {
        let lower = trimmed(text).to_ascii_lowercase();
        let of_day = matches!(to, DataType::Time | DataType::TimeTz);
        if !of_day && matches!(&*lower, "infinity" | "+infinity" | "-infinity") {
            return Ok(Read::Infinite { before: lower.starts_with('-') });
        }
        match lower.trim_start_matches(['+', '-']) {
            "epoch" if !of_day => return Ok(Read::Epoch),
            "today" | "tomorrow" | "yesterday" if of_day => {
                return Err(invalid_text(text, to));
            }
            word @ ("now" | "today" | "tomorrow" | "yesterday") => {
                let error = SqlError::unsupported(format!("'{word}' is not read as a {to}"));
                return Err(error.with_hint(
                    "a constant of a statement may say it; else use current_date or localtimestamp",
                ));
            }
            _ => {}
        }
        let mut fields = Self { of_day, order, ..Self::default() };
        let read = tokens(&lower).try_for_each(|it| fields.take(it)).and_then(|()| fields.finish());
        match read {
            Ok(()) => Ok(Read::Fields(fields)),
            Err(Flaw::Syntax) => Err(invalid_text(text, to)),
            Err(Flaw::Field) => Err(field_out_of_range(text)),
            Err(Flaw::Order) => Err(field_out_of_order(text)),
            Err(Flaw::Zone) => Err(zone_out_of_range(text)),
        }
    }

    fn take(&mut self, token: &str) -> Result<(), Flaw> {
        let first = token.as_bytes().first().copied().unwrap_or(b' ');
        let before_zone = token.split(['+', '-']).next().unwrap_or(token);
        if before_zone.contains(':') && first.is_ascii_digit() {
            return self.take_time(token);
        }
        if token.starts_with(['+', '-']) {
            let may_be = self.time.is_some() || !self.of_day;
            return if may_be && is_offset(token) {
                self.take_offset(token)
            } else {
                Err(Flaw::Syntax)
            };
        }
        if first.is_ascii_digit()
            && let Some(place) = self.offset_place(token)
        {
            let (before, offset) = token.split_at(place);
            self.take(before)?;
            return self.take(offset);
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
        let is_date = first.is_ascii_digit() || token.contains(['-', '/', '.']);
        match is_date && julian(token).is_none() {
            true => self.take_date(token),
            false => self.take_word(token),
        }
    }

    fn take_word(&mut self, word: &str) -> Result<(), Flaw> {
        match word {
            "bc" | "b.c." => self.before_christ = true,
            "ad" | "a.d." => {}
            "am" | "pm" if self.afternoon.is_none() => self.afternoon = Some(word == "pm"),
            "t" if self.may_be_digits_of_time() => {}
            "dst" => self.take_summer()?,
            "allballs" => {
                self.set_time(0, 0, 0, 0)?;
                self.take_zone(Zone::utc())?;
            }
            _ if name_of(&WEEKDAYS, word).is_some() => {}
            _ if let Some(digits) = julian(word) => {
                if self.has_any() {
                    return Err(Flaw::Syntax);
                }
                let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
                self.days = Some(number(whole)? + JULIAN_FIRST);
                if !fraction.is_empty() {
                    let part: f64 = format!("0.{fraction}").parse().map_err(|_| Flaw::Syntax)?;
                    self.set_time(0, 0, 0, (part * DAY as f64).round_ties_even() as i64)?;
                }
            }
            _ => {
                let Some(month) = month_of(word) else {
                    return self.take_zone(Zone::find(word).ok_or(Flaw::Syntax)?);
                };
                self.take_month(month)?;
            }
        }
        Ok(())
    }

    /// A month by its name; a number before it that was taken for a month is the day.
    fn take_month(&mut self, month: i64) -> Result<(), Flaw> {
        let before = self.month.replace(month);
        if let Some(number) = before {
            let is_day = !self.month_named && self.day.is_none() && (1..=31).contains(&number);
            if !is_day || self.days.is_some() {
                return Err(Flaw::Syntax);
            }
            self.day = Some(number);
        }
        self.month_named = true;
        Ok(())
    }

    /// The summer time of the zone whose abbreviation was said.
    fn take_summer(&mut self) -> Result<(), Flaw> {
        let zone = self.zone.take().filter(|it| !it.name().contains('/')).ok_or(Flaw::Syntax)?;
        let ahead = zone.ahead_at(0) + SUMMER_SECONDS;
        self.take_zone(Zone::fixed(ahead).ok_or(Flaw::Zone)?)
    }

    fn take_zone(&mut self, zone: Zone) -> Result<(), Flaw> {
        if self.zone.replace(zone).is_some() { Err(Flaw::Syntax) } else { Ok(()) }
    }

    /// Where the offset of a zone begins behind a date, or behind the digits of a time.
    fn offset_place(&self, token: &str) -> Option<usize> {
        let place = match token.find('+') {
            Some(place) => place,
            None if self.has_date() || self.of_day => token.find('-')?,
            None => return None,
        };
        is_offset(&token[place..]).then_some(place)
    }

    /// A zone by its distance from UTC: `+02`, `-0330`, `+05:30:15`.
    fn take_offset(&mut self, token: &str) -> Result<(), Flaw> {
        self.take_zone(offset(token).and_then(Zone::fixed).ok_or(Flaw::Zone)?)
    }

    /// Whether anything of a date has been said.
    fn has_any(&self) -> bool {
        self.days.is_some() || self.year.is_some() || self.month.is_some() || self.day.is_some()
    }

    /// Whether a date has been said.
    fn has_date(&self) -> bool {
        let has_month = self.month.is_some() || self.day_of_year;
        self.days.is_some() || self.year.is_some() && has_month && self.day.is_some()
    }

    /// Whether digits alone may be those of a time: behind a date, or where there is none.
    fn may_be_digits_of_time(&self) -> bool {
        self.time.is_none() && if self.of_day { !self.has_any() } else { self.has_date() }
    }

    /// Digits alone: year, month and day in one, those of a time, or a part of a date.
    fn take_digits(&mut self, token: &str) -> Result<(), Flaw> {
        let (length, has_date) = (token.len(), self.has_date());
        if self.may_be_digits_of_time() && matches!(length, 4 | 6) {
            let (hour, rest) = token.split_at(2);
            let (minute, second) = rest.split_at(2);
            let second = if second.is_empty() { 0 } else { number(second)? };
            return self.set_time(number(hour)?, number(minute)?, second, 0);
        }
        if has_date {
            return Err(Flaw::Syntax);
        }
        if length >= 6 && !(self.has_any() && self.time.is_some()) {
            if self.has_any() {
                return Err(Flaw::Syntax);
            }
            let (year, rest) = token.split_at(length - 4);
            let (month, day) = rest.split_at(2);
            self.short_year = length == 6;
            self.year = Some(number(year)?);
            (self.month, self.day) = (Some(number(month)?), Some(number(day)?));
            return Ok(());
        }
        self.take_number(token)
    }

    /// A number of a date: the year where it has three digits or more, else what comes next in the order of the session.
    fn take_number(&mut self, digits: &str) -> Result<(), Flaw> {
        let value = number(digits)?;
        let is_long = digits.len() > 2;
        let is_year = is_long || self.order == DateOrder::Ymd;
        let named = self.month_named;
        match (self.year, self.month, self.day) {
            (None, None, None) if is_year => self.take_year(value, is_long),
            (None, None, None) if self.order == DateOrder::Dmy => self.day = Some(value),
            (None, None, None) | (None, None, Some(_)) => self.month = Some(value),
            (Some(_), None, None) if digits.len() == 3 && (1..=366).contains(&value) => {
                self.day_of_year = true;
                self.day = Some(value);
            }
            (Some(_), None, None) => self.month = Some(value),
            (None, Some(_), None) if named && is_year => self.take_year(value, is_long),
            (None, Some(_), None) => self.day = Some(value),
            // A longer number behind it tells that the first one was the day.
            (Some(day), Some(_), None) if named && self.short_year && is_long => {
                self.day = Some(day);
                self.take_year(value, true);
            }
            (Some(_), Some(_), None) => self.day = Some(value),
            (None, Some(_), Some(_)) => self.take_year(value, is_long),
            _ => return Err(Flaw::Syntax),
        }
        Ok(())
    }

    fn take_year(&mut self, year: i64, is_long: bool) {
        self.year = Some(year);
        self.short_year = !is_long;
    }

    /// Fields with separators between them, of which one may be a month by name; all of a date.
    fn take_date(&mut self, token: &str) -> Result<(), Flaw> {
        let separator = token.find(['-', '/', '.']).ok_or(Flaw::Syntax)?;
        let separator = char::from(token.as_bytes()[separator]);
        if separator == '.' && self.may_be_digits_of_time() {
            return self.take_digits_of_time(token);
        }
        if self.time.is_some() || self.has_date() {
            return Err(Flaw::Syntax);
        }
        let is_number = |it: &&str| it.starts_with(|it: char| it.is_ascii_digit());
        if token.split(separator).nth(2).is_some_and(|it| !is_number(&it)) {
            return Err(Flaw::Syntax);
        }
        for name in token.split(separator).filter(|it| !is_number(it)) {
            self.take_month(month_of(name).ok_or(Flaw::Syntax)?)?;
        }
        for digits in token.split(separator).filter(is_number) {
            self.take_number(digits)?;
        }
        if self.has_date() { Ok(()) } else { Err(Flaw::Syntax) }
    }

    /// `040506.7`, behind a date or alone.
    fn take_digits_of_time(&mut self, token: &str) -> Result<(), Flaw> {
        let (whole, fraction) = token.split_once('.').ok_or(Flaw::Syntax)?;
        let micros = micros_of(fraction)?;
        let is_time = matches!(whole.len(), 4 | 6) && whole.bytes().all(|it| it.is_ascii_digit());
        if !is_time {
            return Err(Flaw::Syntax);
        }
        self.take_digits(whole)?;
        let time = self.time.ok_or(Flaw::Syntax)?;
        self.time = Some(time + micros);
        if time + micros <= DAY { Ok(()) } else { Err(Flaw::Field) }
    }

    fn take_time(&mut self, token: &str) -> Result<(), Flaw> {
        let end = token
            .find(|it: char| !(it.is_ascii_digit() || matches!(it, ':' | '.')))
            .unwrap_or(token.len());
        let (time, rest) = token.split_at(end);
        match rest {
            "" => {}
            "am" | "pm" => self.afternoon = Some(rest == "pm"),
            _ if is_offset(rest) => self.take_offset(rest)?,
            _ => self.take_zone(Zone::find(rest).ok_or(Flaw::Syntax)?)?,
        }
        let parts: Vec<&str> = time.split(':').collect();
        let (hour, minute, seconds) = match parts[..] {
            [hour, minute] | [hour, minute, ""] => (hour, minute, "0"),
            [hour, minute, seconds] => (hour, minute, seconds),
            _ => return Err(Flaw::Syntax),
        };
        let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
        self.set_time(number(hour)?, number(minute)?, number(second)?, micros_of(fraction)?)
    }

    fn set_time(&mut self, hour: i64, minute: i64, second: i64, micros: i64) -> Result<(), Flaw> {
        let total = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
        if self.time.replace(total).is_some() {
            return Err(Flaw::Syntax);
        }
        let valid = hour <= 24 && minute <= 59 && second <= 60 && total <= DAY;
        if valid { Ok(()) } else { Err(Flaw::Field) }
    }

    /// Checks what has been read, and makes a year of two digits whole and an hour one of 24.
    fn finish(&mut self) -> Result<(), Flaw> {
        if self.short_year && !self.before_christ {
            self.year = self.year.map(full_year);
        }
        if self.year.is_some_and(|it| it <= 0) {
            return Err(Flaw::Field);
        }
        let within = |it: Option<i64>, last| it.is_none_or(|it| (1..=last).contains(&it));
        let is_in_order = within(self.month, 12) && within(self.day, 31);
        if !self.day_of_year && !is_in_order {
            return Err(Flaw::Order);
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
        let is_whole = if self.of_day { self.time.is_some() } else { self.has_date() };
        if is_whole && self.has_any() == self.has_date() { Ok(()) } else { Err(Flaw::Syntax) }
    }

    /// The microseconds from 1970-01-01 that clocks show.
    fn local(&self, text: &str, to: DataType) -> SqlResult<i64> {
        let midnight = timestamp_of_date(self.days(text, to)?);
        let local = midnight.and_then(|it| it.checked_add(self.time.unwrap_or(0)));
        local.filter(|it| !is_infinite(*it)).ok_or_else(|| text_out_of_range(text, to))
    }

    /// The day, if there is such a day.
    fn days(&self, text: &str, to: DataType) -> SqlResult<i64> {
        if let Some(days) = self.days {
            return Ok(days);
        }
        let (Some(said), Some(day)) = (self.year, self.day) else {
            return Err(invalid_text(text, to));
        };
        let year = if self.before_christ { 1 - said } else { said };
        let Some(month) = self.month else {
            return Ok(days_from_civil(year, 1, 1) + day - 1);
        };
        if day > days_of_month(year, month) {
            return Err(field_out_of_range(text));
        }
        Ok(days_from_civil(year, month, day))
    }
}

/// The words of a text. One that begins with a digit ends where letters begin, if it is no time, and goes on behind them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_blank = |it: char| it.is_ascii_whitespace() || it == ',';
    let mut rest = text;
    let mut is_inside = false;
    std::iter::from_fn(move || {
        let trimmed = rest.trim_start_matches(is_blank);
        is_inside &= trimmed.len() == rest.len();
        let word = &trimmed[..trimmed.find(is_blank).unwrap_or(trimmed.len())];
        let end = match word.as_bytes().first()? {
            it if it.is_ascii_digit() => end_of_digits(word),
            it if it.is_ascii_alphabetic() => end_of_letters(word, is_inside),
            _ => word.len(),
        };
        is_inside = true;
        rest = &trimmed[end..];
        Some(&trimmed[..end])
    })
}

/// Where a word that begins with a digit ends: before letters, but for those behind a time.
fn end_of_digits(word: &str) -> usize {
    let bytes = word.as_bytes();
    let ends = |at: &usize| bytes[*at].is_ascii_alphabetic() && bytes[*at - 1].is_ascii_digit();
    match (1..bytes.len()).find(ends) {
        Some(at) if !word[..at].contains(':') => at,
        _ => word.len(),
    }
}

/// Where a word that begins with a letter ends: behind its letters, if it goes on with a time or follows on digits, and behind the
/// Julian number of a day.
fn end_of_letters(word: &str, is_inside: bool) -> usize {
    let end_of = |it: &dyn Fn(char) -> bool| word.find(|c| !it(c)).unwrap_or(word.len());
    let letters = end_of(&|it| it.is_ascii_alphabetic());
    let has_digits = word[letters..].starts_with(|it: char| it.is_ascii_digit());
    match &word[..letters] {
        "j" if has_digits => {
            let number = |it: char| it == 'j' || it.is_ascii_digit() || it == '.';
            end_of(&number)
        }
        "t" if has_digits => 1,
        _ if is_inside => letters,
        _ => word.len(),
    }
}

/// The digits of a word that is the Julian number of a day.
fn julian(word: &str) -> Option<&str> {
    let digits = word.strip_prefix('j')?;
    let is_number = digits.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    (digits.starts_with(|it: char| it.is_ascii_digit()) && is_number).then_some(digits)
}

/// Microseconds of the digits behind the point of a second. As PostgreSQL: the digits as a float, which is rounded.
fn micros_of(fraction: &str) -> Result<i64, Flaw> {
    if !fraction.bytes().all(|it| it.is_ascii_digit()) {
        return Err(Flaw::Syntax);
    }
    let fraction: f64 = format!("0.{fraction}0").parse().map_err(|_| Flaw::Syntax)?;
    Ok((fraction * 1e6).round_ties_even() as i64)
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
