//! What the parser does not read of a window's frame. EXCLUDE is taken out of the tokens and stands among what the window is
//! partitioned by, under a name that no text can spell; an offset that begins with a text, as `'1 day'::interval`, gets parentheses,
//! without which the text alone is taken for the whole interval.

use plan::Exclusion;
use sqlparser::ast::{Expr, Ident};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

const WORDS: [(&str, Exclusion); 4] = [
    ("\0current row", Exclusion::CurrentRow),
    ("\0group", Exclusion::Group),
    ("\0ties", Exclusion::Ties),
    ("\0no others", Exclusion::Nothing),
];

fn is_word(token: Option<&TokenWithSpan>, word: &str) -> bool {
    matches!(token.map(|it| &it.token), Some(Token::Word(it))
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case(word))
}

/// The exclusion that begins at a token, right behind a bound and before the end of the window, and how many tokens it is.
fn exclusion_at(tokens: &[TokenWithSpan], at: usize) -> Option<(&'static str, usize)> {
    let before = tokens.get(at.checked_sub(1)?);
    let follows = ["ROW", "PRECEDING", "FOLLOWING"].iter().any(|it| is_word(before, it));
    if !follows || !is_word(tokens.get(at), "EXCLUDE") {
        return None;
    }
    WORDS.iter().find_map(|(name, _)| {
        let words: Vec<&str> = name[1..].split(' ').collect();
        let all = words.iter().zip(at + 1..).all(|(word, place)| is_word(tokens.get(place), word));
        let end = at + 1 + words.len();
        let closes = tokens.get(end).is_some_and(|it| it.token == Token::RParen);
        (all && closes).then_some((*name, end - at))
    })
}

/// Moves exclusions to where the parser reads on; the tokens have no blanks.
pub(crate) fn exclusions(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < tokens.len() {
        if let Some((name, count)) = exclusion_at(tokens, at)
            && let Some(open) = opening(&tokens[..at])
        {
            let span = tokens[at].span;
            tokens.drain(at..at + count);
            let new = |token| TokenWithSpan { token, span };
            let keyword = |value: &str, keyword| {
                let (value, quote_style) = (value.to_owned(), None);
                new(Token::Word(Word { value, quote_style, keyword }))
            };
            let word = Word {
                value: name.to_owned(),
                quote_style: Some('"'),
                keyword: Keyword::NoKeyword,
            };
            let marker = new(Token::Word(word));
            // The name of another window may come first.
            let named = matches!(tokens.get(open + 1).map(|it| &it.token), Some(Token::Word(it))
                if it.keyword == Keyword::NoKeyword);
            let first = open + 1 + usize::from(named);
            match is_word(tokens.get(first), "PARTITION") {
                true => {
                    tokens.splice(first + 2..first + 2, [marker, new(Token::Comma)]);
                }
                false => {
                    let (partition, by) =
                        (keyword("PARTITION", Keyword::PARTITION), keyword("BY", Keyword::BY));
                    tokens.splice(first..first, [partition, by, marker]);
                }
            }
        }
        at += 1;
    }
}

/// Puts offsets of frames that begin with a text, and go on behind it, in parentheses; the tokens have no blanks.
pub(crate) fn offsets(tokens: &mut Vec<TokenWithSpan>) {
    let ends =
        |it: &TokenWithSpan| is_word(Some(it), "PRECEDING") || is_word(Some(it), "FOLLOWING");
    let Some(mut end) = tokens.iter().position(ends) else { return };
    while end < tokens.len() {
        if ends(&tokens[end])
            && let Some(first) = offset_before(&tokens[..end])
            && end - first > 1
            && matches!(tokens[first].token, Token::SingleQuotedString(_))
        {
            let span = tokens[first].span;
            tokens.insert(end, TokenWithSpan { token: Token::RParen, span });
            tokens.insert(first, TokenWithSpan { token: Token::LParen, span });
            end += 2;
        }
        end += 1;
    }
}

/// Where the offset begins that ends some tokens.
fn offset_before(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut closed = 0usize;
    for (place, it) in tokens.iter().enumerate().rev() {
        match it.token {
            Token::RParen => closed += 1,
            Token::LParen => closed = closed.checked_sub(1)?,
            Token::Word(_) if closed == 0 => {
                let begins = ["ROWS", "RANGE", "GROUPS", "BETWEEN", "AND"];
                if begins.iter().any(|word| is_word(Some(it), word)) {
                    return Some(place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The parenthesis that is open at the end of some tokens.
fn opening(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut closed = 0usize;
    for (place, it) in tokens.iter().enumerate().rev() {
        match it.token {
            Token::RParen => closed += 1,
            Token::LParen if closed == 0 => return Some(place),
            Token::LParen => closed -= 1,
            _ => {}
        }
    }
    None
}

/// The exclusion of a window, and what it is partitioned by.
pub(crate) fn exclusion_of(partition_by: &[Expr]) -> (Exclusion, &[Expr]) {
    let marked = match partition_by.first() {
        Some(Expr::Identifier(Ident { value, quote_style: Some('"'), .. })) => {
            WORDS.iter().find(|it| it.0 == value)
        }
        _ => None,
    };
    match marked {
        Some((_, exclusion)) => (*exclusion, &partition_by[1..]),
        None => (Exclusion::Nothing, partition_by),
    }
}
