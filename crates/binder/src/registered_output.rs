//! Numbers of the catalog in the output of a query: a column that is cast to REGCLASS or the like is shown by names.
//!
//! Inside of a query they stay numbers, which is what they are compared, sorted and joined by.

use sqlparser::ast::{self, Expr, Ident, Select, SelectItem, SetExpr};

use crate::registered::Registered;

/// The query with its casts to such types put into words; `None` when it has none in its output.
pub(crate) fn in_words(query: &ast::Query) -> Option<ast::Query> {
    if !has_any(&query.body) {
        return None;
    }
    let mut query = query.clone();
    rewrite(&mut query.body);
    Some(query)
}

fn has_any(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => select.projection.iter().any(|it| word(it).is_some()),
        SetExpr::Query(query) => has_any(&query.body),
        _ => false,
    }
}

/// The name of the type that an item of the output is cast to, if it is one of them.
fn word(item: &SelectItem) -> Option<&'static str> {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else {
        return None;
    };
    let Expr::Cast { data_type, .. } = expr else { return None };
    Registered::named(data_type).map(Registered::name)
}

fn rewrite(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => of_select(select),
        SetExpr::Query(query) => rewrite(&mut query.body),
        _ => {}
    }
}

fn of_select(select: &mut Select) {
    for item in &mut select.projection {
        let Some(word) = word(item) else { continue };
        match item {
            SelectItem::ExprWithAlias { expr, .. } => *expr = as_text(expr),
            SelectItem::UnnamedExpr(expr) => {
                let is_constant =
                    matches!(&*expr, Expr::Cast { expr, .. } if matches!(**expr, Expr::Value(_)));
                *item = match is_constant {
                    // A constant has no name, and so the column has that of the type.
                    true => {
                        SelectItem::ExprWithAlias { expr: as_text(expr), alias: Ident::new(word) }
                    }
                    false => SelectItem::UnnamedExpr(as_text(expr)),
                };
            }
            _ => {}
        }
    }
}

fn as_text(cast: &Expr) -> Expr {
    let mut outer = cast.clone();
    if let Expr::Cast { expr, data_type, .. } = &mut outer {
        **expr = cast.clone();
        *data_type = ast::DataType::Text;
    }
    outer
}
