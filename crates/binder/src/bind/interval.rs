//! Intervals: months, days and microseconds, as constants that are added to dates and points of time. They are no values
//! of their own yet.

use sqlparser::ast::{self, DateTimeField};
use types::{SqlError, SqlResult, SqlState};

use super::errors::{at, unsupported};

/// The units an interval is spelt in: name, its plural, and what one is (months, days, microseconds).
const UNITS: [(&[&str], [i64; 3]); 12] = [
    (&["microsecond", "microseconds", "us", "usec", "usecs"], [0, 0, 1]),
    (&["millisecond", "milliseconds", "ms", "msec", "msecs"], [0, 0, 1_000]),
    (&["second", "seconds", "s", "sec", "secs"], [0, 0, 1_000_000]),
    (&["minute", "minutes", "m", "min", "mins"], [0, 0, 60_000_000]),
    (&["hour", "hours", "h", "hr", "hrs"], [0, 0, 3_600_000_000]),
    (&["day", "days", "d"], [0, 1, 0]),
    (&["week", "weeks", "w"], [0, 7, 0]),
    (&["month", "months", "mon", "mons"], [1, 0, 0]),
    (&["year", "years", "y", "yr", "yrs"], [12, 0, 0]),
    (&["decade", "decades", "dec", "decs"], [120, 0, 0]),
    (&["century", "centuries", "c", "cent"], [1_200, 0, 0]),
    (&["millennium", "millennia", "mil", "mils"], [12_000, 0, 0]),
];

/// Microseconds of a day, and days of a month, where a part of the larger one is told in the smaller one.
const DAY: f64 = 86_400_000_000.0;
const MONTH: f64 = 30.0;

/// A span of time. Its parts are added one after the other, so none is told in another.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Interval {
    pub months: i64,
    pub days: i64,
    pub micros: i64,
}

impl Interval {
    /// Adds `count` of a unit; what is left of a month is days, of a day microseconds.
    fn add(&mut self, count: f64, unit: [i64; 3]) -> Option<()> {
        let whole = |it: f64| (it.abs() < 9e15).then_some(it as i64);
        let months = count * unit[0] as f64;
        let days = count * unit[1] as f64 + (months - months.trunc()) * MONTH;
        let days = (days * 1e9).round() / 1e9;
        let micros = count * unit[2] as f64 + (days - days.trunc()) * DAY;
        self.months = self.months.checked_add(whole(months.trunc())?)?;
        self.days = self.days.checked_add(whole(days.trunc())?)?;
        self.micros = self.micros.checked_add(whole(micros.round())?)?;
        Some(())
    }

    /// So many times the interval.
    pub fn times(self, factor: f64) -> Option<Self> {
        let mut result = Self::default();
        result.add(self.months as f64 * factor, [1, 0, 0])?;
        result.add(self.days as f64 * factor, [0, 1, 0])?;
        result.add(self.micros as f64 * factor, [0, 0, 1])?;
        Some(result)
    }

    /// Whether it goes back, a month being thirty days.
    pub fn is_negative(self) -> bool {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * 86_400_000_000 + i128::from(self.micros) < 0
    }

    /// The sum of two.
    pub fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        })
    }
}

/// Whether an expression is an interval, as far as its form tells. Looks no further than it must, so that long sums cost
/// nothing.
pub(super) fn is_interval(expr: &ast::Expr) -> bool {
    use ast::BinaryOperator as Sign;
    match expr {
        ast::Expr::Interval(_) => true,
        ast::Expr::Cast { data_type, .. } => matches!(data_type, ast::DataType::Interval { .. }),
        ast::Expr::Nested(inner) | ast::Expr::UnaryOp { expr: inner, .. } => is_interval(inner),
        ast::Expr::BinaryOp { left, op: Sign::Plus | Sign::Minus, right } => {
            is_interval(right) && is_interval(left)
        }
        ast::Expr::BinaryOp { left, op: Sign::Multiply, right } => {
            is_interval(right) || is_interval(left)
        }
        ast::Expr::BinaryOp { left, op: Sign::Divide, .. } => is_interval(left),
        _ => false,
    }
}

