//! A query: WITH, its body, ORDER BY, LIMIT.

use plan::relation::{AttrSet, Rel};
use plan::{Expr, ExprKind, SortKey};
use sqlparser::ast::{self, SetExpr};
use types::{DataType, SqlError, SqlResult, SqlState, Value, numeric};

use super::errors::{at, unsupported};
use super::level::{Clause, Level, one_row};
use super::order::Ordering;
use super::scope::{Columns, Frame, Named, Relation};
use super::{Answer, Binder, OutputColumn, mapped};

impl<'a> Binder<'a> {
    /// Binds a query. What it uses of the levels around it makes it correlated.
    pub(super) fn query(&mut self, query: &'a ast::Query) -> SqlResult<Answer> {
        (self.environment.check)()?;
        if !query.locks.is_empty() {
            return Err(unsupported("FOR UPDATE or FOR SHARE of a query inside of another", query));
        }
        refuse_rare(query)?;
        let known = self.with.len();
        if let Some(with) = &query.with {
            self.add_with(with, query)?;
        }
        let ordering = Ordering::of(query.order_by.as_ref())?;
        let mut answer = match &*query.body {
            SetExpr::Select(select) => self.select(select, &ordering)?,
            body => {
                let answer = self.body(body)?;
                self.order_output(answer, &ordering)?
            }
        };
        self.limit(&mut answer, query)?;
        self.close_with(known)?;
        Ok(answer)
    }

    /// A part of a query without ORDER BY of its own.
    pub(super) fn body(&mut self, body: &'a SetExpr) -> SqlResult<Answer> {
        match body {
            SetExpr::Select(select) => self.select(select, &Ordering::none()),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { .. } => self.set_operation(body),
            SetExpr::Values(values) => self.values(values, &[]),
            SetExpr::Table(table) => {
                let Some(name) = &table.table_name else {
                    return Err(SqlError::new(SqlState::SYNTAX, "TABLE needs a name"));
                };
                let schema = table.schema_name.as_ref();
                let factor = self.relation(schema.map(String::as_str), name)?;
                self.note_schema(&**table, &factor.1);
                let columns = factor.1.all();
                self.note_star(&**table, &columns, None);
                columns.iter().try_for_each(|it| self.named_column(it.attr).map(drop))?;
                let columns = columns.into_iter().map(OutputColumn::from).collect();
                Ok(Answer { rel: factor.0, columns })
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err(unsupported("a statement that changes data inside a query", body))
            }
        }
    }

