//! Dates and timestamps from texts by a template, with PostgreSQL's rules for what may be missing or too much.

use types::{SqlError, SqlResult, SqlState};

use crate::calendar::{
    JULIAN_EPOCH, MICROS_PER_SECOND, checked_day, days_from_civil, iso_year_start,
};
use crate::error::invalid_datetime;
use crate::template::{DAYS, MONTHS, Part, ROMAN, Token};

/// What a text says by a template.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    /// Days since 1970-01-01.
    pub day: i64,
    /// Microseconds since midnight.
    pub micros: i64,
    /// Seconds that its clocks are ahead of UTC.
    pub ahead: Option<i64>,
}

/// What a text says by a template. Errors: 22007, 22008.
pub(crate) fn parse(text: &str, tokens: &[Token]) -> SqlResult<Said> {
    let mut fields = Fields::default();
    let mut input = Input { whole: text, rest: text, skipped: 0 };
    let exact = tokens.iter().any(|it| matches!(it, Token::Field { part: Part::Exact, .. }));
    for (place, token) in tokens.iter().enumerate() {
        if input.rest.is_empty() {
            break;
        }
        if !exact && (place == 0 || matches!(token, Token::Field { .. })) {
            input.skip_blanks();
        }
        match token {
            Token::Field { part, .. } => {
                fields.is_of_one_convention(*part)?;
                fields.read(token, tokens.get(place + 1), &mut input)?;
                if !exact {
                    input.skipped = 0;
                    input.skip_blanks();
                }
            }
            _ if exact => input.skip_character(),
            Token::Separator(_) => input.separator(),
            // What was skipped too much may have been this character.
            Token::Literal(_) if input.skipped > 0 => input.skipped -= 1,
            Token::Literal(_) => input.skip_character(),
        }
    }
    fields.said(text)
}

/// What a text says that follows a template to the letter, as SQL/JSON asks. Errors: 22007, 22008.
pub(crate) fn parse_exactly(text: &str, tokens: &[Token]) -> SqlResult<Said> {
    let mut fields = Fields::default();
    let mut input = Input { whole: text, rest: text, skipped: 0 };
    let wrong = |message: String| Err(invalid_datetime(message));
    for (place, token) in tokens.iter().enumerate() {
        if input.rest.is_empty() {
            return wrong("input string is too short for datetime format".to_owned());
        }
        match token {
            Token::Field { part, .. } => {
                fields.is_of_one_convention(*part)?;
                fields.read(token, tokens.get(place + 1), &mut input)?;
            }
            Token::Separator(it) | Token::Literal(it) if input.rest.starts_with(*it) => {
                input.skip_character();
            }
            Token::Separator(it) => return wrong(format!("unmatched format separator \"{it}\"")),
            Token::Literal(it) => return wrong(format!("unmatched format character \"{it}\"")),
        }
    }
    match input.rest.trim_start().is_empty() {
        true => fields.said(text),
        false => {
            wrong("trailing characters remain in input string after datetime format".to_owned())
        }
    }
}

struct Input<'a> {
    whole: &'a str,
    rest: &'a str,
    /// Characters that were skipped beyond those that the template names.
    skipped: i64,
}

