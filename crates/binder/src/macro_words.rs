//! CREATE MACRO and DROP MACRO, which DuckDB also calls FUNCTION; functions as PostgreSQL has them are in `function_words`.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{MacroDefinition, MacroForm, MacroParameter, SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::definition_words::{Reading, expression, skip};
use crate::function_words;
use crate::macro_statement::{FunctionChange, SaidMacro};
use crate::statement::Statement;
use crate::syntax::unsupported;

/// The statement, if the tokens are one about macros.
pub(crate) fn recognise(
    tokens: &[TokenWithSpan],
    read: Reading<'_>,
) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take("DROP") {
        return dropped(&mut cursor, tokens);
    }
    if cursor.take_all(&["ALTER", "FUNCTION"]) || cursor.take_all(&["ALTER", "ROUTINE"]) {
        return altered(&mut cursor, tokens).map(Some);
    }
    if !cursor.take("CREATE") {
        return Ok(None);
    }
    let or_replace = cursor.take_all(&["OR", "REPLACE"]);
    let is_temporary = cursor.take("TEMP") || cursor.take("TEMPORARY");
    let is_function = cursor.sees(&["FUNCTION"]);
    if !cursor.take("MACRO") && !cursor.take("FUNCTION") {
        return Ok(None);
    }
    if is_temporary {
        return Err(unsupported("a temporary macro"));
    }
    if is_function && function_words::is_one(&cursor) {
        return function_words::created(&mut cursor, (tokens, read), or_replace).map(Some);
    }
    let if_not_exists = cursor.take_all(&["IF", "NOT", "EXISTS"]);
    let name = cursor.relation()?;
    let mut definition = MacroDefinition { name, is_table: false, forms: Vec::new() };
    loop {
        let parameters = parameters(&mut cursor, tokens, read)?;
        cursor.expect("AS")?;
        let is_table = cursor.take("TABLE");
        if !definition.forms.is_empty() && is_table != definition.is_table {
            let message = "syntax error: a macro is one of tables or one of values, not both";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        definition.is_table = is_table;
        let body = body(&mut cursor, tokens);
        let body = match is_table {
            true => (read.tokens)(body.to_vec())?.to_string(),
            false => expression(body, read)?,
        };
        definition.forms.push(MacroForm { parameters, body, function: None });
        if !cursor.take_sign(&Token::Comma) {
            break;
        }
    }
    cursor.expect_end()?;
    Ok(Some(Statement::CreateMacro { definition, or_replace, if_not_exists }))
}

fn dropped(cursor: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let is_function = cursor.take("FUNCTION") || cursor.take("ROUTINE");
    if !is_function && !cursor.take("MACRO") {
        return Ok(None);
    }
    let is_table = cursor.take("TABLE");
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let mut macros = Vec::new();
    loop {
        let said = said(cursor, tokens, is_function)?;
        macros.push(SaidMacro { is_table, ..said });
        if !cursor.take_sign(&Token::Comma) {
            break;
        }
    }
    if !cursor.take("CASCADE") {
        cursor.take("RESTRICT");
    }
    cursor.expect_end()?;
    Ok(Some(Statement::DropMacro { macros, is_function, if_exists }))
}

/// A name, of a function perhaps with the types of its parameters.
fn said(
    cursor: &mut Cursor<'_>,
    tokens: &[TokenWithSpan],
    is_function: bool,
) -> SqlResult<SaidMacro> {
    let name = cursor.relation()?;
    let types = match is_function && cursor.peek() == Some(&Token::LParen) {
        true => Some(function_words::types(cursor, tokens)?),
        false => None,
    };
    Ok(SaidMacro { name, is_table: false, is_function, types })
}

/// The function that stands behind the words of a statement about one.
pub(crate) fn function(cursor: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> SqlResult<SaidMacro> {
    said(cursor, tokens, true)
}

/// What stands behind ALTER FUNCTION.
fn altered(cursor: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> SqlResult<Statement> {
    let of = function(cursor, tokens)?;
    let mut changes = Vec::new();
    if cursor.take_all(&["RENAME", "TO"]) {
        changes.push(FunctionChange::Rename(cursor.name("the name of a function")?));
    } else if cursor.take_all(&["SET", "SCHEMA"]) {
        changes.push(FunctionChange::Schema(cursor.name("the name of a schema")?));
    } else if cursor.take_all(&["OWNER", "TO"]) {
        changes.push(FunctionChange::Owner(crate::role_words::role(cursor)?));
    } else {
        while !cursor.is_at_end() {
            let kind = function_words::kind(cursor)?;
            changes.extend(kind.map(FunctionChange::Says));
            cursor.take("RESTRICT");
        }
    }
    cursor.expect_end()?;
    Ok(Statement::AlterFunction { of, changes })
}

/// `(a, b := 1)`; what is given for a parameter where a call does not say it may also stand behind `=>` and DEFAULT.
fn parameters(
    cursor: &mut Cursor<'_>,
    tokens: &[TokenWithSpan],
    read: Reading<'_>,
) -> SqlResult<Vec<MacroParameter>> {
    cursor.expect_sign(&Token::LParen)?;
    let mut all: Vec<MacroParameter> = Vec::new();
    while !cursor.take_sign(&Token::RParen) {
        if !all.is_empty() {
            cursor.expect_sign(&Token::Comma)?;
        }
        let name = cursor.name("the name of a parameter")?;
        if all.iter().any(|it| it.name == name) {
            let message = format!("parameter name \"{name}\" used more than once");
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        let has_default = cursor.take_sign(&Token::Assignment)
            || cursor.take_sign(&Token::RArrow)
            || cursor.take("DEFAULT");
        let default = match has_default {
            true => {
                let begin = cursor.at();
                skip(cursor, |token| matches!(token, Token::Comma | Token::RParen));
                let default = &tokens[begin..cursor.at()];
                let is_name = |it: &TokenWithSpan| {
                    matches!(&it.token, Token::Word(it)
                        if it.keyword == sqlparser::keywords::Keyword::NoKeyword)
                };
                if default.iter().any(is_name) {
                    return Err(unsupported("a default of a parameter that is no constant"));
                }
                Some(expression(default, read)?)
            }
            false if matches!(cursor.peek(), Some(Token::Comma | Token::RParen)) => None,
            false => return Err(unsupported("a parameter of a macro with a type")),
        };
        if default.is_none() && all.last().is_some_and(|it| it.default.is_some()) {
            let message = "input parameters after one with a default value must also have defaults";
            return Err(SqlError::new(SqlState("42P13"), message));
        }
        all.push(MacroParameter { name, default });
    }
    Ok(all)
}

/// The tokens up to the end, or to the comma before another form.
fn body<'a>(cursor: &mut Cursor<'_>, tokens: &'a [TokenWithSpan]) -> &'a [TokenWithSpan] {
    let begin = cursor.at();
    loop {
        skip(cursor, |token| *token == Token::Comma);
        let at = cursor.at();
        let body = &tokens[begin..at];
        if at >= tokens.len() || begins_form(&tokens[at + 1..]) {
            return body;
        }
        cursor.advance();
    }
}

/// Whether parameters and AS come next.
fn begins_form(tokens: &[TokenWithSpan]) -> bool {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take_sign(&Token::LParen) {
        return false;
    }
    skip(&mut cursor, |token| *token == Token::RParen);
    cursor.take_sign(&Token::RParen) && cursor.sees(&["AS"])
}
