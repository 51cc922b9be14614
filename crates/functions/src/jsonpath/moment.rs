//! Points of time in a path: what `.datetime()` and its kin make of strings. They are shown as ISO 8601 has them.
//!
//! What goes by the clocks of a place and what does not are compared by those of the session, which only functions with `_tz` at the
//! end of their names do: the others are refused (0A000), as the same JSON would be another one for each session.

use std::cmp::Ordering;
use std::fmt::Write;

use stdx::sync::OnceLock;
use types::numeric::datetime::format_time;
use types::{SqlError, SqlResult, Zone};

use crate::calendar::{MICROS_PER_DAY, MICROS_PER_SECOND, civil_from_days};
use crate::error::{invalid_datetime, timestamp_range};
use crate::parsed::{self, Said};
use crate::template::{Part, Token, tokenize};

/// Which points of time there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
}

impl Kind {
    /// As `.type()` tells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time without time zone",
            Self::TimeTz => "time with time zone",
            Self::Timestamp => "timestamp without time zone",
            Self::TimestampTz => "timestamp with time zone",
        }
    }

    /// As errors tell it.
    fn short(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::TimeTz => "timetz",
            Self::Timestamp => "timestamp",
            Self::TimestampTz => "timestamptz",
        }
    }

    fn has_date(self) -> bool {
        !matches!(self, Self::Time | Self::TimeTz)
    }

    fn has_zone(self) -> bool {
        matches!(self, Self::TimeTz | Self::TimestampTz)
    }
}

/// The clocks of a session.
#[derive(Debug)]
pub(super) struct Clocks {
    pub zone: Zone,
    /// The day that they show, in days since 1970-01-01.
    pub today: i64,
}

/// A point of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub kind: Kind,
    /// What the clocks show, in microseconds since midnight, of the day or of 1970-01-01.
    clocks: i64,
    /// Seconds that they are ahead of UTC; zero where no zone is said.
    ahead: i64,
}

impl Moment {
    /// The point of time that a text says in one of the forms of ISO 8601.
    pub fn read(text: &str) -> Option<Self> {
        let found = forms()
            .iter()
            .find_map(|(kind, tokens)| Some((*kind, parsed::parse_exactly(text, tokens).ok()?)));
        found.and_then(|(kind, said)| Self::of(kind, said).ok())
    }

    /// The point of time that a text says by a template.
    ///
    /// # Errors
    /// 22007 and 22008; the outer ones are of the template itself.
    pub fn by_template(text: &str, template: &str) -> SqlResult<SqlResult<Self>> {
        let tokens = tokenize(template);
        for token in &tokens {
            let wrong = match *token {
                Token::Separator(it) => (!"-./,':; ".contains(it)).then_some(it),
                // What stands in quotes may be anything.
                Token::Literal(it) => (!template.contains('"')).then_some(it),
                Token::Field { .. } => None,
            };
            if let Some(it) = wrong {
                let message = format!("invalid datetime format separator: \"{it}\"");
                return Err(invalid_datetime(message));
            }
        }
        let kind = match kind_of(&tokens) {
            Ok(kind) => kind,
            Err(error) => return Ok(Err(error)),
        };
        Ok(parsed::parse_exactly(text, &tokens).and_then(|it| Self::of(kind, it)))
    }

    fn of(kind: Kind, Said { day, micros, ahead }: Said) -> SqlResult<Self> {
        let day = if kind.has_date() { day } else { 0 };
        let clocks = day.checked_mul(MICROS_PER_DAY).and_then(|it| it.checked_add(micros));
        let clocks = clocks.ok_or_else(timestamp_range)?;
        Ok(Self { kind, clocks, ahead: ahead.unwrap_or(0) })
    }

    /// What it is in UTC.
    fn universal(self) -> i64 {
        self.clocks.saturating_sub(self.ahead * MICROS_PER_SECOND)
    }

    /// The same as another kind; `None` where it is none of that.
    ///
    /// # Errors
    /// 0A000 where it takes the clocks of a session.
    pub fn cast(self, to: Kind, clocks: Option<&Clocks>) -> SqlResult<Option<Self>> {
        let from = self.kind;
        if from == to {
            return Ok(Some(self));
        }
        if !from.has_date() && to.has_date() || from == Kind::Date && !to.has_date() {
            return Ok(None);
        }
        // A timestamp has no zone that a time of day could have.
        if to == Kind::TimeTz && from == Kind::Timestamp {
            return Ok(None);
        }
        let local = match from.has_zone() == to.has_zone() {
            true => self,
            false => self.with_clocks(to, clocks)?,
        };
        let shown = match to {
            Kind::Date => local.clocks - local.clocks.rem_euclid(MICROS_PER_DAY),
            Kind::Time | Kind::TimeTz => local.clocks.rem_euclid(MICROS_PER_DAY),
            Kind::Timestamp | Kind::TimestampTz => local.clocks,
        };
        let ahead = if to.has_zone() { local.ahead } else { 0 };
        Ok(Some(Self { kind: to, clocks: shown, ahead }))
    }

