//! Where types that users made stand in a type, and in an expression.

use sqlparser::ast;
use types::names;

use crate::data_types::user_type;
use crate::syntax::quoted_name;

/// The type that an expression names itself.
pub(crate) fn type_said(expr: &mut ast::Expr) -> Option<&mut ast::DataType> {
    match expr {
        ast::Expr::Cast { data_type, .. } => Some(data_type),
        ast::Expr::TypedString(it) => Some(&mut it.data_type),
        _ => None,
    }
}

/// What a type is made of: the type of the items of an array, those of the fields of a struct.
fn parts(data_type: &ast::DataType) -> Vec<&ast::DataType> {
    match data_type {
        ast::DataType::Array(
            ast::ArrayElemTypeDef::SquareBracket(element, _)
            | ast::ArrayElemTypeDef::AngleBracket(element),
        ) => vec![element],
        ast::DataType::Struct(fields, _) => fields.iter().map(|it| &it.field_type).collect(),
        _ => Vec::new(),
    }
}

fn parts_mut(data_type: &mut ast::DataType) -> Vec<&mut ast::DataType> {
    match data_type {
        ast::DataType::Array(
            ast::ArrayElemTypeDef::SquareBracket(element, _)
            | ast::ArrayElemTypeDef::AngleBracket(element),
        ) => vec![element],
        ast::DataType::Struct(fields, _) => {
            fields.iter_mut().map(|it| &mut it.field_type).collect()
        }
        _ => Vec::new(),
    }
}

/// The types that users made which a type is or has in it, by node and name.
pub(crate) fn said(data_type: &ast::DataType) -> Vec<(&ast::DataType, String)> {
    match user_type(data_type) {
        Some(name) => vec![(data_type, name)],
        None => parts(data_type).into_iter().flat_map(said).collect(),
    }
}

/// Gives types that users made their full names, with their schemas; whether there is one. `find` tells them.
pub(crate) fn put_full(
    data_type: &mut ast::DataType,
    find: &dyn Fn(&ast::DataType, &str) -> Option<String>,
) -> bool {
    let Some(name) = user_type(data_type) else {
        let mut is_changed = false;
        for part in parts_mut(data_type) {
            is_changed |= put_full(part, find);
        }
        return is_changed;
    };
    let Some(full) = find(data_type, &name) else { return false };
    let (schema, own) = names::split(&full);
    let ident = |it: &str| match quoted_name(it) {
        plain if plain == it || it == names::PUBLIC => ast::Ident::new(it),
        _ => ast::Ident::with_quote('"', it),
    };
    let named = [ident(&schema), ident(&own)].into_iter().map(ast::ObjectNamePart::Identifier);
    *data_type = ast::DataType::Custom(ast::ObjectName(named.collect()), Vec::new());
    true
}
