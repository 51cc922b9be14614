//! COPY between a file and a table or a query.

use sqlparser::ast::{self, CopySource, CopyTarget, SetExpr};
use sqlparser::parser::Parser;
use types::SqlResult;

use crate::dialect::Postgres;
use crate::statement::{ParsedQuery, Statement};
use crate::syntax::{NESTED_MAX, ident, name, syntax, unsupported};

/// The statement that a COPY is.
pub(crate) fn copy(
    statement: ast::Statement,
    options: Vec<(String, String)>,
) -> SqlResult<Statement> {
    let ast::Statement::Copy { source, to, target, .. } = statement else {
        return Err(unsupported("a statement that is no COPY"));
    };
    let CopyTarget::File { filename: path } = target else {
        let way = if to { "TO" } else { "FROM" };
        return Err(unsupported(format!("COPY {way} anything but a file")));
    };
    if to {
        return Ok(Statement::CopyTo { query: rows_of(source)?, path, options });
    }
    match source {
        CopySource::Table { table_name, columns } => {
            let (table, columns) = (name(&table_name), columns.iter().map(ident).collect());
            Ok(Statement::CopyFrom { table, columns, path, options })
        }
        CopySource::Query(_) => Err(unsupported("COPY (query) FROM")),
    }
}

/// The rows of COPY .. TO as a query.
fn rows_of(source: CopySource) -> SqlResult<ParsedQuery> {
    let query = match source {
        CopySource::Query(query) => query,
        CopySource::Table { table_name, columns } => {
            let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
            let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
            let text = format!("SELECT {columns} FROM {table_name}");
            let parser = Parser::new(&Postgres).with_recursion_limit(NESTED_MAX);
            let query = parser.try_with_sql(&text).and_then(|mut it| it.parse_query());
            query.map_err(|it| syntax(&it))?
        }
    };
    match &*query.body {
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
            Err(unsupported("COPY of a statement that changes data"))
        }
        _ => Ok(ParsedQuery(query)),
    }
}
