//! Casts and assignment of single values.

use std::borrow::Cow;

use super::address::Address;
use super::errors::{
    cannot_assign, cannot_cast, date_beyond_timestamp, no_label, out_of_range, too_long,
};
use super::interval::Interval;
use super::interval_text::{self, Fields};
use super::number::{self, Number};
use super::time_tz::TimeTz;
use super::types::{is_assignable, is_castable};
use super::{bit_text, bytes, datetime, decimal, float, format, spelling, uuid};
use crate::{
    DataType, Network, Range, SqlError, SqlResult, Styles, Value, Zone, array, json, ranges,
    structs,
};

/// Bytes of a `name`, which is PostgreSQL's limit.
pub const NAME_BYTES: usize = 63;

/// `CAST(value AS to)`. A text that is longer than its type is cut; blanks at the end of CHAR do not count and are not kept,
/// but CHAR(n) fills its n characters with them where it becomes CHAR of no one length.
///
/// # Errors
/// 42846 where there is no such cast; 22P02, 22007, 22003, 22008 where the value is not one of the type.
pub fn cast(value: &Value, from: DataType, to: DataType) -> SqlResult<Value> {
    cast_in(value, from, to, &Zone::utc())
}

/// As [`cast`], in a session whose clocks show the time of a zone
/// ([`depends_on_zone`](super::depends_on_zone) tells where that counts).
///
/// # Errors
/// As of [`cast`].
pub fn cast_in(value: &Value, from: DataType, to: DataType, zone: &Zone) -> SqlResult<Value> {
    cast_with(value, from, to, zone, false)
}

/// As [`cast_in`], with NULL in the place of what is not a value of the type: of an item or a field where only that is none, and else
/// of the whole.
///
/// # Errors
/// Those of [`cast`] that are not about the value.
pub fn try_cast_in(value: &Value, from: DataType, to: DataType, zone: &Zone) -> SqlResult<Value> {
    or_null(cast_with(value, from, to, zone, true), true)
}

/// NULL in the place of an error about a value, where that is wanted.
fn or_null(value: SqlResult<Value>, tries: bool) -> SqlResult<Value> {
    match value {
        Err(error) if tries && error.state.is_data_exception() => Ok(Value::Null),
        value => value,
    }
}

fn cast_with(
    value: &Value,
    from: DataType,
    to: DataType,
    zone: &Zone,
    tries: bool,
) -> SqlResult<Value> {
    if value.is_null() || from == to {
        return Ok(value.clone());
    }
    if !is_castable(source(value, from), to) {
        return Err(cannot_cast(from, to));
    }
    if let Value::Text(it) = value {
        let mut part = |it: &Value, from, to| or_null(cast_with(it, from, to, zone, tries), tries);
        if let Some(made) = structs::cast(it, source(value, from), to, &mut part) {
            return made;
        }
    }
    if let (Some(element), Value::Text(it)) = (to.element(), value) {
        return array_of(it, from, (to, element), zone, tries);
    }
    if let (Some(_), Value::Text(it)) = (to.range(), value) {
        return range_of(it, from, to, zone);
    }
    if to.is_text() {
        let text = text_of(value, from, zone)?;
        return Ok(match (from, to) {
            (DataType::Char(length), DataType::Bpchar) => {
                Value::Text(format::padded(&text, length).into())
            }
            _ => Value::Text(shortened(&text, to).into()),
        });
    }
    let from = from.plain();
    match (source(value, from), value) {
        _ if to == DataType::TimeTz => in_zone(value, source(value, from), zone),
        (DataType::TimestampTz, Value::Timestamp(it)) if to != DataType::TimestampTz => {
            let local = zone.local(*it).ok_or_else(|| out_of_range(DataType::Timestamp))?;
            converted(&Value::Timestamp(local), DataType::Timestamp, to)
        }
        (_, Value::Text(it)) if to == DataType::TimestampTz => {
            Ok(Value::Timestamp(datetime::parse_moment(it, zone)?))
        }
        (DataType::Date | DataType::Timestamp, _) if to == DataType::TimestampTz => {
            let Value::Timestamp(local) = cast(value, from, DataType::Timestamp)? else {
                return Err(mismatch(value, from));
            };
            let moment = zone.moment(local).ok_or_else(|| out_of_range(to))?;
            Ok(Value::Timestamp(moment))
        }
        (of, Value::Text(it)) if of.is_text() && zone.styles().reads(to) => {
            parse_in(it, to, zone.styles())
        }
        _ => converted(value, from, to),
    }
}

