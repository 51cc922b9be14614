//! Dates and timestamps as text by a template.

use arrow_array::ArrayRef;
use types::SqlResult;

use crate::calendar::{
    JULIAN_EPOCH, MICROS_PER_DAY, MICROS_PER_SECOND, civil_from_days, day_of_year, iso_week,
    iso_weekday, iso_year_start, timestamp,
};
use crate::call::Call;
use crate::error::timestamp_range;
use crate::template::{Case, DAYS, MONTHS, Part, ROMAN, Templates, Token};
use crate::texts::Texts;
use crate::zone::Zones;

/// Texts by templates: of points of time, or of moments as the clocks of a zone (the third argument) show them.
pub(crate) fn to_char(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (moments, templates) = (call.any_moments(0)?, call.texts(1)?);
    let mut zones = call.optional_texts(2)?.map(Zones::new);
    let mut tokens = Templates::default();
    call.map_optional_texts(|row, out| {
        let template = templates.value(row);
        if moments.infinite(row).is_some() {
            return Ok(false);
        }
        let (mut days, mut micros) = moments.at(row);
        let mut time_zone = None;
        if let Some(zones) = &mut zones {
            let (zone, moment) = (zones.zone(row)?, timestamp(days, micros)?);
            let local = zone.local(moment).ok_or_else(timestamp_range)?;
            (days, micros) = (local.div_euclid(MICROS_PER_DAY), local.rem_euclid(MICROS_PER_DAY));
            time_zone = Some((zone.ahead_at(moment), zone.abbreviation_at(moment)));
        }
        let moment = Moment::new(days, micros);
        for token in tokens.get(template) {
            match zone_field(token, time_zone.as_ref()) {
                Some(text) => out.push(&text)?,
                None => moment.push(token, out)?,
            }
        }
        // An empty template gives NULL in PostgreSQL, as an infinite point of time does.
        Ok(!template.is_empty())
    })
}

/// What a field says of a time zone, which is so many seconds ahead and has a name; nothing of other fields.
fn zone_field(token: &Token, zone: Option<&(i64, String)>) -> Option<String> {
    let &Token::Field { part, case, plain, .. } = token else { return None };
    let ahead = zone.map_or(0, |it| it.0);
    let (sign, hours, minutes) =
        (if ahead < 0 { '-' } else { '+' }, ahead.abs() / 3_600, ahead.abs() / 60 % 60);
    Some(match part {
        Part::Zone => {
            let name = zone.map_or("", |it| &it.1);
            if case == Case::Lower { name.to_lowercase() } else { name.to_uppercase() }
        }
        Part::ZoneHour => format!("{sign}{hours:02}"),
        Part::ZoneMinute => format!("{minutes:02}"),
        Part::ZoneOffset => {
            let width = if plain { 0 } else { 2 };
            let minutes = if minutes == 0 { String::new() } else { format!(":{minutes:02}") };
            format!("{sign}{hours:0width$}{minutes}")
        }
        _ => return None,
    })
}

/// A point of time, taken apart.
pub(crate) struct Moment {
    pub days: i64,
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub micro: i64,
}

impl Moment {
    /// A day and the microsecond of it.
    pub fn new(days: i64, micros: i64) -> Self {
        let (year, month, day) = civil_from_days(days);
        let seconds = micros / MICROS_PER_SECOND;
        Self {
            days,
            year,
            month,
            day,
            hour: seconds / 3_600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            micro: micros % MICROS_PER_SECOND,
        }
    }

    fn push(&self, token: &Token, out: &mut Texts) -> SqlResult<()> {
        let &Token::Field { part, case, plain, ordinal, .. } = token else {
            let (Token::Separator(it) | Token::Literal(it)) = token else {
                return Ok(());
            };
            return out.push_char(*it);
        };
        if let Some((name, width)) = self.name(part) {
            let name = match case {
                Case::Upper => name.to_uppercase(),
                Case::Lower => name.to_lowercase(),
                Case::Capital => name.to_owned(),
            };
            out.push(&name)?;
            let missing = width.saturating_sub(name.len());
            return if plain { Ok(()) } else { out.push_repeated(" ", missing) };
        }
        let digits = self.digits(part, plain);
        out.push(&digits)?;
        match ordinal {
            Some(case) if !digits.is_empty() => out.push(ordinal_suffix(&digits, case)),
            _ => Ok(()),
        }
    }

