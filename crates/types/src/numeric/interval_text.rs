//! Intervals as texts: `1 year 2 days`, `1-2`, `3 04:05:06`, `2 days ago`, `P1Y2DT3H`, and PostgreSQL's way to show one.
//!
//! Key decision: words are read from the last to the first, as PostgreSQL does. A unit then comes before its number, a time of
//! day makes the number before it days, and each unit may be said once.

use std::fmt::Write;

use super::datetime::DAY;
use super::interval::Interval;
pub use super::interval_unit::{Fields, Unit};
use super::interval_unit::{HOUR, MINUTE, SECOND};
use super::spelling::trimmed;
use crate::styles::IntervalForm;
use crate::{SqlError, SqlResult, SqlState};

/// Why a text is no interval.
enum Fault {
    Syntax,
    Range,
}

type Read<T> = Result<T, Fault>;

/// An interval as PostgreSQL spells it. A number without a unit counts the last field, which is seconds where none is given.
///
/// # Errors
/// 22007 for what is none, 22015 where a part of it is too large, 22008 for one that is too long.
pub fn parse(text: &str, fields: Fields) -> SqlResult<Interval> {
    parse_in(text, fields, IntervalForm::Postgres)
}

/// [`parse`] in a session of some form of intervals: in the standard's a sign that stands before all, and nowhere else, is that of all
/// parts.
///
/// # Errors
/// As of [`parse`].
pub fn parse_in(text: &str, fields: Fields, form: IntervalForm) -> SqlResult<Interval> {
    let shown = trimmed(text);
    let spelt = |words: Vec<Token<'_>>| {
        let sum = spelt(&words, fields)?;
        let is_signed = |it: &Token<'_>| matches!(it, Token::Signed(..));
        let leads = matches!(words.first(), Some(Token::Signed(true, _)));
        let is_one = leads && !words.iter().skip(1).any(is_signed);
        Ok(if is_one && form == IntervalForm::Standard { sum.all_negative() } else { sum })
    };
    let read = match tokens(shown).and_then(spelt) {
        // Designators are in upper case.
        Err(Fault::Syntax) => match shown.strip_prefix('P').filter(|it| !it.is_empty()) {
            Some(rest) => iso(rest),
            None => Err(Fault::Syntax),
        },
        other => other,
    };
    match read {
        Ok(sum) => fields.fit(sum.interval()?),
        Err(Fault::Range) => {
            let message = format!("interval field value out of range: \"{text}\"");
            Err(SqlError::new(SqlState("22015"), message))
        }
        Err(Fault::Syntax) if is_infinite(shown) => {
            Err(SqlError::unsupported("an infinite interval is not supported"))
        }
        Err(Fault::Syntax) => {
            let message = format!("invalid input syntax for type interval: \"{text}\"");
            Err(SqlError::new(SqlState::INVALID_DATETIME, message))
        }
    }
}

fn is_infinite(text: &str) -> bool {
    text.trim_start_matches(['+', '-']).eq_ignore_ascii_case("infinity")
}

/// What has been read so far.
#[derive(Default)]
struct Sum {
    years: i64,
    months: i64,
    days: i64,
    micros: i64,
}

impl Sum {
    fn interval(self) -> SqlResult<Interval> {
        Interval::new(self.years * 12 + self.months, self.days, self.micros)
    }

    fn all_negative(self) -> Self {
        let negative = |it: i64| -it.saturating_abs();
        let Self { years, months, days, micros } = self;
        Self {
            years: negative(years),
            months: negative(months),
            days: negative(days),
            micros: negative(micros),
        }
    }

    fn negated(self) -> Self {
        // Each part is within 32 bits, or within 64 without the least.
        let micros = self.micros.saturating_neg();
        Self { years: -self.years, months: -self.months, days: -self.days, micros }
    }

