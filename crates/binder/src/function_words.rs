//! CREATE FUNCTION as PostgreSQL has it, in the language SQL: `f(x INTEGER) RETURNS BIGINT LANGUAGE SQL AS '..'`, or `RETURN expression`.
//!
//! Key decision: a function is a macro that says more (`crate::sql_functions`): its body must be one query.

use sqlparser::ast::DataType;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{
    MacroDefinition, MacroForm, MacroParameter, SqlError, SqlFunction, SqlResult, SqlState,
};

use crate::cursor::Cursor;
use crate::definition_words::{Reading, expression, name_of, skip};
use crate::dialect::Postgres;
use crate::statement::Statement;
use crate::steering::is_word;
use crate::syntax::unsupported;

/// What a definition says; `None` for what it does not.
#[derive(Default)]
struct Head {
    parameters: Vec<MacroParameter>,
    types: Vec<String>,
    returns: Vec<(String, String)>,
    is_table: bool,
    is_strict: bool,
    language: Option<String>,
    /// What stands behind AS.
    text: Option<String>,
    /// What stands behind RETURN, as a query.
    body: Option<String>,
}

/// Whether a statement behind the words CREATE FUNCTION is of PostgreSQL's form.
pub(crate) fn is_one(cursor: &Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.advance();
    while let Some(token) = ahead.peek() {
        if *token == Token::LParen {
            break;
        }
        ahead.advance();
    }
    ahead.advance();
    skip(&mut ahead, |token| *token == Token::RParen);
    ahead.advance();
    let begins = ["RETURNS", "LANGUAGE", "IMMUTABLE", "STABLE", "VOLATILE", "STRICT", "CALLED"];
    let is_text = |it: Option<&Token>| matches!(it, Some(token) if text_of(token).is_some());
    begins.iter().any(|it| ahead.sees(&[*it]))
        || ahead.sees(&["PARALLEL"])
        || ahead.sees(&["RETURN"])
        || ahead.take("AS") && is_text(ahead.peek())
}

