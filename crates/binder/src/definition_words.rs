//! What the definitions of macros and functions have in common: names, expressions, and queries within them.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::parsed_query::ParsedQuery;

/// How the queries within a definition are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// Of some tokens of the statement.
    pub(crate) tokens: &'a dyn Fn(Vec<TokenWithSpan>) -> SqlResult<ParsedQuery>,
    /// Of a text of its own; `None` where it is not one query.
    pub(crate) text: &'a dyn Fn(&str) -> SqlResult<Option<ParsedQuery>>,
}

/// Goes on to a token that is not inside of brackets.
pub(crate) fn skip(cursor: &mut Cursor<'_>, stop: impl Fn(&Token) -> bool) {
    let mut depth = 0_usize;
    while let Some(token) = cursor.peek() {
        if depth == 0 && stop(token) {
            return;
        }
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        cursor.advance();
    }
}

/// An expression as SQL.
pub(crate) fn expression(tokens: &[TokenWithSpan], read: Reading<'_>) -> SqlResult<String> {
    let select = TokenWithSpan::wrap(Token::make_keyword("SELECT"));
    let query = (read.tokens)(std::iter::once(select).chain(tokens.iter().cloned()).collect())?;
    let wrong = || SqlError::new(SqlState::SYNTAX, "syntax error: an expression is expected here");
    let sqlparser::ast::SetExpr::Select(select) = &*query.0.body else { return Err(wrong()) };
    let is_alone = select.from.is_empty() && select.selection.is_none();
    match &select.projection[..] {
        [sqlparser::ast::SelectItem::UnnamedExpr(it)] if is_alone => {
            Ok(crate::written::written(it))
        }
        _ => Err(wrong()),
    }
}
