//! Values given to parameters, in the parameters' types.

use types::numeric::{self, Exact, decimal};
use types::{DataType, SqlError, SqlResult, SqlState, Value, Whole, Zone};

/// A value of a type as EXECUTE gives it to a parameter, in a zone: of a type that is held as another, and of times, it is given as
/// a text, which tells what it is whatever the type of the parameter.
pub(crate) fn given(value: Value, of: DataType, zone: &Zone) -> SqlResult<Value> {
    match of {
        DataType::Timestamp => numeric::cast_in(&value, of, DataType::Text, zone),
        _ if of.stored() != of => numeric::cast_in(&value, of, DataType::Text, zone),
        _ => Ok(value),
    }
}

/// A value in the type of the parameter that it is for. `None` when the type cannot hold it exactly although it may be
/// compared with it (1.005 for DECIMAL(15,2)): then the statement is planned for this value.
pub(crate) fn convert(
    number: usize,
    value: &Value,
    wanted: DataType,
    zone: &Zone,
) -> SqlResult<Option<Value>> {
    let converted = match (value, wanted) {
        (Value::Null, _) => Value::Null,
        (Value::Boolean(_), DataType::Boolean)
        | (Value::Integer(_), DataType::BigInt)
        | (Value::Float(_), DataType::Double)
        | (Value::Date(_), DataType::Date)
        | (Value::Timestamp(_), DataType::Timestamp) => value.clone(),
        (Value::Text(_), it) if it.is_text() => value.clone(),
        (Value::Timestamp(_), DataType::TimestampTz) => value.clone(),
        (Value::Integer(it), DataType::Decimal { precision, scale }) => {
            return Ok(scaled(i128::from(*it), 0, precision, scale));
        }
        (Value::Decimal { unscaled, scale: from }, DataType::Decimal { precision, scale }) => {
            return Ok(scaled(*unscaled, *from, precision, scale));
        }
        (Value::Float(_), DataType::Decimal { .. }) | (Value::Timestamp(_), DataType::Date) => {
            return Ok(None);
        }
        (Value::Integer(_) | Value::Decimal { .. }, it) if it.is_text() => {
            Value::Text(value.to_string().into())
        }
        (Value::Integer(_) | Value::Decimal { .. } | Value::Float(_), it) if it.is_numeric() => {
            cast(value, it, zone)?
        }
        (Value::Integer(it), DataType::Whole(Whole::Oid)) => {
            let from = i32::try_from(*it).map_or(DataType::BigInt, |_| DataType::Integer);
            numeric::cast(value, from, wanted)?
        }
        (Value::Text(_), it) if it != DataType::Null => cast(value, it, zone)?,
        (Value::Date(_), DataType::Timestamp | DataType::TimestampTz) => cast(value, wanted, zone)?,
        _ => {
            let message = format!(
                "parameter ${} is of type {wanted} and cannot be given {value}",
                number + 1
            );
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message)
                .with_hint("give a value of the type, or cast the parameter where it is used"));
        }
    };
    Ok(Some(converted))
}

/// The same number with another scale, if it is the same and the type holds it.
fn scaled(unscaled: i128, from: u8, precision: u8, scale: u8) -> Option<Value> {
    let moved = decimal::rescale(unscaled, from, scale)?;
    let (before, after) = (Exact { unscaled, scale: from }, Exact { unscaled: moved, scale });
    let fits = decimal::fits(moved, DataType::Decimal { precision, scale });
    (fits && before.compare(after).is_eq()).then_some(Value::Decimal { unscaled: moved, scale })
}

/// The conversion of CAST, with its errors.
fn cast(value: &Value, wanted: DataType, zone: &Zone) -> SqlResult<Value> {
    let from = match value {
        Value::Integer(_) => DataType::BigInt,
        Value::Decimal { scale, .. } => DataType::Decimal { precision: 38, scale: *scale },
        Value::Float(_) => DataType::Double,
        Value::Date(_) => DataType::Date,
        _ => DataType::Text,
    };
    numeric::cast_in(value, from, wanted, zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: DataType = DataType::Decimal { precision: 5, scale: 2 };

    fn decimal(unscaled: i128, scale: u8) -> Value {
        Value::Decimal { unscaled, scale }
    }

    #[test]
    fn values_take_the_type_of_their_parameter() {
        let text = |it: &str| Value::Text(it.into());
        let cases = [
            (Value::Null, PRICE, Some(Value::Null)),
            (Value::Integer(7), DataType::Integer, Some(Value::Integer(7))),
            (Value::Integer(7), PRICE, Some(decimal(700, 2))),
            (decimal(15, 1), PRICE, Some(decimal(150, 2))),
            (decimal(1500, 3), PRICE, Some(decimal(150, 2))),
            // Neither is held exactly: the query is planned for them.
            (decimal(1005, 3), PRICE, None),
            (Value::Integer(1000), PRICE, None),
            (decimal(55, 1), DataType::Integer, Some(Value::Integer(6))),
            (text("12"), DataType::Integer, Some(Value::Integer(12))),
            (text("1970-01-02"), DataType::Date, Some(Value::Date(1))),
            (Value::Integer(5), DataType::Text, Some(text("5"))),
            (Value::Integer(5), DataType::Double, Some(Value::Float(5.0))),
            (Value::Date(1), DataType::Timestamp, Some(Value::Timestamp(86_400_000_000))),
            (Value::Timestamp(1), DataType::Date, None),
        ];
        for (value, wanted, expected) in cases {
            assert_eq!(
                convert(0, &value, wanted, &Zone::utc()).unwrap(),
                expected,
                "{value} as {wanted}"
            );
        }
    }

    #[test]
    fn what_is_no_value_of_the_type_is_an_error() {
        let state = |value, wanted| convert(1, &value, wanted, &Zone::utc()).unwrap_err().state;
        assert_eq!(state(Value::Text("x".into()), DataType::Integer), SqlState::INVALID_TEXT);
        assert_eq!(
            state(Value::Integer(1 << 40), DataType::Integer),
            SqlState::NUMERIC_OUT_OF_RANGE
        );
        assert_eq!(state(Value::Boolean(true), DataType::Integer), SqlState::DATATYPE_MISMATCH);
        let error = convert(1, &Value::Date(3), DataType::Boolean, &Zone::utc()).unwrap_err();
        assert!(error.message.starts_with("parameter $2 is of type BOOLEAN"), "{}", error.message);
    }
}