    /// The name that a part has, and how wide names are filled up.
    fn name(&self, part: Part) -> Option<(&'static str, usize)> {
        let month = self.month as usize - 1;
        let day = DAYS[iso_weekday(self.days) as usize - 1];
        let (before, afternoon) = (self.year <= 0, self.hour >= 12);
        Some(match part {
            Part::Day => (day, 9),
            Part::ShortDay => (&day[..3], 0),
            Part::Month => (MONTHS[month], 9),
            Part::ShortMonth => (&MONTHS[month][..3], 0),
            Part::Roman => (ROMAN[month], 4),
            Part::Era => (if before { "BC" } else { "AD" }, 0),
            Part::Era4 => (if before { "B.C." } else { "A.D." }, 0),
            Part::Meridiem => (if afternoon { "PM" } else { "AM" }, 0),
            Part::Meridiem4 => (if afternoon { "P.M." } else { "A.M." }, 0),
            Part::Exact => ("", 0),
            _ => return None,
        })
    }

    fn digits(&self, part: Part, plain: bool) -> String {
        let seconds = (self.hour * 60 + self.minute) * 60 + self.second;
        let (iso_year, week) = iso_week(self.days);
        let (value, width) = match part {
            Part::Century if self.year > 0 => ((self.year - 1) / 100 + 1, 2),
            Part::Century => (self.year / 100 - 1, 3),
            Part::DayOfMonth => (i64::from(self.day), 2),
            Part::DayOfWeek => (iso_weekday(self.days) % 7 + 1, 0),
            Part::DayOfYear => (day_of_year(self.days), 3),
            Part::Fraction(digits) => {
                let shown = usize::from(digits);
                let value = self.micro / 10i64.pow(6 - u32::from(digits));
                return format!("{value:0shown$}");
            }
            Part::Hour12 => ((self.hour + 11) % 12 + 1, 2),
            Part::Hour24 => (self.hour, 2),
            Part::IsoDayOfWeek => (iso_weekday(self.days), 0),
            Part::IsoDayOfYear => (self.days - iso_year_start(iso_year) + 1, 3),
            Part::IsoWeek => (week, 2),
            Part::IsoYear(digits) => last_digits(iso_year, digits),
            Part::Julian => (self.days + JULIAN_EPOCH, 0),
            Part::Microsecond => return format!("{:06}", self.micro),
            Part::Millisecond => return format!("{:03}", self.micro / 1_000),
            Part::Minute => (self.minute, 2),
            Part::MonthNumber => (i64::from(self.month), 2),
            Part::Quarter => ((i64::from(self.month) + 2) / 3, 0),
            Part::Second => (self.second, 2),
            Part::SecondOfDay => (seconds, 0),
            Part::WeekOfMonth => ((i64::from(self.day) - 1) / 7 + 1, 0),
            Part::WeekOfYear => ((day_of_year(self.days) - 1) / 7 + 1, 2),
            Part::Year(digits) => last_digits(self.year, digits),
            Part::YearComma => {
                let year = last_digits(self.year, 4).0;
                return format!("{},{:03}", year / 1_000, year % 1_000);
            }
            // Names and zones, which were written before.
            _ => return String::new(),
        };
        let width = if plain { 0 } else { width };
        format!("{value:0width$}")
    }
}

/// So many of the last digits of a year, as it is counted before and after Christ.
fn last_digits(year: i64, digits: u8) -> (i64, usize) {
    let year = if year > 0 { year } else { 1 - year };
    let shown = if digits == 4 { year } else { year % 10i64.pow(u32::from(digits)) };
    (shown, usize::from(digits))
}

/// What makes a number one of an order.
pub(crate) fn ordinal_suffix(digits: &str, case: Case) -> &'static str {
    let teen = digits.len() > 1 && digits.as_bytes()[digits.len() - 2] == b'1';
    let place = match digits.as_bytes().last() {
        Some(b'1') if !teen => 0,
        Some(b'2') if !teen => 1,
        Some(b'3') if !teen => 2,
        _ => 3,
    };
    match case {
        Case::Upper => ["ST", "ND", "RD", "TH"][place],
        _ => ["st", "nd", "rd", "th"][place],
    }
}
