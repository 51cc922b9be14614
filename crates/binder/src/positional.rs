//! DuckDB's `a POSITIONAL JOIN b`: the rows of both by their places, with NULLs where one side has fewer.
//!
//! Key decision: the parser reads it as SQL Server's OUTER APPLY, which means nothing here, and binding numbers the rows.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::SqlResult;

use crate::joined_relations::factor_end;
use crate::steering::{is_any, is_word};
use crate::syntax::unsupported;

/// Brings the words of the join to what the parser knows; the tokens have no blanks. Errors: 0A000 of what it is read as.
pub(crate) fn known_words(tokens: &mut [TokenWithSpan]) -> SqlResult<()> {
    for at in 1..tokens.len() {
        let follows =
            |wanted: &str| tokens.get(at + 1).is_some_and(|it| is_word(&it.token, wanted));
        if is_word(&tokens[at].token, "outer") && follows("apply") {
            return Err(unsupported("OUTER APPLY"));
        }
        if is_word(&tokens[at].token, "positional") && follows("join") && !is_alias(tokens, at) {
            tokens[at].token = Token::make_keyword("OUTER");
            tokens[at + 1].token = Token::make_keyword("APPLY");
        }
    }
    Ok(())
}

/// Whether the word is what the left side is called: then the join has a condition.
fn is_alias(tokens: &[TokenWithSpan], at: usize) -> bool {
    let end = factor_end(tokens, at + 2).and_then(|it| tokens.get(it));
    end.is_some_and(|it| is_any(&it.token, &["on", "using"]))
}
