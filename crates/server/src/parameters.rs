//! Values of parameters, as they come in text or in binary.

use nodewise::{DataType, SqlError, SqlResult, SqlState, Value};
use types::numeric::address::Address;
use types::numeric::interval::Interval;
use types::numeric::time_tz::TimeTz;
use types::{Charset, Network, Zone, numeric};

use crate::binary_values::JSONB_VERSION;
use crate::numeric_values::{read_any_numeric, read_numeric};
use crate::replies::Format;
use crate::requests::violation;
use nodewise::pg_types::{
    BIT, BOOL, BYTEA, CIDR, DATE, FLOAT4, FLOAT8, INET, INT2, INT4, INT8, INTERVAL, JSONB, NUMERIC,
    OID, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ, UUID, VARBIT,
};

/// Days and microseconds from 1970 to 2000.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// A text is a value of the type that the parameter has; numbers stand as they are written, so that none is rounded that is
/// only compared.
pub fn text(text: &str, data_type: Option<DataType>, zone: &Zone) -> SqlResult<Value> {
    match data_type {
        Some(DataType::Decimal { .. }) => match numeric::parse_literal(text.trim()) {
            Ok((value @ (Value::Integer(_) | Value::Decimal { .. }), _)) => Ok(value),
            _ => Ok(Value::Text(text.into())),
        },
        // Types that are held as others take texts; a moment may name no time zone.
        Some(it) if it.stored() != it => Ok(Value::Text(text.into())),
        Some(it) if !it.is_text() && it != DataType::Null => {
            numeric::cast_in(&Value::Text(text.into()), DataType::Text, it, zone)
        }
        _ => Ok(Value::Text(text.into())),
    }
}

/// A value of a type that has no parts, by the number of the type.
pub fn binary(bytes: &[u8], oid: u32, charset: Charset) -> SqlResult<Value> {
    Ok(match oid {
        BOOL => match bytes {
            [it] => Value::Boolean(*it != 0),
            _ => return Err(incorrect()),
        },
        INT2 => Value::Integer(i16::from_be_bytes(fixed(bytes)?).into()),
        INT4 => Value::Integer(i32::from_be_bytes(fixed(bytes)?).into()),
        OID => Value::Integer(u32::from_be_bytes(fixed(bytes)?).into()),
        INT8 => Value::Integer(i64::from_be_bytes(fixed(bytes)?)),
        FLOAT4 => Value::Float(f32::from_be_bytes(fixed(bytes)?).into()),
        FLOAT8 => Value::Float(f64::from_be_bytes(fixed(bytes)?)),
        NUMERIC => {
            match read_numeric(bytes) {
                Some((unscaled, scale)) => Value::Decimal { unscaled, scale },
                // Of more digits, or none: as it is written.
                None => Value::Text(read_any_numeric(bytes).ok_or_else(incorrect)?.into()),
            }
        }
        DATE => {
            let days = i32::from_be_bytes(fixed(bytes)?);
            if numeric::datetime::is_infinite_day(days.into()) {
                return Ok(Value::Date(days));
            }
            let days = i64::from(days) + i64::from(EPOCH_DAYS);
            Value::Date(numeric::datetime::date(days).ok_or_else(out_of_range)?)
        }
        TIMESTAMP | TIMESTAMPTZ => {
            let sent = i64::from_be_bytes(fixed(bytes)?);
            if numeric::datetime::is_infinite(sent) {
                return Ok(Value::Timestamp(sent));
            }
            let micros = sent.checked_add(EPOCH_MICROS);
            let micros = micros.and_then(numeric::datetime::timestamp).ok_or_else(out_of_range)?;
            let day = numeric::datetime::date_of_timestamp(micros);
            numeric::datetime::date(day).ok_or_else(out_of_range)?;
            Value::Timestamp(micros)
        }
        // Its text behind a version.
        JSONB => match bytes.split_first() {
            Some((&JSONB_VERSION, text)) => Value::Text(charset.decode(text)?.into()),
            _ => return Err(incorrect()),
        },
        UUID => Value::Text(numeric::uuid::format(u128::from_be_bytes(fixed(bytes)?)).into()),
        BYTEA => {
            let held = Value::Text(numeric::bytes::held(bytes).into());
            numeric::cast(&held, DataType::Bytea, DataType::Text)?
        }
        TIME | TIMETZ | INTERVAL | BIT | VARBIT | INET | CIDR => told(bytes, oid)?,
        _ => Value::Text(charset.decode(bytes)?.into()),
    })
}

