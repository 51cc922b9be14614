//! LIMIT, OFFSET and FETCH.

use plan::build::{compare, unary};
use plan::relation::Rel;
use plan::{
    BinaryOperator, Expr, ExprKind, Frame, Function, UnaryOperator, WindowCall, WindowFunction,
};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::coercion::fold_cast;
use super::errors::{at, unsupported};
use super::level::{Clause, Level, one_row, over};
use super::scope::Frame as View;
use super::{Answer, Binder, constant};

/// The first rows, without so many: of values that are other ones each time, as those of `nextval`, none is made of rows behind them.
fn cut(rel: Rel, offset: u64, limit: Option<u64>) -> Rel {
    match (rel, limit) {
        (Rel::Sort { input, keys, offset: 0, limit: None, partition }, _) => {
            Rel::Sort { input, keys, offset, limit, partition }
        }
        (Rel::Map { input, exprs }, Some(rows))
            if exprs.iter().any(|it| !super::is_repeatable(&it.1)) =>
        {
            let within = cut(*input, 0, Some(offset.saturating_add(rows)));
            let made = super::mapped(within, exprs);
            match offset {
                0 => made,
                _ => Rel::Limit { input: Box::new(made), offset, limit },
            }
        }
        (input, _) => Rel::Limit { input: Box::new(input), offset, limit },
    }
}

