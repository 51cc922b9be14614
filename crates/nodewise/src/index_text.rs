//! What indexes are of, as it was said, and as SQL.

use binder::IndexItem;
use binder::index_words::{called, kept_parts, told, written};
use storage::{Table, TableIndex};
use types::{ColumnId, IndexMethod, IndexOrder, SqlError, SqlResult, names};

/// What is said of an index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    /// What it is of.
    pub items: Vec<IndexItem>,
    /// In which orders; none where all are the usual one.
    pub orders: Vec<IndexOrder>,
    /// How it is kept.
    pub method: IndexMethod,
    /// The rows that it has, if not all.
    pub predicate: Option<String>,
    /// NULLS NOT DISTINCT.
    pub nulls_equal: bool,
    /// The columns of INCLUDE.
    pub included: Vec<String>,
}

/// What was said of an index.
pub(crate) fn said(table: &Table, index: &TableIndex) -> Said {
    let mut predicate = None;
    let item = |it: &ColumnId| {
        let name = &table.column(*it).name;
        let expression = table.rules().rows.defaults.get(it.index()).and_then(Option::as_ref);
        match expression.filter(|_| names::is_hidden(name)).map(|it| kept_parts(it)) {
            Some(Ok((item, condition))) => {
                predicate = condition.or(predicate.take());
                item
            }
            _ => IndexItem::Column(name.to_string()),
        }
    };
    let items = index.columns.iter().map(item).collect();
    let included = index.included.iter().map(|it| table.column(*it).name.clone()).collect();
    let (orders, method) = (index.orders.clone(), index.method);
    Said { items, orders, method, predicate, nulls_equal: index.nulls_equal, included }
}

/// What stands before the list of items; nothing where it is what is meant anyway.
pub(crate) fn using_clause(index: &TableIndex) -> String {
    match index.method {
        IndexMethod::BTree => String::new(),
        other => format!(" USING {}", other.name()),
    }
}

/// The items of an index, and what follows their list, as SQL with names that are written so.
pub(crate) fn sql_of(
    table: &Table,
    index: &TableIndex,
    name: impl Fn(&str) -> String,
) -> (String, String) {
    let said = said(table, index);
    let item = |it: &IndexItem| match it {
        IndexItem::Column(column) => name(column),
        IndexItem::Expression(it) => sql_of_expression(it),
    };
    let items: Vec<String> = said.items.iter().map(item).collect();
    let condition = said.predicate.as_ref().map(|it| format!("({it})"));
    (in_order(index, items), clauses(&said, condition, name))
}

/// Items with their orders, as they stand in a list.
pub(crate) fn in_order(index: &TableIndex, items: Vec<String>) -> String {
    let ordered = |(place, it): (usize, String)| it + index.order(place).clause();
    let ordered: Vec<String> = items.into_iter().enumerate().map(ordered).collect();
    ordered.join(", ")
}

/// What follows the items of an index, with the condition as it is shown.
pub(crate) fn clauses(
    said: &Said,
    condition: Option<String>,
    name: impl Fn(&str) -> String,
) -> String {
    let mut clauses = String::new();
    if !said.included.is_empty() {
        let included: Vec<String> = said.included.iter().map(|it| name(it)).collect();
        clauses.push_str(&format!(" INCLUDE ({})", included.join(", ")));
    }
    if said.nulls_equal {
        clauses.push_str(" NULLS NOT DISTINCT");
    }
    if let Some(it) = condition {
        clauses.push_str(&format!(" WHERE {it}"));
    }
    clauses
}

/// What stands behind UNIQUE in the definition of a key.
pub(crate) fn nulls_clause(index: &TableIndex) -> &'static str {
    if index.nulls_equal { " NULLS NOT DISTINCT" } else { "" }
}

/// An expression of an index as SQL.
pub(crate) fn sql_of_expression(expression: &str) -> String {
    written(expression).unwrap_or_else(|_| format!("({expression})"))
}

/// A condition or an expression as PostgreSQL tells it: each operator in parentheses.
pub(crate) fn told_of_expression(expression: &str) -> String {
    told(expression).unwrap_or_else(|_| format!("({expression})"))
}

/// What the name of an index calls its items and what it includes.
pub(crate) fn names_of(said: &Said) -> SqlResult<Vec<String>> {
    let name = |it: &IndexItem| match it {
        IndexItem::Column(name) => Ok(name.clone()),
        IndexItem::Expression(it) => called(it),
    };
    let included = said.included.iter().map(|it| Ok(it.clone()));
    said.items.iter().map(name).chain(included).collect()
}

/// An error of a table of rows, told of the relation that shows them.
pub(crate) fn told_of(error: SqlError, rows: &str, shown: &str) -> SqlError {
    let subject = error.subject.as_deref();
    match subject.is_some_and(|it| it.table.as_deref() == Some(rows)) {
        true => error.about(|it| it.table = Some(shown.to_owned())),
        false => error,
    }
}