/// An array, or a text that says one, as an array of another type.
fn array_of(
    value: &str,
    from: DataType,
    (to, element): (DataType, DataType),
    zone: &Zone,
    tries: bool,
) -> SqlResult<Value> {
    let held = match from.element() {
        Some(own) => array::converted(value, own, &mut |item| {
            or_null(cast_with(item, own, element, zone, tries), tries)
        })?,
        None => {
            let mut read = |item: &str| {
                let item = Value::Text(item.into());
                or_null(cast_with(&item, DataType::Text, element, zone, tries), tries)
            };
            match to {
                DataType::Array(it) if it.is_of_vector() => array::parse_vector(value, &mut read)?,
                _ => array::parse(value, &mut read)?,
            }
        }
    };
    Ok(Value::Text(held.into()))
}

/// A range as the set of itself, or a text that says a range or a set.
fn range_of(text: &str, from: DataType, to: DataType, zone: &Zone) -> SqlResult<Value> {
    let read = |of: Range| {
        move |it: &str| cast_with(&Value::Text(it.into()), DataType::Text, of.bound(), zone, false)
    };
    let held = match to {
        _ if from.range().is_some() => return Ok(Value::Text(text.into())),
        DataType::Range(of) => ranges::parse(text, of, &mut read(of))?,
        DataType::Multirange(of) => ranges::parse_set(text, of, &mut read(of))?,
        _ => return Err(cannot_cast(from, to)),
    };
    Ok(Value::Text(held.into()))
}

/// A text, a moment or a time of day as a time of day by the clocks that it names, or by those of a zone.
fn in_zone(value: &Value, from: DataType, zone: &Zone) -> SqlResult<Value> {
    let time = match (from, value) {
        (_, Value::Text(it)) => datetime::parse_time_tz(it, zone)?,
        // At no time of a day.
        (_, Value::Timestamp(it)) if datetime::is_infinite(*it) => return Ok(Value::Null),
        (DataType::TimestampTz, Value::Timestamp(it)) => {
            TimeTz::at(it.rem_euclid(datetime::DAY), zone.ahead_at(*it))?
        }
        (DataType::Time, Value::Integer(it)) => {
            TimeTz::new(*it, zone.ahead_of_local(zone.today() * datetime::DAY + it))?
        }
        _ => return Err(mismatch(value, from)),
    };
    Ok(Value::Integer(time.held()))
}

/// What a column of type `to` stores for a value in INSERT, COPY and UPDATE. Like a cast, but text is not cut: only blanks at its
/// end may go. A text of type NULL is a literal of no type yet, and is read as one of the column's.
///
/// # Errors
/// 42804 where the column does not take values of the type, 22001 for a text that is too long, and those of [`cast`].
pub fn assign(value: &Value, from: DataType, to: DataType, column: &str) -> SqlResult<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let literal = from == DataType::Null;
    if !literal && !is_assignable(from, to) {
        return Err(cannot_assign(column, from, to));
    }
    if let Value::Text(it) = value {
        let mut part = |it: &Value, from, to| match from {
            DataType::Text => assign(it, DataType::Null, to, column),
            _ => assign(it, from, to, column),
        };
        if let Some(made) = structs::cast(it, from, to, &mut part) {
            return made;
        }
    }
    if let (Some(element), Value::Text(it)) = (to.element(), value) {
        let held = match from.element() {
            Some(own) => array::converted(it, own, &mut |item| assign(item, own, element, column))?,
            None => array::parse(it, &mut |item| {
                assign(&Value::Text(item.into()), DataType::Null, element, column)
            })?,
        };
        return Ok(Value::Text(held.into()));
    }
    if to.is_text() {
        let text = text_of(value, from, &Zone::utc())?;
        return Ok(Value::Text(fitting(&text, to)?.into()));
    }
    if let DataType::Bits(of) = to {
        let bits = cast(value, source(value, from), DataType::Bits(of.unlimited()))?;
        if let Value::Text(it) = &bits {
            bit_text::check(it, of)?;
        }
        return Ok(bits);
    }
    cast(value, source(value, from), to)
}

