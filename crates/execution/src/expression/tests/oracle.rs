//! A row at a time over values: slow and simple, the meaning of an expression.

use std::cmp::Ordering;

use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use types::numeric::{self, Arithmetic, Exact};
use types::value::civil_from_days;
use types::{DataType, Value};

use super::{BIGINT, TEXT, decimal};
use crate::expression::arithmetic::arithmetic_of;

/// A SQLSTATE, or [`UNKNOWN`] where the oracle's own arithmetic gives up.
pub(super) type Outcome = Result<Value, &'static str>;

pub(super) const UNKNOWN: &str = "unknown";
const RANGE: &str = "22003";

pub(super) fn value_of(expr: &Expr, row: &[Value]) -> Outcome {
    let data_type = expr.data_type;
    match &expr.kind {
        ExprKind::Column(index) => Ok(row[*index].clone()),
        ExprKind::Literal(value) => Ok(value.clone()),
        ExprKind::Binary { operator: BinaryOperator::And, left, right } => {
            logic(left, right, row, false)
        }
        ExprKind::Binary { operator: BinaryOperator::Or, left, right } => {
            logic(left, right, row, true)
        }
        ExprKind::Binary { operator, left, right } => {
            binary(*operator, &value_of(left, row)?, &value_of(right, row)?, data_type)
        }
        ExprKind::Unary { operator, operand } => {
            unary(*operator, value_of(operand, row)?, data_type)
        }
        ExprKind::Case { branches, otherwise } => {
            for (condition, result) in branches {
                if value_of(condition, row)? == Value::Boolean(true) {
                    return value_of(result, row);
                }
            }
            otherwise.as_ref().map_or(Ok(Value::Null), |it| value_of(it, row))
        }
        ExprKind::InList { operand, list, negated } => {
            let value = value_of(operand, row)?;
            if value.is_null() {
                return Ok(Value::Null);
            }
            let mut found = false;
            for it in list.iter().filter(|it| !it.is_null()) {
                found |= compare(&value, it)?.is_eq();
            }
            let unknown = !found && list.iter().any(Value::is_null);
            Ok(if unknown { Value::Null } else { Value::Boolean(found != *negated) })
        }
        ExprKind::Like { operand, pattern, negated, .. } => match value_of(operand, row)? {
            Value::Text(text) => {
                let (text, pattern): (Vec<char>, Vec<char>) =
                    (text.chars().collect(), pattern.chars().collect());
                Ok(Value::Boolean(like(&text, &pattern) != *negated))
            }
            _ => Ok(Value::Null),
        },
        ExprKind::Cast(operand) => cast(value_of(operand, row)?, data_type),
        ExprKind::Extract { operand, .. } => match value_of(operand, row)? {
            Value::Date(it) => Ok(Value::Integer(civil_from_days(i64::from(it)).0)),
            _ => Ok(Value::Null),
        },
        ExprKind::Substring { operand, start, length } => match value_of(operand, row)? {
            Value::Text(text) => {
                let end = start + length.unwrap();
                let inside = |(place, _): &(usize, char)| {
                    (*place as i64 + 1) >= *start && (*place as i64 + 1) < end
                };
                let cut: String = text.chars().enumerate().filter(inside).map(|it| it.1).collect();
                Ok(Value::Text(cut.into()))
            }
            _ => Ok(Value::Null),
        },
        ExprKind::Parameter(_) | ExprKind::Scalar(_) | ExprKind::Call { .. } => Err(UNKNOWN),
    }
}

fn binary(operator: BinaryOperator, a: &Value, b: &Value, data_type: DataType) -> Outcome {
    use BinaryOperator::*;
    match operator {
        IsDistinctFrom | IsNotDistinctFrom => {
            let same = match (a.is_null(), b.is_null()) {
                (false, false) => compare(a, b)? == Ordering::Equal,
                (a, b) => a == b,
            };
            Ok(Value::Boolean(same == (operator == IsNotDistinctFrom)))
        }
        _ if a.is_null() || b.is_null() => Ok(Value::Null),
        Equal => Ok(Value::Boolean(compare(a, b)?.is_eq())),
        NotEqual => Ok(Value::Boolean(compare(a, b)?.is_ne())),
        Less => Ok(Value::Boolean(compare(a, b)?.is_lt())),
        LessEqual => Ok(Value::Boolean(compare(a, b)?.is_le())),
        Greater => Ok(Value::Boolean(compare(a, b)?.is_gt())),
        GreaterEqual => Ok(Value::Boolean(compare(a, b)?.is_ge())),
        _ => calculate(operator, a, b, data_type),
    }
}

