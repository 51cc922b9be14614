//! NOT VALID behind a constraint in CREATE TABLE: a new table has no rows that it would leave out, so that it says nothing.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::SqlResult;

use crate::cursor::Cursor;
use crate::like_words::begins_table;
use crate::syntax::unsupported;

/// Cuts the words out of a CREATE TABLE. Errors: 0A000 behind keys, as PostgreSQL has it.
pub(crate) fn take_not_valid(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    let mut cursor = Cursor::new(tokens);
    if !begins_table(&mut cursor) {
        return Ok(());
    }
    let mut ends = Vec::new();
    while matches!(cursor.peek(), Some(Token::LParen | Token::Comma)) {
        cursor.advance();
        if cursor.take("CONSTRAINT") {
            cursor.name("the name of a constraint")?;
        }
        let is_rule = cursor.sees(&["CHECK"]) || cursor.sees(&["FOREIGN", "KEY"]);
        let key = [("PRIMARY", "PRIMARY KEY"), ("UNIQUE", "UNIQUE")];
        let key = key.iter().find(|it| cursor.sees(&[it.0]));
        cursor.skip_to(|it| it.peek() == Some(&Token::Comma));
        let end = cursor.at();
        let is_said = end >= 2 && Cursor::new(&tokens[end - 2..end]).sees(&["NOT", "VALID"]);
        match key {
            Some((_, kind)) if is_said => {
                let message = format!("{kind} constraints cannot be marked NOT VALID");
                return Err(unsupported(message));
            }
            _ if is_said && is_rule => ends.push(end),
            _ => {}
        }
    }
    for end in ends.into_iter().rev() {
        tokens.drain(end - 2..end);
    }
    Ok(())
}