    /// Adds a whole number and a fraction of a unit; what is left of a month is days, of a day time.
    fn add(&mut self, whole: i64, fraction: f64, unit: Unit) -> Read<()> {
        match unit {
            Unit::Microsecond => self.add_micros(whole, fraction, 1),
            Unit::Millisecond => self.add_micros(whole, fraction, 1_000),
            Unit::Second => self.add_micros(whole, fraction, SECOND),
            Unit::Minute => self.add_micros(whole, fraction, MINUTE),
            Unit::Hour => self.add_micros(whole, fraction, HOUR),
            Unit::Day => {
                add_whole(&mut self.days, whole, 1)?;
                self.add_micros(0, fraction, DAY)
            }
            Unit::Week => {
                add_whole(&mut self.days, whole, 7)?;
                self.add_fraction_of_days(fraction * 7.0)
            }
            Unit::Month | Unit::Quarter => {
                let months = if unit == Unit::Month { 1 } else { 3 };
                add_whole(&mut self.months, whole, months)?;
                let parts = fraction * months as f64;
                add_whole(&mut self.months, parts as i64, 1)?;
                self.add_fraction_of_days(parts.fract() * 30.0)
            }
            Unit::Year => self.add_years(whole, fraction, 1),
            Unit::Decade => self.add_years(whole, fraction, 10),
            Unit::Century => self.add_years(whole, fraction, 100),
            Unit::Millennium => self.add_years(whole, fraction, 1_000),
        }
    }

    /// Of a year only whole months count.
    fn add_years(&mut self, whole: i64, fraction: f64, years: i64) -> Read<()> {
        add_whole(&mut self.years, whole, years)?;
        add_whole(&mut self.months, (fraction * years as f64 * 12.0).round_ties_even() as i64, 1)
    }

    fn add_fraction_of_days(&mut self, days: f64) -> Read<()> {
        add_whole(&mut self.days, days as i64, 1)?;
        self.add_micros(0, days - (days as i64) as f64, DAY)
    }

    fn add_micros(&mut self, whole: i64, fraction: f64, unit: i64) -> Read<()> {
        let part = fraction * unit as f64;
        let (cut, rest) = (part as i64, part - (part as i64) as f64);
        let rounded = cut + i64::from(rest > 0.5) - i64::from(rest < -0.5);
        let all = whole.checked_mul(unit).and_then(|it| it.checked_add(rounded));
        let sum = all.and_then(|it| self.micros.checked_add(it));
        self.micros = sum.ok_or(Fault::Range)?;
        Ok(())
    }
}

/// Adds so many units to a part of 32 bits.
fn add_whole(part: &mut i64, whole: i64, unit: i64) -> Read<()> {
    let sum = whole.checked_mul(unit).and_then(|it| part.checked_add(it));
    *part = sum.filter(|it| i32::try_from(*it).is_ok()).ok_or(Fault::Range)?;
    Ok(())
}

/// A word of a text.
#[derive(Debug)]
enum Token<'a> {
    /// Letters.
    Word(String),
    /// What begins with a digit or a point.
    Number(&'a str),
    /// What follows a sign.
    Signed(bool, &'a str),
}

fn tokens(text: &str) -> Read<Vec<Token<'_>>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        if first.is_ascii_digit() || first == b'.' {
            let (number, behind) = number(rest);
            all.push(Token::Number(number));
            rest = behind;
        } else if first.is_ascii_alphabetic() {
            let (word, behind) = split(rest, |it| it.is_ascii_alphabetic());
            let word = word.to_lowercase();
            let next = behind.bytes().next().unwrap_or(b' ');
            // A word right before digits is a unit only where it begins or names a date, too.
            let divides = ["d", "h", "m", "s", "y", "mon", "dec"].contains(&&*word);
            if b"-/.".contains(&next) || !divides && (next == b'+' || next.is_ascii_digit()) {
                return Err(Fault::Syntax);
            }
            all.push(Token::Word(word));
            rest = behind;
        } else if first == b'+' || first == b'-' {
            let behind = rest[1..].trim_start_matches(|it: char| it.is_ascii_whitespace());
            let (number, behind) =
                split(behind, |it| it.is_ascii_digit() || matches!(it, b':' | b'.' | b'-'));
            if !number.starts_with(|it: char| it.is_ascii_digit() || it == '.') {
                return Err(Fault::Syntax);
            }
            all.push(Token::Signed(first == b'-', number));
            rest = behind;
        } else if first.is_ascii_whitespace() || first == 11 || first.is_ascii_punctuation() {
            rest = &rest[1..];
        } else {
            return Err(Fault::Syntax);
        }
    }
    Ok(all)
}

