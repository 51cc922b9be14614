//! Percentiles of several shares: `percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY x)` of PostgreSQL, and DuckDB's
//! `quantile_cont(x, [0.25, 0.5])`. They are the array of the percentiles of each share, NULL where there is no value.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
};

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
    let Expr::Array(shares) = plain(list.args.last()?)? else { return None };
    let is_nested = shares.elem.iter().any(|it| matches!(it, Expr::Array(_)));
    if shares.elem.is_empty() || is_nested {
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
    let all: Vec<String> = shares.elem.iter().map(of_share).collect();
    Some(format!("(CASE WHEN {} > 0 THEN ARRAY[{}] END)", count_of(call, value), all.join(", ")))
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
