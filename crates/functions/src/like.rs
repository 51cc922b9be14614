//! LIKE with a pattern that is not a constant.

use arrow_array::ArrayRef;
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;

/// Comparisons of characters that a call may make: patterns with many `%` compare again and again.
const STEPS_MAX: usize = 1 << 32;

const INVALID_ESCAPE: SqlState = SqlState("22025");

#[derive(Clone, Copy, PartialEq)]
enum Token {
    /// `%`
    Any,
    /// `_`
    One,
    Character(char),
    /// An escape with nothing behind it: an error when a text gets there.
    Dangling,
}

/// Whether texts match patterns.
pub(crate) fn like(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let (escapes, folds) = (call.texts(2)?, call.booleans(3)?);
    let mut last = None;
    let mut tokens = Vec::new();
    let mut characters = Vec::new();
    let mut steps = STEPS_MAX;
    call.map_booleans(|row| {
        let fold = folds.value(row);
        let wanted = (patterns.value(row), escapes.value(row), fold);
        if last != Some(wanted) {
            tokens = tokenize(wanted.0, wanted.1, fold)?;
            last = Some(wanted);
        }
        characters.clear();
        if fold {
            characters.extend(texts.value(row).to_lowercase().chars());
        } else {
            characters.extend(texts.value(row).chars());
        }
        matches(&characters, &tokens, &mut steps)
    })
}

fn tokenize(pattern: &str, escape: &str, fold: bool) -> SqlResult<Vec<Token>> {
    let mut escapes = escape.chars();
    let escape = escapes.next();
    if escapes.next().is_some() {
        return Err(SqlError::new(INVALID_ESCAPE, "invalid escape string")
            .with_hint("Escape string must be empty or one character."));
    }
    let mut tokens = Vec::new();
    let push = |tokens: &mut Vec<Token>, it: char| {
        if fold {
            tokens.extend(it.to_lowercase().map(Token::Character));
        } else {
            tokens.push(Token::Character(it));
        }
    };
    let mut characters = pattern.chars();
    while let Some(it) = characters.next() {
        match it {
            it if Some(it) == escape => match characters.next() {
                Some(it) => push(&mut tokens, it),
                None => tokens.push(Token::Dangling),
            },
            '%' => tokens.push(Token::Any),
            '_' => tokens.push(Token::One),
            it => push(&mut tokens, it),
        }
    }
    Ok(tokens)
}

/// Greedy from left to right: only the last `%` ever has to take one character more.
fn matches(text: &[char], tokens: &[Token], steps: &mut usize) -> SqlResult<bool> {
    let (mut at, mut token) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        *steps = steps.checked_sub(1).ok_or_else(crate::error::too_long)?;
        match tokens.get(token) {
            Some(Token::Any) => {
                token += 1;
                retry = Some((at, token));
            }
            Some(Token::Dangling) => {
                let message = "LIKE pattern must not end with escape character";
                return Err(SqlError::new(INVALID_ESCAPE, message));
            }
            Some(&it) if it == Token::One || it == Token::Character(text[at]) => {
                at += 1;
                token += 1;
            }
            _ => {
                let Some((start, after)) = retry else {
                    return Ok(false);
                };
                (at, token) = (start + 1, after);
                retry = Some((at, token));
            }
        }
    }
    Ok(tokens[token..].iter().all(|&it| it == Token::Any))
}
