//! The options of COPY, of which the parser knows few: `WITH (FORMAT csv, HEADER, FORCE_NULL (a, b))`, and the words of old,
//! `CSV HEADER DELIMITER ';'`.
//!
//! An option is a name and a value, `true` where none is written; one that has a list is there once for each of its values.

use std::iter::Peekable;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::steering::is_word;

/// Options by lower-case name.
pub(crate) type Options = Vec<(String, String)>;

/// What a COPY says that the parser does not read.
#[derive(Clone, Debug, Default)]
pub(crate) struct CopyWords {
    pub(crate) options: Options,
    /// Whether its rows go to the client, or come from there.
    pub(crate) is_client: bool,
    /// What stands behind WHERE.
    pub(crate) condition: Option<Vec<TokenWithSpan>>,
}

/// Takes the options away from the tokens of a COPY, which have no blanks, and STDIN and STDOUT: the parser reads the data behind
/// the first, which come by the protocol here.
pub(crate) fn take(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<CopyWords> {
    if !tokens.first().is_some_and(|it| is_word(&it.token, "copy")) {
        return Ok(CopyWords::default());
    }
    // As it was written before PostgreSQL 7.3.
    let is_binary = tokens.get(1).is_some_and(|it| is_word(&it.token, "binary"))
        && !tokens.get(2).is_some_and(|it| is_word(&it.token, "from") || is_word(&it.token, "to"));
    if is_binary {
        tokens.remove(1);
    }
    let mut depth = 0_i32;
    let way = tokens.iter().position(|it| {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0 && (is_word(&it.token, "from") || is_word(&it.token, "to"))
    });
    // Behind FROM or TO stands one token that says where.
    let Some(target) = way.map(|it| it + 1).filter(|it| *it < tokens.len()) else {
        return Ok(CopyWords::default());
    };
    if is_word(&tokens[target].token, "program") {
        return Ok(CopyWords::default());
    }
    // Either word is allowed in either way, as in PostgreSQL.
    let is_client = ["stdin", "stdout"].iter().any(|it| is_word(&tokens[target].token, it));
    if is_client {
        tokens[target].token = Token::SingleQuotedString(String::new());
    }
    let mut rest = tokens.split_off(target + 1);
    let condition = match is_word(&tokens[target - 1].token, "from") {
        true => take_condition(&mut rest),
        false => None,
    };
    let mut rest: &[TokenWithSpan] = &rest;
    if rest.first().is_some_and(|it| is_word(&it.token, "with")) {
        rest = &rest[1..];
    }
    let mut options = match rest {
        [open, options @ .., close]
            if open.token == Token::LParen && close.token == Token::RParen =>
        {
            listed(options)?
        }
        _ => words(rest)?,
    };
    if is_binary {
        options.push(("format".to_owned(), "binary".to_owned()));
    }
    Ok(CopyWords { options, is_client, condition })
}

/// Takes WHERE and what stands behind it away.
fn take_condition(tokens: &mut Vec<TokenWithSpan>) -> Option<Vec<TokenWithSpan>> {
    let mut depth = 0_i32;
    let at = tokens.iter().position(|it| {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0 && is_word(&it.token, "where")
    })?;
    let mut taken = tokens.split_off(at);
    taken.remove(0);
    Some(taken)
}

/// `name value, name (value, value), ..`
pub(crate) fn listed(tokens: &[TokenWithSpan]) -> SqlResult<Options> {
    let mut options = Options::new();
    let mut depth = 0_i32;
    let parts = tokens.split(|it| {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0 && it.token == Token::Comma
    });
    for part in parts {
        let name = match part.first().map(|it| &it.token) {
            Some(Token::Word(it)) => it.value.to_lowercase(),
            _ => return Err(expected(part.first(), "the name of an option")),
        };
        if options.iter().any(|it| it.0 == name) {
            let error = SqlError::new(SqlState::SYNTAX, "conflicting or redundant options");
            return Err(error.with_hint(format!("{name} is said twice")));
        }
        let values = match &part[1..] {
            [] => vec!["true".to_owned()],
            [open, list @ .., close]
                if open.token == Token::LParen && close.token == Token::RParen =>
            {
                let values = list.split(|it| it.token == Token::Comma).map(value);
                values.collect::<SqlResult<_>>()?
            }
            single => vec![value(single)?],
        };
        options.extend(values.into_iter().map(|it| (name.clone(), it)));
    }
    Ok(options)
}

/// A value: a text, a number, a word, or `*`.
fn value(tokens: &[TokenWithSpan]) -> SqlResult<String> {
    match tokens {
        [only] => match &only.token {
            Token::SingleQuotedString(it) => Ok(it.clone()),
            Token::Number(it, _) => Ok(it.clone()),
            Token::Word(it) if it.quote_style.is_some() => Ok(it.value.clone()),
            Token::Word(it) => Ok(it.value.to_lowercase()),
            Token::Mul => Ok("*".to_owned()),
            _ => Err(expected(Some(only), "the value of an option")),
        },
        [sign, number] if sign.token == Token::Minus => {
            Ok(format!("-{}", value(std::slice::from_ref(number))?))
        }
        _ => Err(expected(tokens.first(), "the value of an option")),
    }
}

/// The options of before there were brackets.
fn words(tokens: &[TokenWithSpan]) -> SqlResult<Options> {
    let mut options = Options::new();
    let mut tokens = tokens.iter().peekable();
    while let Some(token) = tokens.next() {
        let mut text = |name: &str, keyword: Keyword| {
            let is_as = |it: &&TokenWithSpan| is_word(&it.token, "as");
            tokens.next_if(is_as);
            match tokens.next() {
                Some(it) if matches!(it.token, Token::SingleQuotedString(_)) => {
                    Ok((name.to_owned(), value(std::slice::from_ref(it))?))
                }
                other => Err(expected(other, &format!("a text behind {keyword:?}"))),
            }
        };
        let Token::Word(word) = &token.token else {
            return Err(expected(Some(token), "an option"));
        };
        let option = match word.keyword {
            Keyword::CSV => ("format".to_owned(), "csv".to_owned()),
            Keyword::BINARY => ("format".to_owned(), "binary".to_owned()),
            Keyword::HEADER => ("header".to_owned(), "true".to_owned()),
            it @ Keyword::DELIMITER => text("delimiter", it)?,
            it @ Keyword::NULL => text("null", it)?,
            it @ Keyword::QUOTE => text("quote", it)?,
            it @ Keyword::ESCAPE => text("escape", it)?,
            it @ Keyword::ENCODING => text("encoding", it)?,
            Keyword::FORCE => {
                let (name, list) = forced(&mut tokens)?;
                options.extend(list.into_iter().map(|it| (name.to_owned(), it)));
                continue;
            }
            _ => {
                let error = expected(Some(token), "an option of COPY");
                return Err(error.with_hint("write WITH (FORMAT csv, HEADER, ..)"));
            }
        };
        options.push(option);
    }
    Ok(options)
}

/// `QUOTE`, `NOT NULL` or `NULL`, and columns.
fn forced<'a>(
    tokens: &mut Peekable<impl Iterator<Item = &'a TokenWithSpan>>,
) -> SqlResult<(&'static str, Vec<String>)> {
    let is = |wanted: &'static str| move |it: &&TokenWithSpan| is_word(&it.token, wanted);
    let name = if tokens.next_if(is("quote")).is_some() {
        "force_quote"
    } else if tokens.next_if(is("not")).is_some() {
        "force_not_null"
    } else {
        "force_null"
    };
    if name != "force_quote" && tokens.next_if(is("null")).is_none() {
        return Err(expected(tokens.next(), "QUOTE, NULL or NOT NULL"));
    }
    let mut list = Vec::new();
    loop {
        let column = tokens.next();
        list.push(value(column.map_or(&[][..], std::slice::from_ref))?);
        if tokens.next_if(|it| it.token == Token::Comma).is_none() {
            return Ok((name, list));
        }
    }
}

fn expected(found: Option<&TokenWithSpan>, what: &str) -> SqlError {
    let shown =
        found.map_or("the end of the statement".to_owned(), |it| format!("\"{}\"", it.token));
    let error = SqlError::new(
        SqlState::SYNTAX,
        format!("syntax error at or near {shown}: expected {what}"),
    );
    match found {
        Some(it) => {
            let start = it.span.start;
            SqlError { position: Some((start.line as u32, start.column as u32)), ..error }
        }
        None => error,
    }
}
