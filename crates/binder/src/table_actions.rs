//! ALTER TABLE with several actions of which some are read here and others by the parser: each is read as a statement of its own.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::design::TableChange;
use crate::statement::Statement;
use crate::{generated_columns, sequence_words, storage_words};

/// The actions of such a statement, each behind ALTER TABLE and the name; `None` where the parser reads all, or there is one.
pub(crate) fn apart(tokens: &[TokenWithSpan]) -> Option<Vec<Vec<TokenWithSpan>>> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take_all(&["ALTER", "TABLE"]) {
        return None;
    }
    cursor.take_all(&["IF", "EXISTS"]);
    cursor.relation().ok()?;
    let (before, rest) = tokens.split_at(cursor.at());
    let mut depth = 0_usize;
    let each = rest.split(|it| {
        match it.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && it.token == Token::Comma
    });
    let each: Vec<&[TokenWithSpan]> = each.collect();
    if each.len() < 2 || each.iter().any(|it| it.is_empty()) {
        return None;
    }
    let each: Vec<Vec<TokenWithSpan>> = each.iter().map(|it| [before, it].concat()).collect();
    each.iter().any(|it| is_own(it)).then_some(each)
}

/// Whether an action is none of the parser's.
fn is_own(action: &[TokenWithSpan]) -> bool {
    let readers =
        [generated_columns::recognise, storage_words::recognise, sequence_words::recognise];
    readers.iter().any(|it| !matches!(it(action), Ok(None)))
}

/// One statement of the changes of all.
pub(crate) fn together(statements: Vec<Statement>) -> SqlResult<Statement> {
    let mut all = Vec::new();
    let mut of = None;
    for statement in statements {
        let Statement::AlterTable { table, change: TableChange::Rules(changes), if_exists } =
            statement
        else {
            let message = "syntax error: ALTER TABLE has an action that stands alone";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        };
        all.extend(changes);
        of = Some((table, if_exists));
    }
    let (table, if_exists) =
        of.ok_or_else(|| SqlError::internal("an ALTER TABLE without an action"))?;
    Ok(Statement::AlterTable { table, change: TableChange::Rules(all), if_exists })
}
