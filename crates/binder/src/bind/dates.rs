//! Dates and numbers of days, and EXTRACT.

use plan::{BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast::{self, DateTimeField};
use types::numeric::datetime;
use types::numeric::errors::infinite_dates_apart;
use types::{DataType, SqlResult, Value};

use super::Binder;
use super::coercion::fold_cast;
use super::errors::at;

impl<'a> Binder<'a> {
    /// Dates with numbers of days and with each other.
    pub(super) fn with_dates(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Expr>> {
        use BinaryOperator::{Add, Subtract};
        use DataType::{BigInt, Date, Integer, Null, SmallInt};
        let result = match (operator, left.data_type, right.data_type) {
            (Add | Subtract, Date, SmallInt | Integer | BigInt) => Date,
            (Add, SmallInt | Integer | BigInt, Date) => Date,
            (Subtract, Date, Date | Null) | (Subtract, Null, Date) => Integer,
            (Add | Subtract, Date, _) | (Add, _, Date) => {
                let (a, b) = (left.data_type, right.data_type);
                return Err(super::comparison::no_operator(operator.sql(), a, b, whole));
            }
            _ => return Ok(None),
        };
        let (mut left, mut right) = (left.clone(), right.clone());
        if left.data_type == Null {
            left = self.coerce_unknown(left, Date).map_err(|it| at(it, whole))?;
        }
        if right.data_type == Null {
            right = self.coerce_unknown(right, Date).map_err(|it| at(it, whole))?;
        }
        if left.data_type != Date {
            std::mem::swap(&mut left, &mut right);
        }
        if right.data_type.is_integer() {
            right = fold_cast(right, Integer);
        }
        if let (Some(Value::Date(days)), Some(other)) =
            (super::constant(&left), super::constant(&right))
        {
            let infinite = datetime::is_infinite_day(i64::from(*days));
            let folded = match (other, operator) {
                // The number of days tells nothing, and no date is so far from an infinite one.
                (Value::Integer(_), _) if infinite => Some(i64::from(*days)),
                (Value::Date(other), _)
                    if infinite || datetime::is_infinite_day(i64::from(*other)) =>
                {
                    return Err(at(infinite_dates_apart(), whole));
                }
                (Value::Integer(more), Add) => i64::from(*days).checked_add(*more),
                (Value::Integer(less), _) => i64::from(*days).checked_sub(*less),
                (Value::Date(other), _) => Some(i64::from(*days) - i64::from(*other)),
                _ => None,
            };
            let value = match result {
                Date if infinite => Some(Value::Date(*days)),
                Date => folded.and_then(datetime::date).map(Value::Date),
                _ => folded.map(Value::Integer),
            };
            if let Some(value) = value {
                return Ok(Some(Expr::literal(value, result)));
            }
        }
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = ExprKind::Binary { operator, left, right };
        Ok(Some(Expr { kind, data_type: result }))
    }

    /// EXTRACT: a number, as PostgreSQL has it since version 14.
    pub(super) fn extract(
        &mut self,
        field: &'a DateTimeField,
        operand: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let bound = self.expr(operand)?;
        let bound = match bound.data_type {
            DataType::Null => self.coerce(bound, DataType::Timestamp, operand)?,
            _ => bound,
        };
        let field = field.to_string().to_lowercase().trim_matches('\'').to_owned();
        let known = match field.as_str() {
            "year" | "years" => Some(plan::DateField::Year),
            "quarter" => Some(plan::DateField::Quarter),
            "month" | "months" => Some(plan::DateField::Month),
            "day" | "days" => Some(plan::DateField::Day),
            _ => None,
        };
        if let Some(field) = known
            && matches!(bound.data_type, DataType::Date | DataType::Timestamp)
        {
            let kind = ExprKind::Extract { field, operand: Box::new(bound) };
            return Ok(Expr { kind, data_type: DataType::Decimal { precision: 10, scale: 0 } });
        }
        let field = Expr::literal(Value::Text(field.as_str().into()), DataType::Text);
        self.invoke(Function::Extract, vec![field, bound], whole)
    }
}
