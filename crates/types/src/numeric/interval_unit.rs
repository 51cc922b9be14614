//! The units of intervals, and which of them a type or a constant keeps: `INTERVAL DAY TO SECOND(2)`.

use super::interval::Interval;
use crate::SqlResult;

/// Microseconds of a second.
pub(super) const SECOND: i64 = 1_000_000;
/// Microseconds of a minute.
pub(super) const MINUTE: i64 = 60 * SECOND;
/// Microseconds of an hour.
pub(super) const HOUR: i64 = 60 * MINUTE;
/// Letters of a word that count.
const LETTERS: usize = 10;

/// A unit in which an interval is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A millionth of a second.
    Microsecond,
    /// A thousandth of a second.
    Millisecond,
    /// A second.
    Second,
    /// 60 seconds.
    Minute,
    /// 60 minutes.
    Hour,
    /// A day.
    Day,
    /// 7 days.
    Week,
    /// A month.
    Month,
    /// 3 months.
    Quarter,
    /// 12 months.
    Year,
    /// 10 years.
    Decade,
    /// 100 years.
    Century,
    /// 1000 years.
    Millennium,
}

/// How units are spelt in a text.
const SPELLINGS: [(&[&str], Unit); 12] = [
    (&["microsecon", "us", "usec", "usecond", "useconds", "usecs"], Unit::Microsecond),
    (&["millisecon", "ms", "msec", "msecond", "mseconds", "msecs"], Unit::Millisecond),
    (&["second", "seconds", "s", "sec", "secs"], Unit::Second),
    (&["minute", "minutes", "m", "min", "mins"], Unit::Minute),
    (&["hour", "hours", "h", "hr", "hrs"], Unit::Hour),
    (&["day", "days", "d"], Unit::Day),
    (&["week", "weeks", "w"], Unit::Week),
    (&["month", "months", "mon", "mons"], Unit::Month),
    (&["year", "years", "y", "yr", "yrs"], Unit::Year),
    (&["decade", "decades", "dec", "decs"], Unit::Decade),
    (&["century", "centuries", "c", "cent"], Unit::Century),
    (&["millennium", "millennia", "mil", "mils"], Unit::Millennium),
];

impl Unit {
    /// The unit of a word in lower case.
    pub fn of_word(word: &str) -> Option<Self> {
        let word = word.get(..LETTERS).unwrap_or(word);
        SPELLINGS.iter().find(|it| it.0.contains(&word)).map(|it| it.1)
    }

    /// The unit that a field of SQL names, in any case and number.
    pub fn of_field(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        match lower.trim_end_matches('s') {
            "quarter" => Some(Self::Quarter),
            _ => Self::of_word(&lower),
        }
    }

    /// How the unit is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microsecond => "microsecond",
            Self::Millisecond => "millisecond",
            Self::Quarter => "quarter",
            other => SPELLINGS.iter().find(|it| it.1 == other).map_or("", |it| it.0[0]),
        }
    }

    /// The bit that says that the unit has been said.
    pub(super) fn mask(self) -> u32 {
        1 << self as u32
    }
}

/// The fields that an interval may have, and the digits of its seconds: `DAY TO SECOND(2)`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Fields {
    /// The first and the last field; all, where none is said.
    pub range: Option<(Unit, Unit)>,
    /// Digits of seconds after the point.
    pub digits: Option<u8>,
}

impl Fields {
    /// Fields of one unit.
    pub fn of_unit(unit: Unit) -> Self {
        Self { range: Some((unit, unit)), digits: None }
    }

    /// What is left of an interval: whole units of the last field, and so many digits.
    ///
    /// # Errors
    /// 22008 where rounding leads out of the range.
    pub fn fit(self, it: Interval) -> SqlResult<Interval> {
        let Interval { mut months, mut days, mut micros } = it;
        match self.range.map(|it| it.1) {
            Some(Unit::Year) => (months, days, micros) = (months / 12 * 12, 0, 0),
            Some(Unit::Month) => (days, micros) = (0, 0),
            Some(Unit::Day) => micros = 0,
            Some(Unit::Hour) => micros = micros / HOUR * HOUR,
            Some(Unit::Minute) => micros = micros / MINUTE * MINUTE,
            _ => {}
        }
        if let Some(digits @ 0..6) = self.digits {
            let unit = 10i64.pow(6 - u32::from(digits));
            let half = if micros < 0 { -unit / 2 } else { unit / 2 };
            micros = micros.saturating_add(half) / unit * unit;
        }
        Interval::new(months, days, micros)
    }
}
