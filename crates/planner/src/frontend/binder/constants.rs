//! Constants: numbers and texts as they are spelt, dates, intervals.

use datafusion_sql::sqlparser::ast::{self, DateTimeField};
use plan::{Expr, ExprKind};
use types::value::civil_from_days;
use types::{DataType, Value};

use crate::frontend::functions::{AddInterval, days_from_civil};

/// A number or a text.
pub(super) fn literal(value: &ast::Value) -> Option<Expr> {
    match value {
        ast::Value::Number(text, _) => number(text, false),
        ast::Value::SingleQuotedString(text) => {
            Some(Expr::literal(Value::Text(text.as_str().into()), DataType::Text))
        }
        _ => None,
    }
}

/// A number after a minus.
pub(super) fn negative(expr: &ast::Expr) -> Option<Expr> {
    match expr {
        ast::Expr::Value(it) => match &it.value {
            ast::Value::Number(text, _) => number(text, true),
            _ => None,
        },
        _ => None,
    }
}

fn number(text: &str, negative: bool) -> Option<Expr> {
    let sign = if negative { -1 } else { 1 };
    let (whole, fraction) = match text.split_once('.') {
        Some(parts) => parts,
        None => {
            let value: i64 = text.parse().ok()?;
            return Some(Expr::literal(Value::Integer(sign * value), DataType::BigInt));
        }
    };
    let digits = || whole.bytes().chain(fraction.bytes());
    if !digits().all(|it| it.is_ascii_digit()) || whole.len() + fraction.len() > 38 {
        return None;
    }
    let unscaled = digits().fold(0i128, |sum, it| sum * 10 + i128::from(it - b'0'));
    let scale = fraction.len() as u8;
    // Zeros in front do not count, unless they stand after the point.
    let significant = unscaled.checked_ilog10().map_or(1, |it| it as u8 + 1);
    let value = Value::Decimal { unscaled: i128::from(sign) * unscaled, scale };
    Some(Expr::literal(value, DataType::Decimal { precision: significant.max(scale), scale }))
}

/// A text as a date, when it spells one in full.
pub(super) fn date(text: &str) -> Option<Expr> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let part = |from: usize, to: usize| {
        let digits = &bytes[from..to];
        let all = digits.iter().all(u8::is_ascii_digit);
        all.then(|| digits.iter().fold(0, |sum, it| sum * 10 + u32::from(it - b'0')))
    };
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    if !(1..=12).contains(&month) {
        return None;
    }
    let days = days_from_civil(i64::from(year), month) + i64::from(day) - 1;
    let exists = civil_from_days(days) == (i64::from(year), month, day);
    exists.then(|| Expr::literal(Value::Date(days as i32), DataType::Date))
}

/// `DATE '..'`.
pub(super) fn typed(it: &ast::TypedString) -> Option<Expr> {
    match (&it.data_type, &it.value.value) {
        (ast::DataType::Date, ast::Value::SingleQuotedString(text)) if !it.uses_odbc_syntax => {
            date(text)
        }
        _ => None,
    }
}

/// The text of a constant.
pub(super) fn text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// An interval of whole days, months or years: months and days.
pub(super) fn interval(it: &ast::Interval) -> Option<(i32, i32)> {
    let ast::Interval {
        value,
        leading_field,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    } = it
    else {
        return None;
    };
    let ast::Expr::Value(value) = &**value else { return None };
    let text = match &value.value {
        ast::Value::SingleQuotedString(text) | ast::Value::Number(text, _) => text,
        _ => return None,
    };
    let (count, unit) = match (leading_field, text.split_once(' ')) {
        (Some(DateTimeField::Year | DateTimeField::Years), None) => (text.as_str(), "year"),
        (Some(DateTimeField::Month | DateTimeField::Months), None) => (text.as_str(), "month"),
        (Some(DateTimeField::Day | DateTimeField::Days), None) => (text.as_str(), "day"),
        (None, Some((count, unit))) => (count, unit),
        _ => return None,
    };
    let count: i32 = count.parse().ok()?;
    match unit {
        "year" | "years" => Some((count.checked_mul(12)?, 0)),
        "month" | "months" => Some((count, 0)),
        "day" | "days" => Some((0, count)),
        _ => None,
    }
}

/// A date plus months and days.
pub(super) fn later(date: Expr, months: i32, days: i32) -> Option<Expr> {
    let function = AddInterval::new(months, days, 0);
    if let ExprKind::Literal(Value::Date(from)) = date.kind {
        let days = i32::try_from(function.on_days(i64::from(from))).ok()?;
        return Some(Expr::literal(Value::Date(days), DataType::Date));
    }
    let function = stdx::sync::Arc::new(function);
    let kind = ExprKind::Function { function, arguments: vec![date] };
    Some(Expr { kind, data_type: DataType::Date })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_are_written() {
        let of = |text| number(text, false).map(|it| it.data_type);
        let decimal = |precision, scale| Some(DataType::Decimal { precision, scale });
        assert_eq!(of("7"), Some(DataType::BigInt));
        assert_eq!(of("7.0"), decimal(2, 1));
        assert_eq!(of("0.0001"), decimal(4, 4));
        assert_eq!(of("0.00"), decimal(2, 2));
        assert_eq!(of("00100.00"), decimal(5, 2));
        assert_eq!(of("5."), decimal(1, 0));
        assert_eq!(of(".5"), decimal(1, 1));
        for other in ["1e3", "1.5e3", "1_000", "9223372036854775808", "."] {
            assert!(other == "." || of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn dates_are_days_of_the_calendar() {
        let of = |text| date(text).map(|it| it.kind);
        assert_eq!(of("1970-01-02"), Some(ExprKind::Literal(Value::Date(1))));
        for wrong in
            ["1995-02-29", "1995-13-01", "1995-00-01", "1995-1-1", "95-01-01", "1995-01-00"]
        {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        let end = date("2000-02-29").and_then(|it| later(it, 12, 0));
        assert_eq!(end, date("2001-02-28"));
    }
}