impl Input<'_> {
    fn skip_blanks(&mut self) {
        let trimmed = self.rest.trim_start();
        self.skipped += (self.rest.len() - trimmed.len()) as i64;
        self.rest = trimmed;
    }

    fn skip_character(&mut self) {
        let mut characters = self.rest.chars();
        characters.next();
        self.rest = characters.as_str();
    }

    /// Whether hours ahead of UTC are negative. The sign may have been skipped as a blank before them.
    fn is_west(&mut self) -> bool {
        let sign = match self.rest.chars().next() {
            Some(it @ ('+' | '-' | ' ')) => {
                self.skip_character();
                Some(it)
            }
            _ if self.skipped > 0 => {
                self.whole[..self.whole.len() - self.rest.len()].chars().next_back()
            }
            _ => None,
        };
        sign == Some('-')
    }

    /// One separator of the template stands for one of the text, or for none.
    fn separator(&mut self) {
        self.skipped -= 1;
        let separates = |it: char| it.is_whitespace() || it.is_ascii_punctuation();
        if self.rest.starts_with(separates) {
            self.skip_character();
            self.skipped += 1;
        }
    }

    /// A whole number with its length: all digits, or exactly so many when more digits can follow.
    fn number(&mut self, name: &str, width: usize, open: bool) -> SqlResult<(i64, usize)> {
        self.rest = self.rest.trim_start();
        let signed = usize::from(self.rest.starts_with(['-', '+']));
        let digits = self.rest[signed..].bytes().take_while(u8::is_ascii_digit).count();
        let mut length = if digits == 0 { 0 } else { signed + digits };
        if !open {
            if self.rest.chars().count() < width {
                let message = format!("source string too short for \"{name}\" formatting field");
                return Err(invalid_datetime(message));
            }
            length = length.min(width);
        }
        let end = self.rest.char_indices().nth(width).map_or(self.rest.len(), |it| it.0);
        let shown = &self.rest[..end];
        if length == 0 || (!open && length < width) {
            return Err(invalid_datetime(format!("invalid value \"{shown}\" for \"{name}\"")));
        }
        let (number, rest) = self.rest.split_at(length);
        self.rest = rest;
        let value = number.parse::<i32>().map_err(|_| {
            let message = format!("value for \"{name}\" in source string is out of range");
            SqlError::new(SqlState::DATETIME_OVERFLOW, message)
        })?;
        Ok((i64::from(value), length))
    }

    /// The place of the longest word that the text begins with, whatever its case.
    fn word(&mut self, name: &str, words: &[&str]) -> SqlResult<usize> {
        let begins = |word: &str| {
            let start = self.rest.get(..word.len());
            start.is_some_and(|it| it.eq_ignore_ascii_case(word))
        };
        let found = words.iter().enumerate().filter(|it| begins(it.1));
        let Some((place, word)) = found.max_by_key(|it| it.1.len()) else {
            let shown: String = self.rest.chars().take_while(|it| !it.is_whitespace()).collect();
            return Err(invalid_datetime(format!("invalid value \"{shown}\" for \"{name}\"")));
        };
        self.rest = &self.rest[word.len()..];
        Ok(place)
    }
}

/// What a text said.
#[derive(Default)]
struct Fields {
    year: Option<i64>,
    /// Digits of the year in the template.
    year_digits: u8,
    century: Option<i64>,
    before_christ: bool,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    week_of_year: Option<i64>,
    week_of_month: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    weekday: Option<i64>,
    julian: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    second_of_day: Option<i64>,
    micro: Option<i64>,
    milli: Option<i64>,
    afternoon: bool,
    twelve_hours: bool,
    /// Whether the clocks are behind UTC, once a zone was said.
    is_west: Option<bool>,
    zone_hours: Option<i64>,
    zone_minutes: Option<i64>,
    /// That of the first field that has one.
    convention: Option<Convention>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Convention {
    Gregorian,
    Iso,
}

/// A field is said once, or always the same.
fn set(field: &mut Option<i64>, value: i64, name: &str) -> SqlResult<()> {
    match field {
        Some(known) if *known != value => Err(invalid_datetime(format!(
            "conflicting values for \"{name}\" field in formatting string"
        ))),
        _ => {
            *field = Some(value);
            Ok(())
        }
    }
}

/// How a field counts days: in months, or in weeks of ISO 8601.
fn convention(part: Part) -> Option<Convention> {
    use Part as P;
    match part {
        P::IsoYear(_) | P::IsoDayOfYear | P::IsoWeek | P::IsoDayOfWeek => Some(Convention::Iso),
        P::Year(_) | P::YearComma | P::Month | P::ShortMonth | P::MonthNumber | P::Roman => {
            Some(Convention::Gregorian)
        }
        P::DayOfMonth | P::DayOfYear | P::DayOfWeek | P::WeekOfMonth | P::WeekOfYear => {
            Some(Convention::Gregorian)
        }
        _ => None,
    }
}

impl Fields {
    fn is_of_one_convention(&mut self, part: Part) -> SqlResult<()> {
        let Some(own) = convention(part) else { return Ok(()) };
        if *self.convention.get_or_insert(own) == own {
            return Ok(());
        }
        let error = invalid_datetime("invalid combination of date conventions");
        Err(error.with_hint(
            "Do not mix Gregorian and ISO week date conventions in a formatting template.",
        ))
    }