/// The part of a text that a column of a type of text stores.
///
/// # Errors
/// 22001 where more than blanks would be lost.
pub fn fitting(text: &str, to: DataType) -> SqlResult<&str> {
    let kept = shortened(text, to);
    // What is more than a letter or a name has is left out, as PostgreSQL does it.
    if matches!(to, DataType::Letter | DataType::Name) {
        return Ok(kept);
    }
    let lost = text.get(kept.len()..).unwrap_or("");
    if lost.bytes().all(|it| it == b' ') { Ok(kept) } else { Err(too_long(to)) }
}

/// A text cut to the length of its type, and for CHAR without the blanks at its end.
pub fn shortened(text: &str, to: DataType) -> &str {
    let first = |most: u32| match text.char_indices().nth(most as usize) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    match to {
        DataType::Char(most) => first(most).trim_end_matches(' '),
        DataType::VARCHAR => text,
        DataType::Varchar(most) => first(most),
        DataType::Letter => first(1),
        DataType::Name => &text[..text.floor_char_boundary(NAME_BYTES)],
        _ => text,
    }
}

/// The type of a value whose type is not known yet: texts are read.
fn source(value: &Value, from: DataType) -> DataType {
    match (from, value) {
        (DataType::Null, Value::Text(_)) => DataType::Text,
        _ => from,
    }
}

fn text_of<'a>(value: &'a Value, from: DataType, zone: &Zone) -> SqlResult<Cow<'a, str>> {
    Ok(match value {
        Value::Null => return Err(mismatch(value, from)),
        Value::Text(it) if from == DataType::Bpchar => Cow::Borrowed(it.trim_end_matches(' ')),
        Value::Text(it)
            if !matches!(
                from,
                DataType::Bytea
                    | DataType::Array(_)
                    | DataType::Struct(_)
                    | DataType::Map(_)
                    | DataType::Numeric
                    | DataType::Network(_)
                    | DataType::Range(_)
                    | DataType::Multirange(_)
            ) =>
        {
            Cow::Borrowed(it)
        }
        Value::Boolean(it) => Cow::Borrowed(format::boolean(*it)),
        // Not as it is shown, but with its mask.
        Value::Text(it) if matches!(from, DataType::Network(_)) => {
            let mut out = String::new();
            Address::of_held(it).format_whole(&mut out);
            Cow::Owned(out)
        }
        _ => {
            let mut out = String::new();
            format::value(value, from, zone, &mut out);
            Cow::Owned(out)
        }
    })
}

/// A value that is none of the type it comes with.
fn mismatch(value: &Value, of: DataType) -> SqlError {
    SqlError::internal(format!("{value} is no value of type {of}"))
}

/// An address as one of a type: of CIDR its network.
fn address_as(held: &str, to: Network) -> Value {
    Value::Text(match to {
        Network::Inet => held.into(),
        Network::Cidr => Address::of_held(held).network().held().into(),
    })
}

