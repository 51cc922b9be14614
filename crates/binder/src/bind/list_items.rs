//! DuckDB's functions of lists that compute something of each item, or of all of them: `list_transform` and `list_filter` with a
//! function without a name, `list_sum` and the like.
//!
//! Key decision: the items of the list become rows, numbered, as those of unnest() do, and what is made of them is a
//! subquery: whatever holds of subqueries holds here. The list itself is bound where the call stands, so that it may be made by an
//! aggregate.

use plan::build::{null, unary};
use plan::relation::{Apply, Attr, Rel};
use plan::{Aggregate, AggregateFunction, Expr, ExprKind, Function, SortKey, UnaryOperator};
use sqlparser::ast::{self, Ident, LambdaFunction, OneOrManyWithParens};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::aggregate_names::{by_name, is_of_json, type_of_null};
use super::aggregate_types::Given;
use super::coercion::name_of;
use super::errors::{at, unsupported};
use super::level::{Clause, Level, one_row};
use super::scope::{Columns, Frame, Named, Relation};
use super::{Binder, mapped};
use crate::syntax::ident;

/// Aggregates that are functions of lists with `list_` before their names.
const OF_LISTS: [&str; 21] = [
    "any_value",
    "approx_count_distinct",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "count",
    "first",
    "last",
    "max",
    "median",
    "min",
    "mode",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "var_pop",
    "var_samp",
];

/// The items of a list as rows.
struct ItemRows {
    rel: Rel,
    value: Attr,
    number: Attr,
}

impl<'a> Binder<'a> {
    /// A call of such a function; `None` of any other name.
    pub(super) fn call_of_items(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        match (name, arguments) {
            (
                "list_transform" | "list_apply" | "array_transform" | "array_apply" | "apply",
                &[list, function],
            ) => Some(self.list_made(list, function, false, whole)),
            ("list_filter" | "array_filter" | "filter", &[list, function]) => {
                Some(self.list_made(list, function, true, whole))
            }
            (
                "list_aggr" | "list_aggregate" | "array_aggr" | "array_aggregate" | "aggregate",
                _,
            ) => {
                let &[list, named, ref others @ ..] = arguments else { return None };
                Some(self.named_aggregate(list, named, others, whole))
            }
            ("invoke", &[function, ref values @ ..]) => Some(self.invoked(function, values)),
            ("list_unique" | "array_unique", &[list]) => {
                Some(self.list_aggregate("count", list, &[], true, whole))
            }
            (_, &[list]) => {
                let aggregate = name.strip_prefix("list_")?;
                let known = OF_LISTS.contains(&aggregate);
                known.then(|| self.list_aggregate(aggregate, list, &[], false, whole))
            }
            _ => None,
        }
    }