/// The interval that an expression spells: a constant, or one with a sign, a factor or a sum.
pub(super) fn of_expression(expr: &ast::Expr) -> SqlResult<Option<Interval>> {
    let range = || at(out_of_range(), expr);
    match expr {
        ast::Expr::Nested(inner) => of_expression(inner),
        ast::Expr::Interval(it) => literal(it).map(Some),
        ast::Expr::Cast { expr: inner, data_type: ast::DataType::Interval { .. }, .. } => {
            match &**inner {
                ast::Expr::Value(it) => match super::literal::text_of(&it.value) {
                    Some(text) => {
                        parse(text, None).map(Some).ok_or_else(|| at(invalid(text), expr))
                    }
                    None => Err(unsupported("a cast to INTERVAL of anything but a text", expr)),
                },
                _ => Err(unsupported("a cast to INTERVAL of anything but a text", expr)),
            }
        }
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr: inner } => {
            let Some(it) = of_expression(inner)? else { return Ok(None) };
            it.times(-1.0).map(Some).ok_or_else(range)
        }
        ast::Expr::BinaryOp { left, op, right } => {
            let (a, b) = (of_expression(left)?, of_expression(right)?);
            let result = match (op, a, b) {
                (_, None, None) => return Ok(None),
                (ast::BinaryOperator::Plus, Some(a), Some(b)) => a.plus(b),
                (ast::BinaryOperator::Minus, Some(a), Some(b)) => {
                    b.times(-1.0).and_then(|it| a.plus(it))
                }
                (ast::BinaryOperator::Multiply, Some(it), None) => match number(right) {
                    Some(factor) => it.times(factor),
                    None => return Err(unsupported("an INTERVAL times a value of a row", expr)),
                },
                (ast::BinaryOperator::Multiply, None, Some(it)) => match number(left) {
                    Some(factor) => it.times(factor),
                    None => return Err(unsupported("an INTERVAL times a value of a row", expr)),
                },
                (ast::BinaryOperator::Divide, Some(it), None) => match number(right) {
                    Some(divisor) if divisor != 0.0 => it.times(1.0 / divisor),
                    _ => return Err(unsupported("this division of an INTERVAL", expr)),
                },
                // Beside a date: the sum is no interval.
                _ => return Ok(None),
            };
            result.map(Some).ok_or_else(range)
        }
        _ => Ok(None),
    }
}

fn number(expr: &ast::Expr) -> Option<f64> {
    match expr {
        ast::Expr::Nested(inner) => number(inner),
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => number(expr).map(|it| -it),
        ast::Expr::Value(it) => match &it.value {
            ast::Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn literal(it: &ast::Interval) -> SqlResult<Interval> {
    let text = match &*it.value {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => Some(text.as_str()),
            other => super::literal::text_of(other),
        },
        _ => None,
    };
    let Some(text) = text else {
        return Err(unsupported("an INTERVAL of anything but a text", &*it.value));
    };
    if it.last_field.is_some() || it.leading_precision.is_some() {
        return Err(unsupported("INTERVAL with a range of fields", &*it.value));
    }
    let unit = it.leading_field.as_ref().map(field_name);
    parse(text, unit.as_deref()).ok_or_else(|| at(invalid(text), &*it.value))
}

fn field_name(field: &DateTimeField) -> String {
    field.to_string().to_lowercase()
}

fn invalid(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type interval: \"{text}\"");
    SqlError::new(SqlState("22007"), message)
}

fn out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_OVERFLOW, "interval out of range")
}

fn unit_of(name: &str) -> Option<[i64; 3]> {
    UNITS.iter().find(|it| it.0.contains(&name)).map(|it| it.1)
}

/// An interval as PostgreSQL spells it: `1 year 2 days`, `-3`, `04:05:06.5`, `1-2`, `2 days ago`, `P1Y2DT3H`.
fn parse(text: &str, unit: Option<&str>) -> Option<Interval> {
    let text = text.trim().to_lowercase();
    if let Some(designated) = text.strip_prefix('p') {
        return iso(designated);
    }
    let mut result = Interval::default();
    let spaced = space_units(&text);
    let mut words = spaced.split_whitespace().peekable();
    words.peek()?;
    while let Some(word) = words.next() {
        if word == "ago" && words.peek().is_none() {
            return result.times(-1.0);
        }
        if word == "@" {
            continue;
        }
        if word.contains(':') {
            result.add(clock(word)?, [0, 0, 1])?;
            continue;
        }
        if let Some((years, months)) = year_month(word) {
            result.add(years * 12.0 + months, [1, 0, 0])?;
            continue;
        }
        let count: f64 = word.parse().ok().filter(|it: &f64| it.is_finite())?;
        let named = words.next_if(|it| unit_of(it).is_some()).and_then(unit_of);
        let default = unit.and_then(unit_of).unwrap_or([0, 0, 1_000_000]);
        result.add(count, named.unwrap_or(default))?;
    }
    Some(result)
}

