//! What an evaluation of an expression may do beside giving a value: give another one next time, or raise an error.
//! Rewrites ask here before they copy, move or drop an expression.
//!
//! Key decision: whether something can fail is decided by types and constants alone, never by how execution happens to
//! compute it. "Can fail" is the answer wherever nothing proves the opposite.

use types::numeric::decimal;
use types::{DataType, Value};

use crate::expression::is_volatile_itself;
use crate::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};

/// Whether it may give something else for equal operands: it must be evaluated once for each row that it stands for,
/// so it is never copied, merged with another, or moved past what makes other rows of rows.
pub fn is_volatile(expr: &Expr) -> bool {
    is_volatile_itself(&expr.kind) || expr.children().into_iter().any(is_volatile)
}

/// Whether it is made for what it does and not for its value alone: it is computed even where nobody wants that.
pub fn has_effect(expr: &Expr) -> bool {
    let does = |it: &ExprKind| match it {
        ExprKind::Call { function, .. } => function.is_of_sequences() || function.is_of_sessions(),
        _ => false,
    };
    does(&expr.kind) || expr.children().into_iter().any(has_effect)
}

/// Whether some row may raise an error: it must not be evaluated on rows that the query has dropped before.
pub fn is_fallible(expr: &Expr) -> bool {
    let own = match &expr.kind {
        ExprKind::Binary { operator, left, right } => match operator {
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply => {
                !fits(*operator, left, right, expr.data_type)
            }
            BinaryOperator::Divide | BinaryOperator::Modulo => !divides(right, expr.data_type),
            _ => false,
        },
        ExprKind::Unary { operator: UnaryOperator::Negate, operand } => {
            !matches!(operand.data_type, DataType::Decimal { .. }) && !operand.data_type.is_float()
        }
        ExprKind::Cast(operand) => !is_widening(operand.data_type, expr.data_type),
        ExprKind::Substring { length, .. } => length.is_some_and(|it| it < 0),
        ExprKind::Column(_)
        | ExprKind::Literal(_)
        | ExprKind::Parameter(_)
        | ExprKind::Scalar(_)
        | ExprKind::Unary { .. }
        | ExprKind::Case { .. }
        | ExprKind::InList { .. }
        | ExprKind::Like { .. }
        | ExprKind::Call { function: Function::TrimScale, .. }
        | ExprKind::Extract { .. } => false,
        _ => true,
    };
    own || expr.children().into_iter().any(is_fallible)
}

/// The greatest absolute value of a type or constant as an unscaled number, and its scale.
fn greatest(expr: &Expr) -> Option<(i128, u8)> {
    if let ExprKind::Literal(value) = &expr.kind {
        return match value {
            Value::Integer(it) => Some((i128::from(*it).abs(), 0)),
            Value::Decimal { unscaled, scale } => Some((unscaled.checked_abs()?, *scale)),
            Value::Null => Some((0, 0)),
            _ => None,
        };
    }
    limit(expr.data_type).map(|it| (it, expr.data_type.scale()))
}

/// The greatest absolute value of a type, as an unscaled number. The least integer is one further from zero, which no
/// answer here depends on: see [`fits`].
fn limit(data_type: DataType) -> Option<i128> {
    match data_type {
        DataType::SmallInt => Some(1 << 15),
        DataType::Integer => Some(1 << 31),
        DataType::BigInt => Some(1 << 63),
        DataType::Decimal { precision, .. } => Some(10i128.pow(u32::from(precision)) - 1),
        DataType::Whole(it) => {
            let (low, high) = it.range();
            Some(high.max(-low))
        }
        _ => None,
    }
}

/// Whether the result of `+`, `-` or `*` is in its type whatever the operands are.
fn fits(operator: BinaryOperator, left: &Expr, right: &Expr, data_type: DataType) -> bool {
    let (Some((a, a_scale)), Some((b, b_scale))) = (greatest(left), greatest(right)) else {
        return false;
    };
    let scale = a_scale.max(b_scale);
    let rescaled =
        |it: i128, from: u8| it.checked_mul(10i128.checked_pow(u32::from(scale - from))?);
    let result = match operator {
        BinaryOperator::Multiply => a.checked_mul(b),
        _ => rescaled(a, a_scale).zip(rescaled(b, b_scale)).and_then(|(a, b)| a.checked_add(b)),
    };
    // The least integer of a type is its limit, the greatest is not.
    let strictly_below = limit(data_type).zip(result).is_some_and(|(limit, it)| it < limit);
    let exact = match operator {
        BinaryOperator::Multiply => data_type.scale() == a_scale + b_scale,
        _ => data_type.scale() == scale,
    };
    strictly_below && exact
}

/// Whether a divisor is a constant by which everything can be divided.
fn divides(divisor: &Expr, data_type: DataType) -> bool {
    match &divisor.kind {
        ExprKind::Literal(Value::Integer(it)) => data_type.is_integer() && !matches!(it, 0 | -1),
        _ => false,
    }
}

