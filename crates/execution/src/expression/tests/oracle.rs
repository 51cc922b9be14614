//! A row at a time over values: slow and simple, the meaning of an expression.

use std::cmp::Ordering;

use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use types::value::civil_from_days;
use types::{DataType, Value};

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
    match (value, data_type) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Date(it), DataType::Timestamp) => {
            number(i128::from(it) * 86_400_000_000, data_type)
        }
        (Value::Timestamp(it), DataType::Date) => {
            Ok(Value::Date(it.div_euclid(86_400_000_000) as i32))
        }
        (value, DataType::Double) => {
            let divisor = 10_f64.powi(i32::from(scale_of(&value)));
            Ok(Value::Float(value.as_i128().unwrap() as f64 / divisor))
        }
        (value, DataType::Text) => {
            Ok(Value::Text(value.to_string().replace("DATE ", "").replace('\'', "").into()))
        }
        (value, to) => {
            let from = scale_of(&value);
            number(rescale(value.as_i128().unwrap(), from, to.scale())?, to)
        }
    }
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
        return Ok(match (a.is_nan(), b.is_nan()) {
            (false, false) => a.partial_cmp(b).unwrap(),
            (a, b) => a.cmp(&b),
        });
    }
    if let (Value::Text(a), Value::Text(b)) = (a, b) {
        return Ok(a.as_bytes().cmp(b.as_bytes()));
    }
    let scale = scale_of(a).max(scale_of(b));
    let wide = |it: &Value| rescale(it.as_i128().unwrap(), scale_of(it), scale);
    Ok(wide(a).map_err(|_| UNKNOWN)?.cmp(&wide(b).map_err(|_| UNKNOWN)?))
}

fn rescale(value: i128, from: u8, to: u8) -> Result<i128, &'static str> {
    let factor = 10_i128.pow(u32::from(from.abs_diff(to)));
    if from <= to { value.checked_mul(factor).ok_or(RANGE) } else { Ok(rounded(value, factor)) }
}

fn rounded(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value / divisor, (value % divisor).abs());
    let away = if (value < 0) == (divisor < 0) { 1 } else { -1 };
    if rest >= divisor.abs() - rest { quotient + away } else { quotient }
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
    use BinaryOperator::*;
    if let (Value::Float(a), Value::Float(b)) = (a, b) {
        if operator == Divide && *b == 0.0 {
            return Err("22012");
        }
        let value = match operator {
            Add => a + b,
            Subtract => a - b,
            Multiply => a * b,
            _ => a / b,
        };
        let overflow = value.is_infinite() && a.is_finite() && b.is_finite();
        return if overflow { Err(RANGE) } else { Ok(Value::Float(value)) };
    }
    let (x, y, s, t) = (a.as_i128().unwrap(), b.as_i128().unwrap(), scale_of(a), scale_of(b));
    let scale = s.max(t);
    let limited = |it: i128| if it.abs() < 10_i128.pow(38) { Ok(it) } else { Err(RANGE) };
    let same = || -> Result<(i128, i128), &'static str> {
        Ok((limited(rescale(x, s, scale)?)?, limited(rescale(y, t, scale)?)?))
    };
    if matches!(operator, Divide | Modulo) && y == 0 {
        return Err("22012");
    }
    let (value, scale) = match operator {
        Add => same().map(|(x, y)| (x.checked_add(y), scale))?,
        Subtract => same().map(|(x, y)| (x.checked_sub(y), scale))?,
        Multiply => (x.checked_mul(y), s + t),
        Modulo => same().map(|(x, y)| (x.checked_rem(y), scale))?,
        _ if data_type.is_integer() => (x.checked_div(y), 0),
        _ => {
            let digits = u32::from(data_type.scale() + t) - u32::from(s);
            let dividend = x.checked_mul(10_i128.pow(digits)).ok_or(UNKNOWN)?;
            (Some(rounded(dividend, y)), data_type.scale())
        }
    };
    number(rescale(value.ok_or(RANGE)?, scale, data_type.scale())?, data_type)
}

fn like(text: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|it| like(&text[it..], rest)),
        Some(('_', rest)) => !text.is_empty() && like(&text[1..], rest),
        Some((c, rest)) => text.first() == Some(c) && like(&text[1..], rest),
    }
}