fn split(text: &str, mut belongs: impl FnMut(u8) -> bool) -> (&str, &str) {
    text.split_at(text.bytes().position(|it| !belongs(it)).unwrap_or(text.len()))
}

/// A number, a time of day, or several numbers with one delimiter.
fn number(text: &str) -> (&str, &str) {
    let digits = text.bytes().position(|it| !it.is_ascii_digit()).unwrap_or(text.len());
    let delimiter = text.as_bytes().get(digits).copied().unwrap_or(b' ');
    let end = match delimiter {
        b':' => split(text, |it| it.is_ascii_digit() || matches!(it, b':' | b'.')).0.len(),
        b'-' | b'/' | b'.' => {
            let behind = &text[digits + 1..];
            let belongs = |it: u8| match behind.bytes().next() {
                Some(first) if first.is_ascii_digit() => it.is_ascii_digit() || it == delimiter,
                _ => it.is_ascii_alphanumeric() || it == delimiter,
            };
            digits + 1 + split(behind, belongs).0.len()
        }
        _ => digits,
    };
    text.split_at(end)
}

/// The words of an interval, from the last to the first.
fn spelt(words: &[Token<'_>], fields: Fields) -> Read<Sum> {
    let mut sum = Sum::default();
    let (mut said, mut is_ago, mut unit) = (0, false, None);
    // A unit waits for its number.
    let mut waits = false;
    for (place, word) in words.iter().enumerate().rev() {
        let mask = match word {
            Token::Word(word) if word == "ago" => {
                if place + 1 < words.len() {
                    return Err(Fault::Syntax);
                }
                is_ago = true;
                continue;
            }
            Token::Word(word) => {
                let known = Unit::of_word(word).filter(|_| !waits).ok_or(Fault::Syntax)?;
                (unit, waits) = (Some(known), true);
                continue;
            }
            Token::Number(text) | Token::Signed(_, text) => {
                let is_negative = matches!(word, Token::Signed(true, _));
                let is_signed = matches!(word, Token::Signed(..));
                // Behind "ago" alone there is no unit to count.
                if is_ago && unit.is_none() && !text.contains(':') {
                    return Err(Fault::Syntax);
                }
                waits = false;
                if let Some((hours, rest)) = text.split_once(':') {
                    let time = clock(hours, rest, fields);
                    let time = if is_signed { time.map_err(|_| Fault::Syntax)? } else { time? };
                    sum.add_micros(if is_negative { -time } else { time }, 0.0, 1)?;
                    unit = Some(Unit::Day);
                    CLOCK
                } else {
                    counted(&mut sum, word, &mut unit, fields)?
                }
            }
        };
        if said & mask != 0 {
            return Err(Fault::Syntax);
        }
        said |= mask;
    }
    if said == 0 || waits {
        return Err(Fault::Syntax);
    }
    Ok(if is_ago { sum.negated() } else { sum })
}

/// What a time of day says.
const CLOCK: u32 = 1 << Unit::Hour as u32 | 1 << Unit::Minute as u32 | SECONDS;
/// What seconds with a fraction say.
const SECONDS: u32 =
    1 << Unit::Second as u32 | 1 << Unit::Millisecond as u32 | 1 << Unit::Microsecond as u32;

/// Adds a number of a unit, or years and months.
fn counted(sum: &mut Sum, word: &Token<'_>, unit: &mut Option<Unit>, fields: Fields) -> Read<u32> {
    let (text, is_signed, is_negative) = match word {
        Token::Number(text) => (*text, false, false),
        Token::Signed(is_negative, text) => (*text, true, *is_negative),
        Token::Word(_) => return Err(Fault::Syntax),
    };
    let counts = unit.unwrap_or(fields.range.map_or(Unit::Second, |it| it.1));
    *unit = Some(counts);
    let (digits, rest) = split(text, |it| it.is_ascii_digit());
    // A sign right before a point counts no number.
    if digits.is_empty() && is_signed {
        return Err(Fault::Syntax);
    }
    let signed = |it: i64| if is_negative { -it } else { it };
    let whole = signed(count(digits)?);
    if let Some(months) = rest.strip_prefix('-') {
        let months = count(months)?;
        if months >= 12 {
            return Err(Fault::Range);
        }
        *unit = Some(Unit::Month);
        add_whole(&mut sum.months, whole, 12)?;
        add_whole(&mut sum.months, signed(months), 1)?;
        return Ok(Unit::Month.mask());
    }
    let fraction = fraction(rest)?;
    sum.add(whole, if is_negative { -fraction } else { fraction }, counts)?;
    Ok(match counts {
        Unit::Second if fraction != 0.0 => SECONDS,
        // Before hours there are days.
        Unit::Hour => {
            *unit = Some(Unit::Day);
            Unit::Hour.mask()
        }
        other => other.mask(),
    })
}

/// The number of digits alone; none are zero.
fn count(digits: &str) -> Read<i64> {
    match digits {
        "" => Ok(0),
        it if it.bytes().all(|it| it.is_ascii_digit()) => it.parse().map_err(|_| Fault::Range),
        _ => Err(Fault::Syntax),
    }
}

/// The fraction of `.25`, or of nothing.
fn fraction(text: &str) -> Read<f64> {
    if text.is_empty() || text == "." {
        return Ok(0.0);
    }
    let digits = text.strip_prefix('.').ok_or(Fault::Syntax)?;
    let all_digits = digits.bytes().all(|it| it.is_ascii_digit());
    if all_digits { text.parse().map_err(|_| Fault::Syntax) } else { Err(Fault::Syntax) }
}

/// Microseconds of `hours:minutes` or `hours:minutes:seconds`; of MINUTE TO SECOND two parts are minutes and seconds, as those
/// with a fraction are.
fn clock(hours: &str, rest: &str, fields: Fields) -> Read<i64> {
    let parts: Vec<&str> = rest.split(':').collect();
    let last = parts[parts.len() - 1];
    let (last, point) = last.split_at(last.find('.').unwrap_or(last.len()));
    let fraction = (fraction(point)? * 1e6).round_ties_even() as i64;
    let of_seconds = fields.range == Some((Unit::Minute, Unit::Second)) || !point.is_empty();
    let [hours, minutes, seconds] = match parts[..] {
        [_] if of_seconds => ["", hours, last],
        [_] => [hours, last, ""],
        [minutes, _] => [hours, minutes, last],
        _ => return Err(Fault::Syntax),
    };
    let [hours, minutes, seconds] = [count(hours)?, count(minutes)?, count(seconds)?];
    if minutes > 59 || seconds > 60 {
        return Err(Fault::Range);
    }
    let micros = hours.checked_mul(HOUR).ok_or(Fault::Range)?;
    micros.checked_add(minutes * MINUTE + seconds * SECOND + fraction).ok_or(Fault::Range)
}

/// The forms of ISO 8601 behind their P: `1Y2M3DT4H`, `0001-02-03T04:05:06`, `00010203T040506`.
fn iso(text: &str) -> Read<Sum> {
    let mut sum = Sum::default();
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    let dates = [('Y', Unit::Year), ('M', Unit::Month), ('W', Unit::Week), ('D', Unit::Day)];
    let times = [('H', Unit::Hour), ('M', Unit::Minute), ('S', Unit::Second)];
    designated(date, &dates, '-', &[Unit::Year, Unit::Month, Unit::Day], &mut sum)?;
    designated(time, &times, ':', &[Unit::Hour, Unit::Minute, Unit::Second], &mut sum)?;
    Ok(sum)
}

/// Numbers with designators, or, without any, those of three units with a delimiter or of fixed digits.
fn designated(
    text: &str,
    designators: &[(char, Unit)],
    delimiter: char,
    units: &[Unit; 3],
    sum: &mut Sum,
) -> Read<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest;
        let (whole, fraction) = float(&mut rest)?;
        let next = rest.chars().next();
        if let Some(unit) = designators.iter().find(|it| Some(it.0) == next).map(|it| it.1) {
            sum.add(whole, fraction, unit)?;
            rest = &rest[1..];
            continue;
        }
        if start.len() != text.len() || next.is_some_and(|it| it != delimiter) {
            return Err(Fault::Syntax);
        }
        let (digits, _) = split(start.strip_prefix('-').unwrap_or(start), |it| it.is_ascii_digit());
        let fixed = if delimiter == '-' { 8 } else { 6 };
        if next.is_none() && digits.len() == fixed {
            let parts = [whole / 10_000, whole / 100 % 100, whole % 100];
            for (part, unit) in parts.into_iter().zip(units) {
                sum.add(part, 0.0, *unit)?;
            }
            return sum.add(0, fraction, units[2]);
        }
        sum.add(whole, fraction, units[0])?;
        for unit in &units[1..] {
            let Some(behind) = rest.strip_prefix(delimiter) else { break };
            rest = behind;
            let (whole, fraction) = float(&mut rest)?;
            sum.add(whole, fraction, *unit)?;
        }
        return if rest.is_empty() { Ok(()) } else { Err(Fault::Syntax) };
    }
    Ok(())
}

