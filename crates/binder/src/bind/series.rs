//! Series: `generate_series(first, last [, step])` of numbers and of points of time, and DuckDB's `range`, which leaves its
//! end out. In FROM a series may use what stands left of it; in a select list it makes several rows of each.
//!
//! Key decision: a series is a row that is repeated and numbered; its value follows from the number.

use plan::build::unary;
use plan::relation::{Apply, Attr, Rel};
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, Spanned, TableAlias};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::coercion::{fold_cast, name_of};
use super::errors::{at, unsupported};
use super::level::{Clause, Level, one_row};
use super::scope::{Frame, Named};
use super::{Answer, Binder, OutputColumn, mapped};

/// Whether a name is that of a series.
pub(super) fn is_series(name: &str) -> bool {
    matches!(name, "generate_series" | "range")
}

/// The rows of a series.
struct Series {
    rel: Rel,
    value: Attr,
    /// From 1 on.
    number: Attr,
}

impl<'a> Binder<'a> {
    /// A series in FROM.
    pub(super) fn series_source(
        &mut self,
        name: &str,
        arguments: &'a [FunctionArg],
        with_ordinality: bool,
        (alias, node): (Option<&'a TableAlias>, &'a ast::ObjectName),
    ) -> SqlResult<(Rel, Frame)> {
        let arguments = plain(arguments, node)?;
        let Series { rel, value, number } = self.series(name, &arguments, node)?;
        let own = alias.map_or_else(|| name.to_owned(), |it| crate::syntax::ident(&it.name));
        let mut columns = vec![OutputColumn { name: own.clone(), attr: value }];
        if with_ordinality {
            columns.push(OutputColumn { name: "ordinality".to_owned(), attr: number });
        }
        self.called(own, Answer { rel, columns }, alias)
    }

    /// The rows of a function in FROM, under an alias or its own name.
    pub(super) fn called(
        &mut self,
        own: String,
        answer: Answer,
        alias: Option<&'a TableAlias>,
    ) -> SqlResult<(Rel, Frame)> {
        if alias.is_some() {
            return self.derived(answer, alias);
        }
        let columns = answer.columns.into_iter();
        let columns = columns.map(|it| Named { name: it.name, attr: it.attr }).collect();
        Ok((answer.rel, Frame::of_made(own, columns)))
    }

