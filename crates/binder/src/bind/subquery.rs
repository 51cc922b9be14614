//! Subqueries in expressions: dependent joins over the rows of the clause that they stand in.

use plan::build::{boolean, compare, negated};
use plan::relation::{Apply, Attr, Rel};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::{at, unsupported};
use super::quantified_test::Test;
use super::{Answer, Binder};

impl<'a> Binder<'a> {
    /// A subquery that stands for its only value.
    pub(super) fn scalar_subquery(&mut self, query: &'a ast::Query) -> SqlResult<Expr> {
        let mut answer = self.inner(query)?;
        self.decide_types(&mut answer)?;
        let [column] = &answer.columns[..] else {
            let message = "subquery must return only one column";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), query));
        };
        let source = column.attr;
        let data_type = self.attributes[source].data_type;
        let value = self.attribute(data_type, true);
        self.attach(answer.rel, Apply::Scalar { value, source })?;
        Ok(Expr::column(value, data_type))
    }

    /// The values of the only row of a subquery, NULL where it has none.
    pub(super) fn row_subquery(&mut self, query: &'a ast::Query) -> SqlResult<Vec<Expr>> {
        let mut answer = self.inner(query)?;
        self.decide_types(&mut answer)?;
        let rows = self.attribute(DataType::BigInt, false);
        let mut aggregates =
            vec![(rows, Aggregate::of(AggregateFunction::Count, None, DataType::BigInt))];
        let mut values = Vec::with_capacity(answer.columns.len());
        let one = Expr::literal(Value::Integer(1), DataType::BigInt);
        for column in &answer.columns {
            let (any, argument) =
                (AggregateFunction::AnyValue, Some(self.column_expr(column.attr)));
            let data_type = self.attributes[column.attr].data_type;
            let value = self.attribute(data_type, true);
            aggregates.push((value, Aggregate::of(any, argument, data_type)));
            let (function, arguments) = (Function::RaiseCardinality, Vec::new());
            let error = Expr { kind: ExprKind::Call { function, arguments }, data_type };
            let many = compare(BinaryOperator::Greater, self.column_expr(rows), one.clone());
            let otherwise = Some(Box::new(self.column_expr(value)));
            let kind = ExprKind::Case { branches: vec![(many, error)], otherwise };
            values.push(Expr { kind, data_type });
        }
        let input = Box::new(answer.rel);
        let row = Rel::Aggregate { input, keys: Vec::new(), aggregates, rows: 0.0 };
        self.attach(row, Apply::Join { outer: false, on: Vec::new() })?;
        Ok(values)
    }

    /// EXISTS.
    pub(super) fn exists(&mut self, query: &'a ast::Query, negate: bool) -> SqlResult<Expr> {
        let tested = tested(query);
        self.tested.extend(tested);
        let answer = self.inner(query);
        self.tested.truncate(self.tested.len() - usize::from(tested.is_some()));
        let mut answer = answer?;
        self.decide_types(&mut answer)?;
        let always = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let mark = self.mark(answer, always, false)?;
        Ok(if negate { negated(mark) } else { mark })
    }

    /// `x IN (subquery)`, of one value or a row of them.
    pub(super) fn in_subquery(
        &mut self,
        operand: &'a ast::Expr,
        query: &'a ast::Query,
        negate: bool,
        null_as_false: bool,
    ) -> SqlResult<Expr> {
        let equal = Test::Compares(BinaryOperator::Equal);
        let mark = self.any(operand, equal, query, null_as_false && !negate)?;
        Ok(if negate { negated(mark) } else { mark })
    }

    /// `x operator ANY (subquery)`; ALL is the negation of ANY with the opposite operator.
    pub(super) fn quantified(
        &mut self,
        operand: &'a ast::Expr,
        operator: &'a ast::BinaryOperator,
        right: &'a ast::Expr,
        all: bool,
        null_as_false: bool,
    ) -> SqlResult<Expr> {
        let Some(test) = Test::of(operator) else {
            return Err(unsupported("ANY or ALL with this operator", operand));
        };
        let query = match right {
            ast::Expr::Subquery(query) => query,
            ast::Expr::Nested(inner) => match &**inner {
                ast::Expr::Subquery(query) => query,
                _ => return self.quantified_array(operand, test, inner, all),
            },
            _ => return self.quantified_array(operand, test, right, all),
        };
        match all {
            false => self.any(operand, test, query, null_as_false),
            true => Ok(negated(self.any(operand, test.opposite(), query, false)?)),
        }
    }

    fn any(
        &mut self,
        operand: &'a ast::Expr,
        test: Test,
        query: &'a ast::Query,
        null_as_false: bool,
    ) -> SqlResult<Expr> {
        let operands = match super::comparison::row_of(operand) {
            Some(parts) => {
                parts.into_iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?
            }
            None => vec![self.expr(operand)?],
        };
        let answer = self.inner(query)?;
        if answer.columns.len() != operands.len() {
            let what = if answer.columns.len() > operands.len() { "many" } else { "few" };
            let message = format!("subquery has too {what} columns");
            return Err(at(SqlError::new(SqlState::SYNTAX, message), query));
        }
        if operands.len() > 1
            && !matches!(test, Test::Compares(BinaryOperator::Equal | BinaryOperator::NotEqual))
        {
            return Err(unsupported("the order of rows of values in ANY or ALL", operand));
        }
        let mut answer = answer;
        self.decide_unknown(&mut answer, &operands)?;
        let mut condition: Option<Expr> = None;
        let columns: Vec<Attr> = answer.columns.iter().map(|it| it.attr).collect();
        for (left, attr) in operands.into_iter().zip(columns) {
            let right = self.column_expr(attr);
            let said = [false; 2];
            let (left, right) = self.functions_of_catalog(left, right, said, operand)?;
            let one = self.tested(test, left, right, operand)?;
            condition = Some(match condition {
                None => one,
                Some(all) if test == Test::Compares(BinaryOperator::Equal) => {
                    Expr::predicate(BinaryOperator::And, all, one)
                }
                Some(any) => Expr::predicate(BinaryOperator::Or, any, one),
            });
        }
        let condition = condition.ok_or_else(|| SqlError::internal("a row without values"))?;
        self.mark(answer, condition, null_as_false)
    }

    /// Columns of unknown type take the type of what they are compared with.
    fn decide_unknown(&mut self, answer: &mut Answer, operands: &[Expr]) -> SqlResult<()> {
        let types: Vec<DataType> = answer
            .columns
            .iter()
            .zip(operands)
            .map(|(column, operand)| match self.attributes[column.attr].data_type {
                DataType::Null if operand.data_type == DataType::Null => DataType::Text,
                DataType::Null if operand.data_type.is_blank_padded() => DataType::Text,
                DataType::Null => operand.data_type,
                known => known,
            })
            .collect();
        self.convert_columns(answer, &types)
    }

    pub(super) fn mark(
        &mut self,
        answer: Answer,
        condition: Expr,
        null_as_false: bool,
    ) -> SqlResult<Expr> {
        let mark = self.attribute(DataType::Boolean, true);
        self.attach(answer.rel, Apply::Any { mark, condition, null_as_false })?;
        Ok(boolean(ExprKind::Column(mark)))
    }

    /// A query inside an expression.
    fn inner(&mut self, query: &'a ast::Query) -> SqlResult<Answer> {
        self.count(1)?;
        self.query(query)
    }
}

/// The SELECT that a query of EXISTS is, if it has rows just when the SELECT without its list has some.
fn tested(query: &ast::Query) -> Option<&ast::Select> {
    let is_cut = match &query.limit_clause {
        None => false,
        Some(ast::LimitClause::LimitOffset { offset, .. }) => offset.is_some(),
        Some(ast::LimitClause::OffsetCommaLimit { .. }) => true,
    };
    match &*query.body {
        ast::SetExpr::Select(it) if !is_cut && query.locks.is_empty() => Some(it),
        _ => None,
    }
}
