//! Whether a text is JSON.

use super::lexer::{Lexer, Token, invalid};
use crate::{SqlError, SqlResult, SqlState};

/// Arrays and objects in one another at most. PostgreSQL's limit follows from its stack and is near.
pub const DEPTH_MAX: usize = 6000;

/// Checks that a text is JSON, and tells how deep its arrays and objects are in one another.
///
/// # Errors
/// 22P02 with PostgreSQL's reasons; 54001 beyond [`DEPTH_MAX`].
pub fn check(text: &str) -> SqlResult<usize> {
    let mut lexer = Lexer::new(text);
    let first = lexer.advance()?;
    let deepest = skip(&mut lexer, first)?;
    match lexer.advance()? {
        Token::End => Ok(deepest),
        token => Err(unexpected(&lexer, token, "Expected end of input, but found")),
    }
}

/// Goes behind the value whose first token was read last, and tells how deep its arrays and objects are in one another.
///
/// # Errors
/// Those of [`check`].
#[inline]
pub fn skip(lexer: &mut Lexer<'_>, first: Token) -> SqlResult<usize> {
    match first {
        Token::String | Token::Number | Token::True | Token::False | Token::Null => Ok(0),
        _ => skip_nested(lexer, first),
    }
}

fn skip_nested(lexer: &mut Lexer<'_>, first: Token) -> SqlResult<usize> {
    // For each array or object around, whether it is an object.
    let mut around: Vec<bool> = Vec::new();
    let (mut deepest, mut token) = (0, first);
    loop {
        match token {
            Token::OpenObject | Token::OpenArray => {
                let is_object = token == Token::OpenObject;
                around.push(is_object);
                deepest = deepest.max(around.len());
                if deepest > DEPTH_MAX {
                    let message = "stack depth limit exceeded";
                    return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message)
                        .with_hint(format!("JSON may be {DEPTH_MAX} levels deep")));
                }
                token = lexer.advance()?;
                match (is_object, token) {
                    (true, Token::CloseObject) | (false, Token::CloseArray) => {
                        around.pop();
                    }
                    (true, _) => {
                        token = key(lexer, token, "Expected string or \"}\", but found")?;
                        continue;
                    }
                    (false, _) => continue,
                }
            }
            Token::String | Token::Number | Token::True | Token::False | Token::Null => {}
            _ => return Err(unexpected(lexer, token, "Expected JSON value, but found")),
        }
        match after_value(lexer, &mut around)? {
            Some(next) => token = next,
            None => return Ok(deepest),
        }
    }
}

/// The key of an object whose first token is read, and its colon; gives the first token of its value.
fn key(lexer: &mut Lexer<'_>, token: Token, expected: &str) -> SqlResult<Token> {
    if token != Token::String {
        return Err(unexpected(lexer, token, expected));
    }
    let token = lexer.advance()?;
    if token != Token::Colon {
        return Err(unexpected(lexer, token, "Expected \":\", but found"));
    }
    lexer.advance()
}

/// What comes behind a value: closes what ends, and gives the first token of the next value, or nothing at the end.
fn after_value(lexer: &mut Lexer<'_>, around: &mut Vec<bool>) -> SqlResult<Option<Token>> {
    while let Some(is_object) = around.last().copied() {
        let token = lexer.advance()?;
        match (is_object, token) {
            (true, Token::CloseObject) | (false, Token::CloseArray) => {
                around.pop();
            }
            (true, Token::Comma) => {
                let token = lexer.advance()?;
                return key(lexer, token, "Expected string, but found").map(Some);
            }
            (false, Token::Comma) => return lexer.advance().map(Some),
            (true, _) => {
                return Err(unexpected(lexer, token, "Expected \",\" or \"}\", but found"));
            }
            (false, _) => {
                return Err(unexpected(lexer, token, "Expected \",\" or \"]\", but found"));
            }
        }
    }
    Ok(None)
}

/// 22P02: another token than is expected.
pub fn unexpected(lexer: &Lexer<'_>, token: Token, expected: &str) -> SqlError {
    match token {
        Token::End => invalid("The input string ended unexpectedly."),
        _ => invalid(format!("{expected} \"{}\".", lexer.token())),
    }
}

/// Whether a text is JSON.
pub fn is_json(text: &str) -> bool {
    check(text).is_ok()
}