fn converted(value: &Value, from: DataType, to: DataType) -> SqlResult<Value> {
    let single = to == DataType::Real;
    match (value, to) {
        (Value::Text(it), _) if from == DataType::Bytea => number_of_bytes(it, to),
        (Value::Text(it), DataType::Bits(to)) if matches!(from, DataType::Bits(_)) => {
            Ok(Value::Text(bit_text::shaped(it, to).into()))
        }
        (Value::Text(it), _) if matches!(from, DataType::Bits(_)) => bit_text::integer(it, to),
        (Value::Integer(it), DataType::Bits(to)) => {
            Ok(Value::Text(bit_text::of_integer(*it, to).into()))
        }
        (Value::Text(it), DataType::Network(to)) if matches!(from, DataType::Network(_)) => {
            Ok(address_as(it, to))
        }
        (Value::Text(it), DataType::Json) if from == DataType::Jsonb => Ok(Value::Text(it.clone())),
        (Value::Text(it), _) if from == DataType::Jsonb && !to.is_json() => json::scalar(it, to),
        (Value::Text(it), _) if from == DataType::Numeric => of_number(it, to),
        (Value::Text(it), _) => parse(it, to),
        (Value::Integer(_), DataType::Enum(_)) => parse(&text_of(value, from, &Zone::utc())?, to),
        (Value::Integer(it), DataType::Bytea) => Ok(bytes_of_number(*it, from)),
        (Value::Integer(it), DataType::Time) if from == DataType::TimeTz => {
            Ok(Value::Integer(TimeTz::of_held(*it).micros))
        }
        (Value::Integer(it), DataType::Interval) => Ok(held_interval(Interval::new(0, 0, *it)?)),
        (Value::Decimal { unscaled, .. }, DataType::Time) if from == DataType::Interval => {
            Ok(Value::Integer(Interval::of_held(*unscaled).micros.rem_euclid(datetime::DAY)))
        }
        // At no time of a day.
        (Value::Timestamp(it), DataType::Time) if datetime::is_infinite(*it) => Ok(Value::Null),
        (Value::Timestamp(it), DataType::Time) => Ok(Value::Integer(it.rem_euclid(datetime::DAY))),
        (Value::Boolean(it), DataType::Boolean) => Ok(Value::Boolean(*it)),
        (Value::Boolean(it), DataType::Integer) => Ok(Value::Integer(i64::from(*it))),
        (Value::Boolean(it), DataType::Whole(_)) => exact_value(i128::from(*it), to),
        (Value::Integer(it), DataType::Boolean) => Ok(Value::Boolean(*it != 0)),
        (Value::Decimal { unscaled, .. }, DataType::Boolean) => Ok(Value::Boolean(*unscaled != 0)),
        (Value::Integer(it), _) if to.is_float() => {
            Ok(Value::Float(float::of_exact(i128::from(*it), 0, single)))
        }
        (Value::Decimal { unscaled, scale }, _) if to.is_float() => {
            Ok(Value::Float(float::of_exact(*unscaled, *scale, single)))
        }
        (Value::Integer(it), DataType::Numeric) => {
            Ok(Value::Text(number::of_integer(i128::from(*it), 0).into()))
        }
        (Value::Decimal { unscaled, scale }, DataType::Numeric) => {
            Ok(Value::Text(number::of_integer(*unscaled, (*scale).into()).into()))
        }
        (Value::Float(it), DataType::Numeric) => {
            held_number(&Number::of_float(*it, from == DataType::Real)?)
        }
        (Value::Float(it), DataType::Real) => Ok(Value::Float(float::to_single(*it)?)),
        (Value::Float(it), DataType::Double) => Ok(Value::Float(*it)),
        (Value::Float(it), _) if to.is_exact() => {
            exact_value(float::to_exact(*it, from == DataType::Real, to)?, to)
        }
        (Value::Integer(it), _) if to.is_exact() => rescaled(i128::from(*it), 0, to),
        (Value::Decimal { unscaled, scale }, _) if to.is_exact() => rescaled(*unscaled, *scale, to),
        (Value::Date(it), DataType::Date) => Ok(Value::Date(*it)),
        (Value::Date(it), DataType::Timestamp) => datetime::timestamp_of_date(i64::from(*it))
            .map(Value::Timestamp)
            .ok_or_else(date_beyond_timestamp),
        (Value::Timestamp(it), DataType::Timestamp) => Ok(Value::Timestamp(*it)),
        (Value::Timestamp(it), DataType::Date) => {
            exact_value(i128::from(datetime::date_of_timestamp(*it)), to)
        }
        _ => Err(mismatch(value, from)),
    }
}

/// What holds a number of any scale as a value of another type.
fn of_number(held: &str, to: DataType) -> SqlResult<Value> {
    match to {
        DataType::Numeric => Ok(Value::Text(held.into())),
        _ if to.is_float() => number::float_of(held, to == DataType::Real).map(Value::Float),
        _ => exact_value(number::exact_of(held, to)?, to),
    }
}

/// A number of any scale as a value.
///
/// # Errors
/// 22003 for more digits than there may be.
fn held_number(it: &Number) -> SqlResult<Value> {
    Ok(Value::Text(it.held()?.into()))
}