    fn read(
        &mut self,
        token: &Token,
        next: Option<&Token>,
        input: &mut Input<'_>,
    ) -> SqlResult<()> {
        let &Token::Field { part, name, plain, ordinal, .. } = token else {
            return Ok(());
        };
        match part {
            Part::Month => {
                let month = input.word(name, &MONTHS)? as i64 + 1;
                set(&mut self.month, month, name)?;
            }
            Part::ShortMonth => {
                let month = input.word(name, &MONTHS.map(|it| &it[..3]))? as i64 + 1;
                set(&mut self.month, month, name)?;
            }
            Part::Roman => {
                let month = input.word(name, &ROMAN)? as i64 + 1;
                set(&mut self.month, month, name)?;
            }
            Part::Day => self.weekday = Some(input.word(name, &DAYS)? as i64 + 1),
            Part::ShortDay => {
                self.weekday = Some(input.word(name, &DAYS.map(|it| &it[..3]))? as i64 + 1);
            }
            Part::Era => self.before_christ = input.word(name, &["AD", "BC"])? == 1,
            Part::Era4 => self.before_christ = input.word(name, &["A.D.", "B.C."])? == 1,
            Part::Meridiem | Part::Meridiem4 => {
                let words: &[&str] =
                    if part == Part::Meridiem { &["AM", "PM"] } else { &["A.M.", "P.M."] };
                self.afternoon = input.word(name, words)? == 1;
                self.twelve_hours = true;
            }
            Part::Exact => {}
            Part::Zone | Part::ZoneOffset => {
                let message = format!("formatting field \"{name}\" is only supported in to_char");
                return Err(SqlError::unsupported(message));
            }
            Part::ZoneHour => {
                self.is_west = Some(input.is_west());
                let (hours, _) = input.number(name, 2, !begins_with_digit(next))?;
                set(&mut self.zone_hours, hours, name)?;
            }
            Part::YearComma => {
                let (thousands, _) = input.number(name, 1, true)?;
                input.separator();
                let (rest, _) = input.number(name, 3, false)?;
                set(&mut self.year, thousands * 1_000 + rest, name)?;
                self.year_digits = 4;
            }
            _ => {
                let open = plain || ordinal.is_some() || !begins_with_digit(next);
                let (value, length) = input.number(name, width(part), open)?;
                self.number(part, name, value, length)?;
            }
        }
        if ordinal.is_some() {
            input.skip_character();
            input.skip_character();
        }
        Ok(())
    }

    fn number(&mut self, part: Part, name: &str, value: i64, length: usize) -> SqlResult<()> {
        let scaled = |digits: u32| value * 10i64.pow(digits.saturating_sub(length as u32));
        let field = match part {
            Part::Year(digits) => {
                self.year_digits = digits;
                let value = if digits < 4 && length < 4 { near_2020(value) } else { value };
                return set(&mut self.year, value, name);
            }
            Part::IsoYear(digits) => {
                let value = if digits < 4 && length < 4 { near_2020(value) } else { value };
                return set(&mut self.iso_year, value, name);
            }
            Part::Millisecond => return set(&mut self.milli, scaled(3), name),
            Part::Microsecond => return set(&mut self.micro, scaled(6), name),
            Part::Fraction(digits) => {
                let unit = 10i64.pow(6 - u32::from(digits));
                let rounded = (scaled(6) + unit / 2) / unit * unit;
                return set(&mut self.micro, rounded, name);
            }
            Part::DayOfWeek => return set(&mut self.weekday, (value + 5) % 7 + 1, name),
            Part::Hour12 => {
                self.twelve_hours = true;
                &mut self.hour
            }
            Part::Hour24 => &mut self.hour,
            Part::Century => &mut self.century,
            Part::DayOfMonth => &mut self.day,
            Part::DayOfYear | Part::IsoDayOfYear => &mut self.day_of_year,
            Part::IsoDayOfWeek => &mut self.weekday,
            Part::IsoWeek => &mut self.iso_week,
            Part::Julian => &mut self.julian,
            Part::Minute => &mut self.minute,
            Part::MonthNumber => &mut self.month,
            Part::Second => &mut self.second,
            Part::SecondOfDay => &mut self.second_of_day,
            Part::WeekOfMonth => &mut self.week_of_month,
            Part::WeekOfYear => &mut self.week_of_year,
            Part::ZoneMinute => {
                self.is_west.get_or_insert(false);
                &mut self.zone_minutes
            }
            // A quarter does not tell a date.
            _ => return Ok(()),
        };
        set(field, value, name)
    }

    fn said(&self, text: &str) -> SqlResult<Said> {
        let out_of_range = || {
            let message = format!("date/time field value out of range: \"{text}\"");
            SqlError::new(SqlState::DATETIME_OVERFLOW, message)
        };
        let day = self.day().ok_or_else(out_of_range)?;
        let micros = self.micros()?.ok_or_else(out_of_range)?;
        let (hours, minutes) = (self.zone_hours.unwrap_or(0), self.zone_minutes.unwrap_or(0));
        if !(0..=15).contains(&hours) || !(0..60).contains(&minutes) {
            return Err(out_of_range());
        }
        let distance = hours * 3_600 + minutes * 60;
        let ahead = self.is_west.map(|it| if it { -distance } else { distance });
        Ok(Said { day, micros, ahead })
    }

