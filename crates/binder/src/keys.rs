//! Keys and indexes in parsed text.

use sqlparser::ast::{self, IndexColumn, TableConstraint};
use types::SqlResult;

use crate::clauses;
use crate::statement::{CheckDefinition, KeyDefinition, Statement};
use crate::syntax::{ident, name, unsupported};

/// The key that a column option declares, if it is one.
pub(crate) fn of_column(
    column: &ast::ColumnDef,
    option: &ast::ColumnOptionDef,
) -> Option<SqlResult<KeyDefinition>> {
    let (primary, checked) = match &option.option {
        ast::ColumnOption::PrimaryKey(key) => (true, clauses::primary_key(key)),
        ast::ColumnOption::Unique(key) => (false, clauses::unique_key(key)),
        _ => return None,
    };
    let columns = vec![ident(&column.name)];
    let name = option.name.as_ref().map(ident);
    Some(checked.map(|()| KeyDefinition { name, columns, primary }))
}

/// The key that a constraint of a table declares.
pub(crate) fn of_table(constraint: &TableConstraint) -> SqlResult<KeyDefinition> {
    let (named, columns, primary) = match constraint {
        TableConstraint::PrimaryKey(it) => {
            clauses::primary_key(it)?;
            (&it.name, &it.columns, true)
        }
        TableConstraint::Unique(it) => {
            clauses::unique_key(it)?;
            (&it.name, &it.columns, false)
        }
        other => return Err(unsupported(format!("the table constraint {other}"))),
    };
    let columns = columns.iter().map(column_name).collect::<SqlResult<_>>()?;
    Ok(KeyDefinition { name: named.as_ref().map(ident), columns, primary })
}

/// The CHECK constraints behind a column.
pub(crate) fn checks_of(column: &ast::ColumnDef) -> impl Iterator<Item = CheckDefinition> {
    column.options.iter().filter_map(|it| {
        let ast::ColumnOption::Check(check) = &it.option else { return None };
        let name = it.name.as_ref().or(check.name.as_ref()).map(ident);
        let (column, condition) = (Some(ident(&column.name)), check.expr.to_string());
        Some(CheckDefinition { name, column, condition })
    })
}

/// The CHECK constraint of a table, if it is one.
pub(crate) fn check_of(constraint: &TableConstraint) -> Option<CheckDefinition> {
    let TableConstraint::Check(check) = constraint else { return None };
    let name = check.name.as_ref().map(ident);
    Some(CheckDefinition { name, column: None, condition: check.expr.to_string() })
}

fn column_name(column: &IndexColumn) -> SqlResult<String> {
    clauses::index_column(column)?;
    match &column.column.expr {
        ast::Expr::Identifier(it) => Ok(ident(it)),
        other => Err(unsupported(format!("an index on the expression {other}"))),
    }
}

/// CREATE INDEX.
pub(crate) fn create_index(index: &ast::CreateIndex) -> SqlResult<Statement> {
    clauses::create_index(index)?;
    Ok(Statement::CreateIndex {
        name: index.name.as_ref().map(name),
        table: name(&index.table_name),
        columns: index.columns.iter().map(column_name).collect::<SqlResult<_>>()?,
        unique: index.unique,
        if_not_exists: index.if_not_exists,
    })
}
