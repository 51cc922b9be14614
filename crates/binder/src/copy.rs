//! COPY between a file, or the client, and a table or a query.

use sqlparser::ast::{self, CopySource, CopyTarget, SetExpr};
use sqlparser::tokenizer::TokenWithSpan;
use types::SqlResult;

use crate::copy_options::CopyWords;
use crate::fragments::read;
use crate::parsed_query::ParsedQuery;
use crate::statement::{CopyPlace, Statement};
use crate::syntax::{ident, name, unsupported};

/// The statement that a COPY is. `read_condition`: the tokens of its condition as SQL.
pub(crate) fn copy(
    statement: ast::Statement,
    CopyWords { options, is_client, condition }: CopyWords,
    read_condition: impl FnOnce(Vec<TokenWithSpan>) -> SqlResult<String>,
) -> SqlResult<Statement> {
    let ast::Statement::Copy { source, to, target, .. } = statement else {
        return Err(unsupported("a statement that is no COPY"));
    };
    let place = match target {
        _ if is_client => CopyPlace::Client,
        CopyTarget::File { filename } => CopyPlace::File(filename),
        _ => {
            let way = if to { "TO" } else { "FROM" };
            return Err(unsupported(format!("COPY {way} a program")));
        }
    };
    if to {
        let of = match &source {
            CopySource::Table { table_name, columns } => {
                Some((name(table_name), columns.iter().map(ident).collect()))
            }
            CopySource::Query(_) => None,
        };
        return Ok(Statement::CopyTo { query: rows_of(source)?, of, place, options });
    }
    match source {
        CopySource::Table { table_name, columns } => {
            let (table, columns) = (name(&table_name), columns.iter().map(ident).collect());
            let condition = condition.map(read_condition).transpose()?;
            Ok(Statement::CopyFrom { table, columns, place, options, condition })
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
            read(&text, |it| it.parse_query())?
        }
    };
    match &*query.body {
        SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
            Err(unsupported("COPY of a statement that changes data"))
        }
        _ => Ok(ParsedQuery(query)),
    }
}
