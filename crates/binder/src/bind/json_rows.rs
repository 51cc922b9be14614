//! JSON of many rows, and rows of JSON: aggregates, `json_array_elements` and its kin.
//!
//! Key decision: an aggregate of JSON is an array of its values that a function makes JSON of, and rows are made of an
//! array that a function makes of JSON. So order, FILTER, DISTINCT and windows are those of `array_agg`, and rows those of
//! `unnest`.

use plan::relation::Rel;
use plan::{Expr, Function};
use sqlparser::ast::{self, Spanned, TableAlias};
use types::{DataType, Element, SqlError, SqlResult, SqlState};

use super::Binder;
use super::aggregate_names::is_of_json;
use super::aggregate_types::Given;
use super::errors::at;
use super::json::word;
use super::level::{Clause, Level, one_row};
use super::row_functions::columns_of;
use super::scope::Frame;
use super::series_parts::Part;

/// The kind of JSON that a function is about.
fn kind_of(name: &str) -> DataType {
    if name.starts_with("jsonb") { DataType::Jsonb } else { DataType::Json }
}

impl<'a> Binder<'a> {
    /// The array of what an aggregate makes JSON of.
    pub(super) fn json_arguments(&mut self, name: &str, mut given: Given) -> SqlResult<Given> {
        let strict = name.ends_with("_strict");
        let none = || {
            let message = format!("function {name} does not take such arguments");
            SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
        };
        let value = given.arguments.pop().ok_or_else(none)?;
        if strict {
            let value = match value.data_type {
                DataType::Null => self.coerce_unknown(value.clone(), DataType::Text)?,
                _ => value.clone(),
            };
            given.also(plan::build::unary(plan::UnaryOperator::IsNotNull, value));
        }
        let made = match (name.contains("object"), given.arguments.pop()) {
            (true, Some(key)) => {
                let key = self.json_key(&key)?;
                let value = self.as_json(value, DataType::Json)?;
                self.fold_call(Function::JsonMember, vec![key, value], DataType::Text)?
            }
            (false, None) => match value.data_type {
                DataType::Array(_) => self.as_json(value, DataType::Json)?,
                DataType::Null => self.coerce_unknown(value, DataType::Text)?,
                // In the form of JSON, not of the session.
                it if self.is_styled(it) && !given.distinct => {
                    self.as_json(value, DataType::Json)?
                }
                _ => value,
            },
            _ => return Err(none()),
        };
        if given.distinct {
            super::json::check_equality(made.data_type)?;
        }
        given.arguments = vec![made];
        Ok(given)
    }

    /// JSON or ranges of the array that was aggregated, `of_arrays` if its items were arrays; any other aggregate as it is.
    pub(super) fn made_of_aggregate(
        &mut self,
        name: &str,
        array: Expr,
        of_arrays: bool,
    ) -> SqlResult<Expr> {
        if !is_of_json(name) {
            return self.ranges_of_aggregate(name, array);
        }
        let kind = kind_of(name);
        if name.contains("object") {
            return self.fold_call(Function::JsonOfMembers, vec![array], kind);
        }
        let separator = if of_arrays { ", \n " } else { ", " };
        self.array_as_json(array, separator, kind)
    }

    /// A function in FROM that makes rows of JSON.
    pub(super) fn json_source(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        with_ordinality: bool,
        (alias, node): (Option<&'a TableAlias>, &impl Spanned),
    ) -> SqlResult<(Rel, Frame)> {
        let own = alias.map_or_else(|| name.to_owned(), |it| crate::syntax::ident(&it.name));
        let (rel, parts) = self.json_parts(name, &own, arguments, one_row(), node)?;
        let (rel, frame) = self.of_parts(rel, parts, with_ordinality, (own, alias))?;
        Ok((rel, frame.with_value()))
    }

    /// What such a function makes, with the names of the columns, of which one may be that of the function.
    pub(super) fn json_parts(
        &mut self,
        name: &str,
        own: &str,
        arguments: &[&'a ast::Expr],
        mut rel: Rel,
        node: &impl Spanned,
    ) -> SqlResult<(Rel, Vec<(String, Part)>)> {
        let mut parts = Vec::new();
        for (function, called) in columns_of(name).unwrap_or(&[]) {
            let (input, part) = self.json_rows(*function, name, arguments, rel, node)?;
            rel = input;
            let called = if called.is_empty() { own } else { called };
            parts.push((called.to_owned(), part));
        }
        Ok((rel, parts))
    }

    /// The rows of such a function that has one column.
    pub(super) fn json_items(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        input: Rel,
        node: &impl Spanned,
    ) -> SqlResult<(Rel, Part)> {
        match columns_of(name) {
            Some([(function, _)]) => self.json_rows(*function, name, arguments, input, node),
            _ => {
                let what = format!("{name} in a select list, whose rows are no single values");
                Err(at(SqlError::unsupported(what).with_hint("write it in FROM"), node))
            }
        }
    }

    fn json_rows(
        &mut self,
        function: Function,
        name: &str,
        arguments: &[&'a ast::Expr],
        input: Rel,
        node: &impl Spanned,
    ) -> SqlResult<(Rel, Part)> {
        let level = Level::new(Frame::default(), input, Clause::From);
        let (bound, level) = self.in_level(level, |this| {
            arguments.iter().map(|it| this.expr(it)).collect::<SqlResult<Vec<_>>>()
        })?;
        let kind = kind_of(name);
        let shown: Vec<String> =
            bound.iter().map(|it| super::coercion::name_of(it.data_type)).collect();
        let none = || {
            let message = format!("function {name}({}) does not exist", shown.join(", "));
            at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), node)
        };
        if function == Function::JsonPathItems {
            let bound = self.with_clocks(name, bound);
            let types: Vec<DataType> = bound.iter().map(|it| it.data_type).collect();
            let signature = functions::resolve(function, &types).map_err(|_| none())?;
            let mut arguments = Vec::with_capacity(bound.len());
            for (argument, to) in bound.iter().zip(signature.arguments) {
                arguments.push(self.converted(argument.clone(), to)?);
            }
            let array = self.fold_call(function, arguments, signature.result)?;
            return self.items_of(array, level.input).ok_or_else(none)?;
        }
        let [value] = &bound[..] else { return Err(none()) };
        let value = match value.data_type {
            DataType::Null => self.coerce_unknown(value.clone(), kind)?,
            own if own == kind => value.clone(),
            _ => return Err(none()),
        };
        let result = match function {
            Function::JsonElements | Function::JsonValues => kind.array(),
            _ => Some(DataType::Array(Element::Text)),
        };
        let array = self.fold_call(function, vec![value, word(name)], result.ok_or_else(none)?)?;
        self.items_of(array, level.input).ok_or_else(none)?
    }
}
