//! PIVOT: values of columns become columns of aggregates.
//!
//! Key decision: it is an aggregation in which each aggregate has the rows of some values as its filter. Forms that the parser does not
//! know come as calls of names that no user can write ([`crate::pivot_words`]).

use plan::build::unary;
use plan::relation::{Attr, AttrSet, Rel};
use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use sqlparser::ast::{Expr as Ast, ExprWithAlias, PivotValueSource, TableFactor};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::{at, unsupported};
use super::level::{Clause, Level};
use super::scope::{Frame, Named};
use super::{Answer, Binder, OutputColumn, constant, mapped};
use crate::own_names::{PIVOT_ALIAS, PIVOT_KEYS, PIVOT_USING, PIVOT_VALUES, own_call};
use crate::pivots::{COLUMNS_MAX, no_values};
use crate::syntax::ident;

/// What is said in a PIVOT.
#[derive(Default)]
struct Said<'a> {
    aggregates: Vec<Called<'a>>,
    /// The columns that it groups by; `None` for all that it does not name.
    keys: Option<Vec<&'a Ast>>,
    /// The columns whose values become columns, with these values: one, or several whose values go together.
    columns: Vec<(Vec<&'a Ast>, Vec<Called<'a>>)>,
}

/// An expression, and what it is called.
type Called<'a> = (&'a Ast, Option<String>);

impl<'a> Said<'a> {
    fn of(factor: &'a TableFactor) -> SqlResult<Self> {
        let TableFactor::Pivot {
            aggregate_functions,
            value_column,
            value_source,
            default_on_null: None,
            ..
        } = factor
        else {
            return Err(unsupported("DEFAULT ON NULL in PIVOT", factor));
        };
        let alias = |it: &'a ExprWithAlias| (&it.expr, it.alias.as_ref().map(ident));
        let mut said = Self::default();
        for it in aggregate_functions {
            match own_call(&it.expr) {
                Some((PIVOT_USING, calls)) => said.aggregates.extend(calls.into_iter().map(called)),
                Some((PIVOT_KEYS, keys)) => said.keys = Some(keys),
                _ => said.aggregates.push(alias(it)),
            }
        }
        match (value_source, &value_column[..]) {
            (PivotValueSource::List(values), columns) => {
                said.columns.push((columns.iter().collect(), values.iter().map(alias).collect()));
            }
            (PivotValueSource::Any(order), columns) if order.is_empty() => {
                for it in columns {
                    match own_call(it) {
                        Some((PIVOT_VALUES, mut values)) if !values.is_empty() => {
                            let columns = match values.remove(0) {
                                Ast::Tuple(columns) => columns.iter().collect(),
                                column => vec![column],
                            };
                            said.columns.push((columns, values.into_iter().map(called).collect()));
                        }
                        _ => return Err(at(no_values(), it)),
                    }
                }
            }
            _ => {
                return Err(unsupported(
                    "PIVOT by all values, or those of a query, in FROM",
                    factor,
                ));
            }
        }
        Ok(said)
    }
}

fn called(expr: &Ast) -> Called<'_> {
    let Some((PIVOT_ALIAS, arguments)) = own_call(expr) else { return (expr, None) };
    match arguments[..] {
        [value, Ast::Value(name)] => (value, name.value.clone().into_string()),
        _ => (expr, None),
    }
}

impl<'a> Binder<'a> {
    /// A table whose values of columns have become columns: groups by all columns that nothing here names, or by those that are
    /// said.
    pub(super) fn pivot(&mut self, factor: &'a TableFactor) -> SqlResult<(Rel, Frame)> {
        let TableFactor::Pivot { table, alias, .. } = factor else {
            return Err(SqlError::internal("no pivot"));
        };
        let said = Said::of(factor)?;
        let (rel, frame) = self.factor(table)?;
        let all = frame.all();
        let level = Level::new(frame, rel, Clause::Select);
        let ((used, keys, made), level) = self.in_level(level, |this| {
            let mut used = AttrSet::default();
            let mut conditions = Vec::new();
            for (columns, values) in &said.columns {
                conditions.push(this.conditions(columns, values, &mut used)?);
            }
            let keys = said.keys.as_ref().map(|it| this.said_keys(it)).transpose()?;
            Ok((used, keys, this.pivoted(&conditions, &said.aggregates, factor)?))
        })?;
        if !level.pending.is_empty() || !level.windows.is_empty() || level.series.is_some() {
            return Err(unsupported("a subquery, a window or a series in PIVOT", factor));
        }
        let named = match keys {
            Some(keys) => keys,
            None => rest(all, &level, used),
        };
        let mut columns = Vec::new();
        let mut keys: Vec<(Attr, Expr)> = Vec::new();
        for key in named {
            let expr = self.named_column(key.attr)?;
            if expr.data_type == DataType::Bpchar {
                return Err(unsupported("PIVOT beside CHAR of no one length", factor));
            }
            if keys.iter().all(|it| it.0 != key.attr) {
                keys.push((key.attr, expr));
            }
            columns.push(key.into());
        }
        let (input, aggregates) = (Box::new(level.input), level.calls);
        let rel = Rel::Aggregate { input, keys, aggregates, rows: 0.0 };
        let mut exprs = Vec::with_capacity(made.len());
        for (name, expr) in made {
            let attr = self.attribute(expr.data_type, true);
            exprs.push((attr, expr));
            columns.push(OutputColumn::made(name, attr));
        }
        self.derived(Answer { rel: mapped(rel, exprs), columns }, alias.as_ref())
    }