    /// `invoke(lambda x, y: x + y, 1, 2)`: what a function makes of some values.
    fn invoked(&mut self, function: &'a ast::Expr, values: &[&'a ast::Expr]) -> SqlResult<Expr> {
        let (names, body) = parts_of(function)?;
        if names.len() != values.len() {
            let message = "this function takes another number of values";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), function));
        }
        let (mut made, mut columns) = (Vec::new(), Vec::new());
        for (name, value) in names.into_iter().zip(values.iter().copied()) {
            let bound = self.expr(value)?;
            let bound = self.converted_if_unknown(bound)?;
            let attr = self.attribute(bound.data_type, true);
            made.push((attr, bound));
            columns.push(Named::made(ident(name), attr));
        }
        let columns = Columns::Made(columns);
        let frame = Frame::of(Relation::of(None, columns));
        let level = Level::new(frame, mapped(one_row(), made), Clause::Where);
        let (bound, level) = self.in_level(level, |this| this.expr(body))?;
        let bound = self.converted_if_unknown(bound)?;
        let data_type = bound.data_type;
        let (source, value) = (self.attribute(data_type, true), self.attribute(data_type, true));
        let rel = mapped(level.input, vec![(source, bound)]);
        self.attach(rel, Apply::Scalar { value, source })?;
        Ok(Expr::column(value, data_type))
    }

    /// The list of what a function makes of the items of another, or of those for which it is true.
    fn list_made(
        &mut self,
        list: &'a ast::Expr,
        function: &'a ast::Expr,
        filters: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let list = self.alone(list)?;
        let (names, body) = lambda_of(function)?;
        let (list, items) = self.item_rows(list, whole)?;
        let attrs = [items.value, items.number];
        let columns = names.iter().zip(attrs).map(|(name, attr)| Named::made(ident(name), attr));
        let columns = Columns::Made(columns.collect());
        let frame = Frame::of(Relation::of(None, columns));
        let level = Level::new(frame, items.rel, Clause::Where);
        let (bound, level) = self.in_level(level, |this| match filters {
            true => this.condition(body),
            false => this.expr(body),
        })?;
        let (rel, item) = match filters {
            true => (level.input.filtered(vec![bound]), items.value),
            false => {
                let bound = self.converted_if_unknown(bound)?;
                let attr = self.attribute(bound.data_type, true);
                (mapped(level.input, vec![(attr, bound)]), attr)
            }
        };
        let item = self.column_expr(item);
        let data_type = item.data_type.array().unwrap_or(item.data_type);
        let number = self.column_expr(items.number);
        let key = SortKey { expr: number, descending: false, nulls_first: false };
        let all = Aggregate {
            order: vec![key],
            ..Aggregate::of(AggregateFunction::ArrayAggregate, Some(item), data_type)
        };
        let value = self.of_rows(rel, all)?;
        let there = unary(UnaryOperator::IsNotNull, value.clone());
        let empty = Expr::literal(Value::Text("".into()), data_type);
        let kind =
            ExprKind::Case { branches: vec![(there, value)], otherwise: Some(Box::new(empty)) };
        Ok(of_list(list, Expr { kind, data_type }))
    }

    fn converted_if_unknown(&mut self, value: Expr) -> SqlResult<Expr> {
        match value.data_type {
            DataType::Null => self.coerce_unknown(value, DataType::Text),
            _ => Ok(value),
        }
    }

    /// The aggregate of a name over the items of a list.
    fn named_aggregate(
        &mut self,
        list: &'a ast::Expr,
        named: &'a ast::Expr,
        others: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let name = self.expr(named)?;
        let name = match super::constant(&name) {
            Some(Value::Text(name)) => name.to_lowercase(),
            _ => return Err(unsupported("the name of an aggregate that is no constant", named)),
        };
        self.list_aggregate(&name, list, others, false, whole)
    }

    fn list_aggregate(
        &mut self,
        name: &str,
        list: &'a ast::Expr,
        others: &[&'a ast::Expr],
        distinct: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let function = by_name(name).filter(|_| !is_of_json(name)).ok_or_else(|| {
            let message = format!("aggregate function {name} does not exist");
            at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole)
        })?;
        let untyped = is_untyped(list);
        let list = self.alone(list)?;
        let list =
            if untyped { self.list_of(type_of_null(function, name), list, whole)? } else { list };
        let others =
            others.iter().copied().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
        let (list, items) = self.item_rows(list, whole)?;
        let mut given = Given { distinct, ..Given::default() };
        given.arguments.push(self.column_expr(items.value));
        let joins = function == AggregateFunction::StringAggregate;
        if joins && others.is_empty() {
            given.arguments.push(Expr::literal(Value::Text(",".into()), DataType::Text));
        }
        given.arguments.extend(others);
        if name == "any_value"
            || matches!(
                function,
                AggregateFunction::First
                    | AggregateFunction::Last
                    | AggregateFunction::StringAggregate
                    | AggregateFunction::ArrayAggregate
            )
        {
            let expr = self.column_expr(items.number);
            given.order.push(SortKey { expr, descending: false, nulls_first: false });
        }
        let aggregate = self.aggregate_of(function, name, given, whole)?;
        let value = self.of_rows(items.rel, aggregate)?;
        Ok(of_list(list, value))
    }

    /// A list in which there is nothing but NULL as one of items of a type.
    fn list_of(&mut self, item: DataType, list: Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let to = item.array().unwrap_or(item);
        match list.data_type {
            DataType::Null => self.coerce_unknown(list, to).map_err(|it| at(it, whole)),
            from if from == to => Ok(list),
            _ => Ok(plan::build::cast(list, to)),
        }
    }

    /// A list and its items as rows; a list of no known type is one of texts.
    fn item_rows(&mut self, list: Expr, whole: &'a ast::Expr) -> SqlResult<(Expr, ItemRows)> {
        let list = match list.data_type {
            DataType::Null => {
                let of_texts = DataType::Text.array().unwrap_or(DataType::Text);
                self.coerce_unknown(list, of_texts).map_err(|it| at(it, whole))?
            }
            _ => list,
        };
        let list = self.flat(list)?;
        let list = self.once(list)?;
        let copy = self.copy(&list)?;
        let Some(items) = self.items_of(copy, one_row()) else {
            let message = format!("a list is expected here, not {}", name_of(list.data_type));
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        };
        let (input, part) = items?;
        let value = part.value;
        let (rel, number) = self.side_by_side(input, &[part])?;
        Ok((list, ItemRows { rel, value, number }))
    }

    /// A list as one whose items are values; of one of lists it is an error.
    pub(super) fn flat(&mut self, list: Expr) -> SqlResult<Expr> {
        let data_type = list.data_type;
        match data_type.element() {
            Some(_) => self.fold_call(Function::ListFlat, vec![list], data_type),
            None => Ok(list),
        }
    }

    /// A list that is asked for several times; one that would be another each time is computed once for its row.
    fn once(&mut self, list: Expr) -> SqlResult<Expr> {
        if super::is_repeatable(&list) {
            return Ok(list);
        }
        let data_type = list.data_type;
        let attr = self.attribute(data_type, true);
        let rel = mapped(one_row(), vec![(attr, list)]);
        self.attach(rel, Apply::Join { outer: false, on: Vec::new() })?;
        Ok(Expr::column(attr, data_type))
    }

    /// An aggregate over all rows of a relation, as a value.
    fn of_rows(&mut self, rel: Rel, aggregate: Aggregate) -> SqlResult<Expr> {
        let data_type = aggregate.data_type;
        let (source, value) = (self.attribute(data_type, true), self.attribute(data_type, true));
        let (input, aggregates) = (Box::new(rel), vec![(source, aggregate)]);
        let rel = Rel::Aggregate { input, keys: Vec::new(), aggregates, rows: 0.0 };
        self.attach(rel, Apply::Scalar { value, source })?;
        Ok(Expr::column(value, data_type))
    }
}

