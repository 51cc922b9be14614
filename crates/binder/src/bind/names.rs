//! Names of output columns, and aliases.

use sqlparser::ast::{self, TableAlias};
use types::{SqlError, SqlResult, SqlState};

use super::OutputColumn;
use super::errors::{Name, at, unsupported};
use crate::syntax::ident;

/// The name that PostgreSQL gives an output column without alias.
pub(super) fn of_expression(expr: &ast::Expr) -> String {
    named(expr).map_or_else(|| "?column?".to_owned(), |it| it.0)
}

/// How much a name says: that of a type or of CASE gives way to what is around it.
#[derive(PartialEq)]
enum Says {
    Little,
    Much,
}

fn named(expr: &ast::Expr) -> Option<(String, Says)> {
    use ast::Expr as Ast;
    let much = |it: String| (it, Says::Much);
    let little = |it: String| (it, Says::Little);
    let name = match expr {
        Ast::Nested(inner) | Ast::Collate { expr: inner, .. } => return named(inner),
        // A field gives its name, a subscript does not.
        Ast::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|it| match it {
                ast::AccessExpr::Dot(Ast::Identifier(name)) => Some(ident(name)),
                _ => None,
            });
            return field.map(much).or_else(|| named(root));
        }
        Ast::Identifier(name) => ident(name),
        Ast::CompoundIdentifier(parts) => ident(parts.last()?),
        // Calls of SQL/JSON have a line break in their names.
        Ast::Function(it) => ident(it.name.0.last()?.as_ident()?).replace('\n', "_"),
        Ast::Cast { expr, data_type, .. } => {
            let inner = named(expr).filter(|it| it.1 == Says::Much);
            return inner.or_else(|| crate::data_types::type_name(data_type).map(little));
        }
        Ast::TypedString(it) => {
            return crate::data_types::type_name(&it.data_type).map(little);
        }
        Ast::Interval(_) => return Some(little("interval".to_owned())),
        Ast::Subquery(query) => return of_subquery(query).map(much),
        Ast::Case { else_result, .. } => {
            let otherwise = else_result.as_deref().and_then(named);
            let otherwise = otherwise.filter(|it| it.1 == Says::Much);
            return Some(otherwise.unwrap_or_else(|| little("case".to_owned())));
        }
        other => built_in(other)?.to_owned(),
    };
    Some(much(name))
}

/// The names of what has a grammar of its own.
fn built_in(expr: &ast::Expr) -> Option<&'static str> {
    use ast::Expr as Ast;
    Some(match expr {
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
        Ast::Tuple(_) => "row",
        Ast::Array(_) => "array",
        Ast::Dictionary(_) => "struct_pack",
        Ast::Map(_) => "map",
        Ast::AtTimeZone { .. } => "timezone",
        _ => return None,
    })
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