    /// A series in a select list: each row comes once for each of its values.
    pub(super) fn series_in_list(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let clause = self.level().clause;
        if clause != Clause::Select {
            let message = format!("set-returning functions are not allowed in {}", clause.name());
            return Err(at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), whole));
        }
        if std::mem::replace(&mut self.level().has_series, true) {
            return Err(unsupported("a second series in a select list", whole));
        }
        let ast::FunctionArguments::List(list) = &call.args else {
            return Err(super::aggregate_types::wrong_arguments(name, "", whole));
        };
        let arguments = plain(&list.args, whole)?;
        let Series { rel, value, .. } = self.series(name, &arguments, whole)?;
        self.attach(rel, Apply::Join { outer: false, on: Vec::new() });
        Ok(self.column_expr(value))
    }

    fn series(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        node: &impl Spanned,
    ) -> SqlResult<Series> {
        let level = Level::new(Frame::default(), one_row(), Clause::From);
        let (mut bound, level) = self.in_level(level, |this| {
            arguments.iter().map(|it| this.expr(it)).collect::<SqlResult<Vec<_>>>()
        })?;
        let shown: Vec<String> = bound.iter().map(|it| name_of(it.data_type)).collect();
        let none = || {
            let message = format!("function {name}({}) does not exist", shown.join(", "));
            at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), node)
        };
        let is_moment = |it: &Expr| {
            matches!(it.data_type, DataType::Date | DataType::Timestamp | DataType::TimestampTz)
        };
        let exclusive = name == "range";
        let of_moments = bound.iter().take(2).any(is_moment);
        match bound.len() {
            1 if exclusive => bound.insert(0, integer(0)),
            2 | 3 => {}
            _ => return Err(none()),
        }
        if of_moments {
            let [_, _, step] = &mut bound[..] else { return Err(none()) };
            if step.data_type == DataType::Null {
                *step = self.coerce_unknown(step.clone(), DataType::Interval)?;
            }
            if step.data_type != DataType::Interval {
                return Err(none());
            }
            if exclusive {
                return Err(unsupported("range of points of time", node));
            }
            return self.series_of_moments(bound, level.input);
        }
        if bound.len() == 2 {
            bound.push(integer(1));
        }
        let data_type = self.unify(&mut bound, name).map_err(|_| none())?;
        if !data_type.is_integer() && !matches!(data_type, DataType::Decimal { .. }) {
            return Err(none());
        }
        if exclusive {
            self.leave_out_end(&mut bound, node)?;
        }
        self.series_of_numbers(bound, data_type, level.input)
    }

    /// The last number of a series of whole numbers that ends before its end.
    fn leave_out_end(&mut self, bound: &mut [Expr], node: &impl Spanned) -> SqlResult<()> {
        let forward = match super::constant(&bound[2]) {
            Some(Value::Integer(step)) => *step > 0,
            _ => return Err(unsupported("range by a step that is no constant", node)),
        };
        let one = integer(if forward { 1 } else { -1 });
        let end = bound[1].clone();
        if let Some(last) = self.calculate(BinaryOperator::Subtract, end, one) {
            bound[1] = last?;
        }
        Ok(())
    }

    fn series_of_numbers(
        &mut self,
        bound: Vec<Expr>,
        data_type: DataType,
        input: Rel,
    ) -> SqlResult<Series> {
        let (input, own) = self.named_values(bound, input);
        let length = self.fold_call(Function::SeriesLength, own.clone(), DataType::BigInt)?;
        let (rel, number) = self.repeated(input, length);
        let on = self.minus_one(number)?;
        let no_operator = || Err(SqlError::internal("numbers of a series do not add up"));
        let [first, _, step] = own.try_into().map_err(|_| SqlError::internal("no series"))?;
        let way = self.calculate(BinaryOperator::Multiply, on, step);
        let way = way.unwrap_or_else(no_operator)?;
        let value = self.calculate(BinaryOperator::Add, first, way);
        let value = fold_cast(value.unwrap_or_else(no_operator)?, data_type);
        Ok(self.valued(rel, number, value))
    }

    /// A series of timestamps is one of timestamps; one that has dates or moments in it is of moments, as in PostgreSQL.
    fn series_of_moments(&mut self, mut bound: Vec<Expr>, input: Rel) -> SqlResult<Series> {
        let step = bound.pop().ok_or_else(|| SqlError::internal("a series without a step"))?;
        let is_local =
            bound.iter().all(|it| matches!(it.data_type, DataType::Timestamp | DataType::Null));
        let data_type = if is_local { DataType::Timestamp } else { DataType::TimestampTz };
        let mut values = Vec::with_capacity(3);
        for it in bound {
            values.push(self.converted(it, data_type)?);
        }
        values.push(step);
        let (input, own) = self.named_values(values, input);
        let zone = (!is_local).then(|| self.session_zone());
        let arguments = own.iter().cloned().chain(zone.clone()).collect();
        let length = self.fold_call(Function::SeriesMoments, arguments, DataType::BigInt)?;
        let (rel, number) = self.repeated(input, length);
        let on = self.minus_one(number)?;
        let arguments = [own[0].clone(), on, own[2].clone()].into_iter().chain(zone).collect();
        let value = self.fold_call(Function::SeriesMoment, arguments, data_type)?;
        Ok(self.valued(rel, number, value))
    }

    /// Values that are computed once.
    fn named_values(&mut self, values: Vec<Expr>, input: Rel) -> (Rel, Vec<Expr>) {
        let mut made = Vec::with_capacity(values.len());
        let mut named = Vec::with_capacity(values.len());
        for value in values {
            let data_type = value.data_type;
            let attr = self.attribute(data_type, true);
            made.push((attr, value));
            named.push(Expr::column(attr, data_type));
        }
        (mapped(input, made), named)
    }

    /// A row that comes as often as a length says, never where that is NULL.
    fn repeated(&mut self, input: Rel, length: Expr) -> (Rel, Attr) {
        let (known, count) =
            (self.attribute(DataType::BigInt, true), self.attribute(DataType::BigInt, false));
        let number = self.attribute(DataType::BigInt, false);
        let input = mapped(input, vec![(known, length)]);
        let own = Expr::column(known, DataType::BigInt);
        let branches = vec![(unary(UnaryOperator::IsNotNull, own.clone()), own)];
        let otherwise = Some(Box::new(integer(0)));
        let often =
            Expr { kind: ExprKind::Case { branches, otherwise }, data_type: DataType::BigInt };
        let input = Box::new(mapped(input, vec![(count, often)]));
        (Rel::Repeat { input, count, number: Some(number) }, number)
    }

    fn minus_one(&mut self, number: Attr) -> SqlResult<Expr> {
        let number = Expr::column(number, DataType::BigInt);
        let less = self.calculate(BinaryOperator::Subtract, number, integer(1));
        less.unwrap_or_else(|| Err(SqlError::internal("numbers of a series do not add up")))
    }

    fn valued(&mut self, rel: Rel, number: Attr, value: Expr) -> Series {
        let attr = self.attribute(value.data_type, false);
        Series { rel: mapped(rel, vec![(attr, value)]), value: attr, number }
    }
}

fn integer(value: i64) -> Expr {
    let data_type = if i32::try_from(value).is_ok() { DataType::Integer } else { DataType::BigInt };
    Expr::literal(Value::Integer(value), data_type)
}

fn plain<'a>(arguments: &'a [FunctionArg], node: &impl Spanned) -> SqlResult<Vec<&'a ast::Expr>> {
    let plain = |it: &'a FunctionArg| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr),
        _ => Err(unsupported("a named argument, or * as one,", node)),
    };
    arguments.iter().map(plain).collect()
}
