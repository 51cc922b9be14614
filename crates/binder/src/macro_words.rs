//! CREATE MACRO and DROP MACRO, which DuckDB also calls FUNCTION.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{MacroDefinition, MacroForm, MacroParameter, SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::statement::{ParsedQuery, Statement};
use crate::syntax::unsupported;

/// Reads the query whose tokens these are.
type ReadQuery<'a> = &'a dyn Fn(Vec<TokenWithSpan>) -> SqlResult<ParsedQuery>;

/// The statement, if the tokens are one about macros.
pub(crate) fn recognise(
    tokens: &[TokenWithSpan],
    read: ReadQuery<'_>,
) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take("DROP") {
        return dropped(&mut cursor);
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
    let if_not_exists = cursor.take_all(&["IF", "NOT", "EXISTS"]);
    let name = name_of(&mut cursor)?;
    let mut definition = MacroDefinition { name, is_table: false, forms: Vec::new() };
    loop {
        let parameters = parameters(&mut cursor, tokens, read)?;
        if is_function && !cursor.sees(&["AS"]) {
            return Err(unsupported("CREATE FUNCTION with RETURNS or LANGUAGE"));
        }
        cursor.expect("AS")?;
        let is_table = cursor.take("TABLE");
        if !definition.forms.is_empty() && is_table != definition.is_table {
            let message = "syntax error: a macro is one of tables or one of values, not both";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        definition.is_table = is_table;
        let body = body(&mut cursor, tokens);
        if body.get(1).is_some_and(|it| crate::steering::is_word(&it.token, "language")) {
            return Err(unsupported("CREATE FUNCTION with a text as its body"));
        }
        let body = match is_table {
            true => read(body.to_vec())?.to_string(),
            false => expression(body, read)?,
        };
        definition.forms.push(MacroForm { parameters, body });
        if !cursor.take_sign(&Token::Comma) {
            break;
        }
    }
    cursor.expect_end()?;
    Ok(Some(Statement::CreateMacro { definition, or_replace, if_not_exists }))
}

fn dropped(cursor: &mut Cursor<'_>) -> SqlResult<Option<Statement>> {
    if !cursor.take("MACRO") && !cursor.take("FUNCTION") {
        return Ok(None);
    }
    let is_table = cursor.take("TABLE");
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let name = name_of(cursor)?;
    if !cursor.take("CASCADE") {
        cursor.take("RESTRICT");
    }
    cursor.expect_end()?;
    Ok(Some(Statement::DropMacro { name, is_table, if_exists }))
}

fn name_of(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    let name = cursor.name("the name of a macro")?;
    match cursor.peek() {
        Some(Token::Period) => Err(unsupported("a macro in a schema")),
        _ => Ok(name),
    }
}

/// `(a, b := 1)`; what is given for a parameter where a call does not say it may also stand behind `=>` and DEFAULT.
fn parameters(
    cursor: &mut Cursor<'_>,
    tokens: &[TokenWithSpan],
    read: ReadQuery<'_>,
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

/// Goes on to a token that is not inside of brackets.
fn skip(cursor: &mut Cursor<'_>, stop: impl Fn(&Token) -> bool) {
    let mut depth = 0_usize;
    while let Some(token) = cursor.peek() {
        if depth == 0 && stop(token) {
            return;
        }
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        cursor.advance();
    }
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

/// An expression as SQL.
fn expression(tokens: &[TokenWithSpan], read: ReadQuery<'_>) -> SqlResult<String> {
    let select = TokenWithSpan::wrap(Token::make_keyword("SELECT"));
    let query = read(std::iter::once(select).chain(tokens.iter().cloned()).collect())?;
    let wrong =
        || SqlError::new(SqlState::SYNTAX, "syntax error: a macro stands for an expression");
    let sqlparser::ast::SetExpr::Select(select) = &*query.0.body else { return Err(wrong()) };
    let is_alone = select.from.is_empty() && select.selection.is_none();
    match &select.projection[..] {
        [sqlparser::ast::SelectItem::UnnamedExpr(it)] if is_alone => Ok(it.to_string()),
        _ => Err(wrong()),
    }
}
