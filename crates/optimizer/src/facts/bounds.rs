//! How large an exact number can be, by the types of columns and by constants alone.

use plan::properties::{is_fallible, is_volatile};
use plan::{BinaryOperator, Expr, ExprKind};
use types::numeric::decimal;
use types::{DataType, Value};

/// The greatest absolute value of a type, as an unscaled number.
pub fn limit(of: DataType) -> Option<i128> {
    let (low, high) = of.is_exact().then(|| decimal::range(of))?;
    Some(low.checked_neg()?.max(high))
}

/// The greatest absolute value of an expression, as an unscaled number of its type; `None` where no such is known, or where
/// some row may raise an error.
pub fn greatest(expr: &Expr) -> Option<i128> {
    let most = limit(expr.data_type)?;
    let ExprKind::Binary { operator: BinaryOperator::Divide, left, right } = &expr.kind else {
        return (!is_fallible(expr) && !is_volatile(expr)).then_some(most);
    };
    let is_decimal = matches!(expr.data_type, DataType::Decimal { .. });
    if !is_decimal || !is_one_or_more(right) {
        return None;
    }
    // Rounding goes no further than the dividend, which has no digit more behind the point.
    let digits = expr.data_type.scale().checked_sub(left.data_type.scale())?;
    let quotient = greatest(left)?.checked_mul(decimal::power_of_ten(digits.into())?)?;
    (quotient <= most).then_some(quotient)
}

/// Whether it is a constant that is not between -1 and 1.
fn is_one_or_more(divisor: &Expr) -> bool {
    match &divisor.kind {
        ExprKind::Literal(Value::Integer(it)) => *it != 0,
        ExprKind::Literal(Value::Decimal { unscaled, scale }) => {
            decimal::power_of_ten((*scale).into())
                .is_some_and(|one| unscaled.unsigned_abs() >= one.unsigned_abs())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotient(precision: u8, divisor: Value) -> Expr {
        let left = Expr::column(0, DataType::Decimal { precision, scale: 2 });
        let right = Expr::literal(divisor, DataType::Integer);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = ExprKind::Binary { operator: BinaryOperator::Divide, left, right };
        Expr { kind, data_type: DataType::Decimal { precision: 38, scale: 16 } }
    }

    #[test]
    fn quotients_are_as_large_as_their_dividends() {
        let most = |it: i128| Some((it - 1) * 10i128.pow(14));
        assert_eq!(greatest(&quotient(7, Value::Integer(2))), most(10i128.pow(7)));
        let small = Value::Decimal { unscaled: 5, scale: 1 };
        let large = Value::Decimal { unscaled: -15, scale: 1 };
        assert_eq!(greatest(&quotient(7, large)), most(10i128.pow(7)));
        assert_eq!(greatest(&quotient(7, small)), None, "twice as large");
        assert_eq!(greatest(&quotient(7, Value::Integer(0))), None);
        assert_eq!(greatest(&quotient(30, Value::Integer(2))), None, "no room for the digits");
        assert_eq!(limit(DataType::Double), None);
    }
}
