//! CREATE, ALTER and DROP EXTENSION.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::SqlResult;

use crate::cursor::Cursor;
use crate::statement::{ExtensionStatement, Statement};

/// The statement, if the tokens are one about extensions.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    let cursor = &mut cursor;
    let statement = if cursor.take_all(&["CREATE", "EXTENSION"]) {
        created(cursor)?
    } else if cursor.take_all(&["DROP", "EXTENSION"]) {
        dropped(cursor)?
    } else if cursor.take_all(&["ALTER", "EXTENSION"]) {
        altered(cursor)?
    } else {
        return Ok(None);
    };
    cursor.expect_end()?;
    Ok(Some(Statement::Extension(statement)))
}

fn own_name(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    cursor.name("the name of an extension")
}

/// `[IF NOT EXISTS] name [WITH] [SCHEMA s] [VERSION v] [CASCADE]`.
fn created(cursor: &mut Cursor<'_>) -> SqlResult<ExtensionStatement> {
    let if_not_exists = cursor.take_all(&["IF", "NOT", "EXISTS"]);
    let name = own_name(cursor)?;
    cursor.take("WITH");
    let (mut schema, mut version) = (None, None);
    while !cursor.is_at_end() {
        if cursor.take("SCHEMA") {
            schema = Some(cursor.name("the name of a schema")?);
        } else if cursor.take("VERSION") {
            version = Some(version_said(cursor)?);
        } else if !cursor.take("CASCADE") {
            return Err(cursor.expected("SCHEMA, VERSION or CASCADE"));
        }
    }
    Ok(ExtensionStatement::Create { name, schema, version, if_not_exists })
}

fn dropped(cursor: &mut Cursor<'_>) -> SqlResult<ExtensionStatement> {
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let mut names = vec![own_name(cursor)?];
    while cursor.take_sign(&Token::Comma) {
        names.push(own_name(cursor)?);
    }
    let _ = cursor.take("CASCADE") || cursor.take("RESTRICT");
    Ok(ExtensionStatement::Drop { names, if_exists })
}

/// `name UPDATE [TO v]`, `name SET SCHEMA s`.
fn altered(cursor: &mut Cursor<'_>) -> SqlResult<ExtensionStatement> {
    let name = own_name(cursor)?;
    if cursor.take_all(&["SET", "SCHEMA"]) {
        let schema = cursor.name("the name of a schema")?;
        return Ok(ExtensionStatement::SetSchema { name, schema });
    }
    cursor.expect("UPDATE")?;
    let version = if cursor.take("TO") { Some(version_said(cursor)?) } else { None };
    Ok(ExtensionStatement::Update { name, version })
}

/// A version, which may be written as a text or as a name.
fn version_said(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    if let Some(Token::SingleQuotedString(text)) = cursor.peek() {
        let text = text.clone();
        cursor.advance();
        return Ok(text);
    }
    cursor.name("a version")
}
