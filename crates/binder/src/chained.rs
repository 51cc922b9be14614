//! DuckDB's `x.f(y)` as `f(x, y)`: of a name, a constant, a list, a call or what stands in brackets.
//!
//! Key decision: only of functions that there are, and only where an operand begins, so that `schema.table (columns)` stays what it is.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::extension::KNOWN;

use crate::friendly_words::{begins_operand, closing};
use crate::steering::is_word;
use crate::written_in_sql;

/// Such calls that a statement may have: each moves the tokens behind it.
const CALLS_MAX: usize = 1_000;

/// Brings such calls to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    // A table may be called as a function is.
    let is_index = matches!(&tokens[..], [first, second, ..]
        if is_word(&first.token, "create")
            && (is_word(&second.token, "index") || is_word(&second.token, "unique")));
    let (mut at, mut calls_left) = (1, if is_index { 0 } else { CALLS_MAX });
    while at + 2 < tokens.len() && calls_left > 0 {
        let calls = tokens[at].token == Token::Period
            && tokens[at + 2].token == Token::LParen
            && is_function(&tokens[at + 1].token);
        let begin = calls.then(|| receiver(tokens, at)).flatten();
        match begin {
            Some(begin) => {
                calls_left -= 1;
                put_inside(tokens, begin, at);
                // What was made may be followed by another.
                at = begin + 1;
            }
            None => at += 1,
        }
    }
}

fn is_function(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    let name = word.value.to_lowercase();
    // Before one of an extension stands its schema: it takes no arguments.
    if KNOWN.iter().any(|it| it.functions.contains(&&*name)) {
        return false;
    }
    functions::lookup(&name).is_some()
        || written_in_sql::is_known(&name)
        || name.starts_with("list_")
        || matches!(&*name, "len" | "strptime" | "nullif" | "trim")
}

/// Where the operand before a point begins.
fn receiver(tokens: &[TokenWithSpan], point: usize) -> Option<usize> {
    let begin = operand(tokens, point)?;
    let first = &tokens[begin].token;
    let is_schema = matches!(first, Token::Word(it)
        if ["pg_catalog", "information_schema", "nodewise"].contains(&&*it.value.to_lowercase()));
    let before = begin.checked_sub(1).map(|it| &tokens[it].token);
    (!is_schema && begins_operand(before)).then_some(begin)
}

/// Where an operand that ends before a place begins.
fn operand(tokens: &[TokenWithSpan], end: usize) -> Option<usize> {
    let last = end.checked_sub(1)?;
    match &tokens[last].token {
        Token::SingleQuotedString(_) | Token::Number(..) | Token::Placeholder(_) => Some(last),
        Token::Word(_) => Some(names(tokens, last)),
        Token::RParen | Token::RBracket => {
            let open = opening(tokens, last)?;
            match open.checked_sub(1).map(|it| &tokens[it].token) {
                Some(Token::Word(it))
                    if it.keyword == Keyword::NoKeyword
                        || it.keyword == Keyword::ARRAY
                        || functions::lookup(&it.value.to_lowercase()).is_some() =>
                {
                    Some(names(tokens, open - 1))
                }
                Some(Token::RParen | Token::RBracket) if tokens[last].token == Token::RBracket => {
                    operand(tokens, open)
                }
                _ => Some(open),
            }
        }
        _ => None,
    }
}

/// Where names with points between them begin, of which one stands at a place.
fn names(tokens: &[TokenWithSpan], last: usize) -> usize {
    let mut begin = last;
    while begin >= 2
        && tokens[begin - 1].token == Token::Period
        && matches!(tokens[begin - 2].token, Token::Word(_))
    {
        begin -= 2;
    }
    begin
}

/// The bracket that one at a place closes.
fn opening(tokens: &[TokenWithSpan], close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (0..=close).rev() {
        match tokens[at].token {
            Token::RParen | Token::RBracket => depth += 1,
            Token::LParen | Token::LBracket => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Makes the operand before a point the first argument of the call behind it.
fn put_inside(tokens: &mut Vec<TokenWithSpan>, begin: usize, point: usize) {
    let has_arguments = closing(&tokens[point + 2..]).is_some_and(|it| it > 2);
    let span = tokens[point].span;
    let receiver: Vec<TokenWithSpan> = tokens.drain(begin..point).collect();
    // Now the point stands where the operand began.
    tokens.remove(begin);
    let behind = begin + 2;
    if has_arguments {
        tokens.insert(behind, TokenWithSpan { token: Token::Comma, span });
    }
    tokens.splice(behind..behind, receiver);
}
