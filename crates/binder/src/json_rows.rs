//! The rows of a query as JSON.

use sqlparser::ast::{SetExpr, TableFactor};
use types::{SqlError, SqlResult};

use crate::parsed_query::ParsedQuery;
use crate::statement::Statement;

/// A query that gives each row of another one as JSON, in its one column.
///
/// # Errors
/// None that a user could cause.
pub fn json_rows(query: &ParsedQuery) -> SqlResult<ParsedQuery> {
    // No column has a line break in its name, so the name is that of the whole row.
    let sql = "SELECT row_to_json(\"copied\nrow\") FROM (SELECT 1) AS \"copied\nrow\"";
    let broken = || SqlError::internal("rows as JSON are no query");
    let Some(Statement::Query { query: mut rows }) = crate::parse::parse(sql)?.into_tree().pop()
    else {
        return Err(broken());
    };
    let SetExpr::Select(select) = &mut *rows.0.body else { return Err(broken()) };
    match select.from.first_mut().map(|it| &mut it.relation) {
        Some(TableFactor::Derived { subquery, .. }) => *subquery = query.0.clone(),
        _ => return Err(broken()),
    }
    Ok(rows)
}