/// Whether a conversion gives a value for every value.
pub(crate) fn is_widening(from: DataType, to: DataType) -> bool {
    if from == to || to.is_text() || from == DataType::Null {
        return true;
    }
    match to {
        DataType::Whole(it) => {
            let ((low, high), own) = (it.range(), decimal::range(from));
            from.is_exact() && from.scale() == 0 && low <= own.0 && own.1 <= high
        }
        DataType::Double => from.plain().is_numeric() && from != DataType::Numeric,
        DataType::Numeric => from.plain().is_numeric(),
        DataType::Real => from.plain().is_integer(),
        DataType::Timestamp => from == DataType::Date,
        DataType::Date => from == DataType::Timestamp,
        _ => {
            // Rounding may carry into one digit more.
            let rounds = from.scale() > to.scale();
            let (Some(own), Some(room)) = (limit(from), limit(to)) else { return false };
            let whole = |it: i128, scale: u8| it / 10i128.pow(u32::from(scale));
            whole(own, from.scale()) + i128::from(rounds) <= whole(room, to.scale())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Function;

    const PRICE: DataType = DataType::Decimal { precision: 15, scale: 2 };

    fn calculation(
        operator: BinaryOperator,
        left: DataType,
        right: DataType,
        data_type: DataType,
    ) -> Expr {
        let (left, right) = (Box::new(Expr::column(0, left)), Box::new(Expr::column(1, right)));
        Expr { kind: ExprKind::Binary { operator, left, right }, data_type }
    }

    fn cast(from: DataType, to: DataType) -> Expr {
        Expr { kind: ExprKind::Cast(Box::new(Expr::column(0, from))), data_type: to }
    }

    #[test]
    fn calculations_fail_where_their_type_has_no_room() {
        use BinaryOperator::{Add, Divide, Multiply};
        use DataType::{BigInt, Double, Integer};
        let product = DataType::Decimal { precision: 31, scale: 4 };
        assert!(!is_fallible(&calculation(Multiply, PRICE, PRICE, product)));
        assert!(!is_fallible(&calculation(Multiply, Integer, Integer, BigInt)));
        assert!(is_fallible(&calculation(Add, Integer, Integer, Integer)));
        assert!(is_fallible(&calculation(Multiply, BigInt, BigInt, BigInt)));
        assert!(is_fallible(&calculation(Add, Double, Double, Double)));
        let wide = DataType::Decimal { precision: 38, scale: 4 };
        assert!(is_fallible(&calculation(Multiply, wide, PRICE, wide)));
        assert!(is_fallible(&calculation(Divide, Integer, Integer, Integer)));
    }

    #[test]
    fn a_volatile_expression_equals_none() {
        let call = |function| {
            let kind = ExprKind::Call { function, arguments: Vec::new() };
            Expr { kind, data_type: DataType::Double }
        };
        let (random, pi) = (call(Function::Random), call(Function::Pi));
        assert!(is_volatile(&random) && !is_volatile(&pi));
        assert_eq!(pi, pi.clone());
        assert_ne!(random, random.clone());
        let twice = |it: &Expr| Expr::predicate(BinaryOperator::Less, it.clone(), pi.clone());
        assert_ne!(twice(&random), twice(&random));
    }

    #[test]
    fn a_division_by_a_constant_may_be_safe() {
        let by = |divisor: i64| {
            let left = Box::new(Expr::column(0, DataType::Integer));
            let right = Box::new(Expr::literal(Value::Integer(divisor), DataType::Integer));
            let operator = BinaryOperator::Divide;
            Expr { kind: ExprKind::Binary { operator, left, right }, data_type: DataType::Integer }
        };
        assert!(!is_fallible(&by(2)));
        assert!(is_fallible(&by(0)));
        assert!(is_fallible(&by(-1)), "of the least integer");
    }

    #[test]
    fn conversions_fail_where_they_narrow() {
        let decimal = |precision, scale| DataType::Decimal { precision, scale };
        assert!(!is_fallible(&cast(DataType::Integer, DataType::BigInt)));
        assert!(!is_fallible(&cast(DataType::Integer, decimal(12, 2))));
        assert!(!is_fallible(&cast(decimal(9, 2), DataType::Integer)));
        assert!(is_fallible(&cast(DataType::BigInt, DataType::Integer)));
        assert!(is_fallible(&cast(DataType::Integer, decimal(11, 2))));
        assert!(is_fallible(&cast(decimal(10, 2), decimal(9, 1))), "rounding carries");
        assert!(is_fallible(&cast(DataType::Text, DataType::Integer)));
        assert!(is_fallible(&cast(DataType::Text, DataType::Date)));
        assert!(!is_fallible(&cast(DataType::Date, DataType::Text)));
    }
}
