//! CREATE FUNCTION as PostgreSQL has it, in the language SQL: `f(x INTEGER) RETURNS BIGINT LANGUAGE SQL AS '..'`, or `RETURN expression`.
//!
//! Key decision: a function is a macro that says more (`crate::sql_functions`): its body must be one query.

use sqlparser::ast::DataType;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{
    FunctionWord, MacroDefinition, MacroForm, MacroParameter, Parallel, SaidOfFunction, SqlError,
    SqlFunction, SqlResult, SqlState, Volatility, names,
};

use crate::cursor::Cursor;
use crate::definition_words::{Reading, expression, skip};
use crate::dialect::Postgres;
use crate::overloads::is_polymorphic;
use crate::statement::Statement;
use crate::steering::is_word;
use crate::syntax::unsupported;

/// What a definition says; `None` for what it does not.
#[derive(Default)]
struct Head {
    parameters: Vec<MacroParameter>,
    types: Vec<String>,
    returns: Vec<(String, String)>,
    /// The parameters that are OUT or INOUT: names, where they have some, and types.
    outs: Vec<(Option<String>, String)>,
    is_table: bool,
    /// Whether RETURNS says a record.
    is_record: bool,
    /// Whether it gives one row at most although it is called as a table.
    is_single: bool,
    words: Vec<FunctionWord>,
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
    let name = cursor.relation()?;
    // What it gives is called so where nothing else is said.
    let bare = names::bare(&name);
    let mut head = Head::default();
    parameters(cursor, (tokens, read), &mut head)?;
    while !cursor.is_at_end() {
        option(cursor, (tokens, read), &bare, &mut head)?;
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
    let body = match (head.text.take(), head.body.take()) {
        (Some(text), None) => of_text(text)?,
        (None, Some(body)) => body,
        (Some(_), Some(_)) => return wrong("duplicate function body specified"),
        (None, None) => return wrong("no function body specified"),
    };
    returns_of_outs(&bare, &mut head)?;
    if head.returns.is_empty() && !head.is_record {
        return wrong("function result type must be specified");
    }
    let body = if head.is_single { of_one_row(&body, head.returns.len()) } else { body };
    is_told_by_arguments(&head)?;
    let Head { parameters, types, returns, is_table, words, .. } = head;
    let mut function =
        SqlFunction { types, returns, is_strict: false, said: SaidOfFunction::default() };
    words.into_iter().for_each(|it| function.say(it));
    let forms = vec![MacroForm { parameters, body, function: Some(function) }];
    let definition = MacroDefinition { name, is_table, forms };
    Ok(Statement::CreateMacro { definition, or_replace, if_not_exists: false })
}

/// That arguments tell the polymorphic types of what a function gives.
fn is_told_by_arguments(head: &Head) -> SqlResult<()> {
    let is_told = |it: &String| {
        let is_loose = |it: &String| it.to_lowercase().starts_with("anycompatible");
        head.types.iter().any(|of| is_polymorphic(of) && is_loose(of) == is_loose(it))
    };
    match head.returns.iter().find(|it| is_polymorphic(&it.1) && !is_told(&it.1)) {
        None => Ok(()),
        Some((_, it)) => {
            let (it, message) = (it.to_lowercase(), "cannot determine result data type");
            let family = match it.starts_with("anycompatible") {
                true => "anycompatible, anycompatiblearray or anycompatiblenonarray",
                false => "anyelement, anyarray, anynonarray or anyenum",
            };
            let hint = format!("a result of type {it} needs a parameter of type {family}");
            Err(SqlError::new(SqlState("42P13"), message).with_hint(hint))
        }
    }
}

/// A query of the first row of another one of so many columns, or of NULLs where it has none; of 0 columns, of however many.
pub fn of_one_row(body: &str, columns: usize) -> String {
    let names: Vec<String> = (1..=columns).map(|it| format!("c{it}")).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    format!(
        "{ONE_ROW} LEFT JOIN LATERAL \
         (SELECT * FROM ({body}) AS \"all rows\"{names} LIMIT 1) AS \"the row\" ON TRUE"
    )
}

/// What a query that [`of_one_row`] made begins with.
const ONE_ROW: &str = "SELECT \"the row\".* FROM (SELECT 1) AS \"one row\"";

/// Whether a body was made a query of one row.
pub(crate) fn is_of_one_row(body: &str) -> bool {
    body.starts_with(ONE_ROW)
}

/// What parameters that are OUT say of what a function gives.
fn returns_of_outs(name: &str, head: &mut Head) -> SqlResult<()> {
    let wrong = |message: String| Err(SqlError::new(SqlState("42P13"), message));
    let is_set = head.is_table;
    match &head.outs[..] {
        [] => {}
        [(own, data_type)] => {
            if head.is_record || head.returns.first().is_some_and(|it| !is_same(&it.1, data_type)) {
                let data_type = said_name(data_type);
                return wrong(format!(
                    "function result type must be {data_type} because of OUT parameters"
                ));
            }
            let own = own.clone().unwrap_or_else(|| name.to_owned());
            head.returns = vec![(own, data_type.clone())];
            return Ok(());
        }
        outs => {
            if !head.returns.is_empty() {
                let what = "function result type must be record because of OUT parameters";
                return wrong(what.to_owned());
            }
            let named = |(place, (name, data_type)): (usize, &(Option<String>, String))| {
                let own = name.clone().unwrap_or_else(|| format!("column{}", place + 1));
                (own, data_type.clone())
            };
            head.returns = outs.iter().enumerate().map(named).collect();
            head.is_record = true;
        }
    }
    if head.is_record {
        (head.is_table, head.is_single) = (true, !is_set);
    }
    Ok(())
}

/// Whether two types as SQL are one.
fn is_same(a: &str, b: &str) -> bool {
    let known = |it: &str| crate::file_reference::named_type(it).ok();
    a == b || known(a).is_some_and(|it| Some(it) == known(b))
}

fn said_name(data_type: &str) -> String {
    let known = crate::file_reference::named_type(data_type);
    known.map_or_else(|_| data_type.to_owned(), types::numeric::errors::type_name)
}

/// The types in brackets that DROP FUNCTION names a function by.
pub(crate) fn types(cursor: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> SqlResult<Vec<String>> {
    cursor.expect_sign(&Token::LParen)?;
    let (mut types, mut is_first) = (Vec::new(), true);
    while !cursor.take_sign(&Token::RParen) {
        if !is_first {
            cursor.expect_sign(&Token::Comma)?;
        }
        let (mode, _, data_type) = parameter(cursor, tokens)?;
        if mode != Mode::Out {
            types.push(data_type);
        }
        is_first = false;
    }
    Ok(types)
}

fn parameters(
    cursor: &mut Cursor<'_>,
    (tokens, read): (&[TokenWithSpan], Reading<'_>),
    head: &mut Head,
) -> SqlResult<()> {
    cursor.expect_sign(&Token::LParen)?;
    let mut is_first = true;
    while !cursor.take_sign(&Token::RParen) {
        if !std::mem::take(&mut is_first) {
            cursor.expect_sign(&Token::Comma)?;
        }
        let (mode, name, data_type) = parameter(cursor, tokens)?;
        if mode != Mode::In {
            let is_known = |it: &(Option<String>, String)| name.is_some() && it.0 == name;
            if head.outs.iter().any(is_known) {
                return Err(used_twice(name.as_deref().unwrap_or_default()));
            }
            head.outs.push((name.clone(), data_type.clone()));
        }
        if mode == Mode::Out {
            continue;
        }
        let name = name.unwrap_or_else(|| format!("${}", head.parameters.len() + 1));
        if head.parameters.iter().any(|it| it.name == name) {
            return Err(used_twice(&name));
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

fn used_twice(name: &str) -> SqlError {
    let message = format!("parameter name \"{name}\" used more than once");
    SqlError::new(SqlState("42P13"), message)
}

/// Whether a parameter is given, given back, or both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    In,
    Out,
    InOut,
}

fn mode(cursor: &mut Cursor<'_>) -> SqlResult<Option<Mode>> {
    if cursor.take("VARIADIC") {
        return Err(unsupported("a parameter of a function that is VARIADIC"));
    }
    Ok(match () {
        () if cursor.take("INOUT") || cursor.take_all(&["IN", "OUT"]) => Some(Mode::InOut),
        () if cursor.take("OUT") => Some(Mode::Out),
        () if cursor.take("IN") => Some(Mode::In),
        () => None,
    })
}

/// `[IN | OUT | INOUT] [name] type`, or the name first: the mode, the name, if there is one, and the type as SQL.
fn parameter(
    cursor: &mut Cursor<'_>,
    tokens: &[TokenWithSpan],
) -> SqlResult<(Mode, Option<String>, String)> {
    let first = mode(cursor)?;
    let ends = |it: &Token| {
        matches!(it, Token::Comma | Token::RParen | Token::Eq) || is_word(it, "default")
    };
    let mut ahead = *cursor;
    skip(&mut ahead, ends);
    let all = &tokens[cursor.at()..ahead.at()];
    if let Some(whole) = type_of(all) {
        *cursor = ahead;
        return Ok((first.unwrap_or(Mode::In), None, whole));
    }
    let name = cursor.name("the name or the type of a parameter")?;
    let behind = if first.is_none() { mode(cursor)? } else { None };
    let rest = &tokens[cursor.at()..ahead.at()];
    let Some(data_type) = type_of(rest) else {
        let message = "syntax error: the type of a parameter is expected here";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    };
    *cursor = ahead;
    Ok((first.or(behind).unwrap_or(Mode::In), Some(name), data_type))
}

/// The type that tokens are, as SQL; `None` where they are not one, or more than one.
fn type_of(tokens: &[TokenWithSpan]) -> Option<String> {
    let dialect = Postgres::of(tokens.len());
    let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens.to_vec());
    let parsed: DataType = parser.parse_data_type().ok()?;
    (parser.peek_token().token == Token::EOF).then(|| parsed.to_string())
}

fn option(
    cursor: &mut Cursor<'_>,
    (tokens, read): (&[TokenWithSpan], Reading<'_>),
    name: &str,
    head: &mut Head,
) -> SqlResult<()> {
    let is_of_nulls = cursor.sees(&["RETURNS", "NULL", "ON", "NULL", "INPUT"]);
    if !is_of_nulls && cursor.take("RETURNS") {
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
    } else if cursor.sees(&["BEGIN"]) {
        return Err(unsupported("a function with a body of several statements"));
    } else {
        head.words.extend(kind(cursor)?);
    }
    Ok(())
}

/// A word about how a function is called, or one that means nothing here.
pub(crate) fn kind(cursor: &mut Cursor<'_>) -> SqlResult<Option<FunctionWord>> {
    if cursor.take("COST") || cursor.take("ROWS") {
        cursor.advance();
        return Ok(None);
    }
    if cursor.take("PARALLEL") {
        let said = cursor.name("SAFE, RESTRICTED or UNSAFE")?;
        let known = [
            ("safe", Parallel::Safe),
            ("restricted", Parallel::Restricted),
            ("unsafe", Parallel::Unsafe),
        ];
        let found = known.iter().find(|it| it.0 == said);
        let message = "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
        let found = found.ok_or_else(|| SqlError::new(SqlState::SYNTAX, message))?;
        return Ok(Some(FunctionWord::Parallel(found.1)));
    }
    if cursor.take_all(&["SECURITY", "DEFINER"]) {
        return Err(unsupported("a function with the rights of its owner"));
    }
    if cursor.take_all(&["SECURITY", "INVOKER"]) {
        return Ok(None);
    }
    let plain: [(&[&str], FunctionWord); 8] = [
        (&["RETURNS", "NULL", "ON", "NULL", "INPUT"], FunctionWord::Strict(true)),
        (&["STRICT"], FunctionWord::Strict(true)),
        (&["CALLED", "ON", "NULL", "INPUT"], FunctionWord::Strict(false)),
        (&["IMMUTABLE"], FunctionWord::Volatility(Volatility::Immutable)),
        (&["STABLE"], FunctionWord::Volatility(Volatility::Stable)),
        (&["VOLATILE"], FunctionWord::Volatility(Volatility::Volatile)),
        (&["NOT", "LEAKPROOF"], FunctionWord::Leakproof(false)),
        (&["LEAKPROOF"], FunctionWord::Leakproof(true)),
    ];
    match plain.iter().find(|it| cursor.take_all(it.0)) {
        Some(found) => Ok(Some(found.1)),
        None => {
            let message = "syntax error: this is nothing that a function says";
            Err(SqlError::new(SqlState::SYNTAX, message))
        }
    }
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
            let (Mode::In, Some(name), data_type) = parameter(cursor, tokens)? else {
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
    if data_type.eq_ignore_ascii_case("record") {
        *cursor = behind;
        head.is_record = true;
        return Ok(());
    }
    if ["void", "trigger"].contains(&data_type.to_lowercase().as_str()) {
        return Err(unsupported(format!("a function that returns {}", data_type.to_lowercase())));
    }
    *cursor = behind;
    head.returns = vec![(name.to_owned(), data_type)];
    Ok(())
}

/// What a text in quotes or dollars says.
fn text_of(token: &Token) -> Option<&str> {
    match token {
        Token::SingleQuotedString(it) => Some(it),
        _ => None,
    }
}
