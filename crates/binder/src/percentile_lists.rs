//! Percentiles of several shares: `percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY x)` of PostgreSQL, and DuckDB's
//! `quantile_cont(x, [0.25, 0.5])`. They are the array of the percentiles of each share, NULL where there is no value.

use sqlparser::ast::{
    ArrayElemTypeDef, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, ObjectName,
};

use crate::syntax::bare;

/// Whether a function takes a share.
pub(crate) fn takes_share(name: &str) -> bool {
    is_ordered_set(name) || matches!(name, "quantile_cont" | "quantile_disc" | "approx_quantile")
}

fn is_ordered_set(name: &str) -> bool {
    matches!(name, "percentile_cont" | "percentile_disc")
}

/// What a call with a list of shares stands for; `None` of any other.
pub(crate) fn expansion(name: &str, call: &Function) -> Option<String> {
    if !takes_share(name) {
        return None;
    }
    let FunctionArguments::List(list) = &call.args else { return None };
    let value = match (&list.args[..], &call.within_group[..]) {
        ([_], [order]) if is_ordered_set(name) => &order.expr,
        ([value, _], []) if !is_ordered_set(name) => plain(value)?,
        _ => return None,
    };
    let shares = items(plain(list.args.last()?)?)?;
    let is_nested = shares.iter().any(|it| matches!(it, Expr::Array(_)));
    if shares.is_empty() || is_nested {
        return None;
    }
    let of_share = |share: &Expr| {
        let mut one = call.clone();
        if let FunctionArguments::List(list) = &mut one.args
            && let Some(last) = list.args.last_mut()
        {
            *last = FunctionArg::Unnamed(FunctionArgExpr::Expr(share.clone()));
        }
        one.to_string()
    };
    let all: Vec<String> = shares.iter().map(of_share).collect();
    Some(format!("(CASE WHEN {} > 0 THEN ARRAY[{}] END)", count_of(call, value), all.join(", ")))
}

/// The items of an array that is written item by item, each cast to the type of items that it is cast to.
fn items(array: &Expr) -> Option<Vec<Expr>> {
    match bare(array) {
        Expr::Array(array) => Some(array.elem.clone()),
        Expr::Cast { kind, expr, data_type: DataType::Array(of), array, format } => {
            let (ArrayElemTypeDef::SquareBracket(item, _) | ArrayElemTypeDef::AngleBracket(item)) =
                of
            else {
                return None;
            };
            let cast = |it: Expr| Expr::Cast {
                kind: kind.clone(),
                expr: Box::new(it),
                data_type: (**item).clone(),
                array: *array,
                format: format.clone(),
            };
            Some(items(expr)?.into_iter().map(cast).collect())
        }
        _ => None,
    }
}

/// The number of values of the same rows.
fn count_of(call: &Function, value: &Expr) -> String {
    let mut count = call.clone();
    count.name = ObjectName::from(vec![Ident::new("count")]);
    count.within_group.clear();
    if let FunctionArguments::List(list) = &mut count.args {
        list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(value.clone()))];
    }
    count.to_string()
}

fn plain(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) => Some(it),
        _ => None,
    }
}
