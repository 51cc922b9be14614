//! What ON CONFLICT infers a key from, where the parser knows columns alone: expressions, and what holds of the rows. They are read as
//! one column of a name that no text can spell, which holds the text ([`crate::index_words`]).

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::steering::is_word;

/// Brings `ON CONFLICT (lower(a), b) WHERE c > 0` to what the parser knows: one column of a name that holds the text.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    let begins = |it: &[TokenWithSpan]| {
        is_word(&it[0].token, "on")
            && is_word(&it[1].token, "conflict")
            && it[2].token == Token::LParen
    };
    let mut from = 0;
    while let Some(at) = tokens[from..].windows(3).position(begins) {
        let open = from + at + 2;
        from = open + 1;
        let Some(close) = closing(tokens, open) else { return };
        let (end, condition) = match tokens.get(close + 1) {
            Some(it) if is_word(&it.token, "where") => {
                let Some(end) = action(tokens, close + 2) else { continue };
                (end, text(&tokens[close + 2..end]))
            }
            _ => (close + 1, String::new()),
        };
        let items = &tokens[open + 1..close];
        let is_plain = |it: &TokenWithSpan| matches!(it.token, Token::Word(_) | Token::Comma);
        if condition.is_empty() && items.iter().all(is_plain) {
            continue;
        }
        let value = format!("\0{}\0{condition}", text(items));
        let word = Word { value, quote_style: Some('"'), keyword: Keyword::NoKeyword };
        let span = tokens[open].span;
        let new = [Token::Word(word), Token::RParen].map(|token| TokenWithSpan { token, span });
        tokens.splice(open + 1..end, new);
    }
}

fn closing(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let mut depth = 0;
    tokens[open..]
        .iter()
        .position(|it| {
            match it.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            depth == 0
        })
        .map(|it| open + it)
}

/// Where DO stands behind a condition.
fn action(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let is_action = |it: &[TokenWithSpan]| {
        let does = |word| is_word(&it[1].token, word);
        is_word(&it[0].token, "do") && (does("nothing") || does("update"))
    };
    tokens.get(from..)?.windows(2).position(is_action).map(|it| from + it)
}

fn text(tokens: &[TokenWithSpan]) -> String {
    let text = |it: &TokenWithSpan| match &it.token {
        Token::SingleQuotedString(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    };
    tokens.iter().map(text).collect::<Vec<_>>().join(" ")
}
