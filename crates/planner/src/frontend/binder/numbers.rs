//! Types of arithmetic, as the library decides them, and arithmetic on constants.

use plan::{BinaryOperator, Expr, ExprKind};
use types::{DataType, Value};

/// Digits that a decimal has at most.
const DIGITS_MAX: i16 = 38;

/// The types of both operands, converted, and of the result.
pub(super) struct Signature {
    pub left: DataType,
    pub right: DataType,
    pub result: DataType,
}

/// Whole numbers and decimals.
pub(super) fn is_exact(data_type: DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Decimal { .. })
}

fn wider_integer(left: DataType, right: DataType) -> DataType {
    let order = [DataType::BigInt, DataType::Integer, DataType::SmallInt];
    order.into_iter().find(|it| *it == left || *it == right).unwrap_or(DataType::BigInt)
}

/// Digits in all and after the point of the decimal that an exact number becomes among decimals.
fn digits(data_type: DataType) -> Option<(i16, i16)> {
    Some(match data_type {
        DataType::SmallInt => (5, 0),
        DataType::Integer => (10, 0),
        DataType::BigInt => (20, 0),
        DataType::Decimal { precision, scale } => (i16::from(precision), i16::from(scale)),
        _ => return None,
    })
}

fn decimal(precision: i16, scale: i16) -> DataType {
    let scale = scale.min(DIGITS_MAX) as u8;
    DataType::Decimal { precision: precision.min(DIGITS_MAX) as u8, scale }
}

/// The types of an operation on exact numbers.
pub(super) fn signature(
    operator: BinaryOperator,
    left: DataType,
    right: DataType,
) -> Option<Signature> {
    if left.is_integer() && right.is_integer() {
        let wider = wider_integer(left, right);
        return Some(Signature { left: wider, right: wider, result: wider });
    }
    let ((p1, s1), (p2, s2)) = (digits(left)?, digits(right)?);
    let result = match operator {
        BinaryOperator::Add | BinaryOperator::Subtract => {
            let scale = s1.max(s2);
            decimal(scale + (p1 - s1).max(p2 - s2) + 1, scale)
        }
        BinaryOperator::Multiply if s1 + s2 <= DIGITS_MAX => decimal(p1 + p2 + 1, s1 + s2),
        BinaryOperator::Divide => {
            let scale = (s1 + 4).min(DIGITS_MAX);
            decimal(scale - s1 + s2 + p1, scale)
        }
        BinaryOperator::Modulo => {
            let scale = s1.max(s2);
            decimal(scale + (p1 - s1).min(p2 - s2), scale)
        }
        _ => return None,
    };
    Some(Signature { left: decimal(p1, s1), right: decimal(p2, s2), result })
}

/// The type of several results of one CASE, that of ELSE first.
pub(super) fn common(mut types: impl Iterator<Item = DataType>) -> Option<DataType> {
    let first = types.next()?;
    types.try_fold(first, |left, right| {
        if left.is_text() && right.is_text() {
            return Some(DataType::Text);
        }
        if left == right {
            return Some(left);
        }
        if left.is_integer() && right.is_integer() {
            return Some(wider_integer(left, right));
        }
        let ((p1, s1), (p2, s2)) = (digits(left)?, digits(right)?);
        let scale = s1.max(s2);
        Some(decimal(scale + (p1 - s1).max(p2 - s2), scale))
    })
}

/// The value of an operation on constants; `None` where it is not exact or out of range.
pub(super) fn fold(operator: BinaryOperator, left: &Expr, right: &Expr) -> Option<Expr> {
    let data_type = signature(operator, left.data_type, right.data_type)?.result;
    let scaled = |it: &Expr, scale: u8| match &it.kind {
        ExprKind::Literal(value) => {
            let missing = scale.checked_sub(it.data_type.scale())?;
            value.as_i128()?.checked_mul(10i128.checked_pow(u32::from(missing))?)
        }
        _ => None,
    };
    let scale = data_type.scale();
    let unscaled = match operator {
        BinaryOperator::Add => scaled(left, scale)?.checked_add(scaled(right, scale)?)?,
        BinaryOperator::Subtract => scaled(left, scale)?.checked_sub(scaled(right, scale)?)?,
        BinaryOperator::Multiply => {
            let (a, b) = (left.data_type.scale(), right.data_type.scale());
            scaled(left, a)?.checked_mul(scaled(right, b)?)?
        }
        _ => return None,
    };
    let value = match data_type {
        DataType::Decimal { precision, scale } => {
            let fits = unscaled.checked_abs()? < 10i128.pow(u32::from(precision));
            fits.then_some(Value::Decimal { unscaled, scale })?
        }
        DataType::BigInt => Value::Integer(i64::try_from(unscaled).ok()?),
        _ => return None,
    };
    Some(Expr::literal(value, data_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(unscaled: i128, precision: u8, scale: u8) -> Expr {
        let value = Value::Decimal { unscaled, scale };
        Expr::literal(value, DataType::Decimal { precision, scale })
    }

    #[test]
    fn constants_are_computed_exactly_or_not_at_all() {
        let (six, one) = (number(6, 2, 2), number(1, 2, 2));
        let folded = |operator, a: &Expr, b: &Expr| fold(operator, a, b);
        assert_eq!(folded(BinaryOperator::Subtract, &six, &one), Some(number(5, 3, 2)));
        assert_eq!(folded(BinaryOperator::Multiply, &six, &one), Some(number(6, 5, 4)));
        assert_eq!(folded(BinaryOperator::Divide, &six, &one), None);
        let big = Expr::literal(Value::Integer(i64::MAX), DataType::BigInt);
        let small = Expr::literal(Value::Integer(1), DataType::BigInt);
        assert_eq!(folded(BinaryOperator::Add, &big, &small), None);
        let two = Expr::literal(Value::Integer(2), DataType::BigInt);
        assert_eq!(folded(BinaryOperator::Add, &small, &small), Some(two));
        let full = number(10i128.pow(38) - 1, 38, 0);
        assert_eq!(folded(BinaryOperator::Add, &full, &full), None);
    }

    #[test]
    fn results_of_a_case_have_one_type() {
        let money = DataType::Decimal { precision: 15, scale: 2 };
        let of = |types: &[DataType]| common(types.iter().copied());
        assert_eq!(of(&[DataType::BigInt, DataType::Integer]), Some(DataType::BigInt));
        let wide = DataType::Decimal { precision: 22, scale: 2 };
        assert_eq!(of(&[DataType::BigInt, money]), Some(wide));
        assert_eq!(of(&[DataType::Varchar(3), DataType::Text]), Some(DataType::Text));
        assert_eq!(of(&[DataType::Date, money]), None);
        assert_eq!(of(&[]), None);
    }
}
