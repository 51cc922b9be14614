//! Intervals: spans of months, days and microseconds, which count apart, since neither months nor days are of one length.
//!
//! Key decision: an interval is held as one integer of 128 bits. Its upper bits are the span in microseconds, a month as
//! thirty days and a day as 24 hours, which is how PostgreSQL compares intervals; months and days stand in the lower ones. So
//! the order of the integers is that of the intervals, and intervals that are equal, like a month and thirty days, differ in
//! the lower bits alone ([`key_of`]). It costs some of the range: months are below 2^24, and the time is below 292 years.
//!
//! How they are read and shown is in [`super::interval_text`].

use super::datetime::DAY;
use crate::{DataType, SqlError, SqlResult};

/// Months are below this in both directions.
const MONTHS_END: i64 = 1 << 24;
/// Days are within 32 bits.
const DAYS: std::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;
/// The time is what 64 bits of nanoseconds hold, which is how Arrow shows it.
const MICROS_MAX: i64 = i64::MAX / 1_000;
const DAYS_BITS: u32 = 32;
const MONTHS_BITS: u32 = 25;
const LOWER_BITS: u32 = DAYS_BITS + MONTHS_BITS;

/// A span of time. Its parts are added one after the other, so none is told in another.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Interval {
    /// Months.
    pub months: i64,
    /// Days.
    pub days: i64,
    /// Microseconds.
    pub micros: i64,
}

/// What intervals that are equal have in common: the span in microseconds.
pub fn key_of(held: i128) -> i128 {
    held >> LOWER_BITS
}

/// 22008: more than an interval holds.
pub fn out_of_range() -> SqlError {
    super::errors::out_of_range(DataType::Interval)
}

impl Interval {
    /// So much of each.
    ///
    /// # Errors
    /// 22008 where it is more than an interval holds.
    pub fn new(months: i64, days: i64, micros: i64) -> SqlResult<Self> {
        Self { months, days, micros }.within().ok_or_else(out_of_range)
    }

    fn within(self) -> Option<Self> {
        let fits = -MONTHS_END < self.months
            && self.months < MONTHS_END
            && DAYS.contains(&self.days)
            && (-MICROS_MAX..=MICROS_MAX).contains(&self.micros);
        fits.then_some(self)
    }

    /// The span in microseconds, a month as thirty days.
    pub fn span(self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }

    /// The integer as which it is held.
    pub fn held(self) -> i128 {
        let months = i128::from(self.months + MONTHS_END);
        let days = i128::from(self.days - DAYS.start());
        self.span() << LOWER_BITS | months << DAYS_BITS | days
    }

    /// The interval that an integer holds.
    pub fn of_held(held: i128) -> Self {
        let months = (held >> DAYS_BITS) as i64 & ((1 << MONTHS_BITS) - 1);
        let days = held as i64 & ((1 << DAYS_BITS) - 1);
        let whole = Self { months: months - MONTHS_END, days: days + DAYS.start(), micros: 0 };
        Self { micros: (key_of(held) - whole.span()) as i64, ..whole }
    }

    /// Whether it goes back.
    pub fn is_negative(self) -> bool {
        self.span() < 0
    }

    /// The sum of two.
    pub fn plus(self, other: Self) -> Option<Self> {
        Self {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        }
        .within()
    }

    /// As much in the other direction.
    pub fn negated(self) -> Option<Self> {
        Self {
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        }
        .within()
    }

    /// So many times the interval: what is left of a month is days, what is left of a day time.
    pub fn times(self, factor: f64) -> Option<Self> {
        self.scaled(|it| it * factor)
    }

    /// One of so many equal parts of the interval; the divisor is not zero.
    pub fn divided(self, divisor: f64) -> Option<Self> {
        self.scaled(|it| it / divisor)
    }

    fn scaled(self, scale: impl Fn(f64) -> f64) -> Option<Self> {
        let whole = |it: f64| (it.abs() < 9.2e18).then_some(it as i64);
        let rounded = |it: f64| (it * 1e6).round_ties_even() / 1e6;
        let (months, days) = (scale(self.months as f64), scale(self.days as f64));
        let rest_days = rounded((months - whole(months)? as f64) * 30.0);
        let rest = days - whole(days)? as f64 + rest_days - rest_days.trunc();
        let mut seconds = rounded(rest * 86_400.0);
        let mut more = whole(rest_days)?;
        if seconds.abs() >= 86_400.0 {
            let carried = (seconds / 86_400.0).trunc();
            seconds -= carried * 86_400.0;
            more += whole(carried)?;
        }
        let micros = (scale(self.micros as f64) + seconds * 1e6).round_ties_even();
        Self {
            months: whole(months)?,
            days: whole(days)?.checked_add(more)?,
            micros: whole(micros)?,
        }
        .within()
    }

    /// Each 24 hours as a day, and time and days of one sign.
    pub fn justify_hours(self) -> Option<Self> {
        let (mut days, mut micros) = (self.days + self.micros / DAY, self.micros % DAY);
        if days > 0 && micros < 0 {
            (days, micros) = (days - 1, micros + DAY);
        } else if days < 0 && micros > 0 {
            (days, micros) = (days + 1, micros - DAY);
        }
        Self { days, micros, ..self }.within()
    }

    /// Each thirty days as a month, and days and months of one sign.
    pub fn justify_days(self) -> Option<Self> {
        let (mut months, mut days) = (self.months + self.days / 30, self.days % 30);
        if months > 0 && days < 0 {
            (months, days) = (months - 1, days + 30);
        } else if months < 0 && days > 0 {
            (months, days) = (months + 1, days - 30);
        }
        Self { months, days, ..self }.within()
    }

    /// Both, and all parts of one sign.
    pub fn justify(self) -> Option<Self> {
        let span = self.span();
        let day = i128::from(DAY);
        let (days, micros) = (span / day, span % day);
        let narrow = |it: i128| i64::try_from(it).ok();
        Self { months: narrow(days / 30)?, days: narrow(days % 30)?, micros: narrow(micros)? }
            .within()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_in_order_and_comes_back() {
        let ends = [i64::from(i32::MIN), -1, 0, 30, i64::from(i32::MAX)];
        let mut all = Vec::new();
        for months in [1 - MONTHS_END, -1, 0, 1, MONTHS_END - 1] {
            for days in ends {
                for micros in [-MICROS_MAX, -1, 0, DAY, MICROS_MAX] {
                    all.push(Interval { months, days, micros });
                }
            }
        }
        for &it in &all {
            assert_eq!(Interval::of_held(it.held()), it);
            assert!(it.held().unsigned_abs() < 10u128.pow(38));
            assert_eq!(key_of(it.held()), it.span());
        }
        all.sort_by_key(|it| it.held());
        assert!(all.is_sorted_by_key(|it| it.span()));
    }
}