impl<'a> Binder<'a> {
    /// Cuts an answer as LIMIT, OFFSET and FETCH say; right after a sort they are the sort's.
    pub(super) fn limit(&mut self, answer: &mut Answer, query: &'a ast::Query) -> SqlResult<()> {
        let (mut limit, mut offset) = (Bound::None, Bound::None);
        match &query.limit_clause {
            None => {}
            Some(ast::LimitClause::LimitOffset { limit: most, offset: skipped, limit_by }) => {
                if !limit_by.is_empty() {
                    return Err(unsupported("LIMIT .. BY", query));
                }
                limit = self.rows_of(most.as_ref(), "LIMIT")?;
                offset = self.rows_of(skipped.as_ref().map(|it| &it.value), "OFFSET")?;
            }
            Some(ast::LimitClause::OffsetCommaLimit { .. }) => {
                let error = SqlError::new(SqlState::SYNTAX, "LIMIT #,# is not valid");
                return Err(at(error.with_hint("use LIMIT and OFFSET apart"), query));
            }
        }
        if let Some(fetch) = &query.fetch {
            if !matches!(limit, Bound::None) {
                let message = "multiple LIMIT clauses not allowed";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), query));
            }
            if fetch.percent {
                return Err(unsupported("FETCH with PERCENT", query));
            }
            limit = match &fetch.quantity {
                None => Bound::Rows(1),
                quantity => self.rows_of(quantity.as_ref(), "LIMIT")?,
            };
        }
        let with_ties = query.fetch.as_ref().is_some_and(|it| it.with_ties);
        let (offset, limit) = match (offset, limit) {
            (Bound::None, Bound::None) => return Ok(()),
            (Bound::Asked(..), _) | (_, Bound::Asked(..)) if with_ties => {
                return Err(unsupported("WITH TIES of anything but a constant", query));
            }
            (offset @ Bound::Asked(..), limit) | (offset, limit @ Bound::Asked(..)) => {
                let rel = std::mem::replace(&mut answer.rel, one_row());
                answer.rel = self.asked_rows(rel, offset, limit)?;
                return Ok(());
            }
            (offset, limit) => (offset.known().unwrap_or(0), limit.known()),
        };
        let rel = std::mem::replace(&mut answer.rel, one_row());
        if with_ties {
            answer.rel = self.with_ties(rel, (offset, limit)).map_err(|it| at(it, query))?;
            return Ok(());
        }
        answer.rel = cut(rel, offset, limit);
        Ok(())
    }

    /// The rows of an order whose numbers lie within bounds that are known when the statement runs.
    fn asked_rows(&mut self, rel: Rel, offset: Bound, limit: Bound) -> SqlResult<Rel> {
        let (input, keys) = match rel {
            Rel::Sort { input, keys, offset: 0, limit: None, partition }
                if partition.is_empty() =>
            {
                (input, keys)
            }
            other => (Box::new(other), Vec::new()),
        };
        let number = self.attribute(DataType::BigInt, false);
        let function = (number, of_rows(WindowFunction::RowNumber, keys.len()));
        let partition = Vec::new();
        let mut rel =
            Rel::Window { input, partition, keys: keys.clone(), functions: vec![function] };
        let (mut place, mut conditions) = (self.column_expr(number), Vec::new());
        for (bound, is_limit) in [(offset, false), (limit, true)] {
            let bound = match bound {
                Bound::None => continue,
                Bound::Rows(rows) => rows_literal(rows),
                Bound::Asked(expr, subqueries) => {
                    rel = over(rel, *subqueries);
                    *expr
                }
            };
            let zero = rows_literal(0);
            let unknown = unary(UnaryOperator::IsNull, bound.clone());
            if is_limit {
                let within = compare(BinaryOperator::LessEqual, place.clone(), bound);
                conditions.push(Expr::predicate(BinaryOperator::Or, unknown, within));
                continue;
            }
            let branches = vec![(unknown, zero.clone())];
            let kind = ExprKind::Case { branches, otherwise: Some(Box::new(bound)) };
            let skipped = Expr { kind, data_type: DataType::BigInt };
            let (left, right) = (Box::new(place), Box::new(skipped));
            let kind = ExprKind::Binary { operator: BinaryOperator::Subtract, left, right };
            place = Expr { kind, data_type: DataType::BigInt };
            conditions.push(compare(BinaryOperator::Greater, place.clone(), zero));
        }
        super::query::sorted(rel.filtered(conditions), keys)
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
        let call = |function| of_rows(function, keys.len());
        let number = self.attribute(DataType::BigInt, false);
        let rank = self.attribute(DataType::BigInt, false);
        let functions =
            vec![(number, call(WindowFunction::RowNumber)), (rank, call(WindowFunction::Rank))];
        let within = |attr, operator, bound: u64| {
            Expr::predicate(operator, Expr::column(attr, DataType::BigInt), rows_literal(bound))
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
        super::query::sorted(window.filtered(conditions), keys)
    }

    /// A number of rows, in which columns of the query itself have no part.
    fn rows_of(&mut self, expr: Option<&'a ast::Expr>, what: &str) -> SqlResult<Bound> {
        let Some(expr) = expr else { return Ok(Bound::None) };
        let level = Level::new(View::default(), one_row(), Clause::Limit);
        let (bound, level) = self.in_level(level, |this| {
            let bound = this.expr(expr)?;
            // Any number is rounded to one of rows.
            if bound.data_type.is_numeric() && bound.data_type != DataType::BigInt {
                return Ok(fold_cast(bound, DataType::BigInt));
            }
            this.coerce(bound, DataType::BigInt, expr)
        })?;
        match constant(&bound) {
            Some(Value::Null) => Ok(Bound::None),
            Some(Value::Integer(rows)) => match u64::try_from(*rows) {
                Ok(rows) => Ok(Bound::Rows(rows)),
                Err(_) => Err(at(functions::negative_rows(what), expr)),
            },
            // A plan is made for the values of parameters; what is volatile would be another value for each row.
            _ if has_parameter(&bound) || !super::is_repeatable(&bound) => {
                Err(unsupported(&format!("{what} of anything but a constant"), expr))
            }
            _ => {
                let what = Expr::literal(Value::Text(what.into()), DataType::Text);
                let checked = self.invoke(Function::CheckedRows, vec![bound, what], expr)?;
                Ok(Bound::Asked(Box::new(checked), Box::new(level.input)))
            }
        }
    }
}

/// How many rows LIMIT or OFFSET says.
enum Bound {
    /// Nothing, ALL or NULL.
    None,
    Rows(u64),
    /// A value, and the dependent joins over one row that it reads.
    Asked(Box<Expr>, Box<Rel>),
}

impl Bound {
    fn known(&self) -> Option<u64> {
        match self {
            Self::Rows(rows) => Some(*rows),
            Self::None | Self::Asked(..) => None,
        }
    }
}

/// A window function of rows in an order of so many keys.
pub(super) fn of_rows(function: WindowFunction, order: usize) -> WindowCall {
    WindowCall {
        function,
        arguments: Vec::new(),
        filter: None,
        order,
        frame: Frame::default(),
        ignore_nulls: false,
        data_type: DataType::BigInt,
    }
}

fn rows_literal(rows: u64) -> Expr {
    Expr::literal(Value::Integer(i64::try_from(rows).unwrap_or(i64::MAX)), DataType::BigInt)
}

fn has_parameter(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Parameter(_)) || expr.children().into_iter().any(has_parameter)
}
