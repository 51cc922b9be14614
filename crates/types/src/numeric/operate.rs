//! Operators on single values: what constant folding computes, and what vectorised expressions are tested against.

use std::cmp::Ordering;

use super::cast::{cast, exact_value};
use super::decimal::Exact;
use super::errors::{division_by_zero, no_operator, out_of_range};
use super::number::{self, Number};
use super::spelling::smallest_integer;
use super::types::{Arithmetic, arithmetic_type, comparison_type};
use super::{decimal, float};
use crate::{DataType, SqlError, SqlResult, Value};

/// `left op right`, of the type that [`arithmetic_type`] says; NULL if either is.
///
/// # Errors
/// 42883 where there is no such operator, 22012 for a divisor of zero, 22003 where the type does not hold the result.
pub fn arithmetic(
    op: Arithmetic,
    left: (&Value, DataType),
    right: (&Value, DataType),
) -> SqlResult<Value> {
    let missing = || no_operator(op.sql(), left.1, right.1);
    let result = arithmetic_type(op, left.1, right.1).ok_or_else(missing)?;
    if left.0.is_null() || right.0.is_null() {
        return Ok(Value::Null);
    }
    if result.is_float() {
        let (a, b) = (as_float(left)?, as_float(right)?);
        return Ok(Value::Float(float::arithmetic(op, a, b, result == DataType::Real)?));
    }
    if result == DataType::Numeric {
        let number = as_number(left)?.arithmetic(op, &as_number(right)?)?;
        return Ok(Value::Text(number.held()?.into()));
    }
    let (a, b) = (as_exact(left)?, as_exact(right)?);
    if matches!(op, Arithmetic::Divide | Arithmetic::Modulo) && b.unscaled == 0 {
        return Err(division_by_zero());
    }
    let unscaled = if result.is_integer() && op == Arithmetic::Divide {
        a.unscaled.checked_div(b.unscaled)
    } else {
        a.arithmetic(op, b, result.scale())
    };
    exact_value(unscaled.ok_or_else(|| out_of_range(result))?, result)
}

/// `-value`. The least INTEGER and the least BIGINT are spelt as one more than the greatest with a sign, so a constant that
/// is just that much becomes one of the smaller type.
///
/// # Errors
/// 42883 for what is no number, 22003 where the type does not hold the result.
pub fn negate(value: &Value, data_type: DataType) -> SqlResult<(Value, DataType)> {
    if !data_type.is_numeric() && data_type != DataType::Null {
        return Err(no_operator("-", DataType::Null, data_type));
    }
    let negated = match value {
        Value::Null => return Ok((Value::Null, data_type)),
        Value::Float(it) => return Ok((Value::Float(-it), data_type)),
        Value::Text(_) => {
            let negated = as_number((value, data_type))?.negated();
            return Ok((Value::Text(negated.held()?.into()), data_type));
        }
        _ => -as_exact((value, data_type))?.unscaled,
    };
    let least = |it: i64| negated == i128::from(it) && data_type.scale() == 0;
    if least(i64::from(i32::MIN)) && data_type == DataType::BigInt
        || least(i64::MIN) && matches!(data_type, DataType::Decimal { .. })
    {
        return smallest_integer(negated).ok_or_else(|| out_of_range(data_type));
    }
    Ok((exact_value(negated, data_type)?, data_type))
}

/// The order of two values as comparisons see it; `None` if either is NULL.
///
/// # Errors
/// 42883 where values of these types do not compare.
pub fn compare(left: (&Value, DataType), right: (&Value, DataType)) -> SqlResult<Option<Ordering>> {
    let missing = || no_operator("=", left.1, right.1);
    let common = comparison_type(left.1, right.1).ok_or_else(missing)?;
    if left.0.is_null() || right.0.is_null() {
        return Ok(None);
    }
    if common.is_float() {
        return Ok(Some(float::compare(as_float(left)?, as_float(right)?)));
    }
    if common == DataType::Numeric {
        return Ok(Some(as_number(left)?.compare(&as_number(right)?)));
    }
    if common.is_numeric() {
        return Ok(Some(as_exact(left)?.compare(as_exact(right)?)));
    }
    let common = match common {
        // Blanks at the end do not count, and nothing else is cut.
        DataType::Char(_) => DataType::Char(u32::MAX),
        it => it,
    };
    let (a, b) = (cast(left.0, left.1, common)?, cast(right.0, right.1, common)?);
    a.compare(&b).map(Some).ok_or_else(missing)
}

