//! Numbers of the catalog in the output of a query: a column that is cast to REGCLASS or the like is shown by names.
//!
//! Inside of a query they stay numbers, which is what they are compared, sorted and joined by.

use sqlparser::ast::{
    self, CastKind, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectNamePart, Select, SelectItem, SetExpr, Value,
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

/// The name of the type that an item of the output has, if it is one of them.
fn word(item: &SelectItem) -> Option<&'static str> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => word_of(expr),
        _ => None,
    }
}

/// The type that an expression is cast to, that a call of `to_regclass` or its kin has, or that all results of CASE and COALESCE
/// and the value of a subquery have.
fn word_of(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::Cast { data_type, .. } => Registered::named(data_type).map(Registered::name),
        Expr::Function(call) => match coalesced(call) {
            Some(arguments) => common(arguments.into_iter()),
            None => called(call).map(Registered::name),
        },
        Expr::Nested(inner) => word_of(inner),
        Expr::Case { conditions, else_result, .. } => {
            common(conditions.iter().map(|it| &it.result).chain(else_result.as_deref()))
        }
        Expr::Subquery(query) => match &*query.body {
            SetExpr::Select(select) => match &select.projection[..] {
                [item] => word(item),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The type that some expressions have but for NULL.
fn common<'a>(exprs: impl Iterator<Item = &'a Expr>) -> Option<&'static str> {
    let mut known = None;
    for expr in exprs.filter(|it| !is_null(it)) {
        let own = word_of(expr)?;
        if known.is_some_and(|it| it != own) {
            return None;
        }
        known = Some(own);
    }
    known
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(it) if it.value == Value::Null)
}

/// The arguments of COALESCE.
fn coalesced(call: &Function) -> Option<Vec<&Expr>> {
    let [ObjectNamePart::Identifier(name)] = &call.name.0[..] else { return None };
    let FunctionArguments::List(list) = &call.args else { return None };
    if !name.value.eq_ignore_ascii_case("coalesce") {
        return None;
    }
    let argument = |it| match it {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref it)) => Some(it),
        _ => None,
    };
    list.args.iter().map(argument).collect()
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
                        Expr::Function(call) if coalesced(call).is_none() => {
                            SelectItem::ExprWithAlias {
                                alias: Ident::new(format!("to_{word}")),
                                expr: as_text(&Expr::Function(call.clone())),
                            }
                        }
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
    let mut made = expr.clone();
    match &mut made {
        Expr::Function(call) if coalesced(call).is_some() => {
            let FunctionArguments::List(list) = &mut call.args else { return made };
            for argument in &mut list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) = argument {
                    put_as_text(it);
                }
            }
            made
        }
        Expr::Function(call) => {
            let word = called(call).map_or("regclass", Registered::name);
            let name = ast::ObjectName::from(vec![Ident::new(word)]);
            let named = cast(made, ast::DataType::Custom(name, Vec::new()));
            cast(named, ast::DataType::Text)
        }
        Expr::Nested(inner) => {
            put_as_text(inner);
            made
        }
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter_mut().map(|it| &mut it.result);
            results.chain(else_result.as_deref_mut()).for_each(put_as_text);
            made
        }
        Expr::Subquery(query) => {
            rewrite(&mut query.body);
            made
        }
        _ => cast(made, ast::DataType::Text),
    }
}

fn put_as_text(expr: &mut Expr) {
    if !is_null(expr) {
        *expr = as_text(expr);
    }
}
