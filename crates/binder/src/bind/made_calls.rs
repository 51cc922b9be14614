//! Calls that are made of others: num_nulls, isfinite, pg_typeof, typeof, random between two bounds, and DuckDB's names of the fields
//! of dates.

use plan::build::unary;
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, name_of};
use super::errors::at;
use crate::catalog_tables::INPUT_ERRORS;

/// DuckDB's functions that are fields of dates and points of time.
const FIELDS: [&str; 20] = [
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "decade",
    "century",
    "millennium",
    "dayofweek",
    "dayofyear",
    "isodow",
    "isoyear",
    "weekofyear",
    "weekday",
    "dayofmonth",
    "microsecond",
    "millisecond",
];

impl<'a> Binder<'a> {
    /// A call that is made of others; `None` of any other name.
    pub(super) fn made_of_others(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        match (name, bound) {
            ("num_nulls", [_, ..]) => Some(self.counts_of(UnaryOperator::IsNull, bound)),
            ("num_nonnulls", [_, ..]) => Some(self.counts_of(UnaryOperator::IsNotNull, bound)),
            ("isfinite", [of]) if super::times::is_moment(of.data_type) => {
                Some(Ok(super::times::is_finite(of.clone())))
            }
            // None of ours is infinite.
            ("isfinite", [of]) if of.data_type == DataType::Interval => {
                let known = unary(UnaryOperator::IsNotNull, of.clone());
                let truth = Expr::literal(Value::Boolean(true), DataType::Boolean);
                let (branches, data_type) = (vec![(known, truth)], DataType::Boolean);
                Some(Ok(Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type }))
            }
            ("getvariable", [name]) => match super::constant(name) {
                Some(Value::Text(name)) => {
                    self.is_stable = false;
                    let found = self.environment.session.variable(&name.to_lowercase());
                    let (value, of) = found.unwrap_or((Value::Null, DataType::Null));
                    Some(Ok(Expr::literal(value, of)))
                }
                _ => Some(Err(super::errors::unsupported("a variable of no constant name", whole))),
            },
            ("time_bucket", [_, moment, ..]) if moment.data_type != DataType::Null => {
                Some(self.time_bucket(bound, whole))
            }
            ("epoch_ms", [of]) if of.data_type != DataType::Null => {
                Some(self.milliseconds(of, whole))
            }
            ("pg_input_is_valid", [text, of]) => Some(self.is_valid_input(text, of, whole)),
            (INPUT_ERRORS, [text, of]) => Some(
                self.input_text("pg_input_error_info", text, whole)
                    .and_then(|text| self.input_errors(&text, of, whole)),
            ),
            ("uuidv7", []) => Some(
                self.invoke(Function::Now, Vec::new(), whole)
                    .and_then(|now| self.invoke(Function::UuidV7, vec![now], whole)),
            ),
            ("uuidv7", [shift]) => Some(self.shifted_uuid(shift, whole)),
            ("random", [low, high]) => Some(self.random_between(low, high, whole)),
            (_, [of])
                if FIELDS.contains(&name)
                    && matches!(
                        of.data_type,
                        DataType::Date
                            | DataType::Timestamp
                            | DataType::TimestampTz
                            | DataType::Interval
                            | DataType::Time
                            | DataType::TimeTz
                    ) =>
            {
                let field = Expr::literal(Value::Text(name.into()), DataType::Text);
                let found = self.invoke(Function::DatePart, vec![field, of.clone()], whole);
                Some(found.map(|it| fold_cast(it, DataType::BigInt)))
            }
            _ => None,
        }
    }

    /// The name of the type of a value, as PostgreSQL or DuckDB has it; `None` of another call.
    pub(super) fn type_of(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
    ) -> Option<SqlResult<Expr>> {
        let named: fn(&Expr) -> String = match name {
            "pg_typeof" => |it| name_of(it.data_type),
            "typeof" => duckdb_name,
            _ => return None,
        };
        let [of] = arguments else { return None };
        Some(self.alone(of).map(|of| {
            let name = Value::Text(named(&of).into());
            self.leave_out([of]);
            Expr::literal(name, DataType::Text)
        }))
    }

    /// `time_bucket` of a moment, whose spans are those that the clocks of a zone show: of UTC, where none is said.
    fn bucket_of_moment(&mut self, bound: &[Expr], whole: &'a ast::Expr) -> SqlResult<Expr> {
        let is_zone = |it: &Expr| it.data_type == DataType::Null || it.data_type.is_text();
        let (zone, said) = match bound {
            [said @ .., zone] if said.len() > 1 && is_zone(zone) => (zone.clone(), said),
            said => (Expr::literal(Value::Text("UTC".into()), DataType::Text), said),
        };
        let mut shown = Vec::with_capacity(said.len());
        for argument in said {
            shown.push(match argument.data_type {
                DataType::TimestampTz => {
                    let zone = self.copy(&zone)?;
                    self.invoke(Function::Timezone, vec![zone, argument.clone()], whole)?
                }
                _ => argument.clone(),
            });
        }
        let begin = self.time_bucket(&shown, whole)?;
        self.invoke(Function::Timezone, vec![zone, begin], whole)
    }

    /// `epoch_ms`: the moment of so many milliseconds from 1970, or the milliseconds of a moment, a time of day or an interval.
    fn milliseconds(&mut self, of: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let wrong = || SqlError::internal("milliseconds are no points of time");
        if of.data_type.plain().is_integer() {
            let step = Expr::literal(Value::Text("1 millisecond".into()), DataType::Null);
            let step = self.coerce_unknown(step, DataType::Interval)?;
            let span = self.with_times(BinaryOperator::Multiply, of, &step, whole)?;
            let begin = Expr::literal(Value::Timestamp(0), DataType::Timestamp);
            let span = span.ok_or_else(wrong)?;
            let moment = self.with_times(BinaryOperator::Add, &begin, &span, whole)?;
            return moment.ok_or_else(wrong);
        }
        let field = Expr::literal(Value::Text("epoch".into()), DataType::Text);
        let seconds = self.invoke(Function::Extract, vec![field, of.clone()], whole)?;
        let thousand = Expr::literal(Value::Integer(1_000), DataType::Integer);
        let found = self.calculate(BinaryOperator::Multiply, seconds, thousand);
        Ok(fold_cast(found.ok_or_else(wrong)??, DataType::BigInt))
    }

    /// `time_bucket`, which is a day of days, and whose spans an interval may shift.
    fn time_bucket(&mut self, bound: &[Expr], whole: &'a ast::Expr) -> SqlResult<Expr> {
        if bound[1].data_type == DataType::TimestampTz {
            return self.bucket_of_moment(bound, whole);
        }
        let wrong = || SqlError::internal("points of time do not add up");
        let shift = bound.get(2).filter(|it| it.data_type == DataType::Interval);
        let begin = match shift {
            Some(shift) if bound.len() == 3 => {
                let moment = fold_cast(bound[1].clone(), DataType::Timestamp);
                let moved = self.with_times(BinaryOperator::Subtract, &moment, shift, whole)?;
                let arguments = vec![bound[0].clone(), moved.ok_or_else(wrong)?];
                let begin = self.invoke(Function::TimeBucket, arguments, whole)?;
                let back = self.with_times(BinaryOperator::Add, &begin, shift, whole)?;
                back.ok_or_else(wrong)?
            }
            _ => self.invoke(Function::TimeBucket, bound.to_vec(), whole)?,
        };
        let is_day = bound[1].data_type == DataType::Date;
        Ok(if is_day { fold_cast(begin, DataType::Date) } else { begin })
    }

    /// Whether a text is read as a type of a constant name.
    fn is_valid_input(&mut self, text: &Expr, of: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let text = self.input_text("pg_input_is_valid", text, whole)?;
        let errors = self.input_errors(&text, of, whole)?;
        let place = Expr::literal(Value::Integer(4), DataType::BigInt);
        let state = self.invoke(Function::ArrayItem, vec![errors.clone(), place], whole)?;
        let is_valid = unary(UnaryOperator::IsNull, state);
        let known = unary(UnaryOperator::IsNotNull, errors);
        let (branches, data_type) = (vec![(known, is_valid)], DataType::Boolean);
        Ok(Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type })
    }

    /// Why a text is not read as a type of a constant name.
    fn input_errors(&mut self, text: &Expr, of: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let none = DataType::Array(types::Element::Text);
        let name = match super::constant(of) {
            Some(Value::Text(name)) => name.to_string(),
            Some(Value::Null) => {
                self.leave_out([text.clone()]);
                return Ok(plan::build::null(none));
            }
            _ => return Err(super::errors::unsupported("a type that is no constant", whole)),
        };
        let said = crate::file_reference::written_type(&name).map_err(|it| at(it, whole))?;
        let to = self.type_named(&said).map_err(|it| at(it, whole))?;
        self.invoke(Function::InputError, vec![text.clone(), plan::build::null(to)], whole)
    }

    /// A text of which is asked whether it is a value.
    fn input_text(&mut self, of: &str, text: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        match text.data_type {
            DataType::Null => self.coerce_unknown(text.clone(), DataType::Text),
            it if it.is_text() => Ok(fold_cast(text.clone(), DataType::Text)),
            other => {
                let name = name_of(other);
                let message = format!("function {of}({name}, text) does not exist");
                Err(at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole))
            }
        }
    }

    /// How many values are NULL, or not.
    fn counts_of(&mut self, test: UnaryOperator, bound: &[Expr]) -> SqlResult<Expr> {
        let number = |it: i64| Expr::literal(Value::Integer(it), DataType::Integer);
        let mut sum = number(0);
        for value in bound {
            let value = match value.data_type {
                DataType::Null => self.coerce_unknown(value.clone(), DataType::Text)?,
                _ => value.clone(),
            };
            let branches = vec![(unary(test, value), number(1))];
            let otherwise = Some(Box::new(number(0)));
            let kind = ExprKind::Case { branches, otherwise };
            let one = Expr { kind, data_type: DataType::Integer };
            let more = self.calculate(BinaryOperator::Add, sum, one);
            sum = more.unwrap_or_else(|| Err(SqlError::internal("counts do not add up")))?;
        }
        Ok(sum)
    }

    /// A UUID of version 7 of another moment than now.
    fn shifted_uuid(&mut self, shift: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let shift = self.converted(shift.clone(), DataType::Interval)?;
        let now = self.invoke(Function::Now, Vec::new(), whole)?;
        let moment = self.with_times(BinaryOperator::Add, &now, &shift, whole)?;
        let moment = moment.ok_or_else(|| SqlError::internal("points of time do not add up"))?;
        self.invoke(Function::UuidV7, vec![moment], whole)
    }

    /// A whole number between two bounds, which are constants.
    fn random_between(&mut self, low: &Expr, high: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let bound = |it: &Expr| match super::constant(it) {
            Some(Value::Integer(number)) if it.data_type.is_integer() => Ok(*number),
            _ => Err(super::errors::unsupported("random between what is no whole constant", whole)),
        };
        let (least, greatest) = (bound(low)?, bound(high)?);
        let data_type = match (low.data_type, high.data_type) {
            (DataType::BigInt, _) | (_, DataType::BigInt) => DataType::BigInt,
            _ => DataType::Integer,
        };
        if least > greatest {
            let message = "lower bound must be less than or equal to upper bound";
            return Err(at(SqlError::new(SqlState::INVALID_PARAMETER, message), whole));
        }
        let width = (i128::from(greatest) - i128::from(least) + 1) as f64;
        if width > (1u64 << 53) as f64 {
            let what = "random between bounds that are farther apart than 2^53";
            return Err(super::errors::unsupported(what, whole));
        }
        let float = |it: f64| Expr::literal(Value::Float(it), DataType::Double);
        let draw = self.invoke(Function::Random, Vec::new(), whole)?;
        let drawn = self.calculate(BinaryOperator::Multiply, draw, float(width));
        let drawn = drawn.unwrap_or_else(|| Err(SqlError::internal("no draw")))?;
        let floor = self.invoke(Function::Floor, vec![drawn], whole)?;
        let start = Expr::literal(Value::Integer(least), data_type);
        let sum = self.calculate(BinaryOperator::Add, fold_cast(floor, data_type), start);
        sum.unwrap_or_else(|| Err(SqlError::internal("no draw")))
    }
}

