//! PIVOT with what the parser does not know of it, of which [`crate::pivot_words`] made calls.

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, ObjectName, PivotValueSource, TableFactor,
};

use super::parts::{shown, text, word};
use crate::own_names::{PIVOT_ALIAS, PIVOT_KEYS, PIVOT_USING, PIVOT_VALUES, own_call};
use crate::syntax::quoted_name;

/// A value or an aggregate with its alias.
pub(super) fn aliased(name: &str, arguments: &[&Expr]) -> Option<String> {
    match (name, arguments) {
        (PIVOT_ALIAS, [value, alias]) => Some(format!("{value} AS {}", quoted_name(word(alias)?))),
        _ => None,
    }
}

/// A PIVOT in words, in the form of a call; `None` for one that the parser writes.
pub(super) fn of_factor(factor: &mut TableFactor) -> Option<TableFactor> {
    let TableFactor::Pivot {
        table,
        aggregate_functions,
        value_column,
        value_source: PivotValueSource::Any(_),
        alias,
        ..
    } = factor
    else {
        return None;
    };
    let (mut aggregates, mut keys) = (Vec::new(), String::new());
    for it in aggregate_functions.iter() {
        match own_call(&it.expr) {
            Some((PIVOT_USING, parts)) => aggregates.push(listed(&parts)),
            Some((PIVOT_KEYS, parts)) => keys = format!(" GROUP BY {}", listed(&parts)),
            _ => aggregates.push(it.to_string()),
        }
    }
    let column = |it: &Expr| {
        let (PIVOT_VALUES, parts) = own_call(it)? else { return None };
        let (column, values) = parts.split_first()?;
        Some(format!("{column} IN ({})", listed(values)))
    };
    let columns: Vec<String> = value_column.iter().map(column).collect::<Option<_>>()?;
    let inner = format!("{} FOR {}{keys}", aggregates.join(", "), columns.join(" "));
    Some(TableFactor::Function {
        lateral: false,
        name: ObjectName::from(vec![shown(format!("{table} PIVOT "))]),
        args: vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(text(inner)))],
        with_ordinality: false,
        alias: alias.take(),
    })
}

fn listed(parts: &[&Expr]) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
