//! When two answers are the same.
//!
//! Rows compare as multisets, or as lists where the order is total. Numbers compare by value: exactly, unless one side
//! keeps more places of a quotient than the other.

use std::cmp::Ordering;

use crate::peers::reply::{Cell, Rows, Shown};

/// How near floats must be, relative to the larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(pub f64);

impl Tolerance {
    /// For queries over DOUBLE PRECISION.
    pub const DOUBLE: Self = Self(1e-9);
    /// For queries that name REAL, whose sums may be kept in either width.
    pub const REAL: Self = Self(1e-5);
}

/// How near quotients must be of which the sides keep different numbers of places.
const PLACES: f64 = 1e-12;

/// What differs, or nothing. `ours` says how columns compare.
pub fn difference(ours: &Rows, theirs: &Rows, ordered: bool, near: Tolerance) -> Option<String> {
    if ours.shown.len() != theirs.shown.len() {
        return Some(format!("{} columns, not {}", ours.shown.len(), theirs.shown.len()));
    }
    if ours.rows.len() != theirs.rows.len() {
        return Some(format!("{} rows, not {}", ours.rows.len(), theirs.rows.len()));
    }
    let same = |one: &Vec<Cell>, other: &Vec<Cell>| {
        let cells = one.iter().zip(other).zip(&ours.shown);
        cells.into_iter().all(|((one, other), &shown)| same_cell(one, other, shown, near))
    };
    let floats = ours.shown.contains(&Shown::Float);
    if ours.rows.iter().zip(&theirs.rows).all(|(one, other)| same(one, other)) {
        return None;
    }
    // Floats that differ by a rounding may stand in another order.
    if ordered && !floats {
        let matched = unmatched(ours, theirs, same).is_none();
        let what = if matched { "the order differs" } else { "rows differ" };
        return Some(what.to_owned());
    }
    unmatched(ours, theirs, same)
}

/// A row without a partner.
fn unmatched(
    ours: &Rows,
    theirs: &Rows,
    same: impl Fn(&Vec<Cell>, &Vec<Cell>) -> bool,
) -> Option<String> {
    let sorted = |rows: &Rows| {
        let mut rows = rows.rows.clone();
        rows.sort_by(|one, other| by_value(one, other, &ours.shown));
        rows
    };
    let (ours, mut theirs) = (sorted(ours), sorted(theirs));
    if ours.iter().zip(&theirs).all(|(one, other)| same(one, other)) {
        return None;
    }
    for row in &ours {
        match theirs.iter().position(|other| same(row, other)) {
            Some(at) => drop(theirs.swap_remove(at)),
            None => return Some("rows differ".to_owned()),
        }
    }
    None
}

