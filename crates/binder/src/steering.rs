//! CHECKPOINT, and ALTER QUERY, which the parser does not know: `ALTER QUERY 7 PRIORITY 5` and `ALTER QUERY 7 SET stealing = none`.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::statement::Statement;

/// Whether the tokens are a CHECKPOINT.
pub(crate) fn is_checkpoint(tokens: &[TokenWithSpan]) -> bool {
    matches!(tokens, [only] if is_word(&only.token, "checkpoint"))
}

/// The statement, if the tokens are an ALTER QUERY.
pub(crate) fn alter_query(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut words = tokens.iter().filter(|it| !matches!(it.token, Token::Whitespace(_))).peekable();
    let mut is = |word: &str| words.next_if(|it| is_word(&it.token, word)).is_some();
    if !(is("alter") && is("query")) {
        return Ok(None);
    }
    let number = match words.next().map(|it| &it.token) {
        Some(Token::Number(text, _)) => text.parse().ok(),
        _ => None,
    };
    let statement = number.ok_or_else(|| expected("the number of a query"))?;
    let name = match words.next() {
        Some(it) if is_word(&it.token, "priority") => "priority".to_owned(),
        Some(it) if is_word(&it.token, "set") => match words.next().map(|it| &it.token) {
            Some(Token::Word(name)) => {
                let sign = |it: &&TokenWithSpan| it.token == Token::Eq || is_word(&it.token, "to");
                words.next_if(sign).ok_or_else(|| expected("= or TO"))?;
                name.value.to_lowercase()
            }
            _ => return Err(expected("the name of a setting")),
        },
        _ => return Err(expected("PRIORITY or SET")),
    };
    let value = words.map(|it| text(&it.token)).collect::<Vec<_>>().join("");
    if value.is_empty() {
        return Err(expected("a value"));
    }
    Ok(Some(Statement::AlterQuery { statement, name, value }))
}

/// Whether these words come next, none of them in quotes.
pub(crate) fn sees_words(parser: &Parser<'_>, words: &[&str]) -> bool {
    let is = |(at, word): (usize, &&str)| is_word(&parser.peek_nth_token_ref(at).token, word);
    words.iter().enumerate().all(is)
}

/// Takes the tokens of what stands in parentheses, these included; false where the text ends before they close.
pub(crate) fn take_group(parser: &mut Parser<'_>, tokens: &mut Vec<Token>) -> bool {
    let mut depth = 0;
    loop {
        let token = parser.next_token().token;
        depth += match token {
            Token::LParen => 1,
            Token::RParen => -1,
            Token::EOF => return false,
            _ => 0,
        };
        tokens.push(token);
        if depth == 0 {
            return true;
        }
    }
}

/// Whether a token is a word, without quotes.
pub(crate) fn is_word(token: &Token, wanted: &str) -> bool {
    matches!(token, Token::Word(it)
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case(wanted))
}

/// Whether a token is one of some words, not in quotes.
pub(crate) fn is_any(token: &Token, words: &[&str]) -> bool {
    words.iter().any(|it| is_word(token, it))
}

fn text(token: &Token) -> String {
    match token {
        Token::SingleQuotedString(text) => text.clone(),
        Token::Word(word) => word.value.clone(),
        other => other.to_string(),
    }
}

fn expected(what: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX, format!("syntax error in ALTER QUERY: expected {what}"))
        .with_hint("ALTER QUERY 7 PRIORITY 5, or ALTER QUERY 7 SET stealing = none")
}
