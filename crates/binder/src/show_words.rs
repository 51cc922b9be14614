//! SHOW ALL, SHOW TABLES, DESCRIBE and SELECT INTO: other words for what is there.

use sqlparser::ast;
use sqlparser::tokenizer::TokenWithSpan;
use types::{OnCommit, SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::design::DesignClause;
use crate::parsed_query::ParsedQuery;
use crate::statement::Statement;
use crate::syntax::name;
use crate::temporary;

/// What SHOW ALL shows.
const SETTINGS: &str = "SELECT name, setting, short_desc AS description \
                        FROM pg_catalog.pg_settings ORDER BY name";
/// What SHOW TABLES shows: tables and views.
const TABLES: &str = "SELECT table_name AS name FROM information_schema.tables \
                      WHERE table_schema = current_schema() ORDER BY name";

/// SHOW ALL and SHOW TABLES, as the query of what they show.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> Option<&'static str> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take("SHOW") {
        return None;
    }
    let query = [("ALL", SETTINGS), ("TABLES", TABLES)].into_iter().find(|it| cursor.take(it.0))?.1;
    cursor.is_at_end().then_some(query)
}

/// Whether a statement is DESCRIBE or DESC, and not EXPLAIN.
pub(crate) fn is_describe(statement: &ast::Statement) -> bool {
    use ast::Statement as Ast;
    match statement {
        Ast::ExplainTable { describe_alias, .. } | Ast::Explain { describe_alias, .. } => {
            *describe_alias != ast::DescribeAlias::Explain
        }
        _ => false,
    }
}

/// DESCRIBE of a relation or a query.
pub(crate) fn describe(
    statement: ast::Statement,
    query_of: fn(&str) -> SqlResult<ParsedQuery>,
) -> SqlResult<Statement> {
    use ast::Statement as Ast;
    let no_clause =
        || SqlError::new(SqlState::SYNTAX, "syntax error: DESCRIBE takes a query or a table");
    match statement {
        Ast::ExplainTable { table_name, hive_format: None, .. } => {
            let table = Some(name(&table_name));
            let query = query_of(&format!("SELECT * FROM {table_name}"))?;
            Ok(Statement::Describe { query, table })
        }
        Ast::Explain { analyze: false, statement, format: None, options: None, .. } => {
            match *statement {
                Ast::Query(query) => {
                    Ok(Statement::Describe { query: ParsedQuery(query), table: None })
                }
                _ => Err(no_clause()),
            }
        }
        _ => Err(no_clause()),
    }
}

/// SELECT .. INTO is CREATE TABLE AS.
pub(crate) fn select_into(into: &ast::SelectInto, query: Box<ast::Query>) -> SqlResult<Statement> {
    Ok(Statement::CreateTableAs {
        name: temporary::name(&into.name, into.temporary)?,
        on_commit: OnCommit::default(),
        columns: Vec::new(),
        query: ParsedQuery(query),
        if_not_exists: false,
        or_replace: false,
        design: DesignClause::default(),
    })
}