fn unary(operator: UnaryOperator, value: Value, data_type: DataType) -> Outcome {
    let is = |it: bool| value == Value::Boolean(it);
    Ok(match operator {
        UnaryOperator::IsNull => Value::Boolean(value.is_null()),
        UnaryOperator::IsNotNull => Value::Boolean(!value.is_null()),
        UnaryOperator::IsTrue => Value::Boolean(is(true)),
        UnaryOperator::IsFalse => Value::Boolean(is(false)),
        UnaryOperator::IsNotTrue => Value::Boolean(!is(true)),
        UnaryOperator::IsNotFalse => Value::Boolean(!is(false)),
        _ if value.is_null() => Value::Null,
        UnaryOperator::Not => Value::Boolean(is(false)),
        UnaryOperator::Negate => match value {
            Value::Float(it) => Value::Float(-it),
            it => number(-it.as_i128().unwrap(), data_type)?,
        },
    })
}

fn cast(value: Value, data_type: DataType) -> Outcome {
    let from = match &value {
        Value::Null => return Ok(Value::Null),
        // No plan of PostgreSQL's has this, but execution converts it.
        Value::Boolean(it) if data_type.is_numeric() => {
            return cast(Value::Integer(i64::from(*it)), data_type);
        }
        Value::Boolean(_) => DataType::Boolean,
        Value::Integer(_) => BIGINT,
        Value::Float(_) => DataType::Double,
        Value::Decimal { scale, .. } => decimal(38, *scale),
        Value::Date(_) => DataType::Date,
        Value::Timestamp(_) => DataType::Timestamp,
        Value::Text(_) => TEXT,
    };
    numeric::cast(&value, from, data_type).map_err(|it| it.state.0)
}

fn logic(left: &Expr, right: &Expr, row: &[Value], decides: bool) -> Outcome {
    let left = value_of(left, row)?;
    if left == Value::Boolean(decides) {
        return Ok(left);
    }
    let right = value_of(right, row)?;
    Ok(if right == Value::Boolean(decides) || left != Value::Null { right } else { Value::Null })
}

fn scale_of(value: &Value) -> u8 {
    if let Value::Decimal { scale, .. } = value { *scale } else { 0 }
}

fn compare(a: &Value, b: &Value) -> Result<Ordering, &'static str> {
    if let (Value::Float(a), Value::Float(b)) = (a, b) {
        return Ok(numeric::float::compare(*a, *b));
    }
    if let (Value::Text(a), Value::Text(b)) = (a, b) {
        return Ok(a.as_bytes().cmp(b.as_bytes()));
    }
    Ok(exact(a).compare(exact(b)))
}

fn exact(value: &Value) -> Exact {
    Exact { unscaled: value.as_i128().unwrap(), scale: scale_of(value) }
}

fn number(value: i128, data_type: DataType) -> Outcome {
    let fits = |low: i64, high: i64| i128::from(low) <= value && value <= i128::from(high);
    let ok = match data_type {
        DataType::Integer => fits(i64::from(i32::MIN), i64::from(i32::MAX)),
        DataType::Decimal { precision, .. } => value.abs() < 10_i128.pow(u32::from(precision)),
        _ => fits(i64::MIN, i64::MAX),
    };
    match data_type {
        DataType::Timestamp if ok => Ok(Value::Timestamp(value as i64)),
        DataType::Timestamp => Err("22008"),
        _ if !ok => Err(RANGE),
        DataType::Decimal { scale, .. } => Ok(Value::Decimal { unscaled: value, scale }),
        _ => Ok(Value::Integer(value as i64)),
    }
}

fn calculate(operator: BinaryOperator, a: &Value, b: &Value, data_type: DataType) -> Outcome {
    let operator = arithmetic_of(operator);
    if let (Value::Float(a), Value::Float(b)) = (a, b) {
        let value = numeric::float::arithmetic(operator, *a, *b, data_type == DataType::Real);
        return value.map(Value::Float).map_err(|it| it.state.0);
    }
    let (a, b) = (exact(a), exact(b));
    let divides = matches!(operator, Arithmetic::Divide | Arithmetic::Modulo);
    if divides && b.unscaled == 0 {
        return Err("22012");
    }
    let value = if data_type.is_integer() && operator == Arithmetic::Divide {
        a.unscaled.checked_div(b.unscaled)
    } else {
        a.arithmetic(operator, b, data_type.scale())
    };
    number(value.ok_or(RANGE)?, data_type)
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|it| like(&text[it..], rest)),
        Some(('_', rest)) => !text.is_empty() && like(&text[1..], rest),
        Some((c, rest)) => text.first() == Some(c) && like(&text[1..], rest),
    }
}
