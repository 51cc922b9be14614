//! DuckDB's `SET VARIABLE name = expression` and `RESET VARIABLE name`.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::SqlResult;

use crate::cursor::Cursor;
use crate::parsed_query::ParsedQuery;
use crate::statement::Statement;

/// The statement, if the tokens are one about variables; `read` makes a query of tokens.
pub(crate) fn recognise(
    tokens: &[TokenWithSpan],
    read: &dyn Fn(Vec<TokenWithSpan>) -> SqlResult<ParsedQuery>,
) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take_all(&["RESET", "VARIABLE"]) {
        let name = cursor.name("the name of a variable")?;
        cursor.expect_end()?;
        return Ok(Some(Statement::SetVariable { name, query: None }));
    }
    if !cursor.take_all(&["SET", "VARIABLE"]) {
        return Ok(None);
    }
    let name = cursor.name("the name of a variable")?;
    if !cursor.take_sign(&Token::Eq) {
        cursor.expect("TO")?;
    }
    let select = TokenWithSpan::wrap(Token::make_keyword("SELECT"));
    let expression = tokens[cursor.at()..].iter().cloned();
    let query = Some(read(std::iter::once(select).chain(expression).collect())?);
    Ok(Some(Statement::SetVariable { name, query }))
}
