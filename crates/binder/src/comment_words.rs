//! COMMENT ON, and SUMMARIZE.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState, names};

use crate::cursor::Cursor;
use crate::macro_words;
use crate::statement::{Commented, Statement};
use crate::syntax::unsupported;

/// The statement, if the tokens are a COMMENT ON.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take_all(&["COMMENT", "ON"]) {
        return Ok(None);
    }
    let of = commented(&mut cursor, tokens)?;
    cursor.expect("IS")?;
    let text = match cursor.peek() {
        Some(Token::SingleQuotedString(text)) => {
            let text = text.clone();
            cursor.advance();
            // An empty comment is none.
            Some(text).filter(|it| !it.is_empty())
        }
        _ => {
            cursor.expect("NULL")?;
            None
        }
    };
    cursor.expect_end()?;
    Ok(Some(Statement::Comment { of, text }))
}

fn commented(cursor: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> SqlResult<Commented> {
    for kind in ["table", "view", "materialized view", "sequence"] {
        let words: Vec<&str> = kind.split(' ').collect();
        if cursor.take_all(&words) {
            return Ok(Commented::Relation { kind, name: cursor.relation()? });
        }
    }
    if cursor.take("COLUMN") {
        let said = cursor.relation()?;
        return match names::last(&said) {
            Some((relation, column)) => Ok(Commented::Column { relation, column }),
            None => {
                let message = "column name must be qualified";
                Err(SqlError::new(SqlState::SYNTAX, message))
            }
        };
    }
    if cursor.take("SCHEMA") {
        return Ok(Commented::Schema(cursor.name("the name of a schema")?));
    }
    if cursor.take("EXTENSION") {
        return Ok(Commented::Extension(cursor.name("the name of an extension")?));
    }
    if cursor.take("INDEX") {
        return Ok(Commented::Index(cursor.relation()?));
    }
    if cursor.take("FUNCTION") || cursor.take("ROUTINE") {
        return Ok(Commented::Function(macro_words::function(cursor, tokens)?));
    }
    if cursor.take("CONSTRAINT") {
        let name = cursor.name("the name of a constraint")?;
        cursor.expect("ON")?;
        return Ok(Commented::Constraint { name, table: cursor.relation()? });
    }
    let what = match cursor.peek() {
        Some(Token::Word(word)) => word.value.to_uppercase(),
        _ => return Err(cursor.expected("TABLE, VIEW, COLUMN or another kind of object")),
    };
    Err(unsupported(format!("COMMENT ON {what}")))
}

/// The query of SUMMARIZE: all rows of a relation, or a query.
pub(crate) fn summarized(tokens: &[TokenWithSpan]) -> Option<Vec<TokenWithSpan>> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take("SUMMARIZE") {
        return None;
    }
    let rest = tokens[cursor.at()..].to_vec();
    let is_query =
        ["SELECT", "FROM", "WITH", "VALUES", "TABLE"].iter().any(|it| cursor.sees(&[it]))
            || cursor.peek() == Some(&Token::LParen);
    if is_query {
        return Some(rest);
    }
    let plain = |it: Token| TokenWithSpan::wrap(it);
    let mut query = vec![
        plain(Token::make_keyword("SELECT")),
        plain(Token::Mul),
        plain(Token::make_keyword("FROM")),
    ];
    query.extend(rest);
    Some(query)
}
