//! The fields of intervals as statements say them: `INTERVAL '1' DAY TO SECOND(2)`, the type `INTERVAL YEAR`.

use sqlparser::ast::{self, DateTimeField, IntervalFields};
use types::numeric::interval::Interval;
use types::numeric::interval_text::{self, Fields, Unit};
use types::numeric::number::Limits;
use types::{SqlError, SqlResult, SqlState};

use crate::syntax::unsupported;

/// The fields behind a constant.
pub(crate) fn fields(it: &ast::Interval) -> SqlResult<Fields> {
    let unit = |field: &DateTimeField| {
        let name = field.to_string();
        let known = Unit::of_field(&name);
        known.ok_or_else(|| syntax(format!("syntax error: an interval has no field {name}")))
    };
    let first = it.leading_field.as_ref().map(unit).transpose()?;
    let last = it.last_field.as_ref().map(unit).transpose()?;
    let digits = match (first, it.leading_precision, it.fractional_seconds_precision) {
        (Some(Unit::Second), digits, None) | (_, None, digits) => digits,
        _ => return Err(syntax("syntax error: only seconds have digits after the point")),
    };
    let range = match (first, last) {
        (Some(first), Some(last)) => Some(ordered(first, last)?),
        (Some(unit), None) => Some((unit, unit)),
        _ => None,
    };
    Ok(Fields { range, digits: digits.map(|it| it.min(6) as u8), ..Fields::default() })
}

/// Two fields, if SQL lets one be followed by the other.
fn ordered(first: Unit, last: Unit) -> SqlResult<(Unit, Unit)> {
    let order = [Unit::Day, Unit::Hour, Unit::Minute, Unit::Second];
    let place = |unit| order.iter().position(|it| *it == unit);
    match (place(first), place(last)) {
        (Some(a), Some(b)) if a < b => Ok((first, last)),
        _ if (first, last) == (Unit::Year, Unit::Month) => Ok((first, last)),
        _ => Err(syntax("syntax error: an interval has no such range of fields")),
    }
}

fn syntax(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::SYNTAX, message)
}

/// The digits of a type of numbers, where they are not those of a DECIMAL.
pub(crate) fn limits(data_type: &ast::DataType) -> SqlResult<Option<Limits>> {
    use ast::DataType as Sql;
    let (Sql::Decimal(said) | Sql::Numeric(said) | Sql::Dec(said)) = data_type else {
        return Ok(None);
    };
    let (precision, scale) = match said {
        ast::ExactNumberInfo::None => return Ok(None),
        ast::ExactNumberInfo::Precision(precision) => (*precision, 0),
        ast::ExactNumberInfo::PrecisionAndScale(precision, scale) => (*precision, *scale),
    };
    let limits = Limits::new(precision, scale)?;
    let is_decimal = precision <= 38 && (0..=precision as i64).contains(&scale);
    Ok((!is_decimal).then_some(limits))
}

/// The fields of a type of intervals, the digits of one of times, and those of a number that is no DECIMAL; nothing where none
/// are said, and for other types.
pub(crate) fn fields_of_type(data_type: &ast::DataType) -> Option<Fields> {
    // More digits than there are mean all.
    let said = |it: &u64| (*it).min(6) as u8;
    if let ast::DataType::Timestamp(precision, _) | ast::DataType::Time(precision, _) = data_type {
        return precision.as_ref().map(|it| Fields { digits: Some(said(it)), ..Fields::default() });
    }
    if let Some(number) = limits(data_type).ok().flatten() {
        return Some(Fields { number: Some(number), ..Fields::default() });
    }
    let ast::DataType::Interval { fields, precision } = data_type else { return None };
    let range = fields.as_ref().map(|it| match it {
        IntervalFields::Year => (Unit::Year, Unit::Year),
        IntervalFields::Month => (Unit::Month, Unit::Month),
        IntervalFields::Day => (Unit::Day, Unit::Day),
        IntervalFields::Hour => (Unit::Hour, Unit::Hour),
        IntervalFields::Minute => (Unit::Minute, Unit::Minute),
        IntervalFields::Second => (Unit::Second, Unit::Second),
        IntervalFields::YearToMonth => (Unit::Year, Unit::Month),
        IntervalFields::DayToHour => (Unit::Day, Unit::Hour),
        IntervalFields::DayToMinute => (Unit::Day, Unit::Minute),
        IntervalFields::DayToSecond => (Unit::Day, Unit::Second),
        IntervalFields::HourToMinute => (Unit::Hour, Unit::Minute),
        IntervalFields::HourToSecond => (Unit::Hour, Unit::Second),
        IntervalFields::MinuteToSecond => (Unit::Minute, Unit::Second),
    });
    let digits = precision.as_ref().map(said);
    (range.is_some() || digits.is_some()).then_some(Fields { range, digits, ..Fields::default() })
}

/// The hours ahead of UTC that `SET TIME ZONE INTERVAL '..'` says.
pub(crate) fn hours_of_zone(it: &ast::Interval) -> SqlResult<String> {
    let text = match &*it.value {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    };
    let Some(text) = text else {
        return Err(unsupported("a time zone that is an INTERVAL of anything but a text"));
    };
    let Interval { months, days, micros } = interval_text::parse(text, fields(it)?)?;
    if months != 0 || days != 0 {
        let message = "interval value must not include months or days";
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    }
    Ok((micros as f64 / 3.6e9).to_string())
}