/// Whether a list is NULL, or has nothing but NULL in it, so that its items have no type.
fn is_untyped(list: &ast::Expr) -> bool {
    let is_null =
        |it: &ast::Expr| matches!(it, ast::Expr::Value(it) if it.value == ast::Value::Null);
    match list {
        ast::Expr::Array(it) => it.elem.iter().all(is_null),
        other => is_null(other),
    }
}

/// What is made of a list, which is NULL of none.
fn of_list(list: Expr, value: Expr) -> Expr {
    if let ExprKind::Literal(Value::Null) = list.kind {
        return null(value.data_type);
    }
    let data_type = value.data_type;
    let branches = vec![(unary(UnaryOperator::IsNotNull, list), value)];
    Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type }
}

/// The names of the item and of its number, and what is made of them.
fn lambda_of(function: &ast::Expr) -> SqlResult<(Vec<&Ident>, &ast::Expr)> {
    let (names, body) = parts_of(function)?;
    match names.len() {
        1 | 2 => Ok((names, body)),
        _ => {
            let message = "this function takes an item and perhaps its number";
            Err(at(SqlError::new(SqlState::SYNTAX, message), function))
        }
    }
}

/// The names of a function without a name, and what it makes of them.
fn parts_of(function: &ast::Expr) -> SqlResult<(Vec<&Ident>, &ast::Expr)> {
    let ast::Expr::Lambda(LambdaFunction { params, body, .. }) = function else {
        let message = "a function without a name is expected here, as in lambda x: x + 1";
        return Err(at(SqlError::new(SqlState::SYNTAX, message), function));
    };
    let names = match params {
        OneOrManyWithParens::One(it) => vec![&it.name],
        OneOrManyWithParens::Many(all) => all.iter().map(|it| &it.name).collect(),
    };
    Ok((names, body))
}
