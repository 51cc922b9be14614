//! What indexes are of, as it was said, and as SQL.

use binder::IndexItem;
use binder::index_words::{called, kept_parts, written};
use storage::{Table, TableIndex};
use types::{ColumnId, SqlResult, names};

/// What is said of an index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    /// What it is of.
    pub items: Vec<IndexItem>,
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
    Said { items, predicate, nulls_equal: index.nulls_equal, included }
}

/// The items of an index, and what follows their list, as SQL with names that are written so.
pub(crate) fn sql_of(
    table: &Table,
    index: &TableIndex,
    name: impl Fn(&str) -> String,
) -> (String, String) {
    let Said { items, predicate, nulls_equal, included } = said(table, index);
    let item = |it: &IndexItem| match it {
        IndexItem::Column(column) => name(column),
        IndexItem::Expression(it) => sql_of_expression(it),
    };
    let items: Vec<String> = items.iter().map(item).collect();
    let mut clauses = String::new();
    if !included.is_empty() {
        let included: Vec<String> = included.iter().map(|it| name(it)).collect();
        clauses.push_str(&format!(" INCLUDE ({})", included.join(", ")));
    }
    if nulls_equal {
        clauses.push_str(" NULLS NOT DISTINCT");
    }
    if let Some(it) = predicate {
        clauses.push_str(&format!(" WHERE ({it})"));
    }
    (items.join(", "), clauses)
}

/// What stands behind UNIQUE in the definition of a key.
pub(crate) fn nulls_clause(index: &TableIndex) -> &'static str {
    if index.nulls_equal { " NULLS NOT DISTINCT" } else { "" }
}

/// An expression of an index as SQL.
pub(crate) fn sql_of_expression(expression: &str) -> String {
    written(expression).unwrap_or_else(|_| format!("({expression})"))
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
