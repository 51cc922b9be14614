//! Parameters of prepared statements in parsed text: how many there are, and text with values in their place.

use std::ops::ControlFlow;

use crate::fragments::read;
use crate::walk::{self, Editor};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use crate::parsed_query::ParsedQuery;
use crate::statement::{Arguments, CursorStatement, Statement};

/// The number of a parameter, counted from 0.
pub fn number(id: &str) -> SqlResult<usize> {
    let number = id.strip_prefix('$').and_then(|it| it.parse::<usize>().ok());
    match number {
        Some(number @ 1..=65_535) => Ok(number - 1),
        _ => Err(SqlError::new(
            SqlState::SYNTAX,
            format!("{id} does not name a parameter: they are called $1, $2 and so on"),
        )),
    }
}

fn placeholder(expr: &ast::Expr) -> Option<&str> {
    match expr {
        ast::Expr::Value(it) => match &it.value {
            ast::Value::Placeholder(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

/// How many parameters a query has: the greatest number that it names.
fn count_in(query: &ParsedQuery) -> SqlResult<usize> {
    let mut most = 0;
    let mut wrong = None;
    walk::any_expression(&query.0, |expr| match placeholder(expr).map(number) {
        None => false,
        Some(Ok(number)) => {
            most = most.max(number + 1);
            false
        }
        Some(Err(error)) => {
            wrong = Some(error);
            true
        }
    });
    wrong.map_or(Ok(most), Err)
}

/// The query of a statement that may be prepared or explained.
pub fn query_of(statement: &Statement) -> Option<&ParsedQuery> {
    match statement {
        Statement::Query { query }
        | Statement::Change { query }
        | Statement::Explain { query, .. }
        | Statement::Cursor(CursorStatement::Declare { query, .. }) => Some(query),
        Statement::InSteps { last, .. } => query_of(last),
        _ => None,
    }
}

/// How many parameters a statement has.
pub fn count(statement: &Statement) -> SqlResult<usize> {
    let mut most = query_of(statement).map_or(Ok(0), count_in)?;
    if let Statement::InSteps { first, .. } = statement {
        for step in first {
            most = most.max(count_in(&step.query)?);
        }
    }
    Ok(most)
}

/// What a column is called that has no name.
const UNNAMED: &str = "?column?";

/// The query with values in the place of its parameters; a type where one was declared.
pub fn substitute(
    query: &ParsedQuery,
    values: &[(Value, Option<DataType>)],
) -> SqlResult<ParsedQuery> {
    /// Puts values in place, and leaves columns that are parameters without a name.
    struct Filling<'a>(&'a [(Value, Option<DataType>)]);
    impl Editor for Filling<'_> {
        fn pre_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
            for item in &mut select.projection {
                if let ast::SelectItem::UnnamedExpr(expr) = item
                    && placeholder(expr).is_some()
                {
                    let (expr, alias) = (expr.clone(), ast::Ident::with_quote('"', UNNAMED));
                    *item = ast::SelectItem::ExprWithAlias { expr, alias };
                }
            }
            ControlFlow::Continue(())
        }
        fn post_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<SqlError> {
            let Some(id) = placeholder(expr) else { return ControlFlow::Continue(()) };
            let constant = number(id).and_then(|number| match self.0.get(number) {
                Some((value, data_type)) => constant(value, *data_type),
                None => {
                    Err(SqlError::new(SqlState::SYNTAX, format!("parameter {id} has no value")))
                }
            });
            match constant {
                Ok(constant) => {
                    *expr = constant;
                    ControlFlow::Continue(())
                }
                Err(error) => ControlFlow::Break(error),
            }
        }
    }
    let mut query = query.clone();
    match walk::edit(&mut query.0, &mut Filling(values)) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(query),
    }
}

/// The query without what says by parameters how many rows there are (`LIMIT $1 + 1`), which is known before a plan can be made; and
/// that as queries of one row, so that its parameters have types although the plan has none of them.
pub fn without_limits(query: &ParsedQuery) -> (ParsedQuery, Vec<ParsedQuery>) {
    struct Limits(Vec<ParsedQuery>);
    impl Limits {
        fn take(&mut self, expr: Option<&mut ast::Expr>) {
            let Some(expr) = expr else { return };
            if let Some(query) = number_of_rows(expr)
                && count_in(&query).is_ok_and(|it| it > 0)
            {
                self.0.push(query);
                *expr = ast::Expr::Value(ast::Value::Null.into());
            }
        }
    }
    impl Editor for Limits {
        fn pre_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
            if let Some(ast::LimitClause::LimitOffset { limit, offset, .. }) =
                &mut query.limit_clause
            {
                self.take(limit.as_mut());
                self.take(offset.as_mut().map(|it| &mut it.value));
            }
            self.take(query.fetch.as_mut().and_then(|it| it.quantity.as_mut()));
            ControlFlow::Continue(())
        }
    }
    let mut query = query.clone();
    let mut limits = Limits(Vec::new());
    // It never breaks off.
    let _ = walk::edit(&mut query.0, &mut limits);
    (query, limits.0)
}

