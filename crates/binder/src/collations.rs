//! The collations that are known: all have texts in the order of their bytes.

use sqlparser::ast::ObjectName;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::steering::{is_any, is_word};
use crate::syntax::ident;

/// The known names; the order of the default one is that of C here.
const KNOWN: [&str; 4] = ["C", "POSIX", "default", "ucs_basic"];

/// Refuses a collation that is not known: 42704.
pub(crate) fn check(name: &ObjectName) -> SqlResult<()> {
    let parts = name.0.iter().map(|it| it.as_ident().map_or_else(|| it.to_string(), ident));
    check_parts(&parts.collect::<Vec<_>>())
}

/// [`check`] of what stands behind the word COLLATE.
pub(crate) fn check_next(cursor: &mut Cursor<'_>) -> SqlResult<()> {
    let mut parts = vec![cursor.name("the name of a collation")?];
    while cursor.take_sign(&Token::Period) {
        parts.push(cursor.name("the name of a collation")?);
    }
    check_parts(&parts)
}

fn check_parts(parts: &[String]) -> SqlResult<()> {
    let is_known = match parts {
        [own] => KNOWN.contains(&&**own),
        [schema, own] => schema == "pg_catalog" && KNOWN.contains(&&**own),
        _ => false,
    };
    if is_known {
        return Ok(());
    }
    let said = parts.join(".");
    let message = format!("collation \"{said}\" for encoding \"UTF8\" does not exist");
    Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message)
        .with_hint("\"C\" is there: texts are in the order of their bytes"))
}

/// Takes collations away from the new types of columns, where the parser knows none: `ALTER a TYPE text COLLATE "C"`. The tokens
/// have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    let begins = |words: [&str; 2]| {
        tokens.iter().zip(words).all(|(token, word)| is_word(&token.token, word))
    };
    if tokens.len() < 2 || !begins(["alter", "table"]) {
        return Ok(());
    }
    let (mut depth, mut has_type, mut at) = (0_i32, false, 2);
    while at < tokens.len() {
        match &tokens[at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => has_type = false,
            it if is_word(it, "type") => has_type = true,
            it if is_any(it, &["using", "add", "set"]) => has_type = false,
            it if has_type && depth == 0 && is_word(it, "collate") => {
                let mut cursor = Cursor::new(&tokens[at + 1..]);
                check_next(&mut cursor)?;
                let length = 1 + cursor.at();
                tokens.drain(at..at + length);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// Refuses types that have no collation: 42804.
pub(crate) fn check_type(of: DataType) -> SqlResult<()> {
    let item = match of {
        DataType::Array(it) => it.data_type(),
        it => it,
    };
    if item.is_text() || item == DataType::Null {
        return Ok(());
    }
    let name = types::numeric::errors::type_name(of);
    let message = format!("collations are not supported by type {name}");
    Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
}
