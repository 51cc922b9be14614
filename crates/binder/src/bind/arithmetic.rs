//! Arithmetic on numbers. What is done with dates is in `dates`.

use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use sqlparser::ast;
use types::numeric::{self, Arithmetic};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, name_of, roomy};
use super::comparison::no_operator;
use super::constant;
use super::errors::at;

fn arithmetic_of(operator: BinaryOperator) -> Option<Arithmetic> {
    Some(match operator {
        BinaryOperator::Add => Arithmetic::Add,
        BinaryOperator::Subtract => Arithmetic::Subtract,
        BinaryOperator::Multiply => Arithmetic::Multiply,
        BinaryOperator::Divide => Arithmetic::Divide,
        BinaryOperator::Modulo => Arithmetic::Modulo,
        _ => return None,
    })
}

/// Among decimals, a whole constant has the digits that it is spelt with: a quotient has as many places as those need.
fn as_digits(left: Expr, right: Expr) -> (Expr, Expr) {
    let is_decimal = |it: &Expr| matches!(it.data_type, DataType::Decimal { .. });
    let spelt = |it: Expr| match it.kind {
        ExprKind::Literal(Value::Integer(value)) => {
            let precision = value.unsigned_abs().checked_ilog10().map_or(1, |it| it as u8 + 1);
            let value = Value::Decimal { unscaled: i128::from(value), scale: 0 };
            Expr::literal(value, DataType::Decimal { precision, scale: 0 })
        }
        _ => it,
    };
    match (is_decimal(&left), is_decimal(&right)) {
        (true, false) => (left, spelt(right)),
        (false, true) => (spelt(left), right),
        _ => (left, right),
    }
}

/// An INTEGER as a constant.
pub(super) fn integer(value: i64) -> Expr {
    Expr::literal(Value::Integer(value), DataType::Integer)
}

/// The error of a sign before what is no number.
fn no_sign(sign: &str, operand: DataType, node: &ast::Expr) -> SqlError {
    let message = format!("operator does not exist: {sign} {}", name_of(operand));
    let hint = "No operator matches the given name and argument type. You might need to add an explicit type cast.";
    at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message).with_hint(hint), node)
}

/// Minus before a constant that nothing gives a type.
fn not_unique(operand: &ast::Expr) -> SqlError {
    let error = SqlError::new(SqlState("42725"), "operator is not unique: - unknown");
    at(error.with_hint("cast the constant to a number"), operand)
}

impl<'a> Binder<'a> {
    pub(super) fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (left, right) = self.operands(left, right)?;
        if let Some(of_json) = self.jsonb_operator(&left, &right, operator.sql(), whole) {
            return of_json;
        }
        if let Some(result) = self.with_times(operator, &left, &right, whole)? {
            return Ok(result);
        }
        if let Some(result) = self.with_dates(operator, &left, &right, whole)? {
            return Ok(result);
        }
        if let Some(result) = self.own_operator(operator.sql(), &left, &right, whole)? {
            return Ok(result);
        }
        let (a, b) = (left.data_type, right.data_type);
        // A constant of unknown type is one of the other operand's.
        let (a, b) = match (a, b) {
            (DataType::Null, DataType::Null) => (DataType::Integer, DataType::Integer),
            (DataType::Null, other) | (other, DataType::Null) => (other, other),
            known => known,
        };
        let left = self.known(left, a, whole)?;
        let right = self.known(right, b, whole)?;
        self.calculate(operator, left, right)
            .unwrap_or_else(|| Err(no_operator(operator.sql(), a, b, whole)))
    }

    fn known(&mut self, expr: Expr, data_type: DataType, whole: &'a ast::Expr) -> SqlResult<Expr> {
        match expr.data_type {
            DataType::Null => {
                let to = roomy(data_type, &expr);
                self.coerce_unknown(expr, to).map_err(|it| at(it, whole))
            }
            _ => Ok(expr),
        }
    }

    /// The result of an operator on two bound numbers; `None` where there is no such operator.
    pub(super) fn calculate(
        &mut self,
        operator: BinaryOperator,
        left: Expr,
        right: Expr,
    ) -> Option<SqlResult<Expr>> {
        let arithmetic = arithmetic_of(operator)?;
        let (left, right) = match operator {
            BinaryOperator::Divide => as_digits(left, right),
            _ => (left, right),
        };
        let (a, b) = (left.data_type, right.data_type);
        let data_type = numeric::arithmetic_type(arithmetic, a, b)?;
        if let (Some(x), Some(y)) = (constant(&left), constant(&right))
            && let Ok(value) = numeric::arithmetic(arithmetic, (x, a), (y, b))
        {
            return Some(Ok(Expr::literal(value, data_type)));
        }
        if [&left, &right].into_iter().any(|it| constant(it).is_some_and(Value::is_null)) {
            self.leave_out([left, right]);
            return Some(Ok(plan::build::null(data_type)));
        }
        // Exact numbers keep their types, which say how many digits there are; others meet.
        let side = |it: Expr| match data_type {
            DataType::Real | DataType::Double | DataType::Numeric => fold_cast(it, data_type),
            integer if integer.is_integer() => fold_cast(it, integer),
            _ => it,
        };
        let (left, right) = (Box::new(side(left)), Box::new(side(right)));
        Some(Ok(Expr { kind: ExprKind::Binary { operator, left, right }, data_type }))
    }

    /// Minus before an operand.
    pub(super) fn minus(
        &mut self,
        operand: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        // Signs are part of a number as it is spelt: the least of a type has no positive counterpart.
        if let Some(spelt) = crate::values::signed(whole) {
            let (value, data_type) = match numeric::parse_literal(&spelt) {
                Ok(found) => found,
                Err(_) => {
                    let text = spelt.trim_start_matches('-');
                    let (value, data_type) =
                        numeric::parse_literal(text).map_err(|it| at(it, whole))?;
                    match spelt.starts_with('-') {
                        true => numeric::negate(&value, data_type).map_err(|it| at(it, whole))?,
                        false => (value, data_type),
                    }
                }
            };
            return Ok(Expr::literal(value, data_type));
        }
        let bound = self.expr(operand)?;
        let bound = match bound.data_type {
            DataType::Null if constant(&bound).is_some() => return Err(not_unique(operand)),
            DataType::Null => {
                self.coerce_unknown(bound, DataType::Double).map_err(|it| at(it, whole))?
            }
            it if it.is_numeric() => bound,
            DataType::Interval => return self.negated_interval(bound),
            other => return Err(no_sign("-", other, whole)),
        };
        let data_type = bound.data_type;
        if let Some(value) = constant(&bound)
            && let Ok((value, of)) = numeric::negate(value, data_type)
            && of == data_type
        {
            return Ok(Expr::literal(value, of));
        }
        let operand = Box::new(bound);
        Ok(Expr { kind: ExprKind::Unary { operator: UnaryOperator::Negate, operand }, data_type })
    }

    /// Plus before an operand: the operand, which must be a number.
    pub(super) fn plus(&mut self, operand: &'a ast::Expr) -> SqlResult<Expr> {
        let bound = self.expr(operand)?;
        match bound.data_type {
            DataType::Null => self.coerce(bound, DataType::Double, operand),
            it if it.is_numeric() => Ok(bound),
            other => Err(no_sign("+", other, operand)),
        }
    }
}
