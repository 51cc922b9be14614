//! `LISTEN channel`, `UNLISTEN channel | *` and `NOTIFY channel [, 'payload']`.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::SqlResult;

use crate::cursor::Cursor;
use crate::session_statement::ChannelStatement;
use crate::statement::Statement;

/// The statement, if the tokens are one about channels.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    const CHANNEL: &str = "the name of a channel";
    let mut cursor = Cursor::new(tokens);
    let statement = match () {
        () if cursor.take("LISTEN") => ChannelStatement::Listen(cursor.name(CHANNEL)?),
        () if cursor.take("UNLISTEN") => {
            ChannelStatement::Unlisten(match cursor.take_sign(&Token::Mul) {
                true => None,
                false => Some(cursor.name(CHANNEL)?),
            })
        }
        () if cursor.take("NOTIFY") => {
            let channel = cursor.name(CHANNEL)?;
            let payload = match cursor.take_sign(&Token::Comma) {
                true => text(&mut cursor)?,
                false => String::new(),
            };
            ChannelStatement::Notify(channel, payload)
        }
        () => return Ok(None),
    };
    cursor.expect_end()?;
    Ok(Some(Statement::Channel(statement)))
}

fn text(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    let Some(Token::SingleQuotedString(text)) = cursor.peek() else {
        return Err(cursor.expected("a text"));
    };
    cursor.advance();
    Ok(text.clone())
}