    /// ORDER BY over a result whose rows are all that is left: its columns by place and by name.
    fn order_output(&mut self, answer: Answer, ordering: &Ordering<'a>) -> SqlResult<Answer> {
        if ordering.is_none() {
            return Ok(answer);
        }
        let named = answer.columns.iter().cloned().map(Named::from).collect();
        let relation = Relation::of(None, Columns::Made(named));
        let level = Level::new(Frame::of(relation), answer.rel, Clause::On);
        let columns = answer.columns;
        let (keys, level) = self.in_level(level, |this| {
            let mut keys = Vec::new();
            for it in ordering.expressions(columns.len()) {
                let place = match it.expr {
                    None => Some(it.place),
                    Some(expr) => super::order::place(expr, columns.len(), "ORDER BY")?,
                };
                let expr = match (place, it.expr) {
                    (Some(place), _) => this.column_expr(columns[place].attr),
                    (None, Some(expr @ ast::Expr::Identifier(_))) => this.expr(expr)?,
                    (None, Some(expr)) => {
                        let error = SqlError::new(
                            SqlState::FEATURE_NOT_SUPPORTED,
                            "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                        );
                        let hint = "order by a column of the result, by its name or number; or \
                                    put the set operation into FROM";
                        return Err(at(error.with_hint(hint), expr));
                    }
                    (None, None) => return Err(SqlError::internal("an order by nothing")),
                };
                keys.push(it.key(expr, this.order_defaults()));
            }
            Ok(keys)
        })?;
        Ok(Answer { rel: sorted(level.input, keys)?, columns })
    }

    /// VALUES as a query. A row has a level of its own, so that a subquery in it depends on no other. `parameters`: the
    /// types of parameters, column by column, where they are known, and the domains that tell them.
    pub(super) fn values(
        &mut self,
        values: &'a ast::Values,
        parameters: &[(DataType, Option<&str>)],
    ) -> SqlResult<Answer> {
        if values.explicit_row || values.value_keyword {
            return Err(SqlError::new(SqlState::SYNTAX, "syntax error: VALUES (..), (..)"));
        }
        let width = values.rows.first().map_or(0, |it| it.content.len());
        let mut rows = Vec::with_capacity(values.rows.len());
        for row in &values.rows {
            let row = &row.content;
            if row.len() != width {
                let message = "VALUES lists must all be the same length";
                let error = SqlError::new(SqlState::SYNTAX, message);
                return Err(row.first().map_or(error.clone(), |it| at(error, it)));
            }
            let level = Level::new(Frame::default(), one_row(), Clause::Values);
            let bind = |this: &mut Self| {
                let each = row.iter().enumerate();
                each.map(|(place, it)| this.value(it, parameters.get(place))).collect()
            };
            let (exprs, level): (Vec<Expr>, _) = self.in_level(level, bind)?;
            rows.push((exprs, level.input));
        }
        for (place, (to, _)) in parameters.iter().enumerate().take(width) {
            self.each_as(&mut rows, place, *to)?;
        }
        self.constant_rows(rows, width)
    }

    /// Values of several types that go to one column, each as it goes there: brought together first, 2 beside 1.5 would be the
    /// text 2.0.
    fn each_as(
        &mut self,
        rows: &mut [(Vec<Expr>, Rel)],
        place: usize,
        to: DataType,
    ) -> SqlResult<()> {
        let types = || rows.iter().map(|it| it.0[place].data_type);
        let is_one = types().all(|it| it == rows[0].0[place].data_type);
        if is_one || !types().all(|it| numeric::is_assignable(it, to)) {
            return Ok(());
        }
        for (row, _) in rows {
            let value = std::mem::replace(&mut row[place], null());
            row[place] = self.stored_as(value, to)?;
        }
        Ok(())
    }

    /// An expression of VALUES; a parameter or a text of unknown type is of the type that is asked for, whatever the other rows
    /// have there.
    fn value(
        &mut self,
        node: &'a ast::Expr,
        wanted: Option<&(DataType, Option<&str>)>,
    ) -> SqlResult<Expr> {
        let value = self.declared(node)?;
        self.note_domain(&value, wanted.and_then(|it| it.1));
        match (&value.kind, wanted.map(|it| &it.0)) {
            (ExprKind::Parameter(_) | ExprKind::Literal(Value::Text(_)), Some(to))
                if value.data_type == DataType::Null =>
            {
                self.stored_as(value, *to).map_err(|it| super::errors::at(it, node))
            }
            // What is stored as something else is of the column's type at once: rows may have different ones.
            (_, Some(to))
                if (value.data_type.stored() != value.data_type || to.stored() != *to)
                    && value.data_type != DataType::Null
                    && numeric::is_assignable(value.data_type, *to) =>
            {
                self.stored_as(value, *to)
            }
            _ => Ok(value),
        }
    }

    /// Rows of expressions, each over an input of its own.
    fn constant_rows(
        &mut self,
        mut rows: Vec<(Vec<Expr>, Rel)>,
        width: usize,
    ) -> SqlResult<Answer> {
        let mut columns = Vec::with_capacity(width);
        for place in 0..width {
            let take = |it: &mut (Vec<Expr>, Rel)| std::mem::replace(&mut it.0[place], null());
            let mut column: Vec<Expr> = rows.iter_mut().map(take).collect();
            let data_type = self.unify(&mut column, "VALUES")?;
            rows.iter_mut().zip(column).for_each(|(row, it)| row.0[place] = it);
            let attr = self.attribute(data_type, true);
            columns.push(OutputColumn::made(format!("column{}", place + 1), attr));
        }
        let output: Vec<_> = columns.iter().map(|it| it.attr).collect();
        let is_plain = |(exprs, input): &(Vec<Expr>, Rel)| {
            let one_row = matches!(input, Rel::Values { output, .. } if output.is_empty());
            one_row && exprs.iter().all(|it| AttrSet::of(it).is_empty())
        };
        if rows.iter().all(is_plain) {
            let rows = rows.into_iter().map(|it| it.0).collect();
            return Ok(Answer { rel: Rel::Values { output, rows }, columns });
        }
        let mut inputs = Vec::with_capacity(rows.len());
        for (exprs, input) in rows {
            let made: Vec<_> =
                exprs.into_iter().map(|it| (self.attribute(it.data_type, true), it)).collect();
            let attrs = made.iter().map(|it| it.0).collect();
            inputs.push((mapped(input, made), attrs));
        }
        Ok(Answer { rel: Rel::Union { inputs, output }, columns })
    }
}

fn null() -> Expr {
    plan::build::null(DataType::Null)
}

/// A relation in order; itself when no order is asked for. Errors: 42883 for a key that has none.
pub(super) fn sorted(input: Rel, keys: Vec<SortKey>) -> SqlResult<Rel> {
    if keys.is_empty() {
        return Ok(input);
    }
    let (keys, input) = (compared(keys)?, Box::new(input));
    Ok(Rel::Sort { input, keys, offset: 0, limit: None, partition: Vec::new() })
}

/// The keys of an order by what their values are compared by. Errors: 42883 for a key that has none.
pub(super) fn compared(keys: Vec<SortKey>) -> SqlResult<Vec<SortKey>> {
    keys.iter().try_for_each(|it| super::json::check_ordering(it.expr.data_type))?;
    let by = |it: SortKey| SortKey { expr: super::coercion::key_of(it.expr), ..it };
    Ok(keys.into_iter().map(by).collect())
}

/// What the parser accepts and nobody here does.
pub(super) fn refuse_rare(query: &ast::Query) -> SqlResult<()> {
    if query.for_clause.is_some() || query.settings.is_some() || query.format_clause.is_some() {
        return Err(at(SqlError::new(SqlState::SYNTAX, "syntax error after the query"), query));
    }
    if !query.pipe_operators.is_empty() {
        return Err(unsupported("the pipe operator |>", query));
    }
    Ok(())
}
