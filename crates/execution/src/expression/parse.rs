//! Values from text, as Postgres reads them. Blanks around a value do not count.

use types::{DataType, SqlError, SqlResult, SqlState};

use super::date::DAY;
use super::integers::{contains, divide_rounded, power_of_ten, type_range};

fn invalid(text: &str, data_type: DataType) -> SqlError {
    SqlError::new(
        SqlState::INVALID_TEXT,
        format!("invalid input syntax for type {data_type}: \"{text}\""),
    )
}

fn number_out_of_range(text: &str, data_type: DataType) -> SqlError {
    SqlError::new(
        SqlState::NUMERIC_OUT_OF_RANGE,
        format!("value \"{text}\" is out of range for type {data_type}"),
    )
}

fn date_out_of_range(text: &str) -> SqlError {
    SqlError::new(
        SqlState::DATETIME_OVERFLOW,
        format!("date/time field value out of range: \"{text}\""),
    )
    .with_hint("write dates as YYYY-MM-DD and times as HH:MM:SS")
}

/// A Boolean.
pub(super) fn boolean(text: &str) -> SqlResult<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "on" | "1" => Ok(true),
        "f" | "false" | "n" | "no" | "off" | "0" => Ok(false),
        _ => Err(invalid(text, DataType::Boolean)),
    }
}

/// An integer or decimal, as the unscaled integer of the type.
pub(super) fn exact(text: &str, data_type: DataType) -> SqlResult<i128> {
    let parsed = decimal_digits(text.trim()).ok_or_else(|| invalid(text, data_type))?;
    if data_type.is_integer() && (parsed.has_point || parsed.exponent != 0) {
        return Err(invalid(text, data_type));
    }
    let value =
        parsed.at_scale(data_type.scale()).filter(|&it| contains(type_range(data_type), (it, it)));
    value.ok_or_else(|| number_out_of_range(text, data_type))
}

/// The digits of a written number.
struct Digits<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    has_point: bool,
    exponent: i32,
}

fn decimal_digits(text: &str) -> Option<Digits<'_>> {
    let bytes = text.as_bytes();
    let (negative, bytes) = match bytes.first()? {
        b'-' => (true, &bytes[1..]),
        b'+' => (false, &bytes[1..]),
        _ => (false, bytes),
    };
    let (mantissa, exponent) = match bytes.iter().position(|it| matches!(it, b'e' | b'E')) {
        Some(place) => {
            let exponent = std::str::from_utf8(&bytes[place + 1..]).ok()?.parse().ok()?;
            (&bytes[..place], exponent)
        }
        None => (bytes, 0),
    };
    let (whole, fraction, has_point) = match mantissa.iter().position(|&it| it == b'.') {
        Some(place) => (&mantissa[..place], &mantissa[place + 1..], true),
        None => (mantissa, &b""[..], false),
    };
    let digits = whole.iter().chain(fraction).all(u8::is_ascii_digit);
    let some = !(whole.is_empty() && fraction.is_empty());
    (digits && some).then_some(Digits { negative, whole, fraction, has_point, exponent })
}

impl Digits<'_> {
    /// The unscaled integer at a scale, rounded half away from zero; `None` when 128 bits do not hold it.
    fn at_scale(&self, scale: u8) -> Option<i128> {
        // Digits kept: those before the point, moved by the exponent, and `scale` more.
        let kept =
            i64::try_from(self.whole.len()).ok()? + i64::from(self.exponent) + i64::from(scale);
        let digits = || self.whole.iter().chain(self.fraction).map(|it| i128::from(it - b'0'));
        let count = (self.whole.len() + self.fraction.len()) as i64;
        let mut value: i128 = 0;
        for digit in digits().take(usize::try_from(kept).unwrap_or(0)) {
            value = value.checked_mul(10)?.checked_add(digit)?;
        }
        if kept > count && value != 0 {
            value = value.checked_mul(power_of_ten(u32::try_from(kept - count).ok()?)?)?;
        }
        let rounded_up =
            usize::try_from(kept).is_ok_and(|kept| digits().nth(kept).is_some_and(|it| it >= 5));
        value += i128::from(rounded_up);
        Some(if self.negative { -value } else { value })
    }
}