    /// The day, if there is such a date.
    fn day(&self) -> Option<i64> {
        if let Some(julian) = self.julian {
            return Some(julian - JULIAN_EPOCH);
        }
        if let (Some(year), Some(week)) = (self.iso_year, self.iso_week) {
            let weekday = self.weekday.unwrap_or(1);
            let valid = (1..=53).contains(&week) && (1..=7).contains(&weekday);
            return valid.then(|| iso_year_start(year) + (week - 1) * 7 + weekday - 1);
        }
        if let (Some(year), Some(day)) = (self.iso_year, self.day_of_year) {
            return Some(iso_year_start(year) + day - 1);
        }
        let year = self.full_year();
        let of_week = self.week_of_year.map(|it| (it - 1) * 7 + 1);
        if let Some(day) = self.day_of_year.or(of_week)
            && self.day.is_none()
            && self.month.is_none()
        {
            let first = days_from_civil(year, 1, 1);
            let length = days_from_civil(year + 1, 1, 1) - first;
            return (1..=length).contains(&day).then_some(first + day - 1);
        }
        let of_month = self.week_of_month.map(|it| (it - 1) * 7 + 1);
        let day = self.day.or(of_month).unwrap_or(1);
        checked_day(year, self.month.unwrap_or(1), day)
    }

    /// The year, 0 being 1 BC; 0 too when none was said.
    fn full_year(&self) -> i64 {
        let year = match (self.year, self.century) {
            (Some(year), Some(century)) if self.year_digits <= 2 => {
                let year = year % 100;
                if year == 0 { century * 100 } else { (century - 1) * 100 + year }
            }
            (Some(year), _) => year,
            (None, Some(century)) => (century - 1) * 100 + 1,
            (None, None) => return 0,
        };
        let year = if self.before_christ { -year } else { year };
        if year < 0 { year + 1 } else { year }
    }

    /// The microsecond of the day, if there is such a time.
    fn micros(&self) -> SqlResult<Option<i64>> {
        let mut hour = self.hour.unwrap_or(0);
        if self.twelve_hours {
            if let Some(given) = self.hour
                && !(1..=12).contains(&given)
            {
                let message = format!("hour \"{given}\" is invalid for the 12-hour clock");
                return Err(invalid_datetime(message)
                    .with_hint("Use the 24-hour clock, or give an hour between 1 and 12."));
            }
            hour = match (self.afternoon, hour) {
                (true, hour) if hour < 12 => hour + 12,
                (false, 12) => 0,
                (_, hour) => hour,
            };
        }
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        let fraction = self.milli.unwrap_or(0) * 1_000 + self.micro.unwrap_or(0);
        let valid = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (0..86_400).contains(&self.second_of_day.unwrap_or(0))
            // Rounding to few digits may come to a whole second.
            && (0..=MICROS_PER_SECOND).contains(&fraction);
        let seconds = match self.second_of_day {
            Some(seconds) => seconds,
            None => (hour * 60 + minute) * 60 + second,
        };
        Ok(valid.then_some(seconds * MICROS_PER_SECOND + fraction))
    }
}

/// A year of less than four digits is the one nearest to 2020.
fn near_2020(year: i64) -> i64 {
    match year {
        0..70 => year + 2_000,
        70..100 => year + 1_900,
        100..520 => year + 2_000,
        520..1_000 => year + 1_000,
        _ => year,
    }
}

/// How many characters a number has when another follows at once.
fn width(part: Part) -> usize {
    match part {
        Part::Year(digits) | Part::IsoYear(digits) | Part::Fraction(digits) => usize::from(digits),
        Part::DayOfYear | Part::IsoDayOfYear | Part::Millisecond => 3,
        Part::Microsecond | Part::Julian => 6,
        Part::SecondOfDay => 5,
        Part::DayOfWeek | Part::IsoDayOfWeek | Part::WeekOfMonth | Part::Quarter => 1,
        _ => 2,
    }
}

/// Whether the input for a token can begin with a digit.
fn begins_with_digit(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Field { part, .. }) => !matches!(
            part,
            Part::Day
                | Part::ShortDay
                | Part::Era
                | Part::Era4
                | Part::Meridiem
                | Part::Meridiem4
                | Part::Month
                | Part::ShortMonth
                | Part::Roman
                | Part::Zone
                | Part::ZoneOffset
                | Part::ZoneHour
                | Part::Exact
        ),
        Some(Token::Separator(it) | Token::Literal(it)) => it.is_ascii_digit(),
        None => false,
    }
}