/// The type of a value as DuckDB calls it.
fn duckdb_name(of: &Expr) -> String {
    match (of.data_type, &of.kind) {
        (DataType::Null, ExprKind::Literal(Value::Text(_))) => "VARCHAR".to_owned(),
        (DataType::Null, _) => "\"NULL\"".to_owned(),
        (data_type, _) => duckdb_type(data_type),
    }
}

fn duckdb_type(data_type: DataType) -> String {
    match data_type {
        DataType::Real => "FLOAT".to_owned(),
        DataType::Double => "DOUBLE".to_owned(),
        DataType::TimestampTz => "TIMESTAMP WITH TIME ZONE".to_owned(),
        DataType::Bytea => "BLOB".to_owned(),
        it if it.is_text() => "VARCHAR".to_owned(),
        DataType::Array(element) => format!("{}[]", duckdb_type(element.data_type())),
        DataType::Struct(of) if !of.is_row() => {
            let field = |it: &types::structs::Field| {
                format!("{} {}", crate::syntax::quoted_name(&it.name), duckdb_type(it.data_type))
            };
            let fields: Vec<String> = of.fields().iter().map(field).collect();
            format!("STRUCT({})", fields.join(", "))
        }
        DataType::Map(entry) => {
            let types: Vec<String> =
                entry.fields().iter().map(|it| duckdb_type(it.data_type)).collect();
            format!("MAP({})", types.join(", "))
        }
        other => other.to_string(),
    }
}
