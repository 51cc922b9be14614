//! Comprehensions of lists, as DuckDB has them: `[x + 1 for x in l if x > 1]` is read as
//! `list_transform(list_filter(l, lambda x: x > 1), lambda x: x + 1)`.
//!
//! Key decision: before parsing, because it begins with an expression whose names come behind it. What the functions do is
//! theirs ([`crate::lambda`]). With a condition the place of an item is that in the list that is left.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Brings comprehensions to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    let opens = tokens.iter().any(|it| it.token == Token::LBracket);
    if opens && tokens.iter().any(|it| is_word(it, "for")) {
        *tokens = rewritten(tokens);
    }
}

fn is_word(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(&token.token, Token::Word(it)
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case(wanted))
}

fn rewritten(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut out = Vec::with_capacity(tokens.len() + 16);
    let mut at = 0;
    while at < tokens.len() {
        match comprehension(tokens, at) {
            Some((made, end)) => {
                out.extend(made);
                at = end;
            }
            None => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// One or two names with a comma between.
fn parameters(tokens: &[TokenWithSpan]) -> Option<Vec<&TokenWithSpan>> {
    let is_name = |it: &TokenWithSpan| matches!(it.token, Token::Word(_));
    match tokens {
        [item] if is_name(item) => Some(vec![item]),
        [item, comma, place] if is_name(item) && comma.token == Token::Comma && is_name(place) => {
            Some(vec![item, place])
        }
        _ => None,
    }
}

/// `[.. for x in list if ..]` that begins at a place.
fn comprehension(tokens: &[TokenWithSpan], at: usize) -> Option<(Vec<TokenWithSpan>, usize)> {
    // Behind a value a bracket is a subscript.
    let is_subscript = at.checked_sub(1).is_some_and(|it| ends_value(&tokens[it]));
    let close = closing(tokens, at, Token::LBracket).filter(|_| !is_subscript)?;
    let inner = &tokens[at + 1..close];
    let word = |from: usize, wanted: &'static str| {
        let found = outside(&inner[from..], |it| is_word(it, wanted));
        found.map(|it| from + it)
    };
    let for_at = word(0, "for").filter(|it| *it > 0)?;
    let in_at = word(for_at, "in")?;
    let names = parameters(&inner[for_at + 1..in_at])?;
    let if_at = word(in_at, "if");
    let list = &inner[in_at + 1..if_at.unwrap_or(inner.len())];
    let condition = if_at.map(|it| &inner[it + 1..]);
    Some((calls(list, &names, &inner[..for_at], condition, &tokens[at]), close + 1))
}

fn ends_value(token: &TokenWithSpan) -> bool {
    match &token.token {
        Token::RParen | Token::RBracket => true,
        Token::Word(it) => it.quote_style.is_some() || it.keyword == Keyword::NoKeyword,
        _ => false,
    }
}

/// The place of the token that closes what opens at a place.
fn closing(tokens: &[TokenWithSpan], open: usize, with: Token) -> Option<usize> {
    if tokens.get(open)?.token != with {
        return None;
    }
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The first token outside of parentheses and brackets that is wanted.
fn outside(tokens: &[TokenWithSpan], wanted: impl Fn(&TokenWithSpan) -> bool) -> Option<usize> {
    let mut depth = 0usize;
    tokens.iter().position(|it| {
        match it.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && wanted(it)
    })
}

/// The calls that make a list of another.
fn calls(
    list: &[TokenWithSpan],
    names: &[&TokenWithSpan],
    made: &[TokenWithSpan],
    condition: Option<&[TokenWithSpan]>,
    like: &TokenWithSpan,
) -> Vec<TokenWithSpan> {
    let mut list = rewritten(list);
    if let Some(condition) = condition {
        list = call("list_filter", &list, names, condition, like);
    }
    call("list_transform", &list, names, made, like)
}

/// `function(list, lambda names: body)`, its tokens standing where another one stood.
fn call(
    function: &str,
    list: &[TokenWithSpan],
    names: &[&TokenWithSpan],
    body: &[TokenWithSpan],
    like: &TokenWithSpan,
) -> Vec<TokenWithSpan> {
    let one = |token: Token| TokenWithSpan { token, span: like.span };
    let word = |value: &str, keyword: Keyword| {
        one(Token::Word(Word { value: value.to_owned(), quote_style: None, keyword }))
    };
    let mut out = vec![word(function, Keyword::NoKeyword), one(Token::LParen)];
    out.extend_from_slice(list);
    out.extend([one(Token::Comma), word("lambda", Keyword::LAMBDA)]);
    for (place, name) in names.iter().enumerate() {
        if place > 0 {
            out.push(one(Token::Comma));
        }
        out.push((*name).clone());
    }
    out.push(one(Token::Colon));
    out.extend(rewritten(body));
    out.push(one(Token::RParen));
    out
}
