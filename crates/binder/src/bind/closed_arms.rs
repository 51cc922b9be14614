//! Arms of CASE that constants close: they are left out when it is bound, and with them the aggregates in them, which are
//! computed before CASE could guard them. PostgreSQL does so, too.

use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use types::numeric::decimal;
use types::{DataType, Value};

/// Levels of a condition that are looked at.
const DEPTH: usize = 16;

/// The arms and ELSE that may be taken, of which one arm is there at least, and the results of all others.
pub(super) fn open(
    branches: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
) -> (Vec<(Expr, Expr)>, Option<Expr>, Vec<Expr>) {
    let (mut taken, mut closed) = (Vec::with_capacity(branches.len()), Vec::new());
    let mut last: Option<Expr> = None;
    for (condition, result) in branches {
        match truth(&condition) {
            _ if last.is_some() => closed.push(result),
            Some(true) => last = Some(result),
            Some(false) => closed.push(result),
            None => taken.push((condition, result)),
        }
    }
    let mut otherwise = match last {
        Some(last) => {
            closed.extend(otherwise);
            Some(last)
        }
        None => otherwise,
    };
    // What is left of CASE is no plain column.
    if taken.is_empty() {
        let always = Expr::literal(Value::Boolean(true), DataType::Boolean);
        taken.extend(otherwise.take().map(|only| (always, only)));
    }
    (taken, otherwise, closed)
}

/// Whether a condition of constants is true; `None` of any other.
fn truth(condition: &Expr) -> Option<bool> {
    match value(condition, DEPTH)? {
        Value::Boolean(it) => Some(it),
        Value::Null => Some(false),
        _ => None,
    }
}

/// The value of an expression of whole numbers; `None` of any other, and where it fails.
fn value(expr: &Expr, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let number = |it: &Expr| match value(it, depth)? {
        Value::Integer(number) if it.data_type.is_integer() => Some(i128::from(number)),
        _ => None,
    };
    let whole = |number: i128| {
        let fits = expr.data_type.is_integer() && decimal::fits(number, expr.data_type);
        fits.then(|| i64::try_from(number).ok().map(Value::Integer)).flatten()
    };
    match &expr.kind {
        ExprKind::Literal(it) => Some(it.clone()),
        ExprKind::Cast(operand) => whole(number(operand)?),
        ExprKind::Unary { operator: UnaryOperator::Negate, operand } => whole(-number(operand)?),
        ExprKind::Binary { operator, left, right } => {
            let (a, b) = (number(left)?, number(right)?);
            match operator {
                BinaryOperator::Add => whole(a + b),
                BinaryOperator::Subtract => whole(a - b),
                BinaryOperator::Multiply => whole(a * b),
                BinaryOperator::Equal => Some(Value::Boolean(a == b)),
                BinaryOperator::NotEqual => Some(Value::Boolean(a != b)),
                BinaryOperator::Less => Some(Value::Boolean(a < b)),
                BinaryOperator::LessEqual => Some(Value::Boolean(a <= b)),
                BinaryOperator::Greater => Some(Value::Boolean(a > b)),
                BinaryOperator::GreaterEqual => Some(Value::Boolean(a >= b)),
                _ => None,
            }
        }
        _ => None,
    }
}
