//! Numbers of any scale compared with a constant, as ranges of what holds them: a column is compared as it is held, so that zones,
//! codes and indexes tell which rows there are, and no key is computed.
//!
//! What holds numbers equal to one lies together, from the key of that one on ([`types::numeric::number`]).

use plan::{BinaryOperator, Expr, ExprKind, Function};
use types::numeric::number;
use types::{DataType, Value};

/// A comparison of the key of a number with a constant key; `None` of any other.
pub(super) fn of(operator: BinaryOperator, left: &Expr, right: &Expr) -> Option<Expr> {
    let (operand, key, operator) = match (keyed(left), constant(right)) {
        (Some(operand), Some(key)) => (operand, key, operator),
        _ => (keyed(right)?, constant(left)?, operator.mirrored()),
    };
    use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    let side = |operator, bound: String| {
        let bound = Expr::literal(Value::Text(bound.into()), DataType::Numeric);
        plan::build::compare(operator, operand.clone(), bound)
    };
    let (begin, end) = (key.to_owned(), number::end_of_equals(key));
    Some(match operator {
        Less => side(Less, begin),
        GreaterEqual => side(GreaterEqual, begin),
        Greater => side(GreaterEqual, end),
        LessEqual => side(Less, end),
        Equal => {
            let (from, to) = (side(GreaterEqual, begin), side(Less, end));
            Expr::predicate(BinaryOperator::And, from, to)
        }
        NotEqual => {
            let (below, above) = (side(Less, begin), side(GreaterEqual, end));
            Expr::predicate(BinaryOperator::Or, below, above)
        }
        _ => return None,
    })
}

/// The column whose key an expression is.
fn keyed(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call { function: Function::TrimScale, arguments } => match &arguments[..] {
            [one] if matches!(one.kind, ExprKind::Column(_)) => Some(one),
            _ => None,
        },
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(key)) if expr.data_type == DataType::Numeric => Some(key),
        _ => None,
    }
}