    /// The columns that it groups by.
    fn said_keys(&mut self, keys: &[&'a Ast]) -> SqlResult<Vec<Named>> {
        let mut named = Vec::with_capacity(keys.len());
        for key in keys {
            let ExprKind::Column(attr) = self.expr(key)?.kind else {
                return Err(unsupported("PIVOT by groups that are no columns", *key));
            };
            named.push(Named::made(super::names::of_expression(key), attr));
        }
        Ok(named)
    }

    /// The names of some values of columns, each with the condition that a row has it.
    fn conditions(
        &mut self,
        columns: &[&'a Ast],
        values: &[Called<'a>],
        used: &mut AttrSet,
    ) -> SqlResult<Vec<(String, Expr)>> {
        let own: Vec<Expr> = columns.iter().map(|it| self.expr(it)).collect::<SqlResult<_>>()?;
        own.iter().for_each(|it| used.add_expr(it));
        let mut conditions: Vec<(String, Expr)> = Vec::with_capacity(values.len());
        let mut seen = Vec::with_capacity(values.len());
        for (value, alias) in values {
            let parts = match value {
                Ast::Tuple(parts) if own.len() > 1 => &parts[..],
                one => std::slice::from_ref(*one),
            };
            if parts.len() != own.len() {
                let (wanted, found) = (own.len(), parts.len());
                let message = format!("PIVOT by {wanted} columns, and a value of {found}");
                return Err(at(SqlError::new(SqlState::SYNTAX, message), *value));
            }
            let pairs = own.iter().zip(parts);
            let had: Vec<Had> =
                pairs.map(|(own, it)| self.had(own, it)).collect::<SqlResult<_>>()?;
            let known: Vec<Value> = had.iter().map(|it| it.known.clone()).collect();
            if seen.contains(&known) {
                let message = format!("the value {value} is listed twice in PIVOT");
                return Err(at(SqlError::new(SqlState::SYNTAX, message), *value));
            }
            seen.push(known);
            let names: Vec<&str> = had.iter().map(|it| &*it.name).collect();
            let name = alias.clone().unwrap_or_else(|| names.join("_"));
            let all = had.into_iter().map(|it| it.condition).reduce(both);
            conditions.push((name, all.ok_or_else(|| SqlError::internal("no column"))?));
        }
        Ok(conditions)
    }

    /// The condition that a column has a value.
    fn had(&mut self, own: &Expr, value: &'a Ast) -> SqlResult<Had> {
        let bound = self.expr(value)?;
        let Some(known) = constant(&bound).cloned() else {
            return Err(unsupported("a value of PIVOT that is no constant", value));
        };
        let name = match &known {
            Value::Text(text) => text.to_string(),
            _ => value.to_string(),
        };
        let condition = match &known {
            Value::Null => unary(UnaryOperator::IsNull, own.clone()),
            _ => self.compare(BinaryOperator::Equal, own.clone(), bound, value)?,
        };
        Ok(Had { name, known, condition })
    }

    /// The columns of all combinations of values: each aggregate of the rows that have them.
    fn pivoted(
        &mut self,
        columns: &[Vec<(String, Expr)>],
        aggregates: &[Called<'a>],
        factor: &'a TableFactor,
    ) -> SqlResult<Vec<(String, Expr)>> {
        let count = columns.iter().try_fold(aggregates.len(), |all, it| all.checked_mul(it.len()));
        if count.is_none_or(|it| it > COLUMNS_MAX) {
            let message = format!("PIVOT makes more than {COLUMNS_MAX} columns");
            return Err(at(SqlError::new(SqlState::TOO_MANY_COLUMNS, message), factor));
        }
        if count == Some(0) {
            // No column comes of the aggregates, which use columns all the same.
            for (aggregate, _) in aggregates {
                self.expr(aggregate)?;
            }
            return Ok(Vec::new());
        }
        let mut all: Vec<(String, Option<Expr>)> = vec![(String::new(), None)];
        for values in columns {
            let with = |(names, before): &(String, Option<Expr>)| {
                let (names, before) = (names.clone(), before.clone());
                values.iter().map(move |(name, condition)| {
                    let condition = condition.clone();
                    match &before {
                        None => (name.clone(), Some(condition)),
                        Some(it) => (format!("{names}_{name}"), Some(both(it.clone(), condition))),
                    }
                })
            };
            all = all.iter().flat_map(with).collect();
        }
        let mut made = Vec::with_capacity(all.len() * aggregates.len());
        for (name, condition) in all {
            for (aggregate, alias) in aggregates {
                let known = self.level().calls.len();
                let expr = self.expr(aggregate)?;
                let calls = &mut self.level().calls[known..];
                if calls.is_empty() {
                    let message = "PIVOT takes aggregate functions";
                    return Err(at(SqlError::new(SqlState::GROUPING_ERROR, message), *aggregate));
                }
                for (_, call) in calls {
                    call.filter =
                        [condition.clone(), call.filter.take()].into_iter().flatten().reduce(both);
                }
                let suffix = match (alias, aggregates.len()) {
                    (Some(alias), _) => format!("_{alias}"),
                    (None, 1) => String::new(),
                    (None, _) => format!("_{aggregate}"),
                };
                made.push((format!("{name}{suffix}"), expr));
            }
        }
        Ok(made)
    }
}

/// A value of a column.
struct Had {
    name: String,
    known: Value,
    /// That a row has it.
    condition: Expr,
}

fn both(a: Expr, b: Expr) -> Expr {
    Expr::predicate(BinaryOperator::And, a, b)
}

/// The columns that neither aggregates nor what becomes columns uses.
fn rest(all: Vec<Named>, level: &Level, mut used: AttrSet) -> Vec<Named> {
    level.calls.iter().flat_map(|it| it.1.expressions()).for_each(|it| used.add_expr(it));
    all.into_iter().filter(|it| !used.contains(it.attr)).collect()
}
