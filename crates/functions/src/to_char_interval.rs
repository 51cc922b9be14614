//! Intervals as text by a template. Their parts may be negative, and names and zones mean nothing for them.

use arrow_array::ArrayRef;
use types::numeric::interval::Interval;
use types::{SqlError, SqlResult};

use crate::calendar::{JULIAN_EPOCH, MICROS_PER_SECOND, days_from_civil};
use crate::call::Call;
use crate::error::invalid_datetime;
use crate::interval;
use crate::template::{Case, Part, ROMAN, Templates, Token};
use crate::texts::Texts;
use crate::to_char::ordinal_suffix;

/// Texts of intervals by templates.
pub(crate) fn to_char(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (intervals, templates) = (interval::argument(call, 0)?, call.texts(1)?);
    let mut tokens = Templates::default();
    call.map_optional_texts(|row, out| {
        let template = templates.value(row);
        let span = Span::new(intervals.at(row));
        for token in tokens.get(template) {
            span.push(token, out)?;
        }
        // An empty template gives NULL in PostgreSQL.
        Ok(!template.is_empty())
    })
}

/// An interval, taken apart.
struct Span {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
}

impl Span {
    fn new(it: Interval) -> Self {
        let seconds = it.micros / MICROS_PER_SECOND;
        Self {
            years: it.months / 12,
            months: it.months % 12,
            days: it.days,
            hours: seconds / 3_600,
            minutes: seconds / 60 % 60,
            seconds: seconds % 60,
            micros: it.micros % MICROS_PER_SECOND,
        }
    }

    fn push(&self, token: &Token, out: &mut Texts) -> SqlResult<()> {
        let &Token::Field { part, case, plain, ordinal, .. } = token else {
            let (Token::Separator(it) | Token::Literal(it)) = token else { return Ok(()) };
            return out.push_char(*it);
        };
        if let Part::Meridiem | Part::Meridiem4 = part {
            let hour = self.hours % 24;
            let shown = match (part == Part::Meridiem4, hour >= 12) {
                (true, true) => "P.M.",
                (true, false) => "A.M.",
                (false, true) => "PM",
                (false, false) => "AM",
            };
            return out.push(&if case == Case::Lower {
                shown.to_lowercase()
            } else {
                shown.into()
            });
        }
        if part == Part::Roman {
            let numeral = self.roman();
            let numeral = if case == Case::Lower { numeral.to_lowercase() } else { numeral.into() };
            let width = if plain || numeral.is_empty() { 0 } else { 4 };
            return out.push(&format!("{numeral:<width$}"));
        }
        let digits = self.digits(part, plain)?;
        out.push(&digits)?;
        match ordinal {
            Some(case) if !digits.is_empty() => out.push(ordinal_suffix(&digits, case)),
            _ => Ok(()),
        }
    }

    /// The months of the year as a numeral: twelve of them are none and a year.
    fn roman(&self) -> &'static str {
        match (self.months, self.years) {
            (0, 0) => "",
            (0, 1..) => ROMAN[11],
            (0, _) => ROMAN[0],
            (months @ 1.., _) => ROMAN[months as usize - 1],
            (months, _) => ROMAN[(12 + months) as usize],
        }
    }

    fn digits(&self, part: Part, plain: bool) -> SqlResult<String> {
        // All its days, a month as thirty.
        let all_days = (self.years * 12 + self.months) * 30 + self.days;
        let seconds = (self.hours * 60 + self.minutes) * 60 + self.seconds;
        let (value, width) = match part {
            Part::Hour12 if self.hours % 12 == 0 => (12, 2),
            Part::Hour12 => (self.hours % 12, 2),
            Part::Hour24 => (self.hours, 2),
            Part::Minute => (self.minutes, 2),
            Part::Second => (self.seconds, 2),
            Part::SecondOfDay => (seconds, 0),
            Part::Fraction(digits) => {
                let width = usize::from(digits);
                let value = self.micros / 10i64.pow(6 - u32::from(digits));
                return Ok(format!("{value:0width$}"));
            }
            Part::Millisecond => return Ok(format!("{:03}", self.micros / 1_000)),
            Part::Microsecond => return Ok(format!("{:06}", self.micros)),
            Part::MonthNumber => (self.months, 2),
            Part::DayOfMonth => return Ok(padded(self.days, 2, plain, false)),
            Part::DayOfYear => return Ok(padded(all_days, 3, plain, false)),
            Part::WeekOfYear => return Ok(padded((all_days - 1) / 7 + 1, 2, plain, false)),
            Part::WeekOfMonth => ((self.days - 1) / 7 + 1, 0),
            Part::Quarter if self.months == 0 => return Ok(String::new()),
            Part::Quarter => ((self.months - 1) / 3 + 1, 0),
            Part::Century => (self.years / 100, 2),
            Part::Year(4) => (self.years, 4),
            Part::Year(digits) => (self.years % 10i64.pow(u32::from(digits)), usize::from(digits)),
            Part::YearComma => {
                let thousands = self.years / 1_000;
                return Ok(format!("{thousands},{:03}", self.years - thousands * 1_000));
            }
            Part::Julian if self.months > 0 => {
                let days = days_from_civil(self.years, self.months, 1) + self.days - 1;
                (days + JULIAN_EPOCH, 0)
            }
            Part::Julian | Part::IsoDayOfYear | Part::IsoWeek | Part::IsoYear(_) => {
                return Err(SqlError::unsupported(
                    "a field of a day for an interval is not supported",
                ));
            }
            Part::Exact => return Ok(String::new()),
            _ => return Err(no_meaning()),
        };
        Ok(padded(value, width, plain, true))
    }
}

/// A number with zeros up to a width; the sign of a negative one takes a place more.
fn padded(value: i64, width: usize, plain: bool, widens: bool) -> String {
    let width = if width > 0 && value < 0 && widens { width + 1 } else { width };
    let width = if plain { 0 } else { width };
    format!("{value:0width$}")
}

fn no_meaning() -> SqlError {
    invalid_datetime("invalid format specification for an interval value")
        .with_hint("Intervals are not tied to specific calendar dates.")
}
