//! Texts to tokens, by the parser's tokenizer and what is read otherwise than it does.

use sqlparser::tokenizer::{TokenWithSpan, Tokenizer};
use types::SqlResult;

use crate::dialect::Postgres;
use crate::syntax::syntax;
use crate::{numerals, rewrite};

/// All tokens of a text, with the blanks that may mean something.
pub(crate) fn tokenized(sql: &str) -> SqlResult<Vec<TokenWithSpan>> {
    let tokens = Tokenizer::new(&Postgres::of(0), sql).tokenize_with_location();
    let mut tokens = tokens.map_err(|it| syntax(&it.into()))?;
    rewrite::join_texts(&mut tokens)?;
    numerals::read(sql, tokens)
}