    /// What the clocks of the session show at the point of time; of one without a zone, how far they are ahead of UTC then.
    fn with_clocks(self, to: Kind, clocks: Option<&Clocks>) -> SqlResult<Self> {
        let from = self.kind;
        let Some(Clocks { zone, today }) = clocks else {
            let message = format!(
                "cannot convert value from {} to {} without time zone usage",
                from.short(),
                to.short()
            );
            return Err(SqlError::unsupported(message)
                .with_hint("Use *_tz() function for time zone support."));
        };
        match from {
            // A time of day stays what it shows.
            Kind::TimeTz => Ok(self),
            Kind::TimestampTz => {
                let shown = zone.local(self.universal()).ok_or_else(timestamp_range)?;
                Ok(Self { clocks: shown, ..self })
            }
            Kind::Time => {
                let ahead = zone.ahead_of_local(today * MICROS_PER_DAY + self.clocks);
                Ok(Self { ahead, ..self })
            }
            Kind::Date | Kind::Timestamp => {
                Ok(Self { ahead: zone.ahead_of_local(self.clocks), ..self })
            }
        }
    }

    /// The same with so many digits of a second.
    pub fn rounded(self, digits: u32) -> Self {
        let unit = 10i64.pow(6 - digits.min(6));
        let clocks = (self.clocks + unit / 2).div_euclid(unit) * unit;
        Self { clocks, ..self }
    }

    /// Which of two is earlier; `None` of a day beside a time of day.
    ///
    /// # Errors
    /// 0A000 where it takes the clocks of a session.
    pub fn compare(self, other: Self, clocks: Option<&Clocks>) -> SqlResult<Option<Ordering>> {
        if self.kind.has_date() != other.kind.has_date() {
            return Ok(None);
        }
        let (a, b) = match (self.kind.has_zone(), other.kind.has_zone()) {
            (true, false) => (self, other.with_clocks(self.kind, clocks)?),
            (false, true) => (self.with_clocks(other.kind, clocks)?, other),
            _ => (self, other),
        };
        let order = a.universal().cmp(&b.universal());
        // Of times of day that are one moment, the one farther in the east is the earlier.
        let by_zone = if self.kind.has_date() { Ordering::Equal } else { b.ahead.cmp(&a.ahead) };
        Ok(Some(order.then(by_zone)))
    }

    /// As JSON has it.
    pub fn text(self) -> String {
        let mut out = String::new();
        let (day, micros) =
            (self.clocks.div_euclid(MICROS_PER_DAY), self.clocks.rem_euclid(MICROS_PER_DAY));
        let (year, month, date) = civil_from_days(day);
        if self.kind.has_date() {
            let shown = if year > 0 { year } else { 1 - year };
            let _ = write!(out, "{shown:04}-{month:02}-{date:02}");
        }
        if self.kind.has_date() && self.kind != Kind::Date {
            out.push('T');
        }
        if self.kind != Kind::Date {
            format_time(micros, &mut out);
        }
        if self.kind.has_zone() {
            let (sign, distance) = (if self.ahead < 0 { '-' } else { '+' }, self.ahead.abs());
            let (hours, minutes, seconds) = (distance / 3_600, distance / 60 % 60, distance % 60);
            let _ = write!(out, "{sign}{hours:02}:{minutes:02}");
            if seconds > 0 {
                let _ = write!(out, ":{seconds:02}");
            }
        }
        if self.kind.has_date() && year <= 0 {
            out.push_str(" BC");
        }
        out
    }
}

/// What a template says.
fn kind_of(tokens: &[Token]) -> SqlResult<Kind> {
    let (mut date, mut time, mut zone) = (false, false, false);
    for token in tokens {
        let Token::Field { part, .. } = token else { continue };
        match part {
            Part::Zone | Part::ZoneOffset | Part::ZoneHour | Part::ZoneMinute => zone = true,
            Part::Fraction(_)
            | Part::Hour12
            | Part::Hour24
            | Part::Meridiem
            | Part::Meridiem4
            | Part::Microsecond
            | Part::Millisecond
            | Part::Minute
            | Part::Second
            | Part::SecondOfDay => time = true,
            Part::Exact => {}
            _ => date = true,
        }
    }
    let wrong = |message: &str| Err(invalid_datetime(message));
    match (date, time, zone) {
        (true, true, true) => Ok(Kind::TimestampTz),
        (true, true, false) => Ok(Kind::Timestamp),
        (false, true, true) => Ok(Kind::TimeTz),
        (false, true, false) => Ok(Kind::Time),
        (true, false, false) => Ok(Kind::Date),
        (true, false, true) => wrong("datetime format is zoned but not timed"),
        (false, false, _) => wrong("datetime format is not dated and not timed"),
    }
}

/// The forms that a text may have where no template is said.
fn forms() -> &'static [(Kind, Vec<Token>)] {
    static FORMS: OnceLock<Vec<(Kind, Vec<Token>)>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let zones = ["TZH:TZM", "TZH", ""];
        let mut forms = vec![(Kind::Date, tokenize("yyyy-mm-dd"))];
        for (day, [without, with]) in [
            ("", [Kind::Time, Kind::TimeTz]),
            ("yyyy-mm-dd ", [Kind::Timestamp, Kind::TimestampTz]),
            ("yyyy-mm-dd\"T\"", [Kind::Timestamp, Kind::TimestampTz]),
        ] {
            for time in ["HH24:MI:SS.US", "HH24:MI:SS"] {
                for zone in zones {
                    let kind = if zone.is_empty() { without } else { with };
                    forms.push((kind, tokenize(&format!("{day}{time}{zone}"))));
                }
            }
        }
        forms
    })
}
