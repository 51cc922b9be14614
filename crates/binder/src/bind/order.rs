//! ORDER BY: what it names and in which direction.

use plan::{Expr, OrderDefaults, SortKey};
use sqlparser::ast;
use types::{SqlError, SqlResult, SqlState};

use super::errors::{at, unsupported};

/// An ORDER BY clause.
#[derive(Clone, Debug)]
pub(super) enum Ordering<'a> {
    /// By expressions.
    By(&'a [ast::OrderByExpr]),
    /// By all columns of the result, from left to right.
    All(ast::OrderByOptions),
}

/// One entry of ORDER BY.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// The expression; `None` of ORDER BY ALL.
    pub expr: Option<&'a ast::Expr>,
    /// Its place in the clause, and of ORDER BY ALL in the result.
    pub place: usize,
    options: ast::OrderByOptions,
}

impl<'a> Ordering<'a> {
    pub fn none() -> Self {
        Self::By(&[])
    }

    pub fn of(clause: Option<&'a ast::OrderBy>) -> SqlResult<Self> {
        let Some(clause) = clause else { return Ok(Self::none()) };
        if clause.interpolate.is_some() {
            return Err(SqlError::unsupported("INTERPOLATE is not supported"));
        }
        match &clause.kind {
            ast::OrderByKind::All(options) => Ok(Self::All(*options)),
            ast::OrderByKind::Expressions(exprs) => {
                match exprs.iter().find(|it| it.with_fill.is_some()) {
                    Some(it) => Err(unsupported("WITH FILL", &it.expr)),
                    None => Ok(Self::By(exprs)),
                }
            }
        }
    }

    /// Entries of expressions without directions, as DISTINCT ON lists them.
    pub fn plain(exprs: &'a [ast::Expr]) -> impl Iterator<Item = Entry<'a>> {
        let options = ast::OrderByOptions { asc: None, nulls_first: None };
        exprs.iter().enumerate().map(move |(place, it)| Entry { expr: Some(it), place, options })
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Self::By([]))
    }

    /// The entries, for a result of so many columns.
    pub fn expressions(&self, columns: usize) -> Vec<Entry<'a>> {
        match self {
            Self::By(exprs) => {
                let entry = |(place, it): (usize, &'a ast::OrderByExpr)| Entry {
                    expr: Some(&it.expr),
                    place,
                    options: it.options,
                };
                exprs.iter().enumerate().map(entry).collect()
            }
            Self::All(options) => {
                let entry = |place| Entry { expr: None, place, options: *options };
                (0..columns).map(entry).collect()
            }
        }
    }
}

impl Entry<'_> {
    /// The key of a bound expression; the session says what the entry does not.
    pub fn key(&self, expr: Expr, defaults: OrderDefaults) -> SortKey {
        let descending = self.options.asc.map_or(defaults.descending, |asc| !asc);
        let nulls_first = self.options.nulls_first;
        let nulls_first = nulls_first.unwrap_or_else(|| defaults.nulls.is_first(descending));
        SortKey { expr, descending, nulls_first }
    }
}

/// The column of a result that a number in ORDER BY or GROUP BY means, counted from 0. Any other constant means nothing
/// there.
pub(super) fn place(expr: &ast::Expr, columns: usize, clause: &str) -> SqlResult<Option<usize>> {
    if let Some(text) = crate::values::signed(expr) {
        let Ok(number) = text.parse::<i32>() else { return Err(no_place(expr, clause)) };
        return match usize::try_from(number) {
            Ok(place) if (1..=columns).contains(&place) => Ok(Some(place - 1)),
            _ => {
                let message = format!("{clause} position {text} is not in select list");
                Err(at(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message), expr))
            }
        };
    }
    match expr {
        ast::Expr::Nested(inner) => place(inner, columns, clause),
        ast::Expr::Value(it) if !matches!(it.value, ast::Value::Placeholder(_)) => {
            Err(no_place(expr, clause))
        }
        _ => Ok(None),
    }
}

/// Whether an expression is a constant as it is spelt: what ORDER BY and GROUP BY take for a place.
pub(super) fn is_constant(expr: &ast::Expr) -> bool {
    let is_parameter = |it: &ast::Value| matches!(it, ast::Value::Placeholder(_));
    match expr {
        ast::Expr::Value(it) => !is_parameter(&it.value),
        ast::Expr::Nested(inner) => is_constant(inner),
        other => crate::values::signed(other).is_some(),
    }
}

fn no_place(expr: &ast::Expr, clause: &str) -> SqlError {
    at(SqlError::new(SqlState::SYNTAX, format!("non-integer constant in {clause}")), expr)
}
