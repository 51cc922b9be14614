//! Intervals as they are spelt in a statement: `INTERVAL '1 day'`, `INTERVAL '3' MONTH`, `'1 2:03'::INTERVAL DAY TO MINUTE`.

use plan::{Expr, ExprKind, Function};
use sqlparser::ast;
use types::numeric::held_interval;
use types::numeric::interval_text::{self, Fields, Unit};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::fold_cast;
use super::errors::{at, unsupported};
use crate::interval_fields::fields;

impl<'a> Binder<'a> {
    /// An interval as a constant, or so many of a unit.
    pub(super) fn interval(&mut self, it: &'a ast::Interval) -> SqlResult<Expr> {
        let fields = fields(it).map_err(|error| at(error, &*it.value))?;
        let text = match &*it.value {
            ast::Expr::Value(value) => match &value.value {
                // The word behind it would be taken for its name, and the number for seconds.
                ast::Value::Number(..) if it.leading_field.is_none() => {
                    let message = "syntax error: the number of an INTERVAL needs a unit behind it";
                    let error = SqlError::new(SqlState::SYNTAX, message);
                    return Err(at(error, &*it.value));
                }
                ast::Value::Number(text, _) => Some(text.as_str()),
                other => super::literal::text_of(other),
            },
            _ => None,
        };
        match (text, fields.range) {
            (Some(text), _) => {
                self.interval_constant(text, fields).map_err(|error| at(error, &*it.value))
            }
            (None, Some((first, last))) if first == last && fields.digits.is_none() => {
                self.units_of(&it.value, fields)
            }
            _ => Err(unsupported("an INTERVAL of anything but a text", &*it.value)),
        }
    }

    /// So many of a unit, as DuckDB's `INTERVAL (n) DAY`.
    fn units_of(&mut self, count: &'a ast::Expr, fields: Fields) -> SqlResult<Expr> {
        let bound = self.expr(count)?;
        if !bound.data_type.is_numeric() {
            return Err(unsupported("an INTERVAL of anything but a text or a number", count));
        }
        let arguments =
            vec![self.interval_constant("1", fields)?, fold_cast(bound, DataType::Double)];
        self.fold_call(Function::MultiplyInterval, arguments, DataType::Interval)
    }

    /// A value cast to an interval of fields.
    pub(super) fn cast_to_interval(
        &mut self,
        operand: &'a ast::Expr,
        fields: Fields,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let bound = self.expr(operand)?;
        if let ExprKind::Literal(Value::Text(text)) = &bound.kind
            && (bound.data_type == DataType::Null || bound.data_type.is_text())
        {
            return self.interval_constant(text, fields).map_err(|error| at(error, whole));
        }
        let from = bound.data_type;
        let value = match from {
            DataType::Null => self.coerce_unknown(bound, DataType::Interval)?,
            DataType::Interval => bound,
            // A number without a unit counts seconds in a text that is no constant.
            _ if from.is_text() && fields.range.is_none_or(|it| it.1 == Unit::Second) => {
                fold_cast(bound, DataType::Interval)
            }
            _ if types::numeric::is_castable(from, DataType::Interval) && !from.is_text() => {
                fold_cast(bound, DataType::Interval)
            }
            _ => return Err(unsupported("a cast to INTERVAL with fields of such a value", whole)),
        };
        self.fitted(value, fields)
    }

    /// What is kept of a time, an interval or a number by fields and digits; other values stay.
    pub(super) fn fitted(&mut self, value: Expr, fields: Fields) -> SqlResult<Expr> {
        let to = value.data_type;
        if let Some(it) = fields.number.filter(|_| to == DataType::Numeric) {
            let whole = |it: i64| Expr::literal(Value::Integer(it), DataType::BigInt);
            let arguments = vec![value, whole(it.precision.into()), whole(it.scale.into())];
            return self.fold_call(Function::FitNumber, arguments, to);
        }
        let digits = Value::Integer(fields.digits.map_or(6, i64::from));
        let digits = Expr::literal(digits, DataType::BigInt);
        let keeps_all = fields.range.is_none() && fields.digits.is_none_or(|it| it >= 6);
        match to {
            _ if keeps_all => Ok(value),
            DataType::Interval => {
                let last = Value::Text(fields.range.map_or("", |it| it.1.name()).into());
                let arguments = vec![value, Expr::literal(last, DataType::Text), digits];
                self.fold_call(Function::FitInterval, arguments, to)
            }
            DataType::Timestamp | DataType::TimestampTz | DataType::Time | DataType::TimeTz => {
                self.fold_call(Function::FitTime, vec![value, digits], to)
            }
            _ => Ok(value),
        }
    }

    fn interval_constant(&self, text: &str, fields: Fields) -> SqlResult<Expr> {
        let text = Value::Text(text.into());
        let value = self.read_in_style(&text, DataType::Interval, |value, zone| {
            let Value::Text(text) = value else { return Ok(value.clone()) };
            interval_text::parse_in(text, fields, zone.styles().intervals).map(held_interval)
        })?;
        Ok(Expr::literal(value, DataType::Interval))
    }
}
