//! JSON_TABLE in words, of which [`crate::json_table_words`] made a query that keeps the text of its columns.

use sqlparser::ast::{Expr, FunctionArg, Query, SetExpr, TableFactor};

use super::json::passing;
use super::parts::{argument, word};
use crate::own_names::TABLE_COLUMNS;

/// The call that a query was made of.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) inner: String,
}

pub(super) fn of_query(query: &Query) -> Option<Call> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let Some(Expr::IsNotNull(kept)) = &select.selection else { return None };
    let columns = word(kept)?.strip_prefix(TABLE_COLUMNS)?;
    let function = select.from.first()?;
    let arguments: Vec<&FunctionArg> = match &function.relation {
        TableFactor::Table { args: Some(args), .. } => args.args.iter().collect(),
        TableFactor::Function { args, .. } => args.iter().collect(),
        _ => return None,
    };
    let arguments: Option<Vec<&Expr>> = arguments.into_iter().map(argument).collect();
    let arguments = arguments?;
    let [Expr::Cast { expr: json, .. }, path, variables, ..] = &arguments[..] else { return None };
    let inner = format!("{json}, {path}{} {columns}", passing(variables)?);
    Some(Call { name: "JSON_TABLE".to_owned(), inner })
}
