//! Result types that follow from argument types and constants: digits before and after the point.

use types::{DataType, Value};

use crate::field::Field;
use crate::number_picture::Picture;

const PRECISION_MAX: u8 = 38;

/// A decimal with so many digits before the point, as far as the limit allows.
fn decimal(whole: u8, scale: u8) -> DataType {
    let precision = whole.saturating_add(scale).clamp(1, PRECISION_MAX);
    DataType::Decimal { precision, scale: scale.min(precision) }
}

/// Digits before and after the point.
fn digits(data_type: DataType) -> (u8, u8) {
    match as_decimal(data_type) {
        DataType::Decimal { precision, scale } => (precision - scale.min(precision), scale),
        _ => (PRECISION_MAX, 0),
    }
}

/// The decimal that holds every value of an exact type.
pub(crate) fn as_decimal(data_type: DataType) -> DataType {
    let precision = match data_type {
        DataType::SmallInt => 5,
        DataType::Integer => 10,
        DataType::BigInt => 19,
        DataType::Null => 1,
        other => return other,
    };
    DataType::Decimal { precision, scale: 0 }
}

/// The type of the first argument.
pub(crate) fn first(types: &[DataType], _constants: &[Option<Value>]) -> DataType {
    types.first().copied().unwrap_or(DataType::Null)
}

/// The number that the picture of the second argument leaves room for.
pub(crate) fn of_picture(_types: &[DataType], constants: &[Option<Value>]) -> DataType {
    let picture = match constants.get(1) {
        Some(Some(Value::Text(text))) => Picture::parse(text).ok(),
        _ => None,
    };
    let scale = picture.map_or(10, |it| it.behind + it.shifted);
    DataType::Decimal { precision: PRECISION_MAX, scale: scale.min(PRECISION_MAX.into()) as u8 }
}

/// The type of the second argument.
pub(crate) fn second(types: &[DataType], _constants: &[Option<Value>]) -> DataType {
    types.get(1).copied().unwrap_or(DataType::Null)
}

/// The widest integer, at least INTEGER unless all are SMALLINT.
pub(crate) fn wider_integer(types: &[DataType], _constants: &[Option<Value>]) -> DataType {
    let widest = |wanted| types.contains(&wanted);
    if widest(DataType::BigInt) {
        DataType::BigInt
    } else if widest(DataType::Integer) {
        DataType::Integer
    } else {
        DataType::SmallInt
    }
}

/// A decimal that holds the values of all arguments.
pub(crate) fn common(types: &[DataType], _constants: &[Option<Value>]) -> DataType {
    let all = types.iter().map(|&it| digits(it));
    let (whole, scale) = all.fold((0, 0), |(a, b), (c, d)| (a.max(c), b.max(d)));
    decimal(whole, scale)
}

/// A decimal that holds the common multiples of two numbers.
pub(crate) fn multiple(types: &[DataType], _constants: &[Option<Value>]) -> DataType {
    let ((left, from), (right, to)) = (digits(first(types, &[])), digits(second(types, &[])));
    decimal(left.saturating_add(right), from.max(to))
}

/// The whole part of a quotient.
pub(crate) fn quotient(types: &[DataType], _constants: &[Option<Value>]) -> DataType {
    let (whole, _) = digits(first(types, &[]));
    let (_, scale) = digits(second(types, &[]));
    decimal(whole.saturating_add(scale), 0)
}

/// A number rounded to the digits that the second argument, if any, says: one digit more before the point.
pub(crate) fn rounded(types: &[DataType], constants: &[Option<Value>]) -> DataType {
    cut(types, constants, 1)
}

/// A number cut to the digits that the second argument, if any, says.
pub(crate) fn truncated(types: &[DataType], constants: &[Option<Value>]) -> DataType {
    cut(types, constants, 0)
}

fn cut(types: &[DataType], constants: &[Option<Value>], carry: u8) -> DataType {
    let (whole, scale) = digits(first(types, &[]));
    let wanted = match (types.len(), constants.get(1)) {
        (1, _) => 0,
        (_, Some(Some(Value::Integer(wanted)))) => {
            u8::try_from((*wanted).clamp(0, i64::from(PRECISION_MAX))).unwrap_or(0)
        }
        // Unknown when the statement is bound: the digits stay, those behind the wanted ones become zero.
        _ => scale,
    };
    let carry = if wanted >= scale { 0 } else { carry };
    let whole = whole.saturating_add(carry);
    let room = PRECISION_MAX.saturating_sub(whole).max(wanted.min(scale));
    decimal(whole, wanted.min(room))
}

/// A field of a date or timestamp as an exact number.
pub(crate) fn field(types: &[DataType], constants: &[Option<Value>]) -> DataType {
    let name = match constants.first() {
        Some(Some(Value::Text(name))) => Field::from_name(&name.to_lowercase()),
        _ => None,
    };
    match name.map_or(6, Field::scale) {
        _ if second(types, &[]) == DataType::Date => decimal(20, 0),
        0 => DataType::Decimal { precision: 10, scale: 0 },
        scale => DataType::Decimal { precision: 20, scale },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_digits_that_are_asked_for() {
        let number = |precision, scale| DataType::Decimal { precision, scale };
        let two = [Some(Value::Integer(2))];
        let constant = |n: i64| [None, Some(Value::Integer(n))];
        let types = [number(15, 4), DataType::BigInt];
        assert_eq!(rounded(&types, &constant(2)), number(14, 2));
        assert_eq!(truncated(&types, &constant(2)), number(13, 2));
        assert_eq!(rounded(&types, &constant(6)), number(17, 6));
        assert_eq!(rounded(&types, &constant(-3)), number(12, 0));
        assert_eq!(rounded(&types, &[None, None]), number(15, 4));
        assert_eq!(rounded(&types[..1], &two[..1]), number(12, 0));
        assert_eq!(rounded(&[number(38, 10), DataType::BigInt], &constant(20)), number(38, 10));
        assert_eq!(common(&[number(5, 2), number(4, 4)], &[]), number(7, 4));
    }
}
