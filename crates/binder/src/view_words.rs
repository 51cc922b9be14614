//! CREATE VIEW and ALTER VIEW.

use sqlparser::ast;
use sqlparser::tokenizer::TokenWithSpan;
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::statement::{ParsedQuery, Statement};
use crate::syntax::{ident, relation, unsupported};

/// What the parser does not know: ALTER VIEW, and what may stand around the query of a view.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.sees(&["CREATE"]) {
        refuse_check_option(cursor, tokens)?;
        return Ok(None);
    }
    if !cursor.take_all(&["ALTER", "VIEW"]) {
        return Ok(None);
    }
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let name = cursor.relation()?;
    if !cursor.take_all(&["RENAME", "TO"]) {
        return Err(unsupported("ALTER VIEW other than RENAME TO"));
    }
    let to = cursor.name("the name of a view")?;
    cursor.expect_end()?;
    Ok(Some(Statement::RenameView { name, to, if_exists }))
}

/// WITH CHECK OPTION, behind the query.
fn refuse_check_option(mut cursor: Cursor<'_>, tokens: &[TokenWithSpan]) -> SqlResult<()> {
    cursor.take("CREATE");
    cursor.take_all(&["OR", "REPLACE"]);
    let is_view = ["VIEW", "TEMP", "TEMPORARY", "RECURSIVE"].iter().any(|it| cursor.sees(&[it]));
    let ends = tokens.len().checked_sub(2).map(|it| Cursor::new(&tokens[it..]));
    if is_view && ends.is_some_and(|it| it.sees(&["CHECK", "OPTION"])) {
        return Err(unsupported("WITH CHECK OPTION of a view"));
    }
    Ok(())
}

pub(crate) fn create_view(view: ast::CreateView) -> SqlResult<Statement> {
    let ast::CreateView {
        or_alter,
        or_replace,
        materialized,
        secure,
        name,
        name_before_not_exists,
        columns,
        query,
        options,
        cluster_by,
        comment,
        with_no_schema_binding,
        if_not_exists,
        temporary,
        copy_grants,
        to,
        params,
    } = view;
    if materialized {
        return Err(unsupported("CREATE MATERIALIZED VIEW"));
    }
    if temporary {
        return Err(unsupported("CREATE TEMPORARY VIEW"));
    }
    if options != ast::CreateTableOptions::None {
        return Err(unsupported("WITH (..) of a view"));
    }
    let rare = or_alter
        || secure
        || name_before_not_exists
        || !cluster_by.is_empty()
        || comment.is_some()
        || with_no_schema_binding
        || copy_grants
        || to.is_some()
        || params.is_some();
    if rare || columns.iter().any(|it| it.data_type.is_some() || it.options.is_some()) {
        return Err(SqlError::new(SqlState::SYNTAX, "syntax error: a clause of CREATE VIEW"));
    }
    let query = ParsedQuery(query);
    if query.changes_rows() {
        return Err(SqlError::new(SqlState::SYNTAX, "syntax error: a view is of a query"));
    }
    Ok(Statement::CreateView {
        name: relation(&name)?,
        columns: columns.iter().map(|it| ident(&it.name)).collect(),
        query,
        or_replace,
        if_not_exists,
    })
}
