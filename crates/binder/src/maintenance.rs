//! VACUUM, ANALYZE and CLUSTER: `VACUUM [(options) | FULL FREEZE VERBOSE ANALYZE] [table [(columns)], ..]`.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::statement::Statement;
use crate::steering::is_word;

/// The words that may stand between the command and the tables.
const OPTIONS: [&str; 5] = ["full", "freeze", "verbose", "analyze", "analyse"];

/// The statement, if the tokens are one of these.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let Some((first, mut rest)) = tokens.split_first() else { return Ok(None) };
    let is = |wanted: &str| is_word(&first.token, wanted);
    if is("cluster") {
        return cluster(rest).map(Some);
    }
    let command = match () {
        () if is("vacuum") => "VACUUM",
        () if is("analyze") || is("analyse") => "ANALYZE",
        () => return Ok(None),
    };
    if rest.first().is_some_and(|it| it.token == Token::LParen) {
        rest = behind_parentheses(rest)?;
    }
    while let Some((option, more)) = rest.split_first()
        && OPTIONS.iter().any(|it| is_word(&option.token, it))
    {
        rest = more;
    }
    let mut tables = Vec::new();
    while !rest.is_empty() {
        let Some((Token::Word(word), more)) = rest.split_first().map(|it| (&it.0.token, it.1))
        else {
            return Err(expected(rest, "the name of a table"));
        };
        rest = more;
        let name = |it: &sqlparser::tokenizer::Word| match it.quote_style {
            Some(_) => it.value.clone(),
            None => it.value.to_lowercase(),
        };
        let mut table = vec![name(word)];
        if let [dot, behind, more @ ..] = rest
            && dot.token == Token::Period
            && let Token::Word(word) = &behind.token
        {
            table.push(name(word));
            rest = more;
        }
        tables.push(types::names::written(&table));
        if rest.first().is_some_and(|it| it.token == Token::LParen) {
            rest = behind_parentheses(rest)?;
        }
        match rest.split_first() {
            None => break,
            Some((comma, more)) if comma.token == Token::Comma => rest = more,
            Some(_) => return Err(expected(rest, "a comma")),
        }
    }
    Ok(Some(Statement::Maintain { command, tables }))
}

/// `CLUSTER [(options) | VERBOSE] [table [USING index]]`, or as of old `CLUSTER [VERBOSE] index ON table`.
fn cluster(tokens: &[TokenWithSpan]) -> SqlResult<Statement> {
    let tokens = match tokens.first() {
        Some(it) if it.token == Token::LParen => behind_parentheses(tokens)?,
        _ => tokens,
    };
    let mut cursor = Cursor::new(tokens);
    cursor.take("VERBOSE");
    if cursor.is_at_end() {
        return Ok(Statement::Cluster { table: None, index: None });
    }
    let first = cursor.relation()?;
    let (table, index) = if cursor.take("USING") {
        (first, Some(cursor.name("the name of an index")?))
    } else if cursor.take("ON") {
        (cursor.relation()?, Some(first))
    } else {
        (first, None)
    };
    cursor.expect_end()?;
    Ok(Statement::Cluster { table: Some(table), index })
}

/// What stands behind what begins with a parenthesis.
fn behind_parentheses(tokens: &[TokenWithSpan]) -> SqlResult<&[TokenWithSpan]> {
    let end = tokens.iter().position(|it| it.token == Token::RParen);
    end.map(|it| &tokens[it + 1..]).ok_or_else(|| expected(&[], "a closing parenthesis"))
}

fn expected(found: &[TokenWithSpan], what: &str) -> SqlError {
    let shown = match found.first() {
        Some(it) => format!("at or near \"{}\"", it.token),
        None => "at end of input".to_owned(),
    };
    let error = SqlError::new(SqlState::SYNTAX, format!("syntax error {shown}: expected {what}"));
    match found.first().map(|it| it.span.start) {
        Some(start) => error.at(start.line as u32, start.column as u32),
        None => error,
    }
}
