//! Functions in FROM that are no functions of rows by themselves: one with one value, and ROWS FROM, several side by side.

use plan::relation::Rel;
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, ObjectName, TableAlias};
use stdx::sync::OnceLock;
use types::{SqlError, SqlResult, SqlState};

use super::errors::{at, unsupported};
use super::from::Source;
use super::level::{Clause, Level, one_row};
use super::series_parts::{Part, Rule};
use super::{Answer, Binder, OutputColumn};
use crate::syntax::ident;

/// The place of a call that stands in FROM: what is wrong with it has the place of its name.
fn nowhere() -> &'static ast::Expr {
    static NOWHERE: OnceLock<ast::Expr> = OnceLock::new();
    NOWHERE.get_or_init(|| ast::Expr::Value(ast::Value::Null.with_empty_span()))
}

impl<'a> Binder<'a> {
    /// A function of records, or one with one value, which PostgreSQL takes for a row.
    pub(super) fn other_source(
        &mut self,
        name: &'a ObjectName,
        function: &str,
        arguments: &'a [FunctionArg],
        with_ordinality: bool,
        alias: Option<&'a TableAlias>,
    ) -> SqlResult<Source> {
        let arguments = super::named_arguments::placed(function, arguments, name)?;
        if super::json_records::makes_records(function) {
            return self.record_source(function, &arguments, with_ordinality, (alias, name));
        }
        let (rel, part) = self.value_part(function, &arguments, one_row(), name)?;
        let own = alias.map_or_else(|| function.to_owned(), |it| ident(&it.name));
        let column = (own.clone(), part);
        self.of_parts(rel, vec![column], with_ordinality, (own, alias))
    }

    fn value_part(
        &mut self,
        function: &str,
        arguments: &[&'a ast::Expr],
        input: Rel,
        name: &'a ObjectName,
    ) -> SqlResult<(Rel, Part)> {
        if super::aggregate_names::by_name(function).is_some() {
            let message = "aggregate functions are not allowed in functions in FROM";
            return Err(at(SqlError::new(SqlState::GROUPING_ERROR, message), name));
        }
        let level = Level::new(super::scope::Frame::default(), input, Clause::From);
        let (value, level) = self.in_level(level, |this| {
            this.call_of_arguments(function, arguments.to_vec(), nowhere())
        })?;
        let value = self.of_one_type(value)?;
        let (input, own) = self.named_values(vec![value], level.input);
        let [value] = <[plan::Expr; 1]>::try_from(own)
            .map_err(|_| SqlError::internal("a function without a value"))?;
        let attr = self.attribute(value.data_type, true);
        let length = super::coercion::fold_cast(super::series::integer(1), types::DataType::BigInt);
        Ok((input, Part { length, rule: Rule::Once(value), value: attr }))
    }

    /// The error of a function in FROM in a schema where no such one is.
    pub(super) fn no_source(
        &mut self,
        name: &'a ObjectName,
        arguments: &'a [FunctionArg],
    ) -> SqlError {
        let level = Level::new(super::scope::Frame::default(), one_row(), Clause::From);
        let bound = super::named_arguments::plain(arguments, name).and_then(|all| {
            self.in_level(level, |this| {
                all.into_iter().map(|it| this.expr(it)).collect::<SqlResult<Vec<_>>>()
            })
        });
        bound.map_or_else(|error| error, |(all, _)| self.no_function_in(name, &all, name))
    }

    /// `ROWS FROM (f(..), g(..))`.
    pub(super) fn rows_from(
        &mut self,
        name: &'a ObjectName,
        calls: &'a [FunctionArg],
        with_ordinality: bool,
        alias: Option<&'a TableAlias>,
    ) -> SqlResult<Source> {
        let (mut rel, mut columns) = (one_row(), Vec::new());
        for call in calls {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(call)) = call else {
                return Err(unsupported("this in ROWS FROM", name));
            };
            let ast::Expr::Function(call) = call else {
                let message = "syntax error: ROWS FROM takes calls of functions";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), call));
            };
            let arguments = match &call.args {
                ast::FunctionArguments::List(list) => {
                    super::named_arguments::plain(&list.args, name)?
                }
                ast::FunctionArguments::None => Vec::new(),
                ast::FunctionArguments::Subquery(_) => {
                    return Err(unsupported("a subquery as the arguments of a function", name));
                }
            };
            let function = call.name.0.last().and_then(|it| it.as_ident()).map(ident);
            let function = function.ok_or_else(|| unsupported("this in ROWS FROM", name))?;
            let (input, parts) = self.parts_of_call(&function, &arguments, rel, &call.name)?;
            rel = input;
            columns.extend(parts);
        }
        let own = match (&columns[..], alias) {
            (_, Some(alias)) => ident(&alias.name),
            ([first, ..], None) => first.0.clone(),
            ([], None) => return Err(unsupported("ROWS FROM of nothing", name)),
        };
        // The alias is the name of the only column.
        if let ([column], Some(_)) = (&mut columns[..], alias) {
            column.0.clone_from(&own);
        }
        self.of_parts(rel, columns, with_ordinality, (own, alias))
    }

    /// What one of several functions makes, with the names of the columns.
    fn parts_of_call(
        &mut self,
        function: &str,
        arguments: &[&'a ast::Expr],
        mut rel: Rel,
        name: &'a ObjectName,
    ) -> SqlResult<(Rel, Vec<(String, Part)>)> {
        if function == "unnest" {
            let mut parts = Vec::with_capacity(arguments.len());
            for array in arguments {
                let (input, part) = self.rows_of_call(function, &[array], rel, name)?;
                rel = input;
                parts.push((function.to_owned(), part));
            }
            return Ok((rel, parts));
        }
        if super::row_functions::is_series(function) {
            let (rel, part) = self.rows_of_call(function, arguments, rel, name)?;
            return Ok((rel, vec![(function.to_owned(), part)]));
        }
        if super::row_functions::makes_rows(function) {
            return self.json_parts(function, function, arguments, rel, name);
        }
        let (rel, part) = self.value_part(function, arguments, rel, name)?;
        Ok((rel, vec![(function.to_owned(), part)]))
    }

    /// Parts side by side, as a relation.
    pub(super) fn of_parts(
        &mut self,
        rel: Rel,
        columns: Vec<(String, Part)>,
        with_ordinality: bool,
        (own, alias): (String, Option<&'a TableAlias>),
    ) -> SqlResult<Source> {
        let column = |it: &(String, Part)| OutputColumn::made(&it.0, it.1.value);
        let mut shown: Vec<OutputColumn> = columns.iter().map(column).collect();
        let parts: Vec<Part> = columns.into_iter().map(|it| it.1).collect();
        let (rel, number) = self.side_by_side(rel, &parts)?;
        if with_ordinality {
            shown.push(OutputColumn::made("ordinality", number));
        }
        self.called(own, Answer { rel, columns: shown }, alias)
    }

    /// A value without a type as a text.
    fn of_one_type(&mut self, value: plan::Expr) -> SqlResult<plan::Expr> {
        match value.data_type {
            types::DataType::Null => self.converted(value, types::DataType::Text),
            _ => Ok(value),
        }
    }
}
