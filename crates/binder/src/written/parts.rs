//! What all that is written is made of.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Value,
};

/// A name without quotes, which is shown as it is.
pub(super) fn shown(text: String) -> Ident {
    Ident::new(text)
}

pub(super) fn text(text: String) -> Expr {
    Expr::Identifier(shown(text))
}

/// The arguments of a call that have no names.
pub(super) fn arguments(call: &Function) -> Option<Vec<&Expr>> {
    let FunctionArguments::List(list) = &call.args else { return None };
    list.args.iter().map(argument).collect()
}

pub(super) fn argument(it: &FunctionArg) -> Option<&Expr> {
    match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) => Some(it),
        _ => None,
    }
}

/// The name of a call that no user writes.
pub(super) fn own_name(name: &ObjectName) -> Option<&str> {
    match &name.0[..] {
        [name] => {
            let name = name.as_ident().filter(|it| it.quote_style.is_some())?;
            Some(&name.value)
        }
        _ => None,
    }
}

/// The constant that a word has become.
pub(super) fn word(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(it) => match &it.value {
            Value::SingleQuotedString(it) => Some(it),
            _ => None,
        },
        _ => None,
    }
}