/// A value of a type that is given as its text.
fn told(bytes: &[u8], oid: u32) -> SqlResult<Value> {
    Ok(match oid {
        TIME => {
            let micros = i64::from_be_bytes(fixed(bytes)?);
            if !(0..=numeric::datetime::DAY).contains(&micros) {
                return Err(out_of_range());
            }
            numeric::cast(&Value::Integer(micros), DataType::Time, DataType::Text)?
        }
        TIMETZ => {
            let held = Value::Integer(TimeTz::of_sent(fixed(bytes)?)?.held());
            numeric::cast(&held, DataType::TimeTz, DataType::Text)?
        }
        INTERVAL => {
            let it = i128::from_be_bytes(fixed(bytes)?);
            let (micros, days, months) = ((it >> 64) as i64, (it >> 32) as i32, it as i32);
            let interval = Interval::new(months.into(), days.into(), micros)?;
            numeric::cast(&numeric::held_interval(interval), DataType::Interval, DataType::Text)?
        }
        INET | CIDR => {
            let of = if oid == CIDR { Network::Cidr } else { Network::Inet };
            let mut text = String::new();
            let it = Address::of_sent(bytes, of).ok_or_else(incorrect)?;
            it.format(of, &mut text);
            Value::Text(text.into())
        }
        // Their bytes behind the number of bits.
        _ => {
            let (count, bytes) = bytes.split_first_chunk::<4>().ok_or_else(incorrect)?;
            let count = usize::try_from(i32::from_be_bytes(*count)).map_err(|_| incorrect())?;
            let bits = numeric::bit_text::unpacked(bytes, count).ok_or_else(incorrect)?;
            Value::Text(bits.into())
        }
    })
}

/// The error of bytes that are no value.
pub fn incorrect() -> SqlError {
    let message = "incorrect binary data format in a parameter";
    SqlError::new(SqlState("22P03"), message)
}

fn fixed<const N: usize>(bytes: &[u8]) -> SqlResult<[u8; N]> {
    let wrong = |_| {
        let message =
            format!("incorrect binary data format: {} bytes in place of {N}", bytes.len());
        SqlError::new(SqlState("22P03"), message)
    };
    bytes.try_into().map_err(wrong)
}

fn out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_OVERFLOW, "a date or a time is out of range")
}

/// The format of each of some values: none said is text for all, one is for all.
pub fn format_of(codes: &[i16], count: usize, index: usize) -> SqlResult<Format> {
    let code = match codes {
        [] => 0,
        [all] => *all,
        each if each.len() == count => each[index],
        _ => {
            let message = format!("{} formats are given for {count} values", codes.len());
            return Err(violation(message));
        }
    };
    let unsupported = || {
        let message = format!("unsupported format code: {code}");
        SqlError::new(SqlState::INVALID_PARAMETER, message)
    };
    Format::of(code).ok_or_else(unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_for_all_or_for_each() {
        assert_eq!(format_of(&[], 2, 1).unwrap(), Format::Text);
        assert_eq!(format_of(&[1], 2, 1).unwrap(), Format::Binary);
        assert_eq!(format_of(&[0, 1], 2, 1).unwrap(), Format::Binary);
        assert!(format_of(&[0, 1], 3, 1).is_err() && format_of(&[2], 1, 0).is_err());
    }
}
