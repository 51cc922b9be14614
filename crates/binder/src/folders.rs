//! EXPORT DATABASE and IMPORT DATABASE in DuckDB's spelling, which the parser does not know:
//! `EXPORT DATABASE 'folder' (FORMAT parquet)` and `IMPORT DATABASE 'folder'`; and BACKUP.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::statement::Statement;
use crate::steering::is_word;

/// The statement, if the tokens are one of these.
pub(crate) fn export_or_import(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut tokens = tokens.iter().map(|it| &it.token);
    let verb = tokens.next();
    let export = verb.is_some_and(|it| is_word(it, "export"));
    let import = verb.is_some_and(|it| is_word(it, "import"));
    if !(export || import) || !tokens.next().is_some_and(|it| is_word(it, "database")) {
        return Ok(None);
    }
    let folder = match tokens.next() {
        Some(Token::SingleQuotedString(folder)) if !folder.is_empty() => folder.clone(),
        _ => return Err(expected("a folder in quotes")),
    };
    let rest: Vec<&Token> = tokens.collect();
    match (import, &rest[..]) {
        (true, []) => Ok(Some(Statement::ImportDatabase { folder })),
        (true, _) => Err(expected("the end of the statement")),
        (false, []) => Ok(Some(Statement::ExportDatabase { folder, options: Vec::new() })),
        (false, [Token::LParen, options @ .., Token::RParen]) => {
            let options = options.split(|it| **it == Token::Comma).map(option);
            let options = options.collect::<SqlResult<_>>()?;
            Ok(Some(Statement::ExportDatabase { folder, options }))
        }
        (false, _) => Err(expected("options in brackets, or the end of the statement")),
    }
}

/// The statement, if the tokens are `BACKUP TO 'folder'`.
pub(crate) fn backup(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let tokens: Vec<&Token> = tokens.iter().map(|it| &it.token).collect();
    let expected = |what: &str| {
        let message = format!("syntax error: expected {what}");
        SqlError::new(SqlState::SYNTAX, message).with_hint("BACKUP TO 'folder'")
    };
    match &tokens[..] {
        [verb, rest @ ..] if is_word(verb, "backup") => match rest {
            [to, Token::SingleQuotedString(it)] if is_word(to, "to") && !it.is_empty() => {
                Ok(Some(Statement::Backup { folder: it.clone() }))
            }
            [to, Token::SingleQuotedString(it), _, ..] if is_word(to, "to") && !it.is_empty() => {
                Err(expected("the end of the statement"))
            }
            _ => Err(expected("TO and a folder in quotes")),
        },
        _ => Ok(None),
    }
}

/// A name, and a value that is true where none is written.
fn option(tokens: &[&Token]) -> SqlResult<(String, String)> {
    let name = match tokens.first() {
        Some(Token::Word(it)) => it.value.to_lowercase(),
        _ => return Err(expected("the name of an option")),
    };
    let value = match &tokens[1..] {
        [] => "true".to_owned(),
        [Token::SingleQuotedString(it)] => it.clone(),
        [Token::Word(it)] => it.value.clone(),
        _ => return Err(expected("the value of an option")),
    };
    Ok((name, value))
}

fn expected(what: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX, format!("syntax error: expected {what}"))
        .with_hint("EXPORT DATABASE 'folder' (FORMAT parquet), IMPORT DATABASE 'folder'")
}
