//! `FROM t WHERE ..` without SELECT, as DuckDB has it: the parser reads such a FROM alone, so it is told of all columns.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Puts `SELECT *` before each FROM that begins a query and has no SELECT behind it. There are no blanks.
pub(crate) fn complete(tokens: &mut Vec<TokenWithSpan>) {
    let begins = |place: usize| is(&tokens[place], Keyword::FROM) && begins_query(tokens, place);
    let lacking: Vec<usize> =
        (0..tokens.len()).filter(|&it| begins(it) && !is_selected(&tokens[it + 1..])).collect();
    if lacking.is_empty() {
        return;
    }
    let mut lacking = lacking.into_iter().peekable();
    let mut completed = Vec::with_capacity(tokens.len() + 2 * lacking.len());
    for (place, token) in std::mem::take(tokens).into_iter().enumerate() {
        if lacking.next_if_eq(&place).is_some() {
            let span = token.span;
            let all = [Token::make_keyword("SELECT"), Token::Mul];
            completed.extend(all.map(|token| TokenWithSpan { token, span }));
        }
        completed.push(token);
    }
    *tokens = completed;
}

fn is(token: &TokenWithSpan, keyword: Keyword) -> bool {
    matches!(&token.token, Token::Word(it) if it.keyword == keyword && it.quote_style.is_none())
}

/// Whether a FROM at a place can begin a query. In `trim(FROM x)` it does not.
pub(crate) fn begins_query(tokens: &[TokenWithSpan], place: usize) -> bool {
    let Some(before) = place.checked_sub(1) else { return true };
    let of_trim = |place: usize| is(&tokens[place], Keyword::TRIM);
    match &tokens[before].token {
        Token::LParen => !before.checked_sub(1).is_some_and(of_trim),
        Token::Word(it) if matches!(it.keyword, Keyword::ALL | Keyword::DISTINCT) => {
            before.checked_sub(1).is_some_and(|it| combines(&tokens[it]))
        }
        Token::Word(it)
            if it.quote_style.is_none() && it.value.eq_ignore_ascii_case("summarize") =>
        {
            true
        }
        Token::Word(_) => {
            let begins = [Keyword::EXPLAIN, Keyword::ANALYZE, Keyword::DESCRIBE, Keyword::AS];
            combines(&tokens[before]) || begins.iter().any(|it| is(&tokens[before], *it))
        }
        _ => false,
    }
}

fn combines(token: &TokenWithSpan) -> bool {
    [Keyword::UNION, Keyword::EXCEPT, Keyword::INTERSECT].iter().any(|it| is(token, *it))
}

/// Whether a SELECT stands in the query whose tokens follow.
fn is_selected(tokens: &[TokenWithSpan]) -> bool {
    let mut depth = 0_usize;
    for token in tokens {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth -= 1,
            Token::Word(it) if depth == 0 => match it.keyword {
                Keyword::SELECT => return true,
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => return false,
                _ => {}
            },
            _ => {}
        }
    }
    false
}
