//! The parts of an array or an object one after the other, while they are read.

use super::check::unexpected;
use super::lexer::{Lexer, Token};
use crate::SqlResult;

/// Reads the members of an object whose first token was read last. `member` is given each key, in quotes, and the first token
/// of its value, and goes behind that value.
///
/// # Errors
/// 22P02 for what is no JSON, and those of `member`.
pub fn each_member<'a>(
    lexer: &mut Lexer<'a>,
    mut member: impl FnMut(&mut Lexer<'a>, &'a str, Token) -> SqlResult<()>,
) -> SqlResult<()> {
    let mut token = lexer.advance()?;
    let mut expected = "Expected string or \"}\", but found";
    if token == Token::CloseObject {
        return Ok(());
    }
    loop {
        if token != Token::String {
            return Err(unexpected(lexer, token, expected));
        }
        let key = lexer.token();
        if !lexer.takes(b':') {
            token = lexer.advance()?;
            if token != Token::Colon {
                return Err(unexpected(lexer, token, "Expected \":\", but found"));
            }
        }
        let first = lexer.advance()?;
        member(lexer, key, first)?;
        token = if lexer.takes(b',') { Token::Comma } else { lexer.advance()? };
        match token {
            Token::CloseObject => return Ok(()),
            Token::Comma => token = lexer.advance()?,
            _ => return Err(unexpected(lexer, token, "Expected \",\" or \"}\", but found")),
        }
        expected = "Expected string, but found";
    }
}

/// Reads the elements of an array whose first token was read last, as [`each_member`] does.
///
/// # Errors
/// As of [`each_member`].
pub fn each_element<'a>(
    lexer: &mut Lexer<'a>,
    mut element: impl FnMut(&mut Lexer<'a>, Token) -> SqlResult<()>,
) -> SqlResult<()> {
    let mut token = lexer.advance()?;
    if token == Token::CloseArray {
        return Ok(());
    }
    loop {
        element(lexer, token)?;
        token = if lexer.takes(b',') { Token::Comma } else { lexer.advance()? };
        match token {
            Token::CloseArray => return Ok(()),
            Token::Comma => token = lexer.advance()?,
            _ => return Err(unexpected(lexer, token, "Expected \",\" or \"]\", but found")),
        }
    }
}
