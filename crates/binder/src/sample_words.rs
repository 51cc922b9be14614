//! DuckDB's samples: `FROM t USING SAMPLE 10`, `TABLESAMPLE RESERVOIR (10)`, `10%`, `5 ROWS`, `10% (bernoulli, 42)`. They become the
//! TABLESAMPLE that the parser knows, with its unit said; what is sampled behind WHERE is sampled before it, as there.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::joined_relations::factor_end;
use crate::sql_json_words::closing;
use crate::steering::{is_any, is_word};
use crate::syntax::unsupported;

/// What may stand behind the one relation that a sample is drawn of.
const BEHIND: [&str; 7] = ["select", "where", "group", "having", "window", "qualify", "using"];

/// Brings the words of samples to what the parser knows; the tokens have no blanks. Errors: 0A000 where USING SAMPLE has several
/// relations to draw from, 42601 of a size that is none.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    let mut at = 1;
    while at < tokens.len() {
        let word =
            |at: usize, wanted: &str| tokens.get(at).is_some_and(|it| is_word(&it.token, wanted));
        let size = if word(at, "tablesample") && !is_standard(tokens, at + 1) {
            at + 1
        } else if word(at, "using") && word(at + 1, "sample") && begins_size(tokens, at + 2) {
            at + 2
        } else {
            at += 1;
            continue;
        };
        let (end, known) = said(tokens, size)?;
        let place = if size == at + 1 { at } else { place_of(tokens, at)? };
        let span = tokens[at].span;
        tokens.drain(at..end);
        tokens.splice(place..place, known.into_iter().map(|token| TokenWithSpan { token, span }));
        at += 1;
    }
    Ok(())
}

/// Whether a sample is `BERNOULLI (10)` or `SYSTEM (10)`, which the parser knows.
fn is_standard(tokens: &[TokenWithSpan], at: usize) -> bool {
    let method = tokens.get(at).is_some_and(|it| is_any(&it.token, &["bernoulli", "system"]));
    method
        && closing(tokens, at + 1).is_some_and(|it| {
            let unit = &tokens[it - 1].token;
            *unit != Token::Mod && !is_any(unit, &["rows", "percent"])
        })
}

/// Whether a size begins: `sample` is a name, too.
fn begins_size(tokens: &[TokenWithSpan], at: usize) -> bool {
    match tokens.get(at).map(|it| &it.token) {
        Some(Token::Number(..)) => true,
        Some(it) if is_any(it, &["reservoir", "bernoulli", "system"]) => {
            tokens.get(at + 1).is_some_and(|it| it.token == Token::LParen)
        }
        _ => false,
    }
}

/// The end of a sample whose size begins at a place, and the same in words that the parser knows.
fn said(tokens: &[TokenWithSpan], at: usize) -> SqlResult<(usize, Vec<Token>)> {
    let refused = || {
        SqlError::new(
            SqlState::SYNTAX,
            "syntax error: a sample needs a size, as 10 ROWS or 10 PERCENT",
        )
    };
    let token = |at: usize| tokens.get(at).map(|it| &it.token);
    let unit_at = |at: usize| match token(at) {
        Some(Token::Mod) => Some("PERCENT"),
        Some(it) if is_word(it, "percent") => Some("PERCENT"),
        Some(it) if is_word(it, "rows") => Some("ROWS"),
        _ => None,
    };
    let (mut size, mut end, unit);
    let mut seed = Vec::new();
    if matches!(token(at), Some(Token::Number(..))) {
        size = vec![tokens[at].token.clone()];
        unit = unit_at(at + 1);
        end = at + 1 + usize::from(unit.is_some());
        // The method, perhaps with a number from which draws follow.
        if token(end) == Some(&Token::LParen) {
            let close = closing(tokens, end).ok_or_else(refused)?;
            match &tokens[end + 1..close] {
                [_] => {}
                [_, comma, number] if comma.token == Token::Comma => {
                    seed.push(number.token.clone())
                }
                _ => return Err(refused()),
            }
            end = close + 1;
        }
    } else if begins_size(tokens, at) {
        let close = closing(tokens, at + 1).ok_or_else(refused)?;
        let said = unit_at(close - 1);
        let last = close - usize::from(said.is_some());
        size = tokens[at + 2..last].iter().map(|it| it.token.clone()).collect();
        let by_share = !is_word(&tokens[at].token, "reservoir");
        unit = said.or_else(|| by_share.then_some("PERCENT"));
        end = close + 1;
    } else {
        return Err(refused());
    }
    if size.is_empty() {
        return Err(refused());
    }
    if token(end).is_some_and(|it| is_word(it, "repeatable")) && seed.is_empty() {
        let close = closing(tokens, end + 1).ok_or_else(refused)?;
        seed.extend(tokens[end + 2..close].iter().map(|it| it.token.clone()));
        end = close + 1;
    }
    let mut known =
        vec![Token::make_keyword("TABLESAMPLE"), Token::make_keyword("BERNOULLI"), Token::LParen];
    known.append(&mut size);
    known.extend([Token::make_keyword(unit.unwrap_or("ROWS")), Token::RParen]);
    if !seed.is_empty() {
        known.extend([Token::make_keyword("REPEATABLE"), Token::LParen]);
        known.append(&mut seed);
        known.push(Token::RParen);
    }
    Ok((end, known))
}

/// The end of the one relation of the FROM before a USING SAMPLE.
fn place_of(tokens: &[TokenWithSpan], at: usize) -> SqlResult<usize> {
    let mut depth = 0_usize;
    for from in (0..at).rev() {
        match &tokens[from].token {
            Token::RParen => depth += 1,
            Token::LParen if depth == 0 => break,
            Token::LParen => depth -= 1,
            it if depth == 0
                && is_word(it, "from")
                && !from
                    .checked_sub(1)
                    .is_some_and(|it| is_word(&tokens[it].token, "distinct")) =>
            {
                let end =
                    factor_end(tokens, from + 1).filter(|it| is_any(&tokens[*it].token, &BEHIND));
                return end.ok_or_else(|| unsupported("USING SAMPLE of several relations"));
            }
            _ => {}
        }
    }
    Err(SqlError::new(SqlState::SYNTAX, "syntax error: USING SAMPLE without FROM"))
}