/// A number of rows as a query that gives it.
fn number_of_rows(expr: &ast::Expr) -> Option<ParsedQuery> {
    let text = format!("SELECT coalesce(CAST(NULL AS BIGINT), {expr})");
    match crate::parse::parse(&text).ok()?.into_tree().into_iter().next()? {
        Statement::Query { query } => Some(query),
        _ => None,
    }
}

/// A value as SQL.
fn constant(value: &Value, data_type: Option<DataType>) -> SqlResult<ast::Expr> {
    let text = match (value, data_type) {
        (Value::Float(it), _) => format!("CAST('{it}' AS DOUBLE PRECISION)"),
        // A moment, which is held by UTC whatever the zone of the session.
        (Value::Timestamp(_), Some(DataType::TimestampTz)) => format!("{value} AT TIME ZONE 'UTC'"),
        (other, _) => other.to_string(),
    };
    let text = match data_type {
        Some(data_type) => format!("CAST({text} AS {data_type})"),
        None => text,
    };
    read(&text, |it| it.parse_expr()).map_err(|error| {
        SqlError::internal(format!("the value {text} of a parameter is no expression: {error}"))
    })
}

/// The arguments of EXECUTE: constants as they are, anything else as a query of one row.
pub(crate) fn arguments(exprs: Vec<ast::Expr>) -> SqlResult<Arguments> {
    if let Some(values) = exprs.iter().map(literal).collect() {
        return Ok(Arguments::Values(values));
    }
    let list: Vec<String> = exprs.iter().map(ToString::to_string).collect();
    let statements = crate::parse::parse(&format!("VALUES ({})", list.join(", ")))?;
    match statements.into_tree().into_iter().next() {
        Some(Statement::Query { query }) => Ok(Arguments::Query(query)),
        _ => Err(SqlError::new(SqlState::SYNTAX, "EXECUTE takes expressions as arguments")),
    }
}

fn literal(expr: &ast::Expr) -> Option<Value> {
    match expr {
        ast::Expr::Value(it) => match &it.value {
            ast::Value::Number(text, _) => exact(text),
            ast::Value::SingleQuotedString(text) => Some(Value::Text(text.as_str().into())),
            ast::Value::Boolean(it) => Some(Value::Boolean(*it)),
            ast::Value::Null => Some(Value::Null),
            _ => None,
        },
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match literal(expr)? {
            Value::Integer(it) => it.checked_neg().map(Value::Integer),
            Value::Decimal { unscaled, scale } => {
                Some(Value::Decimal { unscaled: -unscaled, scale })
            }
            _ => None,
        },
        _ => None,
    }
}

/// A number as it is spelt.
fn exact(text: &str) -> Option<Value> {
    if let Ok(integer) = text.parse() {
        return Some(Value::Integer(integer));
    }
    let (whole, fraction) = text.split_once('.')?;
    if whole.len() + fraction.len() > 38 {
        return None;
    }
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    Some(Value::Decimal { unscaled, scale: fraction.len() as u8 })
}

#[cfg(test)]
mod tests {
    use sqlparser::parser::Parser;

    use super::*;

    fn query(sql: &str) -> ParsedQuery {
        match crate::parse::parse(sql).unwrap().remove(0) {
            Statement::Query { query } => query,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_stand_where_parameters_stood() {
        let parsed = query("SELECT a FROM t WHERE a = $2 AND b LIKE $1 LIMIT $3");
        assert_eq!(count_in(&parsed).unwrap(), 3);
        let values = [
            (Value::Text("it's %".into()), None),
            (Value::Decimal { unscaled: -15, scale: 1 }, None),
            (Value::Integer(4), Some(DataType::BigInt)),
        ];
        let text = substitute(&parsed, &values).unwrap().to_string();
        let wanted = "SELECT a FROM t WHERE a = -1.5 AND b LIKE 'it''s %' LIMIT CAST(4 AS BIGINT)";
        assert_eq!(text, wanted);
        assert_eq!(substitute(&parsed, &values[..1]).unwrap_err().state, SqlState::SYNTAX);
        assert!(count_in(&query("SELECT $0")).is_err());
        assert_eq!(count_in(&query("SELECT '$1'")).unwrap(), 0);
    }

    #[test]
    fn constants_need_no_planning() {
        let list = |sql: &str| {
            let exprs = read(sql, |it| it.parse_comma_separated(Parser::parse_expr)).unwrap();
            arguments(exprs).unwrap()
        };
        let Arguments::Values(values) = list("1, -2.50, 'x', NULL, TRUE") else { panic!() };
        let decimal = Value::Decimal { unscaled: -250, scale: 2 };
        let wanted = [
            Value::Integer(1),
            decimal,
            Value::Text("x".into()),
            Value::Null,
            Value::Boolean(true),
        ];
        assert_eq!(values, wanted);
        let Arguments::Query(query) = list("1 + 1, DATE '2020-01-01'") else { panic!() };
        assert_eq!(query.to_string(), "VALUES (1 + 1, DATE '2020-01-01')");
    }
}