/// Blanks between numbers and the units right behind them.
fn space_units(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for it in text.chars() {
        let starts_unit = it.is_ascii_alphabetic() && before.is_ascii_digit();
        if starts_unit || it.is_ascii_digit() && before.is_ascii_alphabetic() {
            spaced.push(' ');
        }
        spaced.push(it);
        before = it;
    }
    spaced
}

/// Microseconds of `hours:minutes` or `hours:minutes:seconds`.
fn clock(word: &str) -> Option<f64> {
    let (sign, word) = match word.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, word.strip_prefix('+').unwrap_or(word)),
    };
    let mut parts = word.split(':');
    let mut part = || parts.next().map(|it| it.parse::<f64>().ok().filter(|it| *it >= 0.0));
    let (hours, minutes) = (part()??, part()??);
    let seconds = match part() {
        Some(it) => it?,
        None => 0.0,
    };
    if part().is_some() || minutes >= 60.0 || seconds > 60.0 {
        return None;
    }
    Some(sign * (hours * 3_600e6 + minutes * 60e6 + (seconds * 1e6).round()))
}

/// The years and months of `1-2`.
fn year_month(word: &str) -> Option<(f64, f64)> {
    let (sign, word) = match word.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, word),
    };
    let (years, months) = word.split_once('-')?;
    let months = months.parse::<u32>().ok().filter(|it| *it < 12)?;
    Some((sign * f64::from(years.parse::<u32>().ok()?), sign * f64::from(months)))
}

/// The form of ISO 8601 with designators, without its P.
fn iso(text: &str) -> Option<Interval> {
    let mut result = Interval::default();
    let (date, time) = match text.split_once('t') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut add = |part: &str, units: &[(char, [i64; 3])]| {
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find(|it: char| it.is_ascii_alphabetic())?;
            let count: f64 = rest[..end].parse().ok()?;
            let unit = rest[end..].chars().next()?;
            result.add(count, units.iter().find(|it| it.0 == unit)?.1)?;
            rest = &rest[end + 1..];
        }
        Some(())
    };
    add(date, &[('y', [12, 0, 0]), ('m', [1, 0, 0]), ('w', [0, 7, 0]), ('d', [0, 1, 0])])?;
    if let Some(time) = time {
        let (hour, minute, second) = (3_600_000_000, 60_000_000, 1_000_000);
        add(time, &[('h', [0, 0, hour]), ('m', [0, 0, minute]), ('s', [0, 0, second])])?;
    }
    (!text.is_empty()).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_postgres_reads_them() {
        let of = |text, unit| parse(text, unit).map(|it| (it.months, it.days, it.micros));
        assert_eq!(of("90", Some("day")), Some((0, 90, 0)));
        assert_eq!(of("1 year 2 months 3 days 04:05:06.5", None), Some((14, 3, 14_706_500_000)));
        assert_eq!(of("36 hours", None), Some((0, 0, 129_600_000_000)));
        assert_eq!(of("1.5 days", None), Some((0, 1, 43_200_000_000)));
        assert_eq!(of("1.5 months", None), Some((1, 15, 0)));
        assert_eq!(of("1-2", None), Some((14, 0, 0)));
        assert_eq!(of("2 days ago", None), Some((0, -2, 0)));
        assert_eq!(of("-1", Some("week")), Some((0, -7, 0)));
        assert_eq!(of("1h30m", None), Some((0, 0, 5_400_000_000)));
        assert_eq!(of("P1Y2M3DT4H", None), Some((14, 3, 14_400_000_000)));
        assert_eq!(of("7", None), Some((0, 0, 7_000_000)));
        for wrong in ["", "day", "1 fortnight", "1:2:3:4", "x"] {
            assert_eq!(of(wrong, None), None, "{wrong}");
        }
    }
}
