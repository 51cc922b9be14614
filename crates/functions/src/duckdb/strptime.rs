//! `strptime` and `try_strptime`: texts as points of time, by formats of `%` and a letter, as DuckDB has them.

use arrow_array::ArrayRef;
use arrow_array::types::TimestampMicrosecondType;
use plan::Function;
use types::SqlResult;

use crate::calendar::{self, MICROS_PER_SECOND, checked_day};
use crate::call::Call;
use crate::error::{invalid, invalid_datetime};
use crate::template::{DAYS, MONTHS};

/// Points of time by formats; what does not fit is an error, or NULL of `try_strptime`.
pub(super) fn strptime(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, formats) = (call.texts(0)?, call.texts(1)?);
    let tries = call.function == Function::TryStrptime;
    call.map_optional::<TimestampMicrosecondType>(|row| {
        let (text, format) = (texts.value(row), formats.value(row));
        check(format)?;
        match parsed(text, format) {
            Some(moment) => Ok(Some(moment)),
            None if tries => Ok(None),
            None => Err(invalid_datetime(format!(
                "could not parse \"{text}\" by the format \"{format}\""
            ))),
        }
    })
}

/// An error for a format that has letters that mean nothing.
fn check(format: &str) -> SqlResult<()> {
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            continue;
        }
        let mut found = letters.next();
        if found == Some('-') {
            found = letters.next();
        }
        if !found.is_some_and(|it| "aAbBcdfgHhIjmMnpSuwxXyYz%".contains(it)) {
            let shown = found.map_or(String::new(), String::from);
            let message = format!("the format of strptime has \"%{shown}\", which is not read");
            return Err(invalid(message));
        }
    }
    Ok(())
}

/// What was read so far.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: Option<i64>,
    hour: i64,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    micro: i64,
    /// Seconds to the east of UTC.
    offset: i64,
}

/// The point of time; `None` for a text that does not fit.
fn parsed(text: &str, format: &str) -> Option<i64> {
    let mut fields = Fields {
        year: 1900,
        month: 1,
        day: 1,
        day_of_year: None,
        hour: 0,
        afternoon: None,
        minute: 0,
        second: 0,
        micro: 0,
        offset: 0,
    };
    let mut rest = Rest(text.trim_start());
    fields.read(format, &mut rest)?;
    if !rest.0.trim().is_empty() {
        return None;
    }
    fields.moment()
}

/// What is left of a text.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    /// A number of at most so many digits.
    fn number(&mut self, most: usize) -> Option<i64> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        digits.parse().ok()
    }

    /// A number within bounds.
    fn within(&mut self, most: usize, least: i64, greatest: i64) -> Option<i64> {
        self.number(most).filter(|it| (least..=greatest).contains(it))
    }

    /// The place of the word that comes next, in full or its first three letters.
    fn word(&mut self, words: &[&str]) -> Option<i64> {
        let begins =
            |it: &str| self.0.get(..it.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(it));
        let find = |length: fn(&str) -> &str| words.iter().position(|it| begins(length(it)));
        let (place, length) = match find(|it| it) {
            Some(place) => (place, words[place].len()),
            None => (find(|it| &it[..3])?, 3),
        };
        self.0 = &self.0[length..];
        Some(place as i64)
    }

    /// AM or PM.
    fn meridiem(&mut self) -> Option<i64> {
        let begin = self.0.get(..2)?.to_ascii_uppercase();
        let place = ["AM", "PM"].iter().position(|it| *it == begin)?;
        self.0 = &self.0[2..];
        Some(place as i64)
    }

    fn take(&mut self, letter: char) -> Option<()> {
        self.0 = self.0.strip_prefix(letter)?;
        Some(())
    }

    /// A fraction of a second in microseconds; digits beyond are left out.
    fn fraction(&mut self, most: usize) -> Option<i64> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        if digits.is_empty() {
            return None;
        }
        format!("{digits:0<6}")[..6].parse().ok()
    }

    /// `+hh`, `+hhmm` or `+hh:mm`, in seconds.
    fn offset(&mut self) -> Option<i64> {
        if self.0.starts_with('Z') {
            return self.take('Z').map(|()| 0);
        }
        let sign = match self.0.chars().next()? {
            '+' => 1,
            '-' => -1,
            _ => return None,
        };
        self.0 = &self.0[1..];
        let hours = self.within(2, 0, 15)?;
        let has_more = self.0.starts_with(|it: char| it == ':' || it.is_ascii_digit());
        let minutes = match has_more {
            true => {
                self.0 = self.0.strip_prefix(':').unwrap_or(self.0);
                self.within(2, 0, 59)?
            }
            false => 0,
        };
        Some(sign * (hours * 60 + minutes) * 60)
    }
}

impl Fields {
    fn read(&mut self, format: &str, rest: &mut Rest<'_>) -> Option<()> {
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '%' => {
                    let mut letter = letters.next()?;
                    if letter == '-' {
                        letter = letters.next()?;
                    }
                    self.field(letter, rest)?;
                }
                it if it.is_whitespace() => rest.0 = rest.0.trim_start(),
                it => rest.take(it)?,
            }
        }
        Some(())
    }

    fn field(&mut self, letter: char, rest: &mut Rest<'_>) -> Option<()> {
        match letter {
            'Y' => self.year = rest.number(4)?,
            'y' => {
                let year = rest.number(2)?;
                self.year = if year >= 69 { 1900 + year } else { 2000 + year };
            }
            'm' => self.month = rest.within(2, 1, 12)?,
            'b' | 'h' | 'B' => self.month = rest.word(&MONTHS)? + 1,
            'd' => self.day = rest.within(2, 1, 31)?,
            'j' => self.day_of_year = Some(rest.within(3, 1, 366)?),
            'H' => self.hour = rest.within(2, 0, 23)?,
            'I' => self.hour = rest.within(2, 1, 12)?,
            'M' => self.minute = rest.within(2, 0, 59)?,
            'S' => self.second = rest.within(2, 0, 59)?,
            'f' => self.micro = rest.fraction(6)?,
            'g' => self.micro = rest.fraction(3)?,
            'n' => self.micro = rest.fraction(9)?,
            'p' => self.afternoon = Some(rest.meridiem()? == 1),
            'a' | 'A' => drop(rest.word(&DAYS)?),
            'w' => drop(rest.within(1, 0, 6)?),
            'u' => drop(rest.within(1, 1, 7)?),
            'z' => self.offset = rest.offset()?,
            'c' => self.read("%Y-%m-%d %H:%M:%S", rest)?,
            'x' => self.read("%Y-%m-%d", rest)?,
            'X' => self.read("%H:%M:%S", rest)?,
            _ => rest.take('%')?,
        }
        Some(())
    }

    fn moment(&self) -> Option<i64> {
        let hour = match self.afternoon {
            None => self.hour,
            // Of the clock of twelve hours, 12 comes first.
            Some(_) if self.hour > 12 => return None,
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
        };
        let day = match self.day_of_year {
            Some(day) => {
                let day = checked_day(self.year, 1, 1)? + day - 1;
                (day < checked_day(self.year + 1, 1, 1)?).then_some(day)?
            }
            None => checked_day(self.year, self.month, self.day)?,
        };
        let seconds = (hour * 60 + self.minute) * 60 + self.second - self.offset;
        calendar::timestamp(day, seconds * MICROS_PER_SECOND + self.micro).ok()
    }
}
