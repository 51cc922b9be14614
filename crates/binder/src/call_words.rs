//! Forms of calls that the parser does not know: `ROWS FROM (f(..), g(..))` in FROM, and VARIADIC before the last argument.
//!
//! Key decision: each becomes a call of a name that no user can write, which binding takes apart.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use types::SqlResult;

use crate::from_end;
use crate::own_names::{ROWS_FROM, VARIADIC};
use crate::steering::is_word;

/// Brings both to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    let is_about =
        |it: &TokenWithSpan| is_word(&it.token, "rows") || is_word(&it.token, "variadic");
    if !tokens.iter().any(is_about) {
        return Ok(());
    }
    from_end::rewrite(tokens, |before, rest| {
        let Some(before) = before.last() else { return Ok(None) };
        let span = rest[0].span;
        let at = |token| TokenWithSpan { token, span };
        if begins_rows(before, rest) {
            return Ok(Some((2, vec![at(name(ROWS_FROM))])));
        }
        let is_variadic = is_word(&rest[0].token, "variadic")
            && matches!(before.token, Token::Comma | Token::LParen);
        let Some(end) = end_of_call(rest, 0).filter(|_| is_variadic) else { return Ok(None) };
        let mut made = vec![at(name(VARIADIC)), at(Token::LParen)];
        made.extend_from_slice(&rest[1..end]);
        made.push(at(Token::RParen));
        Ok(Some((end, made)))
    })
}

fn name(value: &str) -> Token {
    let keyword = Keyword::NoKeyword;
    Token::Word(Word { value: value.to_owned(), quote_style: Some('"'), keyword })
}

/// Whether ROWS FROM and a call stand where a relation does: a column may be called `rows`, and a subquery follow it.
fn begins_rows(before: &TokenWithSpan, tokens: &[TokenWithSpan]) -> bool {
    let [rows, from, open, function, bracket, ..] = tokens else { return false };
    let is_relation = matches!(before.token, Token::Comma)
        || ["from", "join", "lateral"].iter().any(|it| is_word(&before.token, it));
    let is_call = matches!(function.token, Token::Word(_))
        && !["select", "with", "values", "from", "table"]
            .iter()
            .any(|it| is_word(&function.token, it))
        && matches!(bracket.token, Token::LParen | Token::Period);
    is_relation
        && is_word(&rows.token, "rows")
        && is_word(&from.token, "from")
        && open.token == Token::LParen
        && is_call
}

/// Where the bracket is that closes the call around; `None` where another argument follows.
fn end_of_call(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (place, it) in tokens.iter().enumerate().skip(from + 1) {
        match it.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen if depth == 0 => return Some(place),
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.checked_sub(1)?,
            Token::Comma if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