/// An interval as a value.
pub fn held_interval(it: Interval) -> Value {
    Value::Decimal { unscaled: it.held(), scale: 0 }
}

/// The bytes of a number, the greatest first.
fn bytes_of_number(value: i64, from: DataType) -> Value {
    let all = value.to_be_bytes();
    let count = match from {
        DataType::SmallInt => 2,
        DataType::Integer => 4,
        _ => 8,
    };
    Value::Text(bytes::held(&all[8 - count..]).into())
}

fn number_of_bytes(held: &str, to: DataType) -> SqlResult<Value> {
    let bytes = bytes::bytes_of(held);
    let size = match to {
        DataType::SmallInt => 2,
        DataType::Integer => 4,
        _ => 8,
    };
    if bytes.len() > size {
        return Err(out_of_range(to));
    }
    // The sign is that of a number of as many bytes as the type has.
    let value = bytes.iter().fold(0u64, |value, it| value << 8 | u64::from(*it));
    Ok(Value::Integer(match to {
        DataType::SmallInt => i64::from(value as i16),
        DataType::Integer => i64::from(value as i32),
        _ => value as i64,
    }))
}

fn rescaled(unscaled: i128, scale: u8, to: DataType) -> SqlResult<Value> {
    let rescaled = decimal::rescale(unscaled, scale, to.scale());
    exact_value(rescaled.ok_or_else(|| out_of_range(to))?, to)
}

/// An unscaled integer as a value of an exact type.
pub(super) fn exact_value(unscaled: i128, to: DataType) -> SqlResult<Value> {
    if !decimal::fits(unscaled, to) {
        return Err(out_of_range(to));
    }
    let value = match to.stored() {
        DataType::Decimal { scale, .. } => Some(Value::Decimal { unscaled, scale }),
        DataType::Date => i32::try_from(unscaled).ok().map(Value::Date),
        DataType::Timestamp => i64::try_from(unscaled).ok().map(Value::Timestamp),
        _ => i64::try_from(unscaled).ok().map(Value::Integer),
    };
    value.ok_or_else(|| out_of_range(to))
}

/// A text as a value in the style of a session.
fn parse_in(text: &str, to: DataType, styles: Styles) -> SqlResult<Value> {
    match to {
        DataType::Date => exact_value(i128::from(datetime::parse_date_in(text, styles.order)?), to),
        DataType::Timestamp => {
            Ok(Value::Timestamp(datetime::parse_timestamp_in(text, styles.order)?))
        }
        DataType::Interval => {
            let read = interval_text::parse_in(text, Fields::default(), styles.intervals)?;
            Ok(held_interval(read))
        }
        _ => parse(text, to),
    }
}

