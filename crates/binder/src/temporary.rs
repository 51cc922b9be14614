//! TEMPORARY, of whatever is made: another word for the schema `pg_temp`.

use sqlparser::ast::{self, DiscardObject, ObjectName};
use sqlparser::tokenizer::TokenWithSpan;
use types::{OnCommit, SqlError, SqlResult, SqlState, names};

use crate::cursor::Cursor;
use crate::statement::{Discarded, Statement};

/// The schema of what goes with its session.
const TEMPORARY: &str = "pg_temp";

/// The name of what is made, perhaps as temporary.
///
/// Errors: 42P16 where what is temporary says another schema.
pub(crate) fn name(object: &ObjectName, is_temporary: bool) -> SqlResult<String> {
    within(crate::syntax::name(object), is_temporary)
}

/// The same of a name as it is said.
pub(crate) fn within(said: String, is_temporary: bool) -> SqlResult<String> {
    if !is_temporary {
        return Ok(said);
    }
    match names::said(&said, "")? {
        (None, name) => Ok(names::written(&[TEMPORARY, &name])),
        (Some(schema), _) if schema == TEMPORARY => Ok(said),
        (Some(_), _) => {
            let message = "cannot create temporary relation in non-temporary schema";
            Err(SqlError::new(SqlState("42P16"), message))
        }
    }
}

/// ON COMMIT of a table.
pub(crate) fn on_commit(table: &ast::CreateTable) -> SqlResult<OnCommit> {
    let schema = table.name.0.first().filter(|_| table.name.0.len() > 1);
    let schema = schema.and_then(|it| it.as_ident()).map(crate::syntax::ident);
    if table.on_commit.is_some() && !table.temporary && schema.as_deref() != Some(TEMPORARY) {
        let message = "ON COMMIT can only be used on temporary tables";
        return Err(SqlError::new(SqlState("42P16"), message));
    }
    Ok(match table.on_commit {
        None | Some(ast::OnCommit::PreserveRows) => OnCommit::PreserveRows,
        Some(ast::OnCommit::DeleteRows) => OnCommit::DeleteRows,
        Some(ast::OnCommit::Drop) => OnCommit::Drop,
    })
}

/// Takes UNLOGGED out: what lasts more than is asked is what was asked. The tokens have no blanks.
pub(crate) fn logged(tokens: &mut Vec<TokenWithSpan>) {
    let cursor = Cursor::new(tokens);
    let words = [["CREATE", "UNLOGGED", "TABLE"], ["CREATE", "UNLOGGED", "SEQUENCE"]];
    if words.iter().any(|it| cursor.sees(it)) {
        tokens.remove(1);
    }
}

/// DISCARD.
pub(crate) fn discard(what: DiscardObject) -> Statement {
    let what = match what {
        DiscardObject::ALL => Discarded::All,
        DiscardObject::PLANS => Discarded::Plans,
        DiscardObject::SEQUENCES => Discarded::Sequences,
        DiscardObject::TEMP => Discarded::Temporary,
    };
    Statement::Discard { what }
}
