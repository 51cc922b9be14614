//! BEGIN, COMMIT, SAVEPOINT and the like.

use sqlparser::ast::{
    self, Set, Statement as Ast, TransactionAccessMode, TransactionIsolationLevel, TransactionMode,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::statement::{Isolation, Statement, TransactionModes, TransactionStatement};
use crate::syntax::{ident, unsupported};

/// Takes `[NOT] DEFERRABLE`, which the parser does not know, out of the modes of a transaction, with the comma that parts
/// it from others.
pub(crate) fn take_deferrable(tokens: &mut Vec<TokenWithSpan>) -> Option<bool> {
    let keyword = |tokens: &[TokenWithSpan], at: usize| match tokens.get(at).map(|it| &it.token) {
        Some(Token::Word(word)) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let is_of_transaction = match (keyword(tokens, 0), keyword(tokens, 1)) {
        (Keyword::BEGIN, _) | (Keyword::START | Keyword::SET, Keyword::TRANSACTION) => true,
        (Keyword::SET, Keyword::SESSION) => keyword(tokens, 2) == Keyword::CHARACTERISTICS,
        _ => false,
    };
    if !is_of_transaction {
        return None;
    }
    let mut deferrable = None;
    while let Some(at) = (1..tokens.len()).find(|it| keyword(tokens, *it) == Keyword::DEFERRABLE) {
        let negated = keyword(tokens, at - 1) == Keyword::NOT;
        let mut taken = at - usize::from(negated)..at + 1;
        let is_comma = |at: usize| matches!(tokens.get(at), Some(it) if it.token == Token::Comma);
        if is_comma(taken.start - 1) {
            taken.start -= 1;
        } else if is_comma(taken.end) {
            taken.end += 1;
        }
        tokens.drain(taken);
        deferrable = Some(!negated);
    }
    deferrable
}

/// Refuses what there is for transactions that are prepared in one session and ended in another, as a server does that keeps none.
///
/// Errors: 55000 of PREPARE TRANSACTION, 42704 of what ends one.
pub(crate) fn recognise_prepared(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    let prepares = cursor.take("PREPARE") && cursor.take("TRANSACTION");
    if !prepares {
        cursor = Cursor::new(tokens);
        if !((cursor.take("COMMIT") || cursor.take("ROLLBACK")) && cursor.take("PREPARED")) {
            return Ok(None);
        }
    }
    let Some(Token::SingleQuotedString(name)) = cursor.peek() else {
        return Err(cursor.expected("the name of a transaction"));
    };
    cursor.advance();
    cursor.expect_end()?;
    Err(match prepares {
        true => SqlError::new(SqlState("55000"), "prepared transactions are disabled"),
        false => {
            let message = format!("prepared transaction with identifier \"{name}\" does not exist");
            SqlError::new(SqlState::UNDEFINED_OBJECT, message)
        }
    })
}

/// Says of a statement about a transaction whether that is deferrable.
pub(crate) fn defer(statement: &mut Statement, deferrable: bool) {
    if let Statement::Transaction(
        TransactionStatement::Begin { modes, .. } | TransactionStatement::SetModes { modes, .. },
    ) = statement
    {
        modes.deferrable = Some(deferrable);
    }
}

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
        Ast::StartTransaction { modes, begin, .. } => {
            Ok(TransactionStatement::Begin { modes: modes_of(&modes)?, is_start: !begin })
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
                    TransactionIsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
                    TransactionIsolationLevel::ReadCommitted => Isolation::ReadCommitted,
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