fn parse(text: &str, to: DataType) -> SqlResult<Value> {
    match to {
        DataType::Boolean => Ok(Value::Boolean(spelling::boolean(text)?)),
        DataType::Date => exact_value(i128::from(datetime::parse_date(text)?), to),
        DataType::Timestamp => Ok(Value::Timestamp(datetime::parse_timestamp(text)?)),
        DataType::Time => Ok(Value::Integer(datetime::parse_time(text)?)),
        DataType::Interval => Ok(held_interval(interval_text::parse(text, Fields::default())?)),
        DataType::Numeric => held_number(&Number::parse(text)?),
        DataType::Uuid => Ok(Value::Text(uuid::parse(text)?.into())),
        DataType::Bits(to) => Ok(Value::Text(bit_text::shaped(&bit_text::parse(text)?, to).into())),
        DataType::Network(of) => Ok(Value::Text(Address::parse(text, of)?.held().into())),
        DataType::Bytea => Ok(Value::Text(bytes::parse(text)?.into())),
        DataType::Json => json::check(text).map(|_| Value::Text(text.into())),
        DataType::Jsonb => Ok(Value::Text(json::normal(text)?.into())),
        DataType::Enum(it) => it.place(text).map(Value::Integer).ok_or_else(|| no_label(text, it)),
        _ if to.is_float() => Ok(Value::Float(spelling::float(text, to)?)),
        _ => exact_value(spelling::exact(text, to)?, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(it: &str) -> Value {
        Value::Text(it.into())
    }

    #[test]
    fn casts_cut_texts_and_assignment_does_not() {
        let (char3, varchar3, t) = (DataType::Char(3), DataType::Varchar(3), DataType::Text);
        assert_eq!(cast(&text("abcdef"), t, varchar3), Ok(text("abc")));
        assert_eq!(
            cast(&text("\u{e4}\u{f6}\u{fc}\u{df}"), t, varchar3),
            Ok(text("\u{e4}\u{f6}\u{fc}"))
        );
        assert_eq!(cast(&text("a "), t, char3), Ok(text("a")));
        assert_eq!(cast(&text("a  b"), t, char3), Ok(text("a")));
        assert_eq!(cast(&Value::Integer(12345), DataType::Integer, varchar3), Ok(text("123")));
        assert_eq!(cast(&text("\u{e4}"), char3, DataType::Bpchar), Ok(text("\u{e4}  ")));
        assert_eq!(cast(&text("a "), t, DataType::Bpchar), Ok(text("a ")));
        assert_eq!(cast(&text("a "), DataType::Bpchar, t), Ok(text("a")));
        assert_eq!(cast(&text("a   "), DataType::Bpchar, varchar3), Ok(text("a")));
        let assigned = |it: &str, to| assign(&text(it), t, to, "c").map_err(|it| it.state.0);
        assert_eq!(assigned("abcd", varchar3), Err("22001"));
        assert_eq!(assigned("abc  ", varchar3), Ok(text("abc")));
        assert_eq!(assigned("ab  ", varchar3), Ok(text("ab ")));
        assert_eq!(assigned("ab  ", char3), Ok(text("ab")));
        assert_eq!(assigned("ab  c", char3), Err("22001"));
        assert_eq!(assigned("ab    ", char3), Ok(text("ab")));
        assert_eq!(assigned("7", DataType::Integer), Err("42804"));
        let long = assign(&Value::Integer(12345), DataType::Integer, varchar3, "c");
        assert_eq!(long.map_err(|it| it.state.0), Err("22001"));
        let literal = assign(&text("7"), DataType::Null, DataType::Integer, "c");
        assert_eq!(literal, Ok(Value::Integer(7)));
    }

    #[test]
    fn assignment_rounds_and_checks_ranges() {
        let decimal = |unscaled, scale| Value::Decimal { unscaled, scale };
        let type_of = |precision, scale| DataType::Decimal { precision, scale };
        let stored = |it, from, to| assign(&it, from, to, "c").map_err(|it| it.state.0);
        assert_eq!(stored(decimal(27, 1), type_of(2, 1), DataType::Integer), Ok(Value::Integer(3)));
        assert_eq!(stored(decimal(25, 1), type_of(2, 1), DataType::Integer), Ok(Value::Integer(3)));
        let half = stored(Value::Float(2.5), DataType::Double, DataType::Integer);
        assert_eq!(half, Ok(Value::Integer(2)));
        let big = stored(Value::Integer(40000), DataType::Integer, DataType::SmallInt);
        assert_eq!(big, Err("22003"));
        let seven = stored(Value::Integer(7), DataType::Integer, type_of(4, 2));
        assert_eq!(seven, Ok(decimal(700, 2)));
        assert_eq!(stored(Value::Integer(700), DataType::Integer, type_of(4, 2)), Err("22003"));
        let date = stored(Value::Integer(700), DataType::Integer, DataType::Date);
        assert_eq!(date, Err("42804"));
        assert_eq!(stored(Value::Null, DataType::Text, DataType::Date), Ok(Value::Null));
    }

    #[test]
    fn casts_that_there_are_not() {
        let state = |it, from, to| cast(&it, from, to).map_err(|it| it.state.0);
        let (int, big) = (DataType::Integer, DataType::BigInt);
        assert_eq!(state(Value::Integer(1), big, DataType::Boolean), Err("42846"));
        assert_eq!(state(Value::Integer(2), int, DataType::Boolean), Ok(Value::Boolean(true)));
        assert_eq!(state(Value::Boolean(true), DataType::Boolean, big), Err("42846"));
        assert_eq!(state(Value::Boolean(true), DataType::Boolean, int), Ok(Value::Integer(1)));
        assert_eq!(state(Value::Date(1), DataType::Date, int), Err("42846"));
    }
}