fn as_float((value, data_type): (&Value, DataType)) -> SqlResult<f64> {
    match value {
        Value::Float(it) => Ok(*it),
        Value::Integer(it) => Ok(float::of_exact(i128::from(*it), 0, false)),
        Value::Decimal { unscaled, scale } => Ok(float::of_exact(*unscaled, *scale, false)),
        Value::Text(held) if data_type == DataType::Numeric => number::float_of(held, false),
        _ => Err(mismatch(value, data_type)),
    }
}

/// A number that is exact as one of any scale.
fn as_number((value, data_type): (&Value, DataType)) -> SqlResult<Number> {
    match value {
        Value::Text(held) if data_type == DataType::Numeric => number::of_held(held),
        Value::Integer(it) => Ok(Number::of_exact(i128::from(*it), 0)),
        Value::Decimal { unscaled, scale } => Ok(Number::of_exact(*unscaled, *scale)),
        _ => Err(mismatch(value, data_type)),
    }
}

fn as_exact((value, data_type): (&Value, DataType)) -> SqlResult<Exact> {
    match value {
        Value::Integer(it) => Ok(Exact { unscaled: i128::from(*it), scale: 0 }),
        Value::Decimal { unscaled, scale } if decimal::fits(*unscaled, data_type) => {
            Ok(Exact { unscaled: *unscaled, scale: *scale })
        }
        _ => Err(mismatch(value, data_type)),
    }
}

fn mismatch(value: &Value, data_type: DataType) -> SqlError {
    SqlError::internal(format!("{value} is no value of type {data_type}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_integers_are_spelt_with_a_sign() {
        let integer = Value::Integer;
        let least = (integer(i64::from(i32::MIN)), DataType::Integer);
        assert_eq!(negate(&integer(2147483648), DataType::BigInt), Ok(least));
        let digits = Value::Decimal { unscaled: 1 << 63, scale: 0 };
        let nineteen = DataType::Decimal { precision: 19, scale: 0 };
        assert_eq!(negate(&digits, nineteen), Ok((integer(i64::MIN), DataType::BigInt)));
        let beyond = (Value::Decimal { unscaled: -1 - (1 << 63), scale: 0 }, nineteen);
        let more = Value::Decimal { unscaled: 1 + (1 << 63), scale: 0 };
        assert_eq!(negate(&more, nineteen), Ok(beyond));
        assert_eq!(negate(&integer(5), DataType::BigInt), Ok((integer(-5), DataType::BigInt)));
        let error = negate(&integer(i64::MIN), DataType::BigInt).map_err(|it| it.message);
        assert_eq!(error, Err("bigint out of range".into()));
        assert_eq!(negate(&Value::Null, DataType::Null), Ok((Value::Null, DataType::Null)));
        let text = negate(&Value::Text("1".into()), DataType::Text).map_err(|it| it.state.0);
        assert_eq!(text, Err("42883"));
    }

    #[test]
    fn comparisons_see_values_and_not_their_types() {
        let order =
            |a: Value, at, b: Value, bt| compare((&a, at), (&b, bt)).map_err(|it| it.state.0);
        let tenth = DataType::Decimal { precision: 1, scale: 1 };
        let three = || Value::Decimal { unscaled: 3, scale: 1 };
        let double = DataType::Double;
        let (less, equal, greater) = (Ordering::Less, Ordering::Equal, Ordering::Greater);
        assert_eq!(order(Value::Float(0.1 + 0.2), double, three(), tenth), Ok(Some(greater)));
        assert_eq!(order(Value::Float(0.3), double, three(), tenth), Ok(Some(equal)));
        let single = Value::Float(f64::from(0.3_f32));
        assert_eq!(order(single, DataType::Real, three(), tenth), Ok(Some(greater)));
        assert_eq!(order(three(), tenth, Value::Integer(1), DataType::Integer), Ok(Some(less)));
        let text = |it: &str| Value::Text(it.into());
        let (char3, varchar9) = (DataType::Char(3), DataType::Varchar(9));
        assert_eq!(order(text("a  "), varchar9, text("a"), char3), Ok(Some(equal)));
        assert_eq!(order(text("abcdef"), varchar9, text("abc"), char3), Ok(Some(greater)));
        assert_eq!(order(text("a  "), DataType::Text, text("a"), char3), Ok(Some(greater)));
        let midnight =
            order(Value::Date(1), DataType::Date, Value::Timestamp(1), DataType::Timestamp);
        assert_eq!(midnight, Ok(Some(greater)));
        assert_eq!(order(Value::Null, DataType::Null, text("a"), char3), Ok(None));
        let mixed = order(text("1"), DataType::Text, Value::Integer(1), DataType::Integer);
        assert_eq!(mixed, Err("42883"));
    }
}
