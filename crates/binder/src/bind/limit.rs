//! LIMIT, OFFSET and FETCH.

use plan::relation::Rel;
use plan::{BinaryOperator, Expr, Frame, WindowCall, WindowFunction};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::{at, unsupported};
use super::level::{Clause, Level, one_row};
use super::scope::Frame as View;
use super::{Answer, Binder, constant};

impl<'a> Binder<'a> {
    /// Cuts an answer as LIMIT, OFFSET and FETCH say; right after a sort they are the sort's.
    pub(super) fn limit(&mut self, answer: &mut Answer, query: &'a ast::Query) -> SqlResult<()> {
        let (mut limit, mut offset) = (None, 0);
        match &query.limit_clause {
            None => {}
            Some(ast::LimitClause::LimitOffset { limit: most, offset: skipped, limit_by }) => {
                if !limit_by.is_empty() {
                    return Err(unsupported("LIMIT .. BY", query));
                }
                limit = self.rows_of(most.as_ref(), "LIMIT")?;
                offset = self.rows_of(skipped.as_ref().map(|it| &it.value), "OFFSET")?.unwrap_or(0);
            }
            Some(ast::LimitClause::OffsetCommaLimit { .. }) => {
                let error = SqlError::new(SqlState::SYNTAX, "LIMIT #,# is not valid");
                return Err(at(error.with_hint("use LIMIT and OFFSET apart"), query));
            }
        }
        if let Some(fetch) = &query.fetch {
            if limit.is_some() {
                let message = "multiple LIMIT clauses not allowed";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), query));
            }
            if fetch.percent {
                return Err(unsupported("FETCH with PERCENT", query));
            }
            limit = match &fetch.quantity {
                None => Some(1),
                quantity => self.rows_of(quantity.as_ref(), "LIMIT")?,
            };
        }
        if limit.is_none() && offset == 0 {
            return Ok(());
        }
        let rel = std::mem::replace(&mut answer.rel, one_row());
        if query.fetch.as_ref().is_some_and(|it| it.with_ties) {
            answer.rel = self.with_ties(rel, (offset, limit)).map_err(|it| at(it, query))?;
            return Ok(());
        }
        answer.rel = match rel {
            Rel::Sort { input, keys, offset: 0, limit: None, partition } => {
                Rel::Sort { input, keys, offset, limit, partition }
            }
            input => Rel::Limit { input: Box::new(input), offset, limit },
        };
        Ok(())
    }

    /// The first rows of an order, and those that are like the last of them.
    fn with_ties(&mut self, rel: Rel, (offset, limit): (u64, Option<u64>)) -> SqlResult<Rel> {
        let Rel::Sort { input, keys, offset: 0, limit: None, partition } = rel else {
            let message = "WITH TIES cannot be specified without ORDER BY clause";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        };
        if !partition.is_empty() {
            return Err(SqlError::internal("a limit within groups is sorted once more"));
        }
        let call = |function| WindowCall {
            function,
            arguments: Vec::new(),
            filter: None,
            order: keys.len(),
            frame: Frame::default(),
            ignore_nulls: false,
            data_type: DataType::BigInt,
        };
        let number = self.attribute(DataType::BigInt, false);
        let rank = self.attribute(DataType::BigInt, false);
        let functions =
            vec![(number, call(WindowFunction::RowNumber)), (rank, call(WindowFunction::Rank))];
        let within = |attr, operator, bound: u64| {
            let bound = Value::Integer(i64::try_from(bound).unwrap_or(i64::MAX));
            let bound = Expr::literal(bound, DataType::BigInt);
            Expr::predicate(operator, Expr::column(attr, DataType::BigInt), bound)
        };
        let mut conditions = vec![within(number, BinaryOperator::Greater, offset)];
        conditions
            .extend(limit.map(|limit| {
                within(rank, BinaryOperator::LessEqual, offset.saturating_add(limit))
            }));
        if limit == Some(0) {
            // No row is the last, so none is like it.
            conditions.push(Expr::literal(Value::Boolean(false), DataType::Boolean));
        }
        let window = Rel::Window { input, partition: Vec::new(), keys: keys.clone(), functions };
        Ok(super::query::sorted(window.filtered(conditions), keys))
    }

    /// A constant number of rows; `None` for ALL and NULL.
    fn rows_of(&mut self, expr: Option<&'a ast::Expr>, what: &str) -> SqlResult<Option<u64>> {
        let Some(expr) = expr else { return Ok(None) };
        let level = Level::new(View::default(), one_row(), Clause::Limit);
        let (bound, level) = self.in_level(level, |this| {
            let bound = this.expr(expr)?;
            this.coerce(bound, DataType::BigInt, expr)
        })?;
        let is_plain = matches!(level.input, Rel::Values { .. });
        match constant(&bound).filter(|_| is_plain) {
            Some(Value::Null) => Ok(None),
            Some(Value::Integer(rows)) => match u64::try_from(*rows) {
                Ok(rows) => Ok(Some(rows)),
                Err(_) => {
                    let state = if what == "LIMIT" { "2201W" } else { "2201X" };
                    let message = format!("{what} must not be negative");
                    Err(at(SqlError::new(SqlState(state), message), expr))
                }
            },
            _ => Err(unsupported(&format!("{what} of anything but a constant"), expr)),
        }
    }
}