fn by_value(one: &[Cell], other: &[Cell], shown: &[Shown]) -> Ordering {
    for ((one, other), shown) in one.iter().zip(other).zip(shown) {
        let order = match (one, other, shown) {
            (Some(one), Some(other), Shown::Exact | Shown::Float) => {
                match (one.parse::<f64>(), other.parse::<f64>()) {
                    (Ok(one), Ok(other)) => one.total_cmp(&other),
                    _ => one.cmp(other),
                }
            }
            (one, other, _) => one.cmp(other),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Whether two values are the same.
pub fn same_cell(one: &Cell, other: &Cell, shown: Shown, near: Tolerance) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one.is_none() && other.is_none() };
    if one == other {
        return true;
    }
    match shown {
        Shown::Text | Shown::Truth => false,
        Shown::Temporal => temporal(one) == temporal(other),
        Shown::Span => span(one).is_some_and(|it| span(other) == Some(it)),
        Shown::Float => same_float(one, other, near),
        Shown::Exact => {
            let (Some(left), Some(right)) = (Decimal::parse(one), Decimal::parse(other)) else {
                return same_float(one, other, near);
            };
            left.value() == right.value()
                || left.places != right.places && same_float(one, other, Tolerance(PLACES))
        }
    }
}

fn same_float(one: &str, other: &str, near: Tolerance) -> bool {
    let (Ok(one), Ok(other)) = (one.parse::<f64>(), other.parse::<f64>()) else { return false };
    if one.is_nan() || other.is_nan() || one.is_infinite() || other.is_infinite() {
        return one == other || one.is_nan() && other.is_nan();
    }
    let scale = one.abs().max(other.abs());
    (one - other).abs() <= near.0 * scale.max(1.0)
}

/// A date or timestamp in one spelling: years before 1 by number, no zone, no zeros behind the last digit of a fraction.
fn temporal(text: &str) -> String {
    let text = text.trim_start_matches('+').trim_end_matches("+00");
    let text = match text.strip_suffix(" BC").and_then(|it| Some((it, it.split_once('-')?))) {
        None => text.to_owned(),
        Some((_, (year, rest))) => {
            let year = 1 - year.parse::<i64>().unwrap_or_default();
            let sign = if year < 0 { "-" } else { "" };
            format!("{sign}{:04}-{rest}", year.abs())
        }
    };
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The microseconds of an interval as PostgreSQL writes it, a month being thirty days: equal intervals may look different.
fn span(text: &str) -> Option<i128> {
    let mut total = 0;
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word.contains(':') {
            let sign = if word.starts_with('-') { -1 } else { 1 };
            let mut seconds = 0.0;
            for part in word.trim_start_matches(['-', '+']).split(':') {
                seconds = seconds * 60.0 + part.parse::<f64>().ok()?;
            }
            total += sign * (seconds * 1e6).round() as i128;
            continue;
        }
        let days = match words.next()? {
            "year" | "years" => 360,
            "mon" | "mons" => 30,
            "day" | "days" => 1,
            _ => return None,
        };
        total += word.parse::<i128>().ok()? * days * 86_400_000_000;
    }
    Some(total)
}

/// A decimal as digits.
struct Decimal {
    negative: bool,
    /// Without zeros in front and behind the point.
    whole: String,
    fraction: String,
    /// Places behind the point as they were written.
    places: usize,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() && fraction.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        Some(Self {
            negative,
            whole: whole.trim_start_matches('0').to_owned(),
            fraction: fraction.trim_end_matches('0').to_owned(),
            places: fraction.len(),
        })
    }

    /// Two decimals are equal if this is; zero has no sign.
    fn value(&self) -> (bool, &str, &str) {
        let zero = self.whole.is_empty() && self.fraction.is_empty();
        (self.negative && !zero, &self.whole, &self.fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(shown: Shown, cells: &[Option<&str>]) -> Rows {
        let rows = cells.iter().map(|cell| vec![cell.map(str::to_owned)]).collect();
        Rows { shown: vec![shown], rows }
    }

    fn same(shown: Shown, one: &str, other: &str) -> bool {
        same_cell(&Some(one.to_owned()), &Some(other.to_owned()), shown, Tolerance::DOUBLE)
    }

    #[test]
    fn a_planted_difference_is_found() {
        let ours = rows(Shown::Exact, &[Some("1"), Some("2"), None]);
        let good = rows(Shown::Text, &[None, Some("2"), Some("1.0")]);
        assert_eq!(difference(&ours, &good, false, Tolerance::DOUBLE), None);
        assert!(difference(&ours, &good, true, Tolerance::DOUBLE).is_some());
        for bad in [
            &[None, Some("2"), Some("3")][..],
            &[None, Some("2"), Some("2")],
            &[None, Some("2")],
            &[None, None, Some("2")],
            &[Some(""), Some("2"), Some("1")],
        ] {
            let bad = rows(Shown::Text, bad);
            assert!(difference(&ours, &bad, false, Tolerance::DOUBLE).is_some(), "{bad:?}");
        }
    }

    #[test]
    fn decimals_are_equal_by_value_and_quotients_by_their_common_places() {
        assert!(same(Shown::Exact, "1.50", "1.5"));
        assert!(same(Shown::Exact, "-0.00", "0"));
        assert!(same(Shown::Exact, "3.3333333333333333", "3.33333333333333333333"));
        assert!(!same(Shown::Exact, "0.0000", "0.00001"));
        assert!(!same(Shown::Exact, "3.33333", "3.3333333333333333"));
        assert!(!same(Shown::Exact, "9223372036854775807", "9223372036854775806"));
        assert!(!same(Shown::Exact, "1.5", "1.6"));
        assert!(same(Shown::Exact, "100000000000000000000", "1e+20"));
    }

    #[test]
    fn floats_are_near() {
        assert!(same(Shown::Float, "0.30000000000000004", "0.3"));
        assert!(!same(Shown::Float, "0.3001", "0.3"));
        assert!(same(Shown::Float, "NaN", "NaN"));
        assert!(!same(Shown::Float, "inf", "1"));
        assert!(same(Shown::Float, "inf", "Infinity"));
    }

    #[test]
    fn times_have_one_spelling() {
        assert!(same(Shown::Temporal, "2024-01-01 00:00:00.500", "2024-01-01 00:00:00.5"));
        assert!(same(Shown::Temporal, "+10000-01-01", "10000-01-01"));
        assert!(same(Shown::Temporal, "0000-12-31", "0001-12-31 BC"));
        assert!(!same(Shown::Temporal, "2024-01-01", "2024-01-01 00:00:00"));
    }
}
