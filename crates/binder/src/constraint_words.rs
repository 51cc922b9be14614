//! `SET CONSTRAINTS ALL | name, .. DEFERRED | IMMEDIATE`, which the parser does not know.

use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use types::{SqlError, SqlResult, SqlState};

use crate::statement::Statement;
use crate::steering::is_word;

/// The statement, if the tokens are a SET CONSTRAINTS.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let [set, constraints, rest @ ..] = tokens else { return Ok(None) };
    if !is_word(&set.token, "set") || !is_word(&constraints.token, "constraints") {
        return Ok(None);
    }
    let wrong = |what: &str| {
        let message = format!("syntax error in SET CONSTRAINTS: expected {what}");
        SqlError::new(SqlState::SYNTAX, message)
    };
    let Some((last, named)) = rest.split_last() else { return Err(wrong("ALL or a name")) };
    let deferred = match () {
        () if is_word(&last.token, "deferred") => true,
        () if is_word(&last.token, "immediate") => false,
        () => return Err(wrong("DEFERRED or IMMEDIATE")),
    };
    if let [all] = named
        && is_word(&all.token, "all")
    {
        return Ok(Some(Statement::SetConstraints { names: None, deferred }));
    }
    let name = |part: &[TokenWithSpan]| match part {
        [only] => word(&only.token),
        // Of one schema all are.
        [_, dot, name] if dot.token == Token::Period => word(&name.token),
        _ => None,
    };
    let names = named.split(|it| it.token == Token::Comma).map(name);
    let names = names.collect::<Option<Vec<String>>>().ok_or_else(|| wrong("ALL or names"))?;
    Ok(Some(Statement::SetConstraints { names: Some(names), deferred }))
}

fn word(token: &Token) -> Option<String> {
    match token {
        Token::Word(Word { value, quote_style: Some(_), .. }) => Some(value.clone()),
        Token::Word(Word { value, .. }) => Some(value.to_lowercase()),
        _ => None,
    }
}