/// A float.
pub(super) fn float(text: &str, data_type: DataType) -> SqlResult<f64> {
    let trimmed = text.trim();
    let lower = trimmed.to_ascii_lowercase();
    let value: f64 = match lower.as_str() {
        "nan" => f64::NAN,
        "infinity" | "inf" | "+infinity" | "+inf" => f64::INFINITY,
        "-infinity" | "-inf" => f64::NEG_INFINITY,
        _ => {
            let value: f64 = trimmed.parse().map_err(|_| invalid(text, data_type))?;
            let narrowed =
                if data_type == DataType::Real { f64::from(value as f32) } else { value };
            if narrowed.is_infinite() {
                return Err(number_out_of_range(text, data_type));
            }
            narrowed
        }
    };
    Ok(value)
}

/// A float as the unscaled integer of an exact type: the shortest digits that mean this float are rounded.
pub(super) fn exact_of_float(value: f64, data_type: DataType) -> SqlResult<i128> {
    let text = value.to_string();
    if !value.is_finite() {
        return Err(number_out_of_range(&text, data_type));
    }
    if data_type.is_integer() {
        // Halves go to the even integer, as in Postgres.
        let rounded = value.round_ties_even();
        if rounded.abs() >= 1e19
            || !contains(type_range(data_type), (rounded as i128, rounded as i128))
        {
            return Err(number_out_of_range(&text, data_type));
        }
        return Ok(rounded as i128);
    }
    exact(&text, data_type)
}

/// A date, as days from 1970-01-01. A time after it is left out.
pub(super) fn date(text: &str) -> SqlResult<i64> {
    let trimmed = text.trim();
    let (day, _) = trimmed.split_once(['T', ' ']).unwrap_or((trimmed, ""));
    let days = days(day, text, DataType::Date)?;
    i32::try_from(days).map(i64::from).map_err(|_| date_out_of_range(text))
}

fn days(day: &str, text: &str, data_type: DataType) -> SqlResult<i64> {
    let syntax = || invalid(text, data_type);
    let mut fields = day.splitn(3, '-');
    let mut field = |digits: std::ops::RangeInclusive<usize>| -> SqlResult<i64> {
        let field = fields.next().ok_or_else(syntax)?;
        let good = digits.contains(&field.len()) && field.bytes().all(|it| it.is_ascii_digit());
        if good { field.parse().map_err(|_| syntax()) } else { Err(syntax()) }
    };
    let (year, month, day) = (field(4..=7)?, field(1..=2)?, field(1..=2)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
        return Err(date_out_of_range(text));
    }
    Ok(days_from_civil(year, month, day))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 of a day of the proleptic Gregorian calendar; the inverse of `civil_from_days`.
pub(super) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// A timestamp, as microseconds from 1970-01-01.
pub(super) fn timestamp(text: &str) -> SqlResult<i64> {
    let trimmed = text.trim();
    let (day, time) = trimmed.split_once(['T', ' ']).unwrap_or((trimmed, ""));
    let days = days(day, text, DataType::Timestamp)?;
    let micros = if time.is_empty() { 0 } else { time_of_day(time.trim(), text)? };
    days.checked_mul(DAY)
        .and_then(|it| it.checked_add(micros))
        .ok_or_else(|| date_out_of_range(text))
}

fn time_of_day(time: &str, text: &str) -> SqlResult<i64> {
    let syntax = || invalid(text, DataType::Timestamp);
    let number = |field: &str, most: i64| -> SqlResult<i64> {
        if field.is_empty() || field.len() > 2 || !field.bytes().all(|it| it.is_ascii_digit()) {
            return Err(syntax());
        }
        let value = field.parse().map_err(|_| syntax())?;
        if value > most { Err(date_out_of_range(text)) } else { Ok(value) }
    };
    let mut fields = time.splitn(3, ':');
    let hour = number(fields.next().unwrap_or(""), 24)?;
    let minute = number(fields.next().ok_or_else(syntax)?, 59)?;
    let seconds = fields.next().unwrap_or("0");
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let second = number(second, 60)?;
    if !fraction.bytes().all(|it| it.is_ascii_digit()) {
        return Err(syntax());
    }
    // Seven digits are read so that the last one rounds.
    let digits: i64 = format!("{fraction:0<7.7}").parse().map_err(|_| syntax())?;
    let micros = divide_rounded(i128::from(digits), 10) as i64;
    let total = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
    if total > DAY { Err(date_out_of_range(text)) } else { Ok(total) }
}
