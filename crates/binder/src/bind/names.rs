//! Names of output columns, and aliases.

use sqlparser::ast::{self, TableAlias};
use types::{SqlError, SqlResult, SqlState};

use super::OutputColumn;
use super::errors::{Name, at, unsupported};
use crate::syntax::ident;

/// The name that PostgreSQL gives an output column without alias.
pub(super) fn of_expression(expr: &ast::Expr) -> String {
    strong(expr).unwrap_or_else(|| "?column?".to_owned())
}

fn strong(expr: &ast::Expr) -> Option<String> {
    use ast::Expr as Ast;
    let name = match expr {
        Ast::Nested(inner) | Ast::Collate { expr: inner, .. } => return strong(inner),
        Ast::Identifier(name) => return Some(ident(name)),
        Ast::CompoundIdentifier(parts) => return parts.last().map(ident),
        Ast::Function(it) => return it.name.0.last().and_then(|it| it.as_ident()).map(ident),
        Ast::Cast { expr, data_type, .. } => {
            return strong(expr).or_else(|| crate::data_types::type_name(data_type));
        }
        Ast::TypedString(it) => return crate::data_types::type_name(&it.data_type),
        Ast::Subquery(query) => return of_subquery(query),
        Ast::Case { else_result, .. } => {
            return Some(
                else_result.as_deref().and_then(of_column).unwrap_or_else(|| "case".to_owned()),
            );
        }
        Ast::Exists { negated: false, .. } => "exists",
        Ast::Extract { .. } => "extract",
        Ast::Substring { shorthand: true, .. } => "substr",
        Ast::Substring { .. } => "substring",
        Ast::Trim { trim_where, .. } => match trim_where {
            Some(ast::TrimWhereField::Leading) => "ltrim",
            Some(ast::TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        },
        Ast::Position { .. } => "position",
        Ast::Overlay { .. } => "overlay",
        Ast::Ceil { .. } => "ceil",
        Ast::Floor { .. } => "floor",
        Ast::Interval(_) => "interval",
        Ast::Tuple(_) => "row",
        Ast::Array(_) => "array",
        Ast::AtTimeZone { .. } => "timezone",
        _ => return None,
    };
    Some(name.to_owned())
}

/// The name that ELSE gives a CASE.
fn of_column(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Value(_) => None,
        other => strong(other),
    }
}

fn of_subquery(query: &ast::Query) -> Option<String> {
    let ast::SetExpr::Select(select) = &*query.body else { return None };
    match select.projection.first()? {
        ast::SelectItem::ExprWithAlias { alias, .. } => Some(ident(alias)),
        ast::SelectItem::UnnamedExpr(expr) => Some(of_expression(expr)),
        _ => None,
    }
}

/// A constant in quotes is no alias.
pub(super) fn no_constant(alias: &ast::Ident) -> SqlResult<()> {
    match alias.quote_style {
        Some('\'') => {
            let message = format!("syntax error at or near \"'{}'\"", alias.value);
            let error = SqlError::new(SqlState::SYNTAX, message);
            Err(at(error.with_hint("names are put into double quotes"), &Name(alias)))
        }
        _ => Ok(()),
    }
}

/// Gives the first columns the names of an alias.
pub(super) fn rename(columns: &mut [OutputColumn], alias: &TableAlias) -> SqlResult<()> {
    no_constant(&alias.name)?;
    if let Some(at_name) = &alias.at {
        return Err(unsupported("AT after an alias", &Name(at_name)));
    }
    if alias.columns.len() > columns.len() {
        let message = format!(
            "table \"{}\" has {} columns available but {} columns specified",
            ident(&alias.name),
            columns.len(),
            alias.columns.len()
        );
        let error = SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message);
        return Err(at(error, &Name(&alias.name)));
    }
    for (column, name) in columns.iter_mut().zip(&alias.columns) {
        if name.data_type.is_some() {
            return Err(unsupported("a column alias with a type", &Name(&name.name)));
        }
        column.name = ident(&name.name);
    }
    Ok(())
}