/// The number at the beginning, which may have a sign, a point and an exponent: its whole part, and what is left.
fn float(rest: &mut &str) -> Read<(i64, f64)> {
    let bytes = rest.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = usize::from(bytes.first() == Some(&b'-'));
    while is_digit(end) || bytes.get(end) == Some(&b'.') && !rest[..end].contains('.') {
        end += 1;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if is_digit(end + 1 + sign) {
            end += 1 + sign;
            while is_digit(end) {
                end += 1;
            }
        }
    }
    let value: f64 = rest[..end].parse().map_err(|_| Fault::Syntax)?;
    if !(-1e15..=1e15).contains(&value) {
        return Err(Fault::Range);
    }
    *rest = &rest[end..];
    Ok((value as i64, value - value.trunc()))
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
        let of = |text, unit: Option<&str>| {
            let unit = unit.and_then(Unit::of_field).map(Fields::of_unit);
            parse(text, unit.unwrap_or_default()).map(|it| (it.months, it.days, it.micros))
        };
        assert_eq!(of("90", Some("day")), Ok((0, 90, 0)));
        assert_eq!(of("1 year 2 months 3 days 04:05:06.5", None), Ok((14, 3, 14_706_500_000)));
        assert_eq!(of("36 hours", None), Ok((0, 0, 129_600_000_000)));
        assert_eq!(of("1.5 days", None), Ok((0, 1, 43_200_000_000)));
        assert_eq!(of("1.5 months", None), Ok((1, 15, 0)));
        assert_eq!(of("1-2", None), Ok((14, 0, 0)));
        assert_eq!(of("2 days ago", None), Ok((0, -2, 0)));
        assert_eq!(of("-1", Some("week")), Ok((0, -7, 0)));
        assert_eq!(of("1h30m", None), Ok((0, 0, 5_400_000_000)));
        assert_eq!(of("-1-2 +3 -4:05:06.7", None), Ok((-14, 3, -14_706_700_000)));
        assert_eq!(of("1 week", Some("quarters")), Ok((0, 7, 0)));
        assert_eq!(of("2", Some("quarter")), Ok((6, 0, 0)));
        assert_eq!(of("P0001-02-03T04:05:06", None), Ok((14, 3, 14_706_000_000)));
        assert_eq!(of("1 02:03", None), Ok((0, 1, 7_380_000_000)));
        assert_eq!(of("P1Y2M3DT4H", None), Ok((14, 3, 14_400_000_000)));
        assert_eq!(of("7", None), Ok((0, 0, 7_000_000)));
        for wrong in
            ["", "day", "1 fortnight", "1:2:3:4", "x", "1 day 2 day", "-.5 days", "1 ago", "p1y"]
        {
            assert_eq!(of(wrong, None).map_err(|it| it.state.0), Err("22007"), "{wrong}");
        }
        assert_eq!(of("9999999999 years", None).map_err(|it| it.state.0), Err("22015"));
        assert_eq!(of("9999999 years", None).map_err(|it| it.state.0), Err("22008"));
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
}
