//! Arithmetic with dates and points of time.

use plan::{BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast::{self, DateTimeField};
use types::numeric::datetime;
use types::{DataType, SqlResult, Value};

use super::Binder;
use super::coercion::fold_cast;
use super::errors::{at, unsupported};
use super::interval::{self, Interval};

impl<'a> Binder<'a> {
    /// A date or point of time plus or minus a constant interval.
    pub(super) fn with_interval(
        &mut self,
        operator: BinaryOperator,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Expr>> {
        use BinaryOperator::{Add, Subtract};
        if !matches!(operator, Add | Subtract) {
            return Ok(None);
        }
        let (operand, span) = match (interval::is_interval(left), interval::is_interval(right)) {
            (false, false) => return Ok(None),
            (false, true) => (left, right),
            (true, false) if operator == Add => (right, left),
            _ => return Err(unsupported("an INTERVAL as a value", whole)),
        };
        let Some(span) = interval::of_expression(span)? else {
            return Err(unsupported("an INTERVAL as a value", whole));
        };
        let operand = self.expr(operand)?;
        let operand = match operand.data_type {
            DataType::Date | DataType::Timestamp => operand,
            DataType::Null => {
                self.coerce_unknown(operand, DataType::Timestamp).map_err(|it| at(it, whole))?
            }
            other => {
                let sign = operator.sql();
                let what = super::coercion::name_of(other);
                return Err(unsupported(&format!("{what} {sign} interval"), whole));
            }
        };
        self.moved(operator, operand, span, whole).map(Some)
    }

    /// A date or point of time plus or minus a span.
    pub(super) fn moved(
        &mut self,
        operator: BinaryOperator,
        operand: Expr,
        span: Interval,
        whole: &ast::Expr,
    ) -> SqlResult<Expr> {
        let span = match operator {
            BinaryOperator::Subtract => span.times(-1.0),
            _ => Some(span),
        };
        let span = span.ok_or_else(|| unsupported("so long an INTERVAL", whole))?;
        self.later(operand, span)
    }

    /// A point of time some span after a date or another.
    fn later(&mut self, operand: Expr, span: Interval) -> SqlResult<Expr> {
        let whole = |it: i64, of: DataType| Expr::literal(Value::Integer(it), of);
        let arguments = vec![
            operand,
            whole(span.months, DataType::Integer),
            whole(span.days, DataType::Integer),
            whole(span.micros, DataType::BigInt),
        ];
        self.fold_call(Function::AddInterval, arguments, DataType::Timestamp)
    }

    /// Dates with numbers of days and with each other.
    pub(super) fn with_dates(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Expr>> {
        use BinaryOperator::{Add, Subtract};
        use DataType::{BigInt, Date, Integer, Null, SmallInt, Timestamp};
        let result = match (operator, left.data_type, right.data_type) {
            (Add | Subtract, Date, SmallInt | Integer | BigInt) => Date,
            (Add, SmallInt | Integer | BigInt, Date) => Date,
            (Subtract, Date, Date) | (Subtract, Date | Timestamp, Null) => match left.data_type {
                Date => Integer,
                _ => return Err(unsupported("the difference of two points of time", whole)),
            },
            (Subtract, Null, Date) => Integer,
            (Subtract, Timestamp | Date, Timestamp) | (Subtract, Timestamp, Date) => {
                let hint = "subtract dates, or use extract(epoch FROM ..)";
                let error = unsupported("the difference of two points of time", whole);
                return Err(error.with_hint(hint));
            }
            (Add | Subtract, Date | Timestamp, _) | (Add, _, Date | Timestamp) => {
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
            let folded = match (other, operator) {
                (Value::Integer(more), Add) => i64::from(*days).checked_add(*more),
                (Value::Integer(less), _) => i64::from(*days).checked_sub(*less),
                (Value::Date(other), _) => Some(i64::from(*days) - i64::from(*other)),
                _ => None,
            };
            let value = match result {
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
