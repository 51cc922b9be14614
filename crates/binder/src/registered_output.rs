//! Numbers of the catalog in the output of a query: a column that is cast to REGCLASS or the like is shown by names.
//!
//! Inside of a query they stay numbers, which is what they are compared, sorted and joined by.

use sqlparser::ast::{
    self, CastKind, Expr, Function, FunctionArguments, Ident, Select, SelectItem, SetExpr,
};

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

/// The name of the type that an item of the output is cast to, or that a call of `to_regclass` or its kin has, if it is one of
/// them.
fn word(item: &SelectItem) -> Option<&'static str> {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else {
        return None;
    };
    match expr {
        Expr::Cast { data_type, .. } => Registered::named(data_type).map(Registered::name),
        Expr::Function(call) => called(call).map(Registered::name),
        _ => None,
    }
}

/// The type that `to_regclass`, `to_regtype` or the like gives.
fn called(call: &Function) -> Option<Registered> {
    let name = call.name.0.last()?.as_ident()?.value.to_lowercase();
    let kind = Registered::by_name(name.strip_prefix("to_")?)?;
    matches!(&call.args, FunctionArguments::List(it) if it.args.len() == 1).then_some(kind)
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
                    false => match expr {
                        // Its column has the name of the function.
                        Expr::Function(call) => SelectItem::ExprWithAlias {
                            alias: Ident::new(format!("to_{word}")),
                            expr: as_text(&Expr::Function(call.clone())),
                        },
                        _ => SelectItem::UnnamedExpr(as_text(expr)),
                    },
                };
            }
            _ => {}
        }
    }
}

/// The text of what is of such a type.
fn as_text(expr: &Expr) -> Expr {
    let cast = |expr: Expr, data_type| Expr::Cast {
        kind: CastKind::DoubleColon,
        expr: Box::new(expr),
        data_type,
        array: false,
        format: None,
    };
    match expr {
        Expr::Function(call) => {
            let word = called(call).map_or("regclass", Registered::name);
            let name = ast::ObjectName::from(vec![Ident::new(word)]);
            let named = cast(expr.clone(), ast::DataType::Custom(name, Vec::new()));
            cast(named, ast::DataType::Text)
        }
        _ => cast(expr.clone(), ast::DataType::Text),
    }
}
