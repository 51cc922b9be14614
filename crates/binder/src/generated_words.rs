//! The tokens by which a definition says that a column is generated of others.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use crate::steering::{is_word, sees_words, take_group};

/// The tokens of what a column is generated of, if these come next in its definition.
pub(crate) fn tokens(parser: &mut Parser<'_>) -> Option<Vec<Token>> {
    let forms = [
        &["GENERATED", "ALWAYS", "AS"][..],
        &["GENERATED", "BY", "DEFAULT", "AS"][..],
        &["AS"][..],
    ];
    let sees = |words: &&[&str]| {
        sees_words(parser, words) && parser.peek_nth_token_ref(words.len()).token == Token::LParen
    };
    let words = forms.into_iter().find(sees)?;
    let mut tokens: Vec<Token> = words.iter().map(|_| parser.next_token().token).collect();
    if !take_group(parser, &mut tokens) {
        return Some(tokens);
    }
    if ["STORED", "VIRTUAL"].iter().any(|it| is_word(&parser.peek_token_ref().token, it)) {
        tokens.push(parser.next_token().token);
    }
    Some(tokens)
}

/// Whether the tokens of an option are those of [`tokens`].
pub(crate) fn is_one(tokens: &[Token]) -> bool {
    let begins = tokens.iter().position(|it| *it == Token::LParen);
    begins.is_some_and(|it| it > 0 && is_word(&tokens[it - 1], "as"))
}

/// Tokens that have no place.
pub(crate) fn placed(tokens: &[Token]) -> Vec<TokenWithSpan> {
    tokens.iter().map(|it| TokenWithSpan { token: it.clone(), span: Span::empty() }).collect()
}
