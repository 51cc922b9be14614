//! Statements that change or lock rows, as queries whose clauses were looked at.

use sqlparser::ast;
use types::{SqlError, SqlResult, SqlState};

use crate::parsed_query::ParsedQuery;
use crate::statement::Statement;
use crate::syntax::unknown;
use crate::{clauses, lock_words, overriding};

/// A query whose body changes rows.
pub(crate) fn changing(mut query: Box<ast::Query>) -> SqlResult<Statement> {
    use ast::{SetExpr, Statement as Ast};
    match &mut *query.body {
        SetExpr::Insert(Ast::Insert(insert)) => {
            clauses::insert(insert)?;
            overriding::note(insert);
        }
        SetExpr::Update(Ast::Update(update)) => clauses::update(update)?,
        SetExpr::Delete(Ast::Delete(delete)) => clauses::delete(delete)?,
        SetExpr::Merge(Ast::Merge(merge)) => clauses::merge(merge)?,
        other => return Err(unknown(other)),
    }
    Ok(Statement::Change { query: ParsedQuery(query) })
}

/// A statement that changes or locks rows, once its clauses were looked at.
pub(crate) fn checked_change(query: Box<ast::Query>) -> SqlResult<ParsedQuery> {
    let checked = match query.locks.is_empty() {
        true => changing(query)?,
        false => locking(query)?,
    };
    match checked {
        Statement::Change { query } => Ok(query),
        _ => Err(SqlError::internal("a change that is none")),
    }
}

/// A SELECT that locks rows: a change of nothing.
pub(crate) fn locking(query: Box<ast::Query>) -> SqlResult<Statement> {
    let what = match query.body.as_ref() {
        ast::SetExpr::Select(_) => return Ok(Statement::Change { query: ParsedQuery(query) }),
        ast::SetExpr::Values(_) => "VALUES",
        _ => "UNION/INTERSECT/EXCEPT",
    };
    let mode = query.locks.first().map_or("UPDATE", |it| lock_words::said(it).0.name());
    let message = format!("FOR {mode} is not allowed with {what}");
    Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
}
