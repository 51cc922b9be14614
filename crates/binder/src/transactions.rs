//! BEGIN, COMMIT, SAVEPOINT and the like.

use sqlparser::ast::{
    self, Set, Statement as Ast, TransactionAccessMode, TransactionIsolationLevel, TransactionMode,
};
use types::{SqlError, SqlResult, SqlState};

use crate::statement::{Isolation, TransactionModes, TransactionStatement};
use crate::syntax::{ident, unsupported};

/// A statement about a transaction.
pub(crate) fn transaction(statement: ast::Statement) -> SqlResult<TransactionStatement> {
    let syntax = |what: &str| Err(SqlError::new(SqlState::SYNTAX, format!("syntax error: {what}")));
    match statement {
        Ast::StartTransaction { modifier: Some(_), .. } => syntax("a kind of BEGIN"),
        Ast::StartTransaction { statements, exception, has_end_keyword, .. }
            if !statements.is_empty() || exception.is_some() || has_end_keyword =>
        {
            syntax("statements inside of BEGIN .. END")
        }
        Ast::StartTransaction { modes, .. } => {
            Ok(TransactionStatement::Begin { modes: modes_of(&modes)? })
        }
        Ast::Commit { modifier: Some(_), .. } => syntax("a kind of COMMIT"),
        Ast::Commit { chain, .. } => Ok(TransactionStatement::Commit { chain }),
        Ast::Rollback { chain, savepoint: None } => Ok(TransactionStatement::Rollback { chain }),
        Ast::Rollback { chain: true, .. } => syntax("AND CHAIN of ROLLBACK TO"),
        Ast::Rollback { savepoint: Some(name), .. } => {
            Ok(TransactionStatement::RollbackTo { name: ident(&name) })
        }
        Ast::Savepoint { name } => Ok(TransactionStatement::Savepoint { name: ident(&name) }),
        Ast::ReleaseSavepoint { name } => Ok(TransactionStatement::Release { name: ident(&name) }),
        Ast::Set(Set::SetTransaction { snapshot: Some(_), .. }) => {
            Err(unsupported("SET TRANSACTION SNAPSHOT"))
        }
        Ast::Set(Set::SetTransaction { modes, session, .. }) => {
            let modes = modes_of(&modes)?;
            Ok(TransactionStatement::SetModes { modes, for_session: session })
        }
        other => Err(SqlError::internal(format!("{other} is not about a transaction"))),
    }
}

fn modes_of(modes: &[TransactionMode]) -> SqlResult<TransactionModes> {
    let mut said = TransactionModes::default();
    for mode in modes {
        match mode {
            TransactionMode::AccessMode(mode) => {
                said.read_only = Some(*mode == TransactionAccessMode::ReadOnly);
            }
            TransactionMode::IsolationLevel(level) => {
                said.isolation = Some(match level {
                    // What is not committed is never seen.
                    TransactionIsolationLevel::ReadUncommitted
                    | TransactionIsolationLevel::ReadCommitted => Isolation::ReadCommitted,
                    TransactionIsolationLevel::RepeatableRead => Isolation::RepeatableRead,
                    TransactionIsolationLevel::Serializable => Isolation::Serializable,
                    TransactionIsolationLevel::Snapshot => {
                        return Err(SqlError::new(
                            SqlState::SYNTAX,
                            "syntax error: the isolation level SNAPSHOT",
                        )
                        .with_hint("REPEATABLE READ is snapshot isolation"));
                    }
                });
            }
        }
    }
    Ok(said)
}
