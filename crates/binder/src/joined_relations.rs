//! Where relations end that stand before other words than FROM's, from their tokens.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::sql_json_words::closing;
use crate::steering::{is_any, is_word};

/// The end of the relation or the joined relations that begin at a place, if some do and ON, USING or GROUP BY follows.
pub(crate) fn source_end(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let mut at = factor_end(tokens, from)?;
    loop {
        let is =
            |at: usize, words: &[&str]| tokens.get(at).is_some_and(|it| is_any(&it.token, words));
        let kinds = ["natural", "inner", "left", "right", "full", "outer", "cross", "semi", "anti"];
        let mut join = at;
        while is(join, &kinds) {
            join += 1;
        }
        if !is(join, &["join"]) {
            let begins = is(at, &["on", "using"]) || (is(at, &["group"]) && is(at + 1, &["by"]));
            return begins.then_some(at);
        }
        let is_bare = (at..join).any(|it| is(it, &["natural", "cross"]));
        at = factor_end(tokens, join + 1)?;
        if !is_bare {
            at = condition_end(tokens, at)?;
        }
    }
}

/// The end of the condition of a join.
fn condition_end(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let first = &tokens.get(from)?.token;
    if is_word(first, "using") {
        return Some(closing(tokens, from + 1)? + 1);
    }
    if !is_word(first, "on") {
        return None;
    }
    let ends = [
        "on", "using", "group", "join", "natural", "inner", "left", "right", "full", "cross",
        "semi", "anti",
    ];
    let mut at = from + 1;
    while let Some(it) = tokens.get(at) {
        match &it.token {
            Token::LParen | Token::LBracket | Token::LBrace => at = closing(tokens, at)?,
            Token::RParen | Token::Comma => return None,
            it if is_any(it, &ends) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The end of a relation: its name, a call or a subquery, and an alias.
pub(crate) fn factor_end(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let token = |at: usize| tokens.get(at).map(|it| &it.token);
    let is_name = |at: usize| match token(at) {
        Some(Token::Word(it)) => it.keyword == Keyword::NoKeyword || it.quote_style.is_some(),
        _ => false,
    };
    let mut at = from;
    match token(at)? {
        Token::LParen => at = closing(tokens, at)? + 1,
        Token::SingleQuotedString(_) => at += 1,
        Token::Word(it) if it.quote_style.is_some() || !is_reserved(it) => {
            at += 1;
            while token(at) == Some(&Token::Period) && matches!(token(at + 1), Some(Token::Word(_)))
            {
                at += 2;
            }
            if token(at) == Some(&Token::LParen) {
                at = closing(tokens, at)? + 1;
            }
        }
        _ => return None,
    }
    let has_as = token(at).is_some_and(|it| is_word(it, "as"));
    if has_as || is_name(at) {
        at += 1 + usize::from(has_as);
        if token(at) == Some(&Token::LParen) {
            at = closing(tokens, at)? + 1;
        }
    }
    Some(at)
}

/// Whether a word names no relation, so that PIVOT before it is a name itself.
fn is_reserved(word: &Word) -> bool {
    use Keyword::{
        CROSS, EXCEPT, FROM, FULL, GROUP, HAVING, INNER, INTERSECT, JOIN, LEFT, LIMIT, NATURAL,
        OFFSET, ON, ORDER, RIGHT, SELECT, UNION, USING, WHERE, WINDOW, WITH,
    };
    matches!(
        word.keyword,
        CROSS
            | EXCEPT
            | FROM
            | FULL
            | GROUP
            | HAVING
            | INNER
            | INTERSECT
            | JOIN
            | LEFT
            | LIMIT
            | NATURAL
            | OFFSET
            | ON
            | ORDER
            | RIGHT
            | SELECT
            | UNION
            | USING
            | WHERE
            | WINDOW
            | WITH
    )
}
