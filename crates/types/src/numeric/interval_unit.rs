//! The units of intervals, and which of them a type or a constant keeps: `INTERVAL DAY TO SECOND(2)`.

use super::errors::type_name;
use super::interval::Interval;
use super::number::Limits;
use crate::{DataType, SqlResult};

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

/// How much of its values a type keeps: the fields that an interval may have and the digits of its seconds, `DAY TO SECOND(2)`,
/// or the digits of a number that no DECIMAL has.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Fields {
    /// The first and the last field; all, where none is said.
    pub range: Option<(Unit, Unit)>,
    /// Digits of seconds after the point.
    pub digits: Option<u8>,
    /// Digits of a NUMERIC.
    pub number: Option<Limits>,
}

impl Fields {
    /// Fields of one unit.
    pub fn of_unit(unit: Unit) -> Self {
        Self { range: Some((unit, unit)), ..Self::default() }
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
        Interval::new(months, days, self.round(micros))
    }

    /// A point of time or a time of day in microseconds from some point, rounded to its digits, halves away from that.
    pub fn round(self, micros: i64) -> i64 {
        match self.digits {
            Some(digits @ 0..6) => {
                let unit = 10i64.pow(6 - u32::from(digits));
                let half = if micros < 0 { -unit / 2 } else { unit / 2 };
                micros.saturating_add(half) / unit * unit
            }
            _ => micros,
        }
    }

    /// As a type says them behind its name: ` day to second(2)`, `(3)`.
    pub fn suffix(self) -> String {
        let mut text = match self.range {
            None => self.number.map_or_else(String::new, Limits::suffix),
            Some((first, last)) if first == last => format!(" {}", first.name()),
            Some((first, last)) => format!(" {} to {}", first.name(), last.name()),
        };
        if let Some(digits) = self.digits {
            text.push_str(&format!("({digits})"));
        }
        text
    }

    /// A type that says them, as PostgreSQL names it: `timestamp(3) without time zone`.
    pub fn type_name(self, of: DataType) -> String {
        let (plain, suffix) = (type_name(of), self.suffix());
        match plain.split_once(' ') {
            Some((name, zone)) => format!("{name}{suffix} {zone}"),
            None => plain + &suffix,
        }
    }

    /// The number by which PostgreSQL's catalog says them of a type of intervals, or of another.
    pub fn modifier(self, of_interval: bool) -> i32 {
        if let Some(limits) = self.number {
            return limits.modifier();
        }
        let digits = self.digits.map_or(ALL_DIGITS, i32::from);
        match of_interval {
            true => self.range.map_or(ALL_FIELDS, mask_of_range) << 16 | digits,
            false => self.digits.map_or(-1, i32::from),
        }
    }

    /// All that a type of intervals, or another one of times, may say.
    pub fn all(of_interval: bool) -> Vec<Self> {
        let ranges: Vec<_> = match of_interval {
            true => std::iter::once(None).chain(RANGES.into_iter().map(Some)).collect(),
            false => vec![None],
        };
        let of_range = |range: Option<(Unit, Unit)>| {
            // Only seconds have digits.
            let has_digits = range.is_none_or(|it| it.1 == Unit::Second);
            let none = range.map(|_| Self { range, ..Self::default() });
            let digits = (0..=6).filter(move |_| has_digits).map(Some);
            none.into_iter().chain(digits.map(move |digits| Self {
                range,
                digits,
                ..Self::default()
            }))
        };
        ranges.into_iter().flat_map(of_range).collect()
    }
}

/// What the number of a modifier says where nothing is said of fields, or of digits.
const ALL_FIELDS: i32 = 0x7fff;
const ALL_DIGITS: i32 = 0xffff;

/// The ranges that a type of intervals may have.
const RANGES: [(Unit, Unit); 13] = {
    use Unit::{Day, Hour, Minute, Month, Second, Year};
    [
        (Year, Year),
        (Month, Month),
        (Day, Day),
        (Hour, Hour),
        (Minute, Minute),
        (Second, Second),
        (Year, Month),
        (Day, Hour),
        (Day, Minute),
        (Day, Second),
        (Hour, Minute),
        (Hour, Second),
        (Minute, Second),
    ]
};

/// A bit for each field of a range.
fn mask_of_range((first, last): (Unit, Unit)) -> i32 {
    let fields = [
        (Unit::Year, 2),
        (Unit::Month, 1),
        (Unit::Day, 3),
        (Unit::Hour, 10),
        (Unit::Minute, 11),
        (Unit::Second, 12),
    ];
    let place = |unit| fields.iter().position(|it| it.0 == unit);
    match (place(first), place(last)) {
        (Some(from), Some(to)) if from <= to => {
            fields[from..=to].iter().fold(0, |mask, it| mask | 1 << it.1)
        }
        _ => ALL_FIELDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_numbers_of_postgres() {
        let fields = |range, digits| Fields { range, digits, ..Fields::default() };
        for (it, expected) in [
            (fields(None, Some(3)), 2_147_418_115),
            (fields(Some((Unit::Year, Unit::Month)), None), 458_751),
            (fields(Some((Unit::Day, Unit::Second)), Some(2)), 470_286_338),
            (fields(Some((Unit::Second, Unit::Second)), None), 268_500_991),
        ] {
            assert_eq!(it.modifier(true), expected, "{it:?}");
        }
        assert_eq!(fields(None, Some(3)).modifier(false), 3);
        assert_eq!(fields(Some((Unit::Day, Unit::Second)), Some(2)).suffix(), " day to second(2)");
    }
}