/// The statement, behind the words CREATE FUNCTION.
pub(crate) fn created(
    cursor: &mut Cursor<'_>,
    (tokens, read): (&[TokenWithSpan], Reading<'_>),
    or_replace: bool,
) -> SqlResult<Statement> {
    if cursor.take("IF") {
        return Err(SqlError::new(SqlState::SYNTAX, "syntax error at or near \"IF\""));
    }
    let name = name_of(cursor, "function")?;
    let mut head = Head::default();
    parameters(cursor, (tokens, read), &mut head)?;
    while !cursor.is_at_end() {
        option(cursor, (tokens, read), &name, &mut head)?;
    }
    let wrong = |message: &str| Err(SqlError::new(SqlState("42P13"), message));
    match head.language.as_deref() {
        Some("sql") => {}
        Some(other) => return Err(unsupported(format!("a function in the language {other}"))),
        None => return wrong("no language specified"),
    }
    let of_text = |text: String| -> SqlResult<String> {
        let several = || unsupported("a function whose text is not one query");
        Ok((read.text)(&text)?.ok_or_else(several)?.to_string())
    };
    let body = match (head.text, head.body) {
        (Some(text), None) => of_text(text)?,
        (None, Some(body)) => body,
        (Some(_), Some(_)) => return wrong("duplicate function body specified"),
        (None, None) => return wrong("no function body specified"),
    };
    if head.returns.is_empty() {
        return wrong("function result type must be specified");
    }
    let Head { parameters, types, returns, is_table, is_strict, .. } = head;
    let function = Some(SqlFunction { types, returns, is_strict });
    let forms = vec![MacroForm { parameters, body, function }];
    let definition = MacroDefinition { name, is_table, forms };
    Ok(Statement::CreateMacro { definition, or_replace, if_not_exists: false })
}

/// The types in brackets that DROP FUNCTION names a function by.
pub(crate) fn types(cursor: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> SqlResult<Vec<String>> {
    cursor.expect_sign(&Token::LParen)?;
    let mut types = Vec::new();
    while !cursor.take_sign(&Token::RParen) {
        if !types.is_empty() {
            cursor.expect_sign(&Token::Comma)?;
        }
        types.push(parameter(cursor, tokens)?.1);
    }
    Ok(types)
}

fn parameters(
    cursor: &mut Cursor<'_>,
    (tokens, read): (&[TokenWithSpan], Reading<'_>),
    head: &mut Head,
) -> SqlResult<()> {
    cursor.expect_sign(&Token::LParen)?;
    while !cursor.take_sign(&Token::RParen) {
        if !head.parameters.is_empty() {
            cursor.expect_sign(&Token::Comma)?;
        }
        let (name, data_type) = parameter(cursor, tokens)?;
        let name = name.unwrap_or_else(|| format!("${}", head.parameters.len() + 1));
        if head.parameters.iter().any(|it| it.name == name) {
            let message = format!("parameter name \"{name}\" used more than once");
            return Err(SqlError::new(SqlState("42P13"), message));
        }
        let default = match cursor.take("DEFAULT") || cursor.take_sign(&Token::Eq) {
            true => {
                let begin = cursor.at();
                skip(cursor, |token| matches!(token, Token::Comma | Token::RParen));
                Some(expression(&tokens[begin..cursor.at()], read)?)
            }
            false => None,
        };
        if default.is_none() && head.parameters.last().is_some_and(|it| it.default.is_some()) {
            let message = "input parameters after one with a default value must also have defaults";
            return Err(SqlError::new(SqlState("42P13"), message));
        }
        head.parameters.push(MacroParameter { name, default });
        head.types.push(data_type);
    }
    Ok(())
}

/// `[IN] [name] type`: the name, if there is one, and the type as SQL.
fn parameter(
    cursor: &mut Cursor<'_>,
    tokens: &[TokenWithSpan],
) -> SqlResult<(Option<String>, String)> {
    for mode in ["OUT", "INOUT", "VARIADIC"] {
        if cursor.take(mode) {
            return Err(unsupported(format!("a parameter of a function that is {mode}")));
        }
    }
    cursor.take("IN");
    let ends = |it: &Token| {
        matches!(it, Token::Comma | Token::RParen | Token::Eq) || is_word(it, "default")
    };
    let mut ahead = *cursor;
    skip(&mut ahead, ends);
    let all = &tokens[cursor.at()..ahead.at()];
    if let Some(whole) = type_of(all) {
        *cursor = ahead;
        return Ok((None, whole));
    }
    let name = cursor.name("the name or the type of a parameter")?;
    let rest = &tokens[cursor.at()..ahead.at()];
    let Some(data_type) = type_of(rest) else {
        let message = "syntax error: the type of a parameter is expected here";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    };
    *cursor = ahead;
    Ok((Some(name), data_type))
}

/// The type that tokens are, as SQL; `None` where they are not one, or more than one.
fn type_of(tokens: &[TokenWithSpan]) -> Option<String> {
    let mut parser = Parser::new(&Postgres).with_tokens_with_locations(tokens.to_vec());
    let parsed: DataType = parser.parse_data_type().ok()?;
    (parser.peek_token().token == Token::EOF).then(|| parsed.to_string())
}

fn option(
    cursor: &mut Cursor<'_>,
    (tokens, read): (&[TokenWithSpan], Reading<'_>),
    name: &str,
    head: &mut Head,
) -> SqlResult<()> {
    if cursor.take_all(&["RETURNS", "NULL", "ON", "NULL", "INPUT"]) || cursor.take("STRICT") {
        head.is_strict = true;
    } else if cursor.take("RETURNS") {
        returned(cursor, tokens, name, head)?;
    } else if cursor.take("LANGUAGE") {
        let said = cursor.peek().and_then(text_of).map(str::to_lowercase);
        let Some(language) = said else {
            return cursor.name("a language").map(|it| head.language = Some(it));
        };
        cursor.advance();
        head.language = Some(language);
    } else if cursor.take("RETURN") {
        // It is the end of the statement, and its language goes without saying.
        let begin = cursor.at();
        while !cursor.is_at_end() {
            cursor.advance();
        }
        head.body = Some(format!("SELECT {}", expression(&tokens[begin..], read)?));
        head.language.get_or_insert_with(|| "sql".to_owned());
    } else if cursor.take("AS") {
        let Some(text) = cursor.peek().and_then(text_of) else {
            return Err(SqlError::new(
                SqlState::SYNTAX,
                "syntax error: the text of a function is expected here",
            ));
        };
        cursor.advance();
        head.text = Some(text.to_owned());
    } else if cursor.take("PARALLEL") || cursor.take("COST") || cursor.take("ROWS") {
        cursor.advance();
    } else if cursor.take_all(&["SECURITY", "DEFINER"]) {
        return Err(unsupported("a function with the rights of its owner"));
    } else {
        let plain: [&[&str]; 7] = [
            &["IMMUTABLE"],
            &["STABLE"],
            &["VOLATILE"],
            &["NOT", "LEAKPROOF"],
            &["LEAKPROOF"],
            &["SECURITY", "INVOKER"],
            &["CALLED", "ON", "NULL", "INPUT"],
        ];
        if !plain.iter().any(|it| cursor.take_all(it)) {
            if cursor.sees(&["BEGIN"]) {
                return Err(unsupported("a function with a body of several statements"));
            }
            return Err(SqlError::new(
                SqlState::SYNTAX,
                "syntax error: this is nothing that a function says",
            ));
        }
    }
    Ok(())
}

/// What stands behind RETURNS.
fn returned(
    cursor: &mut Cursor<'_>,
    tokens: &[TokenWithSpan],
    name: &str,
    head: &mut Head,
) -> SqlResult<()> {
    if cursor.take("TABLE") {
        head.is_table = true;
        cursor.expect_sign(&Token::LParen)?;
        while !cursor.take_sign(&Token::RParen) {
            if !head.returns.is_empty() {
                cursor.expect_sign(&Token::Comma)?;
            }
            let (Some(name), data_type) = parameter(cursor, tokens)? else {
                return Err(SqlError::new(
                    SqlState::SYNTAX,
                    "syntax error: a column has a name and a type",
                ));
            };
            head.returns.push((name, data_type));
        }
        return Ok(());
    }
    head.is_table = cursor.take("SETOF");
    let begin = cursor.at();
    // The longest beginning that is a type.
    let mut ahead = *cursor;
    let mut found = None;
    while !ahead.is_at_end() && ahead.at() < begin + 12 {
        ahead.advance();
        if let Some(data_type) = type_of(&tokens[begin..ahead.at()]) {
            found = Some((data_type, ahead));
        }
    }
    let Some((data_type, behind)) = found else {
        return Err(SqlError::new(SqlState::SYNTAX, "syntax error: a type is expected here"));
    };
    if ["void", "trigger", "record"].contains(&data_type.to_lowercase().as_str()) {
        return Err(unsupported(format!("a function that returns {}", data_type.to_lowercase())));
    }
    *cursor = behind;
    head.returns = vec![(name.to_owned(), data_type)];
    Ok(())
}

/// What a text in quotes or dollars says.
fn text_of(token: &Token) -> Option<&str> {
    match token {
        Token::SingleQuotedString(it) | Token::EscapedStringLiteral(it) => Some(it),
        Token::DollarQuotedString(it) => Some(&it.value),
        _ => None,
    }
}
